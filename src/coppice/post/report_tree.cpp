#include "coppice/post/report_tree.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <unordered_map>

#include "coppice/cluster/tree_posterior.hpp"
#include "coppice/post/binned_coclustering.hpp"
#include "coppice/post/run_hierarchy.hpp"
#include "coppice/post/run_tree.hpp"

namespace coppice {
namespace {

constexpr std::size_t kMostTraits = 10;         // kept for a node; fewer where there are many nodes
constexpr std::size_t kMostTraitsInAll = 6000;  // 1 to 2 MB of the file
constexpr std::size_t kMostLinkedRows =
    2000;  // above this many rows those of a leaf stand in order of confidence
constexpr std::size_t kMostJoined = 1000;  // clusters; above it none are joined
constexpr double kSameHeight = 0.01;       // joins as close as this are drawn as one
constexpr std::size_t kLabelBudget = 20'000'000;

/// Builds the nodes; rows are attached to leaves and handed up at the end.
class Builder {
 public:
  explicit Builder(const Analysis& analysis) : analysis_(analysis), run_(analysis.run()) {}

  ReportTree build(Selection selection) {
    tree_.column_strength.assign(run_.table().columns.size(), 0.0);
    for (std::size_t level = 1; level <= run_.levels(); ++level) {
      const Consensus& estimate = analysis_.consensus(level, selection);
      tree_.levels.push_back(
          {estimate, {}, analysis_.is_greedy() ? std::vector<bool>() : unassigned_rows(estimate)});
    }
    tree_.is_hierarchy = run_.levels() > 1;
    if (tree_.is_hierarchy)
      take_hierarchy(run_hierarchy(analysis_, selection));
    else
      join_clusters(selection);
    for (std::size_t level = 1; level <= tree_.levels.size(); ++level)
      for (std::size_t cluster = 0; cluster < tree_.levels[level - 1].node_of.size(); ++cluster)
        tree_.nodes[tree_.levels[level - 1].node_of[cluster]].addresses.push_back(
            {level, static_cast<Label>(cluster)});
    lay_out();
    describe_siblings();
    describe_levels();
    name_joins();
    return std::move(tree_);
  }

 private:
  void take_hierarchy(const RunHierarchy& hierarchy) {
    tree_.sentence = selection_sentence(hierarchy.selected);
    std::vector<std::size_t> shown(hierarchy.full.nodes.size());
    for (std::size_t place = 0; place < hierarchy.shown.nodes.size(); ++place) {
      const HierarchyNode& node = hierarchy.shown.nodes[place];
      shown[node.id] = place;
      ReportNode entry;
      entry.parent = node.parent == HierarchyNode::kNoParent ? ReportNode::kNoParent : node.parent;
      entry.children = node.children;
      entry.level = node.level;
      entry.last_level = node.last_level;
      entry.size = node.size();
      entry.exact = hierarchy.support[node.id].exact;
      entry.sure = hierarchy.support[node.id].overlap;
      entry.name = hierarchy.captions[node.id].name;
      entry.words = hierarchy.captions[node.id].words;
      tree_.nodes.push_back(std::move(entry));
      rows_.push_back(node.rows);
    }
    // A node of the full tree that is not shown has the rows of its parent.
    std::vector<bool> is_shown(hierarchy.full.nodes.size(), false);
    for (const HierarchyNode& node : hierarchy.shown.nodes) is_shown[node.id] = true;
    for (const HierarchyNode& node : hierarchy.full.nodes) {
      if (!is_shown[node.id]) shown[node.id] = shown[node.parent];
      if (node.level > 0) tree_.levels[node.level - 1].node_of.push_back(shown[node.id]);
    }
  }

  /// How clusters are joined above them: by how often their rows are together, or as the tree of a greedy
  /// model joined them, in its order.
  struct Joins {
    Linkage linkage;
    std::vector<double> sure;  // of each merge: that rows of its two sides are together
  };

  Joins joins_by_draws(std::span<const std::uint32_t> cluster_of_row, std::size_t clusters) const {
    std::vector<double> apart =
        binned_coclustering(run_.labels(1, kLabelBudget), cluster_of_row, clusters, 0);
    for (double& value : apart) value = 1.0 - value;
    Joins joins{average_linkage(apart, clusters), {}};
    for (const Merge& merge : joins.linkage.merges) joins.sure.push_back(1.0 - merge.height);
    return joins;
  }

  Joins joins_of_tree(std::span<const std::uint32_t> cluster_of_row, std::size_t clusters) const {
    constexpr std::size_t kWithin = static_cast<std::size_t>(-1);
    const Dendrogram& tree = analysis_.row_tree();
    const TreePosterior posterior(tree);
    Joins joins{{clusters, {}}, {}};
    std::vector<std::size_t> part(tree.nodes());  // the node of the linkage that a node of the tree is
    const auto join = [&](std::size_t a, std::size_t b, double sure) {
      const std::size_t size = joins.linkage.size(a) + joins.linkage.size(b);
      joins.linkage.merges.push_back({std::min(a, b), std::max(a, b), 0.0, size});
      joins.sure.push_back(sure);
      return joins.linkage.nodes() - 1;
    };
    for (Dendrogram::Node node = 0; node < tree.nodes(); ++node) {
      const Dendrogram::Node above = tree.parent(node);
      if (tree.is_item(node) && above != Dendrogram::kNone && tree.is_block(above)) {
        part[node] = kWithin;
      } else if (tree.is_leaf(node) || part[tree.left(node)] == part[tree.right(node)]) {
        part[node] = cluster_of_row[tree.first_item(node)];
      } else {
        part[node] = join(part[tree.left(node)], part[tree.right(node)], posterior.coclustering(node));
      }
    }
    const std::vector<Dendrogram::Node> roots = tree.roots();
    std::size_t last = part[roots.front()];
    for (std::size_t k = 1; k < roots.size(); ++k) last = join(last, part[roots[k]], 0.0);
    const double count = static_cast<double>(joins.linkage.merges.size());
    for (std::size_t k = 0; k < joins.linkage.merges.size(); ++k)
      joins.linkage.merges[k].height = static_cast<double>(k + 1) / count;
    return joins;
  }

  void join_clusters(Selection selection) {
    const Consensus& estimate = tree_.levels.front().estimate;
    tree_.sentence = partition_sentence(estimate, selection, tree_.levels.front().unassigned_count());
    const std::size_t clusters = estimate.clusters;
    std::vector<std::vector<std::uint32_t>> members(clusters);
    std::vector<std::uint32_t> cluster_of_row;
    for (std::size_t row = 0; row < run_.rows(); ++row) {
      const auto cluster = static_cast<std::uint32_t>(estimate.labels[row]);
      members[cluster].push_back(static_cast<std::uint32_t>(row));
      cluster_of_row.push_back(cluster);
    }
    const bool is_joined = clusters > 1 && clusters <= kMostJoined;
    const auto [joins, sure_of_joins] = !is_joined              ? Joins{}
                                        : analysis_.is_greedy() ? joins_of_tree(cluster_of_row, clusters)
                                                                : joins_by_draws(cluster_of_row, clusters);
    tree_.levels.front().node_of.resize(clusters);
    const auto add_cluster = [&](std::size_t cluster, std::size_t parent) {
      ReportNode node;
      node.parent = parent;
      node.level = node.last_level = 1;
      node.exact = std::numeric_limits<double>::quiet_NaN();
      double sure = 0.0;
      for (const std::uint32_t row : members[cluster]) sure += estimate.row_confidence[row];
      node.sure = sure / static_cast<double>(members[cluster].size());
      tree_.levels.front().node_of[cluster] = add(std::move(node), members[cluster]);
    };
    ReportNode root;
    root.name = "all rows";
    root.sure = 1.0;
    root.exact = std::numeric_limits<double>::quiet_NaN();
    if (clusters == 1) {
      root.level = root.last_level = 1;
      root.sure = 0.0;
      for (const double confidence : estimate.row_confidence) root.sure += confidence;
      root.sure /= static_cast<double>(run_.rows());
      tree_.levels.front().node_of[0] = add(std::move(root), members[0]);
      return;
    }
    add(std::move(root), {});
    if (joins.merges.empty()) {
      for (std::size_t cluster = 0; cluster < clusters; ++cluster) add_cluster(cluster, 0);
      return;
    }
    tree_.nodes.front().height = joins.merges.back().height;
    // Depth first, so that parents come before children; a join about as high as its parent's is not drawn.
    std::vector<std::pair<std::size_t, std::size_t>> waiting;  // node of the linkage, parent in the tree
    const auto wait_for_parts = [&](std::size_t join, std::size_t parent) {
      waiting.emplace_back(joins.merge(join).right, parent);
      waiting.emplace_back(joins.merge(join).left, parent);
    };
    wait_for_parts(joins.nodes() - 1, 0);
    while (!waiting.empty()) {
      const auto [part, parent] = waiting.back();
      waiting.pop_back();
      if (joins.is_leaf(part)) {
        add_cluster(part, parent);
      } else if (tree_.nodes[parent].height - joins.height(part) < kSameHeight) {
        wait_for_parts(part, parent);
      } else {
        ReportNode node;
        node.parent = parent;
        node.height = joins.height(part);
        node.sure = sure_of_joins[part - joins.leaves];
        node.exact = std::numeric_limits<double>::quiet_NaN();
        wait_for_parts(part, add(std::move(node), {}));
      }
    }
  }

  std::size_t add(ReportNode node, std::vector<std::uint32_t> rows) {
    const std::size_t place = tree_.nodes.size();
    if (node.parent != ReportNode::kNoParent) tree_.nodes[node.parent].children.push_back(place);
    tree_.nodes.push_back(std::move(node));
    rows_.push_back(std::move(rows));
    return place;
  }

  /// Where each row would stand within its leaf, the smallest first.
  std::vector<double> places_within_leaves() const {
    std::vector<double> place(run_.rows());
    if (analysis_.is_greedy()) {
      const Dendrogram& tree = analysis_.row_tree();
      double next = 0.0;
      for (const Dendrogram::Node root : tree.roots())
        tree.for_each_item(root, [&](std::uint32_t row) { place[row] = next++; });
      return place;
    }
    if (run_.rows() <= kMostLinkedRows && run_.rows() > 1) {
      const std::vector<std::size_t> leaves = leaf_order(run_tree(run_, 0));
      for (std::size_t k = 0; k < leaves.size(); ++k) place[leaves[k]] = static_cast<double>(k);
      return place;
    }
    for (std::size_t row = 0; row < run_.rows(); ++row)
      place[row] = -tree_.levels.back().estimate.row_confidence[row];
    return place;
  }

  void lay_out() {
    const std::vector<double> place = places_within_leaves();
    for (std::size_t n = tree_.nodes.size(); n-- > 0;) {  // children come after their parents
      ReportNode& node = tree_.nodes[n];
      if (!node.children.empty()) {
        node.size = 0;
        for (const std::size_t child : node.children) node.size += tree_.nodes[child].size;
        std::stable_sort(node.children.begin(), node.children.end(), [&](std::size_t a, std::size_t b) {
          return tree_.nodes[a].size > tree_.nodes[b].size;
        });
      } else {
        node.size = rows_[n].size();
      }
    }
    visit(0, place);
  }

  void visit(std::size_t root, const std::vector<double>& place) {
    std::vector<std::size_t> waiting{root};
    while (!waiting.empty()) {
      const std::size_t n = waiting.back();
      waiting.pop_back();
      ReportNode& node = tree_.nodes[n];
      node.first = tree_.order.size();
      waiting.insert(waiting.end(), node.children.rbegin(), node.children.rend());
      if (!node.children.empty()) continue;
      std::stable_sort(rows_[n].begin(), rows_[n].end(),
                       [&](std::uint32_t a, std::uint32_t b) { return place[a] < place[b]; });
      tree_.order.insert(tree_.order.end(), rows_[n].begin(), rows_[n].end());
    }
  }

  std::vector<std::uint32_t> rows_of(const ReportNode& node) const {
    const auto begin = tree_.order.begin() + static_cast<std::ptrdiff_t>(node.first);
    std::vector<std::uint32_t> rows(begin, begin + static_cast<std::ptrdiff_t>(node.size));
    std::sort(rows.begin(), rows.end());
    return rows;
  }

  std::vector<Trait> strongest(std::vector<Trait> traits) {
    for (const Trait& trait : traits) {
      double& strength = tree_.column_strength[column_of(trait.column)];
      strength = std::max(strength, trait.divergence);
    }
    // Two lists for each node.
    const std::size_t most =
        std::clamp<std::size_t>(kMostTraitsInAll / (2 * tree_.nodes.size()), 2, kMostTraits);
    traits.resize(std::min(traits.size(), most));
    return traits;
  }

  std::size_t column_of(const std::string& name) {
    if (columns_.empty())
      for (std::size_t j = 0; j < run_.table().columns.size(); ++j)
        columns_.emplace(run_.table().columns[j].name, j);
    return columns_.at(name);
  }

  void describe_siblings() {
    for (std::size_t n = 0; n < tree_.nodes.size(); ++n) {
      const std::vector<std::size_t>& children = tree_.nodes[n].children;
      if (children.size() < 2) continue;
      std::vector<std::vector<std::uint32_t>> groups;
      for (const std::size_t child : children) groups.push_back(rows_of(tree_.nodes[child]));
      std::vector<ClusterProfile> profiles = profile_groups(run_, groups, 0);
      for (std::size_t c = 0; c < children.size(); ++c) {
        ReportNode& child = tree_.nodes[children[c]];
        child.against_siblings = strongest(std::move(profiles[c].traits));
      }
    }
  }

  /// Single rows that cannot be placed are not clusters with a character of their own.
  void name_unassigned(const ReportLevel& level) {
    for (std::size_t row = 0; row < level.unassigned.size(); ++row)
      if (level.unassigned[row])
        tree_.nodes[level.node_of[static_cast<std::size_t>(level.estimate.labels[row])]].name =
            "unassigned: " + run_.table().row_ids[row];
  }

  void describe_levels() {
    for (std::size_t level = 1; level <= tree_.levels.size(); ++level) {
      const ReportLevel& entry = tree_.levels[level - 1];
      name_unassigned(entry);
      std::vector<ClusterProfile> profiles = profile_level(run_, level, entry.estimate, 0);
      for (ClusterProfile& profile : profiles) {
        ReportNode& node = tree_.nodes[entry.node_of[static_cast<std::size_t>(profile.cluster)]];
        // A node that spans levels is described once.
        if (!node.exemplars.empty()) continue;
        if (node.name.empty()) {
          node.name = std::move(profile.name);
          node.words = std::move(profile.words);
        }
        node.against_all = strongest(std::move(profile.traits));
        node.exemplars = std::move(profile.exemplars);
        node.outliers = std::move(profile.outliers);
      }
    }
  }

  /// A join is called by the clusters below it: "clusters 2, 5".
  void name_joins() {
    constexpr std::size_t kMostNumbers = 6;
    std::vector<std::vector<Label>> below(tree_.nodes.size());
    for (std::size_t n = tree_.nodes.size(); n-- > 0;) {  // children come after their parents
      ReportNode& node = tree_.nodes[n];
      if (!node.addresses.empty()) below[n] = {node.addresses.front().cluster};
      for (const std::size_t child : node.children)
        if (node.addresses.empty()) below[n].insert(below[n].end(), below[child].begin(), below[child].end());
      if (!node.name.empty()) continue;
      std::sort(below[n].begin(), below[n].end());
      const std::size_t shown = std::min(below[n].size(), kMostNumbers);
      node.name = fmt::format("clusters {}", fmt::join(std::span(below[n]).first(shown), ", "));
      if (shown < below[n].size()) node.name += fmt::format(" and {} more", below[n].size() - shown);
      node.words = node.name;
    }
  }

  const Analysis& analysis_;
  const SavedRun& run_;
  ReportTree tree_;
  std::vector<std::vector<std::uint32_t>> rows_;  // of leaves
  std::unordered_map<std::string, std::size_t> columns_;
};

}  // namespace

ReportTree report_tree(const Analysis& analysis, Selection selection) {
  return Builder(analysis).build(selection);
}

}  // namespace coppice
