#include "coppice/post/impute.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"
#include "coppice/base/parallel.hpp"
#include "coppice/data/transform.hpp"
#include "coppice/model/new_cells.hpp"
#include "coppice/model/registry.hpp"
#include "coppice/post/cell_mixture.hpp"
#include "coppice/post/draw_batches.hpp"
#include "coppice/post/interval.hpp"
#include "coppice/post/least_values.hpp"
#include "coppice/post/predict.hpp"
#include "coppice/post/units.hpp"

namespace coppice {
namespace {

constexpr std::size_t kPredictiveBudget = 20'000'000;
constexpr std::size_t kLeastImputingDraws = 100;
/// Counts are given a most probable value if no value in the data is larger, and if that takes no more
/// numbers.
constexpr double kLargestImputedMode = 1024.0;
constexpr std::size_t kMoreValues = 10;
constexpr std::size_t kMassBudget = 20'000'000;

bool has_levels(Kind kind) { return kind == Kind::binary || kind == Kind::category; }

/// The predictive of a binary or category cell; families of numbers on a binary column give the mean as P(1).
void add_probabilities(const CellPredictive& predictive, double weight, std::vector<double>& total) {
  if (predictive.probabilities.empty()) {
    const double p = std::clamp(predictive.mean, 0.0, 1.0);
    total[0] += weight * (1.0 - p);
    total[1] += weight * p;
    return;
  }
  for (std::size_t l = 0; l < total.size(); ++l) total[l] += weight * predictive.probabilities[l];
}

/// Collects, draw by draw, what the cells' clusters predict.
class CellCollector {
 public:
  /// `new_rows`: the rows of the cells if they are not those of the run; null if they are.
  CellCollector(const SavedRun& run, std::vector<ImputedCell>& cells, std::size_t draws, const Rows* new_rows)
      : run_(run),
        cells_(cells),
        new_rows_(new_rows),
        least_(least_values(run)),
        place_(run.table().columns.size()) {
    if (new_rows_ != nullptr) log_scale_.assign(new_rows_->size(), kMinusInfinity);
    const std::vector<std::size_t>& order = run.setup().plan.order;
    for (std::size_t j = 0; j < order.size(); ++j) place_[order[j]] = j;
    std::vector<bool> wanted(place_.size());
    std::size_t numbers = 0;
    for (ImputedCell& cell : cells_) {
      wanted[cell.column] = true;
      const Column& column = run_.table().columns[cell.column];
      number_.push_back(numbers);
      if (!has_levels(column.kind)) parts_.emplace_back().reserve(draws);
      if (has_levels(column.kind))
        cell.probabilities.assign(std::max<std::size_t>(column.levels.size(), 2), 0.0);
      else
        ++numbers;
    }
    std::vector<std::size_t> number_of(wanted.size());
    for (std::size_t j = 0; j < wanted.size(); ++j)
      if (wanted[j]) {
        number_of[j] = columns_.size();
        columns_.push_back(j);
      }
    find_masses();
    cells_of_.resize(columns_.size());
    for (std::size_t k = 0; k < cells_.size(); ++k) cells_of_[number_of[cells_[k].column]].push_back(k);
  }

  void take(std::span<const TakenDraw> batch, std::size_t threads) {
    std::vector<Draw> drawn(batch.size());
    parallel_for(batch.size(), threads, [&](std::size_t d) { drawn[d] = draw_of(*batch[d].predictor); });
    for (std::size_t d = 0; d < batch.size(); ++d, ++taken_) take_draw(drawn[d], threads);
  }

  std::size_t draws() const { return taken_; }

  /// The cell's distribution, in the units of the data.
  void finish(std::size_t k, const OriginalUnits& units) const {
    ImputedCell& cell = cells_[k];
    const Column& column = run_.table().columns[cell.column];
    if (has_levels(column.kind)) {
      double total = 0.0;
      for (const double p : cell.probabilities) total += p;
      for (double& p : cell.probabilities) p /= total;
      const auto best = std::max_element(cell.probabilities.begin(), cell.probabilities.end());
      const auto level = static_cast<std::size_t>(best - cell.probabilities.begin());
      cell.level = level < column.levels.size() ? column.levels[level] : fmt::format("{}", level);
      cell.probability = *best;
      if (column.kind == Kind::category) return;
      cell.mean = cell.probabilities[1];
      cell.sd = std::sqrt(cell.mean * (1.0 - cell.mean));
      return;
    }
    const Encoding& encoding = run_.setup().plan.encodings[place_[cell.column]];
    const CellMixture mixture(components_, parts_[number_[k]], encoding, least_[cell.column]);
    cell.mean = units.location(mixture.mean());
    cell.sd = units.spread(mixture.sd());
    const std::vector<double>& mass = mass_[number_[k]];
    const auto quantile = [&](double p) {
      return column.kind == Kind::count ? count_quantile(mixture, mass, p)
                                        : units.location(mixture.quantile(p));
    };
    cell.median = quantile(0.5);
    cell.low = quantile(kIntervalTail);
    cell.high = quantile(1.0 - kIntervalTail);
    if (encoding.spike) cell.probability_of_spike = mixture.spike_probability();
    if (mass.empty()) return;
    const auto best = std::max_element(mass.begin(), mass.end());
    cell.level = fmt::format("{}", best - mass.begin());
    cell.probability = *best / mixture.weight();
  }

 private:
  /// What one draw says of the missing cells of a column: the predictives that any of them needs, and for
  /// each cell which of these with what weight.
  struct ColumnDraw {
    std::vector<CellPredictive> predictives;
    std::vector<std::vector<double>> masses;  // of counts: the probabilities of 0, 1, ... by each of these
    std::vector<CellComponent> parts;
    std::vector<std::size_t> ends;  // of each cell's parts
  };
  struct Draw {
    std::vector<ColumnDraw> columns;
    std::vector<double> log_given;  // of new rows: log p(the cells they have)
  };
  using Mixture = std::vector<CellComponent>;

  /// The least whole number with probability p up to it: from the values' probabilities as far as they are
  /// known, otherwise by mean and variance with the usual correction of one half.
  static double count_quantile(const CellMixture& mixture, std::span<const double> mass, double p) {
    double sum = 0.0;
    for (std::size_t x = 0; x < mass.size(); ++x) {
      sum += mass[x];
      if (sum >= p * mixture.weight()) return static_cast<double>(x);
    }
    return std::max({0.0, static_cast<double>(mass.size()), std::ceil(mixture.quantile(p) - 0.5)});
  }

  /// Which columns have counts of a discrete family, and how many values these take: more than were seen, so
  /// that quantiles are among them.
  void find_masses() {
    mass_.resize(parts_.size());
    values_.assign(columns_.size(), 0);
    for (const FamilyPlan::Block& block : run_.setup().plan.blocks) {
      if (const FamilyEntry& entry = family_by_name(block.family); entry.joint || !entry.is_discrete())
        continue;
      for (std::size_t i = 0; i < columns_.size(); ++i) {
        if (std::find(block.columns.begin(), block.columns.end(), columns_[i]) == block.columns.end())
          continue;
        const Column& column = run_.table().columns[columns_[i]];
        double largest = 0.0;
        for (const double value : column.values)
          if (!is_missing(value)) largest = std::max(largest, value);
        if (column.kind == Kind::count && largest <= kLargestImputedMode)
          values_[i] = 2 * static_cast<std::size_t>(largest) + kMoreValues;
      }
    }
    std::vector<std::size_t> values_of(place_.size(), 0);  // by column of the table
    for (std::size_t i = 0; i < columns_.size(); ++i) values_of[columns_[i]] = values_[i];
    std::size_t numbers = 0;
    for (const ImputedCell& cell : cells_) numbers += values_of[cell.column];
    if (numbers > kMassBudget) {
      values_.assign(columns_.size(), 0);
      return;
    }
    for (std::size_t k = 0; k < cells_.size(); ++k)
      if (const std::size_t values = values_of[cells_[k].column]; values > 0)
        mass_[number_[k]].assign(values, 0.0);
  }

  std::vector<double> masses_of(const Predictor& predictor, std::size_t component, std::size_t place,
                                std::size_t values) const {
    const Encoding& encoding = run_.setup().plan.encodings[place];
    std::vector<double> masses;
    for (std::size_t x = 0; x < values; ++x)
      masses.push_back(
          std::exp(predictor.log_cell(component, place, encoding.encode(static_cast<double>(x)))));
    return masses;
  }

  /// The mixture of every cell; cells come row after row.
  std::vector<Mixture> mixtures_of(const Predictor& predictor, std::vector<double>& log_given) const {
    std::vector<Mixture> mixtures(cells_.size());
    if (new_rows_ == nullptr) {
      for (std::size_t k = 0; k < cells_.size(); ++k)
        predictor.cell_components(cells_[k].row, place_[cells_[k].column], mixtures[k]);
      return mixtures;
    }
    log_given.assign(new_rows_->size(), kMinusInfinity);
    std::vector<std::size_t> places;
    std::vector<Mixture> of_row;
    for (std::size_t begin = 0, end = 0; begin < cells_.size(); begin = end) {
      const std::size_t row = cells_[begin].row;
      places.clear();
      for (; end < cells_.size() && cells_[end].row == row; ++end)
        places.push_back(place_[cells_[end].column]);
      log_given[row] = new_cells_of(predictor).condition_cells((*new_rows_)[row], places, of_row);
      std::move(of_row.begin(), of_row.end(), mixtures.begin() + static_cast<std::ptrdiff_t>(begin));
    }
    return mixtures;
  }

  Draw draw_of(const Predictor& predictor) const {
    constexpr std::size_t kUnknown = static_cast<std::size_t>(-1);
    Draw draw;
    const std::vector<Mixture> mixtures = mixtures_of(predictor, draw.log_given);
    std::vector<ColumnDraw>& drawn = draw.columns;
    drawn.resize(columns_.size());
    std::vector<std::size_t> number(predictor.component_count(), kUnknown);  // of a component's predictive
    std::vector<std::size_t> touched;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      ColumnDraw& own = drawn[i];
      const std::size_t place = place_[columns_[i]];
      for (const std::size_t k : cells_of_[i]) {
        for (const CellComponent& part : mixtures[k]) {
          if (number[part.component] == kUnknown) {
            number[part.component] = own.predictives.size();
            touched.push_back(part.component);
            own.predictives.push_back(predictor.predict_cell(part.component, place));
            if (values_[i] > 0) own.masses.push_back(masses_of(predictor, part.component, place, values_[i]));
          }
          own.parts.push_back({number[part.component], part.weight});
        }
        own.ends.push_back(own.parts.size());
      }
      for (const std::size_t component : touched) number[component] = kUnknown;
      touched.clear();
    }
    return draw;
  }

  /// Weights draws by how well they predict the observed cells of a new row. Earlier sums are relative to the
  /// best draw so far and are scaled down when a better one comes.
  void weigh_rows(const Draw& draw, std::vector<double>& row_weight) {
    if (new_rows_ == nullptr) return;
    std::vector<double> shrink(log_scale_.size(), 1.0);
    row_weight.assign(log_scale_.size(), 0.0);
    for (std::size_t row = 0; row < log_scale_.size(); ++row) {
      const double log_given = draw.log_given[row];
      if (!(log_given > kMinusInfinity)) continue;
      if (log_given > log_scale_[row]) {
        shrink[row] = std::exp(log_scale_[row] - log_given);
        log_scale_[row] = log_given;
      }
      row_weight[row] = std::exp(log_given - log_scale_[row]);
    }
    for (std::size_t k = 0; k < cells_.size(); ++k) {
      const double factor = shrink[cells_[k].row];
      if (factor == 1.0) continue;
      for (double& p : cells_[k].probabilities) p *= factor;
      if (!cells_[k].probabilities.empty()) continue;
      for (MixturePart& part : parts_[number_[k]]) part.weight *= factor;
      for (double& p : mass_[number_[k]]) p *= factor;
    }
  }

  void take_draw(const Draw& draw, std::size_t threads) {
    const std::vector<ColumnDraw>& drawn = draw.columns;
    std::vector<double> row_weight;
    weigh_rows(draw, row_weight);
    std::vector<std::size_t> first(drawn.size());  // the first component of the draw
    for (std::size_t i = 0; i < drawn.size(); ++i) {
      first[i] = components_.size();
      if (has_levels(run_.table().columns[columns_[i]].kind)) continue;
      for (const CellPredictive& predictive : drawn[i].predictives) components_.emplace_back(predictive);
    }
    if (components_.size() > std::numeric_limits<std::uint32_t>::max())
      fail(ErrorCode::usage, "impute: too many clusters, columns and draws; use fewer draws");
    parallel_for(drawn.size(), threads, [&](std::size_t i) {
      const ColumnDraw& own = drawn[i];
      std::size_t next = 0;
      for (std::size_t c = 0; c < cells_of_[i].size(); ++c) {
        const std::size_t k = cells_of_[i][c];
        ImputedCell& cell = cells_[k];
        for (; next < own.ends[c]; ++next) {
          const CellComponent& part = own.parts[next];
          const double weight = row_weight.empty() ? part.weight : part.weight * row_weight[cell.row];
          if (!cell.probabilities.empty())
            add_probabilities(own.predictives[part.component], weight, cell.probabilities);
          else if (weight > 0.0)
            parts_[number_[k]].push_back({static_cast<std::uint32_t>(first[i] + part.component), weight});
          if (values_[i] > 0) {
            std::vector<double>& mass = mass_[number_[k]];
            for (std::size_t x = 0; x < mass.size(); ++x) mass[x] += weight * own.masses[part.component][x];
          }
        }
      }
    });
  }

  const SavedRun& run_;
  std::vector<ImputedCell>& cells_;
  const Rows* new_rows_;
  std::vector<double> least_;      // of each column of the table
  std::vector<double> log_scale_;  // of each new row: log p(what it has) under the best draw so far
  std::size_t taken_ = 0;
  std::vector<std::size_t> place_;                  // encoded cell of each column of the table
  std::vector<std::size_t> columns_;                // with missing cells
  std::vector<std::size_t> values_;                 // 0, 1, ... of each of these, if it has counts; else 0
  std::vector<std::vector<double>> mass_;           // of each cell of numbers: weights of the values
  std::vector<std::vector<std::size_t>> cells_of_;  // of each of these columns
  std::vector<std::size_t> number_;                 // of each cell among those of numbers
  std::vector<NumberComponent> components_;         // of all draws
  std::vector<std::vector<MixturePart>> parts_;     // of each cell of numbers, draw after draw
};

/// The table in the units of the data, with every cell filled in.
Table complete(const Table& table, std::span<const ImputedCell> cells, std::span<const OriginalUnits> units) {
  Table completed = table;
  for (std::size_t j = 0; j < completed.columns.size(); ++j)
    for (double& value : completed.columns[j].values) value = units[j].cell(value);
  for (const ImputedCell& cell : cells) {
    Column& column = completed.columns[cell.column];
    // On the log scale, and beside a spike, the mean is a poor guess.
    double value = is_missing(cell.mean) || !is_missing(cell.probability_of_spike) ? cell.median : cell.mean;
    if (column.kind == Kind::count) value = std::max(0.0, std::round(value));
    if (has_levels(column.kind)) {
      const auto best = std::max_element(cell.probabilities.begin(), cell.probabilities.end());
      value = static_cast<double>(best - cell.probabilities.begin());
    }
    column.values[cell.row] = value;
  }
  return completed;
}

/// Cells that are missing in `table`: the run's own, or that of the new rows.
Imputation impute_cells(const SavedRun& run, const Table& table, const Rows* new_rows,
                        const ImputeOptions& options) {
  const Transform transform = transform_from_json(run.contents().transform);
  if (!transform.inputs.empty())
    fail(
        ErrorCode::configuration,
        "{}: a run on principal components cannot be imputed: its rows had to be complete; fit without --pca",
        run.file().path());
  Imputation result;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    for (std::size_t j = 0; j < table.columns.size(); ++j) {
      if (!is_missing(table.columns[j].values[i])) continue;
      ImputedCell cell;
      cell.row = i;
      cell.column = j;
      result.cells.push_back(std::move(cell));
    }
  }
  const std::vector<OriginalUnits> units = original_units(transform, table);
  if (!result.cells.empty()) {
    std::size_t most = options.most_draws;
    if (most == 0)
      most = std::min(draws_for_prediction(run, 0),
                      std::max(kLeastImputingDraws, kPredictiveBudget / result.cells.size()));
    CellCollector collector(run, result.cells, evenly_spaced_draws(run, most), new_rows);
    for_each_batch(run, most, options.threads,
                   [&](std::span<const TakenDraw> batch) { collector.take(batch, options.threads); });
    parallel_for(result.cells.size(), options.threads,
                 [&](std::size_t k) { collector.finish(k, units[result.cells[k].column]); });
    result.draws = collector.draws();
  }
  result.completed = complete(table, result.cells, units);
  return result;
}

}  // namespace

Imputation impute(const SavedRun& run, const ImputeOptions& options) {
  return impute_cells(run, run.table(), nullptr, options);
}

bool can_impute_new_cell(const SavedRun& run, std::size_t cell) {
  const Family& family = *run.setup().plan.family;
  return family.of_cells({&cell, 1}) != nullptr || (run.model().adapts_family() && family.must_fill(cell));
}

Imputation impute(const SavedRun& run, const Table& rows, const ImputeOptions& options) {
  const Rows encoded = encode(run.setup().plan, rows);
  for (std::size_t cell = 0; cell < encoded.width; ++cell) {
    std::size_t row = 0;
    while (row < encoded.size() && !is_missing(encoded[row][cell])) ++row;
    if (row == encoded.size() || can_impute_new_cell(run, cell)) continue;
    fail(ErrorCode::configuration,
         "cells of new rows are predicted from the others only where their columns are independent of the "
         "others "
         "within a cluster, but the family here is {}: fit with --family {}",
         run.setup().plan.description(), automatic_family(Kind::real, false).name);
  }
  return impute_cells(run, rows, &encoded, options);
}

}  // namespace coppice
