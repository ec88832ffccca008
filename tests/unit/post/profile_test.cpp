// Profiles of planted clusters: the planted trait comes first and is put into words that can be checked by
// hand.
#include "coppice/post/profile.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "coppice/base/error.hpp"
#include "coppice/post/trait_words.hpp"
#include "small_run.hpp"

namespace coppice {
namespace {

class ProfileTest : public RunTest {
 protected:
  /// The model plays no part beside its family: a short run will do.
  std::unique_ptr<SavedRun> family_run(SmallRun request) {
    request.chains = 1;
    request.warmup = 1;
    request.draws = 2;
    return make_run(request);
  }
};

Labels blocks(std::initializer_list<std::size_t> sizes) {
  Labels labels;
  Label label = 0;
  for (const std::size_t size : sizes) labels.insert(labels.end(), size, label++);
  return labels;
}

const Trait& trait_of(const ClusterProfile& profile, const std::string& column) {
  const auto found = std::find_if(profile.traits.begin(), profile.traits.end(),
                                  [&](const Trait& trait) { return trait.column == column; });
  EXPECT_NE(found, profile.traits.end()) << column;
  return *found;
}

/// Ten birds, twenty others; `legs` tells nothing.
std::string animals() {
  std::string csv = "id,legs,has_feathers,has_fur,color,visits\n";
  for (std::size_t i = 0; i < 30; ++i) {
    const bool bird = i < 10;
    const char* color = bird ? (i == 0 ? "blue" : "red") : i % 2 == 0 ? "blue" : "green";
    csv += fmt::format("animal{},{},{},{},{},{}\n", i, i % 2, bird ? 1 : 0, !bird && i % 5 != 0 ? 1 : 0,
                       color, bird ? 10 + i % 5 : 3 + i % 3);
  }
  return csv;
}

const char* const kVisitsAreCounts = "[[column]]\nname=\"visits\"\nkind=\"count\"\n";

TEST_F(ProfileTest, NamesThePlantedTraitsFirst) {
  const auto run = family_run({.csv = animals(), .codebook = kVisitsAreCounts});
  std::vector<double> confidence(30, 0.5);
  confidence[0] = 1.0;
  const std::vector<ClusterProfile> profiles = profile_clusters(*run, blocks({10, 20}), confidence, 4);
  ASSERT_EQ(profiles.size(), 2u);
  const ClusterProfile& birds = profiles[0];
  EXPECT_EQ(birds.cluster, 0);
  EXPECT_EQ(birds.size, 10u);
  EXPECT_NEAR(birds.confidence, 0.55, 1e-12);
  ASSERT_EQ(birds.traits.size(), 4u);
  // Beta(1/2, 1/2): 10.5 / 11 and 0.5 / 21.
  EXPECT_NEAR(trait_of(birds, "has_feathers").inside, 10.5 / 11.0, 1e-12);
  EXPECT_NEAR(trait_of(birds, "has_feathers").outside, 0.5 / 21.0, 1e-12);
  EXPECT_EQ(trait_of(birds, "has_feathers").words, "has_feathers (95 % against 2 %)");
  EXPECT_EQ(trait_of(birds, "has_fur").words, "no has_fur (5 % against 79 %)");
  EXPECT_EQ(trait_of(birds, "color").words, "color mostly red (83 % against 2 %)");
  // Gamma(1, 1 / mean) with mean 201 / 30: (1 + 120) / (0.149 + 10) and (1 + 81) / (0.149 + 20).
  EXPECT_EQ(trait_of(birds, "visits").words, "visits higher: 11.9 against 4.1");
  EXPECT_EQ(trait_of(profiles[1], "visits").words, "visits lower: 4.1 against 11.9");
  EXPECT_EQ(trait_of(profiles[1], "has_feathers").words, "no has_feathers (2 % against 95 %)");
  EXPECT_NE(birds.name.find(birds.traits[0].short_words), std::string::npos);
  EXPECT_EQ(birds.name.find('%'), std::string::npos);
  for (std::size_t k = 1; k < 4; ++k) EXPECT_GE(birds.traits[k - 1].divergence, birds.traits[k].divergence);
  EXPECT_EQ(profile_clusters(*run, blocks({10, 20}), {}, 0)[0].traits.back().column, "legs");
}

TEST_F(ProfileTest, DivergencesAreBothDirectionsOfKullbackLeibler) {
  const auto run = family_run({.csv = animals(), .codebook = kVisitsAreCounts});
  const ClusterProfile birds = profile_clusters(*run, blocks({10, 20}), {}, 0)[0];
  const auto kullback = [](const std::vector<double>& p, const std::vector<double>& q) {
    double sum = 0.0;
    for (std::size_t l = 0; l < p.size(); ++l) sum += p[l] * std::log(p[l] / q[l]);
    return sum;
  };
  const auto poisson = [](double rate) {
    std::vector<double> p{std::exp(-rate)};
    for (std::size_t k = 1; k < 150; ++k) p.push_back(p.back() * rate / static_cast<double>(k));
    return p;
  };
  for (const Trait& trait : birds.traits) {
    const bool levels = trait.kind != Kind::count;
    const std::vector<double> p = levels ? trait.inside_probabilities : poisson(trait.inside);
    const std::vector<double> q = levels ? trait.outside_probabilities : poisson(trait.outside);
    EXPECT_NEAR(trait.divergence, 0.5 * (kullback(p, q) + kullback(q, p)), 1e-10) << trait.column;
  }
}

TEST_F(ProfileTest, NormalDivergenceAgreesWithQuadratureInTheUnitsOfTheData) {
  std::string csv = "x,y\n";
  for (std::size_t i = 0; i < 12; ++i)
    csv += fmt::format("{},{}\n", 1000.0 + 0.5 * static_cast<double>(i % 4), 3 * i % 7);
  for (std::size_t i = 0; i < 12; ++i)
    csv += fmt::format("{},{}\n", 1010.5 + 0.25 * static_cast<double>(i % 5),
                       27.0 * (static_cast<double>(3 * i % 7) - 3.0) + 3.0);
  const Labels labels = blocks({12, 12});
  const std::string real = "[[column]]\nname=\"y\"\nkind=\"real\"\n";
  for (const char* family : {"gaussian-diagonal", "gaussian"}) {
    const auto run = family_run({.csv = csv, .family = family, .codebook = real, .standardize = true});
    const ClusterProfile profile = profile_clusters(*run, labels, {}, 0)[0];
    const Trait& x = trait_of(profile, "x");
    EXPECT_NEAR(x.inside, 1000.75, 0.2) << family;
    EXPECT_NEAR(x.outside, 1011.0, 0.2) << family;
    // No decimals where they tell nothing.
    EXPECT_TRUE(x.words.starts_with("x lower: 1001 against 1011")) << x.words;
    EXPECT_TRUE(trait_of(profile, "y").words.starts_with("y less varied: sd "))
        << trait_of(profile, "y").words;
    for (const Trait& trait : profile.traits) {
      const auto log_density = [](double at, double mean, double sd) {
        return -0.5 * (at - mean) * (at - mean) / (sd * sd) - std::log(sd) - 0.5 * std::log(2.0 * M_PI);
      };
      const double widest = std::max(trait.inside_sd, trait.outside_sd);
      const double low = std::min(trait.inside, trait.outside) - 12.0 * widest;
      const double high = std::max(trait.inside, trait.outside) + 12.0 * widest;
      const double step = (high - low) / 400'000.0;
      double sum = 0.0;
      for (double at = low; at < high; at += step) {
        const double p = log_density(at, trait.inside, trait.inside_sd);
        const double q = log_density(at, trait.outside, trait.outside_sd);
        sum += 0.5 * (std::exp(p) - std::exp(q)) * (p - q) * step;
      }
      EXPECT_NEAR(trait.divergence / sum, 1.0, 1e-6) << family << " " << trait.column;
    }
  }
}

TEST_F(ProfileTest, RangesAreThoseOfTheFamily) {
  std::string csv = "fare,weight,visits,free\n";
  for (int i = 0; i < 60; ++i) {
    const bool first = i < 20;
    csv += fmt::format("{},{},{},{}\n", (first ? 3.0 : 50.0) * std::exp(std::sin(7.0 * i)),
                       (first ? 10.0 : 30.0) + std::cos(5.0 * i), first ? i % 3 : 5 + i % 9,
                       first && i % 4 != 0 ? 0.0 : 1.0 + 0.1 * (i % 20));
  }
  const std::string codebook =
      "[[column]]\nname=\"fare\"\nkind=\"real\"\ntransform=\"log\"\n"
      "[[column]]\nname=\"visits\"\nkind=\"count\"\nfamily=\"negative-binomial\"\n"
      "[[column]]\nname=\"free\"\nkind=\"real\"\nhurdle=0\n";
  const auto run = family_run({.csv = csv, .family = "auto", .codebook = codebook});
  const std::vector<ClusterProfile> profiles = profile_clusters(*run, blocks({20, 40}), {}, 0);
  const Trait& fare = trait_of(profiles[0], "fare");
  EXPECT_GT(fare.inside_range.low, 0.0);
  EXPECT_NEAR(fare.inside, 3.0, 1.5);  // a median, not the average of logarithms
  EXPECT_NEAR(fare.outside, 50.0, 20.0);
  EXPECT_TRUE(is_missing(fare.inside_sd));
  EXPECT_LT(fare.inside_range.high, 40.0);
  const Trait& visits = trait_of(profiles[0], "visits");
  EXPECT_EQ(visits.inside_range.low, 0.0);
  EXPECT_EQ(visits.outside_range.high, std::floor(visits.outside_range.high));
  EXPECT_GT(visits.outside_range.high, 10.0);
  const Trait& free = trait_of(profiles[0], "free");
  EXPECT_NEAR(free.inside_spike, 0.75, 0.05);
  EXPECT_LT(free.outside_spike, 0.05);
  EXPECT_EQ(free.short_words, "free mostly 0");
  // Nine rows in ten are in the range.
  std::size_t within = 0;
  for (std::size_t i = 20; i < 60; ++i) {
    const double value = run->table().columns[1].values[i];
    const Trait& weight = trait_of(profiles[0], "weight");
    within += value >= weight.outside_range.low && value <= weight.outside_range.high ? 1 : 0;
  }
  EXPECT_GE(within, 34u);
}

TEST_F(ProfileTest, OutsideIsAllOtherClusters) {
  const auto run = family_run({.csv = animals(), .codebook = kVisitsAreCounts});
  const Labels labels = blocks({10, 7, 1, 12});
  const std::vector<ClusterProfile> profiles = profile_clusters(*run, labels, {}, 0);
  ASSERT_EQ(profiles.size(), 4u);
  const Family& family = *run->setup().plan.family;
  for (const ClusterProfile& profile : profiles) {
    Labels rest;
    for (const Label label : labels) rest.push_back(label == profile.cluster ? 1 : 0);
    const std::vector<double> stats = stats_of(family, run->setup().rows, rest, 0);
    for (std::size_t place = 0; place < run->setup().plan.order.size(); ++place) {
      const Column& column = run->table().columns[run->setup().plan.order[place]];
      if (column.kind == Kind::category) continue;
      EXPECT_NEAR(trait_of(profile, column.name).outside, family.predict_cell(stats.data(), place).mean,
                  1e-12);
    }
  }
}

TEST_F(ProfileTest, ExemplarsAndOutliersLeaveTheRowItselfOut) {
  std::string csv = "id,x,y\n";
  for (std::size_t i = 0; i < 14; ++i)
    csv += fmt::format("row{},{},{}\n", i, i == 3 ? 9.0 : 0.1 * static_cast<double>(i), i == 6 ? "" : "0.5");
  for (std::size_t i = 14; i < 20; ++i) csv += fmt::format("row{},{},{}\n", i, 50 + i % 4, 3.25);
  csv += "row20,,\n";
  const auto run = family_run({.csv = csv, .family = "gaussian-diagonal"});
  Labels labels = blocks({14, 6});
  labels.push_back(1);
  const std::vector<ClusterProfile> profiles = profile_clusters(*run, labels, {}, 0);
  const ClusterProfile& first = profiles[0];
  ASSERT_EQ(first.exemplars.size(), 5u);
  ASSERT_EQ(first.outliers.size(), 5u);
  EXPECT_EQ(first.outliers[0], 3u);
  EXPECT_EQ(std::count(first.outliers.begin(), first.outliers.end(), 6u), 0) << "a blank is not odd";
  // In order, by statistics that never saw the row.
  const Family& family = *run->setup().plan.family;
  double usual_y = 0.0;  // row 6 has none
  for (std::size_t row = 0; row < 14; ++row) {
    Labels others = labels;
    others[row] = 7;
    const double y_alone[] = {kMissing, run->setup().rows[row][1]};
    if (row != 6)
      usual_y += family.log_predictive(stats_of(family, run->setup().rows, others, 0).data(), y_alone) / 13.0;
  }
  const auto score = [&](std::size_t row) {
    Labels others = labels;
    others[row] = 7;
    const std::vector<double> stats = stats_of(family, run->setup().rows, others, labels[row]);
    return family.log_predictive(stats.data(), run->setup().rows[row]) + (row == 6 ? usual_y : 0.0);
  };
  std::vector<double> scores;
  for (std::size_t i = 0; i < 14; ++i) scores.push_back(score(i));
  std::sort(scores.begin(), scores.end());
  for (std::size_t k = 0; k < 5; ++k) {
    EXPECT_NEAR(score(first.exemplars[k]), scores[13 - k], 1e-9);
    EXPECT_NEAR(score(first.outliers[k]), scores[k], 1e-9);
  }
  // Seven rows of which one says nothing: three of each.
  EXPECT_EQ(profiles[1].exemplars.size(), 3u);
  EXPECT_EQ(profiles[1].outliers.size(), 3u);
  EXPECT_EQ(profiles[1].size, 7u);
}

TEST_F(ProfileTest, ColumnsWithoutCellsHaveNoTrait) {
  const auto run = family_run({.csv = "a,b\n1,\n1,\n0,1\n0,0\n0,1\n"});
  const std::vector<ClusterProfile> profiles = profile_clusters(*run, blocks({2, 3}), {}, 0);
  ASSERT_EQ(profiles[0].traits.size(), 1u);
  EXPECT_EQ(profiles[0].traits[0].column, "a");
  EXPECT_EQ(profiles[1].traits.size(), 1u);
  EXPECT_TRUE(std::isnan(profiles[0].confidence));
  const std::vector<ClusterProfile> one = profile_clusters(*run, Labels(5, 0), {}, 0);
  ASSERT_EQ(one.size(), 1u);
  EXPECT_TRUE(one[0].traits.empty());
  EXPECT_EQ(one[0].name, "all rows");
  EXPECT_THROW(profile_clusters(*run, Labels(4, 0), {}, 0), Error);
  EXPECT_THROW(profile_clusters(*run, blocks({2, 3}), std::vector<double>(4, 1.0), 0), Error);
}

TEST_F(ProfileTest, AnOutlierDoesNotExcuseItself) {
  // Row 0 alone makes the spread of x what it is; row 1 is at the edge of three columns that vary anyway.
  std::string csv = "id,x,u,v,w\n";
  for (std::size_t i = 0; i < 16; ++i) {
    const double x = i == 0 ? 1.0 : 0.01 * static_cast<double>(i % 3);
    const double spread = i == 1 ? 3.5 : i % 2 == 0 ? 1.0 : -1.0;
    csv += fmt::format("row{},{},{},{},{}\n", i, x, spread, i % 4 < 2 && i != 1 ? -spread : spread, spread);
  }
  const auto run = family_run({.csv = csv, .family = "gaussian-diagonal"});
  const Family& family = *run->setup().plan.family;
  const std::vector<double> all = stats_of(family, run->setup().rows, Labels(16, 0), 0);
  EXPECT_LT(family.log_predictive(all.data(), run->setup().rows[1]),
            family.log_predictive(all.data(), run->setup().rows[0]))
      << "with the row itself in the statistics the order must be the other one, or nothing is tested";
  EXPECT_EQ(profile_clusters(*run, Labels(16, 0), {}, 0)[0].outliers[0], 0u);
}

TEST_F(ProfileTest, NamesAreToldApart) {
  // Clusters 0 and 1 differ from cluster 2 by a, b and c alike, and from each other by d alone.
  std::string csv = "a,b,c,d\n";
  for (std::size_t i = 0; i < 60; ++i) {
    const bool quarter = i % 4 == 0;
    const bool d = i < 20 ? quarter : i < 40 ? !quarter : i % 2 == 0;
    csv += fmt::format("{},{}\n", i < 40 ? "1,1,1" : "0,0,0", d ? 1 : 0);
  }
  const auto run = family_run({.csv = csv});
  const std::vector<ClusterProfile> profiles = profile_clusters(*run, blocks({20, 20, 20}), {}, 2);
  EXPECT_EQ(profiles[0].name, "a, b, c, d less often");
  EXPECT_EQ(profiles[1].name, "a, b, c, d more often");
  EXPECT_EQ(profiles[2].name, "no a, no b, no c");
  EXPECT_EQ(profiles[0].traits.size(), 2u);
}

TEST(TraitWords, SayNoMoreThanTheNumbersDo) {
  EXPECT_EQ(percent(0.0), "0 %");
  EXPECT_EQ(percent(0.001), "<1 %");
  EXPECT_EQ(percent(0.345), "34 %");
  EXPECT_EQ(percent(0.9961), ">99 %");
  EXPECT_EQ(percent(1.0), "100 %");
  const auto flag = [](double inside, double outside, std::vector<std::string> levels = {}) {
    Trait trait;
    trait.column = "fur";
    trait.kind = Kind::binary;
    trait.inside = inside;
    trait.outside = outside;
    trait.inside_probabilities = {1.0 - inside, inside};
    trait.outside_probabilities = {1.0 - outside, outside};
    put_into_words(trait, {"fur", Kind::binary, {}, std::move(levels)}, false);
    return trait.short_words;
  };
  EXPECT_EQ(flag(0.96, 0.03), "fur");
  EXPECT_EQ(flag(0.30, 0.03), "fur more often");
  EXPECT_EQ(flag(0.80, 0.99), "fur less often");
  EXPECT_EQ(flag(0.02, 0.99), "no fur");
  EXPECT_EQ(flag(0.96, 0.03, {"no", "yes"}), "fur");
  EXPECT_EQ(flag(0.96, 0.03, {"short", "long"}), "fur mostly long");
  EXPECT_EQ(flag(0.04, 0.97, {"short", "long"}), "fur mostly short");
  const auto category = [](std::vector<double> inside, std::vector<double> outside) {
    Trait trait;
    trait.column = "color";
    trait.kind = Kind::category;
    trait.inside_probabilities = std::move(inside);
    trait.outside_probabilities = std::move(outside);
    put_into_words(trait, {"color", Kind::category, {}, {"red", "green", "blue"}}, false);
    return trait.words;
  };
  EXPECT_EQ(category({0.88, 0.06, 0.06}, {0.21, 0.39, 0.40}), "color mostly red (88 % against 21 %)");
  EXPECT_EQ(category({0.48, 0.48, 0.04}, {0.30, 0.30, 0.40}), "color hardly ever blue (4 % against 40 %)");
  EXPECT_EQ(category({0.40, 0.35, 0.25}, {0.05, 0.50, 0.45}), "color more often red (40 % against 5 %)");
}

}  // namespace
}  // namespace coppice
