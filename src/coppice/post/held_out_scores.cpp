#include "coppice/post/held_out_scores.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"
#include "coppice/base/parallel.hpp"
#include "coppice/family/tied_copies.hpp"
#include "coppice/model/stats_predictor.hpp"
#include "coppice/post/cell_mixture.hpp"
#include "coppice/post/draw_batches.hpp"
#include "coppice/post/predict.hpp"
#include "coppice/run/plan_without_chain.hpp"

namespace coppice {
namespace {

/// Counts above it are not searched for the most probable one.
constexpr double kLargestMode = 4096.0;

/// What is known of one held-out cell so far.
struct Forecast {
  HeldOutCell cell;
  double log_probability = kMinusInfinity;  // summed over the draws
  double mean = 0.0;                        // likewise
  std::vector<double> probabilities;        // of each value, likewise; none for reals and large counts
};

/// What a component says of a column.
struct ColumnForecast {
  double mean = 0.0;
  std::vector<double> probabilities;
};

class HeldOutScorer {
 public:
  /// A cell counts as often as its row of `rows` has copies.
  HeldOutScorer(const FamilyPlan& plan, const Table& table, const Rows& rows,
                std::span<const HeldOutCell> cells)
      : plan_(&plan),
        family_(plan.family.get()),
        table_(&table),
        rows_(&rows),
        places_(table.columns.size()) {
    for (std::size_t place = 0; place < plan.order.size(); ++place) places_[plan.order[place]] = place;
    columns_.resize(table.columns.size());
    for (const HeldOutCell& cell : cells) columns_[cell.column].push_back({cell, kMinusInfinity, 0.0, {}});
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      const std::size_t values = values_of(column);
      for (Forecast& forecast : columns_[column]) forecast.probabilities.assign(values, 0.0);
    }
  }

  void take(const Predictor& predictor, std::size_t threads) {
    ++draws_;
    parallel_for(columns_.size(), threads, [&](std::size_t column) { take_column(predictor, column); });
  }

  HeldOutScores scores() const {
    HeldOutScores result;
    double log_predictive = 0.0;
    double squares = 0.0;
    double absolute = 0.0;
    double all = 0.0;
    double numbers = 0.0;
    double discrete = 0.0;
    double hits = 0.0;
    const double draws = static_cast<double>(draws_);
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      const Kind kind = table_->columns[column].kind;
      for (const Forecast& forecast : columns_[column]) {
        const double copies = rows_->copies_of(forecast.cell.row);
        ++result.cells;
        all += copies;
        log_predictive += copies * (forecast.log_probability - std::log(draws));
        if (kind == Kind::real || kind == Kind::count) {
          const double error = forecast.mean / draws - forecast.cell.value;
          squares += copies * error * error;
          absolute += copies * std::abs(error);
          numbers += copies;
        }
        if (!forecast.probabilities.empty()) {
          const auto best = std::max_element(forecast.probabilities.begin(), forecast.probabilities.end());
          discrete += copies;
          if (static_cast<double>(best - forecast.probabilities.begin()) == forecast.cell.value)
            hits += copies;
        }
      }
    }
    if (result.cells > 0) result.log_predictive = log_predictive / all;
    if (numbers > 0.0) {
      result.rmse = std::sqrt(squares / numbers);
      result.mae = absolute / numbers;
    }
    if (discrete > 0.0) result.mode_accuracy = hits / discrete;
    return result;
  }

 private:
  /// How many values a discrete column takes, 0 if it has no list of them.
  std::size_t values_of(std::size_t column) const {
    const Column& source = table_->columns[column];
    switch (source.kind) {
      case Kind::real:
        return 0;
      case Kind::binary:
        return 2;
      case Kind::category:
        return source.levels.size();
      case Kind::count:
        break;
    }
    double largest = 0.0;
    for (const double value : source.values)
      if (!is_missing(value)) largest = std::max(largest, value);
    for (const Forecast& forecast : columns_[column]) largest = std::max(largest, forecast.cell.value);
    return largest <= kLargestMode ? static_cast<std::size_t>(largest) + 1 : 0;
  }

  double log_predictive(const Predictor& predictor, std::size_t component, std::size_t column,
                        double value) const {
    const std::size_t place = places_[column];
    const Encoding& encoding = plan_->encodings[place];
    const double number = encoding.encode(value);
    const double log_density = predictor.log_cell(component, place, number - family_->origin(place));
    return encoding.log && std::isfinite(number) ? log_density - number : log_density;
  }

  ColumnForecast forecast_of(const Predictor& predictor, std::size_t component, std::size_t column,
                             std::size_t values) const {
    const std::size_t place = places_[column];
    const NumberComponent predicted(predictor.predict_cell(component, place));
    const MixturePart whole{0, 1.0};
    const CellMixture mixture({&predicted, 1}, {&whole, 1}, plan_->encodings[place]);
    // Averages need not exist on the log scale.
    ColumnForecast forecast{plan_->encodings[place].log ? mixture.quantile(0.5) : mixture.mean(), {}};
    for (std::size_t value = 0; value < values; ++value)
      forecast.probabilities.push_back(
          std::exp(log_predictive(predictor, component, column, static_cast<double>(value))));
    return forecast;
  }

  void take_column(const Predictor& predictor, std::size_t column) {
    std::unordered_map<std::size_t, ColumnForecast> known;
    std::vector<CellComponent> mixture;
    for (Forecast& forecast : columns_[column]) {
      predictor.cell_components(forecast.cell.row, places_[column], mixture);
      for (const CellComponent& part : mixture) {
        if (part.weight <= 0.0) continue;
        auto [entry, is_new] = known.try_emplace(part.component);
        if (is_new)
          entry->second = forecast_of(predictor, part.component, column, forecast.probabilities.size());
        forecast.mean += part.weight * entry->second.mean;
        for (std::size_t value = 0; value < forecast.probabilities.size(); ++value)
          forecast.probabilities[value] += part.weight * entry->second.probabilities[value];
        forecast.log_probability = log_add_exp(
            forecast.log_probability,
            std::log(part.weight) + log_predictive(predictor, part.component, column, forecast.cell.value));
      }
    }
  }

  const FamilyPlan* plan_;
  const Family* family_;
  const Table* table_;
  const Rows* rows_;
  std::vector<std::size_t> places_;             // encoded cell of each column of the table
  std::vector<std::vector<Forecast>> columns_;  // the held-out cells of each column
  std::size_t draws_ = 0;
};

class OneCluster final : public StatsPredictor {
 public:
  OneCluster(const Family& family, const Rows& rows)
      : StatsPredictor(Problem{.family = &family, .rows = &rows, .parameters = {}}),
        stats_(family.stats_size()) {
    family.clear(stats_.data());
    for (std::size_t row = 0; row < rows.size(); ++row) family.add(stats_.data(), rows[row]);
  }
  void set_draw(std::span<const Label>, std::span<const double>, std::string_view) override {}
  std::size_t clusters(std::size_t) const override { return 1; }
  void log_weights(const double*, std::size_t, std::span<double>) const override {
    fail(ErrorCode::bug, "OneCluster predicts cells, not rows");
  }
  void cell_components(std::size_t, std::size_t, std::vector<CellComponent>& out) const override {
    out.assign(1, {});
  }
  std::size_t component_count() const override { return 1; }
  const double* stats(std::size_t) const override { return stats_.data(); }

 private:
  std::vector<double> stats_;
};

}  // namespace

HeldOutScores score_held_out(const SavedRun& run, std::span<const HeldOutCell> cells, std::size_t most_draws,
                             std::size_t threads) {
  HeldOutScorer scorer(run.setup().plan, run.table(), run.setup().rows, cells);
  for_each_batch(run, draws_for_prediction(run, most_draws), threads, [&](std::span<const TakenDraw> batch) {
    for (const TakenDraw& draw : batch) scorer.take(*draw.predictor, threads);
  });
  return scorer.scores();
}

HeldOutScores score_one_cluster(const ProblemSetup& setup, const Table& table,
                                std::span<const HeldOutCell> cells, std::size_t threads) {
  const std::optional<FamilyPlan> apart = plan_without_chain(setup, table);
  const FamilyPlan& plan = apart ? *apart : setup.plan;
  HeldOutScorer scorer(plan, table, setup.rows, cells);
  Rows rows = apart ? encode(plan, table) : setup.rows;
  for (std::size_t row = 0; apart && rows.has_copies && row < rows.size(); ++row)
    rows[row][rows.width - 1] = setup.rows.copies_of(row);
  std::unique_ptr<Family> family = plan.family->clone();
  if (rows.has_copies) family = std::make_unique<TiedCopies>(std::move(family));
  scorer.take(OneCluster(*family, rows), threads);
  return scorer.scores();
}

}  // namespace coppice
