#include "coppice/out/inference_data.hpp"

#include <fmt/format.h>

#include "coppice/out/netcdf.hpp"
#include "coppice/version.hpp"

namespace coppice {
namespace {

std::vector<std::int64_t> counting(std::size_t count, std::int64_t first) {
  std::vector<std::int64_t> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(first + static_cast<std::int64_t>(i));
  return values;
}

std::vector<double> flat(const std::vector<std::vector<double>>& chains) {
  std::vector<double> values;
  for (const std::vector<double>& chain : chains) values.insert(values.end(), chain.begin(), chain.end());
  return values;
}

}  // namespace

void write_inference_data(const SavedRun& run, const std::string& path) {
  const std::size_t chains = run.config().chains;
  const std::size_t draws = run.draws_per_chain();
  const std::size_t levels = run.levels();
  const NcVariable chain{"chain", {"chain"}, counting(chains, 0)};
  const NcVariable draw{"draw", {"draw"}, counting(draws, 0)};
  const NcVariable level{"level", {"level"}, counting(levels, 1)};
  const NcVariable observation{"obs", {"obs"}, run.table().row_ids};

  NcGroup posterior{"posterior", {}, {chain, draw, level, observation}};
  NcGroup statistics{"sample_stats", {}, {chain, draw}};
  for (std::size_t trace = 0; trace < run.trace_names().size(); ++trace) {
    const std::string& name = run.trace_names()[trace];
    NcVariable variable{name == "log_joint" ? "lp" : name, {"chain", "draw"}, flat(run.traces()[trace])};
    (name == "log_joint" ? statistics : posterior).variables.push_back(std::move(variable));
  }
  // Labels switch from draw to draw: R-hat of a label means nothing, and the attribute says so.
  std::vector<std::int32_t> labels;
  labels.reserve(chains * draws * levels * run.rows());
  std::vector<std::int32_t> clusters;
  run.for_each_draw(0, [&](const SavedDraw& saved) {
    labels.insert(labels.end(), saved.labels.begin(), saved.labels.end());
    for (std::size_t l = 0; l < levels; ++l) {
      std::int32_t largest = -1;
      for (const Label label : saved.labels.subspan(l * run.rows(), run.rows()))
        largest = std::max(largest, label);
      clusters.push_back(largest + 1);
    }
  });
  posterior.variables.push_back({"n_clusters", {"chain", "draw", "level"}, std::move(clusters)});
  posterior.variables.push_back(
      {"labels",
       {"chain", "draw", "level", "obs"},
       std::move(labels),
       {{"description",
         std::string(
             "cluster of each row; names of clusters carry no meaning across draws, do not summarize")}}});

  NcGroup observed{"observed_data", {}, {observation}};
  for (const Column& column : run.table().columns)
    observed.variables.push_back({column.name, {"obs"}, column.values});

  NcAttributes root{
      {"inference_library", std::string("coppice")}, {"inference_library_version", std::string(kVersion)},
      {"created_at", run.file().meta("created_at")}, {"model", run.model().name},
      {"configuration", run.file().meta("config")},  {"data_sha256", run.contents().data_digest}};
  if (const std::string inexactness_note = run.model().inexactness_note(run.setup().problem.parameters);
      !inexactness_note.empty())
    root.emplace_back("inexactness_note", inexactness_note);
  const NcGroup groups[] = {posterior, statistics, observed};
  write_netcdf(path, groups, root);
}

}  // namespace coppice
