#include "coppice/model/bhcc/column_merging.hpp"

#include <numeric>

#include "coppice/base/math.hpp"
#include "coppice/cluster/tree_recursion.hpp"

namespace coppice::bhcc {

ColumnMerging::ColumnMerging(const ViewTrees& trees, ColumnForest& forest, std::span<const Node> roots)
    : forest_(&forest),
      bounds_(trees.options().reuses_trees ? make_reuse_bounds(trees, forest, roots)
                                           : make_full_bounds(trees, forest, roots)),
      units_left_(bounds_->units(roots.size())),
      loop_(roots.size(), true),
      nodes_(roots.begin(), roots.end()),
      slots_(roots.size()),
      found_(roots.size()) {
  std::iota(slots_.begin(), slots_.end(), std::size_t{0});
}

ColumnMerging::Node ColumnMerging::step() {
  if (units_left_ == 0) return loop_.step(*this);
  bounds_->prepare();
  --units_left_;
  return Agglomeration::kNone;
}

std::size_t ColumnMerging::prepared() const {
  const std::size_t units = bounds_->units(loop_.is_started() ? loop_.started() : loop_.positions());
  return units - units_left_ + loop_.started();
}

ColumnMerging::Node ColumnMerging::run(const std::function<void(Node)>& on_merge) {
  Node top = nodes_.front();
  while (!finished()) {
    const Node made = step();
    if (made == Agglomeration::kNone) continue;
    top = made;
    if (on_merge) on_merge(made);
  }
  return top;
}

void ColumnMerging::scores(std::size_t position, std::size_t begin, std::size_t end, double* out) {
  others_.clear();
  for (std::size_t p = begin; p < end; ++p)
    if (p != position && loop_.is_alive(p)) others_.push_back(slots_[p]);
  bounds_->bounds(slots_[position], others_, found_.data());
  const Node one = nodes_[position];
  const std::size_t size = forest_->dendrogram().size(one);
  std::size_t next = 0;
  for (std::size_t p = begin; p < end; ++p) {
    if (p == position || !loop_.is_alive(p)) {
      out[p - begin] = kMinusInfinity;
      continue;
    }
    const Node other = nodes_[p];
    out[p - begin] =
        log_odds_above(forest_->prior().log_kappa(size + forest_->dendrogram().size(other)) + found_[next++],
                       forest_->log_phi(one) + forest_->log_phi(other));
  }
}

ColumnMerging::Node ColumnMerging::merge(std::size_t first, std::size_t second) {
  const Node made =
      forest_->join(nodes_[first], nodes_[second], bounds_->merge(slots_[first], slots_[second]));
  nodes_[first] = made;
  bounds_->merged(slots_[first], slots_[second], made);
  return made;
}

void ColumnMerging::compact(std::span<const std::size_t> kept) {
  for (std::size_t position = 0; position < kept.size(); ++position) {
    nodes_[position] = nodes_[kept[position]];
    slots_[position] = slots_[kept[position]];
  }
  nodes_.resize(kept.size());
  slots_.resize(kept.size());
}

}  // namespace coppice::bhcc
