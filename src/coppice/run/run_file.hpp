// The run file: one SQLite database NAME.coppice with configuration, data, draws, traces and checkpoints.
// Draws are kept in blocks of consecutive sweeps; every commit is a whole transaction, so that after a crash
// at any moment the file opens and holds a prefix of what an uninterrupted run would have written. The format
// is described in docs/run-file.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coppice/data/codebook.hpp"
#include "coppice/data/table.hpp"
#include "coppice/model/model.hpp"
#include "coppice/run/config.hpp"
#include "coppice/run/convergence.hpp"
#include "coppice/run/database.hpp"
#include "coppice/run/draw_block.hpp"
#include "coppice/run/effective_config.hpp"
#include "coppice/run/given_names.hpp"
#include "coppice/run/schema.hpp"
#include "coppice/run/side_files.hpp"
#include "coppice/shape/partition.hpp"

namespace coppice {

/// What is written once, when a run begins.
struct RunContents {
  RunConfig config;
  Codebook codebook;
  Table table;  // as modeled: after standardization and PCA; of a table in parts a sample of the rows
  Table truth;
  Table labels = {};        // what is learned, for models that learn labels
  Table weights = {};       // a column with the weight of every row; no column: each counts once
  std::string transform;    // JSON of the Transform
  Codebook input_codebook;  // of the table before the transform: what new rows look like
  std::string data_digest;
  /// None: the run was made before such configurations were kept, or its problem has not been set up yet.
  std::optional<EffectiveConfig> effective = {};
  std::vector<GivenName> names = {};  // that users gave to clusters
  TablePart part = {};                // which rows of a table in parts are here
  std::string source = {};            // of a table in parts: what its rows are read from, as JSON

  bool has_weights() const { return !weights.columns.empty(); }
  /// One for each row; empty if rows have no weights.
  std::span<const double> copies() const {
    return has_weights() ? std::span<const double>(weights.columns.front().values)
                         : std::span<const double>();
  }
  /// Number of rows of the whole table.
  std::size_t rows() const { return part.all_rows != 0 ? part.all_rows : table.rows(); }
};

struct ChainStatus {
  std::size_t sweeps = 0;
  double seconds = 0.0;
  std::vector<MoveStatistics> moves;
};

/// What is committed together.
struct Commit {
  std::span<const DrawBlock> blocks = {};
  std::span<const Checkpoint> checkpoints = {};
  std::span<const ChainStatus> statuses = {};
  std::optional<double> elapsed = {};  // seconds by the clock on the wall that the run has taken so far
};

class RunFile {
 public:
  /// Creates a new run that begins with `start`. The file appears complete or not at all; an existing one is
  /// refused, or, with `replace`, takes its place only once the new one is complete, and only if it is a run
  /// itself.
  static RunFile create(const std::string& path, const RunContents& contents, bool replace = false,
                        const Commit& start = {});
  /// A run without a file, gone with this object; what does not fit into SQLite's cache is in a temporary
  /// file that has no name.
  static RunFile create_unnamed(const RunContents& contents);
  /// Throws what create would throw because of what is at the path now.
  static void check_creatable(const std::string& path, bool replace);
  enum class Access { read, write };
  static RunFile open(const std::string& path, Access access);
  /// Renames a complete run, which must not be open, to the name of another one, which it replaces.
  static void replace(const std::string& from, const std::string& to);
  ~RunFile();
  RunFile(RunFile&&) noexcept;

  /// What draws and states can hold, from the problem of the run; blocks that claim more are refused before
  /// memory is taken for them.
  void set_limits(const BlockLimits& limits) { limits_ = limits; }

  const std::string& path() const { return path_; }
  RunConfig config() const;
  RunContents contents() const;
  std::string meta(const std::string& key) const;
  bool has_meta(const std::string& key) const;
  /// Extends a run: only the number of draws can change, and the run has that length from then on.
  void set_draws(std::size_t draws);
  /// Replaces the names that users gave to clusters.
  void set_names(std::span<const GivenName> names);
  /// What was decided about a run until trusted. Draws that are no longer among those of the length are
  /// removed: its warm-up may only grow, its thinning only to a multiple. One transaction.
  void set_length(const RunLength& length, std::string_view end);
  /// Why a run until trusted has ended (see RunConfig::end).
  void set_end(std::string_view end);

  /// One transaction.
  void commit(std::span<const DrawBlock> blocks, std::span<const Checkpoint> checkpoints,
              std::span<const ChainStatus> statuses, std::optional<double> elapsed = {});

  std::optional<Checkpoint> checkpoint(std::size_t chain) const;
  ChainStatus status(std::size_t chain) const;
  /// Seconds by the clock on the wall, over all times it was resumed; nothing if the run does not say.
  std::optional<double> elapsed() const;
  std::size_t draws_of(std::size_t chain) const;
  /// Whether there are draws, and they are kept as parameters, without labels.
  bool keeps_parameters() const;
  /// Calls visit for each stored block of the chain in order, with or without labels.
  void for_each_block(std::size_t chain, bool labels,
                      const std::function<void(const DrawBlock&)>& visit) const;
  /// All trace values, [trace][chain][draw], of the draws that every chain has; `width` is the number of
  /// traces. Throws Error{bad_data} if the draws have another number of them.
  std::vector<TraceValues> traces(std::size_t width) const;

  /// Folds the write-ahead log back so that the run is one file again (or leaves it if the file is being
  /// read), and lets others draw for it.
  void finish();

 private:
  RunFile(std::string path, std::unique_ptr<Database> database, bool is_unnamed);
  /// From the first change on there is a write-ahead log; a command that is refused leaves the file as it is.
  void prepare_to_write();
  void keep_draws(std::size_t chain, const RunLength& before, const RunLength& after);
  std::string path_;
  bool is_unnamed_ = false;
  std::unique_ptr<RunLock> lock_;  // of a run that is opened for writing
  std::unique_ptr<Database> database_;
  BlockLimits limits_;
  bool has_payloads_ = true;
  bool has_log_ = false;
};

}  // namespace coppice
