// A view's columns over the shape of another view's tree have a log marginal in each node; these profiles add
// up when views are merged, so they are kept for every pair of live views as long as memory allows. Eight
// views at a time go through the recursion of one shape; after a merge, one view goes through those of eight
// shapes at a time.
#include <algorithm>
#include <utility>

#include "coppice/base/aligned.hpp"
#include "coppice/base/math.hpp"
#include "coppice/base/parallel.hpp"
#include "coppice/family/tied_copies.hpp"
#include "coppice/model/bhcc/pair_bounds.hpp"

namespace coppice::bhcc {
namespace {

/// Shapes that are worked on in one unit of the preparation; not a function of the threads.
constexpr std::size_t kShapesOfUnit = 32;

std::size_t profile_bytes(std::size_t views, std::size_t rows) {
  return (views + kLanes) * views * rows * sizeof(double);
}

class ReuseBounds final : public PairBounds {
 public:
  ReuseBounds(const ViewTrees& trees, const ColumnForest& forest, std::span<const Node> roots)
      : trees_(&trees),
        forest_(&forest),
        row_prior_(trees.options().alpha_rows, trees.table().rows()),
        rows_(trees.table().rows()),
        chunks_((roots.size() + kLanes - 1) / kLanes),
        keeps_profiles_(profile_bytes(roots.size(), rows_) <= trees.options().most_profile_bytes),
        slots_(roots.size()),
        alone_(chunks_ * rows_ * kLanes, 0.0),
        bounds_(roots.size() * roots.size(), kMinusInfinity),
        place_of_(trees.table().count()) {
    for (std::size_t slot = 0; slot < roots.size(); ++slot) {
      slots_[slot].node = roots[slot];
      slots_[slot].shape = forest.view(roots[slot]).rows;
      forest.dendrogram().for_each_item(roots[slot], [&](std::uint32_t column) {
        place_of_[column] = columns_.size();
        columns_.push_back(column);
        const std::span<const double> alone = trees.table().alone(column);
        for (std::size_t row = 0; row < rows_; ++row) alone_of(slot)[row * kLanes] += alone[row];
      });
    }
    const Rows& table = trees.table().table();
    for (std::size_t row = 0; row < rows_; ++row)
      log_one_.push_back(row_prior_.log_kappa(1) + log_more_seats(1.0, table.copies_of(row)));
    const double rows = row_prior_.alpha() + static_cast<double>(rows_);
    log_all_ = log_gamma(row_prior_.alpha()) - log_gamma(rows) -
               log_more_seats(rows, row_prior_.alpha() + table.copies());
  }

  std::size_t units(std::size_t views) const override { return (views + kShapesOfUnit - 1) / kShapesOfUnit; }

  void prepare() override {
    const std::size_t count = std::min(kShapesOfUnit, slots_.size() - prepared_);
    parallel_for(count, trees_->threads(), [&](std::size_t i) { take_shape(prepared_ + i, 1); });
    prepared_ += count;
  }

  void bounds(std::size_t one, std::span<const std::size_t> others, double* out) override {
    for (std::size_t i = 0; i < others.size(); ++i)
      out[i] = std::max(bound(one, others[i]), bound(others[i], one));
  }

  /// What other shapes have to follow does not depend on the new tree, so both are done at the same time.
  ViewTree merge(std::size_t first, std::size_t second) override {
    const std::vector<std::size_t> columns = forest_->columns_of(slots_[first].node, slots_[second].node);
    const bool by_first = bound(first, second) >= bound(second, first);
    const std::shared_ptr<const Dendrogram> shape = slots_[by_first ? first : second].shape;
    const double log_bound = std::max(bound(first, second), bound(second, first));
    slots_[second].shape.reset();
    for (std::size_t row = 0; row < rows_; ++row)
      alone_of(first)[row * kLanes] += alone_of(second)[row * kLanes];
    if (!keeps_profiles_) return trees_->grow_or_take(columns, *shape, log_bound, {});
    find_followers(first);
    return trees_->grow_or_take(columns, *shape, log_bound,
                                {batches(), [&](std::size_t batch) { follow_merge(batch, first, second); }});
  }

  void merged(std::size_t first, std::size_t second, Node made) override {
    slots_[first].node = made;
    if (!keeps_profiles_) {
      find_followers(first);
      parallel_for(batches(), trees_->threads(),
                   [&](std::size_t batch) { follow_merge(batch, first, second); });
    }
    slots_[second] = {};
    slots_[first].shape = forest_->view(made).rows;
    take_shape(first, trees_->threads());
  }

 private:
  struct Slot {
    Node node = 0;
    std::shared_ptr<const Dendrogram> shape;  // none: the slot is empty
    std::vector<Node> roots;                  // of the shape
    std::vector<MadeNode> nodes;              // of the shape
    bool is_binary = false;                   // a tree whose leaves are single rows
    std::vector<double> own;                  // log weights of the view itself in the nodes of its shape
    AlignedVector profiles;                   // of all views: [chunk][made node][lane]
  };
  /// Buffers of a thread. But for the first, none is in use while it waits for others.
  struct Workspace {
    std::vector<double> of_columns;
    TableColumns::Workspace columns;
    std::vector<double> sums;
    std::vector<std::pair<Node, bool>> nodes;
    AlignedVector phi;
  };
  static Workspace& workspace() {
    thread_local Workspace of_thread;
    return of_thread;
  }

  double& bound(std::size_t shape, std::size_t view) { return bounds_[shape * slots_.size() + view]; }
  double* alone_of(std::size_t slot) {
    return alone_.data() + slot / kLanes * rows_ * kLanes + slot % kLanes;
  }
  /// Of the copies of the rows of a node.
  double log_kappa(const Dendrogram& shape, Node node) const {
    const Rows& table = trees_->table().table();
    double log_seats = 0.0;
    if (table.has_copies) {
      double copies = 0.0;
      shape.for_each_item(node, [&](std::uint32_t row) { copies += table.copies_of(row); });
      log_seats = log_more_seats(static_cast<double>(shape.size(node)), copies);
    }
    return row_prior_.log_kappa(shape.size(node)) + log_seats;
  }
  static std::size_t made(const Dendrogram& shape) { return shape.nodes() - shape.items(); }

  /// Log marginals of a view's columns in every made node of a shape, at a stride of kLanes;
  /// of_column(column, out) writes those of a column. Added up as the view was merged, so that the sum of two
  /// views' profiles is the profile of their merge, bit for bit.
  template <typename OfColumn>
  void profile(Node view, std::size_t size, Workspace& work, OfColumn&& of_column, double* out) const {
    const Dendrogram& tree = forest_->dendrogram();
    std::size_t depth = 0;
    const auto push = [&](std::size_t column) {
      if (work.sums.size() < (depth + 1) * size) work.sums.resize((depth + 1) * size);
      of_column(column, work.sums.data() + depth++ * size);
    };
    const auto add = [&] {
      --depth;
      double* under = work.sums.data() + (depth - 1) * size;
      for (std::size_t i = 0; i < size; ++i) under[i] += work.sums[depth * size + i];
    };
    work.nodes.assign(1, {view, false});
    while (!work.nodes.empty()) {
      const auto [node, children_done] = work.nodes.back();
      work.nodes.pop_back();
      if (children_done) {
        add();
      } else if (tree.is_item(node)) {
        push(node);
      } else if (tree.is_block(node)) {
        const std::span<const std::uint32_t> items = tree.block_items(node);
        push(items.front());
        for (const std::uint32_t column : items.subspan(1)) {
          push(column);
          add();
        }
      } else {
        // The larger child comes first: then few sums wait at a time, however deep the tree is.
        const bool left_first = tree.size(tree.left(node)) >= tree.size(tree.right(node));
        work.nodes.emplace_back(node, true);
        work.nodes.emplace_back(left_first ? tree.right(node) : tree.left(node), false);
        work.nodes.emplace_back(left_first ? tree.left(node) : tree.right(node), false);
      }
    }
    for (std::size_t i = 0; i < size; ++i) out[i * kLanes] = work.sums[i];
  }

  /// Bounds of the view of a shape together with each of the eight views of a chunk.
  void chunk_bounds(std::size_t slot, std::size_t chunk, const double* profiles, Workspace& work,
                    double* out) {
    const Dendrogram& shape = *slots_[slot].shape;
    const std::vector<double>& own = slots_[slot].own;
    const double* own_alone = alone_of(slot);
    const double* alone = alone_.data() + chunk * rows_ * kLanes;
    work.phi.resize(shape.nodes() * kLanes);
    double* phi = work.phi.data();
    for (std::size_t row = 0; row < rows_; ++row)
      store_lanes(phi + row * kLanes,
                  (log_one_[row] + own_alone[row * kLanes]) + load_lanes(alone + row * kLanes));
    Lanes total = broadcast(log_all_);
    for (std::size_t i = 0; i < own.size(); ++i) {
      const auto node = static_cast<Node>(rows_ + i);
      const MadeNode& links = slots_[slot].nodes[i];
      Lanes value = own[i] + load_lanes(profiles + i * kLanes);
      if (links.block.empty())
        value = log_add_exp(value,
                            load_lanes(phi + links.left * kLanes) + load_lanes(phi + links.right * kLanes));
      store_lanes(phi + node * kLanes, value);
    }
    for (const Node root : slots_[slot].roots) total += load_lanes(phi + root * kLanes);
    store_lanes(out, total);
  }

  /// Profiles and bounds of all views over the shape of one.
  void take_shape(std::size_t slot, std::size_t threads) {
    Slot& taken = slots_[slot];
    const Dendrogram& shape = *taken.shape;
    const std::size_t size = made(shape);
    std::vector<double>& of_columns = workspace().of_columns;
    of_columns.resize(columns_.size() * size);
    constexpr std::size_t kColumnsOfTask = 8;
    parallel_for((columns_.size() + kColumnsOfTask - 1) / kColumnsOfTask, threads, [&](std::size_t task) {
      Workspace& work = workspace();
      TableColumns::take_tree(shape, work.columns);
      const std::size_t end = std::min(columns_.size(), (task + 1) * kColumnsOfTask);
      for (std::size_t place = task * kColumnsOfTask; place < end; ++place)
        trees_->table().log_marginals(columns_[place], work.columns, of_columns.data() + place * size);
    });
    AlignedVector fresh;
    AlignedVector& profiles = keeps_profiles_ ? taken.profiles : fresh;
    profiles.assign(chunks_ * size * kLanes, 0.0);
    const auto profile_of = [&](std::size_t view) {
      return profiles.data() + view / kLanes * size * kLanes + view % kLanes;
    };
    const auto of_column = [&](std::size_t column, double* out) {
      std::copy_n(of_columns.data() + place_of_[column] * size, size, out);
    };
    taken.roots = shape.roots();
    TableColumns::take_tree(shape, workspace().columns);
    taken.nodes = workspace().columns.nodes;
    taken.is_binary =
        size + 1 == rows_ && std::all_of(taken.nodes.begin(), taken.nodes.end(),
                                         [](const MadeNode& node) { return node.block.empty(); });
    taken.own.resize(size);
    profile(taken.node, size, workspace(), of_column, profile_of(slot));
    for (std::size_t i = 0; i < size; ++i)
      taken.own[i] = log_kappa(shape, static_cast<Node>(rows_ + i)) + profile_of(slot)[i * kLanes];
    parallel_for(chunks_, threads, [&](std::size_t chunk) {
      const std::size_t end = std::min(slots_.size(), (chunk + 1) * kLanes);
      Workspace& work = workspace();
      bool any = false;
      for (std::size_t view = chunk * kLanes; view < end; ++view) {
        if (!slots_[view].shape) continue;
        any = true;
        if (view != slot) profile(slots_[view].node, size, work, of_column, profile_of(view));
      }
      if (!any) return;
      double found[kLanes];
      chunk_bounds(slot, chunk, profiles.data() + chunk * size * kLanes, work, found);
      for (std::size_t view = chunk * kLanes; view < end; ++view)
        bound(slot, view) = found[view - chunk * kLanes];
    });
  }

  /// The shapes that stay when the view at `first` has become another one.
  void find_followers(std::size_t first) {
    followers_.clear();
    for (std::size_t slot = 0; slot < slots_.size(); ++slot)
      if (slot != first && slots_[slot].shape) followers_.push_back(slot);
  }
  std::size_t batches() const { return (followers_.size() + kLanes - 1) / kLanes; }

  /// Two of the views over these shapes have become one.
  void follow_merge(std::size_t batch, std::size_t first, std::size_t second) {
    const std::span<const std::size_t> slots =
        std::span(followers_).subspan(batch * kLanes, std::min(kLanes, followers_.size() - batch * kLanes));
    Workspace& work = workspace();
    bool are_binary = true;
    for (const std::size_t slot : slots) are_binary &= slots_[slot].is_binary;
    const std::size_t chunk = first / kLanes;
    const double* profiles[kLanes];
    AlignedVector fresh;
    if (!keeps_profiles_) fresh.resize(kLanes * rows_ * kLanes);
    for (std::size_t lane = 0; lane < slots.size(); ++lane) {
      Slot& slot = slots_[slots[lane]];
      const std::size_t size = made(*slot.shape);
      if (keeps_profiles_) {
        double* to = slot.profiles.data() + chunk * size * kLanes + first % kLanes;
        const double* from = slot.profiles.data() + second / kLanes * size * kLanes + second % kLanes;
        for (std::size_t i = 0; i < size; ++i) to[i * kLanes] += from[i * kLanes];
        profiles[lane] = to;
      } else {
        double* to = fresh.data() + lane * rows_ * kLanes + first % kLanes;
        TableColumns::take_tree(*slot.shape, work.columns);
        profile(
            slots_[first].node, size, work,
            [&](std::size_t column, double* out) {
              trees_->table().log_marginals(column, work.columns, out);
            },
            to);
        profiles[lane] = to;
      }
    }
    if (are_binary) return bounds_over_shapes(slots, first, profiles, work);
    for (std::size_t lane = 0; lane < slots.size(); ++lane) {
      double found[kLanes];
      chunk_bounds(slots[lane], chunk, profiles[lane] - first % kLanes, work, found);
      bound(slots[lane], first) = found[first % kLanes];
    }
  }

  /// Bounds of the view at `first` together with those of up to eight shapes, each over its own; all shapes
  /// are binary trees of single rows.
  void bounds_over_shapes(std::span<const std::size_t> slots, std::size_t first,
                          const double* const (&profiles)[kLanes], Workspace& work) {
    const std::size_t nodes = 2 * rows_ - 1;
    const double* alone = alone_of(first);
    work.phi.assign(kLanes * nodes, 0.0);
    const Slot* shapes[kLanes];
    const double* from[kLanes];
    double* phi[kLanes];
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const std::size_t used =
          lane < slots.size() ? lane : 0;  // lanes that are not used do what the first does
      shapes[lane] = &slots_[slots[used]];
      from[lane] = profiles[used];
      phi[lane] = work.phi.data() + lane * nodes;
      const double* own = alone_of(slots[used]);
      for (std::size_t row = 0; row < rows_; ++row)
        phi[lane][row] = (log_one_[row] + own[row * kLanes]) + alone[row * kLanes];
    }
    for (std::size_t i = 0; i + 1 < rows_; ++i) {
      Lanes value, below;
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const MadeNode& links = shapes[lane]->nodes[i];
        value[lane] = shapes[lane]->own[i] + from[lane][i * kLanes];
        below[lane] = phi[lane][links.left] + phi[lane][links.right];
      }
      value = log_add_exp(value, below);
      for (std::size_t lane = 0; lane < kLanes; ++lane) phi[lane][rows_ + i] = value[lane];
    }
    for (std::size_t lane = 0; lane < slots.size(); ++lane)
      bound(slots[lane], first) = log_all_ + phi[lane][nodes - 1];
  }

  const ViewTrees* trees_;
  const ColumnForest* forest_;
  Crp row_prior_;
  std::size_t rows_, chunks_;
  bool keeps_profiles_;
  std::vector<Slot> slots_;
  AlignedVector alone_;          // log marginals of single rows: [chunk][row][lane]
  std::vector<double> log_one_;  // log kappa of each row as a singleton
  double log_all_ = 0.0;         // what the prior of all partitions is divided by
  std::vector<double> bounds_;
  std::vector<std::size_t> columns_, place_of_;  // those of all views; where each is among them
  std::vector<std::size_t> followers_;
  std::size_t prepared_ = 0;
};

}  // namespace

std::unique_ptr<PairBounds> make_reuse_bounds(const ViewTrees& trees, const ColumnForest& forest,
                                              std::span<const ColumnForest::Node> roots) {
  return std::make_unique<ReuseBounds>(trees, forest, roots);
}

std::size_t reuse_bytes(const Options& options, std::size_t roots, std::size_t rows) {
  return std::min(profile_bytes(roots, rows), options.most_profile_bytes) + roots * roots * sizeof(double);
}

}  // namespace coppice::bhcc
