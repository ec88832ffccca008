#include "coppice/app/fold_table.hpp"

#include <cmath>

#include "coppice/app/text_table.hpp"
#include "coppice/base/error.hpp"
#include "coppice/out/csv.hpp"

namespace coppice::app {
namespace {

using nlohmann::ordered_json;

std::string words(const MeanAndError& value) {
  if (std::isnan(value.mean)) return "-";
  if (std::isinf(value.mean)) return value.mean < 0.0 ? "-inf" : "inf";
  const int digits = std::abs(value.mean) >= 100.0 ? 1 : std::abs(value.mean) >= 10.0 ? 2 : 3;
  return std::isfinite(value.error)
             ? fmt::format("{:.{}f} +- {:.{}f}", value.mean, digits, value.error, digits)
             : fmt::format("{:.{}f}", value.mean, digits);
}

std::string text_of(const Crossvalidation& answer, const Context& context) {
  std::vector<std::size_t> shown;
  for (std::size_t figure = 0; figure < answer.figures.size(); ++figure)
    for (const FoldScores& scores : answer.models)
      if (!std::isnan(mean_over_folds(scores, figure).mean)) {
        shown.push_back(figure);
        break;
      }
  TextTable table(std::vector<std::size_t>(shown.size() + 1, 8));
  std::vector<std::string> heading{"model"};
  for (const std::size_t figure : shown) heading.emplace_back(answer.figures[figure].heading);
  table.add(heading);
  for (const FoldScores& scores : answer.models) {
    std::vector<std::string> cells{scores.name};
    for (const std::size_t figure : shown) cells.push_back(words(mean_over_folds(scores, figure)));
    table.add(cells);
  }
  std::string text = table.text(context);
  for (const FoldScores& scores : answer.models)
    for (const std::size_t figure : shown)
      if (const std::size_t infinite = infinite_folds(scores, figure); infinite != 0)
        text += fmt::format("\n{}: {} of {} folds hold a value that the model gives probability zero.\n",
                            scores.name, infinite, scores.folds.size());
  return text;
}

ordered_json json_of(const Crossvalidation& answer) {
  ordered_json list = ordered_json::array();
  for (const FoldScores& scores : answer.models) {
    ordered_json entry{{"model", scores.name}};
    for (std::size_t figure = 0; figure < answer.figures.size(); ++figure) {
      const MeanAndError value = mean_over_folds(scores, figure);
      ordered_json values = ordered_json::array();
      for (const FoldScores::Fold& fold : scores.folds) values.push_back(fold.figures[figure]);
      entry[answer.figures[figure].key] = {
          {"mean", value.mean}, {"standard_error", value.error}, {"folds", values}};
      if (const std::size_t infinite = infinite_folds(scores, figure); infinite != 0)
        entry[answer.figures[figure].key]["infinite_folds"] = infinite;
    }
    list.push_back(entry);
  }
  return {{"folds", answer.folds_complete()}, {"models", list}};
}

std::string csv_of(const Crossvalidation& answer) {
  std::string text;
  CsvWriter writer(&text);
  writer.cell("model").cell("fold").cell(answer.unit);
  for (const FoldFigure& figure : answer.figures) writer.cell(figure.key);
  writer.end_row();
  for (const FoldScores& scores : answer.models)
    for (std::size_t fold = 0; fold < scores.folds.size(); ++fold) {
      writer.cell(scores.name).cell(fold + 1).cell(scores.folds[fold].held_out);
      for (const double value : scores.folds[fold].figures) writer.cell(value);
      writer.end_row();
    }
  writer.close();
  return text;
}

}  // namespace

int write_folds(const Crossvalidation& folds, const std::string& output, const Context& context) {
  const std::size_t complete = folds.folds_complete();
  if (complete == 0) {
    context.note("stopped before a fold was complete");
    return static_cast<int>(ErrorCode::stopped);
  }
  if (!output.empty()) write_output(output, csv_of(folds));
  if (context.json)
    write_json("", json_of(folds));
  else
    write_text("", text_of(folds, context) +
                       fmt::format("\nMeans over {} of {} folds +- their standard errors; the {} of a fold "
                                   "are the same for all models.\n",
                                   complete, folds.folds_dealt, folds.unit));
  if (complete == folds.folds_wanted) return 0;
  context.note(fmt::format("stopped after {} of {} folds", complete, folds.folds_wanted));
  return static_cast<int>(ErrorCode::stopped);
}

}  // namespace coppice::app
