// Probabilities add up to one: over all rows for the discrete families, by quadrature for the continuous
// ones, also when some cells of a Gaussian row are missing.
#include <gtest/gtest.h>

#include <boost/math/quadrature/sinh_sinh.hpp>
#include <cmath>
#include <functional>
#include <vector>

#include "coppice/base/math.hpp"
#include "coppice/family/registry.hpp"
#include "laws/law_case.hpp"

namespace coppice::test {
namespace {

/// Calls visit for every row whose cell j runs over 0 .. sizes[j] - 1.
void for_each_row(const std::vector<std::size_t>& sizes,
                  const std::function<void(const std::vector<double>&)>& visit) {
  std::vector<double> row(sizes.size(), 0.0);
  while (true) {
    visit(row);
    std::size_t j = 0;
    while (j < sizes.size() && row[j] + 1.0 >= static_cast<double>(sizes[j])) row[j++] = 0.0;
    if (j == sizes.size()) return;
    row[j] += 1.0;
  }
}

/// The sum of the marginals of all tables of `count` rows, and of the predictive after the fixture's rows.
void expect_sums_of_one(const Fixture& fixture, const std::vector<std::size_t>& sizes, std::size_t count,
                        double tolerance, const std::function<bool(const std::vector<double>&)>& keep) {
  const Family& family = fixture.family();
  const std::size_t width = family.width();
  std::vector<std::size_t> all_sizes;
  for (std::size_t i = 0; i < count; ++i) all_sizes.insert(all_sizes.end(), sizes.begin(), sizes.end());
  double total = 0.0;
  for_each_row(all_sizes, [&](const std::vector<double>& cells) {
    Stats stats(family);
    for (std::size_t i = 0; i < count; ++i) {
      const std::vector<double> row(cells.begin() + static_cast<std::ptrdiff_t>(i * width),
                                    cells.begin() + static_cast<std::ptrdiff_t>((i + 1) * width));
      if (!keep(row)) return;
      stats.add(row.data());
    }
    total += std::exp(stats.log_marginal());
  });
  EXPECT_NEAR(total, 1.0, tolerance) << "marginals of " << count << " rows";
  const Stats known(family, fixture.rows, 0, fixture.rows.size());
  total = 0.0;
  for_each_row(sizes, [&](const std::vector<double>& row) {
    if (keep(row)) total += std::exp(known.log_predictive(row.data()));
  });
  EXPECT_NEAR(total, 1.0, tolerance) << "predictive";
}

bool any_row(const std::vector<double>&) { return true; }

LawCase discrete_case(const std::string& family, std::vector<CaseColumn> columns,
                      std::vector<std::string> settings) {
  return {family, family, std::move(columns), std::move(settings)};
}

TEST(Normalization, Bernoulli) {
  const Fixture fixture(
      discrete_case("bernoulli", {{Kind::binary}, {Kind::binary}}, {"a=[0.3, 2]", "b=[1.5, 0.1]"}), 1);
  for (const std::size_t count : {1u, 2u, 4u}) expect_sums_of_one(fixture, {2, 2}, count, 1e-12, any_row);
}

TEST(Normalization, Categorical) {
  const Fixture fixture(
      discrete_case("categorical", {{Kind::category, 3}, {Kind::category, 2}}, {"concentration=0.3"}), 1);
  for (const std::size_t count : {1u, 2u, 4u}) expect_sums_of_one(fixture, {3, 2}, count, 1e-12, any_row);
}

TEST(Normalization, Binomial) {
  for (const std::size_t trials : {1u, 6u, 50u}) {
    const std::string setting = "trials=" + std::to_string(trials);
    const Fixture fixture(discrete_case("binomial", {{Kind::count, 0, "", {setting}}}, {"a=0.3", "b=2.2"}),
                          1);
    for (const std::size_t count : {1u, 2u}) expect_sums_of_one(fixture, {trials + 1}, count, 1e-11, any_row);
  }
}

TEST(Normalization, MultinomialOverRowsOfOneLength) {
  const Fixture fixture(discrete_case("multinomial", std::vector<CaseColumn>(3, {Kind::count}),
                                      {"concentration=[0.1, 2, 0.7]"}),
                        1);
  for (const double length : {0.0, 1.0, 5.0}) {
    const auto side = static_cast<std::size_t>(length) + 1;
    for (const std::size_t count : {1u, 2u})
      expect_sums_of_one(fixture, {side, side, side}, count, 1e-12,
                         [&](const std::vector<double>& row) { return row[0] + row[1] + row[2] == length; });
  }
}

TEST(Normalization, PoissonUpToItsTail) {
  // With shape 3 and rate 2 the marginal of one count falls like 3^-x: nothing is left beyond 100.
  const Fixture fixture(discrete_case("poisson", {{Kind::count}}, {"shape=3", "rate=2"}), 1);
  for (const std::size_t count : {1u, 2u}) expect_sums_of_one(fixture, {150}, count, 1e-12, any_row);
}

TEST(Normalization, NegativeBinomialUpToItsTail) {
  // The marginal of one count falls like x^-31.
  const Fixture fixture(discrete_case("negative-binomial", {{Kind::count}}, {"size=2", "a=30", "b=3"}), 1);
  for (const std::size_t count : {1u, 2u}) expect_sums_of_one(fixture, {300}, count, 1e-12, any_row);
}

/// Integral of exp(log_density) over the real line, with the bulk of the density at `center`.
double integral(const std::function<double(double)>& log_density, double center, double scale) {
  static boost::math::quadrature::sinh_sinh<double> rule(12);
  return scale * rule.integrate(
                     [&](double t) {
                       // The ends of the rule lie where squares overflow, and the density is zero there.
                       return std::abs(t) > 1e100 ? 0.0 : std::exp(log_density(center + scale * t));
                     },
                     1e-10);
}

class ContinuousFamily : public ::testing::TestWithParam<std::string> {};

TEST_P(ContinuousFamily, PredictiveOfOneColumnIntegratesToOne) {
  const Fixture fixture({"one", GetParam(), {{Kind::real}}}, 1);
  for (const std::size_t count : {0u, 1u, 2u, 10u, 60u}) {
    const Stats stats(fixture.family(), fixture.rows, 0, count);
    const CellPredictive cell = fixture.family().predict_cell(stats.data(), 0);
    const double scale = std::isfinite(cell.variance) ? std::sqrt(cell.variance) : 1.0;
    EXPECT_NEAR(integral([&](double x) { return stats.log_predictive(&x); },
                         cell.mean - fixture.family().origin(0), scale),
                1.0, 1e-8)
        << count << " rows";
  }
}

/// What predict_cell says of the whole distribution is the predictive.
TEST_P(ContinuousFamily, PredictedCellsHaveThePredictivesDensity) {
  const Fixture fixture({"one", GetParam(), {{Kind::real}}}, 1);
  for (const std::size_t count : {0u, 1u, 7u, 60u}) {
    const Stats stats(fixture.family(), fixture.rows, 0, count);
    const CellPredictive cell = fixture.family().predict_cell(stats.data(), 0);
    for (const double x : {-3.0, 0.2, 5.0}) {
      const double value = x + fixture.family().origin(0);
      const double z = (value - cell.mean) / (std::isinf(cell.dof) ? std::sqrt(cell.variance) : cell.scale);
      const double log_density = std::isinf(cell.dof)
                                     ? -0.5 * (kLog2Pi + z * z) - 0.5 * std::log(cell.variance)
                                     : log_gamma(0.5 * (cell.dof + 1.0)) - log_gamma(0.5 * cell.dof) -
                                           0.5 * (kLogPi + std::log(cell.dof)) - std::log(cell.scale) -
                                           0.5 * (cell.dof + 1.0) * std::log1p(z * z / cell.dof);
      EXPECT_NEAR(stats.log_predictive(&x), log_density, 1e-9) << count << " rows at " << x;
    }
  }
}

std::vector<std::string> continuous_families() {
  std::vector<std::string> names;
  for (const FamilyEntry& entry : all_families())
    if (entry.kinds.front() == Kind::real) names.push_back(entry.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Laws, ContinuousFamily, ::testing::ValuesIn(continuous_families()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Normalization, GaussianOfTwoColumnsIntegratesToOne) {
  const Fixture fixture({"two", "gaussian", {{Kind::real}, {Kind::real}}, {"dof=3", "mean_strength=0.4"}}, 1);
  for (const std::size_t count : {0u, 3u, 30u}) {
    const Stats stats(fixture.family(), fixture.rows, 0, count);
    // Trapezoids in x = center + sinh(t): exponentially accurate, and it reaches the tails of the t
    // distribution.
    const double reach = 14.0;
    const int steps = 300;
    const double step = 2.0 * reach / steps;
    double total = 0.0;
    for (int i = 0; i <= steps; ++i) {
      for (int k = 0; k <= steps; ++k) {
        const double s = -reach + i * step;
        const double t = -reach + k * step;
        const double row[2] = {stats.data()[3] + std::sinh(s), stats.data()[4] + std::sinh(t)};
        total += std::exp(stats.log_predictive(row)) * std::cosh(s) * std::cosh(t) * step * step;
      }
    }
    EXPECT_NEAR(total, 1.0, 1e-6) << count << " rows";
  }
}

TEST(Normalization, MissingCellsOfAGaussianRowAreIntegratedOut) {
  for (const std::size_t dimension : {1u, 2u, 5u}) {
    const Fixture fixture({"missing", "gaussian", std::vector<CaseColumn>(dimension, {Kind::real})}, 1);
    for (const std::size_t count : {0u, 1u, 20u}) {
      const Stats stats(fixture.family(), fixture.rows, 0, count);
      for (std::size_t j = 0; j < dimension; ++j) {
        SCOPED_TRACE(::testing::Message() << "cell " << j << " of " << dimension << ", " << count << " rows");
        std::vector<double> row(fixture.rows[30], fixture.rows[30] + dimension);
        const double value = row[j];
        const double whole = integral(
            [&](double x) {
              row[j] = x;
              return stats.log_predictive(row.data());
            },
            value, 1.0);
        row[j] = kMissing;
        EXPECT_NEAR(stats.log_predictive(row.data()), std::log(whole), 1e-7);
      }
      const std::vector<double> nothing(dimension, kMissing);
      EXPECT_EQ(stats.log_predictive(nothing.data()), 0.0);
    }
  }
}

TEST(Normalization, MissingCellsOfAGaussianRowInAnyOrder) {
  // Leaving out two cells is leaving out one, then the other: checked through a family of the kept columns
  // alone.
  const Fixture whole({"whole",
                       "gaussian",
                       std::vector<CaseColumn>(4, {Kind::real}),
                       {"prior_mean=0", "dof=9", "mean_strength=0.3", "scale=[2, 3, 4, 5]"}},
                      1);
  // The inverse-Wishart margin of two of four columns keeps its scale and loses two degrees of freedom.
  Table part;
  part.row_ids = whole.table.row_ids;
  part.columns = {whole.table.columns[0], whole.table.columns[2]};
  const FamilyPlan plan = plan_family(
      part, {}, "gaussian", parse_all({"prior_mean=0", "dof=7", "mean_strength=0.3", "scale=[2, 4]"}));
  const Rows rows = encode(plan, part);
  const Stats all(whole.family(), whole.rows, 0, 25);
  const Stats kept(*plan.family, rows, 0, 25);
  for (std::size_t i = 30; i < 60; ++i) {
    const double row[4] = {whole.rows[i][0], kMissing, whole.rows[i][2], kMissing};
    EXPECT_NEAR(all.log_predictive(row), kept.log_predictive(rows[i]), 1e-10);
  }
}

}  // namespace
}  // namespace coppice::test
