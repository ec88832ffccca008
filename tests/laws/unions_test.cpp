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
    AlignedVector bank(chunks * stride, 0.0);
    for (std::size_t slot = 0; slot < clusters.size(); ++slot)
      family.fill_union(clusters[slot].data(), bank.data() + slot / kLanes * stride + slot % kLanes);
    std::vector<AlignedVector> found;
    for (std::size_t a = 0; a < clusters.size(); ++a) {
      found.emplace_back(chunks * kLanes, 0.0);
      family.add_log_marginals(bank.data() + a / kLanes * stride + a % kLanes, bank.data(), stride, chunks,
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
TEST_P(Unions, OfSingleRowsDoNotDependOnTheirNeighbours) {
  const Fixture fixture(GetParam(), 1);
  const Family& family = fixture.family();
  const std::size_t stride = family.union_size() * kLanes;
  AlignedVector bank(2 * stride, 0.0);
  for (std::size_t slot = 0; slot < 2 * kLanes; ++slot) {
    const std::size_t row = slot % kLanes;
    const bool is_large = slot >= kLanes && slot % 2 == 1;
    const Stats cluster(family, fixture.rows, row, is_large ? row + 3 : row + 1);
    family.fill_union(cluster.data(), bank.data() + slot / kLanes * stride + slot % kLanes);
  }
  for (std::size_t a = 0; a < kLanes; ++a) {
    AlignedVector found(2 * kLanes, 0.0);
    family.add_log_marginals(bank.data() + a, bank.data(), stride, 2, found.data());
    for (std::size_t b = 0; b < kLanes; b += 2) EXPECT_EQ(found[b], found[kLanes + b]) << a << " and " << b;
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
      if (block.family == "gaussian" || block.family == "multinomial") return;
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

}  // namespace
}  // namespace coppice::test
