// Marginals against reference values computed by other programs, where the folder of cases stands beside the
// sources.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "laws/law_case.hpp"
#include "support/source_folder.hpp"
#include "support/tree_case.hpp"

namespace coppice::test {
namespace {

using nlohmann::json;

#define COPPICE_REQUIRE_CASES()                           \
  if (!std::filesystem::is_directory(reference_folder())) \
  GTEST_SKIP() << "the reference cases (../shared/specs/cases beside the sources) are not on this machine"

json read_case(const std::string& name) {
  std::ifstream file(reference_folder() / name);
  EXPECT_TRUE(file) << name << " is missing from the folder of reference cases";
  return json::parse(file);
}

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

TEST(Reference, GaussianBlocks) {
  COPPICE_REQUIRE_CASES();
  const json reference = read_case("nrmm_a_dp_niw.json");
  const json& hyper = reference["input"]["hyper"];
  const Table table = table_of(reference["input"]["X"], {Kind::real, Kind::real});
  const FamilyPlan plan =
      plan_family(table, {}, "gaussian",
                  parse_all({"prior_mean=" + hyper["mu0"].dump(), "mean_strength=" + hyper["kappa0"].dump(),
                             "dof=" + hyper["nu0"].dump(), "scale=" + hyper["Psi0"].dump()}));
  expect_block_marginals(plan, table, reference["labels_eval"]);
  // Every node of the reference tree is a cluster with log h = log(alpha Gamma(n)) + log marginal; alpha
  // is 1.
  const Rows rows = encode(plan, table);
  for (const json& node : reference["tree_stats"]) {
    const auto members = node["leaves"].get<std::vector<std::size_t>>();
    const double log_weight = std::lgamma(static_cast<double>(members.size()));
    EXPECT_NEAR(log_weight + stats_of(plan, rows, members).log_marginal(), node["log_h"].get<double>(), 1e-9);
  }
}

TEST(Reference, BernoulliBlocks) {
  COPPICE_REQUIRE_CASES();
  const json reference = read_case("nrmm_d_dp_bernoulli.json");
  const json& hyper = reference["input"]["hyper"];
  const json& rows = reference["input"]["X"];
  const Table table = table_of(rows, std::vector<Kind>(rows[0].size(), Kind::binary));
  const FamilyPlan plan =
      plan_family(table, {}, "bernoulli", parse_all({"a=" + hyper["a"].dump(), "b=" + hyper["b"].dump()}));
  expect_block_marginals(plan, table, reference["labels_eval"]);
}

TEST(Reference, MixedRowsWithMissingCells) {
  COPPICE_REQUIRE_CASES();
  const json reference = read_case("bhc_mixed.json");
  const TreeCase mixed(reference["case"]);
  const FamilyPlan& plan = mixed.plan;
  const Rows& rows = mixed.rows;
  const json& result = reference["result"];
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double expected = result["leaf_log_h1"][i];
    EXPECT_NEAR(stats_of(plan, rows, {i}).log_marginal(), expected, relative(1e-9, expected)) << "row " << i;
  }
  for (const json& merge : result["merges"]) {
    const double expected = merge["log_h1"];
    EXPECT_NEAR(stats_of(plan, rows, merge["rows"]).log_marginal(), expected, relative(1e-9, expected))
        << merge["rows"];
  }
}

}  // namespace
}  // namespace coppice::test
