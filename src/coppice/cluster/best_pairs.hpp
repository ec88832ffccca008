// The best pair among many, while pairs are merged: what greedy agglomeration is made of. Items stand at
// positions 0, 1, ...; the score of a pair depends on its two items alone. For each position the best partner
// at a later position is known; it is looked for again only when that partner is gone. Scores are kept (a
// triangle of all pairs) or computed again when they are needed (memory of one number for each item); the
// outcome is the same. Among equal scores the pair of smallest positions wins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace coppice {

class PairScorer {
 public:
  virtual ~PairScorer() = default;
  /// out[p - begin] = score of the items at `position` and p, for p in [begin, end); anything where p is
  /// `position` itself or nothing is at p any more. Must be less than infinity, and the same in both
  /// directions.
  virtual void scores(std::size_t position, std::size_t begin, std::size_t end, double* out) = 0;
};

class BestPairs {
 public:
  struct Pair {
    std::size_t first, second;  // first < second
    double score;
  };

  BestPairs(std::size_t items, bool keeps_scores);

  /// Items whose pairs with later ones are scored; they come one after the other, all before the first merge.
  std::size_t started() const { return started_; }
  void start_next(PairScorer& scorer);
  /// All that are left at once, if scores are kept; the scorer must bear several threads.
  void start_together(PairScorer& scorer, std::size_t threads);
  bool is_started() const { return started_ == positions(); }

  std::size_t positions() const { return alive_.size(); }
  std::size_t live() const { return live_; }
  bool is_alive(std::size_t position) const { return alive_[position] != 0; }
  /// Needs two live items.
  Pair best() const;
  /// The item at `first` is now the merged one, the one at `second` is gone.
  void merge(std::size_t first, std::size_t second, PairScorer& scorer);
  /// Gives live items the positions 0, 1, ... in the same order; returns the positions they had.
  std::vector<std::size_t> compact();

  static std::size_t bytes(std::size_t items, bool keeps_scores);

 private:
  static constexpr std::size_t kNobody = static_cast<std::size_t>(-1);
  /// Scores of `position` with all later ones, as far as they are kept.
  double* row(std::size_t position) { return scores_.get() + offset(position) - position - 1; }
  std::size_t offset(std::size_t position) const {
    return position * (positions() - 1) - position * (position - 1) / 2;
  }
  void start_at(std::size_t position, PairScorer& scorer);
  void find_partner(std::size_t position, const double* later);
  /// fresh_[p - begin] = scores of `position` with what is at p, from `from`; minus infinity where nothing
  /// is.
  void mask_dead(const double* from, std::size_t begin);
  void look_again(std::size_t position, PairScorer& scorer);

  bool keeps_scores_;
  std::size_t started_ = 0, live_;
  std::vector<char> alive_;
  std::vector<std::size_t> partner_;
  std::vector<double> partner_score_;
  std::vector<double> fresh_;
  std::vector<double> mask_;  // 0, or minus infinity where nothing is
  std::vector<std::size_t> orphans_;
  std::unique_ptr<double[]> scores_;  // of live items; what is kept for others is never read
};

}  // namespace coppice
