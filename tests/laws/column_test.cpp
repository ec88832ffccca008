// A column by itself answers as its family does row by row, clusters that were made for it have the joint
// probability they say, and a family restricted to some cells is the family of these cells.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "coppice/base/math.hpp"
#include "coppice/family/cell_column.hpp"
#include "laws/law_case.hpp"
#include "support/seeds.hpp"

namespace coppice::test {
namespace {

constexpr std::size_t kRows = 70;
constexpr double kAlpha = 1.7;

std::vector<std::int32_t> random_labels(Stream& stream, std::size_t clusters) {
  std::vector<std::int32_t> labels(kRows);
  // One label is left out: clusters may be empty.
  for (std::int32_t& label : labels) label = static_cast<std::int32_t>(2 * draw_index(stream, clusters));
  return labels;
}

/// log p(cells | clusters) and log p(clusters) by the definition.
struct Plain {
  double log_marginal = 0.0, log_prior = 0.0;
  Plain(const Family& family, const Rows& rows, std::size_t column, std::span<const std::int32_t> labels) {
    log_prior = log_gamma(kAlpha) - log_gamma(kAlpha + static_cast<double>(labels.size()));
    for (std::int32_t c = 0; c < static_cast<std::int32_t>(labels.size()); ++c) {
      Stats stats(family);
      for (std::size_t row = 0; row < labels.size(); ++row)
        if (labels[row] == c) stats.add(rows[row] + column);
      if (count_of(stats.data()) == 0.0) continue;
      log_marginal += stats.log_marginal();
      log_prior += std::log(kAlpha) + log_gamma(count_of(stats.data()));
    }
  }
};

class SingleColumns : public ::testing::TestWithParam<LawCase> {};

TEST_P(SingleColumns, AnswerAsTheFamilyDoes) {
  for (const std::uint64_t seed : test_seeds()) {
    const Fixture fixture(GetParam(), seed, kRows);
    for (std::size_t column = 0; column < fixture.family().width(); ++column) {
      const std::size_t alone[] = {column};
      const std::unique_ptr<Family> family = fixture.family().of_cells(alone);
      if (family == nullptr) GTEST_SKIP() << "its columns depend on each other";
      std::vector<double> cells;
      for (std::size_t row = 0; row < kRows; ++row) cells.push_back(fixture.rows[row][column]);
      const std::unique_ptr<CellColumn> single = family->make_column(cells, {});
      Stream stream({seed, column, 0}, Purpose::test);
      RowSets sets(kRows);
      for (const std::size_t clusters : {1u, 3u, 20u}) {
        const std::vector<std::int32_t> labels = random_labels(stream, clusters);
        sets.assign(labels);
        const Plain plain(*family, fixture.rows, column, labels);
        EXPECT_NEAR(single->log_marginal(sets), plain.log_marginal, relative(1e-10, plain.log_marginal));
      }
      const Stats empty(*family);
      std::vector<double> sums(kRows, 1.0);
      single->add_log_alone(sums);
      for (std::size_t row = 0; row < kRows; ++row)
        EXPECT_NEAR(sums[row], 1.0 + empty.log_predictive(&cells[row]), relative(1e-12, sums[row]));

      std::vector<std::uint32_t> order(kRows);
      std::iota(order.begin(), order.end(), 0U);
      shuffle(stream, order);
      Allocation drawn, given;
      AllocationRule rule{order, kAlpha};
      for (int repeat = 0; repeat < 3; ++repeat) {
        ASSERT_TRUE(single->allocate(rule, stream, drawn));
        const Plain plain(*family, fixture.rows, column, drawn.labels);
        const double log_joint = plain.log_prior + plain.log_marginal;
        EXPECT_NEAR(drawn.log_joint, log_joint, relative(1e-10, log_joint));
        AllocationRule forced = rule;
        forced.given = drawn.labels.data();
        ASSERT_TRUE(single->allocate(forced, stream, given));
        EXPECT_EQ(given.labels, drawn.labels);
        EXPECT_EQ(given.log_q, drawn.log_q);
        EXPECT_EQ(given.log_joint, drawn.log_joint);
        // What ends early would have ended below; what would not, does not end early.
        forced.log_stop = drawn.log_joint - drawn.log_q - 1e-9;
        EXPECT_TRUE(single->allocate(forced, stream, given));
      }
      const std::vector<std::int32_t> labels = random_labels(stream, 4);
      rule.given = labels.data();
      ASSERT_TRUE(single->allocate(rule, stream, given));
      const Plain plain(*family, fixture.rows, column, labels);
      EXPECT_NEAR(given.log_joint, plain.log_prior + plain.log_marginal, relative(1e-10, given.log_joint));
    }
  }
}

/// Rows with copies: what is said of the rows is what is said of them repeated.
TEST_P(SingleColumns, OfRowsWithCopiesAnswerAsIfRowsWereRepeated) {
  constexpr std::size_t kWeighted = 20;
  constexpr std::size_t kCopyCounts[] = {3, 1, 7, 2};
  for (const std::uint64_t seed : test_seeds()) {
    const Fixture fixture(GetParam(), seed, kWeighted);
    for (std::size_t column = 0; column < fixture.family().width(); ++column) {
      const std::size_t alone[] = {column};
      const std::unique_ptr<Family> family = fixture.family().of_cells(alone);
      if (family == nullptr) GTEST_SKIP() << "its columns depend on each other";
      std::vector<double> cells, copies;
      Rows repeated;
      repeated.width = 1;
      for (std::size_t row = 0; row < kWeighted; ++row) {
        cells.push_back(fixture.rows[row][column]);
        copies.push_back(static_cast<double>(kCopyCounts[row % 4]));
        repeated.cells.insert(repeated.cells.end(), kCopyCounts[row % 4], cells.back());
      }
      const auto labels_of_copies = [&](std::span<const std::int32_t> labels) {
        std::vector<std::int32_t> all;
        for (std::size_t row = 0; row < kWeighted; ++row)
          all.insert(all.end(), kCopyCounts[row % 4], labels[row]);
        return all;
      };
      const std::unique_ptr<CellColumn> tied = family->make_column(cells, copies);
      Stream stream({seed, column, 1}, Purpose::test);
      RowSets sets(kWeighted);
      for (const std::size_t clusters : {1u, 3u, 20u}) {
        std::vector<std::int32_t> labels = random_labels(stream, clusters);
        labels.resize(kWeighted);
        sets.assign(labels);
        const Plain plain(*family, repeated, 0, labels_of_copies(labels));
        EXPECT_NEAR(tied->log_marginal(sets), plain.log_marginal, relative(1e-10, plain.log_marginal));
      }
      std::vector<double> sums(kWeighted, 1.0);
      tied->add_log_alone(sums);
      for (std::size_t row = 0; row < kWeighted; ++row) {
        Stats stats(*family);
        for (std::size_t copy = 0; copy < kCopyCounts[row % 4]; ++copy) stats.add(&cells[row]);
        EXPECT_NEAR(sums[row], 1.0 + stats.log_marginal(), relative(1e-10, sums[row]));
      }
      std::vector<std::uint32_t> order(kWeighted);
      std::iota(order.begin(), order.end(), 0U);
      shuffle(stream, order);
      Allocation drawn, given;
      AllocationRule rule{order, kAlpha};
      for (int repeat = 0; repeat < 3; ++repeat) {
        ASSERT_TRUE(tied->allocate(rule, stream, drawn));
        const Plain plain(*family, repeated, 0, labels_of_copies(drawn.labels));
        const double log_joint = plain.log_prior + plain.log_marginal;
        EXPECT_NEAR(drawn.log_joint, log_joint, relative(1e-9, log_joint));
        AllocationRule forced = rule;
        forced.given = drawn.labels.data();
        ASSERT_TRUE(tied->allocate(forced, stream, given));
        EXPECT_EQ(given.labels, drawn.labels);
        EXPECT_EQ(given.log_q, drawn.log_q);
        EXPECT_EQ(given.log_joint, drawn.log_joint);
      }
    }
  }
}

/// All ways of making clusters of a few rows with copies have probabilities that sum to one.
TEST_P(SingleColumns, OfRowsWithCopiesMakeClustersWithProbabilitiesThatSumToOne) {
  const Fixture fixture(GetParam(), 1, 4);
  const std::size_t alone[] = {0};
  const std::unique_ptr<Family> family = fixture.family().of_cells(alone);
  if (family == nullptr) GTEST_SKIP() << "its columns depend on each other";
  std::vector<double> cells;
  for (std::size_t row = 0; row < 4; ++row) cells.push_back(fixture.rows[row][0]);
  const double copies[] = {2.0, 1.0, 5.0, 1.0};
  const std::unique_ptr<CellColumn> tied = family->make_column(cells, copies);
  const std::uint32_t order[] = {2, 0, 3, 1};
  Stream stream({1, 0, 0}, Purpose::test);
  Allocation made;
  double total = 0.0;
  for (std::int32_t b = 0; b <= 1; ++b)
    for (std::int32_t c = 0; c <= b + 1; ++c)
      for (std::int32_t d = 0; d <= std::max(b, c) + 1; ++d) {
        const std::int32_t labels[] = {0, b, c, d};  // by first appearance: all 15 partitions
        ASSERT_TRUE(tied->allocate({order, kAlpha, labels}, stream, made));
        total += std::exp(made.log_q);
      }
  EXPECT_NEAR(total, 1.0, 1e-10);
}

TEST_P(SingleColumns, RestrictedFamiliesAreTheFamiliesOfTheirCells) {
  for (const std::uint64_t seed : test_seeds()) {
    const Fixture fixture(GetParam(), seed, kRows);
    std::vector<std::size_t> all(fixture.family().width());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const std::unique_ptr<Family> restricted = fixture.family().of_cells(all);
    if (restricted == nullptr) GTEST_SKIP() << "its columns depend on each other";
    for (std::size_t first = 0; first < 2 && first < all.size(); ++first) {
      std::vector<std::size_t> cells;
      for (std::size_t cell = first; cell < all.size(); cell += 2) cells.push_back(cell);
      const std::unique_ptr<Family> own = fixture.family().of_cells(cells);
      ASSERT_TRUE(restricted->restrict_to(cells));
      Stats wide(*restricted), narrow(*own);
      std::vector<double> row(cells.size());
      for (std::size_t i = 0; i < kRows; ++i) {
        for (std::size_t j = 0; j < cells.size(); ++j) row[j] = fixture.rows[i][cells[j]];
        EXPECT_EQ(wide.log_predictive(fixture.rows[i]), narrow.log_predictive(row.data()));
        wide.add(fixture.rows[i]);
        narrow.add(row.data());
      }
      EXPECT_EQ(wide.log_marginal(), narrow.log_marginal());
      AlignedVector wide_cache(restricted->cache_size() * kLanes), narrow_cache(own->cache_size() * kLanes);
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        restricted->fill_cache(wide.data(), wide_cache.data() + lane);
        own->fill_cache(narrow.data(), narrow_cache.data() + lane);
      }
      for (std::size_t j = 0; j < cells.size(); ++j) row[j] = fixture.rows[0][cells[j]];
      AlignedVector left(kLanes), right(kLanes);
      restricted->add_log_predictive(fixture.rows[0], wide_cache.data(), wide_cache.size(), 1,
                                     {3, wide.data()}, left.data());
      own->add_log_predictive(row.data(), narrow_cache.data(), narrow_cache.size(), 1, {3, narrow.data()},
                              right.data());
      EXPECT_EQ(left, right);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, SingleColumns, ::testing::ValuesIn(law_cases()), CaseName());
INSTANTIATE_TEST_SUITE_P(Learned, SingleColumns, ::testing::ValuesIn(learned_cases()), CaseName());

}  // namespace
}  // namespace coppice::test
