// Convergence diagnostics of scalar traces from several chains, as defined by Vehtari, Gelman, Simpson,
// Carpenter and Burkner (2021, Bayesian Analysis 16:667): rank-normalized split R-hat, bulk and tail
// effective sample size, and Monte Carlo standard errors. The numbers equal those of ArviZ 0.x:
// `rhat(method="rank")`, `ess`, `mcse`. Conventions: every diagnostic is NaN if a draw is NaN or infinite, if
// there are fewer than 4 draws, or if the whole trace is constant (R posterior returns NA there; ArviZ
// reports the number of draws as the effective size of a constant). R-hat is also NaN for a single chain, and
// infinite if each chain is stuck at its own constant. An odd chain loses its middle draw when it is split.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace coppice {

/// One trace: a vector of draws for each chain. All chains must have the same length; Error{usage} otherwise.
using Chains = std::span<const std::vector<double>>;

/// True if there are no draws or all draws of all chains are equal: the trace says nothing about convergence.
bool is_constant(Chains chains);

/// Mean of all draws.
double pooled_mean(Chains chains);
/// Standard deviation of all draws with the divisor n - 1.
double pooled_sd(Chains chains);
/// Quantile of all draws by linear interpolation of the order statistics (type 7: the default of NumPy and
/// R).
double pooled_quantile(Chains chains, double probability);

/// The larger of the rank-normalized split R-hat of the draws and of their distances from the median.
double rhat(Chains chains);

/// Effective number of draws for the location: that of the rank-normalized split chains.
double ess_bulk(Chains chains);
/// The smaller of the effective numbers of draws for the 5 % and the 95 % quantile.
double ess_tail(Chains chains);
/// Effective number of draws for the mean.
double ess_mean(Chains chains);
/// Effective number of draws for the standard deviation.
double ess_sd(Chains chains);
/// Effective number of draws for a quantile.
double ess_quantile(Chains chains, double probability);

/// Monte Carlo standard errors of the pooled mean, standard deviation and quantile, in units of the trace.
double mcse_mean(Chains chains);
/// Monte Carlo standard error of the standard deviation.
double mcse_sd(Chains chains);
/// Monte Carlo standard error of a quantile.
double mcse_quantile(Chains chains, double probability);

/// All diagnostics of one trace.
struct TraceSummary {
  std::string name;        // of the trace
  double mean = 0.0;       // of all draws
  double sd = 0.0;         // of all draws, with divisor n - 1
  double median = 0.0;     // of all draws
  double q05 = 0.0;        // 5 % quantile
  double q95 = 0.0;        // 95 % quantile
  double rhat = 0.0;       // rank-normalized split R-hat
  double ess_bulk = 0.0;   // effective sample size for the location
  double ess_tail = 0.0;   // effective sample size for the tails
  double mcse_mean = 0.0;  // Monte Carlo standard error of the mean
  bool constant = false;   // then rhat, ess_* and mcse_mean are NaN and a verdict must not rest on them
};

/// All diagnostics at once.
TraceSummary summarize_trace(std::string name, Chains chains);

}  // namespace coppice
