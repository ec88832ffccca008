#include "coppice/cluster/greedy_merging.hpp"

#include <algorithm>

#include "coppice/base/math.hpp"
#include "coppice/base/parallel.hpp"

namespace coppice {
namespace {

/// Numbers to read for scores from which on threads gain more than they cost.
constexpr std::size_t kLeastShared = 200'000;
constexpr std::size_t kGroup = kLanes * kLanes;
constexpr auto kNoPlace = static_cast<std::uint32_t>(-1);

std::size_t groups_of(std::size_t positions) { return (positions + kGroup - 1) / kGroup; }

}  // namespace

/// Of one thread while it scores the pairs of an item.
struct GreedyMerging::Buffers {
  AlignedVector single_values;
  AlignedVector log_marginals;  // of its unions, by position
  AlignedVector of_larger;      // of those with larger clusters, by place
};

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
      singles_(groups_of(roots.size()) * words_, 0),
      place_of_(roots.size(), kNoPlace) {
  for (std::size_t position = 0; position < roots.size(); ++position) place(position, roots[position]);
}

std::size_t GreedyMerging::bytes(const Family& family, std::size_t roots, bool keeps_scores) {
  return BestPairs::bytes(roots, keeps_scores) +
         roots * (sizeof(Node) + sizeof(std::uint32_t) + (2 + 2 * family.union_size()) * sizeof(double)) +
         groups_of(roots) * family.single_words() * sizeof(std::uint64_t);
}

void GreedyMerging::place(std::size_t position, Node node) {
  nodes_[position] = node;
  counts_[position] = forest_->count(node);
  log_phi_[position] = forest_->log_phi(node);
  family_->fill_union(forest_->stats(node), values_of(position));
  if (counts_[position] > 1)
    set_larger(position);
  else
    family_->set_single(forest_->stats(node), position % kGroup,
                        singles_.data() + position / kGroup * words_);
}

void GreedyMerging::set_larger(std::size_t position) {
  std::uint32_t& place = place_of_[position];
  if (place == kNoPlace) {
    place = static_cast<std::uint32_t>(larger_.size());
    larger_.push_back(static_cast<std::uint32_t>(position));
    if (larger_values_.size() < larger_.size() * stride_ / kLanes)
      larger_values_.resize(larger_values_.size() + stride_, 0.0);
  }
  family_->fill_union(forest_->stats(nodes_[position]), larger_values(place));
}

void GreedyMerging::forget_larger(std::size_t position) {
  const std::uint32_t place = place_of_[position];
  if (place == kNoPlace) return;
  place_of_[position] = kNoPlace;
  const std::uint32_t moved = larger_.back();
  larger_.pop_back();
  if (moved == position) return;
  larger_[place] = moved;
  place_of_[moved] = place;
  family_->fill_union(forest_->stats(nodes_[moved]), larger_values(place));
}

void GreedyMerging::score_half(std::size_t position, std::size_t half, bool as_singles, Buffers& buffers) {
  constexpr std::size_t kChunks = kLanes / 2;
  const std::size_t group = half / 2;
  const std::size_t first_chunk = half % 2 * kChunks;
  const double* one = values_of(position);
  const double* others = values_.data() + group * kLanes * stride_;
  double* out = buffers.log_marginals.data() + group * kGroup;
  std::fill_n(out + first_chunk * kLanes, kChunks * kLanes, 0.0);
  if (as_singles)
    family_->add_log_marginals_of_singles(one, buffers.single_values.data(), singles_.data() + group * words_,
                                          others, stride_, 0x0fU << first_chunk, out);
  else
    family_->add_log_marginals(one, others + first_chunk * stride_, stride_, kChunks,
                               out + first_chunk * kLanes);
}

void GreedyMerging::score_larger(std::size_t position, std::size_t begin, std::size_t end, Buffers& buffers) {
  const std::size_t chunks = (larger_.size() + kLanes - 1) / kLanes;
  buffers.of_larger.assign(chunks * kLanes, 0.0);
  family_->add_log_marginals(values_of(position), larger_values_.data(), stride_, chunks,
                             buffers.of_larger.data());
  for (std::size_t place = 0; place < larger_.size(); ++place)
    if (larger_[place] >= begin && larger_[place] < end)
      buffers.log_marginals[larger_[place]] = buffers.of_larger[place];
}

void GreedyMerging::start_together() {
  if (threads_ != 1 && values_.size() * nodes_.size() / 2 >= kLeastShared)
    loop_.start_together(*this, threads_);
}

void GreedyMerging::scores(std::size_t position, std::size_t begin, std::size_t end, double* out) {
  constexpr std::size_t kHalf = kGroup / 2;
  const std::size_t first = begin / kHalf;
  const std::size_t halves = (end + kHalf - 1) / kHalf - first;
  // Buffers of this thread. The threads below work on them too; no other work does until all are finished.
  thread_local Buffers buffers_of_thread;
  Buffers& buffers = buffers_of_thread;
  buffers.single_values.resize(std::max(buffers.single_values.size(), family_->single_size()));
  buffers.log_marginals.resize(std::max(buffers.log_marginals.size(), groups_of(end) * kGroup));
  const bool as_singles =
      family_->single_size() != 0 && family_->single_size() <= (end - begin) * family_->union_size();
  if (as_singles) family_->fill_single(values_of(position), buffers.single_values.data());
  const bool are_shared =
      threads_ != 1 && loop_.is_started() && halves * kHalf / kLanes * stride_ >= kLeastShared;
  if (are_shared)
    parallel_for(halves, threads_,
                 [&](std::size_t half) { score_half(position, first + half, as_singles, buffers); });
  else
    for (std::size_t half = 0; half < halves; ++half) score_half(position, first + half, as_singles, buffers);
  if (as_singles) score_larger(position, begin, end, buffers);
  const double* log_marginals = buffers.log_marginals.data();
  const std::uint32_t count = counts_[position];
  const double log_phi = log_phi_[position];
  const auto score = [&](std::size_t from, std::size_t to) {
    for (std::size_t p = from; p < to; ++p)
      out[p - begin] = (prior_->log_kappa(count + counts_[p]) + log_marginals[p]) - (log_phi + log_phi_[p]);
  };
  score(begin, std::max(begin, std::min(position, end)));
  if (position >= begin && position < end) out[position - begin] = kMinusInfinity;
  score(std::max(begin, position + 1), std::max(begin, end));
}

GreedyMerging::Node GreedyMerging::merge(std::size_t first, std::size_t second) {
  const Node made = forest_->join(nodes_[first], nodes_[second]);
  counts_[second] = 0;  // so that no count of a union is beyond all rows
  forget_larger(second);
  place(first, made);
  return made;
}

void GreedyMerging::compact(std::span<const std::size_t> kept) {
  larger_.clear();
  place_of_.assign(kept.size(), kNoPlace);
  for (std::size_t position = 0; position < kept.size(); ++position)
    place(position, nodes_[kept[position]]);  // never before the place that is read
  nodes_.resize(kept.size());
  counts_.resize(kept.size());
  log_phi_.resize(kept.size());
  values_.resize(groups_of(kept.size()) * kLanes * stride_);
  singles_.resize(groups_of(kept.size()) * words_);
}

}  // namespace coppice
