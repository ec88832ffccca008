// The estimate of memory before a fit: near the peaks that were measured, and made of what it should be made
// of.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "coppice/base/rng.hpp"
#include "coppice/run/problem_setup.hpp"

namespace coppice {
namespace {

/// Rows of six clusters.
RunContents contents_of(const std::string& model, Kind kind, std::size_t rows, std::size_t columns,
                        std::size_t chains, std::size_t draws) {
  constexpr std::size_t kClusters = 6;
  RunContents contents;
  contents.config.model = model;
  contents.config.chains = chains;
  contents.config.warmup = draws;
  contents.config.draws = draws;
  Stream stream({3, rows, columns}, Purpose::test);
  for (std::size_t j = 0; j < columns; ++j) {
    Column column{fmt::format("c{}", j), kind, {}, {}};
    if (kind == Kind::binary) column.levels = {"0", "1"};
    std::vector<double> centers;
    for (std::size_t k = 0; k < kClusters; ++k)
      centers.push_back(kind == Kind::binary ? draw_uniform(stream) : 3.0 * draw_normal(stream));
    for (std::size_t i = 0; i < rows; ++i) {
      const double center = centers[i % kClusters];
      column.values.push_back(kind == Kind::binary ? (draw_uniform(stream) < center ? 1.0 : 0.0)
                                                   : center + draw_normal(stream));
    }
    contents.table.columns.push_back(std::move(column));
  }
  for (std::size_t i = 0; i < rows; ++i) contents.table.row_ids.push_back(fmt::format("{}", i + 1));
  return contents;
}

double megabytes(const RunContents& contents) {
  const std::unique_ptr<ProblemSetup> setup = set_up_problem(contents);
  return static_cast<double>(estimate_bytes(*setup, contents.config, contents.table)) / 1e6;
}

TEST(MemoryEstimate, IsWithinAQuarterOfWhatWasMeasured) {
  struct Measured {
    std::string model;
    Kind kind;
    std::size_t rows, columns, chains, draws;
    double peak;  // of the whole program, in megabytes
  };
  for (const Measured& m : {Measured{"nrmm", Kind::real, 10'000, 100, 1, 30, 49.8},
                            Measured{"nrmm", Kind::real, 10'000, 100, 4, 10, 59.7},
                            Measured{"nrmm", Kind::real, 100'000, 20, 1, 15, 87.0},
                            Measured{"nrmm", Kind::real, 100'000, 20, 4, 2, 90.2},
                            Measured{"nrmm", Kind::real, 100'000, 2, 4, 20, 77.1},
                            Measured{"crosscat", Kind::binary, 500, 1000, 1, 50, 366.7},
                            Measured{"crosscat", Kind::binary, 500, 1000, 1, 200, 381.5},
                            Measured{"crosscat", Kind::binary, 500, 5000, 1, 20, 1620.0},
                            Measured{"crosscat", Kind::real, 200, 5000, 1, 500, 432.0},
                            Measured{"crosscat", Kind::real, 200, 5000, 4, 2, 1369.0}}) {
    const double estimate = megabytes(contents_of(m.model, m.kind, m.rows, m.columns, m.chains, m.draws));
    EXPECT_NEAR(estimate / m.peak, 1.0, 0.25)
        << m.model << " on " << m.rows << " x " << m.columns << ", " << m.chains << " chains: " << estimate;
  }
}

TEST(MemoryEstimate, ChainsAndTableAreNotThereAtOnce) {
  const auto estimate = [](std::size_t chains, std::size_t draws) {
    return megabytes(contents_of("nrmm", Kind::real, 5000, 40, chains, draws));
  };
  EXPECT_EQ(estimate(1, 1), estimate(2, 1)) << "while it is written the table takes more than two chains";
  const double four = estimate(40, 1) - estimate(36, 1);
  EXPECT_GT(four, 0.0);
  EXPECT_NEAR(estimate(48, 1) - estimate(40, 1), 2.0 * four, 1e-9);
  EXPECT_GT(estimate(40, 100), estimate(40, 1)) << "a block of draws is kept until it is written";
}

TEST(MemoryEstimate, CountsTheRowsThatWeightsStandFor) {
  constexpr std::size_t kRows = 2000;
  constexpr std::size_t kColumns = 10;
  constexpr double kWeight = 400.0;
  RunContents contents = contents_of("nrmm", Kind::binary, kRows, kColumns, 1, 1);
  const double without = megabytes(contents);
  contents.weights.columns.push_back({"people", Kind::count, std::vector<double>(kRows, kWeight), {}});
  const double repeated_cells = kWeight * kRows * kColumns * sizeof(double) / 1e6;
  const double names = kWeight * kRows * sizeof(std::string) / 1e6;
  EXPECT_GT(megabytes(contents), repeated_cells);
  EXPECT_LT(megabytes(contents), without + repeated_cells + names) << "chains hold no repeated rows";
}

TEST(MemoryEstimate, OfChainsIsNotLessForRowsWithWeights) {
  RunContents contents = contents_of("crosscat", Kind::binary, 300, 400, 2, 5);
  contents.config.hyper = kFixedHyper;
  const double without = megabytes(contents);
  contents.weights.columns.push_back({"people", Kind::count, std::vector<double>(300, 2.0), {}});
  EXPECT_GE(megabytes(contents), without);
}

TEST(MemoryEstimate, OfCrosscatGrowsWithColumnsAndViews) {
  const double narrow = megabytes(contents_of("crosscat", Kind::binary, 300, 400, 2, 5));
  const double wide = megabytes(contents_of("crosscat", Kind::binary, 300, 1600, 2, 5));
  const double program = 18.0;
  EXPECT_GT(wide - program, 4.0 * (narrow - program)) << "more columns have more views, too";
  EXPECT_LT(wide - program, 6.0 * (narrow - program));
}

}  // namespace
}  // namespace coppice
