// The marginals of unions of two clusters: the numbers of merge and log_marginal, the same bits whichever
// cluster comes first and wherever they stand; and families of some of the cells.
#include <gtest/gtest.h>

#include <cmath>

#include "coppice/base/aligned.hpp"
#include "laws/law_case.hpp"
#include "support/seeds.hpp"

namespace coppice::test {
namespace {

class Unions : public ::testing::TestWithParam<LawCase> {
 protected:
  static std::vector<Stats> clusters_of(const Fixture& fixture, std::size_t count) {
    std::vector<Stats> clusters;
    for (std::size_t c = 0; c < count; ++c) {
      const std::size_t begin = c * fixture.rows.size() / count;
      clusters.emplace_back(fixture.family(), fixture.rows, begin,
                            c % 3 == 0 ? begin + std::min<std::size_t>(1, fixture.rows.size() - begin)
                                       : (c + 1) * fixture.rows.size() / count);
    }
    clusters.emplace_back(fixture.family());  // an empty one
    return clusters;
  }
};

TEST_P(Unions, AreMarginalsOfMergedStatisticsInBothDirections) {
  for (const std::uint64_t seed : test_seeds()) {
    const Fixture fixture(GetParam(), seed);
    const Family& family = fixture.family();
    const std::vector<Stats> clusters = clusters_of(fixture, 12);
    const std::size_t stride = family.union_size() * kLanes;
    const std::size_t chunks = (clusters.size() + kLanes - 1) / kLanes;
    AlignedVector cache(chunks * stride, 0.0);
    for (std::size_t slot = 0; slot < clusters.size(); ++slot)
      family.fill_union(clusters[slot].data(), cache.data() + slot / kLanes * stride + slot % kLanes);
    std::vector<AlignedVector> found;
    for (std::size_t a = 0; a < clusters.size(); ++a) {
      found.emplace_back(chunks * kLanes, 0.0);
      family.add_log_marginals(cache.data() + a / kLanes * stride + a % kLanes, cache.data(), stride, chunks,
                               found.back().data());
    }
    for (std::size_t a = 0; a < clusters.size(); ++a)
      for (std::size_t b = 0; b < clusters.size(); ++b) {
        ASSERT_EQ(found[a][b], found[b][a]) << "clusters " << a << " and " << b;
        Stats merged = clusters[a];
        merged.merge(clusters[b]);
        ASSERT_NEAR(found[a][b], merged.log_marginal(), relative(1e-10, merged.log_marginal()))
            << "clusters " << a << " and " << b;
      }
  }
}

/// Eight single rows side by side may be counted in a quicker way than rows beside larger clusters: the bits
/// are the same.
TEST_P(Unions, OfSingleRowsDoNotDependOnTheirNeighbors) {
  const Fixture fixture(GetParam(), 1);
  const Family& family = fixture.family();
  const std::size_t stride = family.union_size() * kLanes;
  AlignedVector cache(2 * stride, 0.0);
  for (std::size_t slot = 0; slot < 2 * kLanes; ++slot) {
    const std::size_t row = slot % kLanes;
    const bool is_large = slot >= kLanes && slot % 2 == 1;
    const Stats cluster(family, fixture.rows, row, is_large ? row + 3 : row + 1);
    family.fill_union(cluster.data(), cache.data() + slot / kLanes * stride + slot % kLanes);
  }
  for (std::size_t a = 0; a < kLanes; ++a) {
    AlignedVector found(2 * kLanes, 0.0);
    family.add_log_marginals(cache.data() + a, cache.data(), stride, 2, found.data());
    for (std::size_t b = 0; b < kLanes; b += 2) EXPECT_EQ(found[b], found[kLanes + b]) << a << " and " << b;
  }
}

/// One cluster with 64 single rows, of which some may be kept as bits: the bits of the unions are the same.
TEST_P(Unions, WithManySingleRowsAreTheSameAsWithEach) {
  for (const std::uint64_t seed : test_seeds()) {
    const Fixture fixture(GetParam(), seed);
    const Family& family = fixture.family();
    const std::size_t stride = family.union_size() * kLanes;
    constexpr std::size_t kSlots = kLanes * kLanes;
    constexpr unsigned kLargerChunk = 5;  // it holds no single rows, so nothing is asked of it
    AlignedVector cache(kLanes * stride, 0.0);
    std::vector<std::uint64_t> words(family.single_words(), 0x5555555555555555);
    for (std::size_t slot = 0; slot < kSlots; ++slot) {
      const std::size_t row = slot % fixture.rows.size();
      const Stats single(family, fixture.rows, row, row + 1);
      family.fill_union(single.data(), cache.data() + slot / kLanes * stride + slot % kLanes);
      family.set_single(single.data(), slot, words.data());
    }
    const std::vector<Stats> clusters = clusters_of(fixture, 7);
    for (std::size_t c = 0; c < clusters.size(); ++c) {
      AlignedVector one(stride, 0.0);
      family.fill_union(clusters[c].data(), one.data());
      std::vector<double> values(family.single_size());
      family.fill_single(one.data(), values.data());
      AlignedVector expected(kSlots, 0.25), found(kSlots, 0.25);
      family.add_log_marginals(one.data(), cache.data(), stride, kLanes, expected.data());
      family.add_log_marginals_of_singles(one.data(), values.data(), words.data(), cache.data(), stride,
                                          0xffU & ~(1U << kLargerChunk), found.data());
      for (std::size_t slot = 0; slot < kSlots; ++slot) {
        if (slot / kLanes == kLargerChunk) continue;
        ASSERT_EQ(found[slot], expected[slot]) << "cluster " << c << " and slot " << slot;
      }
    }
  }
}

/// The log marginals of the nodes of a tree, a block among them, are those of their rows.
TEST_P(Unions, OfATreeUpwards) {
  const Fixture fixture(GetParam(), 1, 21);
  const std::size_t first[] = {0};
  const std::unique_ptr<Family> column = fixture.family().of_cells(first);
  const Family& family = column != nullptr ? *column : fixture.family();
  const auto count = static_cast<std::uint32_t>(fixture.rows.size());
  std::vector<double> items(count * family.stats_size());
  for (std::uint32_t row = 0; row < count; ++row) {
    family.clear(items.data() + row * family.stats_size());
    family.add(items.data() + row * family.stats_size(), fixture.rows[row]);
  }
  const std::uint32_t together[] = {0, 2, 5};
  std::vector<MadeNode> nodes = {{0, 0, together}, {1, 3, {}}};
  std::vector<std::vector<std::uint32_t>> rows_below = {{0, 2, 5}, {1, 3}};
  for (std::uint32_t row : {4U, 6U, 7U, 8U, 9U, 10U, 11U, 12U}) {
    const auto last = static_cast<std::uint32_t>(nodes.size()) - 1;
    const std::uint32_t below = row % 2 == 0 ? last : last - 1;
    nodes.push_back({row, count + below, {}});
    rows_below.push_back(rows_below[below]);
    rows_below.back().push_back(row);
  }
  AlignedVector none(family.union_size() * kLanes, 0.0), values(none.size());
  family.fill_union(Stats(family).data(), none.data());
  std::vector<double> made(nodes.size() * family.stats_size()), found(nodes.size());
  family.log_marginals_upwards(items.data(), count, nodes, none.data(), made.data(), values.data(),
                               found.data());
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    Stats stats(family);
    for (const std::uint32_t row : rows_below[node]) stats.add(fixture.rows[row]);
    EXPECT_NEAR(found[node], stats.log_marginal(), relative(1e-10, stats.log_marginal())) << node;
    AlignedVector cache(none), expected(kLanes, 0.0);
    family.fill_union(made.data() + node * family.stats_size(), cache.data());
    family.add_log_marginals(none.data(), cache.data(), cache.size(), 1, expected.data());
    EXPECT_EQ(found[node], expected[0]) << node;
  }
}

TEST_P(Unions, CellsByThemselvesAddUp) {
  const Fixture fixture(GetParam(), 1);
  const Family& family = fixture.family();
  std::vector<std::size_t> odd, even;
  for (std::size_t cell = 0; cell < family.width(); ++cell) (cell % 2 == 0 ? even : odd).push_back(cell);
  const std::unique_ptr<Family> parts[] = {family.of_cells(even),
                                           odd.empty() ? nullptr : family.of_cells(odd)};
  if (parts[0] == nullptr) {
    for (const FamilyPlan::Block& block : fixture.plan.blocks)
      if (family_by_name(block.family).joint) return;
    FAIL() << "columns are independent, but the family cannot be divided";
  }
  double total = 0.0;
  for (std::size_t part = 0; part < 2; ++part) {
    const std::vector<std::size_t>& cells = part == 0 ? even : odd;
    if (cells.empty()) continue;
    ASSERT_EQ(parts[part]->width(), cells.size());
    Stats stats(*parts[part]);
    for (std::size_t i = 0; i < fixture.rows.size(); ++i) {
      std::vector<double> row;
      for (const std::size_t cell : cells) row.push_back(fixture.rows[i][cell]);
      stats.add(row.data());
    }
    for (std::size_t cell = 0; cell < cells.size(); ++cell)
      EXPECT_EQ(parts[part]->origin(cell), family.origin(cells[cell]));
    total += stats.log_marginal();
  }
  const double whole = Stats(family, fixture.rows, 0, fixture.rows.size()).log_marginal();
  EXPECT_NEAR(total, whole, relative(1e-11, whole));
}

INSTANTIATE_TEST_SUITE_P(Families, Unions, ::testing::ValuesIn(law_cases()), CaseName());
INSTANTIATE_TEST_SUITE_P(Learned, Unions, ::testing::ValuesIn(learned_cases()), CaseName());

}  // namespace
}  // namespace coppice::test
