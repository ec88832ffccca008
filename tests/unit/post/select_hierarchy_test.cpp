// The hierarchy to report, against its definition and, for small n, against all trees of two levels.
#include "coppice/post/select_hierarchy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "coppice/base/error.hpp"
#include "coppice/post/profile.hpp"
#include "coppice/post/scores.hpp"
#include "random_trees.hpp"
#include "small_run.hpp"

namespace coppice {
namespace {

// The definition, from functions that share no code with the search.
double loss_to_draw(const TreeDraws& draws, std::size_t d, std::span<const Label> labels, Loss loss) {
  double sum = 0.0;
  for (std::size_t level = 1; level <= draws.levels.size(); ++level) {
    const auto own = level_of(labels, draws.rows(), level);
    const auto other = draws.levels[level - 1][d];
    sum += loss == Loss::vi ? variation_of_information(own, other) : binder_distance(own, other);
  }
  return sum / static_cast<double>(draws.levels.size());
}

double loss_by_definition(const TreeDraws& draws, std::span<const Label> labels, Loss loss) {
  double sum = 0.0;
  for (std::size_t d = 0; d < draws.draws(); ++d) sum += loss_to_draw(draws, d, labels, loss);
  return sum / static_cast<double>(draws.draws());
}

class NearestTree : public testing::TestWithParam<Loss> {};
INSTANTIATE_TEST_SUITE_P(Losses, NearestTree, testing::Values(Loss::vi, Loss::binder),
                         [](const auto& info) { return info.param == Loss::vi ? "vi" : "binder"; });

TEST_P(NearestTree, IsNestedAndNoWorseThanAnyDraw) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    const TreeDraws draws = random_tree_draws(seed, 14, 3, 25);
    const SelectedHierarchy found = nearest_tree(draws, GetParam());
    EXPECT_NO_THROW(make_hierarchy(found.labels, 14));
    EXPECT_NEAR(found.expected_loss, loss_by_definition(draws, found.labels, GetParam()), 1e-12);
    double best_draw = std::numeric_limits<double>::infinity();
    std::vector<double> distances;
    for (std::size_t d = 0; d < draws.draws(); ++d) {
      best_draw = std::min(best_draw, loss_by_definition(draws, draws.tree(d), GetParam()));
      distances.push_back(loss_to_draw(draws, d, found.labels, GetParam()));
    }
    EXPECT_LE(found.expected_loss, best_draw + 1e-12);
    if (found.improved) {
      EXPECT_LT(found.expected_loss, best_draw);
    } else {
      EXPECT_EQ(found.labels, draws.tree(found.origin.draw));
    }
    // The ball: the least of the distances within which 95 % of the draws are.
    std::sort(distances.begin(), distances.end());
    EXPECT_NEAR(found.ball_radius, distances[23], 1e-12);  // 24 of 25 draws are the first to reach 95 %
  }
}

TEST_P(NearestTree, IsTheOptimumOrCloseToItForSmallN) {
  std::size_t optimal = 0;
  double worst = 0.0;
  constexpr unsigned kSeeds = 40;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const TreeDraws draws = random_tree_draws(seed, 5, 2, 12);
    double best = std::numeric_limits<double>::infinity();
    const auto most = [&](std::size_t level) {
      return *std::max_element(draws.levels[level - 1].values.begin(), draws.levels[level - 1].values.end());
    };
    for_each_two_level_tree(5, [&](const Labels& labels) {
      for (const std::size_t level : {1u, 2u}) {
        const auto part = level_of(labels, 5, level);
        if (*std::max_element(part.begin(), part.end()) > most(level)) return;
      }
      best = std::min(best, loss_by_definition(draws, labels, GetParam()));
    });
    const double found = nearest_tree(draws, GetParam()).expected_loss;
    EXPECT_GE(found, best - 1e-12);
    if (found <= best + 1e-12) ++optimal;
    worst = std::max(worst, found / std::max(best, 1e-12));
  }
  EXPECT_GE(optimal, kSeeds * 8 / 10);
  EXPECT_LT(worst, 1.25);
}

TEST_P(NearestTree, OfEqualDrawsIsThatTree) {
  std::mt19937 engine(8);
  const Labels labels = random_tree(engine, 9, 3, 0.8);
  TreeDraws draws;
  for (int d = 0; d < 7; ++d) push_tree(draws, labels, 9);
  const SelectedHierarchy found = nearest_tree(draws, GetParam());
  EXPECT_EQ(found.labels, labels);
  EXPECT_EQ(found.origin.draw, 0u);
  EXPECT_NEAR(found.expected_loss, 0.0, 1e-12);
  EXPECT_NEAR(found.ball_radius, 0.0, 1e-12);
}

TEST_P(NearestTree, CopesWithMoreDrawsThanItComparesInFull) {
  const TreeDraws draws = random_tree_draws(5, 40, 3, 900);
  const SelectedHierarchy found = nearest_tree(draws, GetParam());
  EXPECT_NEAR(found.expected_loss, loss_by_definition(draws, found.labels, GetParam()), 1e-10);
  double typical = 0.0;
  for (std::size_t d = 0; d < 20; ++d)
    typical += loss_by_definition(draws, draws.tree(d * 45), GetParam()) / 20.0;
  EXPECT_LT(found.expected_loss, typical);
}

TEST(NodeSupport, CountsDrawsByDefinition) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    const TreeDraws draws = random_tree_draws(seed, 8, 3, 20);
    const Hierarchy tree = make_hierarchy(draws.tree(seed % 20), 8);
    const std::vector<NodeSupport> support = node_support(tree, draws);
    ASSERT_EQ(support.size(), tree.nodes.size());
    EXPECT_EQ(support[0].exact, 1.0);
    for (std::size_t place = 1; place < tree.nodes.size(); ++place) {
      const HierarchyNode& node = tree.nodes[place];
      const std::set<std::uint32_t> own(node.rows.begin(), node.rows.end());
      double exact = 0.0;
      double anywhere = 0.0;
      double overlap = 0.0;
      for (std::size_t d = 0; d < draws.draws(); ++d) {
        bool found = false;
        double best = 0.0;
        for (const HierarchyNode& other : make_hierarchy(draws.tree(d), 8).nodes) {
          if (other.level == 0) continue;
          const std::set<std::uint32_t> theirs(other.rows.begin(), other.rows.end());
          found = found || own == theirs;
          if (other.level != node.level) continue;
          if (own == theirs) exact += 1.0;
          std::set<std::uint32_t> both = own;
          both.insert(theirs.begin(), theirs.end());
          const double shared = static_cast<double>(own.size() + theirs.size() - both.size());
          best = std::max(best, shared / static_cast<double>(both.size()));
        }
        overlap += best;
        anywhere += found ? 1.0 : 0.0;
      }
      EXPECT_NEAR(support[place].exact, exact / 20.0, 1e-12);
      EXPECT_NEAR(support[place].anywhere, anywhere / 20.0, 1e-12);
      EXPECT_NEAR(support[place].overlap, overlap / 20.0, 1e-12);
    }
  }
}

class SelectTest : public RunTest {
 protected:
  std::unique_ptr<SavedRun> tree_run() {
    std::string csv = "id,x,y\n";
    for (int i = 0; i < 10; ++i) csv += fmt::format("r{},{},{}\n", i, i % 3 * 3 + 0.1 * i, i % 2);
    return make_run({.csv = csv, .warmup = 10, .draws = 40, .model = "rbhmc"});
  }
};

TEST_F(SelectTest, TakesTheFirstDrawOfHighestTrace) {
  const auto run = tree_run();
  const TreeDraws draws = tree_draws(*run);
  EXPECT_EQ(draws.draws(), 80u);
  for (const auto& [selection, trace] : std::vector<std::pair<std::string, std::string>>{
           {"rcdll", "rcdll"}, {"cdll", "cdll"}, {"rcdll_c", "log_joint"}}) {
    const SelectedHierarchy found = select_hierarchy(*run, draws, selection_from_name(selection));
    const auto& names = run->trace_names();
    const auto place = static_cast<std::size_t>(std::find(names.begin(), names.end(), trace) - names.begin());
    double best = -std::numeric_limits<double>::infinity();
    Labels expected;
    run->for_each_draw(0, [&](const SavedDraw& draw) {
      if (draw.traces[place] <= best) return;
      best = draw.traces[place];
      expected.assign(draw.labels.begin(), draw.labels.end());
    });
    EXPECT_EQ(found.labels, expected) << selection;
    EXPECT_FALSE(found.improved);
    EXPECT_NEAR(found.expected_loss, loss_by_definition(draws, found.labels, Loss::vi), 1e-12);
  }
}

TEST_F(SelectTest, NamesWhatItCannotSelectBy) {
  EXPECT_THROW(selection_from_name("best"), Error);
  const auto run = make_run({.csv = "id,x\na,1\nb,2\nc,9\n", .warmup = 5, .draws = 5});
  try {
    select_hierarchy(*run, tree_draws(*run), selection_from_name("rcdll"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::configuration);
    EXPECT_NE(std::string(error.what()).find("log_joint"), std::string::npos) << error.what();
  }
}

TEST_F(SelectTest, GroupsAreProfiledAgainstTheirSiblingsAlone) {
  // Column a tells the two halves apart; within the first half, b does.
  std::string csv = "id,a,b\n";
  for (int i = 0; i < 20; ++i) csv += fmt::format("r{},{},{}\n", i, i < 10 ? 1 : 0, i < 5 ? 1 : 0);
  const auto run = make_run({.csv = csv, .warmup = 5, .draws = 5});
  const std::vector<std::vector<std::uint32_t>> groups{{0, 1, 2, 3, 4}, {5, 6, 7, 8, 9}};
  const std::vector<ClusterProfile> profiles = profile_groups(*run, groups, 0);
  ASSERT_EQ(profiles.size(), 2u);
  EXPECT_EQ(profiles[0].name, "b");
  EXPECT_EQ(profiles[1].name, "no b");
  EXPECT_EQ(profiles[0].traits.size(), 1u);  // a is the same in both groups
}

}  // namespace
}  // namespace coppice
