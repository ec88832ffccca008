#include "coppice/run/new_run.hpp"

#include <algorithm>
#include <utility>

#include "coppice/base/error.hpp"
#include "coppice/data/row_weights.hpp"
#include "coppice/data/transform.hpp"
#include "coppice/family/adopt_kinds.hpp"
#include "coppice/model/registry.hpp"

namespace coppice {
namespace {

/// Weights of one everywhere are no weights.
bool has_repeated_rows(const Table& weights) {
  return std::ranges::any_of(weights.columns, [](const Column& column) {
    return std::ranges::any_of(column.values, [](double copies) { return copies != 1.0; });
  });
}

}  // namespace

void set_run_length(RunConfig& config, const Settings& given) {
  const ParameterValues run(run_parameters(), given);
  config.chains = run.integer("chains");
  std::string fixing;  // a setting that says how long the run is
  for (const auto& [name, length] :
       {std::pair{"warmup", &RunConfig::warmup}, {"draws", &RunConfig::draws}, {"thin", &RunConfig::thin}}) {
    if (!run.has(name)) continue;
    config.*length = run.integer(name);
    fixing = name;
  }
  config.until = run.has("until") ? run.choice("until") : fixing.empty() ? kUntilTrusted : kUntilLength;
  if (run.flag("quick") && !config.is_until_trusted())
    fail(ErrorCode::configuration, "--quick makes the first draws of a run until trusted: give no {}",
         fixing.empty() ? "--until length" : "--" + fixing);
  if (config.is_until_trusted() && !fixing.empty())
    fail(ErrorCode::configuration,
         "--until trusted chooses how long the run is, and so does --{}: give one of them", fixing);
  config.seed = run.integer("seed");
  if (static_cast<double>(config.draws) * static_cast<double>(config.thin) > 1e15)
    fail(ErrorCode::usage, "--draws {} --thin {} would be more sweeps than can be counted", config.draws,
         config.thin);
}

RunContents contents_of(RunConfig config, Dataset data) {
  const ModelEntry& model = model_by_name(config.model);
  if (!model.learns_labels())
    adopt_kinds(data.table, data.codebook, config.family == "auto" ? model.family : config.family);
  RunContents contents;
  contents.config = std::move(config);
  contents.input_codebook = data.codebook;
  contents.codebook = std::move(data.codebook);
  contents.table = std::move(data.table);
  contents.truth = std::move(data.truth);
  contents.labels = std::move(data.labels);
  if (has_repeated_rows(data.weights)) contents.weights = std::move(data.weights);
  contents.data_digest = std::move(data.digest);
  const bool repeats = contents.has_weights() && (contents.config.standardize || contents.config.pca != 0);
  Table repeated = repeats ? repeat_rows(contents.table, contents.copies()) : Table();
  const Transform transform = fit_transform(repeats ? repeated : contents.table, contents.config.standardize,
                                            contents.config.pca, contents.codebook);
  if (repeats) contents.table = apply(transform, std::move(contents.table));
  contents.transform = to_json(transform);
  return contents;
}

}  // namespace coppice
