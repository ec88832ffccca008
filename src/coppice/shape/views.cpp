#include "coppice/shape/views.hpp"

#include <algorithm>
#include <cstdint>

#include "coppice/base/error.hpp"

namespace coppice {
namespace {

/// Labels in as few bytes as their number of clusters allows.
template <typename Small>
void put_as(ByteWriter& writer, const Labels& labels) {
  const std::vector<Small> small(labels.begin(), labels.end());
  writer.put(small.data(), small.size());
}
template <typename Small>
void get_as(ByteReader& reader, Labels& labels) {
  std::vector<Small> small(labels.size());
  reader.get(small.data(), small.size());
  std::copy(small.begin(), small.end(), labels.begin());
}

void put_labels(ByteWriter& writer, const Labels& labels) {
  const auto clusters =
      static_cast<std::uint32_t>(labels.empty() ? 0 : *std::max_element(labels.begin(), labels.end()) + 1);
  writer.put(clusters);
  if (clusters <= 0xff)
    put_as<std::uint8_t>(writer, labels);
  else if (clusters <= 0xffff)
    put_as<std::uint16_t>(writer, labels);
  else
    put_as<Label>(writer, labels);
}

Labels get_labels(ByteReader& reader, std::size_t count) {
  Labels labels(count);
  const auto clusters = reader.get<std::uint32_t>();
  if (clusters <= 0xff)
    get_as<std::uint8_t>(reader, labels);
  else if (clusters <= 0xffff)
    get_as<std::uint16_t>(reader, labels);
  else
    get_as<Label>(reader, labels);
  Label next = 0;
  for (const Label label : labels) {
    if (label < 0 || label > next) fail(ErrorCode::bad_data, "the run file is damaged: impossible views");
    next = std::max(next, label + 1);
  }
  if (static_cast<std::uint32_t>(next) != clusters)
    fail(ErrorCode::bad_data, "the run file is damaged: impossible views");
  return labels;
}

}  // namespace

std::size_t Views::largest() const {
  const std::vector<std::size_t> sizes = cluster_sizes(columns);
  return static_cast<std::size_t>(std::max_element(sizes.begin(), sizes.end()) - sizes.begin());
}

void Views::save(ByteWriter& writer) const {
  put_labels(writer, columns);
  for (const Labels& labels : rows) put_labels(writer, labels);
}

Views Views::load(ByteReader& reader, std::size_t columns, std::size_t rows) {
  Views views;
  views.columns = get_labels(reader, columns);
  const std::size_t count = cluster_sizes(views.columns).size();
  for (std::size_t v = 0; v < count; ++v) views.rows.push_back(get_labels(reader, rows));
  return views;
}

}  // namespace coppice
