// Small runs on disk: the contents of a run on a simulated table, and everything a run file holds as one
// comparable value.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "coppice/data/transform.hpp"
#include "coppice/model/registry.hpp"
#include "coppice/run/fit.hpp"
#include "coppice/run/run_file.hpp"
#include "coppice/run/saved_run.hpp"
#include "laws/law_case.hpp"
#include "support/scratch_folder.hpp"

namespace coppice::test {

/// A run of the model on a simulated mixed table.
inline RunContents small_contents(const std::string& model, const Settings& parameters, std::size_t rows,
                                  std::size_t chains, std::size_t warmup, std::size_t draws,
                                  std::size_t thin = 1) {
  LawCase law_case{"small", "auto", {{Kind::real}, {Kind::category, 3}, {Kind::count}}, {}, 0.1};
  // Not every model takes columns of any kind with gaps.
  if (model_by_name(model).family == "gaussian")
    law_case = {"small", "gaussian", {{Kind::real}, {Kind::real}, {Kind::real}}};
  const Fixture fixture(law_case, 1, rows);
  RunContents contents;
  contents.config.model = model;
  contents.config.parameters = parameters;
  contents.config.chains = chains;
  contents.config.warmup = warmup;
  contents.config.draws = draws;
  contents.config.thin = thin;
  contents.config.seed = 7;
  contents.config.data = "simulated.csv";
  contents.config.truth = {"group"};
  contents.codebook = fixture.codebook;
  contents.input_codebook = fixture.codebook;
  contents.table = fixture.table;
  contents.truth.row_ids = fixture.table.row_ids;
  contents.truth.columns.push_back({"group", Kind::category, std::vector<double>(rows, 0.0), {"only"}});
  contents.transform = to_json(Transform());
  contents.data_digest = "0123456789abcdef";
  return contents;
}

inline std::unique_ptr<ProblemSetup> set_up(const RunFile& file) {
  const RunContents contents = file.contents();
  return set_up_problem(contents);
}

inline FitEnd resume(const std::string& path, const FitOptions& options) {
  RunFile file = RunFile::open(path, RunFile::Access::write);
  const std::unique_ptr<ProblemSetup> setup = set_up(file);
  const FitEnd end = continue_run(file, *setup, options);
  file.finish();
  return end;
}

/// The draws of one chain as bytes, so that equality is equality of bits.
struct ChainDraws {
  std::size_t count = 0;
  std::string traces;
  std::string labels;
  bool operator==(const ChainDraws&) const = default;

  bool is_prefix_of(const ChainDraws& other) const {
    return count <= other.count && other.traces.starts_with(traces) && other.labels.starts_with(labels);
  }
};

inline std::vector<ChainDraws> all_draws(const RunFile& file) {
  std::vector<ChainDraws> chains(file.config().chains);
  for (std::size_t chain = 0; chain < chains.size(); ++chain)
    file.for_each_block(chain, true, [&](const DrawBlock& block) {
      ChainDraws& draws = chains[chain];
      draws.count += block.count;
      draws.traces.append(reinterpret_cast<const char*>(block.traces.data()),
                          block.traces.size() * sizeof(double));
      draws.labels.append(reinterpret_cast<const char*>(block.labels.data()),
                          block.labels.size() * sizeof(Label));
    });
  return chains;
}

inline std::vector<ChainDraws> draws_at(const std::string& path) {
  return all_draws(RunFile::open(path, RunFile::Access::read));
}

/// Everything a run file holds, as text.
inline std::string everything(const std::string& path) {
  const RunFile file = RunFile::open(path, RunFile::Access::read);
  std::string text;
  for (const char* key : {"config", "codebook", "input_codebook", "transform", "data_digest", "table",
                          "truth", "coppice_version", "compiler", "created_at"})
    text += fmt::format("{}={};", key, file.meta(key));
  static_cast<void>(file.contents());
  const std::vector<ChainDraws> chains = all_draws(file);
  for (std::size_t chain = 0; chain < chains.size(); ++chain) {
    text += fmt::format("{}:{};", chains[chain].count, file.draws_of(chain));
    text += chains[chain].traces + chains[chain].labels;
    if (const auto checkpoint = file.checkpoint(chain))
      text += fmt::format("{}@{};", checkpoint->state, checkpoint->sweep);
    const ChainStatus status = file.status(chain);
    text += fmt::format("{},{};", status.sweeps, status.seconds);
    for (const MoveStatistics& move : status.moves)
      text += fmt::format("{},{},{};", move.name, move.proposed, move.accepted);
  }
  return text;
}

}  // namespace coppice::test
