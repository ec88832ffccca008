#include "coppice/cluster/greedy_merging.hpp"

#include <algorithm>

#include "coppice/base/math.hpp"
#include "coppice/base/parallel.hpp"

namespace coppice {
namespace {

/// Numbers to read for a row of scores from which on threads gain more than they cost.
constexpr std::size_t kLeastShared = 100'000;
constexpr std::size_t kGroup = kLanes * kLanes;

std::size_t groups_of(std::size_t positions) { return (positions + kGroup - 1) / kGroup; }

}  // namespace

GreedyMerging::GreedyMerging(const Family& family, const ProductPartition& prior, MergeTree& forest,
                             std::span<const Node> roots, bool keeps_scores, std::size_t threads)
    : family_(&family),
      prior_(&prior),
      forest_(&forest),
      loop_(roots.size(), keeps_scores),
      nodes_(roots.size()),
      counts_(roots.size()),
      log_phi_(roots.size()),
      stride_(family.union_size() * kLanes),
      words_(family.single_words()),
      threads_(threads),
      values_(groups_of(roots.size()) * kLanes * stride_, 0.0),
      singles_(groups_of(roots.size()) * words_, ~std::uint64_t{0}),
      larger_(groups_of(roots.size()), 0),
      single_values_(family.single_size()),
      log_marginals_(groups_of(roots.size()) * kGroup) {
  for (std::size_t position = 0; position < roots.size(); ++position) place(position, roots[position]);
}

std::size_t GreedyMerging::bytes(const Family& family, std::size_t roots, bool keeps_scores) {
  return BestPairs::bytes(roots, keeps_scores) +
         roots * (sizeof(Node) + sizeof(std::uint32_t) + (2 + family.union_size()) * sizeof(double)) +
         groups_of(roots) * family.single_words() * sizeof(std::uint64_t);
}

void GreedyMerging::place(std::size_t position, Node node) {
  nodes_[position] = node;
  counts_[position] = forest_->count(node);
  log_phi_[position] = forest_->log_phi(node);
  family_->fill_union(forest_->stats(node), values_of(position));
  const std::size_t group = position / kGroup;
  if (counts_[position] > 1)
    larger_[group] = static_cast<std::uint8_t>(larger_[group] | 1U << position % kGroup / kLanes);
  else
    family_->set_single(forest_->stats(node), position % kGroup, singles_.data() + group * words_);
}

void GreedyMerging::score_group(std::size_t position, std::size_t group) {
  const double* one = values_of(position);
  const double* others = values_.data() + group * kLanes * stride_;
  double* out = log_marginals_.data() + group * kGroup;
  std::fill_n(out, kGroup, 0.0);
  const unsigned larger = larger_[group];
  if (larger != 0xff)
    family_->add_log_marginals_of_singles(one, single_values_.data(), singles_.data() + group * words_,
                                          others, stride_, ~larger & 0xffU, out);
  for (std::size_t chunk = 0; chunk < kLanes; ++chunk) {
    if ((larger >> chunk & 1U) == 0) continue;
    std::fill_n(out + chunk * kLanes, kLanes, 0.0);
    family_->add_log_marginals(one, others + chunk * stride_, stride_, 1, out + chunk * kLanes);
  }
}

void GreedyMerging::scores(std::size_t position, std::size_t begin, std::size_t end, double* out) {
  const std::size_t first_group = begin / kGroup;
  const std::size_t groups = groups_of(end) - first_group;
  family_->fill_single(values_of(position), single_values_.data());
  const bool are_shared = threads_ != 1 && groups * kLanes * stride_ >= kLeastShared;
  parallel_for(groups, are_shared ? threads_ : 1,
               [&](std::size_t group) { score_group(position, first_group + group); });
  const std::uint32_t count = counts_[position];
  const double log_phi = log_phi_[position];
  const auto score = [&](std::size_t from, std::size_t to) {
    for (std::size_t p = from; p < to; ++p)
      out[p - begin] = (prior_->log_kappa(count + counts_[p]) + log_marginals_[p]) - (log_phi + log_phi_[p]);
  };
  score(begin, std::max(begin, std::min(position, end)));
  if (position >= begin && position < end) out[position - begin] = kMinusInfinity;
  score(std::max(begin, position + 1), std::max(begin, end));
}

GreedyMerging::Node GreedyMerging::merge(std::size_t first, std::size_t second) {
  const Node made = forest_->join(nodes_[first], nodes_[second]);
  counts_[second] = 0;  // so that no count of a union is beyond all rows
  place(first, made);
  return made;
}

void GreedyMerging::compact(std::span<const std::size_t> kept) {
  larger_.assign(groups_of(kept.size()), 0);
  for (std::size_t position = 0; position < kept.size(); ++position)
    place(position, nodes_[kept[position]]);  // never before the place that is read
  nodes_.resize(kept.size());
  counts_.resize(kept.size());
  log_phi_.resize(kept.size());
  values_.resize(groups_of(kept.size()) * kLanes * stride_);
  singles_.resize(groups_of(kept.size()) * words_);
}

}  // namespace coppice
