#include "coppice/model/bhcc/column_division.hpp"

#include <algorithm>
#include <numeric>

#include "coppice/base/error.hpp"
#include "coppice/base/parallel.hpp"
#include "coppice/model/bhcc/column_filter.hpp"
#include "coppice/model/bhcc/column_merging.hpp"

namespace coppice::bhcc {

void ColumnDivision::start() {
  std::vector<std::uint32_t> all(forest_->dendrogram().items());
  std::iota(all.begin(), all.end(), 0U);
  division_.start(all);
}

void ColumnDivision::load(ByteReader& reader) {
  const Dendrogram& tree = forest_->dendrogram();
  division_.load(reader, tree.items(), [&](std::uint32_t node) {
    if (node >= tree.nodes() || tree.parent(node) != Dendrogram::kNone)
      fail(ErrorCode::bad_data, "checkpoint refers to tree {}, which does not exist", node);
    return node;
  });
}

ColumnForest::Node ColumnDivision::merge_all(std::span<const std::uint32_t> columns, const OnMade& on_made) {
  return ColumnMerging(*trees_, *forest_, columns).run(on_made);
}

ColumnForest::Node ColumnDivision::block(std::span<const std::uint32_t> columns, const OnMade& on_made) {
  const Node made =
      forest_->block(columns, trees_->grow(std::vector<std::size_t>(columns.begin(), columns.end())));
  on_made(made);
  return made;
}

ColumnForest::Node ColumnDivision::join(Node left, Node right, const OnMade& on_made) {
  const std::vector<std::size_t> columns = forest_->columns_of(left, right);
  const Node made =
      forest_->join(left, right,
                    trees_->options().reuses_trees
                        ? trees_->best(columns, *forest_->view(left).rows, *forest_->view(right).rows)
                        : trees_->grow(columns));
  on_made(made);
  return made;
}

void ColumnDivision::divide(std::span<const std::uint32_t> columns, std::span<const std::uint32_t> chosen,
                            std::vector<char>& on_left) {
  ColumnForest small = ColumnForest::of_leaves(*forest_);
  const Node top = ColumnMerging(*trees_, small, chosen).run();
  const Dendrogram& tree = small.dendrogram();
  std::vector<char> chosen_on_left(tree.items(), 0);
  tree.for_each_item(tree.left(top), [&](std::uint32_t column) { chosen_on_left[column] = 1; });
  const ColumnFilter filter(*trees_, small, tree.left(top), tree.right(top));
  std::vector<std::uint32_t> others;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (std::binary_search(chosen.begin(), chosen.end(), columns[i])) {
      on_left[i] = chosen_on_left[columns[i]];
    } else {
      others.push_back(columns[i]);
      places.push_back(i);
    }
  }
  std::vector<ColumnFilter::Sides> sides(others.size());
  parallel_for((others.size() + kLanes - 1) / kLanes, trees_->threads(), [&](std::size_t chunk) {
    const std::size_t begin = chunk * kLanes;
    filter(std::span(others).subspan(begin, std::min(kLanes, others.size() - begin)), sides.data() + begin);
  });
  for (std::size_t i = 0; i < others.size(); ++i) {
    if (division_.options().on_filter)
      division_.options().on_filter(others[i], sides[i].log_left, sides[i].log_right);
    on_left[places[i]] = sides[i].log_left > sides[i].log_right ? 1 : 0;
  }
}

}  // namespace coppice::bhcc
