#include "coppice/cluster/table_columns.hpp"

#include <algorithm>

#include "coppice/base/error.hpp"
#include "coppice/family/registry.hpp"

namespace coppice {

TableColumns::TableColumns(const Family& family, const Rows& rows, std::string_view model)
    : family_(&family), rows_(&rows), columns_(rows.data_width()) {
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    const std::size_t alone[] = {column};
    Column& own = columns_[column];
    own.family = family.of_cells(alone);
    if (own.family == nullptr)
      fail(ErrorCode::configuration,
           "{} divides columns into views, but the family {} models them jointly: use --family auto or {}",
           model, family.name(), automatic_family(Kind::real, false).name);
    std::vector<double> none(own.family->stats_size());
    own.family->clear(none.data());
    own.empty.assign(own.family->union_size() * kLanes, 0.0);
    own.family->fill_union(none.data(), own.empty.data());
  }
  data_changed();
}

void TableColumns::data_changed() {
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    Column& own = columns_[column];
    const std::size_t size = own.family->stats_size();
    own.cells.resize(rows());
    own.alone.resize(rows());
    own.stats.resize(rows() * size);
    for (std::size_t row = 0; row < rows(); ++row) {
      own.cells[row] = (*rows_)[row][column];
      double* stats = own.stats.data() + row * size;
      own.family->clear(stats);
      if (rows_->has_copies)
        own.family->add_copies(stats, &own.cells[row], rows_->copies_of(row));
      else
        own.family->add(stats, &own.cells[row]);
      own.alone[row] = own.family->log_marginal(stats);
    }
  }
}

std::size_t TableColumns::bytes(const Family& family, std::size_t rows) {
  return rows * (2 * family.width() + family.stats_size() + family.width()) * sizeof(double);
}

void TableColumns::take_tree(const Dendrogram& tree, Workspace& workspace) {
  workspace.nodes.clear();
  for (auto node = static_cast<Dendrogram::Node>(tree.items()); node < tree.nodes(); ++node)
    workspace.nodes.push_back(tree.is_block(node) ? MadeNode{0, 0, tree.block_items(node)}
                                                  : MadeNode{tree.left(node), tree.right(node), {}});
}

void TableColumns::log_marginals(std::size_t column, Workspace& workspace, double* out) const {
  const Column& own = columns_[column];
  workspace.stats.resize(workspace.nodes.size() * own.family->stats_size());
  workspace.values.resize(own.empty.size());
  own.family->log_marginals_upwards(own.stats.data(), rows(), workspace.nodes, own.empty.data(),
                                    workspace.stats.data(), workspace.values.data(), out);
}

}  // namespace coppice
