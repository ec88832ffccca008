// Trees over the rows as some columns see them, with the lower bound of those columns' log evidence under one
// view:
//   LB(V) = log phi(root) + log Gamma(alpha_r) - log Gamma(I + alpha_r).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "coppice/base/rng.hpp"
#include "coppice/cluster/table_columns.hpp"
#include "coppice/model/bhcc/options.hpp"

namespace coppice::bhcc {

struct ViewTree {
  std::shared_ptr<const Dendrogram> rows;
  double log_bound = 0.0;
};

/// Work that has nothing to do with a tree that grows and may be done at the same time: body(0), body(1), ...
struct Beside {
  std::size_t count = 0;
  std::function<void(std::size_t)> body = {};
};

class ViewTrees {
 public:
  /// The table must outlive it.
  ViewTrees(const TableColumns& table, const Options& options) : table_(&table), options_(options) {}

  const TableColumns& table() const { return *table_; }
  const Options& options() const { return options_; }
  /// Seed and chain name what is drawn where trees are randomized.
  void set_name(const StreamName& name) { name_ = name; }
  const StreamName& name() const { return name_; }
  /// For loops over views; what they give does not depend on it.
  void set_threads(std::size_t threads) { threads_ = threads; }
  std::size_t threads() const { return threads_; }

  /// Merged greedily, or from the top down if there are many rows. Columns ascend.
  ViewTree grow(std::span<const std::size_t> columns, const Beside& beside = {}) const;
  /// A tree of the given shape, with its log odds recomputed from these columns.
  ViewTree reshape(std::span<const std::size_t> columns, const Dendrogram& shape) const;
  /// A new tree, or one of the given shape if its bound, which is known, is larger.
  ViewTree grow_or_take(std::span<const std::size_t> columns, const Dendrogram& shape, double log_bound,
                        const Beside& beside) const;
  /// The best of a new tree and the shapes of others.
  ViewTree best(std::span<const std::size_t> columns, const Dendrogram& one, const Dendrogram& other) const;
  /// Every column by itself, with all rows in one cluster.
  std::vector<ViewTree> of_one_cluster() const;

 private:
  const TableColumns* table_;
  Options options_;
  StreamName name_;
  std::size_t threads_ = 1;
};

}  // namespace coppice::bhcc
