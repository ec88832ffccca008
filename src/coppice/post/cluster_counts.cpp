#include "coppice/post/cluster_counts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "coppice/model/prior_counts.hpp"
#include "coppice/prior/cluster_count.hpp"

namespace coppice {
namespace {

/// Rows in all draws from the prior, at most; few rows need no more than these draws.
constexpr std::size_t kPriorRows = 2'000'000;
constexpr std::size_t kLeastPriorDraws = 100;
constexpr std::size_t kMostPriorDraws = 1000;
/// Rows times clusters in them, at most: what a draw costs where every row looks at every cluster.
constexpr double kMostPriorWork = 3e8;
/// Clusters in all draws, where their number is drawn alone.
constexpr std::size_t kMostCountedClusters = 1'000'000;

void count(std::vector<double>& counts, std::size_t clusters) {
  if (counts.size() < clusters) counts.resize(clusters, 0.0);
  counts[clusters - 1] += 1.0;
}

void count_levels(std::span<const Label> labels, std::size_t rows, std::vector<std::vector<double>>& counts) {
  for (std::size_t level = 1; level <= counts.size(); ++level) {
    const auto part = level_of(labels, rows, level);
    count(counts[level - 1], static_cast<std::size_t>(*std::max_element(part.begin(), part.end())) + 1);
  }
}

/// From the traces, which are read already, where there is one for every level.
std::vector<std::vector<double>> drawn_counts(const Analysis& analysis) {
  const SavedRun& run = analysis.run();
  std::vector<std::vector<double>> counts(run.levels());
  if (analysis.is_greedy()) {
    constexpr std::size_t kMostLabels = 20'000'000;
    const LabelMatrix drawn = analysis.partitions(1, kMostLabels);
    for (std::size_t draw = 0; draw < drawn.draws(); ++draw) count_levels(drawn[draw], run.rows(), counts);
    return counts;
  }
  for (std::size_t level = 1; level <= run.levels(); ++level) {
    const TraceSummary* trace = analysis.clusters_trace(level);
    if (trace == nullptr) {
      counts.assign(run.levels(), {});
      run.for_each_draw(0, [&](const SavedDraw& draw) { count_levels(draw.labels, run.rows(), counts); });
      return counts;
    }
    for (const std::vector<double>& chain :
         run.traces()[static_cast<std::size_t>(trace - analysis.traces().data())])
      for (const double clusters : chain)
        count(counts[level - 1], static_cast<std::size_t>(std::lround(clusters)));
  }
  return counts;
}

/// Of one Chinese restaurant process, the concentration integrated out.
CountLaw exact_law(const Concentration& concentration, std::size_t rows) {
  constexpr double kReach = 8.0;  // standard deviations: what is beyond goes to the last entry
  const ClusterCountMoments moments = concentration.is_learned()
                                          ? cluster_count_moments(concentration.prior(), rows)
                                          : cluster_count_moments(concentration.start(), rows);
  const auto most = static_cast<std::size_t>(moments.mean + kReach * std::sqrt(moments.variance)) + 10;
  CountLaw law = law_of_counts(cluster_count_distribution(concentration, rows, most));
  law.mean = moments.mean;
  law.sd = std::sqrt(std::max(0.0, moments.variance));
  return law;
}

}  // namespace

CountLaw law_of_counts(std::vector<double> weights) {
  CountLaw law;
  double total = 0.0;
  for (const double weight : weights) total += weight;
  law.total = total;
  double second = 0.0;
  law.mean = 0.0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] /= total;
    const auto clusters = static_cast<double>(i + 1);
    law.mean += weights[i] * clusters;
    second += weights[i] * clusters * clusters;
  }
  law.sd = std::sqrt(std::max(0.0, second - law.mean * law.mean));
  double sum = 0.0;
  bool has_low = false;
  law.high = weights.size();
  for (std::size_t i = 0; i < weights.size(); ++i) {
    sum += weights[i];
    if (!has_low && sum >= 0.05) {
      law.low = i + 1;
      has_low = true;
    }
    if (sum >= 0.95) {
      law.high = i + 1;
      break;
    }
  }
  law.shares = std::move(weights);
  return law;
}

ClusterCounts compare_counts(CountLaw prior, CountLaw posterior) {
  ClusterCounts counts;
  double distance = 0.0;
  for (std::size_t i = 0; i < std::max(prior.shares.size(), posterior.shares.size()); ++i)
    distance += std::abs((i < prior.shares.size() ? prior.shares[i] : 0.0) -
                         (i < posterior.shares.size() ? posterior.shares[i] : 0.0));
  counts.total_variation = 0.5 * distance;
  counts.prior_dominates = prior.sd > 0.0 &&
                           std::abs(posterior.mean - prior.mean) <= kDominantShift * prior.sd &&
                           posterior.sd >= kDominantSpread * prior.sd;
  counts.prior = std::move(prior);
  counts.posterior = std::move(posterior);
  return counts;
}

std::string ClusterCounts::warning() const {
  if (!prior_dominates) return {};
  return fmt::format(
      "The prior decides how many clusters there are: the data have hardly changed it (mean {:.1f} to "
      "{:.1f}, sd {:.1f} "
      "to {:.1f}).",
      prior.mean, posterior.mean, prior.sd, posterior.sd);
}

std::vector<std::vector<double>> prior_cluster_counts(const SavedRun& run) {
  std::vector<std::vector<double>> counts(run.levels());
  const std::unique_ptr<Inference> sampler = run.model().make_inference(run.setup().problem);
  // A chain of its own: the prior's draws are not those of the fit.
  const auto name_of = [&](std::size_t draw) {
    return StreamName{run.config().seed, run.config().chains, draw};
  };
  if (const auto* counter = dynamic_cast<const PriorCounts*>(sampler.get()); counter != nullptr) {
    std::size_t clusters = 0;
    for (std::size_t draw = 0;
         draw < kLeastPriorDraws || (draw < kMostPriorDraws && clusters < kMostCountedClusters); ++draw) {
      Stream stream(name_of(draw), Purpose::prior_shape);
      const std::size_t drawn = counter->draw_prior_count(stream);
      count(counts[0], drawn);
      clusters += drawn;
    }
    return counts;
  }
  Labels labels(run.levels() * run.rows());
  const std::size_t draws = std::clamp(kPriorRows / run.rows(), kLeastPriorDraws, kMostPriorDraws);
  double work = 0.0;
  for (std::size_t draw = 0; draw < draws && work < kMostPriorWork; ++draw) {
    sampler->draw_prior(name_of(draw));
    sampler->labels(labels);
    count_levels(labels, run.rows(), counts);
    work += static_cast<double>(run.rows()) * (1.0 + *std::max_element(labels.begin(), labels.end()));
  }
  return counts;
}

std::vector<ClusterCounts> cluster_counts(const Analysis& analysis) {
  const SavedRun& run = analysis.run();
  if (analysis.is_classifier()) return {};
  std::vector<std::vector<double>> posterior = drawn_counts(analysis);
  const std::optional<Concentration> seating = run.model().row_seating(run.setup().problem.parameters);
  if (run.contents().has_weights()) {
    // The prior's number of clusters is that of copies which happen to stay together: it has no simple law.
    std::vector<ClusterCounts> levels(run.levels());
    for (std::size_t level = 1; level <= run.levels(); ++level) {
      levels[level - 1].level = level;
      levels[level - 1].posterior = law_of_counts(std::move(posterior[level - 1]));
    }
    return levels;
  }
  std::vector<std::vector<double>> prior;
  if (!seating || run.levels() > 1) prior = prior_cluster_counts(run);
  std::vector<ClusterCounts> levels;
  for (std::size_t level = 1; level <= run.levels(); ++level) {
    const bool is_exact = level == 1 && seating.has_value();
    levels.push_back(compare_counts(
        is_exact ? exact_law(*seating, run.rows()) : law_of_counts(std::move(prior[level - 1])),
        law_of_counts(std::move(posterior[level - 1]))));
    levels.back().level = level;
    levels.back().prior_is_exact = is_exact;
    const bool is_known = is_exact || levels.back().prior.total >= static_cast<double>(kLeastPriorDraws);
    if (analysis.is_greedy() || !is_known) levels.back().prior_dominates = false;
  }
  return levels;
}

}  // namespace coppice
