// Geweke's joint-distribution test for models that learn the prior of a Gaussian block and fill in missing
// cells: state and data drawn afresh, and by a chain that alternates a sweep with new data.
#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "coppice/model/model.hpp"
#include "learned/learned_case.hpp"

namespace coppice::test {

using FilledCells = std::function<std::vector<double>(const Inference&)>;

/// A few rows whose data are redrawn in every step.
struct GewekeChain {
  GewekeChain(const ModelEntry& model, const Family& family, const Rows& like,
              const std::vector<std::string>& settings, FilledCells filled_cells)
      : rows(like),
        problem{&family, &rows, ParameterValues(model.parameters, settings_from(settings))},
        chain(model.make_inference(problem)),
        traces(trace_names(model, problem).size()),
        labels(rows.size() * model.levels(problem.parameters)),
        filled(std::move(filled_cells)) {}

  /// Cells enter as x / (1 + |x|), what was filled in too. Clusters are those of the coarsest level.
  std::vector<double> functionals() {
    std::vector<double> values(traces);
    chain->traces(values);
    chain->labels(labels);
    std::vector<double> list(values.end() - 3, values.end());
    const auto bounded = [](double x) { return x / (1.0 + std::abs(x)); };
    double first = 0.0;
    double second = 0.0;
    for (const double cell : rows.cells)
      if (!is_missing(cell)) {
        first += bounded(cell);
        second += bounded(cell) * bounded(cell);
      }
    const std::span<const Label> coarsest(labels.data(), rows.size());
    const auto clusters = static_cast<double>(cluster_sizes(coarsest).size());
    const double together = labels[0] == labels[1] ? 1.0 : 0.0;
    const double x = bounded(rows[0][0]);
    const double y = bounded(rows[1][0]);
    list.insert(list.end(),
                {clusters, together, first, second, together * std::abs(x - y), x * y, clusters * second,
                 values[values.size() - 1] * second, values[values.size() - 2] * clusters,
                 std::abs(x - y) * values[values.size() - 3]});
    // Another level.
    const std::span<const Label> finest(labels.data() + labels.size() - rows.size(), rows.size());
    if (labels.size() > rows.size()) {
      const double close = finest[0] == finest[1] ? 1.0 : 0.0;
      list.insert(list.end(), {static_cast<double>(cluster_sizes(finest).size()), close,
                               close * std::abs(x - y), close * values[values.size() - 1]});
    }
    const std::vector<double> cells = filled(*chain);
    double sum = 0.0;
    double squares = 0.0;
    for (const double cell : cells) {
      sum += bounded(cell);
      squares += bounded(cell) * bounded(cell);
    }
    if (!cells.empty())
      list.insert(list.end(), {sum, squares, bounded(cells[0]) * bounded(rows[1][1]), squares * second,
                               std::abs(bounded(cells[0]) - bounded(rows[1][1])) * together});
    return list;
  }

  Rows rows;
  Problem problem;
  std::unique_ptr<Inference> chain;
  std::size_t traces;
  Labels labels;
  FilledCells filled;
};

inline Agreement compare_both_ways(const ModelEntry& model, const Family& family, const Rows& rows,
                                   const std::vector<std::string>& settings, std::uint64_t seed,
                                   std::size_t draws, const FilledCells& filled) {
  GewekeChain prior(model, family, rows, settings, filled);
  GewekeChain chain(model, family, rows, settings, filled);
  std::vector<std::vector<double>> fresh;
  std::vector<std::vector<double>> successive;
  const auto record = [](GewekeChain& from, std::vector<std::vector<double>>& to) {
    const std::vector<double> values = from.functionals();
    to.resize(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) to[i].push_back(values[i]);
  };
  chain.chain->draw_prior({seed, 2, 0});
  chain.chain->draw_data({seed, 2, 0}, chain.rows);
  for (std::size_t i = 1; i <= draws; ++i) {
    prior.chain->draw_prior({seed, 1, i});
    prior.chain->draw_data({seed, 1, i}, prior.rows);
    record(prior, fresh);
    chain.chain->step({seed, 2, i});
    chain.chain->draw_data({seed, 2, i}, chain.rows);
    record(chain, successive);
  }
  Agreement agreement;
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    const Estimate a = batch_estimate(fresh[i]);
    const Estimate b = batch_estimate(successive[i]);
    agreement.check("functional " + std::to_string(i), {b.mean, std::hypot(a.error, b.error)}, a.mean);
  }
  return agreement;
}

}  // namespace coppice::test
