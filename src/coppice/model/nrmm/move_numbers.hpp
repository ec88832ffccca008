// How many moves of each kind a sweep makes. Where clusters are many and small, a move between two of them
// costs a fraction of a Gibbs scan, and dozens of them in a sweep can make it mix better; where
// there are three large ones, ten moves cost more than the scan and bring nothing. So neighbor moves, and the
// other kinds if asked to, get a share of the work of a scan. Numbers follow from the work of the first
// sweeps, which is counted (work.hpp) and not timed, and stay as they are from then on: they are part of the
// state, the same for any number of threads and after every interruption, and the sweeps that follow leave
// the posterior invariant.
#pragma once

#include <array>
#include <cstdint>

#include "coppice/cluster/work.hpp"

namespace coppice::nrmm {

struct Options;

enum class GroupMove { neighbor, block, guided };

class MoveNumbers {
 public:
  /// What a checkpoint keeps.
  struct State {
    std::array<std::uint64_t, 3> numbers{}, made{};
    std::array<Work, 3> work{};
    Work scans = 0;
  };

  explicit MoveNumbers(const Options& options);

  /// As for a chain that begins.
  void reset();
  /// Moves of this kind in a sweep.
  std::uint64_t in_sweep(GroupMove kind) const { return state_.numbers[place(kind)]; }

  /// Whether the sweep's work counts.
  static bool is_measured(std::uint64_t sweep);
  void add(GroupMove kind, std::uint64_t moves, Work work) {
    state_.made[place(kind)] += moves;
    state_.work[place(kind)] += work;
  }
  void add_scan(Work work) { state_.scans += work; }
  /// At the end of every sweep: after the last one that is measured, numbers follow from the work.
  void end_sweep(std::uint64_t sweep);

  const State& state() const { return state_; }
  void set_state(const State& state) { state_ = state; }

 private:
  static std::size_t place(GroupMove kind) { return static_cast<std::size_t>(kind); }

  std::array<std::uint64_t, 3> first_numbers_{};
  std::array<Work, 3> shares_{};   // of the work of a scan, in percent
  std::array<bool, 3> is_free_{};  // numbers that were not given
  State state_;
};

}  // namespace coppice::nrmm
