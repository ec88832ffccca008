// Autocovariances of several chains of equal length: lag by lag for the first few, which is all that well
// mixed chains need, and by a Fourier transform of every chain once more lags are asked for.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace coppice {

// Chains of equal length, one after the other.
struct ChainBlock {
  std::size_t chains = 0;
  std::size_t draws = 0;
  std::vector<double> values;
  std::span<const double> chain(std::size_t c) const { return {values.data() + c * draws, draws}; }
};

bool all_equal(std::span<const double> values);
double mean_of(std::span<const double> values);

/// The autocovariance at a lag, averaged over the chains, with the divisor n at every lag.
class MeanAutocovariance {
 public:
  explicit MeanAutocovariance(ChainBlock block);
  double operator()(std::ptrdiff_t lag);

 private:
  void transform();

  ChainBlock block_;  // each chain minus its mean
  std::vector<double> transformed_;
};

}  // namespace coppice
