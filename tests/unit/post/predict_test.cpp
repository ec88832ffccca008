// Predictions against the enumeration of all partitions of five rows, against their definition draw by draw,
// and their promise not to depend on batch, order and threads.
#include "coppice/post/predict.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"
#include "random_draws.hpp"
#include "small_run.hpp"
#include "support/nrmm_enumeration.hpp"
#include "support/sampling_error.hpp"

namespace coppice {
namespace {

constexpr std::size_t kAlphaTrace = 4;

const char* const kFiveBinary = "a,b,c\n1,1,0\n1,1,1\n0,0,1\n0,,0\n1,0,0\n";
const char* const kFiveReal = "x,y\n-2.1,0.3\n-1.7,-0.2\n0.4,2.2\n1.9,\n2.3,1.8\n";

std::string mixed_table(std::size_t rows, bool gaps) {
  std::string csv = "x,visits,flag,color\n";
  for (std::size_t i = 0; i < rows; ++i) {
    const bool left = i % 2 == 0;
    const double x = (left ? -2.0 : 2.0) + 0.37 * static_cast<double>(i % 7) + 0.013 * static_cast<double>(i);
    csv += gaps && i % 5 == 1 ? "," : fmt::format("{},", x);
    csv += gaps && i % 7 == 2 ? "," : fmt::format("{},", left ? i % 4 : 9 + i % 5);
    csv += gaps && i % 4 == 3 ? "," : fmt::format("{},", left == (i % 9 != 0) ? 1 : 0);
    csv += left ? "red\n" : i % 3 == 0 ? "blue\n" : "green\n";
  }
  return csv;
}

/// A row under one draw by the definition: marginals of the clusters with and without it.
struct ByDefinition {
  double density = 0.0;
  double new_probability = 0.0;
  std::vector<double> groups;
};

ByDefinition predict_by_definition(const SavedRun& run, const double* row, std::span<const Label> labels,
                                   double alpha, std::span<const Label> consensus, std::size_t groups) {
  const Family& family = *run.setup().plan.family;
  const Rows& training = run.setup().rows;
  const double n = training.copies();
  const auto ratio = [&](std::vector<double> stats) {
    const double before = family.log_marginal(stats.data());
    family.add(stats.data(), row);
    return std::exp(family.log_marginal(stats.data()) - before);
  };
  ByDefinition result;
  result.groups.assign(groups, 0.0);
  result.new_probability = alpha / (n + alpha) * ratio(stats_of(family, training, labels, -1));
  result.density = result.new_probability;
  // Every copy of a training row brings an equal part of its cluster's weight to its own group.
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const double part =
        training.copies_of(i) * ratio(stats_of(family, training, labels, labels[i])) / (n + alpha);
    result.density += part;
    result.groups[static_cast<std::size_t>(consensus[i])] += part;
  }
  result.new_probability /= result.density;
  for (double& p : result.groups) p /= result.density;
  return result;
}

bool same_bits(const Prediction& a, const Prediction& b) {
  const auto same = [](double x, double y) {
    return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
  };
  bool equal = a.cluster == b.cluster && same(a.new_probability, b.new_probability) &&
               same(a.log_density, b.log_density) && same(a.entropy, b.entropy) &&
               a.probabilities.size() == b.probabilities.size();
  for (std::size_t g = 0; equal && g < a.probabilities.size(); ++g)
    equal = same(a.probabilities[g], b.probabilities[g]);
  return equal;
}

Rows rows_of(const Rows& rows, std::span<const std::size_t> chosen) {
  Rows result;
  result.width = rows.width;
  for (const std::size_t i : chosen) result.cells.insert(result.cells.end(), rows[i], rows[i] + rows.width);
  return result;
}

using PredictTest = RunTest;

void expect_exact(const SavedRun& run, const Rows& rows, const test::MixtureLaw& law) {
  const std::vector<Label> consensus{0, 0, 1, 1, 0};
  const Family& family = *run.setup().plan.family;
  const test::ExactPosterior five(family, run.setup().rows, law);
  const std::vector<Prediction> predictions = predict(run, rows, consensus);
  ASSERT_EQ(predictions.size(), rows.size());
  test::Agreement agreement;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    std::vector<double> density;
    std::vector<double> fresh;
    std::vector<double> group;
    run.for_each_draw(0, [&](const SavedDraw& saved) {
      const ByDefinition one =
          predict_by_definition(run, rows[k], saved.labels, saved.traces[kAlphaTrace], consensus, 2);
      density.push_back(one.density);
      fresh.push_back(one.density * one.new_probability);
      group.push_back(one.density * one.groups[1]);
    });
    const Prediction& prediction = predictions[k];
    const double draws = static_cast<double>(density.size());
    const auto mean = [&](const std::vector<double>& v) {
      return std::accumulate(v.begin(), v.end(), 0.0) / draws;
    };
    EXPECT_NEAR(std::exp(prediction.log_density) / mean(density), 1.0, 1e-9);
    EXPECT_NEAR(prediction.new_probability, mean(fresh) / mean(density), 1e-9);
    EXPECT_NEAR(prediction.probabilities[1], mean(group) / mean(density), 1e-9);
    EXPECT_NEAR(prediction.probabilities[0], 1.0 - (mean(group) + mean(fresh)) / mean(density), 1e-9);

    Rows six = run.setup().rows;
    six.cells.insert(six.cells.end(), rows[k], rows[k] + rows.width);
    const test::ExactPosterior with_row(family, six, law);
    agreement.check(fmt::format("density of row {}", k), test::batch_estimate(density),
                    std::exp(with_row.log_evidence() - five.log_evidence()));
    if (!law.fixed) continue;
    // Membership in the posterior of all six rows, straight from its definition.
    double exact_group = 0.0;
    for (std::size_t i = 0; i < with_row.size(); ++i) {
      const Labels& labels = with_row.partition(i);
      double members = 0.0;
      double of_group = 0.0;
      for (std::size_t j = 0; j < consensus.size(); ++j) {
        if (labels[j] != labels.back()) continue;
        members += 1.0;
        of_group += consensus[j] == 1 ? 1.0 : 0.0;
      }
      if (members > 0.0) exact_group += with_row.probability(i) * of_group / members;
    }
    // The ratio of two means is right if the mean of this is zero.
    std::vector<double> excess(group.size());
    for (std::size_t d = 0; d < group.size(); ++d) excess[d] = group[d] - exact_group * density[d];
    agreement.check(fmt::format("group of row {}", k), test::batch_estimate(excess), 0.0);
  }
  EXPECT_TRUE(agreement.holds()) << agreement;
}

TEST_F(PredictTest, BinaryRowsAgreeWithAllPartitions) {
  const auto run = make_run({.csv = kFiveBinary,
                             .parameters = {{"alpha", Setting::number(0.8)}},
                             .chains = 1,
                             .draws = test::scaled(20'000)});
  expect_exact(*run, new_rows(*run, "a,b,c\n1,1,1\n0,1,0\n,0,1\n"), {.fixed = 0.8});
}

TEST_F(PredictTest, RealRowsAgreeWithAllPartitionsWithAlphaLearned) {
  const auto run = make_run({.csv = kFiveReal, .chains = 1, .draws = test::scaled(20'000)});
  expect_exact(*run, new_rows(*run, "x,y\n-2.0,0.1\n0.0,\n8.0,-5.0\n"), {});
}

TEST_F(PredictTest, GroupsShareAClusterByTheCopiesOfTheirRows) {
  const auto run = make_run({.csv = "a,b,c,people\n1,1,0,1000\n1,1,1,1\n0,0,1,1\n1,0,0,30\n0,1,1,2\n",
                             .weights = "people",
                             .parameters = {{"alpha", Setting::number(0.8)}}});
  const Labels consensus{0, 1, 1, 0, 1};
  const Rows rows = new_rows(*run, "a,b,c\n1,1,0\n0,0,1\n");
  const std::vector<Prediction> predictions = predict(*run, rows, consensus);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    double density = 0.0;
    double fresh = 0.0;
    std::vector<double> groups(2, 0.0);
    run->for_each_draw(0, [&](const SavedDraw& saved) {
      const ByDefinition one =
          predict_by_definition(*run, rows[k], saved.labels, saved.traces[kAlphaTrace], consensus, 2);
      density += one.density;
      fresh += one.density * one.new_probability;
      for (std::size_t g = 0; g < 2; ++g) groups[g] += one.density * one.groups[g];
    });
    EXPECT_NEAR(predictions[k].new_probability, fresh / density, 1e-9);
    for (std::size_t g = 0; g < 2; ++g)
      EXPECT_NEAR(predictions[k].probabilities[g], groups[g] / density, 1e-9) << "row " << k;
  }
}

TEST_F(PredictTest, ProbabilitiesSumToOneAndNameTheLargest) {
  const auto run = make_run({.csv = mixed_table(40, true)});
  const Labels consensus = [&] {
    Labels labels(40);
    for (std::size_t i = 0; i < 40; ++i) labels[i] = static_cast<Label>(i % 3);
    return labels;
  }();
  // The last row is far from all the others.
  const Rows rows = new_rows(*run, mixed_table(20, true) + "900,3,1,red\n");
  const std::vector<Prediction> predictions = predict(*run, rows, consensus);
  for (const Prediction& prediction : predictions) {
    double sum = prediction.new_probability;
    double entropy = -prediction.new_probability * std::log(prediction.new_probability);
    double largest = prediction.new_probability;
    Label best = kNewCluster;
    for (std::size_t g = 0; g < 3; ++g) {
      const double p = prediction.probabilities[g];
      sum += p;
      if (p > 0.0) entropy -= p * std::log(p);
      if (p >= largest) best = static_cast<Label>(g), largest = p;
    }
    EXPECT_NEAR(sum, 1.0, 1e-12);
    EXPECT_NEAR(prediction.entropy, entropy, 1e-12);
    EXPECT_EQ(prediction.cluster, best);
  }
  EXPECT_EQ(predictions.back().cluster, kNewCluster);
  EXPECT_NE(predictions.front().cluster, kNewCluster);
}

TEST_F(PredictTest, DoesNotDependOnBatchOrderOrThreads) {
  const auto run = make_run({.csv = mixed_table(60, true), .chains = 3, .draws = 33});
  Labels consensus(60);
  for (std::size_t i = 0; i < 60; ++i) consensus[i] = static_cast<Label>(i % 2);
  const Rows rows = new_rows(*run, mixed_table(83, true));
  const std::vector<Prediction> all = predict(*run, rows, consensus, {.threads = 1});
  const std::vector<Prediction> threaded = predict(*run, rows, consensus, {.threads = 4});
  std::vector<std::size_t> backwards(rows.size());
  std::iota(backwards.rbegin(), backwards.rend(), std::size_t{0});
  const std::vector<Prediction> reversed = predict(*run, rows_of(rows, backwards), consensus, {.threads = 2});
  std::size_t different = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_TRUE(same_bits(all[i], threaded[i])) << i;
    EXPECT_TRUE(same_bits(all[i], reversed[rows.size() - 1 - i])) << i;
    different += same_bits(all[i], all[0]) ? 0 : 1;
  }
  EXPECT_GT(different, rows.size() / 2) << "rows that are all alike prove nothing";
  for (const std::size_t i : {std::size_t{0}, std::size_t{40}, std::size_t{82}}) {
    const std::vector<std::size_t> alone{i};
    EXPECT_TRUE(same_bits(all[i], predict(*run, rows_of(rows, alone), consensus)[0])) << i;
  }
}

TEST_F(PredictTest, AnEmptyRowIsPredictedByTheSizesAlone) {
  const auto run = make_run({.csv = mixed_table(40, true)});
  const Labels consensus(40, 0);
  const Prediction prediction = predict(*run, new_rows(*run, "x,visits,flag,color\n,,,\n"), consensus)[0];
  double fresh = 0.0;
  run->for_each_draw(0, [&](const SavedDraw& saved) {
    fresh += saved.traces[kAlphaTrace] / (40.0 + saved.traces[kAlphaTrace]) / 200.0;
  });
  EXPECT_NEAR(prediction.log_density, 0.0, 1e-12);
  EXPECT_NEAR(prediction.new_probability, fresh, 1e-12);
}

TEST_F(PredictTest, UsesAsManyDrawsAsAskedFor) {
  const auto run = make_run({.csv = kFiveBinary});
  const Rows rows = new_rows(*run, "a,b,c\n1,1,1\n");
  const std::vector<Label> consensus{0, 0, 1, 1, 0};
  EXPECT_EQ(draws_for_prediction(*run, 0), 200u);
  EXPECT_EQ(draws_for_prediction(*run, 20), 20u);
  EXPECT_EQ(draws_for_prediction(*run, 1000), 200u);
  double density = 0.0;
  run->for_each_draw(20, [&](const SavedDraw& saved) {
    density +=
        predict_by_definition(*run, rows[0], saved.labels, saved.traces[kAlphaTrace], consensus, 2).density /
        20.0;
  });
  EXPECT_NEAR(std::exp(predict(*run, rows, consensus, {.most_draws = 20})[0].log_density), density, 1e-12);
}

TEST_F(PredictTest, RefusesWhatDoesNotFit) {
  const auto run = make_run(
      {.csv = "w1,w2\n3,0\n2,1\n0,4\n1,5\n",
       .family = "multinomial",
       .codebook = "[[column]]\nname=\"w1\"\nkind=\"count\"\n[[column]]\nname=\"w2\"\nkind=\"count\"\n"});
  const std::vector<Label> consensus{0, 0, 1, 1};
  const auto code_of = [&](const Rows& rows, std::vector<Label> labels) {
    try {
      predict(*run, rows, labels);
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::bug;
  };
  const Rows good = new_rows(*run, "w1,w2\n1,1\n");
  EXPECT_EQ(predict(*run, good, consensus).size(), 1u);
  EXPECT_EQ(code_of(good, {0, 0, 1}), ErrorCode::usage);
  EXPECT_EQ(code_of(good, {0, 0, 1, -1}), ErrorCode::usage);
  EXPECT_EQ(code_of(new_rows(*run, "w1,w2\n1,\n"), consensus), ErrorCode::bad_data);
  Rows narrow = good;
  narrow.width = 1;
  EXPECT_EQ(code_of(narrow, consensus), ErrorCode::usage);
}

TEST(Membership, IsTheShareOfTheOtherMembers) {
  const LabelMatrix draws = random_draws(3, 24, 40, 4, 0.4);
  Labels consensus(draws[0].begin(), draws[0].end());
  consensus[5] = 9;  // a group of one row, with empty groups before it
  const std::vector<Membership> rows = membership(draws, consensus, 1);
  const std::vector<Membership> threaded = membership(draws, consensus, 3);
  for (std::size_t i = 0; i < 24; ++i) {
    std::vector<double> expected(10, 0.0);
    double alone = 0.0;
    for (std::size_t d = 0; d < 40; ++d) {
      double others = 0.0;
      for (std::size_t j = 0; j < 24; ++j) others += j != i && draws[d][j] == draws[d][i] ? 1.0 : 0.0;
      if (others == 0.0) (i == 5 ? expected[9] : alone) += 1.0 / 40.0;
      for (std::size_t j = 0; j < 24; ++j)
        if (j != i && draws[d][j] == draws[d][i])
          expected[static_cast<std::size_t>(consensus[j])] += 1.0 / others / 40.0;
    }
    double sum = rows[i].alone;
    for (std::size_t g = 0; g < 10; ++g) {
      EXPECT_NEAR(rows[i].probabilities[g], expected[g], 1e-12) << i << " " << g;
      sum += rows[i].probabilities[g];
    }
    EXPECT_NEAR(rows[i].alone, alone, 1e-12);
    EXPECT_NEAR(sum, 1.0, 1e-12);
    EXPECT_EQ(rows[i].probabilities, threaded[i].probabilities);
  }
}

TEST(Membership, ListsTheRowsInDoubt) {
  LabelMatrix draws;
  draws.rows = 5;
  const std::vector<Label> consensus{0, 0, 0, 1, 1};
  draws.push_back(consensus);
  draws.push_back(consensus);
  draws.push_back(std::vector<Label>{0, 0, 1, 1, 1});
  draws.push_back(std::vector<Label>{0, 0, 2, 1, 1});
  const std::vector<AmbiguousRow> list = most_ambiguous(membership(draws, consensus), 10);
  ASSERT_FALSE(list.empty());
  EXPECT_EQ(list[0].row, 2u);
  EXPECT_EQ(list[0].cluster, 0);
  EXPECT_NEAR(list[0].probability, 0.5, 1e-12);
  EXPECT_EQ(list[0].rival, 1);
  EXPECT_NEAR(list[0].rival_probability, 0.25, 1e-12);
  // Rows 3 and 4 have row 2 for company once; rows 0 and 1 never leave their group.
  EXPECT_EQ(list.size(), 3u);
  EXPECT_EQ(most_ambiguous(membership(draws, consensus), 1).size(), 1u);
}

}  // namespace
}  // namespace coppice
