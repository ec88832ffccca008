#include "coppice/run/diagnostics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

#include "coppice/base/error.hpp"
#include "coppice/base/special_functions.hpp"
#include "coppice/run/autocovariance.hpp"

namespace coppice {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kMinDraws = 4;

using Block = ChainBlock;

Block pool(Chains chains) {
  Block block;
  block.chains = chains.size();
  block.draws = chains.empty() ? 0 : chains.front().size();
  block.values.reserve(block.chains * block.draws);
  for (const auto& chain : chains) {
    if (chain.size() != block.draws) {
      fail(ErrorCode::usage, "diagnostics: chains of {} and {} draws; all chains must have the same length",
           block.draws, chain.size());
    }
    block.values.insert(block.values.end(), chain.begin(), chain.end());
  }
  return block;
}

bool can_be_diagnosed(const Block& block) {
  return block.chains > 0 && block.draws >= kMinDraws && !all_equal(block.values) &&
         std::all_of(block.values.begin(), block.values.end(),
                     [](double value) { return std::isfinite(value); });
}

double variance_of(std::span<const double> values) {
  if (all_equal(values))
    return 0.0;  // exactly, so that stuck chains give an infinite R-hat and not a huge one
  const double mean = mean_of(values);
  double sum = 0.0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum / static_cast<double>(values.size() - 1);
}

double quantile_of_sorted(std::span<const double> sorted, double probability) {
  double position = probability * static_cast<double>(sorted.size() - 1);
  // A rank that is whole on paper must not fall short of its order statistic by a rounding error.
  if (std::abs(position - std::round(position)) < 1e-15 * (1.0 + position)) position = std::round(position);
  const auto below = std::min(static_cast<std::size_t>(position), sorted.size() - 1);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double fraction = position - static_cast<double>(below);
  if (fraction == 0.0 || sorted[below] == sorted[above]) return sorted[below];
  return (1.0 - fraction) * sorted[below] + fraction * sorted[above];
}

double quantile_of(std::vector<double> values, double probability) {
  std::sort(values.begin(), values.end());
  return quantile_of_sorted(values, probability);
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2.0;
}

Block split(const Block& block) {
  const std::size_t half = block.draws / 2;
  Block halves{2 * block.chains, half, {}};
  halves.values.reserve(halves.chains * half);
  for (std::size_t c = 0; c < block.chains; ++c) {
    const auto chain = block.chain(c);
    halves.values.insert(halves.values.end(), chain.begin(),
                         chain.begin() + static_cast<std::ptrdiff_t>(half));
    halves.values.insert(halves.values.end(), chain.end() - static_cast<std::ptrdiff_t>(half), chain.end());
  }
  return halves;
}

// Replaces each value by the normal quantile of its average rank, with Blom's offset 3/8.
Block rank_normalize(Block block) {
  const std::size_t n = block.values.size();
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return block.values[a] < block.values[b]; });
  std::vector<double> scores(n);
  for (std::size_t first = 0; first < n;) {
    std::size_t last = first;
    while (last + 1 < n && block.values[order[last + 1]] == block.values[order[first]]) ++last;
    const double rank = 0.5 * static_cast<double>(first + last) + 1.0;
    const double probability = (rank - 0.375) / (static_cast<double>(n) + 0.25);
    const double score = -std::numbers::sqrt2 * inverse_erfc(2.0 * probability);
    for (std::size_t i = first; i <= last; ++i) scores[order[i]] = score;
    first = last + 1;
  }
  block.values = std::move(scores);
  return block;
}

Block fold(Block block) {
  const double center = median_of(block.values);
  for (double& value : block.values) value = std::abs(value - center);
  return block;
}

double plain_rhat(const Block& block) {
  std::vector<double> means(block.chains);
  double within = 0.0;
  for (std::size_t c = 0; c < block.chains; ++c) {
    means[c] = mean_of(block.chain(c));
    within += variance_of(block.chain(c));
  }
  within /= static_cast<double>(block.chains);
  const auto draws = static_cast<double>(block.draws);
  const double between = draws * variance_of(means);
  return std::sqrt((between / within + draws - 1.0) / draws);
}

// Effective sample size by Geyer's initial monotone sequence over pairs of lags, for chains already split.
double effective_draws(const Block& block) {
  const auto total = static_cast<double>(block.values.size());
  const auto [low, high] = std::minmax_element(block.values.begin(), block.values.end());
  if (*high - *low < 1e-15) return total;  // an indicator that never changes limits nothing
  const auto n = static_cast<std::ptrdiff_t>(block.draws);
  const auto draws = static_cast<double>(n);
  std::vector<double> means(block.chains);
  for (std::size_t c = 0; c < block.chains; ++c) means[c] = mean_of(block.chain(c));

  MeanAutocovariance autocovariance(block);
  const double within = autocovariance(0) * draws / (draws - 1.0);
  double marginal = within * (draws - 1.0) / draws;
  if (block.chains > 1) marginal += variance_of(means);
  const auto correlation_at = [&](std::ptrdiff_t lag) {
    return 1.0 - (within - autocovariance(lag)) / marginal;
  };

  std::vector<double> correlation{1.0, correlation_at(1)};
  const auto set = [&](std::ptrdiff_t lag, double value) {
    const auto index = static_cast<std::size_t>(lag);
    if (index >= correlation.size()) correlation.resize(index + 1, 0.0);
    correlation[index] = value;
  };
  double even = correlation[0];
  double odd = correlation[1];
  std::ptrdiff_t lag = 1;
  while (lag < n - 3 && even + odd > 0.0) {  // stop at the first pair with a negative sum
    even = correlation_at(lag + 1);
    odd = correlation_at(lag + 2);
    if (even + odd >= 0.0) {
      set(lag + 1, even);
      set(lag + 2, odd);
    }
    lag += 2;
  }
  const std::ptrdiff_t last = lag - 2;
  if (even > 0.0) set(last + 1, even);  // for antithetic chains the last even lag still helps
  for (std::size_t t = 1; static_cast<std::ptrdiff_t>(t) <= last - 2;
       t += 2) {  // make pair sums non-increasing
    if (correlation[t + 1] + correlation[t + 2] > correlation[t - 1] + correlation[t]) {
      correlation[t + 1] = correlation[t + 2] = (correlation[t - 1] + correlation[t]) / 2.0;
    }
  }
  const auto used = static_cast<std::size_t>(last + 1);
  const auto end = correlation.begin() + static_cast<std::ptrdiff_t>(std::min(used, correlation.size()));
  double time = -1.0 + 2.0 * std::accumulate(correlation.begin(), end, 0.0);
  if (used < correlation.size()) time += correlation[used];
  time = std::max(time, 1.0 / std::log10(total));  // super-efficient chains are not believed beyond this
  return total / time;
}

double quantile_ess(const Block& block, double threshold) {
  Block indicator = block;
  for (double& value : indicator.values) value = value <= threshold ? 1.0 : 0.0;
  return effective_draws(split(indicator));
}

double mean_error(const Block& block) {
  return std::sqrt(variance_of(block.values) / effective_draws(split(block)));
}

double rank_rhat(const Block& halves, const Block& normalized_halves) {
  return std::max(plain_rhat(normalized_halves), plain_rhat(rank_normalize(fold(halves))));
}

Block squared_deviations(Block block) {
  const double mean = mean_of(block.values);
  for (double& value : block.values) value = (value - mean) * (value - mean);
  return block;
}

// Calls `compute` with the pooled block, or gives NaN where no diagnostic is defined.
template <typename Compute>
double diagnose(Chains chains, Compute compute) {
  const Block block = pool(chains);
  return can_be_diagnosed(block) ? compute(block) : kNaN;
}

void check_probability(double probability) {
  if (!(probability >= 0.0 && probability <= 1.0)) {
    fail(ErrorCode::usage, "diagnostics: {} is not a probability", probability);
  }
}

bool has_nan(const Block& block) {
  return std::any_of(block.values.begin(), block.values.end(),
                     [](double value) { return std::isnan(value); });
}

}  // namespace

bool is_constant(Chains chains) {
  const Block block = pool(chains);
  return block.values.empty() || all_equal(block.values);
}

double pooled_mean(Chains chains) {
  const Block block = pool(chains);
  return block.values.empty() ? kNaN : mean_of(block.values);
}

double pooled_sd(Chains chains) {
  const Block block = pool(chains);
  return block.values.size() < 2 ? kNaN : std::sqrt(variance_of(block.values));
}

double pooled_quantile(Chains chains, double probability) {
  check_probability(probability);
  const Block block = pool(chains);
  return block.values.empty() || has_nan(block) ? kNaN : quantile_of(block.values, probability);
}

double rhat(Chains chains) {
  if (chains.size() < 2) return kNaN;
  return diagnose(chains, [](const Block& block) {
    const Block halves = split(block);
    return rank_rhat(halves, rank_normalize(halves));
  });
}

double ess_bulk(Chains chains) {
  return diagnose(chains, [](const Block& block) { return effective_draws(rank_normalize(split(block))); });
}

double ess_tail(Chains chains) { return std::min(ess_quantile(chains, 0.05), ess_quantile(chains, 0.95)); }

double ess_mean(Chains chains) {
  return diagnose(chains, [](const Block& block) { return effective_draws(split(block)); });
}

double ess_sd(Chains chains) {
  return diagnose(chains,
                  [](const Block& block) { return effective_draws(split(squared_deviations(block))); });
}

double ess_quantile(Chains chains, double probability) {
  check_probability(probability);
  return diagnose(chains, [&](const Block& block) {
    return quantile_ess(block, quantile_of(block.values, probability));
  });
}

double mcse_mean(Chains chains) { return diagnose(chains, mean_error); }

double mcse_sd(Chains chains) {
  return diagnose(chains, [](const Block& block) {
    const Block squares = squared_deviations(block);
    const double variance = mean_of(squares.values);
    double fourth = 0.0;
    for (const double square : squares.values) fourth += square * square;
    fourth /= static_cast<double>(squares.values.size());
    const double variance_of_variance = (fourth - variance * variance) / effective_draws(split(squares));
    return std::sqrt(std::max(variance_of_variance, 0.0) / variance / 4.0);  // delta method
  });
}

double mcse_quantile(Chains chains, double probability) {
  check_probability(probability);
  return diagnose(chains, [&](const Block& block) {
    std::vector<double> sorted = block.values;
    std::sort(sorted.begin(), sorted.end());
    const double ess = quantile_ess(block, quantile_of_sorted(sorted, probability));
    const auto size = static_cast<double>(sorted.size());
    // Half the width of the one-sigma interval of the quantile's rank, whose distribution is a beta.
    const double a = ess * probability + 1.0;
    const double b = ess * (1.0 - probability) + 1.0;
    const double low = beta_quantile(a, b, 0.1586553) * size - 1.0;
    const double high = beta_quantile(a, b, 0.8413447) * size - 1.0;
    const double lower = sorted[static_cast<std::size_t>(std::floor(std::max(low, 0.0)))];
    const double upper = sorted[static_cast<std::size_t>(std::ceil(std::clamp(high, 0.0, size - 1.0)))];
    return (upper - lower) / 2.0;
  });
}

TraceSummary summarize_trace(std::string name, Chains chains) {
  TraceSummary summary;
  summary.name = std::move(name);
  const Block block = pool(chains);
  summary.constant = block.values.empty() || all_equal(block.values);
  summary.mean = block.values.empty() ? kNaN : mean_of(block.values);
  summary.sd = block.values.size() < 2 ? kNaN : std::sqrt(variance_of(block.values));
  summary.median = summary.q05 = summary.q95 = kNaN;
  if (!block.values.empty() && !has_nan(block)) {
    std::vector<double> sorted = block.values;
    std::sort(sorted.begin(), sorted.end());
    summary.median = quantile_of_sorted(sorted, 0.5);
    summary.q05 = quantile_of_sorted(sorted, 0.05);
    summary.q95 = quantile_of_sorted(sorted, 0.95);
  }
  summary.rhat = summary.ess_bulk = summary.ess_tail = summary.mcse_mean = kNaN;
  if (!can_be_diagnosed(block)) return summary;
  const Block halves = split(block);
  const Block normalized = rank_normalize(halves);
  if (block.chains > 1) summary.rhat = rank_rhat(halves, normalized);
  summary.ess_bulk = effective_draws(normalized);
  summary.ess_tail = std::min(quantile_ess(block, summary.q05), quantile_ess(block, summary.q95));
  summary.mcse_mean = mean_error(block);
  return summary;
}

}  // namespace coppice
