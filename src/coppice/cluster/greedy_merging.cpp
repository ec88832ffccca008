#include "coppice/cluster/greedy_merging.hpp"

#include <algorithm>

#include "coppice/base/math.hpp"
#include "coppice/base/parallel.hpp"

namespace coppice {
namespace {

/// Numbers to read for a row of scores from which on threads gain more than they cost.
constexpr std::size_t kLeastShared = 100'000;

std::size_t chunks_of(std::size_t positions) { return (positions + kLanes - 1) / kLanes; }

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
      threads_(threads),
      values_(chunks_of(roots.size()) * stride_, 0.0),
      log_marginals_(chunks_of(roots.size()) * kLanes) {
  for (std::size_t position = 0; position < roots.size(); ++position) place(position, roots[position]);
}

std::size_t GreedyMerging::bytes(const Family& family, std::size_t roots, bool keeps_scores) {
  return BestPairs::bytes(roots, keeps_scores) +
         roots * (sizeof(Node) + sizeof(std::uint32_t) + (2 + family.union_size()) * sizeof(double));
}

void GreedyMerging::place(std::size_t position, Node node) {
  nodes_[position] = node;
  counts_[position] = forest_->count(node);
  log_phi_[position] = forest_->log_phi(node);
  family_->fill_union(forest_->stats(node), values_of(position));
}

void GreedyMerging::scores(std::size_t position, std::size_t begin, std::size_t end, double* out) {
  const std::size_t first_chunk = begin / kLanes;
  const std::size_t chunks = chunks_of(end) - first_chunk;
  std::fill_n(log_marginals_.begin(), chunks * kLanes, 0.0);
  const auto add = [&](std::size_t from, std::size_t to) {
    family_->add_log_marginals(values_of(position), values_.data() + (first_chunk + from) * stride_, stride_,
                               to - from, log_marginals_.data() + from * kLanes);
  };
  if (threads_ != 1 && chunks * stride_ >= kLeastShared) {
    constexpr std::size_t kParts = 8;
    parallel_for(kParts, threads_,
                 [&](std::size_t part) { add(part * chunks / kParts, (part + 1) * chunks / kParts); });
  } else {
    add(0, chunks);
  }
  const double* log_marginal = log_marginals_.data() + (begin - first_chunk * kLanes);
  const std::uint32_t count = counts_[position];
  const double log_phi = log_phi_[position];
  for (std::size_t p = begin; p < end; ++p) {
    if (!loop_.is_alive(p) || p == position) {
      out[p - begin] = kMinusInfinity;
      continue;
    }
    out[p - begin] =
        (prior_->log_kappa(count + counts_[p]) + log_marginal[p - begin]) - (log_phi + log_phi_[p]);
  }
}

GreedyMerging::Node GreedyMerging::merge(std::size_t first, std::size_t second) {
  const Node made = forest_->join(nodes_[first], nodes_[second]);
  place(first, made);
  return made;
}

void GreedyMerging::compact(std::span<const std::size_t> kept) {
  for (std::size_t position = 0; position < kept.size(); ++position) {
    nodes_[position] = nodes_[kept[position]];
    counts_[position] = counts_[kept[position]];
    log_phi_[position] = log_phi_[kept[position]];
    const double* from = values_of(kept[position]);
    double* to = values_of(position);
    for (std::size_t value = 0; value < stride_; value += kLanes) to[value] = from[value];
  }
  nodes_.resize(kept.size());
  counts_.resize(kept.size());
  log_phi_.resize(kept.size());
  values_.resize(chunks_of(kept.size()) * stride_);
}

}  // namespace coppice
