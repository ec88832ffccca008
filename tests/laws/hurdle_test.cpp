// Columns on the log scale and columns with a spike: rows go to the family and back unchanged, densities
// integrate to one in the units of the table (a point mass at the spike included), and the laws of families
// hold.
#include <gtest/gtest.h>

#include <boost/math/quadrature/sinh_sinh.hpp>
#include <cmath>

#include "coppice/base/aligned.hpp"
#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"
#include "coppice/family/cell_column.hpp"
#include "laws/law_case.hpp"

namespace coppice::test {
namespace {

struct SpikeCase {
  std::string name;
  Kind kind = Kind::real;
  std::string family;  // of the codebook
  std::string transform = {};
  std::optional<double> spike = {};
  std::vector<std::string> settings = {};
  bool learn = false;
};

std::vector<SpikeCase> spike_cases() {
  return {
      {"log", Kind::real, "gaussian-diagonal", "log"},
      {"log_learned", Kind::real, "gaussian-diagonal", "log", {}, {}, true},
      {"spike", Kind::real, "gaussian-diagonal", "", 2.5},
      {"spike_learned", Kind::real, "gaussian-diagonal", "", 2.5, {}, true},
      {"log_and_zeros", Kind::real, "gaussian-diagonal", "log", 0.0},
      {"log_and_zeros_learned", Kind::real, "gaussian-diagonal", "log", 0.0, {}, true},
      {"poisson", Kind::count, "poisson", "", 0.0, {"shape=3", "rate=2"}},
      {"poisson_learned", Kind::count, "poisson", "", 0.0, {}, true},
      {"negative_binomial", Kind::count, "negative-binomial", "", 0.0, {"size=3", "a=30", "b=5"}},
      {"negative_binomial_learned", Kind::count, "negative-binomial", "", 0.0, {}, true},
  };
}

/// Two columns: one of the case, and an ordinary one beside it, so that a row family is among those tested.
struct SpikeFixture {
  explicit SpikeFixture(const SpikeCase& spike_case) {
    Stream stream({1, 0, 0}, Purpose::test, 21);
    Column column{"x", spike_case.kind, {}, {}};
    Column other{"y", Kind::binary, {}, {}};
    for (std::size_t i = 0; i < kRows; ++i) {
      table.row_ids.push_back(std::to_string(i + 1));
      const double center = i % 3 == 0 ? 2.0 : 0.5;
      const bool at_spike = spike_case.spike && draw_uniform(stream) < (i % 3 == 0 ? 0.5 : 0.2);
      double value = spike_case.kind == Kind::count ? 1.0 + static_cast<double>(draw_poisson(stream, center))
                                                    : center + 0.7 * draw_normal(stream);
      if (spike_case.transform == "log") value = std::exp(value);
      if (at_spike) value = *spike_case.spike;
      if (draw_uniform(stream) < 0.1) value = kMissing;
      column.values.push_back(value);
      other.values.push_back(draw_uniform(stream) < 0.4 ? 1.0 : 0.0);
    }
    table.columns = {column, other};
    ColumnSpec spec{"x", spike_case.kind, {}, spike_case.family, parse_all(spike_case.settings)};
    spec.transform = spike_case.transform;
    spec.hurdle = spike_case.spike;
    codebook.columns = {spec};
    plan = plan_family(table, codebook, "auto", {}, false, {.learns_hyper = spike_case.learn});
    if (spike_case.learn) move_hyper(*plan.family);
    rows = encode(plan, table);
    place = plan.order[0] == 0 ? 0 : 1;
  }
  const Family& family() const { return *plan.family; }
  /// log density of x in the units of the table, y unknown.
  double log_density(const Stats& stats, double x) const {
    double row[2] = {kMissing, kMissing};
    row[place] = plan.encodings[place].encode(x) - family().origin(place);
    return stats.log_predictive(row) + plan.log_jacobian(row);
  }

  static constexpr std::size_t kRows = 60;
  Table table;
  Codebook codebook;
  FamilyPlan plan;
  Rows rows;
  std::size_t place = 0;
};

class Spikes : public ::testing::TestWithParam<SpikeCase> {};

TEST_P(Spikes, RowsComeBackAsTheyWere) {
  const SpikeFixture fixture(GetParam());
  const Table back = decode(fixture.plan, fixture.rows, fixture.table);
  for (std::size_t i = 0; i < SpikeFixture::kRows; ++i) {
    const double before = fixture.table.columns[0].values[i];
    if (is_missing(before))
      EXPECT_TRUE(is_missing(back.columns[0].values[i]));
    else
      EXPECT_NEAR(back.columns[0].values[i], before, 1e-12 * std::abs(before));
  }
}

TEST_P(Spikes, DensitiesIntegrateToOneInTheUnitsOfTheTable) {
  const SpikeCase& spike_case = GetParam();
  const SpikeFixture fixture(spike_case);
  for (const std::size_t count : {0U, 1U, 5U, 60U}) {
    const Stats stats(fixture.family(), fixture.rows, 0, count);
    double total = spike_case.spike ? std::exp(fixture.log_density(stats, *spike_case.spike)) : 0.0;
    if (spike_case.spike) {
      EXPECT_GT(total, 0.01);
      EXPECT_LT(total, 0.99);
    }
    if (spike_case.kind == Kind::count) {
      for (double x = 1.0; x < 4000.0; ++x) total += std::exp(fixture.log_density(stats, x));
    } else {
      boost::math::quadrature::sinh_sinh<double> rule(12);
      total += rule.integrate(
          [&](double t) {
            if (std::abs(t) > 1e100) return 0.0;
            if (spike_case.transform.empty()) return std::exp(fixture.log_density(stats, t));
            // x = exp(t), dx = x dt; beyond these x overflows, and the tail is thin.
            return std::abs(t) > 600.0 ? 0.0 : std::exp(fixture.log_density(stats, std::exp(t)) + t);
          },
          1e-10);
    }
    EXPECT_NEAR(total, 1.0, 1e-6) << count << " rows";
  }
}

TEST_P(Spikes, StatisticsObeyTheLaws) {
  const SpikeFixture fixture(GetParam());
  const Family& family = fixture.family();
  Stats stats(family);
  for (std::size_t i = 0; i < SpikeFixture::kRows; ++i) {
    const double before = stats.log_marginal();
    const double predictive = stats.log_predictive(fixture.rows[i]);
    stats.add(fixture.rows[i]);
    ASSERT_NEAR(stats.log_marginal() - before, predictive, relative(1e-10, before));
  }
  Stats half(family, fixture.rows, 0, 30);
  half.merge(Stats(family, fixture.rows, 30, 60));
  EXPECT_NEAR(half.log_marginal(), stats.log_marginal(), relative(1e-11, stats.log_marginal()));
  for (std::size_t i = 30; i < 60; ++i) ASSERT_TRUE(half.remove(fixture.rows[i]));
  const Stats expected(family, fixture.rows, 0, 30);
  EXPECT_NEAR(half.log_marginal(), expected.log_marginal(), relative(1e-10, expected.log_marginal()));
}

TEST_P(Spikes, ManyClustersAtOnce) {
  const SpikeFixture fixture(GetParam());
  const Family& family = fixture.family();
  std::vector<Stats> clusters;
  for (std::size_t c = 0; c < kLanes; ++c) clusters.emplace_back(family, fixture.rows, c, c + 3 * c);
  const std::size_t stride = family.cache_size() * kLanes;
  const std::size_t joint = family.union_size() * kLanes;
  AlignedVector cache(stride), unions(joint);
  for (std::size_t c = 0; c < kLanes; ++c) {
    family.fill_cache(clusters[c].data(), cache.data() + c);
    family.fill_union(clusters[c].data(), unions.data() + c);
  }
  for (const double value : cache) ASSERT_TRUE(std::isfinite(value));
  for (std::size_t i = 0; i < SpikeFixture::kRows; ++i) {
    const std::size_t own = 1 + i % 7;  // of these clusters all have two rows or more
    const bool is_member = i >= own && i < own + 3 * own;
    AlignedVector out(kLanes, 0.0);
    family.add_log_predictive(fixture.rows[i], cache.data(), stride, 1,
                              is_member ? OwnCluster{own, clusters[own].data()} : OwnCluster{}, out.data());
    for (std::size_t c = 0; c < kLanes; ++c) {
      Stats others = clusters[c];
      if (is_member && c == own) {
        others.clear();
        for (std::size_t k = c; k < c + 3 * c; ++k)
          if (k != i) others.add(fixture.rows[k]);
      }
      ASSERT_NEAR(out[c], others.log_predictive(fixture.rows[i]), 1e-8) << "row " << i << ", cluster " << c;
    }
  }
  for (std::size_t a = 0; a < kLanes; ++a) {
    AlignedVector out(kLanes, 0.0);
    family.add_log_marginals(unions.data() + a, unions.data(), joint, 1, out.data());
    for (std::size_t b = 0; b < kLanes; ++b) {
      Stats merged = clusters[a];
      merged.merge(clusters[b]);
      ASSERT_NEAR(out[b], merged.log_marginal(), relative(1e-10, merged.log_marginal()));
    }
  }
}

TEST_P(Spikes, ColumnsByThemselves) {
  const SpikeFixture fixture(GetParam());
  const std::size_t alone[] = {fixture.place};
  const std::unique_ptr<Family> family = fixture.family().of_cells(alone);
  std::vector<double> cells;
  for (std::size_t i = 0; i < SpikeFixture::kRows; ++i) cells.push_back(fixture.rows[i][fixture.place]);
  const std::unique_ptr<CellColumn> column = family->make_column(cells, {});
  std::vector<std::int32_t> labels(SpikeFixture::kRows);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int32_t>(i % 4);
  RowSets sets(labels.size());
  sets.assign(labels);
  double expected = 0.0;
  for (std::int32_t c = 0; c < 4; ++c) {
    Stats stats(*family);
    for (std::size_t i = 0; i < labels.size(); ++i)
      if (labels[i] == c) stats.add(&cells[i]);
    expected += stats.log_marginal();
  }
  EXPECT_NEAR(column->log_marginal(sets), expected, relative(1e-10, expected));
}

/// The posterior of theta and the likelihood give the predictive back, and draws have its masses.
TEST_P(Spikes, DrawsHaveThePredictive) {
  const SpikeFixture fixture(GetParam());
  const Family& family = fixture.family();
  const Stats stats(family, fixture.rows, 0, 40);
  Stream stream({7, 0, 0}, Purpose::test, 22);
  std::vector<double> theta(family.theta_size()), row(family.width());
  const double probes[] = {fixture.rows[41][fixture.place], fixture.rows[44][fixture.place], kMinusInfinity};
  double sums[3] = {}, squares[3] = {}, spikes = 0.0;
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) {
    family.draw_theta(stats.data(), stream, theta.data());
    family.draw(theta.data(), stream, row.data());
    spikes += row[fixture.place] == kMinusInfinity ? 1.0 : 0.0;
    for (std::size_t k = 0; k < 3; ++k) {
      if (probes[k] == kMinusInfinity && !GetParam().spike) continue;
      double probe[2] = {kMissing, kMissing};
      probe[fixture.place] = probes[k];
      const double likelihood = std::exp(family.log_likelihood(theta.data(), probe));
      sums[k] += likelihood / kDraws;
      squares[k] += likelihood * likelihood / kDraws;
    }
  }
  for (std::size_t k = 0; k < 3; ++k) {
    if (probes[k] == kMinusInfinity && !GetParam().spike) continue;
    double probe[2] = {kMissing, kMissing};
    probe[fixture.place] = probes[k];
    const double error = std::sqrt(std::max(0.0, squares[k] - sums[k] * sums[k]) / kDraws);
    EXPECT_NEAR(sums[k], std::exp(stats.log_predictive(probe)), 4.5 * error + 1e-12);
  }
  const double probability = family.predict_cell(stats.data(), fixture.place).spike;
  EXPECT_NEAR(spikes / kDraws, probability,
              4.5 * std::sqrt(probability * (1.0 - probability) / kDraws) + 1e-12);
  EXPECT_EQ(probability > 0.0, GetParam().spike.has_value());
}

INSTANTIATE_TEST_SUITE_P(Laws, Spikes, ::testing::ValuesIn(spike_cases()),
                         [](const auto& info) { return info.param.name; });

TEST(SpikePlans, LearnedValuesHaveNames) {
  SpikeCase learned{"x", Kind::real, "gaussian-diagonal", "log", 0.0, {}, true};
  const SpikeFixture fixture(learned);
  EXPECT_EQ(fixture.family().hyper_names(),
            (std::vector<std::string>{"x.spike_a", "x.spike_b", "x.prior_mean", "x.mean_strength", "x.shape",
                                      "x.rate", "y.a", "y.b"}));
}

TEST(SpikePlans, WhatCannotBeIsRefused) {
  const auto refusal = [](Kind kind, const std::string& family, const std::string& transform,
                          std::optional<double> spike, std::vector<double> values) -> std::string {
    Table table;
    for (std::size_t i = 0; i < values.size(); ++i) table.row_ids.push_back(std::to_string(i + 1));
    table.columns = {{"x", kind, std::move(values), {}}};
    ColumnSpec spec{"x", kind, {}, family, {}};
    spec.transform = transform;
    spec.hurdle = spike;
    Codebook codebook;
    codebook.columns = {spec};
    try {
      plan_family(table, codebook, "auto", {});
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(refusal(Kind::real, "", "log", {}, {1.0, 0.0, 2.0}).find("add hurdle = 0"), std::string::npos);
  EXPECT_NE(refusal(Kind::real, "", "log", 0.0, {1.0, 0.0, -2.0}).find("row 3 has -2"), std::string::npos);
  EXPECT_NE(refusal(Kind::count, "", "", 3.0, {1.0, 3.0, 3.0}).find("can only be 0"), std::string::npos);
  EXPECT_NE(refusal(Kind::count, "binomial", "", 0.0, {1.0, 0.0, 3.0}).find("use poisson"),
            std::string::npos);
  EXPECT_EQ(refusal(Kind::real, "", "log", 0.0, {1.0, 0.0, 3.0}), "");
}

/// Real columns with a spike are not joined to the others.
TEST(SpikePlans, SpikesStandBesideTheJointBlock) {
  Table table;
  for (std::size_t i = 0; i < 20; ++i) {
    table.row_ids.push_back(std::to_string(i + 1));
  }
  for (const char* name : {"a", "b", "c"}) {
    Column column{name, Kind::real, {}, {}};
    for (std::size_t i = 0; i < 20; ++i)
      column.values.push_back(i % 4 == 0 && column.name == "c" ? 0.0 : 1.0 + static_cast<double>(i * i % 7));
    table.columns.push_back(column);
  }
  ColumnSpec spec{"c", Kind::real, {}, "", {}};
  spec.hurdle = 0.0;
  Codebook codebook;
  codebook.columns = {spec};
  const FamilyPlan plan = plan_family(table, codebook, "auto", {});
  EXPECT_EQ(plan.description(), "gaussian on 2 columns, gaussian-diagonal with a hurdle on 1 column");
}

}  // namespace
}  // namespace coppice::test
