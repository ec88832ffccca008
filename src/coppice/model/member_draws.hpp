// What predictors know whose components have parameters of their own: more rows like those of a component. A
// predictor that knows is a MemberDraws too.
#pragma once

#include <cstddef>
#include <vector>

#include "coppice/family/family.hpp"

namespace coppice {

class MemberDraws {
 public:
  virtual ~MemberDraws() = default;
  /// Draws the parameters of a component given its rows, then `count` rows from them, independent of each
  /// other, one after the other.
  virtual void draw_members(std::size_t component, std::size_t count, Stream& stream, double* rows) const = 0;
};

/// The same for the statistics of the component's rows.
inline void draw_members_of(const Family& family, const double* stats, std::size_t count, Stream& stream,
                            double* rows) {
  std::vector<double> theta(family.theta_size());
  family.draw_theta(stats, stream, theta.data());
  for (std::size_t i = 0; i < count; ++i) family.draw(theta.data(), stream, rows + i * family.width());
}

}  // namespace coppice
