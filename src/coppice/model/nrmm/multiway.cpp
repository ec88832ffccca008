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

void Multiway::set_group(Group& group, const double* stats, std::size_t size) const {
  group.stats.assign(stats, stats + family_->stats_size());
  group.size = size;
  group.log_weight = log_weight_of(stats, size);
}

double Multiway::log_d(const Group& a, const Group& b) {
  std::copy(a.stats.begin(), a.stats.end(), merged_.begin());
  family_->merge(merged_.data(), b.stats.data());
  return a.log_weight + b.log_weight - log_weight_of(merged_.data(), a.size + b.size);
}

double Multiway::log_pick(const Group& chosen, std::span<const Group* const> gathered,
                          std::span<const Group* const> rest, std::size_t count) {
  double total = -std::log(static_cast<double>(count));
  for (const Group* other : gathered)
    if (other != &chosen) total -= log1p_exp(log_d(chosen, *other));
  for (const Group* other : rest) total -= log1p_exp(-log_d(chosen, *other));
  return total;
}

double Multiway::log_sum_of_picks(std::span<const Group* const> gathered, std::span<const Group* const> rest,
                                  std::size_t count) {
  double total = kMinusInfinity;
  for (const Group* chosen : gathered) total = log_add_exp(total, log_pick(*chosen, gathered, rest, count));
  return total;
}

void Multiway::induce(const RowTree& guide, std::span<const std::uint32_t> rows) {
  InducedTree& tree = tree_;
  const std::size_t leaves = rows.size();
  const std::size_t stats_size = family_->stats_size();
  tree.rows.assign(rows.begin(), rows.end());
  std::sort(tree.rows.begin(), tree.rows.end(),
            [&](std::uint32_t a, std::uint32_t b) { return guide.position(a) < guide.position(b); });
  tree.nodes = 2 * leaves - 1;
  tree.parent.assign(tree.nodes, 0);
  tree.left.assign(tree.nodes, 0);
  tree.right.assign(tree.nodes, 0);
  tree.size.assign(tree.nodes, 1);
  tree.stats.resize(tree.nodes * stats_size);
  tree.log_weight.resize(tree.nodes);
  tree.log_choice.assign(tree.nodes, kMinusInfinity);

  std::vector<std::uint32_t> pending;
  std::vector<std::size_t> gaps;  // depths of the common ancestors between pending subtrees
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
    tree.log_weight[leaf] = log_weight_of(stats, 1);
  }
  while (!gaps.empty()) join_last_two();

  const double inner = static_cast<double>(leaves - 1);
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

template <typename Choose>
double Multiway::gather(std::uint32_t start, Choose&& choose) {
  const InducedTree& tree = tree_;
  const std::size_t stats_size = family_->stats_size();
  const auto stats_of = [&](std::uint32_t node) { return tree.stats.data() + node * stats_size; };
  groups_.resize(2);
  group_of_.assign(tree.nodes, 0);
  std::uint32_t number = 0;
  for (const std::uint32_t child : {tree.left[start], tree.right[start]}) {
    set_group(groups_[number], stats_of(child), tree.size[child]);
    group_of_[child] = number++;
  }
  double log_total = tree.log_choice[start];
  std::vector<double> log_weights;
  Group block;
  for (std::uint32_t node = start; node + 1 < tree.nodes; node = tree.parent[node]) {
    const std::uint32_t above = tree.parent[node];
    const std::uint32_t beside = tree.left[above] == node ? tree.right[above] : tree.left[above];
    set_group(block, stats_of(beside), tree.size[beside]);
    log_weights.clear();
    for (const Group& group : groups_) log_weights.push_back(-log_d(group, block));
    log_weights.push_back(0.0);
    const double norm = log_sum_exp(log_weights);
    for (double& weight : log_weights) weight -= norm;
    const std::uint32_t chosen = choose(log_weights, beside);
    log_total += log_weights[chosen];
    group_of_[beside] = chosen;
    if (chosen == groups_.size()) {
      groups_.push_back(block);
    } else {
      Group& group = groups_[chosen];
      family_->merge(group.stats.data(), block.stats.data());
      group.size += block.size;
      group.log_weight = log_weight_of(group.stats.data(), group.size);
    }
  }
  return log_total;
}

void Multiway::step(Clusters& clusters, const RowTree& guide, Stream& stream) {
  std::vector<Label> slots;
  for (std::size_t slot = 0; slot < clusters.sizes().size(); ++slot)
    if (clusters.sizes()[slot] != 0) slots.push_back(static_cast<Label>(slot));
  if (clusters_.size() < clusters.sizes().size()) clusters_.resize(clusters.sizes().size());
  for (const Label slot : slots)
    set_group(clusters_[static_cast<std::size_t>(slot)], clusters.stats(slot), clusters.size(slot));
  const Label cluster = slots[draw_index(stream, slots.size())];
  std::vector<Label> gathered{cluster};
  for (const Label other : slots)
    if (other != cluster &&
        draw_uniform(stream) < std::exp(-log1p_exp(log_d(clusters_[static_cast<std::size_t>(cluster)],
                                                         clusters_[static_cast<std::size_t>(other)]))))
      gathered.push_back(other);
  if (gathered.size() > 1)
    merge(clusters, guide, stream, gathered);
  else
    split(clusters, guide, stream, cluster);
}

void Multiway::split(Clusters& clusters, const RowTree& guide, Stream& stream, Label cluster) {
  ++splits_.proposed;
  if (clusters.size(cluster) < 2) return;
  clusters.members(cluster, cluster, members_);
  induce(guide, members_);
  std::vector<double> probabilities;
  for (std::size_t node = tree_.rows.size(); node < tree_.nodes; ++node)
    probabilities.push_back(std::exp(tree_.log_choice[node]));
  const auto start = static_cast<std::uint32_t>(tree_.rows.size() + draw_categorical(stream, probabilities));
  const double log_q = gather(start, [&](std::span<const double> log_weights, std::uint32_t) {
    std::vector<double> weights;
    for (const double weight : log_weights) weights.push_back(std::exp(weight));
    return static_cast<std::uint32_t>(draw_categorical(stream, weights));
  });
  const Group& whole = clusters_[static_cast<std::size_t>(cluster)];
  std::vector<const Group*> rest;
  for (std::size_t slot = 0; slot < clusters.sizes().size(); ++slot)
    if (clusters.sizes()[slot] != 0 && static_cast<Label>(slot) != cluster) rest.push_back(&clusters_[slot]);
  std::vector<const Group*> parts;
  double log_ratio = -whole.log_weight;
  for (const Group& group : groups_) {
    parts.push_back(&group);
    log_ratio += group.log_weight;
  }
  const std::size_t count = clusters.clusters();
  const Group* const itself[] = {&whole};
  log_ratio += log_sum_of_picks(parts, rest, count - 1 + parts.size()) -
               (log_pick(whole, itself, rest, count) + log_q);
  if (!(std::log(draw_uniform(stream)) < log_ratio)) return;
  ++splits_.accepted;
  // Groups by leaf: down from the nodes that were put into them.
  const auto leaves = static_cast<std::uint32_t>(tree_.rows.size());
  std::vector<bool> known(tree_.nodes, false);
  known[tree_.left[start]] = known[tree_.right[start]] = true;
  for (std::uint32_t node = start; node + 1 < tree_.nodes; node = tree_.parent[node]) {
    const std::uint32_t above = tree_.parent[node];
    known[tree_.left[above] == node ? tree_.right[above] : tree_.left[above]] = true;
  }
  for (auto node = static_cast<std::uint32_t>(tree_.nodes); node-- > leaves;) {
    if (!known[node]) continue;
    for (const std::uint32_t child : {tree_.left[node], tree_.right[node]}) {
      group_of_[child] = group_of_[node];
      known[child] = true;
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
  std::vector<Label> owner(tree.nodes);
  std::size_t start = tree.nodes;
  for (std::size_t node = 0; node < tree.nodes; ++node) {
    if (node < leaves) {
      owner[node] = clusters.label(tree.rows[node]);
      continue;
    }
    const Label left = owner[tree.left[node]];
    const Label right = owner[tree.right[node]];
    if (left == kMixed && right == kMixed) return kMinusInfinity;  // mixed nodes that are not a chain
    owner[node] = left == right ? left : kMixed;
    if (left != right && left != kMixed && right != kMixed) start = node;
  }
  const auto first = static_cast<std::uint32_t>(start);
  std::vector<Label> founders{owner[tree.left[first]], owner[tree.right[first]]};
  return gather(first, [&](std::span<const double>, std::uint32_t node) {
    const auto known = std::find(founders.begin(), founders.end(), owner[node]);
    const auto place = static_cast<std::uint32_t>(known - founders.begin());
    if (known == founders.end()) founders.push_back(owner[node]);
    return place;
  });
}

void Multiway::merge(Clusters& clusters, const RowTree& guide, Stream& stream,
                     std::span<const Label> gathered) {
  ++merges_.proposed;
  members_.clear();
  for (std::size_t row = 0; row < clusters.rows(); ++row)
    if (std::find(gathered.begin(), gathered.end(), clusters.label(row)) != gathered.end())
      members_.push_back(static_cast<std::uint32_t>(row));
  induce(guide, members_);
  const double log_q = log_split_into(clusters);
  if (log_q == kMinusInfinity) return;
  std::vector<const Group*> parts;
  std::vector<const Group*> rest;
  for (std::size_t slot = 0; slot < clusters.sizes().size(); ++slot) {
    if (clusters.sizes()[slot] == 0) continue;
    const bool inside =
        std::find(gathered.begin(), gathered.end(), static_cast<Label>(slot)) != gathered.end();
    (inside ? parts : rest).push_back(&clusters_[slot]);
  }
  Group whole;
  set_group(whole, tree_.stats.data() + (tree_.nodes - 1) * family_->stats_size(), members_.size());
  double log_ratio = whole.log_weight;
  for (const Group* part : parts) log_ratio -= part->log_weight;
  const std::size_t count = clusters.clusters();
  const Group* const itself[] = {&whole};
  log_ratio +=
      log_pick(whole, itself, rest, count - parts.size() + 1) + log_q - log_sum_of_picks(parts, rest, count);
  if (!(std::log(draw_uniform(stream)) < log_ratio)) return;
  ++merges_.accepted;
  for (std::size_t i = 1; i < gathered.size(); ++i) clusters.merge(gathered[0], gathered[i]);
}

}  // namespace coppice::nrmm
