#include "coppice/model/rbhmc/draw_payload.hpp"

#include <algorithm>
#include <cmath>

#include "coppice/base/byte_stream.hpp"
#include "coppice/base/error.hpp"

namespace coppice::rbhmc {

DrawPayload read_payload(std::string_view bytes, const LevelTree& tree, std::size_t hyper_size,
                         std::size_t cells_size) {
  ByteReader reader(bytes);
  DrawPayload draw;
  draw.components = reader.get<std::uint64_t>();
  draw.dimension = reader.get<std::uint64_t>();
  const std::size_t rows = tree.rows();
  if (draw.components == 0 || draw.components > rows || draw.dimension > bytes.size())
    fail(ErrorCode::bad_data, "the payload of a draw names {} components for {} rows", draw.components, rows);
  draw.component_of.resize(rows);
  reader.get(draw.component_of.data(), rows);
  for (const Label label : draw.component_of)
    if (label < 0 || static_cast<std::size_t>(label) >= draw.components)
      fail(ErrorCode::bad_data, "the payload of a draw has component {} of {}", label, draw.components);
  draw.weights.assign(tree.capacity() * (draw.components + 1), 0.0);
  draw.eta.assign(tree.capacity() * draw.dimension, 0.0);
  std::vector<float> values;
  const auto take = [&](std::size_t count, double* to) {
    values.resize(count);
    reader.get(values.data(), count);
    std::copy(values.begin(), values.end(), to);
  };
  for (NodeId node = 0; node < tree.capacity(); ++node) {
    if (node != LevelTree::kRoot) take(draw.dimension, draw.eta.data() + node * draw.dimension);
    if (!tree.is_leaf(node)) take(draw.components + 1, draw.weights.data() + node * (draw.components + 1));
  }
  draw.hyper.resize(hyper_size);
  reader.get(draw.hyper.data(), hyper_size);
  draw.cells.resize(cells_size);
  take(cells_size, draw.cells.data());
  reader.end();
  if (!std::all_of(draw.cells.begin(), draw.cells.end(), [](double cell) { return std::isfinite(cell); }))
    fail(ErrorCode::bad_data, "the payload of a draw has a filled cell that is not a number");
  if (std::any_of(draw.weights.begin(), draw.weights.end(),
                  [](double w) { return !(w >= 0.0 && w <= 1.001); }))
    fail(ErrorCode::bad_data, "the payload of a draw has a weight outside 0 to 1");
  return draw;
}

}  // namespace coppice::rbhmc
