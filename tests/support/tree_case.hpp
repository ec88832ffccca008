// The reference cases of greedy trees and cross-clustering: mixed tables with missing cells.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "coppice/family/plan.hpp"
#include "laws/law_case.hpp"

namespace coppice::test {

/// The codebook column that means the same as a column of the reference case.
inline ColumnSpec spec_of(const nlohmann::json& column, const std::string& name) {
  const std::string family = column["family"];
  const auto value = [&](const char* key) { return column[key].dump(); };
  if (family == "beta_binomial")
    return {name,
            Kind::count,
            {},
            "binomial",
            parse_all({"trials=" + value("trials"), "a=" + value("a"), "b=" + value("b")})};
  if (family == "gaussian")
    return {name,
            Kind::real,
            {},
            "gaussian-diagonal",
            parse_all({"prior_mean=" + value("m0"), "mean_strength=" + value("k0"), "shape=" + value("a0"),
                       "rate=" + value("b0")})};
  if (family == "categorical")
    return {name, Kind::category, std::vector<std::string>(column["conc"].size(), "level"), "categorical",
            parse_all({"concentration=" + value("conc")})};
  if (family == "gamma_poisson")
    return {name, Kind::count, {}, "poisson", parse_all({"shape=" + value("a"), "rate=" + value("b")})};
  return {name, Kind::binary, {}, "bernoulli", parse_all({"a=" + value("a"), "b=" + value("b")})};
}

/// The table of a case, its family and its rows.
struct TreeCase {
  explicit TreeCase(const nlohmann::json& input) {
    Codebook codebook;
    const nlohmann::json& columns = input.at("columns");
    for (std::size_t j = 0; j < columns.size(); ++j) {
      codebook.columns.push_back(spec_of(columns[j], fmt::format("c{}", j)));
      const ColumnSpec& spec = codebook.columns.back();
      Column column{spec.name, spec.kind, {}, spec.levels};
      for (const nlohmann::json& row : input.at("X"))
        column.values.push_back(row[j].is_null() ? kMissing : row[j].get<double>());
      table.columns.push_back(column);
    }
    for (std::size_t i = 0; i < input.at("X").size(); ++i) table.row_ids.push_back(fmt::format("{}", i));
    plan = plan_family(table, codebook, "auto", {});
    rows = encode(plan, table);
  }
  const Family& family() const { return *plan.family; }
  /// A row of the table's columns as the family reads it.
  std::vector<double> encoded(const nlohmann::json& row) const {
    std::vector<double> cells;
    for (std::size_t cell = 0; cell < plan.order.size(); ++cell) {
      const nlohmann::json& value = row[plan.order[cell]];
      cells.push_back(value.is_null() ? kMissing : value.get<double>() - plan.family->origin(cell));
    }
    return cells;
  }
  /// Where a column of the table stands in an encoded row.
  std::size_t cell_of(std::size_t column) const {
    return static_cast<std::size_t>(std::find(plan.order.begin(), plan.order.end(), column) -
                                    plan.order.begin());
  }

  Table table;
  FamilyPlan plan;
  Rows rows;
};

}  // namespace coppice::test
