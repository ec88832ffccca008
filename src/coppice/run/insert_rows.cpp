#include "coppice/run/insert_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "coppice/base/error.hpp"
#include "coppice/base/parallel.hpp"
#include "coppice/data/digest.hpp"
#include "coppice/data/table_blob.hpp"

namespace coppice {
namespace {

/// The state of a chain after its last sweep: its last checkpoint, or its start, and the sweeps from there.
std::string last_state(const SavedRun& run, std::size_t chain) {
  const RunConfig& config = run.config();
  const std::unique_ptr<Sampler> sampler = run.model().make_sampler(run.setup().problem);
  std::size_t sweep = 0;
  if (const auto checkpoint = run.file().checkpoint(chain)) {
    sampler->load(checkpoint->state);
    sweep = checkpoint->sweep;
  } else {
    sampler->init({config.seed, chain, 0});
  }
  while (sweep < config.total_sweeps()) sampler->step({config.seed, chain, ++sweep});
  return sampler->save();
}

}  // namespace

RunContents contents_with(const SavedRun& run, const Table& more, const Table& truth) {
  RunContents contents = run.contents();
  const std::size_t before = contents.table.rows();
  Table added = more;
  if (contents.config.id.empty()) {
    for (std::size_t row = 0; row < added.rows(); ++row)
      added.row_ids[row] = fmt::format("{}", before + row + 1);
  } else {
    const std::unordered_set<std::string> known(contents.table.row_ids.begin(), contents.table.row_ids.end());
    for (const std::string& id : added.row_ids)
      if (known.contains(id))
        fail(ErrorCode::bad_data,
             "the run already has a row named '{}' in column '{}'; give new rows new names", id,
             contents.config.id);
  }
  append_rows(contents.table, added);
  // Random numbers of its own: the states it begins with come from those of the old run.
  ++contents.config.seed;
  contents.data_digest = sha256_hex(contents.data_digest + serialize(more));
  if (contents.truth.columns.empty()) return contents;
  Table labels;
  labels.row_ids = added.row_ids;
  for (const Column& column : contents.truth.columns) {
    const Column* given = truth.find(column.name);
    Column values{column.name, column.kind, {}, column.levels};
    if (given != nullptr)
      values = *given;
    else
      values.values.assign(added.rows(), kMissing);
    labels.columns.push_back(std::move(values));
  }
  append_rows(contents.truth, labels);
  return contents;
}

std::vector<Checkpoint> insert_rows(const SavedRun& run, const ProblemSetup& setup,
                                    const InsertOptions& options) {
  if (!setup.model->grows)
    fail(ErrorCode::configuration,
         "the model {} cannot take in rows after a fit; fit it again with all of them", setup.model->name);
  if (run.config().merged)
    fail(ErrorCode::configuration, "{}: a merged run cannot take in rows; update the runs it was made of",
         run.file().path());
  if (!run.complete())
    fail(ErrorCode::configuration, "{}: the run is not complete; finish it first with: coppice resume {}",
         run.file().path(), run.file().path());
  std::vector<Checkpoint> checkpoints(run.config().chains);
  const std::size_t old_rows = run.rows();
  const std::size_t new_rows = setup.rows.size() - old_rows;
  std::atomic<bool> stopped{false};
  parallel_for(checkpoints.size(), options.threads, [&](std::size_t chain) {
    const std::unique_ptr<Sampler> sampler = setup.model->make_sampler(setup.problem);
    sampler->load_first(last_state(run, chain), old_rows);
    for (std::size_t done = 0; done < new_rows;) {
      if (options.stop != nullptr && options.stop->load(std::memory_order_relaxed)) {
        stopped = true;
        return;
      }
      const std::size_t count = std::min(options.batch, new_rows - done);
      sampler->insert(count, {run.config().seed, chain, 0});
      done += count;
      if (options.on_rows) options.on_rows(chain, done);
    }
    checkpoints[chain] = {chain, 0, sampler->save()};
  });
  if (options.stop != nullptr && options.stop->load(std::memory_order_relaxed)) stopped = true;
  if (stopped) checkpoints.clear();
  return checkpoints;
}

}  // namespace coppice
