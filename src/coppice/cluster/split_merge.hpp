// Split and merge of two clusters with restricted Gibbs scans (Jain and Neal 2004). One move draws an ordered
// pair of rows; if they share a cluster it proposes to split it, else to merge their two clusters. The launch
// state and the scan order have the same law in both directions, so the acceptance ratio is prod h(new) /
// prod h(old) times the probability q of the last scan (inverted for a split), with h(c) = kappa(n_c) m(X_c).
// Since q <= 1, most merges can be refused before any scan: the uniform number is drawn first and compared
// with the ratio without q.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coppice/base/aligned.hpp"
#include "coppice/base/rng.hpp"
#include "coppice/cluster/clusters.hpp"
#include "coppice/cluster/move_count.hpp"
#include "coppice/cluster/work.hpp"
#include "coppice/prior/product_partition.hpp"

namespace coppice {

/// Prior weights of the two groups of a pair, where they are not those of the groups' sizes. They may depend
/// on anything that the move does not change, and on who is in which group.
class PairPrior {
 public:
  virtual ~PairPrior() = default;
  /// Both groups are empty.
  virtual void clear() = 0;
  virtual void add(std::uint32_t item, std::size_t group) = 0;
  virtual void remove(std::uint32_t item, std::size_t group) = 0;
  /// log weight of group 1 against group 0 for an item that is in neither.
  virtual double log_odds(std::uint32_t item) const = 0;
};

/// Two groups of the same items between which single rows move: the state of a restricted Gibbs scan.
class RestrictedPair {
 public:
  /// Weights are raised to `power`, which is that of the target.
  RestrictedPair(const Family& family, const Rows& rows, std::span<const double> log_join,
                 double power = 1.0);

  /// Another family of the same layout, such as one with other hyper-parameters, and rows for it.
  void use(const Family& family, const Rows& rows) {
    family_ = &family;
    data_ = &rows;
  }

  /// Groups weigh by this prior instead of by their sizes; null: by their sizes again.
  void set_prior(PairPrior* prior) { prior_ = prior; }

  /// Group 0 holds anchor_a, group 1 anchor_b; every item (the anchors are not items) goes to either by a
  /// fair coin.
  void launch_random(std::uint32_t anchor_a, std::uint32_t anchor_b, std::span<const std::uint32_t> items,
                     Stream& stream);
  /// The same, but the items come in one by one with the Gibbs weights of the groups so far: a much better
  /// start.
  void launch_sequential(std::uint32_t anchor_a, std::uint32_t anchor_b, std::span<const std::uint32_t> items,
                         Stream& stream);
  /// The same, with the items in given groups.
  void launch_given(std::uint32_t anchor_a, std::uint32_t anchor_b, std::span<const std::uint32_t> items,
                    std::span<const std::uint8_t> sides);
  /// Where a second scan begins that has to begin like the first: the state is kept before it and taken back
  /// after it.
  void keep_launch();
  void return_to_launch();
  /// One Gibbs scan over the items in the order given; returns the log probability of its choices.
  double scan(Stream& stream);
  /// A scan that makes the given choices; returns their log probability.
  double scan_forced(std::span<const std::uint8_t> sides);
  /// Whether log_uniform < log_bound + that. Every choice lowers the sum, so the scan ends where the answer
  /// is no; it counts as the work of a whole one, so that numbers of moves do not follow from where it ends.
  bool accepts_forced(std::span<const std::uint8_t> sides, double log_bound, double log_uniform);

  std::span<const std::uint8_t> sides() const { return sides_; }
  std::size_t size(std::size_t group) const { return sizes_[group]; }
  double log_marginal(std::size_t group) const { return family_->log_marginal(stats(group)); }
  /// Log weight of joining a group, for an item that is not in it.
  double log_weight_of_joining(std::uint32_t item, std::size_t group) const;
  /// Of all launches and scans so far.
  Work work() const { return work_; }
  /// What a pair takes, for the estimate before a run.
  static std::size_t bytes(const Family& family);

 private:
  struct SideProbabilities {
    double log_zero, log_one;
  };
  template <typename Choose>
  double scan_with(Choose&& choose);
  /// The item moves to the other group.
  void change_side(std::size_t i);
  /// `own` is the group that holds the item, or 2 for none.
  SideProbabilities probabilities(std::uint32_t item, std::size_t own) const;
  void count_in(std::uint32_t item, std::size_t group);
  void set_anchors(std::uint32_t anchor_a, std::uint32_t anchor_b);
  const double* stats(std::size_t group) const { return stats_.data() + group * stats_size_; }
  double* stats(std::size_t group) { return stats_.data() + group * stats_size_; }
  void rebuild();
  void refresh(std::size_t group) { family_->fill_cache(stats(group), cache_.data() + group); }

  const Family* family_;
  const Rows* data_;
  std::span<const double> log_join_;
  double power_;
  PairPrior* prior_ = nullptr;
  std::size_t stats_size_;
  std::vector<std::uint32_t> items_;
  std::vector<std::uint8_t> sides_;
  std::uint32_t anchors_[2] = {0, 0};
  std::size_t sizes_[2] = {0, 0};
  Work work_ = 0;
  AlignedVector stats_, cache_;
  std::vector<std::uint8_t> kept_sides_;
  std::size_t kept_sizes_[2] = {0, 0};
  AlignedVector kept_stats_;
};

struct SplitMergeOptions {
  std::size_t scans = 0;       // intermediate scans between launch and proposal
  bool random_launch = false;  // Jain and Neal's random launch instead of sequential allocation
  double power = 1.0;          // the target is prior times likelihood to this power
};

/// How the two groups of a pair start. The law may depend on the two anchors and on the set of items, never
/// on which cluster an item is in now.
class Launch {
 public:
  virtual ~Launch() = default;
  virtual void start(RestrictedPair& pair, std::uint32_t anchor_a, std::uint32_t anchor_b,
                     std::span<const std::uint32_t> items, Stream& stream) = 0;
};

class SplitMerge {
 public:
  SplitMerge(const Family& family, const Rows& rows, const ProductPartition& prior,
             const SplitMergeOptions& options);

  /// One move on a pair of rows drawn uniformly from the first `rows`.
  void step(Clusters& clusters, std::size_t rows, Stream& stream);
  /// One move on two given rows, which must have been chosen without regard to the partition; without
  /// `launch` the pair starts as the options say.
  void step(Clusters& clusters, std::uint32_t anchor_a, std::uint32_t anchor_b, Launch* launch,
            Stream& stream);

  const MoveCount& splits() const { return splits_; }
  const MoveCount& merges() const { return merges_; }
  Work work() const { return pair_.work() + kWorkOfUnion * (splits_.proposed + merges_.proposed); }
  void set_counts(const MoveCount& splits, const MoveCount& merges) {
    splits_ = splits;
    merges_ = merges;
  }
  /// What the moves take, for the estimate before a run.
  static std::size_t bytes(const Family& family) {
    return RestrictedPair::bytes(family) + family.stats_size() * sizeof(double);
  }

 private:
  bool split(Clusters& clusters, Stream& stream, Label cluster, double log_uniform);
  bool merge(Clusters& clusters, Stream& stream, Label first, Label second, double log_uniform);
  /// Start and intermediate scans over the rows of both clusters.
  void launch(const Clusters& clusters, Stream& stream, Label first, Label second);
  double log_weight(const Clusters& clusters, Label slot) const;  // log h of a cluster
  double log_weight_of_group(std::size_t group) const;            // log h of a group of the pair

  const Family* family_;
  const ProductPartition* prior_;
  SplitMergeOptions options_;
  Launch* launch_ = nullptr;  // of the move under way
  RestrictedPair pair_;
  std::vector<std::uint32_t> items_;
  std::vector<std::uint8_t> target_;
  std::vector<double> merged_;
  std::uint32_t anchor_a_ = 0, anchor_b_ = 0;
  MoveCount splits_, merges_;
};

}  // namespace coppice
