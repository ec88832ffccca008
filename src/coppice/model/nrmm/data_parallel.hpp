// The driver of the data-parallel sampler. Between sweeps the state is an assignment (weights, parameters and
// anchors of the clusters), from which all labels follow, with the clusters' statistics and, for the keys of
// the coming sweep, their smallest keys.
//
// assign() moves rows among the clusters there are: every row has a key, drawn without regard to the
// partition, and the row of the smallest key in a cluster is its anchor. Anchors keep their clusters; every
// other row draws a cluster whose anchor has a smaller key, by weight and likelihood. Among the partitions
// with these anchors that is a Gibbs update given weights and parameters; no cluster appears or vanishes.
//
// split_merge() does that: of rows drawn in pairs, the union of their clusters is divided in two (or the
// present division is kept) by parameters that a launch has drawn without regard to whether the two rows are
// together. Pairs whose clusters meet those of an earlier pair are left out.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coppice/base/engine.hpp"
#include "coppice/cluster/move_count.hpp"
#include "coppice/family/family.hpp"
#include "coppice/model/nrmm/data_parallel_message.hpp"
#include "coppice/prior/product_partition.hpp"

namespace coppice::nrmm {

struct DataParallelOptions {
  std::size_t block_size = 65'536;  // rows
  std::size_t pairs = 5;            // in a sweep
  std::size_t launch_scans = 3;
  std::size_t launch_rows = 10'000;  // of the union of two clusters, on average; 0: all
};

class DataParallel {
 public:
  /// All of them must outlive it. `rows` is that of the whole table.
  DataParallel(const Family& family, const ProductPartition& law, BlockTask& task, std::size_t rows,
               const DataParallelOptions& options);

  /// Takes the labels from an assignment, or those that the blocks keep; `next` is the coming sweep.
  void set_assignment(Engine& engine, Assignment assignment, const StreamName& next);
  void keep_labels(Engine& engine, const StreamName& next);

  void split_merge(Engine& engine, const StreamName& name, std::size_t pairs);
  void assign(Engine& engine, const StreamName& name);
  /// Takes in that the family's hyper-parameters have changed; `before` are those of the statistics.
  void rebase(const double* before);

  std::size_t blocks() const { return blocks_; }
  const Assignment& assignment() const { return assignment_; }
  bool labels_are_kept() const { return labels_are_kept_; }
  std::span<const std::uint32_t> sizes() const { return sizes_; }
  const double* stats(std::size_t cluster) const { return stats_.data() + cluster * stats_size_; }
  double log_marginal() const;

  const MoveCount& splits() const { return splits_; }
  const MoveCount& merges() const { return merges_; }
  void set_counts(const MoveCount& splits, const MoveCount& merges);

  /// Weights and parameters given statistics, cluster after cluster.
  static DrawnClusters draw_clusters(const Family& family, double discount, std::span<const double> stats,
                                     const StreamName& name, Purpose purpose);

 private:
  struct Proposal {
    double log_q = 0.0;
    std::vector<double> stats[2];  // of a split
    double keys[2] = {};
    std::uint64_t rows[2] = {};
  };

  BlockMessage message(Question question, const StreamName& name) const;
  /// The merged answers of all blocks.
  BlockAnswer ask(Engine& engine, const BlockMessage& message) const;
  void tally(Engine& engine, const StreamName& next);
  std::vector<RowPair> draw_pairs(Engine& engine, const StreamName& name, std::size_t count);
  std::vector<Proposal> propose(Engine& engine, BlockMessage& message);
  bool is_accepted(const RowPair& pair, Proposal& proposal, double log_uniform);
  void split(const RowPair& pair, const Proposal& proposal);
  void merge(const RowPair& pair, const Proposal& proposal);
  void remove_emptied();
  double* stats_of(std::size_t cluster) { return stats_.data() + cluster * stats_size_; }

  const Family* family_;
  const ProductPartition* law_;
  BlockTask* task_;
  std::size_t rows_, stats_size_, blocks_;
  DataParallelOptions options_;
  Assignment assignment_;
  bool labels_are_kept_ = false;
  StreamName keys_of_;  // the sweep of the smallest keys
  std::vector<std::uint32_t> sizes_;
  std::vector<double> stats_, keys_;
  std::vector<std::uint64_t> key_rows_;
  MoveCount splits_, merges_;
};

}  // namespace coppice::nrmm
