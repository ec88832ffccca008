#include "coppice/model/bnmc/block.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "coppice/base/digamma.hpp"
#include "coppice/base/error.hpp"
#include "coppice/base/lanes.hpp"
#include "coppice/base/math.hpp"

namespace coppice::bnmc {
namespace {

/// Of the clusters there are: lanes that only pad say nothing.
double sum_of_first(Lanes values, std::size_t count) {
  double total = 0.0;
  for (std::size_t i = 0; i < std::min(count, kLanes); ++i) total += values[static_cast<int>(i)];
  return total;
}

Lanes at_least(Lanes x, double low) { return x < low ? broadcast(low) : x; }

/// The posterior of one column in eight clusters.
struct NormalPosterior {
  Lanes n, strength, mean, shape, rate;

  NormalPosterior(const BlockPrior& prior, Lanes count, Lanes sum, Lanes squares) {
    n = at_least(count, 0.0);
    const Lanes safe = at_least(n, 1e-300);
    const Lanes average = sum / safe;
    const Lanes scatter = at_least(squares - sum * average, 0.0);
    strength = prior.mean_strength + n;
    mean = (prior.mean_strength * prior.mean + sum) / strength;
    shape = prior.shape + 0.5 * n;
    const Lanes pull = average - prior.mean;
    rate = prior.rate + 0.5 * (scatter + prior.mean_strength * n / strength * pull * pull);
  }
};

template <std::size_t Width>
void add_scores_of(std::span<const std::uint32_t> slots, std::span<const double> values,
                   const double* weights, std::size_t stride, double* sum) {
  Lanes total[Width];
  for (std::size_t g = 0; g < Width; ++g) total[g] = load_lanes(sum + g * kLanes);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const double* row = weights + slots[i] * stride;
    for (std::size_t g = 0; g < Width; ++g) total[g] += values[i] * load_lanes(row + g * kLanes);
  }
  for (std::size_t g = 0; g < Width; ++g) store_lanes(sum + g * kLanes, total[g]);
}

}  // namespace

void add_scores(std::span<const std::uint32_t> slots, std::span<const double> values, const double* weights,
                std::size_t stride, double* sum) {
  std::size_t at = 0;
  for (; at + 4 * kLanes <= stride; at += 4 * kLanes)
    add_scores_of<4>(slots, values, weights + at, stride, sum + at);
  const std::size_t left = (stride - at) / kLanes;
  if (left == 3) add_scores_of<3>(slots, values, weights + at, stride, sum + at);
  if (left == 2) add_scores_of<2>(slots, values, weights + at, stride, sum + at);
  if (left == 1) add_scores_of<1>(slots, values, weights + at, stride, sum + at);
}

Block::Block(BlockPrior prior, std::size_t clusters)
    : prior_(std::move(prior)), clusters_(clusters), stride_((clusters + kLanes - 1) / kLanes * kLanes) {
  const std::size_t kinds = prior_.likelihood == Likelihood::multinomial ? 1
                            : prior_.likelihood == Likelihood::bernoulli ? 2
                                                                         : 3;
  slots_ = kinds * prior_.columns;
  prior_.origin.resize(prior_.columns, 0.0);
  prior_.scale.resize(prior_.columns, 1.0);
}

SparseRows Block::encode(const SparseRows& rows) const {
  const std::size_t columns = prior_.columns;
  SparseRows items;
  items.columns = slots_;
  const auto put = [&](std::size_t slot, double value) {
    if (value == 0.0) return;
    items.column.push_back(static_cast<std::uint32_t>(slot));
    items.value.push_back(prior_.weight * value);
  };
  std::vector<double> dense;
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    const auto which = rows.columns_of(row);
    const auto values = rows.values_of(row);
    if (prior_.likelihood == Likelihood::gaussian) {
      dense.assign(columns, 0.0);
      for (std::size_t i = 0; i < which.size(); ++i) dense[which[i]] = values[i];
      for (std::size_t d = 0; d < columns; ++d) {
        const double x = (dense[d] - prior_.origin[d]) / prior_.scale[d];
        put(d, is_missing(x) ? 0.0 : x);
      }
      for (std::size_t d = 0; d < columns; ++d) {
        const double x = (dense[d] - prior_.origin[d]) / prior_.scale[d];
        put(columns + d, is_missing(x) ? 0.0 : x * x);
      }
      for (std::size_t d = 0; d < columns; ++d) put(2 * columns + d, is_missing(dense[d]) ? 1.0 : 0.0);
    } else {
      const bool is_binary = prior_.likelihood == Likelihood::bernoulli;
      for (std::size_t i = 0; i < which.size(); ++i)
        if (!is_missing(values[i])) put(which[i], is_binary ? 1.0 : values[i]);
      for (std::size_t i = 0; is_binary && i < which.size(); ++i)
        if (is_missing(values[i])) put(columns + which[i], 1.0);
    }
    items.start.push_back(items.column.size());
  }
  return items;
}

double Block::log_jacobian(std::span<const std::uint32_t> slots, std::span<const double> values) const {
  if (prior_.likelihood != Likelihood::gaussian) return 0.0;
  double total = 0.0;
  for (const double scale : prior_.scale) total -= prior_.weight * std::log(scale);
  const std::size_t missing = 2 * prior_.columns;
  for (std::size_t i = 0; i < slots.size(); ++i)
    if (slots[i] >= missing) total += values[i] * std::log(prior_.scale[slots[i] - missing]);
  return total;
}

BlockStatistics Block::no_statistics() const {
  return {AlignedVector(slots_ * stride_, 0.0), AlignedVector(stride_, 0.0), 1.0};
}

/// visit(group of clusters, column, true statistics by kind of slot, count of present rows).
template <typename Visit>
void Block::for_each_cell(const AlignedVector& counts, const BlockStatistics& statistics,
                          Visit&& visit) const {
  const std::size_t columns = prior_.columns;
  const bool gaussian = prior_.likelihood == Likelihood::gaussian;
  for (std::size_t d = 0; d < columns; ++d)
    for (std::size_t g = 0; g < stride_; g += kLanes) {
      const double* at = statistics.table.data() + d * stride_ + g;
      const Lanes first = statistics.scale * load_lanes(at);
      const Lanes second = statistics.scale * load_lanes(at + columns * stride_);
      const Lanes third = gaussian ? statistics.scale * load_lanes(at + 2 * columns * stride_) : Lanes{};
      const Lanes present = prior_.weight * load_lanes(counts.data() + g) - (gaussian ? third : second);
      visit(g, d, first, second, at_least(present, 0.0));
    }
}

void Block::expectations(const AlignedVector& counts, const BlockStatistics& statistics,
                         std::span<const std::uint32_t> slots, double* weights, double* base) const {
  const std::size_t columns = prior_.columns;
  if (prior_.likelihood == Likelihood::multinomial) {
    const double mass = prior_.a * static_cast<double>(columns);
    for (std::size_t g = 0; g < stride_; g += kLanes) {
      const Lanes total = digamma(mass + load_lanes(statistics.totals.data() + g));
      for (std::size_t i = 0; i < slots.size(); ++i) {
        const Lanes sum = statistics.scale * load_lanes(statistics.table.data() + slots[i] * stride_ + g);
        store_lanes(weights + i * stride_ + g, digamma(prior_.a + sum) - total);
      }
    }
    return;
  }
  const auto add_base = [&](std::size_t g, Lanes value) {
    store_lanes(base + g, load_lanes(base + g) + prior_.weight * value);
  };
  if (prior_.likelihood == Likelihood::bernoulli) {
    for_each_cell(counts, statistics, [&](std::size_t g, std::size_t d, Lanes ones, Lanes, Lanes present) {
      const Lanes yes = digamma(prior_.a + ones);
      const Lanes no = digamma(prior_.b + at_least(present - ones, 0.0));
      const Lanes both = digamma(prior_.a + prior_.b + present);
      store_lanes(weights + d * stride_ + g, yes - no);
      store_lanes(weights + (columns + d) * stride_ + g, both - no);
      add_base(g, no - both);
    });
    return;
  }
  for_each_cell(counts, statistics, [&](std::size_t g, std::size_t d, Lanes sum, Lanes squares, Lanes n) {
    const NormalPosterior q(prior_, n, sum, squares);
    const Lanes precision = q.shape / q.rate;
    const Lanes constant = -0.5 * kLog2Pi + 0.5 * (digamma(q.shape) - log(q.rate)) - 0.5 / q.strength -
                           0.5 * precision * q.mean * q.mean;
    store_lanes(weights + d * stride_ + g, precision * q.mean);
    store_lanes(weights + (columns + d) * stride_ + g, -0.5 * precision);
    store_lanes(weights + (2 * columns + d) * stride_ + g, -constant);
    add_base(g, constant);
  });
}

double Block::divergence(const AlignedVector& counts, const BlockStatistics& statistics) const {
  double total = 0.0;
  const double a = prior_.a;
  const double b = prior_.b;
  if (prior_.likelihood == Likelihood::multinomial) {
    const auto columns = static_cast<double>(prior_.columns);
    const double of_prior = columns * coppice::log_gamma(a) - coppice::log_gamma(columns * a);
    for (std::size_t g = 0; g < stride_; g += kLanes) {
      const Lanes all = columns * a + load_lanes(statistics.totals.data() + g);
      const Lanes mean = digamma(all);
      Lanes sum = log_gamma(all) + of_prior;
      for (std::size_t d = 0; d < slots_; ++d) {
        const Lanes seen = statistics.scale * load_lanes(statistics.table.data() + d * stride_ + g);
        sum += seen * (digamma(a + seen) - mean) - log_gamma(a + seen);
      }
      if (g < clusters_) total += sum_of_first(sum, clusters_ - g);
    }
    return total;
  }
  if (prior_.likelihood == Likelihood::bernoulli) {
    const double of_prior = log_beta(a, b);
    for_each_cell(counts, statistics, [&](std::size_t g, std::size_t, Lanes ones, Lanes, Lanes present) {
      const Lanes zeros = at_least(present - ones, 0.0);
      const Lanes log_beta_q = log_gamma(a + ones) + log_gamma(b + zeros) - log_gamma(a + b + present);
      const Lanes sum = of_prior - log_beta_q + ones * digamma(a + ones) + zeros * digamma(b + zeros) -
                        present * digamma(a + b + present);
      if (g < clusters_) total += sum_of_first(sum, clusters_ - g);
    });
    return total;
  }
  const double k0 = prior_.mean_strength;
  const double a0 = prior_.shape;
  const double b0 = prior_.rate;
  const double of_prior = coppice::log_gamma(a0);
  for_each_cell(counts, statistics, [&](std::size_t g, std::size_t, Lanes sum, Lanes squares, Lanes n) {
    const NormalPosterior q(prior_, n, sum, squares);
    const Lanes shift = q.mean - prior_.mean;
    const Lanes value = (q.shape - a0) * digamma(q.shape) - log_gamma(q.shape) + of_prior +
                        a0 * (log(q.rate) - std::log(b0)) + q.shape * (b0 - q.rate) / q.rate +
                        0.5 * (log(q.strength) - std::log(k0) + k0 / q.strength - 1.0 +
                               k0 * shift * shift * q.shape / q.rate);
    if (g < clusters_) total += sum_of_first(value, clusters_ - g);
  });
  return total;
}

double Block::log_evidence(const AlignedVector& counts, const BlockStatistics& statistics) const {
  double total = 0.0;
  const double a = prior_.a;
  const double b = prior_.b;
  if (prior_.likelihood == Likelihood::multinomial) {
    const auto columns = static_cast<double>(prior_.columns);
    const double of_prior = columns * coppice::log_gamma(a) - coppice::log_gamma(columns * a);
    for (std::size_t g = 0; g < stride_; g += kLanes) {
      Lanes sum = -log_gamma(columns * a + load_lanes(statistics.totals.data() + g)) - of_prior;
      for (std::size_t d = 0; d < slots_; ++d)
        sum += log_gamma(a + statistics.scale * load_lanes(statistics.table.data() + d * stride_ + g));
      if (g < clusters_) total += sum_of_first(sum, clusters_ - g);
    }
    return total;
  }
  if (prior_.likelihood == Likelihood::bernoulli) {
    const double of_prior = log_beta(a, b);
    for_each_cell(counts, statistics, [&](std::size_t g, std::size_t, Lanes ones, Lanes, Lanes present) {
      const Lanes zeros = at_least(present - ones, 0.0);
      const Lanes value = log_gamma(a + ones) + log_gamma(b + zeros) - log_gamma(a + b + present) - of_prior;
      if (g < clusters_) total += sum_of_first(value, clusters_ - g);
    });
    return total;
  }
  const double of_prior = prior_.shape * std::log(prior_.rate) - coppice::log_gamma(prior_.shape) +
                          0.5 * std::log(prior_.mean_strength);
  for_each_cell(counts, statistics, [&](std::size_t g, std::size_t, Lanes sum, Lanes squares, Lanes n) {
    const NormalPosterior q(prior_, n, sum, squares);
    const Lanes value =
        log_gamma(q.shape) - q.shape * log(q.rate) - 0.5 * log(q.strength) + of_prior - 0.5 * kLog2Pi * q.n;
    if (g < clusters_) total += sum_of_first(value, clusters_ - g);
  });
  return total;
}

std::vector<double> Block::means(const AlignedVector& counts, const BlockStatistics& statistics,
                                 std::size_t cluster) const {
  std::vector<double> result(prior_.columns);
  const auto statistic = [&](std::size_t slot) {
    return statistics.scale * statistics.table[slot * stride_ + cluster];
  };
  for (std::size_t d = 0; d < prior_.columns; ++d) {
    if (prior_.likelihood == Likelihood::multinomial) {
      const double mass = prior_.a * static_cast<double>(prior_.columns);
      result[d] = (prior_.a + statistic(d)) / (mass + statistics.totals[cluster]);
    } else if (prior_.likelihood == Likelihood::bernoulli) {
      const double present = prior_.weight * counts[cluster] - statistic(prior_.columns + d);
      result[d] = (prior_.a + statistic(d)) / (prior_.a + prior_.b + std::max(present, 0.0));
    } else {
      const double n = std::max(0.0, prior_.weight * counts[cluster] - statistic(2 * prior_.columns + d));
      const double mean = (prior_.mean_strength * prior_.mean + statistic(d)) / (prior_.mean_strength + n);
      result[d] = prior_.origin[d] + prior_.scale[d] * mean;
    }
  }
  return result;
}

BlockPredictive::BlockPredictive(const Block& block, const AlignedVector& counts,
                                 const BlockStatistics& statistics)
    : likelihood_(block.prior().likelihood),
      columns_(block.prior().columns),
      stride_(block.stride()),
      weight_(block.prior().weight),
      table_(statistics.table),
      base_(stride_, 0.0) {
  const BlockPrior& prior = block.prior();
  for (double& value : table_) value *= statistics.scale;
  if (likelihood_ == Likelihood::multinomial) {
    for (double& value : table_) value += prior.a;
    for (std::size_t k = 0; k < stride_; ++k)
      base_[k] = prior.a * static_cast<double>(columns_) + statistics.totals[k];
    return;
  }
  if (likelihood_ == Likelihood::gaussian) base_.assign(columns_ * stride_, 0.0);
  for (std::size_t d = 0; d < columns_; ++d)
    for (std::size_t k = 0; k < stride_; ++k) {
      double& first = table_[d * stride_ + k];
      double& second = table_[(columns_ + d) * stride_ + k];
      if (likelihood_ == Likelihood::bernoulli) {
        const double present = std::max(0.0, weight_ * counts[k] - second);
        const double yes = prior.a + first;
        const double no = prior.b + std::max(0.0, present - first);
        const double log_no = std::log(no / (yes + no));
        first = std::log(yes / no);
        second = -log_no;
        base_[k] += weight_ * log_no;
        continue;
      }
      double& third = table_[(2 * columns_ + d) * stride_ + k];
      const NormalPosterior q(prior, broadcast(weight_ * counts[k] - third), broadcast(first),
                              broadcast(second));
      const double dof = 2.0 * q.shape[0];
      const double variance = q.rate[0] * (q.strength[0] + 1.0) / (q.shape[0] * q.strength[0]);
      first = q.mean[0];
      second = 1.0 / (dof * variance);
      third = -0.5 * (dof + 1.0);
      base_[d * stride_ + k] = coppice::log_gamma(0.5 * (dof + 1.0)) - coppice::log_gamma(0.5 * dof) -
                               0.5 * (kLogPi + std::log(dof * variance));
    }
}

void BlockPredictive::add(std::span<const std::uint32_t> slots, std::span<const double> values,
                          double* out) const {
  if (likelihood_ == Likelihood::bernoulli) {
    for (std::size_t k = 0; k < stride_; ++k) out[k] += base_[k];
    add_scores(slots, values, table_.data(), stride_, out);
    return;
  }
  if (likelihood_ == Likelihood::multinomial) {
    double length = 0.0;
    for (const double value : values) length += value;
    if (length == 0.0) return;
    for (std::size_t g = 0; g < stride_; g += kLanes) {
      const Lanes total = load_lanes(base_.data() + g);
      Lanes sum = load_lanes(out + g) + log_gamma(total) - log_gamma(total + length);
      for (std::size_t i = 0; i < slots.size(); ++i) {
        const Lanes mass = load_lanes(table_.data() + slots[i] * stride_ + g);
        sum += values[i] == 1.0 ? log(mass) : log_gamma(mass + values[i]) - log_gamma(mass);
      }
      store_lanes(out + g, sum);
    }
    return;
  }
  // Items come by kind of slot: the values, their squares, the missing cells. A value of zero has no item.
  std::vector<double> x(columns_, 0.0);
  std::vector<bool> present(columns_, true);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i] < columns_) x[slots[i]] = values[i] / weight_;
    if (slots[i] >= 2 * columns_) present[slots[i] - 2 * columns_] = false;
  }
  for (std::size_t d = 0; d < columns_; ++d) {
    if (!present[d]) continue;
    for (std::size_t g = 0; g < stride_; g += kLanes) {
      const double* at = table_.data() + d * stride_ + g;
      const Lanes shift = x[d] - load_lanes(at);
      const Lanes power = load_lanes(at + 2 * columns_ * stride_);
      const Lanes value = load_lanes(base_.data() + d * stride_ + g) +
                          power * log(1.0 + shift * shift * load_lanes(at + columns_ * stride_));
      store_lanes(out + g, load_lanes(out + g) + weight_ * value);
    }
  }
}

BlockExpectation::BlockExpectation(const Block& block, const AlignedVector& counts,
                                   const BlockStatistics& statistics)
    : weights_(block.slots() * block.stride()), base_(block.stride(), 0.0) {
  std::vector<std::uint32_t> slots(block.slots());
  std::iota(slots.begin(), slots.end(), 0u);
  block.expectations(counts, statistics, slots, weights_.data(), base_.data());
}

void BlockExpectation::add(std::span<const std::uint32_t> slots, std::span<const double> values,
                           double* out) const {
  for (std::size_t k = 0; k < base_.size(); ++k) out[k] += base_[k];
  add_scores(slots, values, weights_.data(), base_.size(), out);
}

}  // namespace coppice::bnmc
