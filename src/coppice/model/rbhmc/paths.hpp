// Moves of single rows: path and component together, the component alone, and the published path step.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "coppice/cluster/split_merge.hpp"
#include "coppice/model/rbhmc/state.hpp"

namespace coppice::rbhmc {

/// The random streams of one scan. Discriminants have their own, so that without a penalty the other draws do
/// not depend on them.
struct PathStreams {
  PathStreams(const StreamName& name, std::uint64_t site)
      : choice(name, Purpose::path, site), discriminants(name, Purpose::new_discriminants, site) {}
  Stream choice;
  Stream discriminants;
};

class PathMoves {
 public:
  explicit PathMoves(const State& state);

  /// Path and component of every row in random order, by the kernel of the options.
  void scan(State& state, const StreamName& name, std::uint64_t site);
  /// Component of every row alone.
  void scan_components(State& state, const StreamName& name, std::uint64_t site);
  /// Rows one by one in random order into an empty tree, by the weights without penalty. With `by_prior` the
  /// data play no part.
  void allocate(State& state, const StreamName& name, bool by_prior);
  /// All rows into one path, or each into its own.
  void allocate_along(State& state, const StreamName& name, bool alone);
  /// The published path step: not exact.
  void scan_published(State& state, const StreamName& name, std::uint64_t site);

  /// From now on scans throw Error{stopped} soon after the flag is set, between two rows; may be null.
  void stop_at(const std::atomic<bool>* stop) { stop_ = stop; }

  const MoveCount& paths() const { return paths_; }
  const MoveCount& branches() const { return branches_; }
  void set_counts(const MoveCount& paths, const MoveCount& branches) {
    paths_ = paths;
    branches_ = branches;
  }

 private:
  void update(State& state, std::size_t row, PathStreams& streams);
  void update_by_gibbs(State& state, std::size_t row, PathStreams& streams);
  void prepare(const State& state);
  /// Weights of all positions of a detached row, prior times mixture; without `mixtures` the prior alone.
  void list_candidates(State& state, bool mixtures);
  std::size_t draw_candidate(Stream& stream) const;
  Label draw_component(const State& state, const Position& position, Stream& stream);
  double log_mixture(const State& state, NodeId node) const;
  /// Margins::cost_at of a position; `eta` is the discriminant of a branch.
  double cost_at(const State& state, std::size_t row, const Position& position, const double* eta,
                 std::size_t above);
  std::span<const std::uint32_t> shuffled(Stream& stream);

  const std::atomic<bool>* stop_ = nullptr;
  std::vector<std::uint32_t> order_;
  std::vector<double> mixture_;       // by node
  std::vector<double> prefix_;        // prior probability of reaching a node
  std::vector<Position> candidates_;  // the first count_ of them, with weights_ that sum to total_
  std::vector<double> weights_;
  std::size_t count_ = 0;
  double total_ = 0.0;
  double alpha_ = 0.0, gamma_ = 0.0;           // of the tables below
  std::vector<double> per_alpha_, per_gamma_;  // 1 / (n + concentration)
  std::vector<double> terms_;
  AlignedVector eta_;
  AlignedVector auxiliary_;          // discriminants of auxiliary branches, one after the other
  std::vector<std::size_t> eta_of_;  // where a candidate's is
  std::vector<double> hinges_;
  LevelScores scores_;
  Branch old_branch_, new_branch_;
  MoveCount paths_, branches_;
};

}  // namespace coppice::rbhmc
