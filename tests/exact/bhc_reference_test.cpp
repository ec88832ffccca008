// Greedy trees against numbers computed by other programs.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "coppice/cluster/randomized_merging.hpp"
#include "coppice/prior/crp.hpp"
#include "support/bhc_law.hpp"
#include "support/reference_case.hpp"
#include "support/tree_case.hpp"
#include "support/tree_reference.hpp"

namespace coppice::test {
namespace {

using nlohmann::json;

std::vector<std::vector<std::uint32_t>> groups_of(const Labels& labels) {
  std::vector<std::vector<std::uint32_t>> groups(cluster_sizes(labels).size());
  for (std::uint32_t row = 0; row < labels.size(); ++row)
    groups[static_cast<std::size_t>(labels[row])].push_back(row);
  return groups;
}

class BhcReference : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const json reference = read_reference(GetParam());
    input_ = reference.at("case");
    result_ = reference.at("result");
    table_ = std::make_unique<TreeCase>(input_);
    fit_ = std::make_unique<TreeFit>(table_->family(), table_->rows,
                                     std::vector<std::string>{"alpha-rows=" + input_.at("alpha").dump()});
  }
  json input_, result_;
  std::unique_ptr<TreeCase> table_;
  std::unique_ptr<TreeFit> fit_;
};

TEST_P(BhcReference, TreeBoundAndPartitions) {
  const Dendrogram tree = fit_->tree();
  const std::size_t n = tree.items();
  ASSERT_EQ(tree.nodes(), 2 * n - 1);
  for (const json& merge : result_.at("merges")) {
    const auto node = merge.at("node").get<Dendrogram::Node>();
    EXPECT_EQ(tree.left(node), merge.at("left"));
    EXPECT_EQ(tree.right(node), merge.at("right"));
    EXPECT_EQ(items_of(tree, node), merge.at("rows").get<std::vector<std::uint32_t>>());
    const double log_odds = merge.at("logit_r");
    EXPECT_NEAR(tree.log_odds(node), log_odds, relative(1e-9, log_odds));
  }
  const double bound = result_.at("log_lower_bound");
  EXPECT_NEAR(fit_->bound(), bound, relative(1e-9, bound));
  EXPECT_NEAR(log_evidence(table_->family(), table_->rows, input_.at("alpha")), result_.at("log_dpm_exact"),
              1e-9 * 100);
  const TreePosterior posterior(tree);
  EXPECT_EQ(groups_of(posterior.cut()), result_.at("cut_0.5").get<std::vector<std::vector<std::uint32_t>>>());
  EXPECT_EQ(groups_of(posterior.most_probable()),
            result_.at("map_tree_partition").get<std::vector<std::vector<std::uint32_t>>>());
  for (const auto& [node, omega] : result_.at("omega").items())
    EXPECT_NEAR(std::exp(posterior.log_cluster(static_cast<Dendrogram::Node>(std::stoul(node)))),
                omega.get<double>(), 1e-12);
  for (std::uint32_t a = 0; a < n; ++a)
    for (std::uint32_t b = 0; b < n; ++b)
      EXPECT_NEAR(posterior.coclustering(a, b), result_.at("tree_row_coassign")[a][b].get<double>(), 1e-12);
}

TEST_P(BhcReference, Predictives) { check_predictives(result_, *table_, *fit_->predictor()); }

/// A tree given as nested lists, blocks among them.
MergeTree::Node grow(const json& shape, MergeTree& forest) {
  if (shape.is_number()) return forest.leaf(shape.get<std::uint32_t>());
  if (shape.is_object()) return forest.block(shape.at("block").get<std::vector<std::uint32_t>>());
  const MergeTree::Node left = grow(shape[0], forest);
  return forest.join(left, grow(shape[1], forest));
}

TEST_P(BhcReference, TreesOfAnyShape) {
  const double alpha = input_.at("alpha");
  const Crp prior(alpha, table_->rows.size());
  MergeTree forest(table_->family(), table_->rows, prior);
  const MergeTree::Node root = grow(input_.at("topology"), forest);
  forest.audit();
  const json& expected = result_.at("fixed_topology");
  EXPECT_NEAR(forest.log_phi(root), expected.at("log_g"), 1e-9 * 50);
  EXPECT_NEAR(-forest.log_d(root), expected.at("logit_r_root"), 1e-9 * 70);
  const auto n = static_cast<double>(table_->rows.size());
  EXPECT_NEAR(forest.log_phi(root) + log_gamma(alpha) - log_gamma(alpha + n), expected.at("log_lower_bound"),
              1e-9 * 50);
}

TEST_P(BhcReference, DivisionsByGivenRows) {
  if (!input_.contains("rbhc")) GTEST_SKIP() << "this case has no division";
  const json& expected = result_.at("rbhc");
  RandomizedOptions options;
  options.threshold = input_.at("rbhc").at("B");
  options.subset = input_.at("rbhc").at("m");
  options.levels = input_.at("rbhc").at("K").is_null() ? 0 : input_.at("rbhc").at("K").get<std::size_t>();
  options.priority = input_.at("rbhc").at("prio").get<std::vector<double>>();
  std::vector<std::tuple<std::uint32_t, double, double>> heard;
  options.on_filter = [&](std::uint32_t row, double left, double right) {
    heard.emplace_back(row, left, right);
  };
  const double alpha = input_.at("alpha");
  const Crp prior(alpha, table_->rows.size());
  MergeTree forest(table_->family(), table_->rows, prior);
  RandomizedMerging division(table_->family(), table_->rows, prior, forest, options);
  std::vector<std::uint32_t> all(table_->rows.size());
  for (std::uint32_t row = 0; row < all.size(); ++row) all[row] = row;
  division.start(all);
  MergeTree::Node root = MergeTree::kNone;
  while (!division.finished()) division.step({1, 0, 0}, [&](MergeTree::Node made) { root = made; });
  forest.audit();
  std::size_t next = 0;
  for (const json& level : expected.at("log"))
    for (const json& filter : level.at("filter")) {
      ASSERT_LT(next, heard.size());
      const auto& [row, left, right] = heard[next++];
      EXPECT_EQ(row, filter.at("row").get<std::uint32_t>());
      EXPECT_NEAR(left, filter.at("log_left"), 1e-9 * 30);
      EXPECT_NEAR(right, filter.at("log_right"), 1e-9 * 30);
    }
  EXPECT_EQ(next, heard.size());
  EXPECT_NEAR(forest.log_phi(root), expected.at("log_g"), 1e-9 * 50);
  EXPECT_NEAR(-forest.log_d(root), expected.at("logit_r").at(fmt::format("{}", fmt::join(all, ","))),
              1e-9 * 70);
}

INSTANTIATE_TEST_SUITE_P(Cases, BhcReference, ::testing::ValuesIn(reference_cases("bhc_")), CaseOfFile());

}  // namespace
}  // namespace coppice::test
