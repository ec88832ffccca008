#include "coppice/model/bhc/predictor.hpp"

#include <algorithm>
#include <cmath>

#include "coppice/base/aligned.hpp"
#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"
#include "coppice/model/bhc/fit.hpp"
#include "coppice/model/bhc/forest.hpp"
#include "coppice/model/bhc/options.hpp"

namespace coppice::bhc {
namespace {

/// Nodes that are a cluster with less than this log probability have none in double precision.
constexpr double kNever = -700.0;
/// Parts of a cell's mixture below this weight are left out.
constexpr double kNegligible = 1e-12;

class TreePredictor final : public Predictor {
 public:
  explicit TreePredictor(const Problem& problem)
      : problem_(&problem),
        options_(problem.parameters, problem.rows->size()),
        forest_(*problem.family, *problem.rows, options_.alpha),
        empty_(problem.family->stats_size()) {
    problem.family->clear(empty_.data());
  }

  void set_draw(std::span<const Label> labels, std::span<const double>, std::string_view details) override {
    forest_.rebuild(row_tree(*problem_, details));
    forest_.plant();
    const Dendrogram& tree = forest_.dendrogram();
    const TreePosterior posterior(tree);
    if (const Labels cut = options_.clusters_of(posterior);
        !std::equal(labels.begin(), labels.end(), cut.begin()))
      fail(ErrorCode::bad_data, "the run file is damaged: the clusters of a draw are not those of its tree");
    sizes_ = cluster_sizes(labels);
    component_of_.assign(tree.nodes(), kNone);
    components_.clear();
    for (Dendrogram::Node node = 0; node < tree.nodes(); ++node) {
      if (!(posterior.log_cluster(node) > kNever)) continue;
      component_of_[node] = components_.size();
      components_.push_back({node, posterior.log_cluster(node), {}});
    }
    find_clusters(labels);
    fill_bank();
  }

  std::size_t clusters(std::size_t) const override { return sizes_.size(); }

  void log_weights(const double* row, std::size_t, std::span<double> out) const override {
    const Family& family = forest_.family();
    AlignedVector log_densities(chunks_ * kLanes, 0.0);
    family.add_log_predictive(row, bank_.data(), stride_, chunks_, {}, log_densities.data());
    const double log_all = std::log(static_cast<double>(forest_.rows().size()) + options_.alpha);
    std::vector<std::vector<double>> terms(sizes_.size());
    for (std::size_t k = 0; k < components_.size(); ++k)
      for (const auto& [cluster, log_rows] : components_[k].clusters)
        terms[cluster].push_back(log_rows + components_[k].log_probability + log_densities[k]);
    for (std::size_t cluster = 0; cluster < sizes_.size(); ++cluster)
      out[cluster] = log_sum_exp(terms[cluster]) - log_all;
    out[sizes_.size()] = std::log(options_.alpha) + family.log_predictive(empty_.data(), row) - log_all;
  }

  void cell_components(std::size_t row, std::size_t, std::vector<CellComponent>& out) const override {
    const Dendrogram& tree = forest_.dendrogram();
    out.clear();
    double total = 0.0;
    for (Dendrogram::Node node = tree.leaf_of(static_cast<std::uint32_t>(row)); node != Dendrogram::kNone;
         node = tree.parent(node)) {
      if (component_of_[node] == kNone) continue;
      const double weight = std::exp(components_[component_of_[node]].log_probability);
      if (weight < kNegligible) continue;
      out.push_back({component_of_[node], weight});
      total += weight;
    }
    for (CellComponent& part : out) part.weight /= total;
  }
  std::size_t component_count() const override { return components_.size(); }
  const double* stats(std::size_t component) const override {
    return forest_.trees().stats(forest_.node_of(components_[component].node));
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct Component {
    Dendrogram::Node node;
    double log_probability;
    std::vector<std::pair<std::size_t, double>> clusters;  // those it has rows of, and the log of how many
  };

  /// Which flat clusters the rows of each component belong to: below the cut it is one, above it several.
  void find_clusters(std::span<const Label> labels) {
    const Dendrogram& tree = forest_.dendrogram();
    std::vector<std::size_t> counts(sizes_.size(), 0);
    for (Component& component : components_) {
      const auto first = static_cast<std::size_t>(labels[tree.first_item(component.node)]);
      if (tree.size(component.node) <= sizes_[first] && is_inside(component.node, labels)) {
        component.clusters.emplace_back(first, std::log(static_cast<double>(tree.size(component.node))));
        continue;
      }
      std::fill(counts.begin(), counts.end(), 0);
      tree.for_each_item(component.node,
                         [&](std::uint32_t row) { ++counts[static_cast<std::size_t>(labels[row])]; });
      for (std::size_t cluster = 0; cluster < counts.size(); ++cluster)
        if (counts[cluster] > 0)
          component.clusters.emplace_back(cluster, std::log(static_cast<double>(counts[cluster])));
    }
  }
  /// A node with a row of each of two clusters has one of either in its two children.
  bool is_inside(Dendrogram::Node node, std::span<const Label> labels) const {
    const Dendrogram& tree = forest_.dendrogram();
    bool inside = true;
    tree.for_each_item(node,
                       [&](std::uint32_t row) { inside &= labels[row] == labels[tree.first_item(node)]; });
    return inside;
  }

  void fill_bank() {
    const Family& family = forest_.family();
    stride_ = family.bank_size() * kLanes;
    chunks_ = (components_.size() + kLanes - 1) / kLanes;
    bank_.assign(chunks_ * stride_, 0.0);
    for (std::size_t slot = 0; slot < chunks_ * kLanes; ++slot)  // unused slots hold something finite
      family.fill_bank(stats(std::min(slot, components_.size() - 1)),
                       bank_.data() + slot / kLanes * stride_ + slot % kLanes);
  }

  const Problem* problem_;
  Options options_;
  Forest forest_;
  std::vector<double> empty_;
  std::vector<std::size_t> sizes_;
  std::vector<std::size_t> component_of_;  // by node
  std::vector<Component> components_;
  std::size_t stride_ = 0, chunks_ = 0;
  AlignedVector bank_;
};

}  // namespace

std::unique_ptr<Predictor> make_predictor(const Problem& problem) {
  return std::make_unique<TreePredictor>(problem);
}

}  // namespace coppice::bhc
