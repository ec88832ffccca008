#include "coppice/app/fold_table.hpp"

#include <cmath>
#include <numeric>

#include "coppice/app/text_table.hpp"
#include "coppice/base/error.hpp"
#include "coppice/data/table.hpp"
#include "coppice/out/csv.hpp"

namespace coppice::app {
namespace {

using nlohmann::ordered_json;

struct MeanAndError {
  double mean = kMissing;
  double error = kMissing;  // of one fold: NaN
};

/// Over the folds that have the figure.
MeanAndError over_folds(const FoldScores& scores, std::size_t figure) {
  std::vector<double> values;
  for (const FoldScores::Fold& fold : scores.folds)
    if (const double value = fold.figures[figure]; std::isfinite(value)) values.push_back(value);
  if (values.empty()) return {};
  const double count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0.0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, values.size() > 1 ? std::sqrt(squares / (count - 1.0) / count) : kMissing};
}

std::string words(const MeanAndError& value) {
  if (!std::isfinite(value.mean)) return "-";
  const int digits = std::abs(value.mean) >= 100.0 ? 1 : std::abs(value.mean) >= 10.0 ? 2 : 3;
  return std::isfinite(value.error)
             ? fmt::format("{:.{}f} +- {:.{}f}", value.mean, digits, value.error, digits)
             : fmt::format("{:.{}f}", value.mean, digits);
}

}  // namespace

void FoldTable::add_fold(std::vector<FoldScores::Fold> results) {
  for (std::size_t place = 0; place < results.size(); ++place)
    scores_[place].folds.push_back(std::move(results[place]));
}

std::string FoldTable::text(const Context& context) const {
  std::vector<std::size_t> shown;
  for (std::size_t figure = 0; figure < figures_.size(); ++figure)
    for (const FoldScores& scores : scores_)
      if (std::isfinite(over_folds(scores, figure).mean)) {
        shown.push_back(figure);
        break;
      }
  TextTable table(std::vector<std::size_t>(shown.size() + 1, 8));
  std::vector<std::string> heading{"model"};
  for (const std::size_t figure : shown) heading.emplace_back(figures_[figure].heading);
  table.add(heading);
  for (const FoldScores& scores : scores_) {
    std::vector<std::string> cells{scores.name};
    for (const std::size_t figure : shown) cells.push_back(words(over_folds(scores, figure)));
    table.add(cells);
  }
  return table.text(context);
}

ordered_json FoldTable::json() const {
  ordered_json list = ordered_json::array();
  for (const FoldScores& scores : scores_) {
    ordered_json entry{{"model", scores.name}};
    for (std::size_t figure = 0; figure < figures_.size(); ++figure) {
      const MeanAndError value = over_folds(scores, figure);
      ordered_json values = ordered_json::array();
      for (const FoldScores::Fold& fold : scores.folds) values.push_back(fold.figures[figure]);
      entry[figures_[figure].key] = {
          {"mean", value.mean}, {"standard_error", value.error}, {"folds", values}};
    }
    list.push_back(entry);
  }
  return {{"folds", complete()}, {"models", list}};
}

std::string FoldTable::csv() const {
  std::string text;
  CsvWriter writer(&text);
  writer.cell("model").cell("fold").cell(unit_);
  for (const FoldFigure& figure : figures_) writer.cell(figure.key);
  writer.end_row();
  for (const FoldScores& scores : scores_)
    for (std::size_t fold = 0; fold < scores.folds.size(); ++fold) {
      writer.cell(scores.name).cell(fold + 1).cell(scores.folds[fold].held_out);
      for (const double value : scores.folds[fold].figures) writer.cell(value);
      writer.end_row();
    }
  writer.close();
  return text;
}

int FoldTable::finish(const std::string& output, std::size_t asked, std::size_t dealt,
                      const Context& context) const {
  if (complete() == 0) {
    context.note("stopped before a fold was complete");
    return static_cast<int>(ErrorCode::stopped);
  }
  if (!output.empty()) write_output(output, csv());
  if (context.json)
    write_json("", json());
  else
    write_output("", text(context) +
                         fmt::format("\nMeans over {} of {} folds +- their standard errors; the {} of a fold "
                                     "are the same for all models.\n",
                                     complete(), dealt, unit_));
  if (complete() == asked) return 0;
  context.note(fmt::format("stopped after {} of {} folds", complete(), asked));
  return static_cast<int>(ErrorCode::stopped);
}

}  // namespace coppice::app
