#include "coppice/post/column_dependence.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"
#include "coppice/base/parallel.hpp"
#include "coppice/model/pair_densities.hpp"
#include "coppice/post/cell_grid.hpp"
#include "coppice/post/draw_batches.hpp"
#include "coppice/post/interval.hpp"
#include "coppice/run/diagnostics.hpp"

namespace coppice {
namespace {

constexpr std::size_t kMostDependenceDraws = 200;
constexpr std::size_t kLeastDependenceDraws = 20;
/// Pairs of values whose densities are computed in a few seconds.
constexpr double kPairEvaluations = 2e8;
constexpr double kSlowPairEvaluations = 5e6;

struct PairInformation {
  double information = 0.0;
  double first_entropy = 0.0, second_entropy = 0.0;
};

/// Of a table of masses, which are normalized first.
PairInformation information_of(std::span<double> masses, std::size_t columns) {
  const std::size_t rows = masses.size() / columns;
  double total = 0.0;
  for (const double mass : masses) total += mass;
  std::vector<double> first(rows, 0.0);
  std::vector<double> second(columns, 0.0);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) {
      double& mass = masses[i * columns + j];
      mass /= total;
      first[i] += mass;
      second[j] += mass;
    }
  PairInformation result;
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j)
      if (const double mass = masses[i * columns + j]; mass > 0.0)
        result.information += mass * std::log(mass / (first[i] * second[j]));
  result.information = std::max(0.0, result.information);
  for (const double mass : first) result.first_entropy -= mass > 0.0 ? mass * std::log(mass) : 0.0;
  for (const double mass : second) result.second_entropy -= mass > 0.0 ? mass * std::log(mass) : 0.0;
  return result;
}

/// One row for each pair of values: for every model, and slow.
void densities_by_rows(const Predictor& predictor, std::size_t width, const CellValues& a,
                       const CellValues& b, std::span<double> out) {
  std::vector<double> row(width, kMissing);
  std::vector<double> weights(predictor.clusters(1) + 1);
  double top = kMinusInfinity;
  for (std::size_t i = 0; i < a.values.size(); ++i)
    for (std::size_t j = 0; j < b.values.size(); ++j) {
      row[a.cell] = a.values[i];
      row[b.cell] = b.values[j];
      predictor.log_weights(row.data(), 1, weights);
      out[i * b.values.size() + j] = log_sum_exp(weights);
      top = std::max(top, out[i * b.values.size() + j]);
    }
  for (double& value : out) value = std::exp(value - top);
}

/// Whether the predictor has fast densities of the pair.
bool is_fast(const SavedRun& run) {
  const std::unique_ptr<Predictor> predictor = run.model().make_predictor(run.setup().problem);
  if (dynamic_cast<const PairDensities*>(predictor.get()) == nullptr) return false;
  for (const FamilyPlan::Block& block : run.setup().plan.blocks)
    if (family_by_name(block.family).joint && block.columns.size() > 1) return false;
  return true;
}

}  // namespace

double dependence_cost(const SavedRun& run, std::size_t pairs, const DependenceOptions& options) {
  const auto nodes = static_cast<double>(options.nodes);
  // A slow evaluation takes about as long as forty fast ones.
  return static_cast<double>(pairs) * nodes * nodes *
         (is_fast(run) ? 1.0 : kPairEvaluations / kSlowPairEvaluations);
}

std::vector<ColumnDependence> column_dependence(const SavedRun& run,
                                                std::span<const std::pair<std::size_t, std::size_t>> pairs,
                                                const DependenceOptions& options) {
  need_gaps(run, "mutual information");
  std::map<std::size_t, CellGrid> grids;  // by column
  std::vector<ColumnDependence> answers(pairs.size());
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    for (const std::size_t column : {pairs[p].first, pairs[p].second}) {
      if (column >= run.table().columns.size())
        fail(ErrorCode::usage, "column {}: the run has {}", column, run.table().columns.size());
      if (!grids.contains(column))
        grids[column] = make_cell_grid(run, cell_of_column(run, column), options.nodes);
    }
    if (pairs[p].first == pairs[p].second)
      fail(ErrorCode::usage, "column '{}' is asked about itself; name two different columns",
           run.table().columns[pairs[p].first].name);
    answers[p].first = pairs[p].first;
    answers[p].second = pairs[p].second;
  }
  std::size_t most = options.most_draws;
  if (most == 0) {
    const double affordable = kPairEvaluations / std::max(1.0, dependence_cost(run, pairs.size(), options));
    most = std::clamp(static_cast<std::size_t>(std::min(affordable, 1e6)), kLeastDependenceDraws,
                      kMostDependenceDraws);
  }
  std::vector<std::vector<PairInformation>> drawn(pairs.size());
  const std::size_t width = run.setup().rows.width;
  for_each_batch(run, most, options.threads, [&](std::span<const TakenDraw> batch) {
    for (std::vector<PairInformation>& of_pair : drawn) of_pair.resize(of_pair.size() + batch.size());
    parallel_for(batch.size() * pairs.size(), options.threads, [&](std::size_t task) {
      const std::size_t p = task / batch.size();
      const Predictor& predictor = *batch[task % batch.size()].predictor;
      const CellGrid& first = grids.at(pairs[p].first);
      const CellGrid& second = grids.at(pairs[p].second);
      const CellValues a{cell_of_column(run, pairs[p].first), first.values};
      const CellValues b{cell_of_column(run, pairs[p].second), second.values};
      std::vector<double> masses(first.values.size() * second.values.size());
      const auto* fast = dynamic_cast<const PairDensities*>(&predictor);
      if (fast == nullptr || !fast->pair_densities(a, b, masses))
        densities_by_rows(predictor, width, a, b, masses);
      for (std::size_t i = 0; i < first.values.size(); ++i)
        for (std::size_t j = 0; j < second.values.size(); ++j)
          masses[i * second.values.size() + j] *= std::exp(first.log_widths[i] + second.log_widths[j]);
      drawn[p][drawn[p].size() - batch.size() + task % batch.size()] =
          information_of(masses, second.values.size());
    });
  });
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    std::vector<double> values;
    double first_share = 0.0;
    double second_share = 0.0;
    for (const PairInformation& one : drawn[p]) {
      values.push_back(one.information);
      answers[p].mutual_information += one.information;
      first_share += one.first_entropy > 0.0 ? one.information / one.first_entropy : 0.0;
      second_share += one.second_entropy > 0.0 ? one.information / one.second_entropy : 0.0;
    }
    const auto count = static_cast<double>(drawn[p].size());
    answers[p].mutual_information /= count;
    answers[p].low = pooled_quantile({&values, 1}, kIntervalTail);
    answers[p].high = pooled_quantile({&values, 1}, 1.0 - kIntervalTail);
    answers[p].correlation = std::sqrt(-std::expm1(-2.0 * answers[p].mutual_information));
    if (grids.at(pairs[p].first).discrete) answers[p].share_of_first = std::min(1.0, first_share / count);
    if (grids.at(pairs[p].second).discrete) answers[p].share_of_second = std::min(1.0, second_share / count);
  }
  if (!run.model().has_views()) return answers;
  for (ColumnDependence& answer : answers) answer.same_view = 0.0;
  const std::size_t draws = evenly_spaced_draws(run, most);
  run.for_each_draw(most, [&](const SavedDraw& draw) {
    const Views views = run.model().views(run.setup().problem, draw.payload);
    for (ColumnDependence& answer : answers)
      if (views.columns[cell_of_column(run, answer.first)] ==
          views.columns[cell_of_column(run, answer.second)])
        answer.same_view += 1.0;
  });
  for (ColumnDependence& answer : answers) answer.same_view /= static_cast<double>(draws);
  return answers;
}

}  // namespace coppice
