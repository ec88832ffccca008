// What the reference cases of trees over rows and of trees of views say of predictives, checked in the same
// way.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "coppice/model/new_cells.hpp"
#include "coppice/model/registry.hpp"
#include "support/bhc_law.hpp"
#include "support/tree_case.hpp"

namespace coppice::test {

inline double log_of_mixture(const Predictor& predictor, const std::vector<CellComponent>& parts,
                             std::size_t cell, double value) {
  double total = kMinusInfinity;
  for (const CellComponent& part : parts)
    total = log_add_exp(total, std::log(part.weight) + predictor.log_cell(part.component, cell, value));
  return total;
}

/// New rows, missing cells, cells of new rows given the others, new columns.
inline void check_predictives(const nlohmann::json& result, const TreeCase& table,
                              const Predictor& predictor) {
  const NewCells& new_cells = new_cells_of(predictor);
  for (const nlohmann::json& row : result.at("new_rows")) {
    const std::vector<double> cells = table.encoded(row.at("x"));
    const double expected = row.at("log_p");
    EXPECT_NEAR(log_density(predictor, cells.data()), expected, relative(1e-9, expected)) << row.at("x");
  }
  const auto check_values = [&](const nlohmann::json& answer, const std::vector<CellComponent>& parts) {
    const std::size_t cell = table.cell_of(answer.at("col"));
    for (std::size_t v = 0; v < answer.at("values").size(); ++v) {
      const double value = answer.at("values")[v].get<double>() - table.family().origin(cell);
      const double expected = answer.at("log_p")[v];
      EXPECT_NEAR(log_of_mixture(predictor, parts, cell, value), expected, relative(1e-9, expected))
          << answer;
    }
  };
  std::vector<CellComponent> parts;
  for (const nlohmann::json& missing : result.at("missing")) {
    predictor.cell_components(missing.at("row"), table.cell_of(missing.at("col")), parts);
    check_values(missing, parts);
  }
  std::vector<std::vector<CellComponent>> mixtures;
  for (const nlohmann::json& open : result.value("conditional", nlohmann::json::array())) {
    const std::size_t cells[] = {table.cell_of(open.at("col"))};
    const std::vector<double> row = table.encoded(open.at("x"));
    EXPECT_NEAR(new_cells.condition_cells(row.data(), cells, mixtures), log_density(predictor, row.data()),
                1e-9);
    check_values(open, mixtures.front());
  }
  for (const nlohmann::json& column : result.at("new_columns")) {
    nlohmann::json alone{{"columns", {column.at("column")}}, {"X", nlohmann::json::array()}};
    for (const nlohmann::json& cell : column.at("y")) alone["X"].push_back({cell});
    const TreeCase added(alone);
    const double expected = column.at("log_p");
    EXPECT_NEAR(new_cells.new_column(added.family(), added.rows).log_probability, expected,
                relative(1e-9, expected));
  }
}

}  // namespace coppice::test
