#include "coppice/model/nrmm/move_numbers.hpp"

#include <algorithm>

#include "coppice/model/nrmm/options.hpp"

namespace coppice::nrmm {
namespace {

constexpr std::uint64_t kFirstMeasured = 26;
constexpr std::uint64_t kLastMeasured = 50;
constexpr std::uint64_t kMostMoves = 200;
// Neighbor moves can be left out: other moves also split and merge.
constexpr std::array<std::uint64_t, 3> kLeastMoves = {0, 1, 1};

}  // namespace

MoveNumbers::MoveNumbers(const Options& options)
    : first_numbers_{options.neighbor_moves, options.block_moves, options.guided_split_moves},
      shares_{options.neighbor_share, options.move_share / 3, options.move_share},
      is_free_{options.adapts_neighbor_moves, options.adapts_block_moves, options.adapts_guided_split_moves} {
  reset();
}

void MoveNumbers::reset() {
  state_ = {};
  state_.numbers = first_numbers_;
}

bool MoveNumbers::is_measured(std::uint64_t sweep) {
  return sweep >= kFirstMeasured && sweep <= kLastMeasured;
}

void MoveNumbers::end_sweep(std::uint64_t sweep) {
  if (sweep != kLastMeasured) return;
  const Work scan = state_.scans / (kLastMeasured - kFirstMeasured + 1);
  for (std::size_t kind = 0; kind < is_free_.size(); ++kind) {
    if (!is_free_[kind] || state_.made[kind] == 0) continue;
    const Work work = std::max<Work>(state_.work[kind], 1);
    state_.numbers[kind] = std::clamp<std::uint64_t>(shares_[kind] * scan * state_.made[kind] / (100 * work),
                                                     kLeastMoves[kind], kMostMoves);
  }
}

}  // namespace coppice::nrmm
