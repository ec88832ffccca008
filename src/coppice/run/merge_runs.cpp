#include "coppice/run/merge_runs.hpp"

#include <algorithm>
#include <iterator>
#include <list>
#include <vector>

#include "coppice/base/error.hpp"
#include "coppice/data/table_blob.hpp"

namespace coppice {
namespace {

/// Runs until trusted have each the length it took.
bool same_length(const RunConfig& a, const RunConfig& b) {
  return a.until == b.until && (a.is_until_trusted() || (a.warmup == b.warmup && a.thin == b.thin));
}

bool same_settings(const RunConfig& a, const RunConfig& b) {
  return a.parameters == b.parameters && a.family == b.family && a.family_settings == b.family_settings &&
         a.hyper == b.hyper && same_length(a, b) && a.standardize == b.standardize && a.pca == b.pca;
}

/// The same defaults, too: runs of two versions may have been asked for alike and made differently.
bool same_effect(const SavedRun& a, const SavedRun& b) {
  return effective_config(a.contents(), a.setup()) == effective_config(b.contents(), b.setup());
}

/// The same columns, cell by cell, understood in the same way.
bool same_table(const RunContents& a, const RunContents& b) {
  return to_toml(a.codebook) == to_toml(b.codebook) && serialize(a.table) == serialize(b.table) &&
         serialize(a.weights) == serialize(b.weights);
}

void require_mergeable(const SavedRun& a, const SavedRun& b) {
  require_same_question(a, b);
  if (a.model().runs_once())
    fail(ErrorCode::configuration, "runs of {} cannot be merged: a {} fit has no draws to pool",
         a.model().name, method_name(a.model().method));
  for (const SavedRun* run : {&a, &b})
    if (run->config().merged)
      fail(ErrorCode::configuration, "{} is a merged run already; merge the runs it was made of",
           run->file().path());
  if (!same_settings(a.config(), b.config()) || !same_table(a.contents(), b.contents()) || !same_effect(a, b))
    fail(ErrorCode::configuration,
         "{} and {} have different settings; only runs that differ in their seed can be merged",
         a.file().path(), b.file().path());
  if (a.config().seed == b.config().seed)
    fail(ErrorCode::configuration, "{} and {} have the same seed {}: their chains are copies of each other",
         a.file().path(), b.file().path(), a.config().seed);
}

void copy_chains(const SavedRun& from, std::size_t offset, std::size_t draws, std::vector<DrawBlock>& blocks,
                 std::vector<ChainStatus>& statuses) {
  for (std::size_t chain = 0; chain < from.config().chains; ++chain) {
    from.file().for_each_block(chain, true, [&](const DrawBlock& block) {
      if (block.first >= draws) return;
      DrawBlock copy = block;
      copy.chain = chain + offset;
      const std::size_t kept = std::min(block.count, draws - block.first);
      copy.traces.resize(block.traces.size() / block.count * kept);
      copy.labels.resize(block.labels.size() / block.count * kept);
      if (!copy.payload.empty()) copy.payload.resize(kept);
      copy.count = kept;
      blocks.push_back(std::move(copy));
    });
    statuses.push_back(from.file().status(chain));
  }
}

}  // namespace

void require_same_question(const SavedRun& a, const SavedRun& b) {
  // The same file, however it was transformed; or the same cells, as after an update that brought the last
  // rows.
  const bool same_file =
      a.contents().data_digest == b.contents().data_digest && a.table().row_ids == b.table().row_ids;
  if (!same_file && serialize(a.table()) != serialize(b.table()))
    fail(ErrorCode::configuration, "{} and {} were not fitted to the same rows", a.file().path(),
         b.file().path());
  if (a.model().name != b.model().name)
    fail(ErrorCode::configuration, "{} is a run of {}, {} of {}", a.file().path(), a.model().name,
         b.file().path(), b.model().name);
}

MergedRun merge_runs(std::span<const std::string> paths, const std::string& output) {
  if (paths.size() < 2) fail(ErrorCode::usage, "merging takes at least two runs");
  std::list<SavedRun> runs;
  for (const std::string& path : paths) {
    runs.emplace_back(path);
    for (auto earlier = runs.begin(); earlier != std::prev(runs.end()); ++earlier)
      require_mergeable(*earlier, runs.back());
  }
  RunContents contents = runs.front().contents();
  contents.config.chains = 0;
  contents.config.draws = runs.front().draws_per_chain();
  contents.config.merged = true;
  contents.config.fix_length();
  for (const SavedRun& run : runs)
    contents.config.draws = std::min(contents.config.draws, run.draws_per_chain());
  if (contents.config.draws == 0)
    fail(ErrorCode::stopped, "one of the runs has no draws yet; continue it with coppice resume");
  std::vector<DrawBlock> blocks;
  std::vector<ChainStatus> statuses;
  std::optional<double> elapsed = 0.0;
  for (const SavedRun& run : runs) {
    const std::optional<double> of_run = run.file().elapsed();
    elapsed = elapsed && of_run ? std::optional(*elapsed + *of_run) : std::nullopt;
    copy_chains(run, contents.config.chains, contents.config.draws, blocks, statuses);
    contents.config.chains += run.config().chains;
  }
  RunFile::create(output, contents, false, {.blocks = blocks, .statuses = statuses, .elapsed = elapsed})
      .finish();
  return {contents.config.chains, contents.config.draws};
}

}  // namespace coppice
