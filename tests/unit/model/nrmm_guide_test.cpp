// Guide trees: every builder gives a tree of all rows for every family, also for rows that are all alike;
// separated groups become clusters below their own nodes; trees that grow row by row stay sound and shallow.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "coppice/family/plan.hpp"
#include "coppice/model/nrmm/growing_guide.hpp"
#include "coppice/model/nrmm/guide.hpp"
#include "coppice/prior/crp.hpp"
#include "laws/law_case.hpp"

namespace coppice::test {
namespace {

using nrmm::GuideKind;

TEST(NrmmGuide, IsATreeOfAllRowsForEveryFamily) {
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

TEST(NrmmGuide, HeedsARequestToStop) {
  const std::atomic<bool> stop{true};
  for (const GuideKind kind : {GuideKind::ibhc_bisect, GuideKind::bisect}) {
    const Fixture fixture(narrow_cases().front(), 3, 40);
    const Crp prior(1.0, 40);
    Stream stream({1, 0, 0}, Purpose::guide);
    try {
      nrmm::build_guide(fixture.family(), fixture.rows, 40, prior, kind, stream, &stop);
      ADD_FAILURE() << "did not stop";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::stopped);
    }
  }
}

struct Blobs {
  FamilyPlan plan;
  Rows rows;
};

/// `each` rows around each (20 k, -10 k), in turns.
Blobs blobs(std::size_t groups, std::size_t each) {
  Table table;
  table.columns = {{"x", Kind::real, {}, {}}, {"y", Kind::real, {}, {}}};
  Stream stream({7, 0, 0}, Purpose::test);
  for (std::size_t row = 0; row < groups * each; ++row) {
    const auto group = static_cast<double>(row % groups);
    table.columns[0].values.push_back(20.0 * group + draw_normal(stream));
    table.columns[1].values.push_back(-10.0 * group + draw_normal(stream));
    table.row_ids.push_back(std::to_string(row));
  }
  Blobs made{plan_family(table, {}, "gaussian", {}), {}};
  made.rows = encode(made.plan, table);
  return made;
}

TEST(NrmmGuide, FindsSeparatedGroups) {
  constexpr std::size_t kGroups = 6;
  const Blobs data = blobs(kGroups, 500);  // more rows than the sample that is clustered
  const Crp prior(1.0, 3000);
  Stream stream({1, 0, 0}, Purpose::guide);
  const nrmm::Guide guide =
      nrmm::build_guide(*data.plan.family, data.rows, 3000, prior, GuideKind::ibhc_bisect, stream);
  // No cluster has rows of two groups, and few groups are in pieces.
  std::map<Label, std::uint32_t> group_of;
  for (std::uint32_t row = 0; row < 3000; ++row) {
    const auto [known, fresh] = group_of.try_emplace(guide.clusters[row], row % kGroups);
    EXPECT_EQ(known->second, row % kGroups) << row;
  }
  EXPECT_LT(group_of.size(), 3 * kGroups);
  std::size_t deepest = 0;
  for (std::uint32_t row = 0; row < 3000; ++row) deepest = std::max(deepest, guide.tree.depth(row));
  EXPECT_LT(deepest, 60u);
}

TEST(NrmmGuide, RowsThatAreAllAlikeMakeABalancedTree) {
  Fixture fixture({"alike", "gaussian", {{Kind::real}}}, 1, 5000);
  std::fill(fixture.rows.cells.begin(), fixture.rows.cells.end(), 1.5);
  const Crp prior(1.0, 5000);
  for (const GuideKind kind : {GuideKind::ibhc_bisect, GuideKind::bisect}) {
    Stream stream({1, 0, 0}, Purpose::guide);
    const nrmm::Guide guide = nrmm::build_guide(fixture.family(), fixture.rows, 5000, prior, kind, stream);
    std::size_t deepest = 0;
    for (std::uint32_t row = 0; row < 5000; ++row) deepest = std::max(deepest, guide.tree.depth(row));
    EXPECT_LT(deepest, 45u);
  }
}

TEST(NrmmGrowingGuide, StaysSoundAndShallow) {
  // In the order of the groups: each begins where no row was before.
  const Blobs mixed = blobs(10, 800);
  Blobs sorted = blobs(10, 800);
  for (std::size_t row = 0; row < 8000; ++row)
    std::copy_n(mixed.rows[row / 800 + row % 800 * 10], 2, sorted.rows[row]);
  for (const Blobs* data : {&mixed, static_cast<const Blobs*>(&sorted)}) {
    Stream stream({1, 0, 0}, Purpose::guide);
    nrmm::GrowingGuide guide(*data->plan.family, data->rows, 5, stream);
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
