#include "coppice/post/draw_set.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "coppice/base/error.hpp"
#include "coppice/shape/contingency.hpp"

namespace coppice {

namespace {

std::uint64_t hash_labels(std::span<const Label> labels) {
  std::uint64_t hash = 0x9e3779b97f4a7c15U;
  for (const Label label : labels) {
    hash = (hash ^ static_cast<std::uint64_t>(label)) * 0xff51afd7ed558ccdU;
    hash ^= hash >> 29;
  }
  return hash;
}

}  // namespace

DrawSet::DrawSet(const LabelMatrix& draws, std::size_t max_draws) : rows_(draws.rows) {
  if (draws.draws() == 0) fail(ErrorCode::usage, "consensus: there are no draws");
  draws_used_ = std::clamp<std::size_t>(max_draws, 1, draws.draws());
  const double share = 1.0 / static_cast<double>(draws_used_);
  std::unordered_multimap<std::uint64_t, std::size_t> by_hash;
  Labels scratch(rows_);
  Labels other(rows_);
  copies_.reserve(draws_used_);
  for (std::size_t t = 0; t < draws_used_; ++t) {
    const auto labels = draws[spaced(t, draws_used_, draws.draws())];
    const std::size_t clusters = compact_labels(labels, scratch);
    const std::uint64_t hash = hash_labels(scratch);
    const auto [begin, end] = by_hash.equal_range(hash);
    const auto same = std::find_if(begin, end, [&](const auto& known) {
      compact_labels(entries_[known.second].labels, other);
      return other == scratch;
    });
    if (same != end) {
      entries_[same->second].weight += share;
      continue;
    }
    by_hash.emplace(hash, entries_.size());
    const Label largest = *std::max_element(labels.begin(), labels.end());
    const bool is_dense = static_cast<std::size_t>(largest) + 1 == clusters;
    if (!is_dense) copies_.push_back(scratch);
    entries_.push_back(
        {is_dense ? labels : std::span<const Label>(copies_.back()), clusters, all_clusters_, share});
    all_clusters_ += clusters;
    most_clusters_ = std::max(most_clusters_, clusters);
  }
}

}  // namespace coppice
