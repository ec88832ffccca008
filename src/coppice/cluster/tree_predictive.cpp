#include "coppice/cluster/tree_predictive.hpp"

#include <algorithm>
#include <cmath>

#include "coppice/base/math.hpp"
#include "coppice/cluster/tree_posterior.hpp"

namespace coppice {
namespace {

/// Nodes that are a cluster with less than this log probability have none in double precision.
constexpr double kNever = -700.0;

}  // namespace

TreePredictive::TreePredictive(const Family& family, const Rows& rows, double alpha)
    : alpha_(alpha),
      log_all_(std::log(rows.copies() + alpha)),
      forest_(family, rows, alpha),
      empty_(family.stats_size()) {
  family.clear(empty_.data());
  for (std::size_t cell = 0; cell < rows.data_width(); ++cell)
    joins_cells_ |= family.of_cells(std::span(&cell, 1)) == nullptr;
}

void TreePredictive::set(const Dendrogram& tree) {
  forest_.rebuild(tree);
  forest_.plant();
  tree_ = tree;
  const TreePosterior posterior(tree_);
  component_of_.assign(tree_.nodes(), kNone);
  components_.clear();
  for (Dendrogram::Node node = 0; node < tree_.nodes(); ++node) {
    if (!(posterior.log_cluster(node) > kNever)) continue;
    component_of_[node] = components_.size();
    const double log_rows = std::log(static_cast<double>(tree_.size(node)));
    components_.push_back({node, posterior.log_cluster(node), log_rows, 0.0, {}});
    if (!forest_.rows().has_copies) continue;
    double copies = 0.0;
    tree_.for_each_item(node, [&](std::uint32_t row) { copies += forest_.rows().copies_of(row); });
    components_.back().log_more_seats = std::log(copies) - log_rows;
  }
  fill_cache();
}

/// Which flat clusters the rows of each component belong to: below the cut it is one, above it several.
void TreePredictive::set_clusters(std::span<const Label> labels) {
  sizes_ = cluster_sizes(labels);
  std::vector<double> counts(sizes_.size(), 0.0);
  for (Component& component : components_) {
    component.clusters.clear();
    const auto first = static_cast<std::size_t>(labels[tree_.first_item(component.node)]);
    if (tree_.size(component.node) <= sizes_[first] && is_inside(component.node, labels)) {
      component.clusters.emplace_back(first, component.log_rows);
      continue;
    }
    std::fill(counts.begin(), counts.end(), 0.0);
    tree_.for_each_item(component.node, [&](std::uint32_t row) {
      counts[static_cast<std::size_t>(labels[row])] += forest_.rows().copies_of(row);
    });
    for (std::size_t cluster = 0; cluster < counts.size(); ++cluster)
      if (counts[cluster] > 0.0)
        component.clusters.emplace_back(cluster, std::log(counts[cluster]) - component.log_more_seats);
  }
}

/// A node with a row of each of two clusters has one of either in its two children.
bool TreePredictive::is_inside(Dendrogram::Node node, std::span<const Label> labels) const {
  bool inside = true;
  tree_.for_each_item(node,
                      [&](std::uint32_t row) { inside &= labels[row] == labels[tree_.first_item(node)]; });
  return inside;
}

void TreePredictive::fill_cache() {
  const Family& family = forest_.family();
  stride_ = family.cache_size() * kLanes;
  chunks_ = (components_.size() + kLanes - 1) / kLanes;
  cache_.assign(chunks_ * stride_, 0.0);
  for (std::size_t slot = 0; slot < chunks_ * kLanes; ++slot)  // unused slots hold something finite
    family.fill_cache(stats(std::min(slot, components_.size() - 1)),
                      cache_.data() + slot / kLanes * stride_ + slot % kLanes);
}

void TreePredictive::components_of(std::size_t row, std::vector<std::pair<std::size_t, double>>& out) const {
  out.clear();
  double total = 0.0;
  for (Dendrogram::Node node = tree_.leaf_of(static_cast<std::uint32_t>(row)); node != Dendrogram::kNone;
       node = tree_.parent(node)) {
    if (component_of_[node] == kNone) continue;
    const double weight = std::exp(components_[component_of_[node]].log_probability);
    if (weight < kNegligiblePart) continue;
    out.emplace_back(component_of_[node], weight);
    total += weight;
  }
  for (auto& [component, weight] : out) weight /= total;
}

void TreePredictive::log_predictives(const double* row, AlignedVector& out) const {
  out.assign(chunks_ * kLanes, 0.0);
  // Batches of families that join cells know whole rows only.
  if (joins_cells_ && std::any_of(row, row + forest_.family().width(), is_missing)) {
    for (std::size_t k = 0; k < components_.size(); ++k)
      out[k] = forest_.family().log_predictive(stats(k), row);
    return;
  }
  forest_.family().add_log_predictive(row, cache_.data(), stride_, chunks_, {}, out.data());
}

void TreePredictive::log_joint(const double* row, std::span<double> out) const {
  AlignedVector log_predictive;
  log_predictives(row, log_predictive);
  for (std::size_t k = 0; k < components_.size(); ++k)
    out[k] = components_[k].log_rows + components_[k].log_probability + log_predictive[k] - log_all_;
  out[components_.size()] = std::log(alpha_) + forest_.family().log_predictive(empty_.data(), row) - log_all_;
}

void TreePredictive::log_shares(std::span<double> out) const {
  for (std::size_t k = 0; k < components_.size(); ++k)
    out[k] =
        components_[k].log_rows + components_[k].log_more_seats + components_[k].log_probability - log_all_;
  out[components_.size()] = std::log(alpha_) - log_all_;
}

double TreePredictive::log_density(const double* row) const {
  std::vector<double> terms(components_.size() + 1);
  log_joint(row, terms);
  return log_sum_exp(terms);
}

void TreePredictive::log_weights(const double* row, std::span<double> out) const {
  AlignedVector log_predictive;
  log_predictives(row, log_predictive);
  std::vector<std::vector<double>> terms(sizes_.size());
  for (std::size_t k = 0; k < components_.size(); ++k)
    for (const auto& [cluster, log_rows] : components_[k].clusters)
      terms[cluster].push_back(log_rows + components_[k].log_probability + log_predictive[k]);
  for (std::size_t cluster = 0; cluster < sizes_.size(); ++cluster)
    out[cluster] = log_sum_exp(terms[cluster]) - log_all_;
  out[sizes_.size()] = std::log(alpha_) + forest_.family().log_predictive(empty_.data(), row) - log_all_;
}

}  // namespace coppice
