// Bernoulli columns with Beta(a, b) priors: x ~ Bernoulli(p), p ~ Beta(a, b).
// log m = log B(a + s, b + n - s) - log B(a, b), s the number of ones among n present cells.
#pragma once

#include <cmath>

#include "coppice/base/math.hpp"
#include "coppice/family/independent.hpp"
#include "coppice/family/inputs.hpp"

namespace coppice {

class BernoulliCell {
 public:
  BernoulliCell(double a, double b) : a_(a), b_(b) {}

  std::size_t stats_size() const { return 2; }  // ones, zeros
  std::size_t theta_size() const { return 1; }
  std::size_t bank_size() const { return 4; }  // log p(0), log p(1); the same with that cell taken out first
  double origin() const { return 0.0; }

  void clear(double* stats) const { stats[0] = stats[1] = 0.0; }
  void add(double* stats, double x) const { stats[x != 0.0 ? 0 : 1] += 1.0; }
  bool remove(double* stats, double x) const {
    stats[x != 0.0 ? 0 : 1] -= 1.0;
    return true;
  }
  void merge(double* stats, const double* other) const {
    stats[0] += other[0];
    stats[1] += other[1];
  }
  double log_marginal(const double* stats) const {
    return log_beta(a_ + stats[0], b_ + stats[1]) - log_beta(a_, b_);
  }
  double log_predictive(const double* stats, double x) const {
    return std::log((x != 0.0 ? a_ + stats[0] : b_ + stats[1]) / (a_ + b_ + stats[0] + stats[1]));
  }
  void draw_theta(const double* stats, Stream& stream, double* theta) const {
    theta[0] = draw_beta(stream, a_ + stats[0], b_ + stats[1]);
  }
  double draw(const double* theta, Stream& stream) const { return draw_uniform(stream) < theta[0] ? 1.0 : 0.0; }
  double log_likelihood(const double* theta, double x) const {
    return x != 0.0 ? std::log(theta[0]) : std::log1p(-theta[0]);
  }

  void fill_bank(const double* stats, double* bank) const {
    const double ones = a_ + stats[0];
    const double zeros = b_ + stats[1];
    const double total = ones + zeros;
    // A cell can be taken out only if it is there; the other case is never read, but must stay finite.
    const double ones_without = stats[0] >= 1.0 ? ones - 1.0 : ones;
    const double zeros_without = stats[1] >= 1.0 ? zeros - 1.0 : zeros;
    const double total_without = total > 1.0 ? total - 1.0 : total;
    const Lanes logs = coppice::log(Lanes{zeros, ones, total, zeros_without, ones_without, total_without, 1.0, 1.0});
    bank[0] = logs[0] - logs[2];
    bank[kLanes] = logs[1] - logs[2];
    bank[2 * kLanes] = logs[3] - logs[5];
    bank[3 * kLanes] = logs[4] - logs[5];
  }
  Lanes lane_log_predictive(const double* bank, double x) const {
    return load_lanes(bank + (x != 0.0 ? kLanes : 0));
  }
  double own_log_predictive(const double* bank, double x) const { return bank[(x != 0.0 ? 3 : 2) * kLanes]; }

  CellPredictive predictive(const double* stats) const {
    const double p = (a_ + stats[0]) / (a_ + b_ + stats[0] + stats[1]);
    return {p, p * (1.0 - p), {1.0 - p, p}};
  }

 private:
  double a_, b_;
};

FamilyEntry bernoulli_entry();

}  // namespace coppice
