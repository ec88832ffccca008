#include "coppice/prior/two_level_crp.hpp"

#include <algorithm>
#include <cmath>

#include "coppice/base/math.hpp"
#include "coppice/prior/crp.hpp"

namespace coppice {
namespace {

TwoLevelCrp::Cluster total(std::span<const TwoLevelCrp::Cluster> clusters) {
  TwoLevelCrp::Cluster sum;
  for (const TwoLevelCrp::Cluster& cluster : clusters) {
    sum.subclusters += cluster.subclusters;
    sum.rows += cluster.rows;
  }
  return sum;
}

std::size_t count_used(std::span<const TwoLevelCrp::Cluster> clusters) {
  return static_cast<std::size_t>(std::count_if(
      clusters.begin(), clusters.end(), [](const TwoLevelCrp::Cluster& c) { return c.subclusters != 0; }));
}

}  // namespace

TwoLevelCrp::TwoLevelCrp(Nesting nesting, double alpha_clusters, double alpha_subclusters, std::size_t rows)
    : nesting_(nesting), log_(rows + 1) {
  for (std::size_t n = 1; n <= rows; ++n) log_[n] = std::log(static_cast<double>(n));
  set(alpha_clusters, alpha_subclusters);
}

void TwoLevelCrp::set(double alpha_clusters, double alpha_subclusters) {
  alpha_clusters_ = alpha_clusters;
  alpha_subclusters_ = alpha_subclusters;
  log_alpha_clusters_ = std::log(alpha_clusters);
  log_alpha_subclusters_ = std::log(alpha_subclusters);
}

double TwoLevelCrp::log_join(std::uint32_t size, const Cluster& cluster) const {
  if (nesting_ == Nesting::global) return log_[size];
  return log_[size] + log_[cluster.rows] - std::log(cluster.rows + alpha_subclusters_);
}

double TwoLevelCrp::log_open(const Cluster& cluster) const {
  if (nesting_ == Nesting::global)
    return log_alpha_subclusters_ +
           (cluster.subclusters == 0 ? log_alpha_clusters_ : log_[cluster.subclusters]);
  if (cluster.rows == 0) return log_alpha_clusters_;
  return log_alpha_subclusters_ + log_[cluster.rows] - std::log(cluster.rows + alpha_subclusters_);
}

double TwoLevelCrp::log_join(std::uint32_t size, const Cluster& cluster, std::uint32_t copies) const {
  if (copies == 1) return log_join(size, cluster);
  const double seats = log_gamma(static_cast<double>(size) + copies) - log_gamma(static_cast<double>(size));
  return seats + log_cluster({cluster.subclusters, cluster.rows + copies}) - log_cluster(cluster);
}

double TwoLevelCrp::log_open(const Cluster& cluster, std::uint32_t copies) const {
  if (copies == 1) return log_open(cluster);
  const double parent = cluster.subclusters == 0 ? log_alpha_clusters_ : 0.0;
  return log_alpha_subclusters_ + log_gamma(static_cast<double>(copies)) + parent +
         log_cluster({cluster.subclusters + 1, cluster.rows + copies}) - log_cluster(cluster);
}

double TwoLevelCrp::log_open_shift(std::size_t subclusters) const {
  return nesting_ == Nesting::global ? -std::log(static_cast<double>(subclusters) + alpha_clusters_) : 0.0;
}

double TwoLevelCrp::log_cluster(const Cluster& cluster) const {
  if (cluster.subclusters == 0) return 0.0;
  if (nesting_ == Nesting::global) return log_gamma(static_cast<double>(cluster.subclusters));
  const double rows = cluster.rows;
  return log_gamma(rows) + log_gamma(alpha_subclusters_) - log_gamma(alpha_subclusters_ + rows);
}

double TwoLevelCrp::log_split(std::uint32_t first, std::uint32_t second, const Cluster& cluster,
                              std::size_t subclusters) const {
  const double seating = log_alpha_subclusters_ + log_gamma(static_cast<double>(first)) +
                         log_gamma(static_cast<double>(second)) -
                         log_gamma(static_cast<double>(first) + static_cast<double>(second));
  return nesting_ == Nesting::global ? seating + log_[cluster.subclusters] + log_open_shift(subclusters)
                                     : seating;
}

double TwoLevelCrp::log_probability(std::span<const std::uint32_t> sizes,
                                    std::span<const Cluster> clusters) const {
  double sum = static_cast<double>(count_used(clusters)) * log_alpha_clusters_;
  for (const Cluster& cluster : clusters) sum += log_cluster(cluster);
  for (const std::uint32_t size : sizes)
    if (size != 0) sum += log_alpha_subclusters_ + log_gamma(static_cast<double>(size));
  const auto seats = [](double alpha, std::uint32_t items) {
    return log_gamma(alpha) - log_gamma(alpha + items);
  };
  const Cluster all = total(clusters);
  if (nesting_ == Nesting::nested) return sum + seats(alpha_clusters_, all.rows);
  return sum + seats(alpha_subclusters_, all.rows) + seats(alpha_clusters_, all.subclusters);
}

void TwoLevelCrp::draw(Stream& stream, std::span<Label> clusters, std::span<Label> subclusters) const {
  const std::size_t rows = clusters.size();
  const Crp outer(alpha_clusters_, rows);
  const Crp inner(alpha_subclusters_, rows);
  if (nesting_ == Nesting::global) {
    inner.draw_partition(stream, subclusters);
    Labels parents(static_cast<std::size_t>(*std::max_element(subclusters.begin(), subclusters.end())) + 1);
    outer.draw_partition(stream, parents);
    for (std::size_t row = 0; row < rows; ++row)
      clusters[row] = parents[static_cast<std::size_t>(subclusters[row])];
    return;
  }
  outer.draw_partition(stream, clusters);
  const Label count = *std::max_element(clusters.begin(), clusters.end()) + 1;
  Label first = 0;
  for (Label cluster = 0; cluster < count; ++cluster) {
    Labels parts(static_cast<std::size_t>(std::count(clusters.begin(), clusters.end(), cluster)));
    inner.draw_partition(stream, parts);
    auto next = parts.begin();
    for (std::size_t row = 0; row < rows; ++row)
      if (clusters[row] == cluster) subclusters[row] = first + *next++;
    first += *std::max_element(parts.begin(), parts.end()) + 1;
  }
}

void TwoLevelCrp::update_alpha_clusters(Stream& stream, const GammaPrior& prior,
                                        std::span<const Cluster> clusters) {
  const Cluster all = total(clusters);
  const std::size_t seated = nesting_ == Nesting::global ? all.subclusters : all.rows;
  set(update_concentration(stream, prior, alpha_clusters_, count_used(clusters), seated), alpha_subclusters_);
}

void TwoLevelCrp::update_alpha_subclusters(Stream& stream, const GammaPrior& prior,
                                           std::span<const Cluster> clusters) {
  const Cluster all = total(clusters);
  GammaPrior tilted = prior;
  std::size_t seated = all.rows;
  if (nesting_ == Nesting::nested) {
    // Every cluster is a restaurant of its own: all but the last one's auxiliary variables tilt the prior.
    seated = 0;
    for (const Cluster& cluster : clusters) {
      if (cluster.rows == 0) continue;
      if (seated != 0) tilted.rate -= draw_log_beta(stream, alpha_subclusters_, static_cast<double>(seated));
      seated = cluster.rows;
    }
  }
  set(alpha_clusters_, update_concentration(stream, tilted, alpha_subclusters_, all.subclusters, seated));
}

}  // namespace coppice
