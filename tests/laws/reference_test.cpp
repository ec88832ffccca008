// Marginals against reference values computed by other programs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "laws/law_case.hpp"
#include "support/reference_files.hpp"
#include "support/tree_case.hpp"

namespace coppice::test {
namespace {

using nlohmann::json;

double number_or_missing(const json& cell) { return cell.is_null() ? kMissing : cell.get<double>(); }

Table table_of(const json& rows, const std::vector<Kind>& kinds) {
  Table table;
  for (std::size_t j = 0; j < kinds.size(); ++j) {
    Column column{fmt::format("c{}", j), kinds[j], {}, {}};
    for (const json& row : rows) column.values.push_back(number_or_missing(row[j]));
    table.columns.push_back(column);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) table.row_ids.push_back(std::to_string(i));
  return table;
}

Stats stats_of(const FamilyPlan& plan, const Rows& rows, const std::vector<std::size_t>& members) {
  Stats stats(*plan.family);
  for (const std::size_t i : members) stats.add(rows[i]);
  return stats;
}

void expect_block_marginals(const FamilyPlan& plan, const Table& table, const json& labels_eval) {
  const Rows rows = encode(plan, table);
  const auto labels = labels_eval["labels"].get<std::vector<std::size_t>>();
  const auto expected = labels_eval["block_log_marginals"].get<std::vector<double>>();
  double total = 0.0;
  for (std::size_t block = 0; block < expected.size(); ++block) {
    std::vector<std::size_t> members;
    for (std::size_t i = 0; i < labels.size(); ++i)
      if (labels[i] == block) members.push_back(i);
    const double log_marginal = stats_of(plan, rows, members).log_marginal();
    EXPECT_NEAR(log_marginal, expected[block], relative(1e-9, expected[block]));
    total += log_marginal;
  }
  EXPECT_NEAR(total, labels_eval["log_lik"].get<double>(), relative(1e-9, total));
}

/// The mixtures of one likelihood whose labels are given.
std::vector<json> labeled_mixtures(const std::string& likelihood) {
  std::vector<json> found;
  for (const std::string& path : reference_cases("nrmm_posterior_", "nrmm_")) {
    json reference = read_reference(path);
    if (reference["input"]["lik"] == likelihood && reference.contains("labels_eval"))
      found.push_back(std::move(reference));
  }
  EXPECT_FALSE(found.empty());
  return found;
}

TEST(Reference, GaussianBlocks) {
  for (const json& reference : labeled_mixtures("niw")) {
    const json& input = reference["input"];
    const json& hyper = input["hyper"];
    const Table table = table_of(input["X"], std::vector<Kind>(input["X"][0].size(), Kind::real));
    const FamilyPlan plan =
        plan_family(table, {}, "gaussian",
                    parse_all({"prior_mean=" + hyper["mu0"].dump(), "mean_strength=" + hyper["kappa0"].dump(),
                               "dof=" + hyper["nu0"].dump(), "scale=" + hyper["Psi0"].dump()}));
    expect_block_marginals(plan, table, reference["labels_eval"]);
    if (input["prior"] != "dp") continue;
    // Every node of the reference tree is a cluster with log h = log(alpha Gamma(n)) + log marginal.
    const Rows rows = encode(plan, table);
    for (const json& node : reference["tree_stats"]) {
      const auto members = node["leaves"].get<std::vector<std::size_t>>();
      const double log_weight =
          std::log(input["alpha"].get<double>()) + std::lgamma(static_cast<double>(members.size()));
      EXPECT_NEAR(log_weight + stats_of(plan, rows, members).log_marginal(), node["log_h"].get<double>(),
                  1e-9);
    }
  }
}

TEST(Reference, BernoulliBlocks) {
  for (const json& reference : labeled_mixtures("bernoulli")) {
    const json& hyper = reference["input"]["hyper"];
    const json& rows = reference["input"]["X"];
    const Table table = table_of(rows, std::vector<Kind>(rows[0].size(), Kind::binary));
    const FamilyPlan plan =
        plan_family(table, {}, "bernoulli", parse_all({"a=" + hyper["a"].dump(), "b=" + hyper["b"].dump()}));
    expect_block_marginals(plan, table, reference["labels_eval"]);
  }
}

/// All families of cells, with and without missing ones.
class RowsOfTrees : public ::testing::TestWithParam<std::string> {};

TEST_P(RowsOfTrees, MarginalsOfRowsAndClusters) {
  const json reference = read_reference(GetParam());
  const TreeCase table(reference["case"]);
  const FamilyPlan& plan = table.plan;
  const Rows& rows = table.rows;
  const json& result = reference["result"];
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double expected = result.at("leaf_log_h1").at(i);
    EXPECT_NEAR(stats_of(plan, rows, {i}).log_marginal(), expected, relative(1e-9, expected)) << "row " << i;
  }
  for (const json& merge : result.at("merges")) {
    const double expected = merge.at("log_h1");
    EXPECT_NEAR(stats_of(plan, rows, merge.at("rows")).log_marginal(), expected, relative(1e-9, expected))
        << merge.at("rows");
  }
}

INSTANTIATE_TEST_SUITE_P(Reference, RowsOfTrees, ::testing::ValuesIn(reference_cases("bhc_")), CaseOfFile());

}  // namespace
}  // namespace coppice::test
