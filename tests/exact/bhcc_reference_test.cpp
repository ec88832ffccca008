// Trees of views against numbers computed by other programs.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

#include "support/bhcc_law.hpp"
#include "support/reference_case.hpp"
#include "support/tree_case.hpp"
#include "support/tree_reference.hpp"

namespace coppice::test {
namespace {

using nlohmann::json;
using Groups = std::vector<std::vector<std::uint32_t>>;

/// Groups by the numbers of the table, each sorted and by their first members.
Groups groups_of(const Labels& labels, const std::vector<std::size_t>& names) {
  Groups groups(cluster_sizes(labels).size());
  for (std::size_t item = 0; item < labels.size(); ++item)
    groups[static_cast<std::size_t>(labels[item])].push_back(static_cast<std::uint32_t>(names[item]));
  for (auto& group : groups) std::sort(group.begin(), group.end());
  std::sort(groups.begin(), groups.end());
  return groups;
}
Groups row_groups(const Labels& labels) {
  std::vector<std::size_t> names(labels.size());
  for (std::size_t row = 0; row < names.size(); ++row) names[row] = row;
  return groups_of(labels, names);
}

std::string topology_of(const Dendrogram& tree, Dendrogram::Node node,
                        const std::vector<std::size_t>& names) {
  if (tree.is_item(node)) return std::to_string(names[node]);
  std::vector<std::pair<std::size_t, std::string>> parts;
  for (const Dendrogram::Node child : {tree.left(node), tree.right(node)}) {
    std::size_t first = static_cast<std::size_t>(-1);
    for (const std::uint32_t item : items_of(tree, child)) first = std::min(first, names[item]);
    parts.emplace_back(first, topology_of(tree, child, names));
  }
  std::sort(parts.begin(), parts.end());
  return "(" + parts[0].second + "," + parts[1].second + ")";
}

class BhccReference : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const json reference = read_reference(GetParam());
    input_ = reference.at("case");
    result_ = reference.at("result");
    table_ = std::make_unique<TreeCase>(input_);
    alpha_rows_ = result_.at("alpha");
    alpha_columns_ = result_.at("alpha_cols");
    fit_ = std::make_unique<BhccFit>(table_->family(), table_->rows, settings());
    for (std::size_t row = 0; row < table_->rows.size(); ++row) rows_.push_back(row);
  }
  std::vector<std::string> settings() const {
    return {"inner=\"full\"", fmt::format("alpha-rows={}", alpha_rows_),
            fmt::format("alpha-columns={}", alpha_columns_)};
  }
  /// Of a node's columns, by the numbers of the table.
  std::vector<std::uint32_t> columns_of(const Dendrogram& tree, Dendrogram::Node node) const {
    std::vector<std::uint32_t> columns;
    for (const std::uint32_t cell : items_of(tree, node))
      columns.push_back(static_cast<std::uint32_t>(table_->plan.order[cell]));
    std::sort(columns.begin(), columns.end());
    return columns;
  }
  double bound_of(const CrossTree& tree, Dendrogram::Node node) const {
    return shape_view_bound(table_->family(), table_->rows, cells_of(tree.columns, node), *tree.rows[node],
                            alpha_rows_);
  }

  json input_, result_;
  double alpha_rows_ = 1.0, alpha_columns_ = 1.0;
  std::unique_ptr<TreeCase> table_;
  std::unique_ptr<BhccFit> fit_;
  std::vector<std::size_t> rows_;
};

TEST_P(BhccReference, MergesBoundAndViews) {
  const CrossTree tree = fit_->tree();
  const std::size_t n = tree.columns.items();
  ASSERT_EQ(tree.columns.nodes(), 2 * n - 1);
  for (std::size_t column = 0; column < n; ++column) {
    const auto cell = static_cast<Dendrogram::Node>(table_->cell_of(column));
    const double expected = result_.at("leaf_log_view")[column];
    EXPECT_NEAR(bound_of(tree, cell), expected, relative(1e-9, expected));
    EXPECT_EQ(topology_of(*tree.rows[cell], tree.rows[cell]->roots().front(), rows_),
              result_.at("leaf_row_topology")[column].get<std::string>());
  }
  for (const json& merge : result_.at("merges")) {
    const auto node = merge.at("node").get<Dendrogram::Node>();
    EXPECT_EQ(columns_of(tree.columns, node), merge.at("cols").get<std::vector<std::uint32_t>>());
    const double log_odds = merge.at("logit_r");
    EXPECT_NEAR(tree.columns.log_odds(node), log_odds, relative(1e-9, log_odds));
    const double log_view = merge.at("log_view");
    EXPECT_NEAR(bound_of(tree, node), log_view, relative(1e-9, log_view));
    EXPECT_EQ(topology_of(*tree.rows[node], tree.rows[node]->roots().front(), rows_),
              merge.at("row_topology").get<std::string>());
    EXPECT_EQ(row_groups(TreePosterior(*tree.rows[node]).cut()), merge.at("row_cut_0.5").get<Groups>());
  }
  EXPECT_EQ(topology_of(tree.columns, tree.columns.roots().front(), table_->plan.order),
            result_.at("topology").get<std::string>());
  const double bound = result_.at("log_lower_bound");
  EXPECT_NEAR(fit_->bound(), bound, relative(1e-9, bound));
  const double evidence = result_.at("exact_cdpm").at("log_ml");
  EXPECT_NEAR(log_crosscat_evidence(table_->family(), table_->rows, alpha_rows_, alpha_columns_), evidence,
              relative(1e-9, evidence));
  EXPECT_LE(fit_->bound(), evidence);
  const TreePosterior posterior(tree.columns);
  EXPECT_EQ(groups_of(posterior.cut(), table_->plan.order), result_.at("views_cut_0.5").get<Groups>());
  EXPECT_EQ(groups_of(posterior.most_probable(), table_->plan.order), result_.at("views_map").get<Groups>());
  for (const auto& [name, omega] : result_.at("omega").items()) {
    auto node = static_cast<Dendrogram::Node>(std::stoul(name));
    if (node < n) node = static_cast<Dendrogram::Node>(table_->cell_of(node));
    EXPECT_NEAR(std::exp(posterior.log_cluster(node)), omega.get<double>(), 1e-12);
  }
  for (std::uint32_t a = 0; a < n; ++a)
    for (std::uint32_t b = 0; b < n; ++b)
      EXPECT_NEAR(posterior.coclustering(a, b),
                  result_.at("tree_col_coassign")[table_->plan.order[a]][table_->plan.order[b]].get<double>(),
                  1e-12);
}

TEST_P(BhccReference, Predictives) {
  check_predictives(result_, *table_, *fit_->predictor());
  const bhcc::CrossPredictive predictive = fit_->predictive();
  for (const json& column : result_.at("new_columns")) {
    json alone{{"columns", {column.at("column")}}, {"X", json::array()}};
    for (const json& cell : column.at("y")) alone["X"].push_back({cell});
    const TreeCase added(alone);
    const double literal = column.at("log_p_literal");
    EXPECT_NEAR(predictive.log_new_column_literal(added.family(), added.rows), literal,
                relative(1e-9, literal));
  }
}

/// A tree over columns given as nested lists, with views by exact merging.
double log_phi_of(const json& shape, const TreeCase& table, double alpha_rows, double alpha_columns,
                  std::vector<std::size_t>& cells, double& log_odds) {
  const auto weight = [&](std::vector<std::size_t> own) {
    std::sort(own.begin(), own.end());
    return std::log(alpha_columns) + log_gamma(static_cast<double>(own.size())) +
           plain_view_bound(table.family(), table.rows, own, alpha_rows);
  };
  if (shape.is_number()) {
    cells = {table.cell_of(shape)};
    return weight(cells);
  }
  if (shape.is_object()) {
    cells.clear();
    for (const json& column : shape.at("block")) cells.push_back(table.cell_of(column));
    return weight(cells);
  }
  std::vector<std::size_t> right;
  const double below = log_phi_of(shape[0], table, alpha_rows, alpha_columns, cells, log_odds) +
                       log_phi_of(shape[1], table, alpha_rows, alpha_columns, right, log_odds);
  cells.insert(cells.end(), right.begin(), right.end());
  const double own = weight(cells);
  log_odds = own - below;
  return log_add_exp(own, below);
}

TEST_P(BhccReference, TreesOfAnyShape) {
  if (!input_.contains("tree")) GTEST_SKIP() << "this case has no tree of its own";
  std::vector<std::size_t> cells;
  double log_odds = 0.0;
  const double log_phi = log_phi_of(input_.at("tree"), *table_, alpha_rows_, alpha_columns_, cells, log_odds);
  const json& expected = result_.at("fixed_tree");
  EXPECT_NEAR(log_phi, expected.at("log_g"), 1e-9 * 100);
  EXPECT_NEAR(log_odds, expected.at("logit_r_root"), 1e-9 * 100);
  EXPECT_NEAR(log_phi + log_crp_constant(alpha_columns_, cells.size()), expected.at("log_lower_bound"),
              1e-9 * 100);
}

TEST_P(BhccReference, DivisionsByGivenColumns) {
  if (!input_.contains("rbhcc")) GTEST_SKIP() << "this case has no division";
  const json& given = input_.at("rbhcc");
  const json& expected = result_.at("rbhcc");
  // Of two sides the library calls the one left that has the first cell, the case the one with the first
  // column: they are compared without their names where the families have moved the columns.
  const bool in_order = std::is_sorted(table_->plan.order.begin(), table_->plan.order.end());
  using Sides = std::map<std::size_t, std::vector<std::pair<double, double>>>;  // by column, from the top
  const auto put = [&](Sides& sides, std::size_t column, double left, double right) {
    if (!in_order && left > right) std::swap(left, right);
    sides[column].emplace_back(left, right);
  };
  Sides heard;
  const BhccFit divided(
      table_->family(), table_->rows,
      {"inner=\"full\"", "randomized=true", "consolidate=\"off\"", fmt::format("alpha-rows={}", alpha_rows_),
       fmt::format("alpha-columns={}", alpha_columns_)},
      [&](bhcc::Options& options) {
        options.division.threshold = given.at("B");
        options.division.subset = given.at("m");
        options.division.levels = given.at("L").is_null() ? 0 : given.at("L").get<std::size_t>();
        options.filters_as_published = given.value("filter", "size") == "published";
        const auto priority = given.at("prio").get<std::vector<double>>();
        options.division.priority.resize(priority.size());
        for (std::size_t column = 0; column < priority.size(); ++column)
          options.division.priority[table_->cell_of(column)] = priority[column];
        options.division.on_filter = [&](std::uint32_t cell, double left, double right) {
          put(heard, table_->plan.order[cell], left, right);
        };
      });
  Sides wanted;
  for (const json& level : expected.at("log"))
    for (const json& filter : level.at("filter"))
      put(wanted, filter.at("col"), filter.at("log_left"), filter.at("log_right"));
  ASSERT_EQ(heard.size(), wanted.size());
  for (const auto& [column, sides] : wanted) {
    ASSERT_EQ(heard[column].size(), sides.size());
    for (std::size_t i = 0; i < sides.size(); ++i) {
      EXPECT_NEAR(heard[column][i].first, sides[i].first, 1e-9 * 100);
      EXPECT_NEAR(heard[column][i].second, sides[i].second, 1e-9 * 100);
    }
  }
  const double log_g = expected.at("log_g");
  EXPECT_NEAR(divided.bound(), log_g + log_crp_constant(alpha_columns_, table_->family().width()),
              relative(1e-9, log_g));
}

INSTANTIATE_TEST_SUITE_P(Cases, BhccReference, ::testing::ValuesIn(reference_cases("bhcc_")), CaseOfFile());

}  // namespace
}  // namespace coppice::test
