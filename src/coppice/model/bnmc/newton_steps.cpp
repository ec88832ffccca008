#include "coppice/model/bnmc/newton_steps.hpp"

#include <algorithm>

namespace coppice::bnmc {
namespace {

constexpr float kResidualLeft = 0.1f;
// The next step sees other curvatures: a lane that is slow here must not keep all others waiting.
constexpr std::size_t kMostRounds = 12;

FloatLanes lane_dots(const FloatLaneVector& a, const FloatLaneVector& b) {
  FloatLanes even{};
  FloatLanes odd{};
  std::size_t i = 0;
  for (; i + 2 <= a.size(); i += 2) {
    even += a[i] * b[i];
    odd += a[i + 1] * b[i + 1];
  }
  if (i < a.size()) even += a[i] * b[i];
  return even + odd;
}

void put_half(std::size_t half, Lanes from, float* to) {
  for (std::size_t lane = 0; lane < kLanes; ++lane) to[half * kLanes + lane] = static_cast<float>(from[lane]);
}

}  // namespace

NewtonSteps::NewtonSteps(const SparseDesign& design)
    : design_(design),
      curvature_(design.rows()),
      work_(design.rows()),
      precision_(design.inputs()),
      step_(design.inputs()),
      residual_(design.inputs()),
      solved_(design.inputs()),
      direction_(design.inputs()),
      image_(design.inputs()),
      preconditioner_(design) {
  for (std::size_t d = 0; d < precision_.size(); ++d) precision_.set(d, FloatLanes{} + 1.0f);
}

void NewtonSteps::set(std::size_t half, LanesInt wanted, const LaneVector& curvature,
                      const LaneVector& precision, const LaneVector& slope) {
  Lanes largest{};
  for (std::size_t d = 0; d < slope.size(); ++d) largest = larger(largest, absolute(slope[d]));
  wanted &= largest > 0.0;
  scale_[half] = wanted ? largest : broadcast(1.0);
  for (std::size_t lane = 0; lane < kLanes; ++lane)
    wanted_[half * kLanes + lane] = static_cast<std::int32_t>(wanted[lane]);
  for (std::size_t row = 0; row < curvature.size(); ++row) put_half(half, curvature[row], curvature_.at(row));
  for (std::size_t d = 0; d < slope.size(); ++d) {
    put_half(half, precision[d], precision_.at(d));
    put_half(half, slope[d] / scale_[half], residual_.at(d));
  }
  preconditioner_.set_block(half, curvature, precision);
}

void NewtonSteps::apply(const FloatLaneVector& from, FloatLaneVector& to) {
  design_.times(from, work_);
  for (std::size_t row = 0; row < work_.size(); ++row) work_.set(row, curvature_[row] * work_[row]);
  design_.transposed_times(work_, to);
  for (std::size_t d = 0; d < to.size(); ++d) to.set(d, to[d] + precision_[d] * from[d]);
}

void NewtonSteps::solve() {
  const FloatLanes zero{};
  design_.transposed_squares_times(curvature_, image_);
  for (std::size_t d = 0; d < step_.size(); ++d) {
    image_.set(d, image_[d] + precision_[d]);
    step_.set(d, zero);
  }
  preconditioner_.set_diagonal(image_);
  preconditioner_.solve(residual_, direction_);
  FloatLanes old = lane_dots(residual_, direction_);
  const FloatLanes enough = kResidualLeft * kResidualLeft * old;
  FloatLanesInt on = wanted_ & (old > 0.0f);
  for (std::size_t round = 0; round < kMostRounds && any(on); ++round) {
    apply(direction_, image_);
    const FloatLanes curve = lane_dots(direction_, image_);
    on &= curve > 0.0f;  // as it is but for rounding
    const FloatLanes length = on ? old / (on ? curve : zero + 1.0f) : zero;
    for (std::size_t d = 0; d < step_.size(); ++d) {
      // Lanes that are off must not even see what is not finite in theirs.
      step_.set(d, on ? step_[d] + length * direction_[d] : step_[d]);
      residual_.set(d, on ? residual_[d] - length * image_[d] : residual_[d]);
    }
    preconditioner_.solve(residual_, solved_);
    const FloatLanes next = lane_dots(residual_, solved_);
    const FloatLanes share = on ? next / (on ? old : zero + 1.0f) : zero;
    for (std::size_t d = 0; d < step_.size(); ++d) direction_.set(d, solved_[d] + share * direction_[d]);
    old = on ? next : old;
    on &= old > enough;
  }
  wanted_ = FloatLanesInt{};
}

void NewtonSteps::get(std::size_t half, LaneVector& step) const {
  for (std::size_t d = 0; d < step_.size(); ++d) {
    Lanes of_half{};
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      of_half[lane] = static_cast<double>(step_.at(d)[half * kLanes + lane]);
    step.set(d, scale_[half] * of_half);
  }
}

}  // namespace coppice::bnmc
