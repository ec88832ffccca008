#include "coppice/model/nhcm/gibbs.hpp"

#include <numeric>

#include "coppice/base/math.hpp"
#include "coppice/base/stop.hpp"
#include "coppice/cluster/draw_weights.hpp"

namespace coppice::nhcm {

void Gibbs::update_row(State& state, std::size_t row, double uniform) {
  throw_if_stopped(stop_);
  const std::size_t count = state.options();
  if (weights_.size() < count) weights_.resize(2 * count);
  state.log_conditional(row, weights_.data());
  ++rows_.proposed;
  rows_.accepted +=
      state.place(row, static_cast<Label>(draw_from_log_weights(weights_.data(), count, uniform)));
}

void Gibbs::update_subcluster(State& state, Label sub, double uniform) {
  const std::size_t slots = state.counts().size();
  const std::size_t count = (slots + kLanes - 1) / kLanes * kLanes;
  if (weights_.size() < count) weights_.resize(2 * count);
  std::fill_n(weights_.begin(), count, kMinusInfinity);
  state.log_conditional_of_sub(sub, {weights_.data(), slots});
  ++subclusters_.proposed;
  const auto to = static_cast<Label>(draw_from_log_weights(weights_.data(), count, uniform));
  subclusters_.accepted += state.move_sub(sub, to);
}

void Gibbs::scan_rows(State& state, const StreamName& name, bool interleaved) {
  Stream stream(name, Purpose::gibbs);
  Stream of_subclusters(name, Purpose::blocks);
  for (std::size_t row = 0; row < state.rows(); ++row) {
    update_row(state, row, draw_uniform(stream));
    if (interleaved) update_subcluster(state, state.sub_of(row), draw_uniform(of_subclusters));
  }
}

void Gibbs::scan_subclusters(State& state, const StreamName& name) {
  Stream stream(name, Purpose::structure);
  state.subs_by_first_row(order_);
  for (const Label sub : order_) update_subcluster(state, sub, draw_uniform(stream));
}

void Gibbs::allocate(State& state, const StreamName& name) {
  std::vector<std::uint32_t> order(state.rows());
  std::iota(order.begin(), order.end(), 0U);
  Stream shuffling(name, Purpose::scan_order);
  shuffle(shuffling, order);
  const Labels nowhere(state.rows(), State::kNone);
  state.assign(nowhere, nowhere);
  Stream stream(name, Purpose::initialize);
  for (const std::uint32_t row : order) update_row(state, row, draw_uniform(stream));
}

}  // namespace coppice::nhcm
