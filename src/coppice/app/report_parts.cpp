#include "coppice/app/report_parts.hpp"

#include <cmath>
#include <filesystem>

#include "coppice/app/reproduce.hpp"
#include "coppice/version.hpp"

namespace coppice::app {

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
  answer["done"] = run.model().greedy_steps != nullptr ? run.file().status(0).sweeps : run.draws_per_chain();
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

}  // namespace coppice::app
