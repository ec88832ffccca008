#include "coppice/shape/cross_tree.hpp"

#include <cstdint>

#include "coppice/base/error.hpp"

namespace coppice {

void CrossTree::save(ByteWriter& writer) const {
  columns.save(writer);
  for (const std::shared_ptr<const Dendrogram>& tree : rows) {
    writer.put(static_cast<std::uint8_t>(tree ? 1 : 0));
    if (tree) tree->save(writer);
  }
}

CrossTree CrossTree::load(ByteReader& reader, std::size_t columns, std::size_t rows) {
  CrossTree tree{Dendrogram::load(reader, columns), {}};
  for (Dendrogram::Node node = 0; node < tree.columns.nodes(); ++node) {
    const auto has_rows = reader.get<std::uint8_t>();
    if (has_rows > 1) fail(ErrorCode::bad_data, "the run file is damaged: impossible trees over the rows");
    tree.rows.push_back(has_rows == 1 ? std::make_shared<const Dendrogram>(Dendrogram::load(reader, rows))
                                      : nullptr);
  }
  for (const Dendrogram::Node root : tree.columns.roots())
    if (!tree.rows[root]) fail(ErrorCode::bad_data, "the run file is damaged: a view without clusters");
  return tree;
}

std::vector<Dendrogram::Node> nodes_of_views(const Dendrogram& columns, std::span<const Label> views) {
  const std::vector<std::size_t> sizes = cluster_sizes(views);
  std::vector<Dendrogram::Node> nodes;
  for (std::uint32_t column = 0; column < views.size(); ++column) {
    if (static_cast<std::size_t>(views[column]) < nodes.size()) continue;
    Dendrogram::Node node = column;
    while (columns.size(node) < sizes[nodes.size()]) node = columns.parent(node);
    nodes.push_back(node);
  }
  return nodes;
}

}  // namespace coppice
