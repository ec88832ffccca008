// The posterior of a mixture over all Bell(n) partitions of a few rows, by brute force: the marginal of every
// subset of rows from fresh statistics, times the law of the partition. This is what samplers are judged by.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "coppice/base/math.hpp"
#include "coppice/family/family.hpp"
#include "coppice/family/rows.hpp"
#include "coppice/shape/partition.hpp"
#include "support/nrmm_law.hpp"
#include "support/sampling_error.hpp"

namespace coppice::test {

class ExactPosterior {
 public:
  ExactPosterior(const Family& family, const Rows& rows, const MixtureLaw& law)
      : ExactPosterior(family, rows, law, std::vector<std::size_t>(rows.size(), 1)) {}
  /// Given that copies of a row share a cluster: the first copies[0] of the rows are the copies of row 0, and
  /// so on.
  ExactPosterior(const Family& family, const Rows& rows, const MixtureLaw& law,
                 std::span<const std::size_t> copies)
      : rows_(copies.size()) {
    const std::vector<double> marginals = subset_marginals(family, rows);
    const PartitionLaw prior(law, rows.size());
    std::vector<double> log_weights;
    std::vector<std::vector<std::size_t>> sizes;
    for_each_partition(rows.size(), [&](std::span<const Label> labels, std::size_t clusters) {
      Labels of_rows;
      std::size_t next = 0;
      for (const std::size_t count : copies) {
        of_rows.push_back(labels[next]);
        for (std::size_t copy = 0; copy < count; ++copy)
          if (labels[next++] != of_rows.back()) return;
      }
      double total = prior.log_probability(cluster_sizes(labels));
      for (std::size_t cluster = 0; cluster < clusters; ++cluster) {
        std::size_t subset = 0;
        for (std::size_t row = 0; row < rows.size(); ++row)
          if (labels[row] == static_cast<Label>(cluster)) subset |= std::size_t{1} << row;
        total += marginals[subset];
      }
      index_.emplace(key(of_rows), partitions_.size());
      partitions_.push_back(std::move(of_rows));
      clusters_.push_back(clusters);
      sizes.push_back(cluster_sizes(labels));
      log_weights.push_back(total);
    });
    log_evidence_ = log_sum_exp(log_weights);
    for (std::size_t i = 0; i < log_weights.size(); ++i) {
      probability_.push_back(std::exp(log_weights[i] - log_evidence_));
      for (const auto& [name, value] : prior.moments(sizes[i])) moments_[name] += probability_[i] * value;
    }
  }

  std::size_t rows() const { return rows_; }
  std::size_t size() const { return partitions_.size(); }
  const Labels& partition(std::size_t i) const { return partitions_[i]; }
  std::size_t clusters(std::size_t i) const { return clusters_[i]; }
  double probability(std::size_t i) const { return probability_[i]; }
  const std::vector<double>& probabilities() const { return probability_; }
  std::size_t index(std::span<const Label> canonical) const { return index_.at(key(canonical)); }
  /// Posterior means of the prior's parameters, as PartitionLaw names them.
  const PartitionLaw::Moments& moments() const { return moments_; }
  double log_evidence() const { return log_evidence_; }

 private:
  static std::uint64_t key(std::span<const Label> labels) {
    std::uint64_t key = 0;
    for (const Label label : labels) key = key * 16 + static_cast<std::uint64_t>(label);
    return key;
  }
  static std::vector<double> subset_marginals(const Family& family, const Rows& rows) {
    std::vector<double> marginals(std::size_t{1} << rows.size(), 0.0);
    std::vector<double> stats(family.stats_size());
    for (std::size_t subset = 1; subset < marginals.size(); ++subset) {
      family.clear(stats.data());
      for (std::size_t row = 0; row < rows.size(); ++row)
        if ((subset >> row & 1) != 0) family.add(stats.data(), rows[row]);
      marginals[subset] = family.log_marginal(stats.data());
    }
    return marginals;
  }

  std::size_t rows_;
  std::vector<Labels> partitions_;
  std::vector<std::size_t> clusters_;
  std::vector<double> probability_;
  std::unordered_map<std::uint64_t, std::size_t> index_;
  PartitionLaw::Moments moments_;
  double log_evidence_ = 0.0;
};

/// How often a chain was seen in each state of an enumeration, batch by batch; any function of the state can
/// be averaged later.
class Visits {
 public:
  Visits(std::size_t states, std::size_t draws)
      : states_(states), length_(draws / kBatches), counts_(kBatches * states, 0) {}

  void add(std::size_t state) {
    ++counts_[seen_ / length_ * states_ + state];
    ++seen_;
  }

  template <typename Function>
  Estimate estimate(Function&& value) const {
    std::vector<double> means(kBatches, 0.0);
    for (std::size_t i = 0; i < states_; ++i) {
      const double f = value(i);
      if (f == 0.0) continue;
      for (std::size_t batch = 0; batch < kBatches; ++batch)
        means[batch] += f * counts_[batch * states_ + i] / static_cast<double>(length_);
    }
    return estimate_from_batches(means);
  }

  /// The frequency of an event of known probability. A rare event seen too seldom also scatters too little,
  /// so the batches tell the autocorrelation time and the truth the variance; independent draws have the
  /// least error there is.
  template <typename Event>
  void check(Agreement& agreement, const std::string& what, double truth, Event&& event) const {
    Estimate frequency = estimate([&](std::size_t i) { return event(i) ? 1.0 : 0.0; });
    const double draws = static_cast<double>(length_ * kBatches);
    const double variance = truth * (1.0 - truth);
    const double observed = frequency.mean * (1.0 - frequency.mean);
    if (observed > 0.0) frequency.error *= std::sqrt(std::max(1.0, variance / observed));
    frequency.error = std::max(frequency.error, std::sqrt(variance / draws));
    agreement.check(what, frequency, truth);
  }

 private:
  std::size_t states_;
  std::size_t length_;
  std::size_t seen_ = 0;
  std::vector<std::uint32_t> counts_;
};

/// Compares every partition of probability > 1e-3, all the others together, the law of K and the
/// co-clustering of every pair. Rarer events are left out: their counts are too small for errors to mean
/// anything.
inline Agreement compare(const ExactPosterior& exact, const Visits& visits) {
  constexpr double kRare = 1e-3;
  Agreement agreement;
  const auto check_event = [&](const std::string& what, const auto& event) {
    double truth = 0.0;
    for (std::size_t i = 0; i < exact.size(); ++i)
      if (event(i)) truth += exact.probability(i);
    if (truth > kRare) visits.check(agreement, what, truth, event);
  };
  for (std::size_t i = 0; i < exact.size(); ++i)
    check_event("partition " + partition_key(exact.partition(i)), [&](std::size_t j) { return j == i; });
  check_event("rare partitions", [&](std::size_t i) { return exact.probability(i) <= kRare; });
  for (std::size_t k = 1; k <= exact.rows(); ++k)
    check_event("K = " + std::to_string(k), [&](std::size_t i) { return exact.clusters(i) == k; });
  for (std::size_t a = 0; a < exact.rows(); ++a)
    for (std::size_t b = a + 1; b < exact.rows(); ++b)
      check_event("rows " + std::to_string(a) + " and " + std::to_string(b) + " together",
                  [&](std::size_t i) { return exact.partition(i)[a] == exact.partition(i)[b]; });
  return agreement;
}

}  // namespace coppice::test
