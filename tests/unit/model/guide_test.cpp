// Guide trees: every builder gives a tree of all rows for every family, also for rows that are all alike;
// separated groups become clusters below their own nodes; trees that grow row by row stay sound and shallow.
#include "coppice/model/nrmm/guide.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "coppice/model/nrmm/growing_guide.hpp"
#include "coppice/prior/crp.hpp"
#include "laws/law_case.hpp"

namespace coppice::test {
namespace {

using nrmm::GuideKind;

TEST(Guide, IsATreeOfAllRowsForEveryFamily) {
  for (const LawCase& law_case : narrow_cases())
    for (const std::size_t rows : {1u, 2u, 3u, 40u})
      for (const GuideKind kind : {GuideKind::ibhc_bisect, GuideKind::bisect, GuideKind::ibhc}) {
        SCOPED_TRACE(law_case.name);
        const Fixture fixture(law_case, 3, rows);
        const Crp prior(1.0, rows);
        Stream stream({1, 0, 0}, Purpose::guide);
        const nrmm::Guide guide =
            nrmm::build_guide(fixture.family(), fixture.rows, rows, prior, kind, stream);
        EXPECT_EQ(guide.tree.order().size(), rows);
        EXPECT_EQ(guide.tree.rows_below(guide.tree.root()).size(), rows);
        Labels canonical = guide.clusters;
        canonicalize(canonical);
        EXPECT_EQ(canonical, guide.clusters);
      }
}

/// Blobs of `each` rows around (20 k, -10 k).
Fixture blobs(std::size_t groups, std::size_t each) {
  Fixture fixture({"blobs", "gaussian", {{Kind::real}, {Kind::real}}}, 1, groups * each);
  Stream stream({7, 0, 0}, Purpose::test);
  for (std::size_t row = 0; row < groups * each; ++row) {
    const auto group = static_cast<double>(row % groups);
    fixture.rows[row][0] = 20.0 * group + draw_normal(stream);
    fixture.rows[row][1] = -10.0 * group + draw_normal(stream);
  }
  return fixture;
}

TEST(Guide, FindsSeparatedGroups) {
  constexpr std::size_t kGroups = 6;
  const Fixture fixture = blobs(kGroups, 500);  // more rows than the sample that is clustered
  const Crp prior(1.0, 3000);
  Stream stream({1, 0, 0}, Purpose::guide);
  const nrmm::Guide guide =
      nrmm::build_guide(fixture.family(), fixture.rows, 3000, prior, GuideKind::ibhc_bisect, stream);
  for (std::uint32_t row = kGroups; row < 3000; ++row)
    EXPECT_EQ(guide.clusters[row], guide.clusters[row % kGroups]) << row;
  std::size_t deepest = 0;
  for (std::uint32_t row = 0; row < 3000; ++row) deepest = std::max(deepest, guide.tree.depth(row));
  EXPECT_LT(deepest, 60u);
}

TEST(Guide, RowsThatAreAllAlikeMakeABalancedTree) {
  Fixture fixture({"alike", "gaussian", {{Kind::real}}}, 1, 5000);
  std::fill(fixture.rows.cells.begin(), fixture.rows.cells.end(), 1.5);
  const Crp prior(1.0, 5000);
  for (const GuideKind kind : {GuideKind::ibhc_bisect, GuideKind::bisect}) {
    Stream stream({1, 0, 0}, Purpose::guide);
    const nrmm::Guide guide =
        nrmm::build_guide(fixture.family(), fixture.rows, 5000, prior, kind, stream);
    std::size_t deepest = 0;
    for (std::uint32_t row = 0; row < 5000; ++row) deepest = std::max(deepest, guide.tree.depth(row));
    EXPECT_LT(deepest, 150u);
  }
}

TEST(GrowingGuide, StaysSoundAndShallow) {
  // In the order of the groups: each begins where no row was before.
  Fixture fixture = blobs(10, 800);
  Fixture sorted = blobs(10, 800);
  for (std::size_t row = 0; row < 8000; ++row)
    std::copy_n(fixture.rows[row / 800 + row % 800 * 10], 2, sorted.rows[row]);
  for (const Fixture* data : {&fixture, &sorted}) {
    Stream stream({1, 0, 0}, Purpose::guide);
    nrmm::GrowingGuide guide(data->family(), data->rows, 5, stream);
    for (std::uint32_t row = 5; row < 8000; ++row) {
      const auto bucket = guide.insert(row, stream);
      ASSERT_NE(std::find(bucket.begin(), bucket.end(), row), bucket.end());
      if (row % 1000 == 0) guide.audit();
    }
    guide.audit();
    EXPECT_EQ(guide.rows(), 8000u);
    EXPECT_LE(static_cast<double>(guide.height()),
              8.0 + 4.0 * std::log2(static_cast<double>(guide.buckets())));
  }
}

}  // namespace
}  // namespace coppice::test
