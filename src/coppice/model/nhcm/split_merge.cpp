#include "coppice/model/nhcm/split_merge.hpp"

#include <algorithm>
#include <cmath>

#include "coppice/base/math.hpp"
#include "coppice/family/packed_cholesky.hpp"

namespace coppice::nhcm {
namespace {

/// Two different ones of `count` items.
void draw_anchors(Stream& stream, std::size_t count, std::uint32_t (&anchors)[2]) {
  anchors[0] = static_cast<std::uint32_t>(draw_index(stream, count));
  anchors[1] = static_cast<std::uint32_t>(draw_index(stream, count - 1));
  if (anchors[1] >= anchors[0]) ++anchors[1];
}

}  // namespace

SubclusterSplitMerge::SubclusterSplitMerge(const Evidence& evidence, std::size_t rows)
    : rest_(evidence.cluster_size()),
      cluster_(evidence.cluster_size()),
      factor_(evidence.factor_size()),
      scratch_(evidence.factor_size()) {
  items_.reserve(rows);
  sides_.reserve(rows);
  for (std::size_t group = 0; group < 2; ++group) {
    groups_[group].resize(evidence.moments().size());
    centers_[group].resize(evidence.dimension());
  }
}

void SubclusterSplitMerge::step(State& state, const TwoLevelCrp& prior, Stream& stream) {
  if (state.rows() < 2) return;
  draw_anchors(stream, state.rows(), anchors_);
  const double log_uniform = std::log(draw_uniform(stream));
  const Label first = state.sub_of(anchors_[0]);
  const Label second = state.sub_of(anchors_[1]);
  if (state.cluster_of(first) != state.cluster_of(second)) return;
  MoveCount& count = first == second ? counts_.splits : counts_.merges;
  ++count.proposed;
  count.accepted +=
      first == second ? split(state, prior, stream, log_uniform) : merge(state, prior, stream, log_uniform);
}

void SubclusterSplitMerge::gather(const State& state, Label first, Label second, Stream& stream) {
  state.members(first, second, items_);
  std::erase_if(items_, [&](std::uint32_t row) { return row == anchors_[0] || row == anchors_[1]; });
  shuffle(stream, items_);
  const Evidence& evidence = state.evidence();
  evidence.clear(rest_.data());
  for (const Label sub : state.subs_of(state.cluster_of(first)))
    if (sub != first && sub != second) evidence.take_in(rest_.data(), state.sub_stats(sub));
}

template <typename Choose>
double SubclusterSplitMerge::allocate(const State& state, Choose&& choose) {
  const Evidence& evidence = state.evidence();
  const std::size_t d = evidence.dimension();
  for (std::size_t group = 0; group < 2; ++group) {
    evidence.moments().clear(groups_[group].data());
    evidence.moments().add(groups_[group].data(), state.data()[anchors_[group]],
                           state.copies_of(anchors_[group]));
  }
  std::copy(rest_.begin(), rest_.end(), cluster_.begin());
  for (const std::vector<double>& group : groups_) evidence.take_in(cluster_.data(), group.data());
  evidence.factorize(cluster_.data(), factor_.data());
  sides_.clear();
  double log_q = 0.0;
  for (std::size_t item = 0; item < items_.size(); ++item) {
    const double* row = state.data()[items_[item]];
    const double copies = state.copies_of(items_[item]);
    double weights[2];
    double ratios[2];
    for (std::size_t group = 0; group < 2; ++group) {
      const double* stats = groups_[group].data();
      double* e = centers_[group].data();
      const double strength = evidence.locate(cluster_.data(), stats, e);
      for (std::size_t j = 0; j < d; ++j) scratch_[j] = e[j] = row[j] - e[j];
      const double share = strength / (strength + copies);
      ratios[group] = copies * share;
      const double distance = ratios[group] * squared_distance(factor_.data(), scratch_.data(), d);
      const double size = ScatterMoments::weight(stats);
      const double log_seats = copies == 1.0 ? std::log(size) : log_gamma(size + copies) - log_gamma(size);
      weights[group] =
          log_seats + 0.5 * static_cast<double>(d) * std::log(share) -
          0.5 * (evidence.dof() + Evidence::rows(cluster_.data()) + copies) * std::log1p(distance);
    }
    const double difference = weights[1] - weights[0];
    const double log_one = log_logistic(difference);
    const std::size_t chosen = choose(item, std::exp(log_one));
    log_q += chosen == 1 ? log_one : log_one - difference;
    sides_.push_back(static_cast<std::uint8_t>(chosen));
    // From here on weights and means are enough: the scatter lives on in the factor.
    evidence.moments().move_mean(groups_[chosen].data(), row, copies);
    evidence.join_places(cluster_.data(), rest_.data(), groups_[0].data(), groups_[1].data());
    double* e = centers_[chosen].data();
    for (std::size_t j = 0; j < d; ++j) e[j] *= std::sqrt(ratios[chosen]);
    rank_one(factor_.data(), e, d, 1.0);
  }
  return log_q;
}

bool SubclusterSplitMerge::split(State& state, const TwoLevelCrp& prior, Stream& stream, double log_uniform) {
  const Label sub = state.sub_of(anchors_[0]);
  const Label cluster = state.cluster_of(sub);
  gather(state, sub, sub, stream);
  const double log_q = allocate(
      state, [&](std::size_t, double one) -> std::size_t { return draw_uniform(stream) < one ? 1 : 0; });
  const auto size = [&](std::size_t group) {
    return static_cast<std::uint32_t>(ScatterMoments::weight(groups_[group].data()));
  };
  const double log_ratio =
      prior.log_split(size(0), size(1), state.counts()[static_cast<std::size_t>(cluster)],
                      state.subclusters()) +
      state.evidence().log_marginal(cluster_.data(),
                                    log_determinant(factor_.data(), state.evidence().dimension())) -
      state.log_marginal(cluster) - log_q;
  if (!(log_uniform < log_ratio)) return false;
  std::size_t kept = 0;
  for (std::size_t item = 0; item < items_.size(); ++item)
    if (sides_[item] == 1) items_[kept++] = items_[item];
  items_.resize(kept);
  items_.push_back(anchors_[1]);
  state.split_sub(sub, items_);
  return true;
}

bool SubclusterSplitMerge::merge(State& state, const TwoLevelCrp& prior, Stream& stream, double log_uniform) {
  const Label first = state.sub_of(anchors_[0]);
  const Label second = state.sub_of(anchors_[1]);
  const Label cluster = state.cluster_of(first);
  const Evidence& evidence = state.evidence();
  gather(state, first, second, stream);
  // Both as one sub-cluster.
  std::copy_n(state.sub_stats(first), groups_[0].size(), groups_[0].begin());
  evidence.moments().merge(groups_[0].data(), state.sub_stats(second));
  std::copy(rest_.begin(), rest_.end(), cluster_.begin());
  evidence.take_in(cluster_.data(), groups_[0].data());
  State::Counts merged = state.counts()[static_cast<std::size_t>(cluster)];
  --merged.subclusters;
  const double log_bound =
      evidence.log_marginal(cluster_.data(), scratch_) - state.log_marginal(cluster) -
      prior.log_split(state.sizes()[static_cast<std::size_t>(first)],
                      state.sizes()[static_cast<std::size_t>(second)], merged, state.subclusters() - 1);
  if (!(log_uniform < log_bound)) return false;
  const double log_q = allocate(state, [&](std::size_t item, double) -> std::size_t {
    return state.sub_of(items_[item]) == first ? 0 : 1;
  });
  if (!(log_uniform < log_bound + log_q)) return false;
  state.merge_subs(first, second);
  return true;
}

void ClusterSplitMerge::take_in(Group& group, const State& state, std::uint32_t sub) const {
  state.evidence().take_in(group.stats.data(), state.sub_stats(static_cast<Label>(sub)));
  group.counts.rows += state.sizes()[sub];
  ++group.counts.subclusters;
}

double ClusterSplitMerge::log_weight(const Group& group, const State& state, const TwoLevelCrp& prior) {
  return prior.log_cluster(group.counts) + state.evidence().log_marginal(group.stats.data(), scratch_);
}

template <typename Choose>
double ClusterSplitMerge::allocate(const State& state, const TwoLevelCrp& prior, Choose&& choose) {
  for (std::size_t group = 0; group < 2; ++group) {
    groups_[group].stats.resize(state.evidence().cluster_size());
    state.evidence().clear(groups_[group].stats.data());
    groups_[group].counts = {};
    take_in(groups_[group], state, anchors_[group]);
    log_weights_[group] = log_weight(groups_[group], state, prior);
  }
  sides_.clear();
  double log_q = 0.0;
  for (std::size_t item = 0; item < items_.size(); ++item) {
    double with[2];
    for (std::size_t group = 0; group < 2; ++group) {
      joined_[group] = groups_[group];
      take_in(joined_[group], state, items_[item]);
      with[group] = log_weight(joined_[group], state, prior);
    }
    const double difference = (with[1] - log_weights_[1]) - (with[0] - log_weights_[0]);
    const double log_one = log_logistic(difference);
    const std::size_t chosen = choose(item, std::exp(log_one));
    log_q += chosen == 1 ? log_one : log_one - difference;
    sides_.push_back(static_cast<std::uint8_t>(chosen));
    std::swap(groups_[chosen], joined_[chosen]);
    log_weights_[chosen] = with[chosen];
  }
  return log_q;
}

void ClusterSplitMerge::step(State& state, const TwoLevelCrp& prior, Stream& stream) {
  items_.clear();
  for (std::size_t slot = 0; slot < state.sizes().size(); ++slot)
    if (state.sizes()[slot] != 0) items_.push_back(static_cast<std::uint32_t>(slot));
  if (items_.size() < 2) return;
  draw_anchors(stream, items_.size(), anchors_);
  for (std::uint32_t& anchor : anchors_) anchor = items_[anchor];
  const double log_uniform = std::log(draw_uniform(stream));
  const Label first = state.cluster_of(static_cast<Label>(anchors_[0]));
  const Label second = state.cluster_of(static_cast<Label>(anchors_[1]));
  std::erase_if(items_, [&](std::uint32_t sub) {
    const Label cluster = state.cluster_of(static_cast<Label>(sub));
    return sub == anchors_[0] || sub == anchors_[1] || (cluster != first && cluster != second);
  });
  shuffle(stream, items_);
  const double log_open = std::log(prior.alpha_clusters());
  const auto weight_of = [&](Label cluster) {
    return prior.log_cluster(state.counts()[static_cast<std::size_t>(cluster)]) + state.log_marginal(cluster);
  };
  if (first == second) {
    ++counts_.splits.proposed;
    const double log_q = allocate(state, prior, [&](std::size_t, double one) -> std::size_t {
      return draw_uniform(stream) < one ? 1 : 0;
    });
    const double log_ratio = log_open + log_weights_[0] + log_weights_[1] - weight_of(first) - log_q;
    if (!(log_uniform < log_ratio)) return;
    moved_.assign(1, static_cast<Label>(anchors_[1]));
    for (std::size_t item = 0; item < items_.size(); ++item)
      if (sides_[item] == 1) moved_.push_back(static_cast<Label>(items_[item]));
    state.split_cluster(moved_);
    ++counts_.splits.accepted;
    return;
  }
  ++counts_.merges.proposed;
  Group& whole = joined_[0];
  whole.stats.assign(state.cluster_stats(first),
                     state.cluster_stats(first) + state.evidence().cluster_size());
  whole.counts = state.counts()[static_cast<std::size_t>(first)];
  for (const Label sub : state.subs_of(second)) take_in(whole, state, static_cast<std::uint32_t>(sub));
  const double log_bound = log_weight(whole, state, prior) - log_open - weight_of(first) - weight_of(second);
  if (!(log_uniform < log_bound)) return;
  const double log_q = allocate(state, prior, [&](std::size_t item, double) -> std::size_t {
    return state.cluster_of(static_cast<Label>(items_[item])) == first ? 0 : 1;
  });
  if (!(log_uniform < log_bound + log_q)) return;
  state.merge_clusters(first, second);
  ++counts_.merges.accepted;
}

}  // namespace coppice::nhcm
