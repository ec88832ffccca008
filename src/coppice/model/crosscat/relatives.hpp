// How closely columns are related: how much more likely the cells of one are given those of another, which
// share their view, than by themselves. Estimated from clusters of the rows that sequential allocation makes
// for each column, under the hyper-parameters from which learning begins. It is a function of the data, the
// seed and the chain, so it need not be stored, and moves may be chosen by it.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "coppice/base/rng.hpp"
#include "coppice/model/crosscat/columns.hpp"

namespace coppice::crosscat {

class Relatives {
 public:
  /// All must outlive it.
  Relatives(const Family& family, const Rows& rows, double alpha, const std::atomic<bool>* stop = nullptr);

  /// For every column, how much more likely its cells are given those of `column` than by themselves (log;
  /// minus infinity for the column itself). Seed and chain of the name count, its sweep does not. Valid until
  /// two other columns were asked for; throws Error{stopped} if the flag is set meanwhile.
  std::span<const double> gains(std::size_t column, const StreamName& name);
  /// The cells of the table are other ones now.
  void data_changed();
  /// What they may take beside the columns.
  static std::size_t bytes(std::size_t columns);

 private:
  /// Each column by itself.
  void begin(const StreamName& name);
  /// Clusters made for one column, into made_; their weights as estimates of log p(cells of the column) into
  /// log_weights_.
  void make_clusters(std::size_t column, const StreamName& name);

  const Family* family_;
  const Rows* rows_;
  double alpha_;
  const std::atomic<bool>* stop_;
  std::unique_ptr<Columns> columns_;  // once they are asked for
  StreamName name_;
  std::vector<std::vector<double>> gains_;  // by column; empty if they are not kept
  std::deque<std::size_t> kept_;            // whose, the oldest first
  std::vector<double> log_alone_;           // log p(cells of the column by itself)
  std::vector<Allocation> made_;
  std::vector<double> log_weights_;
};

}  // namespace coppice::crosscat
