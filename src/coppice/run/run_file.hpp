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
#include "coppice/run/database.hpp"
#include "coppice/run/draw_block.hpp"
#include "coppice/run/effective_config.hpp"
#include "coppice/shape/partition.hpp"

namespace coppice {

/// Format 1 had no payload.
inline constexpr int kRunFormat = 2;

/// What is written once, when a run begins.
struct RunContents {
  RunConfig config;
  Codebook codebook;
  Table table;  // as modeled: after standardization and PCA
  Table truth;
  Table labels = {};        // what is learned, for models that learn labels
  std::string transform;    // JSON of the Transform
  Codebook input_codebook;  // of the table before the transform: what new rows look like
  std::string data_digest;
  /// None: the run was made before such configurations were kept, or its problem has not been set up yet.
  std::optional<EffectiveConfig> effective = {};
};

struct ChainStatus {
  std::size_t sweeps = 0;
  double seconds = 0.0;
  std::vector<MoveStatistics> moves;
};

class RunFile {
 public:
  /// Creates a new run. The file appears complete or not at all; an existing one is refused, or, with
  /// `replace`, takes its place only once the new one is complete, and only if it is a run itself.
  static RunFile create(const std::string& path, const RunContents& contents, bool replace = false);
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

  const std::string& path() const { return path_; }
  RunConfig config() const;
  RunContents contents() const;
  std::string meta(const std::string& key) const;
  bool has_meta(const std::string& key) const;
  /// Extends a run: only the number of draws can change.
  void set_draws(std::size_t draws);

  /// One transaction.
  void commit(std::span<const DrawBlock> blocks, std::span<const Checkpoint> checkpoints,
              std::span<const ChainStatus> statuses);

  std::optional<Checkpoint> checkpoint(std::size_t chain) const;
  ChainStatus status(std::size_t chain) const;
  std::size_t draws_of(std::size_t chain) const;
  /// Calls visit for each stored block of the chain in order, with or without labels.
  void for_each_block(std::size_t chain, bool labels,
                      const std::function<void(const DrawBlock&)>& visit) const;

  /// Folds the write-ahead log back so that the run is one file again; leaves it if the file is being read.
  void finish();

 private:
  RunFile(std::string path, std::unique_ptr<Database> database);
  std::string path_;
  std::unique_ptr<Database> database_;
  bool has_payloads_ = true;
};

}  // namespace coppice
