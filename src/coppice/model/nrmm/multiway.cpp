#include "coppice/model/nrmm/multiway.hpp"

#include <algorithm>
#include <cmath>

#include "coppice/base/math.hpp"

namespace coppice::nrmm {
namespace {

/// Added to the weights of the inner nodes, shared among them: any node can be drawn.
constexpr double kAnyNode = 0.5;

}  // namespace

Multiway::Multiway(const Family& family, const Rows& rows, const ProductPartition& prior)
    : family_(&family), rows_(&rows), prior_(&prior), merged_(family.stats_size()) {}

double Multiway::log_weight_of(const double* stats, std::size_t size) const {
  return prior_->log_kappa(size) + family_->log_marginal(stats);
}

double Multiway::log_d(const Set& a, const Set& b) {
  std::copy_n(a.stats, merged_.size(), merged_.begin());
  family_->merge(merged_.data(), b.stats);
  return a.log_weight + b.log_weight - log_weight_of(merged_.data(), a.size + b.size);
}

double Multiway::log_pick(std::span<const Set> gathered, std::size_t chosen, std::span<const Set> rest,
                          std::size_t count) {
  double total = -std::log(static_cast<double>(count));
  for (std::size_t other = 0; other < gathered.size(); ++other)
    if (other != chosen) total -= log1p_exp(log_d(gathered[chosen], gathered[other]));
  for (const Set& other : rest) total -= log1p_exp(-log_d(gathered[chosen], other));
  return total;
}

double Multiway::log_sum_of_picks(std::span<const Set> gathered, std::span<const Set> rest,
                                  std::size_t count) {
  double total = kMinusInfinity;
  for (std::size_t chosen = 0; chosen < gathered.size(); ++chosen)
    total = log_add_exp(total, log_pick(gathered, chosen, rest, count));
  return total;
}

void Multiway::induce(const RowTree& guide, std::span<const std::uint32_t> rows) {
  InducedTree& tree = tree_;
  const std::size_t leaves = rows.size();
  const std::size_t stats_size = family_->stats_size();
  tree.rows.clear();
  tree.rows.insert(tree.rows.end(), rows.begin(), rows.end());
  std::sort(tree.rows.begin(), tree.rows.end(),
            [&](std::uint32_t a, std::uint32_t b) { return guide.position(a) < guide.position(b); });
  tree.nodes = 2 * leaves - 1;
  for (std::vector<std::uint32_t>* list : {&tree.parent, &tree.left, &tree.right, &tree.size})
    list->resize(tree.nodes);
  tree.stats.resize(tree.nodes * stats_size);
  tree.log_weight.resize(tree.nodes);
  tree.log_choice.resize(tree.nodes);

  std::vector<std::uint32_t>& pending = tree.pending;
  std::vector<std::size_t>& gaps = tree.gaps;
  pending.clear();
  gaps.clear();
  auto next = static_cast<std::uint32_t>(leaves);
  const auto join_last_two = [&] {
    const std::uint32_t right = pending.back();
    pending.pop_back();
    const std::uint32_t left = pending.back();
    pending.back() = next;
    gaps.pop_back();
    tree.left[next] = left;
    tree.right[next] = right;
    tree.parent[left] = tree.parent[right] = next;
    tree.size[next] = tree.size[left] + tree.size[right];
    double* stats = tree.stats.data() + next * stats_size;
    std::copy_n(tree.stats.data() + left * stats_size, stats_size, stats);
    family_->merge(stats, tree.stats.data() + right * stats_size);
    tree.log_weight[next] = log_weight_of(stats, tree.size[next]);
    ++next;
  };
  for (std::uint32_t leaf = 0; leaf < leaves; ++leaf) {
    if (leaf > 0) {
      const std::size_t gap = guide.depth(guide.common_ancestor(tree.rows[leaf - 1], tree.rows[leaf]));
      while (!gaps.empty() && gaps.back() > gap) join_last_two();
      gaps.push_back(gap);
    }
    pending.push_back(leaf);
    double* stats = tree.stats.data() + leaf * stats_size;
    family_->clear(stats);
    family_->add(stats, (*rows_)[tree.rows[leaf]]);
    tree.size[leaf] = 1;
    tree.log_weight[leaf] = log_weight_of(stats, 1);
  }
  while (!gaps.empty()) join_last_two();

  const auto inner = static_cast<double>(leaves - 1);
  double total = 0.0;
  for (std::size_t node = leaves; node < tree.nodes; ++node) {
    const double log_ratio =
        tree.log_weight[tree.left[node]] + tree.log_weight[tree.right[node]] - tree.log_weight[node];
    const double weight = std::exp(-log1p_exp(-log_ratio)) + kAnyNode / inner;
    tree.log_choice[node] = std::log(weight);
    total += weight;
  }
  for (std::size_t node = leaves; node < tree.nodes; ++node) tree.log_choice[node] -= std::log(total);
}

Multiway::Set Multiway::set_of(std::uint32_t node) const {
  return {tree_.stats.data() + node * family_->stats_size(), tree_.size[node], tree_.log_weight[node]};
}

void Multiway::open_group(const Set& first) {
  if (groups_.size() == group_stats_.size()) group_stats_.emplace_back(family_->stats_size());
  std::vector<double>& stats = group_stats_[groups_.size()];
  std::copy_n(first.stats, stats.size(), stats.begin());
  groups_.push_back({stats.data(), first.size, first.log_weight});
}

template <typename Choose>
double Multiway::gather(std::uint32_t start, Choose&& choose) {
  const InducedTree& tree = tree_;
  group_of_.resize(tree.nodes);
  groups_.clear();
  for (const std::uint32_t child : {tree.left[start], tree.right[start]}) {
    group_of_[child] = static_cast<std::uint32_t>(groups_.size());
    open_group(set_of(child));
  }
  double log_total = tree.log_choice[start];
  for (std::uint32_t node = start; node + 1 < tree.nodes; node = tree.parent[node]) {
    const std::uint32_t above = tree.parent[node];
    const std::uint32_t beside = tree.left[above] == node ? tree.right[above] : tree.left[above];
    const Set block = set_of(beside);
    log_weights_.clear();
    for (const Set& group : groups_) log_weights_.push_back(-log_d(group, block));
    log_weights_.push_back(0.0);
    const double norm = log_sum_exp(log_weights_);
    for (double& weight : log_weights_) weight -= norm;
    const std::uint32_t chosen = choose(log_weights_, beside);
    log_total += log_weights_[chosen];
    group_of_[beside] = chosen;
    if (chosen == groups_.size()) {
      open_group(block);
      continue;
    }
    Set& group = groups_[chosen];
    double* stats = group_stats_[chosen].data();
    family_->merge(stats, block.stats);
    group.size += block.size;
    group.log_weight = log_weight_of(stats, group.size);
  }
  return log_total;
}

std::size_t Multiway::bytes(const Family& family, std::size_t rows) {
  return 2 * rows * ((family.stats_size() + 3) * sizeof(double) + 7 * sizeof(std::uint32_t));
}

void Multiway::make_room(const RowTree& guide) {
  const std::size_t rows = guide.rows();
  if (tree_.rows.capacity() >= rows) return;
  const std::size_t nodes = 2 * rows - 1;
  std::size_t height = 0;
  for (std::uint32_t row = 0; row < rows; ++row) height = std::max(height, guide.depth(row));
  for (std::vector<std::uint32_t>* list : {&tree_.rows, &members_}) list->reserve(rows);
  for (std::vector<std::uint32_t>* list : {&tree_.parent, &tree_.left, &tree_.right, &tree_.size, &group_of_})
    list->reserve(nodes);
  for (std::vector<double>* list : {&tree_.log_weight, &tree_.log_choice}) list->reserve(nodes);
  // Most of this is never touched unless one cluster has most of the rows, and costs nothing until then.
  tree_.stats.reserve(nodes * family_->stats_size());
  known_.reserve(nodes);
  owner_.reserve(nodes);
  weights_.reserve(rows);
  // A split has a group for each step of a path at most.
  tree_.pending.reserve(height + 2);
  tree_.gaps.reserve(height + 2);
  log_weights_.reserve(height + 3);
  founders_.reserve(height + 2);
  groups_.reserve(height + 2);
  group_stats_.resize(height + 2, std::vector<double>(family_->stats_size()));
}

void Multiway::step(Clusters& clusters, const RowTree& guide, Stream& stream) {
  make_room(guide);
  slots_.clear();
  clusters_.resize(std::max(clusters_.size(), clusters.sizes().size()));
  for (std::size_t slot = 0; slot < clusters.sizes().size(); ++slot) {
    const std::size_t size = clusters.sizes()[slot];
    if (size == 0) continue;
    const auto label = static_cast<Label>(slot);
    slots_.push_back(label);
    clusters_[slot] = {clusters.stats(label), size, prior_->log_kappa(size) + clusters.log_marginal(label)};
  }
  const Label cluster = slots_[draw_index(stream, slots_.size())];
  gathered_.assign(1, cluster);
  for (const Label other : slots_)
    if (other != cluster &&
        draw_uniform(stream) < std::exp(-log1p_exp(log_d(clusters_[static_cast<std::size_t>(cluster)],
                                                         clusters_[static_cast<std::size_t>(other)]))))
      gathered_.push_back(other);
  parts_.clear();
  rest_.clear();
  for (const Label slot : slots_) {
    const bool inside = std::find(gathered_.begin(), gathered_.end(), slot) != gathered_.end();
    (inside ? parts_ : rest_).push_back(clusters_[static_cast<std::size_t>(slot)]);
  }
  if (gathered_.size() > 1)
    merge(clusters, guide, stream);
  else
    split(clusters, guide, stream, cluster);
}

void Multiway::split(Clusters& clusters, const RowTree& guide, Stream& stream, Label cluster) {
  ++splits_.proposed;
  if (clusters.size(cluster) < 2) return;
  clusters.members(cluster, cluster, members_);
  induce(guide, members_);
  const auto draw = [&](std::span<const double> log_weights) {
    weights_.clear();
    for (const double weight : log_weights) weights_.push_back(std::exp(weight));
    return static_cast<std::uint32_t>(draw_categorical(stream, weights_));
  };
  const auto leaves = static_cast<std::uint32_t>(tree_.rows.size());
  const std::uint32_t start =
      leaves + draw(std::span<const double>(tree_.log_choice).subspan(leaves, tree_.nodes - leaves));
  const double log_q =
      gather(start, [&](std::span<const double> log_weights, std::uint32_t) { return draw(log_weights); });
  double log_ratio = -parts_.front().log_weight;
  for (const Set& group : groups_) log_ratio += group.log_weight;
  const std::size_t count = clusters.clusters();
  log_ratio += log_sum_of_picks(groups_, rest_, count - 1 + groups_.size()) -
               (log_sum_of_picks(parts_, rest_, count) + log_q);
  if (!(std::log(draw_uniform(stream)) < log_ratio)) return;
  ++splits_.accepted;
  // Groups by leaf: down from the nodes that were put into them.
  known_.assign(tree_.nodes, 0);
  known_[tree_.left[start]] = known_[tree_.right[start]] = 1;
  for (std::uint32_t node = start; node + 1 < tree_.nodes; node = tree_.parent[node]) {
    const std::uint32_t above = tree_.parent[node];
    known_[tree_.left[above] == node ? tree_.right[above] : tree_.left[above]] = 1;
  }
  for (auto node = static_cast<std::uint32_t>(tree_.nodes); node-- > leaves;) {
    if (known_[node] == 0) continue;
    for (const std::uint32_t child : {tree_.left[node], tree_.right[node]}) {
      group_of_[child] = group_of_[node];
      known_[child] = 1;
    }
  }
  for (std::uint32_t group = 1; group < groups_.size(); ++group) {
    members_.clear();
    for (std::uint32_t leaf = 0; leaf < leaves; ++leaf)
      if (group_of_[leaf] == group) members_.push_back(tree_.rows[leaf]);
    clusters.split(cluster, members_);
  }
}

double Multiway::log_split_into(const Clusters& clusters) {
  constexpr Label kMixed = -1;
  const InducedTree& tree = tree_;
  const std::size_t leaves = tree.rows.size();
  owner_.resize(tree.nodes);
  std::size_t start = tree.nodes;
  for (std::size_t node = 0; node < tree.nodes; ++node) {
    if (node < leaves) {
      owner_[node] = clusters.label(tree.rows[node]);
      continue;
    }
    const Label left = owner_[tree.left[node]];
    const Label right = owner_[tree.right[node]];
    if (left == kMixed && right == kMixed) return kMinusInfinity;  // mixed nodes that are not a chain
    owner_[node] = left == right ? left : kMixed;
    if (left != right && left != kMixed && right != kMixed) start = node;
  }
  const auto first = static_cast<std::uint32_t>(start);
  founders_.clear();
  founders_.push_back(owner_[tree.left[first]]);
  founders_.push_back(owner_[tree.right[first]]);
  return gather(first, [&](std::span<const double>, std::uint32_t node) {
    const auto known = std::find(founders_.begin(), founders_.end(), owner_[node]);
    const auto place = static_cast<std::uint32_t>(known - founders_.begin());
    if (known == founders_.end()) founders_.push_back(owner_[node]);
    return place;
  });
}

void Multiway::merge(Clusters& clusters, const RowTree& guide, Stream& stream) {
  ++merges_.proposed;
  members_.clear();
  for (std::size_t row = 0; row < clusters.rows(); ++row)
    if (std::find(gathered_.begin(), gathered_.end(), clusters.label(row)) != gathered_.end())
      members_.push_back(static_cast<std::uint32_t>(row));
  induce(guide, members_);
  const double log_q = log_split_into(clusters);
  if (log_q == kMinusInfinity) return;
  const Set whole = set_of(static_cast<std::uint32_t>(tree_.nodes - 1));
  double log_ratio = whole.log_weight;
  for (const Set& part : parts_) log_ratio -= part.log_weight;
  const std::size_t count = clusters.clusters();
  log_ratio += log_sum_of_picks(std::span(&whole, 1), rest_, count - parts_.size() + 1) + log_q -
               log_sum_of_picks(parts_, rest_, count);
  if (!(std::log(draw_uniform(stream)) < log_ratio)) return;
  ++merges_.accepted;
  for (std::size_t i = 1; i < gathered_.size(); ++i) clusters.merge(gathered_[0], gathered_[i]);
}

}  // namespace coppice::nrmm
