// The settings of the mixture, read once from its parameters: which moves make up a sweep, and where a chain
// begins. The named samplers are schedules of the same moves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "coppice/base/parameter.hpp"
#include "coppice/cluster/split_merge.hpp"
#include "coppice/model/model.hpp"
#include "coppice/model/nrmm/data_parallel.hpp"

namespace coppice::nrmm {

/// How many times as many moves of whole groups the first sweeps make: a start by sequential allocation or
/// from a guide tree is good, but often has joined what belongs apart. The number depends on the sweep alone,
/// never on the state, so every sweep leaves the posterior invariant.
inline std::size_t early_factor(std::uint64_t sweep) {
  constexpr std::uint64_t kEarlySweeps = 50;
  constexpr std::size_t kEarlyFactor = 5;
  return sweep <= kEarlySweeps ? kEarlyFactor : 1;
}

enum class Start { sequential, guide, single };
enum class GuideKind { ibhc_bisect, bisect, ibhc };

struct Options {
  Options(const ParameterValues& parameters, std::size_t rows);

  /// Moves between two clusters, rows drawn uniformly.
  std::size_t split_merge_moves = 0;
  SplitMergeOptions split_merge;
  /// Moves between a cluster and a neighbor.
  std::size_t neighbor_moves = 0;
  std::size_t neighbor_scans = 0;
  /// Moves led by the guide tree.
  std::size_t block_moves = 0;
  std::size_t guided_split_moves = 0;
  std::size_t guided_split_scans = 0;
  std::size_t multiway_moves = 0;
  /// In percent of a scan's work, or 0: of all these moves, and of those between neighbors; and which numbers
  /// follow from it after the first sweeps (move_numbers.hpp).
  std::size_t move_share = 0;
  std::size_t neighbor_share = 0;
  bool adapts_neighbor_moves = false;
  bool adapts_block_moves = false;
  bool adapts_guided_split_moves = false;
  /// Rows updated in a sweep without a full scan, and how many sweeps there are to a full scan (0: none).
  std::size_t row_updates = 0;
  std::size_t scan_every = 1;
  /// The published, inexact tree-guided sampler instead of all of these.
  bool published = false;
  std::size_t published_moves = 0;
  std::size_t published_depth = 0;

  /// The data-parallel sampler instead of all of these.
  bool is_data_parallel = false;
  DataParallelOptions data_parallel;

  GuideKind guide = GuideKind::ibhc_bisect;
  Start start = Start::sequential;

  bool is_guided() const { return block_moves + guided_split_moves + multiway_moves > 0; }
  bool needs_guide() const { return is_guided() || start == Start::guide; }
  /// Whether a sweep can reach every partition from every other.
  bool is_irreducible() const {
    if (is_data_parallel) return data_parallel.pairs != 0;
    // Neighbor moves whose number follows from their work may come to none.
    return published || scan_every != 0 ||
           row_updates + split_merge_moves + (adapts_neighbor_moves ? 0 : neighbor_moves) + block_moves +
                   guided_split_moves >
               0;
  }
  bool scans_at(std::uint64_t sweep) const { return scan_every != 0 && sweep % scan_every == 0; }
};

std::vector<Parameter> parameter_table();
/// Throws Error{configuration} if settings that were given exclude each other.
void check_given(const Settings& given);
/// The sentence that goes with every answer of the published sampler, which has no target.
std::string inexactness_note(const ParameterValues& parameters);
/// See ModelEntry::refuses_weights.
std::string refuses_weights(const ParameterValues& parameters);
/// Says what --sampler auto makes of the data; chooses data-parallel if there are many rows.
Resolution explain_sampler(const Problem& problem, const Settings& given, std::uint64_t seed,
                           std::size_t threads);

}  // namespace coppice::nrmm
