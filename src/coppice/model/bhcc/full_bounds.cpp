#include "coppice/base/parallel.hpp"
#include "coppice/model/bhcc/pair_bounds.hpp"

namespace coppice::bhcc {
namespace {

class FullBounds final : public PairBounds {
 public:
  FullBounds(const ViewTrees& trees, const ColumnForest& forest, std::span<const Node> roots)
      : trees_(&trees), forest_(&forest), nodes_(roots.begin(), roots.end()) {}

  void bounds(std::size_t one, std::span<const std::size_t> others, double* out) override {
    parallel_for(others.size(), trees_->threads(),
                 [&](std::size_t i) { out[i] = joined(one, others[i]).log_bound; });
  }
  ViewTree merge(std::size_t first, std::size_t second) override { return joined(first, second); }
  void merged(std::size_t first, std::size_t, Node made) override { nodes_[first] = made; }

 private:
  ViewTree joined(std::size_t first, std::size_t second) const {
    return trees_->grow(forest_->columns_of(nodes_[first], nodes_[second]));
  }

  const ViewTrees* trees_;
  const ColumnForest* forest_;
  std::vector<Node> nodes_;
};

}  // namespace

std::unique_ptr<PairBounds> make_full_bounds(const ViewTrees& trees, const ColumnForest& forest,
                                             std::span<const ColumnForest::Node> roots) {
  return std::make_unique<FullBounds>(trees, forest, roots);
}

}  // namespace coppice::bhcc
