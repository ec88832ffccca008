// Small tables and settings for the tests of plans.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "coppice/base/error.hpp"
#include "coppice/data/codebook.hpp"
#include "coppice/data/table.hpp"
#include "coppice/family/plan.hpp"

namespace coppice::test {

inline Column real_column(std::string name, std::vector<double> values) {
  return {std::move(name), Kind::real, std::move(values), {}};
}
inline Column count_column(std::string name, std::vector<double> values) {
  return {std::move(name), Kind::count, std::move(values), {}};
}
inline Column binary_column(std::string name, std::vector<double> values) {
  return {std::move(name), Kind::binary, std::move(values), {}};
}
inline Column category_column(std::string name, std::vector<double> values, std::vector<std::string> levels) {
  return {std::move(name), Kind::category, std::move(values), std::move(levels)};
}

inline Table make_table(std::vector<Column> columns) {
  Table table;
  table.columns = std::move(columns);
  if (!table.columns.empty())
    for (std::size_t i = 0; i < table.columns[0].values.size(); ++i)
      table.row_ids.push_back(fmt::format("r{}", i));
  return table;
}

/// A table of real columns x1, x2, ... with some spread.
inline Table real_table(std::size_t columns, std::size_t rows) {
  std::vector<Column> list;
  for (std::size_t j = 0; j < columns; ++j) {
    std::vector<double> values;
    for (std::size_t i = 0; i < rows; ++i)
      values.push_back(static_cast<double>((i * (j + 3) * 7 + j) % 11) * 0.5 + 1.0);
    list.push_back(real_column(fmt::format("x{}", j + 1), std::move(values)));
  }
  return make_table(std::move(list));
}

inline Settings set(const std::vector<std::string>& assignments) {
  Settings settings;
  for (const std::string& assignment : assignments) parse_assignment(assignment, settings);
  return settings;
}

/// The message of the Error{configuration} that planning throws.
inline std::string refusal(const Table& table, const std::string& family,
                           const std::vector<std::string>& settings = {}, const Codebook& codebook = {}) {
  try {
    plan_family(table, codebook, family, set(settings));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::configuration);
    return error.what();
  }
  return "accepted";
}

/// log p(row 0 of the table) under the plan.
inline double log_marginal_of_first(const FamilyPlan& plan, const Table& table) {
  const Rows rows = encode(plan, table);
  std::vector<double> stats(plan.family->stats_size());
  plan.family->clear(stats.data());
  return plan.family->log_predictive(stats.data(), rows[0]);
}

inline CellPredictive prior_cell(const FamilyPlan& plan, std::size_t cell) {
  std::vector<double> stats(plan.family->stats_size());
  plan.family->clear(stats.data());
  return plan.family->predict_cell(stats.data(), cell);
}

}  // namespace coppice::test
