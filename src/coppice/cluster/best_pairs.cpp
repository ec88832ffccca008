#include "coppice/cluster/best_pairs.hpp"

#include <algorithm>

#include "coppice/base/extremes.hpp"
#include "coppice/base/math.hpp"
#include "coppice/base/parallel.hpp"

namespace coppice {

BestPairs::BestPairs(std::size_t items, bool keeps_scores)
    : keeps_scores_(keeps_scores),
      live_(items),
      alive_(items, 1),
      partner_(items, kNobody),
      partner_score_(items, kMinusInfinity),
      fresh_(items),
      mask_(items, 0.0) {
  if (keeps_scores && items > 1) scores_ = std::make_unique_for_overwrite<double[]>(items * (items - 1) / 2);
  orphans_.reserve(items);
}

std::size_t BestPairs::bytes(std::size_t items, bool keeps_scores) {
  return items * (sizeof(char) + 2 * sizeof(std::size_t) + 3 * sizeof(double)) +
         (keeps_scores && items > 0 ? items * (items - 1) / 2 * sizeof(double) : 0);
}

void BestPairs::find_partner(std::size_t position, const double* later) {
  const std::size_t count = positions() - position - 1;
  const std::size_t place = first_maximum(later, count);
  const bool found = place < count && later[place] > kMinusInfinity;
  partner_[position] = found ? position + 1 + place : kNobody;
  partner_score_[position] = found ? later[place] : kMinusInfinity;
}

void BestPairs::start_next(PairScorer& scorer) { start_at(started_++, scorer); }

void BestPairs::start_together(PairScorer& scorer, std::size_t threads) {
  if (!keeps_scores_) return;
  constexpr std::size_t kParts = 16;
  const std::size_t begin = started_;
  parallel_for(kParts, threads, [&](std::size_t part) {  // far ones have less to do: every part gets some
    for (std::size_t position = begin + part; position < positions(); position += kParts)
      start_at(position, scorer);
  });
  started_ = positions();
}

void BestPairs::start_at(std::size_t position, PairScorer& scorer) {
  if (position + 1 == positions()) return;
  double* later = keeps_scores_ ? row(position) + position + 1 : fresh_.data();
  scorer.scores(position, position + 1, positions(), later);
  find_partner(position, later);
}

void BestPairs::look_again(std::size_t position, PairScorer& scorer) {
  if (position + 1 == positions()) {
    partner_[position] = kNobody;
    partner_score_[position] = kMinusInfinity;
    return;
  }
  const double* later = fresh_.data();
  if (keeps_scores_)
    later = row(position) + position + 1;
  else
    scorer.scores(position, position + 1, positions(), fresh_.data());
  mask_dead(later, position + 1);
  find_partner(position, fresh_.data());
}

void BestPairs::mask_dead(const double* from, std::size_t begin) {
  const double* mask = mask_.data() + begin;
  double* to = fresh_.data();
  for (std::size_t i = 0; i < positions() - begin; ++i) to[i] = from[i] + mask[i];
}

BestPairs::Pair BestPairs::best() const {
  const std::size_t first = first_maximum(partner_score_.data(), positions());
  return {first, partner_[first], partner_score_[first]};
}

void BestPairs::merge(std::size_t first, std::size_t second, PairScorer& scorer) {
  alive_[second] = 0;
  --live_;
  partner_[second] = kNobody;
  partner_score_[second] = kMinusInfinity;
  mask_[second] = kMinusInfinity;
  scorer.scores(first, 0, positions(), fresh_.data());
  fresh_[first] = kMinusInfinity;
  mask_dead(fresh_.data(), 0);
  find_partner(first, fresh_.data() + first + 1);
  if (keeps_scores_) {
    if (first + 1 < positions())
      std::copy(fresh_.begin() + static_cast<std::ptrdiff_t>(first) + 1, fresh_.end(),
                row(first) + first + 1);
    for (std::size_t p = 0; p < first; ++p)
      if (alive_[p] != 0) row(p)[first] = fresh_[p];
  }
  // What the new item means for earlier ones must be read before anything overwrites it.
  orphans_.clear();
  for (std::size_t p = 0; p < first; ++p) {
    if (alive_[p] == 0) continue;
    const bool was_partner = partner_[p] == first || partner_[p] == second;
    if (fresh_[p] > partner_score_[p] || (fresh_[p] == partner_score_[p] && first <= partner_[p])) {
      partner_[p] = first;
      partner_score_[p] = fresh_[p];
    } else if (was_partner) {
      orphans_.push_back(p);
    }
  }
  for (std::size_t p = first + 1; p < second; ++p)
    if (partner_[p] == second) orphans_.push_back(p);
  for (const std::size_t p : orphans_) look_again(p, scorer);
}

std::vector<std::size_t> BestPairs::compact() {
  std::vector<std::size_t> kept;
  std::vector<std::size_t> place(positions(), kNobody);
  for (std::size_t p = 0; p < positions(); ++p) {
    if (alive_[p] == 0) continue;
    place[p] = kept.size();
    kept.push_back(p);
  }
  if (keeps_scores_) {
    // Every number moves toward the front, in order, so none is overwritten before it is read.
    std::size_t to = 0;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      const double* from = row(kept[i]);
      for (std::size_t j = i + 1; j < kept.size(); ++j) scores_[to++] = from[kept[j]];
    }
  }
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const std::size_t partner = partner_[kept[i]];
    partner_[i] = partner == kNobody ? kNobody : place[partner];
    partner_score_[i] = partner_score_[kept[i]];
  }
  partner_.resize(kept.size());
  partner_score_.resize(kept.size());
  fresh_.resize(kept.size());
  alive_.assign(kept.size(), 1);
  mask_.assign(kept.size(), 0.0);
  started_ = kept.size();
  return kept;
}

}  // namespace coppice
