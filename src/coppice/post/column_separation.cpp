#include "coppice/post/column_separation.hpp"

#include <algorithm>
#include <cmath>

#include "coppice/data/transform.hpp"
#include "coppice/post/average.hpp"
#include "coppice/post/units.hpp"

namespace coppice {
namespace {

/// Cells looked at in all draws together; draws that are evenly spaced stand for all.
constexpr std::size_t kMostComparedCells = 20'000'000;
constexpr std::size_t kLeastComparedDraws = 20;
constexpr std::size_t kMostComparedDraws = 200;

/// A column as it is compared: its values in the data's units, and on the scale of the model.
struct Compared {
  std::vector<double> original, scaled;
  std::size_t levels = 0;  // 0: numbers

  Compared(const Column& column, const Encoding& encoding, const OriginalUnits& units) {
    if (column.kind == Kind::category) levels = column.levels.size();
    if (column.kind == Kind::binary) levels = 2;
    original = column.values;
    if (levels > 0) return;
    scaled = column.values;
    for (std::size_t row = 0; row < original.size(); ++row) {
      if (encoding.spike && original[row] == *encoding.spike) original[row] = kMissing;
      scaled[row] = encoding.log && !is_missing(original[row]) ? std::log(original[row]) : original[row];
      original[row] = units.location(original[row]);
    }
  }
};

}  // namespace

PooledVariance pooled_variance(std::span<const double> values, std::span<const Label> labels,
                               std::size_t clusters) {
  // Twice through the values: no sums of squares of large numbers.
  std::vector<double> counts(clusters + 1, 0.0);  // the last is of all
  std::vector<double> means(clusters + 1, 0.0);
  for (std::size_t row = 0; row < values.size(); ++row) {
    if (is_missing(values[row])) continue;
    for (const std::size_t place : {static_cast<std::size_t>(labels[row]), clusters}) {
      counts[place] += 1.0;
      means[place] += values[row];
    }
  }
  double occupied = 0.0;
  for (std::size_t c = 0; c <= clusters; ++c) {
    if (counts[c] > 0.0) means[c] /= counts[c];
    if (c < clusters && counts[c] > 0.0) occupied += 1.0;
  }
  double within = 0.0;
  double overall = 0.0;
  for (std::size_t row = 0; row < values.size(); ++row) {
    if (is_missing(values[row])) continue;
    const double inside = values[row] - means[static_cast<std::size_t>(labels[row])];
    const double outside = values[row] - means[clusters];
    within += inside * inside;
    overall += outside * outside;
  }
  return {mean_of_sum(within, counts[clusters] - occupied), mean_of_sum(overall, counts[clusters] - 1.0)};
}

PooledVariance pooled_difference(std::span<const double> codes, std::size_t levels,
                                 std::span<const Label> labels, std::size_t clusters) {
  std::vector<double> counts((clusters + 1) * levels, 0.0);
  for (std::size_t row = 0; row < codes.size(); ++row) {
    if (is_missing(codes[row])) continue;
    const auto code = static_cast<std::size_t>(codes[row]);
    for (const std::size_t place : {static_cast<std::size_t>(labels[row]), clusters})
      counts[place * levels + code] += 1.0;
  }
  // n (1 - sum of squared shares), with n - 1 degrees of freedom.
  double within = 0.0;
  double freedom = 0.0;
  for (std::size_t c = 0;; ++c) {
    double total = 0.0;
    double squares = 0.0;
    for (std::size_t level = 0; level < levels; ++level) {
      total += counts[c * levels + level];
      squares += counts[c * levels + level] * counts[c * levels + level];
    }
    const double sum = total > 0.0 ? total - squares / total : 0.0;
    if (c == clusters) return {mean_of_sum(within, freedom), mean_of_sum(sum, total - 1.0)};
    within += sum;
    freedom += std::max(0.0, total - 1.0);
  }
}

std::vector<ColumnSeparation> column_separation(const Analysis& analysis) {
  const SavedRun& run = analysis.run();
  if (analysis.is_classifier() || run.levels() != 1 || run.model().has_views() ||
      run.model().has_column_tree())
    return {};
  const Table& table = run.table();
  const FamilyPlan& plan = run.setup().plan;
  const std::vector<OriginalUnits> units =
      original_units(transform_from_json(run.contents().transform), table);
  const std::size_t cells = std::max<std::size_t>(1, run.rows() * table.columns.size());
  const LabelMatrix draws = analysis.partitions(
      1, run.rows() * std::clamp(kMostComparedCells / cells, kLeastComparedDraws, kMostComparedDraws));
  std::vector<std::size_t> clusters;
  for (std::size_t draw = 0; draw < draws.draws(); ++draw)
    clusters.push_back(static_cast<std::size_t>(*std::max_element(draws[draw].begin(), draws[draw].end())) +
                       1);

  std::vector<ColumnSeparation> columns;
  for (const FamilyPlan::Block& block : plan.blocks)
    for (std::size_t i = 0; i < block.columns.size(); ++i) {
      const Column& column = table.columns[block.columns[i]];
      const Compared compared(column, block.encodings[i], units[block.columns[i]]);
      Average within, between;
      double overall = std::nan("");
      for (std::size_t draw = 0; draw < draws.draws(); ++draw) {
        PooledVariance model{};
        if (compared.levels > 0) {
          model = pooled_difference(compared.original, compared.levels, draws[draw], clusters[draw]);
          within.add(model.within);
          overall = model.overall;
        } else {
          model = pooled_variance(compared.scaled, draws[draw], clusters[draw]);
          const PooledVariance original =
              block.encodings[i].log ? pooled_variance(compared.original, draws[draw], clusters[draw])
                                     : model;
          const double unit = block.encodings[i].log ? 1.0 : std::abs(units[block.columns[i]].deviation);
          within.add(unit * std::sqrt(original.within));
          overall = unit * std::sqrt(original.overall);
        }
        between.add(model.overall > 0.0 ? 1.0 - model.within / model.overall : std::nan(""));
      }
      columns.push_back({block.columns[i], column.name, column.kind, block.family, block.learned,
                         block.encodings[i].log, overall, within.mean(),
                         between.count > 0.0 ? std::max(0.0, between.mean()) : 0.0});
    }
  std::stable_sort(columns.begin(), columns.end(), [](const ColumnSeparation& a, const ColumnSeparation& b) {
    return a.between > b.between;
  });
  return columns;
}

}  // namespace coppice
