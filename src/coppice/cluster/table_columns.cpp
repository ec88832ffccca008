#include "coppice/cluster/table_columns.hpp"

#include <algorithm>

#include "coppice/base/error.hpp"

namespace coppice {

TableColumns::TableColumns(const Family& family, const Rows& rows, std::string_view model)
    : family_(&family), rows_(&rows), columns_(family.width()) {
  for (std::size_t column = 0; column < family.width(); ++column) {
    const std::size_t alone[] = {column};
    Column& own = columns_[column];
    own.family = family.of_cells(alone);
    if (own.family == nullptr)
      fail(ErrorCode::configuration,
           "{} divides columns into views, but the family {} joins them: use --family auto or "
           "gaussian-diagonal",
           model, family.name());
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
      own.family->add(stats, &own.cells[row]);
      own.alone[row] = own.family->log_marginal(stats);
    }
  }
}

std::size_t TableColumns::bytes(const Family& family, std::size_t rows) {
  return rows * (2 * family.width() + family.stats_size() + family.width()) * sizeof(double);
}

void TableColumns::log_marginals(std::size_t column, const Dendrogram& tree, Workspace& workspace,
                                 double* out) const {
  const Column& own = columns_[column];
  const Family& family = *own.family;
  const std::size_t size = family.stats_size();
  const std::size_t made = tree.nodes() - tree.items();
  const std::size_t chunks = (made + kLanes - 1) / kLanes;
  const std::size_t stride = family.union_size() * kLanes;
  workspace.stats.resize(made * size);
  workspace.values.resize(chunks * stride);
  workspace.log_marginals.assign(chunks * kLanes, 0.0);
  const auto stats_of = [&](Dendrogram::Node node) {
    return tree.is_item(node) ? own.stats.data() + node * size
                              : workspace.stats.data() + (node - tree.items()) * size;
  };
  for (std::size_t i = 0; i < made; ++i) {
    const auto node = static_cast<Dendrogram::Node>(tree.items() + i);
    double* stats = workspace.stats.data() + i * size;
    if (tree.is_block(node)) {
      family.clear(stats);
      for (const std::uint32_t row : tree.block_items(node)) family.merge(stats, stats_of(row));
    } else {
      std::copy_n(stats_of(tree.left(node)), size, stats);
      family.merge(stats, stats_of(tree.right(node)));
    }
    family.fill_union(stats, workspace.values.data() + i / kLanes * stride + i % kLanes);
  }
  for (std::size_t i = made; i < chunks * kLanes; ++i)  // unused slots hold something finite
    for (std::size_t value = 0; value < family.union_size(); ++value)
      workspace.values[i / kLanes * stride + value * kLanes + i % kLanes] = own.empty[value * kLanes];
  family.add_log_marginals(own.empty.data(), workspace.values.data(), stride, chunks,
                           workspace.log_marginals.data());
  std::copy_n(workspace.log_marginals.begin(), made, out);
}

Rows TableColumns::rows_of(std::span<const std::size_t> columns) const {
  Rows chosen;
  chosen.width = columns.size();
  chosen.cells.resize(rows() * columns.size());
  for (std::size_t row = 0; row < rows(); ++row)
    for (std::size_t j = 0; j < columns.size(); ++j) chosen[row][j] = columns_[columns[j]].cells[row];
  return chosen;
}

}  // namespace coppice
