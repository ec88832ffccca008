// The steps of Newton's method for the means of sixteen linear experts, in two halves of eight, by
// preconditioned conjugate gradients. A step is the less exact the earlier it comes, and its length is chosen
// in double precision afterwards: so single precision is enough here, and every nonzero is read once for
// sixteen products.
#pragma once

#include <array>

#include "coppice/model/bnmc/preconditioner.hpp"

namespace coppice::bnmc {

class NewtonSteps {
 public:
  /// The design outlives it.
  explicit NewtonSteps(const SparseDesign& design);

  /// The systems (X' diag(curvature) X + diag(precision)) step = slope of one half; lanes that are not wanted
  /// get a step of zero.
  void set(std::size_t half, LanesInt wanted, const LaneVector& curvature, const LaneVector& precision,
           const LaneVector& slope);
  /// Solves what was set since the last time, up to a tenth of the residual. No lane sees another.
  void solve();
  void get(std::size_t half, LaneVector& step) const;

 private:
  void apply(const FloatLaneVector& from, FloatLaneVector& to);

  const SparseDesign& design_;
  FloatLanesInt wanted_{};
  std::array<Lanes, 2> scale_{};  // of the slopes, which are about 1 here
  FloatLaneVector curvature_, work_;
  FloatLaneVector precision_, step_, residual_, solved_, direction_, image_;
  Preconditioner preconditioner_;
};

}  // namespace coppice::bnmc
