#include "coppice/model/learned_payload.hpp"

#include <cstdint>

#include "coppice/base/byte_stream.hpp"
#include "coppice/base/error.hpp"

namespace coppice {
namespace {

/// At the head of every payload; the last byte is the version.
constexpr std::uint64_t kFormat = 0x6e726d6d64726101;
/// From here on floats will do: the file would grow by more than eight kilobytes with every draw.
constexpr std::size_t kMostDoubles = 1024;

template <typename Number>
void put_as(ByteWriter& writer, std::span<const double> values) {
  for (const double value : values) writer.put(static_cast<Number>(value));
}

template <typename Number>
std::vector<double> get_as(ByteReader& reader, std::size_t count) {
  std::vector<double> values(count);
  for (double& value : values) value = static_cast<double>(reader.get<Number>());
  return values;
}

}  // namespace

std::string write_learned(std::span<const double> hyper, std::span<const double> cells) {
  if (hyper.empty() && cells.empty()) return {};
  ByteWriter writer;
  writer.put(kFormat);
  writer.put(static_cast<std::uint64_t>(hyper.size()));
  writer.put(static_cast<std::uint64_t>(cells.size()));
  for (const std::span<const double> values : {hyper, cells}) {
    if (hyper.size() + cells.size() > kMostDoubles)
      put_as<float>(writer, values);
    else
      put_as<double>(writer, values);
  }
  return writer.take();
}

LearnedPayload read_learned(std::string_view bytes, std::size_t hyper_size, std::size_t cells_size) {
  LearnedPayload payload;
  if (hyper_size == 0 && cells_size == 0) return payload;
  ByteReader reader(bytes);
  if (reader.get<std::uint64_t>() != kFormat)
    fail(ErrorCode::bad_data, "the run file is damaged, or a later version wrote its draws");
  const auto hyper_stored = reader.get<std::uint64_t>();
  const auto cells_stored = reader.get<std::uint64_t>();
  if (hyper_stored != hyper_size || cells_stored != cells_size)
    fail(ErrorCode::bad_data,
         "the run file is damaged: a draw has {} learned values and {} filled cells, not {} and {}",
         hyper_stored, cells_stored, hyper_size, cells_size);
  const bool floats = hyper_size + cells_size > kMostDoubles;
  payload.hyper = floats ? get_as<float>(reader, hyper_size) : get_as<double>(reader, hyper_size);
  payload.cells = floats ? get_as<float>(reader, cells_size) : get_as<double>(reader, cells_size);
  reader.end();
  return payload;
}

}  // namespace coppice
