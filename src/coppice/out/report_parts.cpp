#include "coppice/out/report_parts.hpp"

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "coppice/data/transform.hpp"
#include "coppice/out/answer_json.hpp"
#include "coppice/out/base64.hpp"
#include "coppice/out/reproduce.hpp"
#include "coppice/post/units.hpp"
#include "coppice/version.hpp"

namespace coppice {

using nlohmann::ordered_json;

double brief(double value) {
  if (value == 0.0 || !std::isfinite(value)) return value;
  const double scale = std::pow(10.0, 4.0 - std::floor(std::log10(std::abs(value))));
  return std::isfinite(scale) && scale > 0.0 ? std::round(value * scale) / scale : value;
}

double share(double value) { return std::round(value * 1000.0) / 1000.0; }

ordered_json report_head(const Analysis& analysis) {
  const SavedRun& run = analysis.run();
  ordered_json answer = head_json(analysis);
  answer["title"] = std::filesystem::path(run.config().data).filename().string();
  answer["summary"] = run.model().summary;
  answer["family"] = run.setup().plan.description();
  answer["seconds"] = brief(analysis.seconds());
  answer["clusters"] = analysis.mean_clusters();
  answer["levels"] = run.levels();
  answer["done"] = run.model().runs_once() || run.config().is_until_trusted() ? run.file().status(0).sweeps
                                                                              : run.draws_per_chain();
  answer["asked_draws"] = run.config().draws;
  answer["notes"] = run.config().notes;
  answer["worst_trace"] = analysis.verdict().worst_trace;
  return answer;
}

ordered_json report_reproduce(const SavedRun& run) {
  const std::string output = std::filesystem::path(run.file().path()).filename().string();
  return {{"command", fit_command(run.config(), output)},
          {"toml", fit_toml(run.config(), output)},
          {"codebook", to_toml(run.contents().input_codebook)},
          {"merged", run.config().merged},
          {"data", run.config().data},
          {"digest", run.contents().data_digest},
          {"created_at", run.file().meta("created_at")},
          {"fitted_with", run.file().meta("coppice_version")},
          {"reported_with", kVersion},
          {"compiler", kCompiler}};
}

namespace {

/// What the page needs to write numbers of dates and times as such.
ordered_json dates_json(const Column& column) {
  if (!column.dates) return nullptr;
  return {{"origin", column.dates->origin},
          {"days", column.dates->days},
          {"clock", column.dates->order == text::DateOrder::clock}};
}

}  // namespace

ordered_json report_columns(const SavedRun& run, std::span<const std::size_t> columns,
                            std::span<const double> strengths) {
  ordered_json list = ordered_json::array();
  for (const std::size_t j : columns) {
    const Column& column = run.table().columns[j];
    list.push_back({{"name", column.name},
                    {"kind", kind_name(column.kind)},
                    {"levels", column.levels},
                    {"dates", dates_json(column)},
                    {"strength", brief(strengths[j])}});
  }
  return list;
}

ordered_json report_rows(const SavedRun& run, std::span<const std::uint32_t> rows) {
  std::vector<std::string> ids;
  for (const std::uint32_t row : rows) ids.push_back(run.table().row_ids[row]);
  return {{"total", run.rows()}, {"ids", ids}};
}

std::string report_cells(const SavedRun& run, std::span<const std::uint32_t> rows,
                         std::span<const std::size_t> columns) {
  const std::vector<OriginalUnits> units =
      original_units(transform_from_json(run.contents().transform), run.table());
  std::vector<float> values;
  values.reserve(rows.size() * columns.size());
  for (const std::uint32_t row : rows)
    for (const std::size_t j : columns)
      values.push_back(static_cast<float>(units[j].location(run.table().columns[j].values[row])));
  return base64_of(std::span<const float>(values));
}

}  // namespace coppice
