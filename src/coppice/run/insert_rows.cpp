#include "coppice/run/insert_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "coppice/base/error.hpp"
#include "coppice/base/parallel.hpp"
#include "coppice/data/digest.hpp"
#include "coppice/data/table_blob.hpp"

namespace coppice {
namespace {

/// Rows a model that learns labels takes in at once, unless asked otherwise.
constexpr std::size_t kLabeledBatch = 1000;

/// The state of a chain after its last sweep: its last checkpoint, or its start, and the sweeps from there.
std::string last_state(const SavedRun& run, std::size_t chain) {
  const RunConfig& config = run.config();
  const std::unique_ptr<Inference> inference = run.model().make_inference(run.setup().problem);
  std::size_t sweep = 0;
  if (const auto checkpoint = run.file().checkpoint(chain)) {
    inference->load(checkpoint->state);
    sweep = checkpoint->sweep;
  } else {
    inference->init({config.seed, chain, 0});
  }
  while (sweep < config.total_sweeps()) inference->step({config.seed, chain, ++sweep});
  return inference->save();
}

/// Names for the new rows: the next numbers, or the user's, which must be new.
void name_rows(const RunContents& contents, Table& added) {
  const std::size_t before = contents.table.rows();
  if (contents.config.id.empty()) {
    for (std::size_t row = 0; row < added.rows(); ++row)
      added.row_ids[row] = fmt::format("{}", before + row + 1);
    return;
  }
  const std::unordered_set<std::string> known(contents.table.row_ids.begin(), contents.table.row_ids.end());
  for (const std::string& id : added.row_ids)
    if (known.contains(id))
      fail(ErrorCode::bad_data,
           "the run already has a row named '{}' in column '{}'; give new rows new names", id,
           contents.config.id);
}

/// The model keeps its parameters, but hyper-parameters follow the scale of all rows.
void leave_families_open(RunContents& contents) {
  if (contents.effective) contents.effective->blocks.clear();
}

/// Whether the cells fit a column of that kind.
void check_cells(const Column& column, Kind kind) {
  for (const double value : column.values) {
    const bool fits =
        is_missing(value) || kind == Kind::real ||
        (kind == Kind::binary ? value == 0.0 || value == 1.0 : value >= 0.0 && value == std::floor(value));
    if (!fits)
      fail(ErrorCode::bad_data, "column '{}' of the run holds {} values, and the new rows have {}",
           column.name, kind_name(kind), value);
  }
}

/// Appends the rows of `more` by the names of columns; `absent` is what a cell holds that one of both lacks.
template <typename Absent>
void append_by_name(Table& table, const Table& more, Absent&& absent) {
  const std::size_t before = table.rows();
  for (Column& column : table.columns) {
    const Column* found = more.find(column.name);
    if (found == nullptr) {
      column.values.resize(before + more.rows(), absent(column));
      continue;
    }
    check_cells(*found, column.kind);
    if (!found->levels.empty() && found->levels != column.levels)
      fail(ErrorCode::bad_data, "column '{}' has other values than in the run", column.name);
    column.values.insert(column.values.end(), found->values.begin(), found->values.end());
  }
  for (const Column& column : more.columns) {
    if (table.find(column.name) != nullptr) continue;
    Column grown{column.name, column.kind, std::vector<double>(before, absent(column)), column.levels};
    grown.values.insert(grown.values.end(), column.values.begin(), column.values.end());
    table.columns.push_back(std::move(grown));
  }
  table.row_ids.insert(table.row_ids.end(), more.row_ids.begin(), more.row_ids.end());
}

}  // namespace

RunContents contents_with_labels(const SavedRun& run, const Dataset& more, AbsentCells absent) {
  const bool absent_is_zero = absent == AbsentCells::zero;
  RunContents contents = run.contents();
  if (contents.config.standardize || contents.config.pca != 0)
    fail(ErrorCode::configuration,
         "--standardize and --pca fix the columns of a run; fit it again with all of the rows");
  leave_families_open(contents);
  Table added = more.table;
  name_rows(contents, added);
  append_by_name(contents.table, added, [&](const Column& column) {
    return absent_is_zero || column.kind == Kind::count ? 0.0 : kMissing;
  });
  for (std::size_t d = contents.codebook.columns.size(); d < contents.table.columns.size(); ++d) {
    const Column& column = contents.table.columns[d];
    contents.codebook.columns.push_back({column.name, column.kind, column.levels, "", {}});
  }
  contents.input_codebook = contents.codebook;
  Table labels = more.labels;
  labels.row_ids = added.row_ids;
  const std::size_t known = contents.labels.columns.size();
  append_by_name(contents.labels, labels, [](const Column&) { return kMissing; });
  const bool is_labeled = !labels.columns.empty();
  for (std::size_t c = 0; absent_is_zero && is_labeled && c < known; ++c)
    if (labels.find(contents.labels.columns[c].name) == nullptr)
      std::fill(contents.labels.columns[c].values.begin() + static_cast<std::ptrdiff_t>(run.rows()),
                contents.labels.columns[c].values.end(), 0.0);
  if (!contents.truth.columns.empty()) {
    for (Column& column : contents.truth.columns) column.values.resize(contents.table.rows(), kMissing);
    contents.truth.row_ids = contents.table.row_ids;
  }
  contents.data_digest = sha256_hex(contents.data_digest + more.digest);
  return contents;
}

std::string cannot_continue(const SavedRun& run, const RunContents& contents) {
  if (run.file().keeps_parameters()) return "the data-parallel sampler inserts no rows";
  if (!run.model().learns_labels()) return {};
  const auto room = [](Kind kind) { return kind == Kind::binary ? 0 : kind == Kind::count ? 1 : 2; };
  int most = 0;
  for (const Column& column : run.table().columns) most = std::max(most, room(column.kind));
  for (std::size_t j = run.table().columns.size(); j < contents.table.columns.size(); ++j) {
    const Column& column = contents.table.columns[j];
    if (room(column.kind) > most)
      return fmt::format("column '{}' holds {} values, and the columns of the run are all {}", column.name,
                         kind_name(column.kind), most == 0 ? "binary" : "binary or counts");
  }
  return {};
}

RunContents contents_with(const SavedRun& run, const Table& more, const Table& truth) {
  if (run.is_in_parts())
    fail(ErrorCode::configuration, "most rows of this run are not in its file: fit all rows again");
  RunContents contents = run.contents();
  if (contents.has_weights())
    fail(ErrorCode::configuration,
         "a run with row weights takes in no further rows; fit it again with all of the rows");
  leave_families_open(contents);
  Table added = more;
  name_rows(contents, added);
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
  if (!setup.model->supports_incremental_rows)
    fail(ErrorCode::configuration, "the model {} cannot add rows after a fit; fit it again with all of them",
         setup.model->name);
  if (run.config().merged)
    fail(ErrorCode::configuration, "{}: a merged run cannot be updated; update the runs it was made of",
         run.file().path());
  if (!run.complete())
    fail(ErrorCode::configuration, "{}: the run is not complete; finish it first with: coppice resume {}",
         run.file().path(), run.file().path());
  std::vector<Checkpoint> checkpoints(run.config().chains);
  const std::size_t old_rows = run.rows();
  const std::size_t new_rows = setup.rows.size() - old_rows;
  const std::size_t batch = options.batch != 0             ? options.batch
                            : setup.model->learns_labels() ? kLabeledBatch
                                                           : 1;
  std::atomic<bool> stopped{false};
  parallel_for(checkpoints.size(), options.threads, [&](std::size_t chain) {
    const std::unique_ptr<Inference> inference = setup.model->make_inference(setup.problem);
    if (checkpoints.size() == 1) inference->use_threads(options.threads);
    inference->load_first(last_state(run, chain), old_rows);
    for (std::size_t done = 0; done < new_rows;) {
      if (options.stop != nullptr && options.stop->load(std::memory_order_relaxed)) {
        stopped = true;
        return;
      }
      const std::size_t count = std::min(batch, new_rows - done);
      try {
        inference->insert(count, {run.config().seed, chain, 0});
      } catch (const Error& error) {
        if (error.code() != ErrorCode::stopped) throw;
        stopped = true;
        return;
      }
      done += count;
      if (options.on_rows) options.on_rows(chain, done);
    }
    checkpoints[chain] = {chain, 0, inference->save()};
  });
  if (options.stop != nullptr && options.stop->load(std::memory_order_relaxed)) stopped = true;
  if (stopped) checkpoints.clear();
  return checkpoints;
}

}  // namespace coppice
