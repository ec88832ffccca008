#include "coppice/out/npy.hpp"

#include <fmt/format.h>

#include <bit>
#include <functional>
#include <numeric>
#include <string_view>

#include "coppice/base/error.hpp"
#include "coppice/out/pending_file.hpp"

namespace coppice {

namespace {

static_assert(std::endian::native == std::endian::little,
              "the NPY writer copies numbers as they are in memory");

std::string header(std::string_view type, std::span<const std::size_t> shape, std::size_t size) {
  if (shape.empty() || shape.size() > 4) fail(ErrorCode::bug, "npy: an array of {} axes", shape.size());
  const std::size_t expected =
      std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
  if (expected != size) fail(ErrorCode::bug, "npy: {} values for a shape of {}", size, expected);
  std::string axes = fmt::format("{},", shape[0]);  // a tuple of one keeps its comma
  for (std::size_t axis = 1; axis < shape.size(); ++axis)
    axes += fmt::format("{}{}", axis > 1 ? ", " : " ", shape[axis]);
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", type, axes);
  constexpr std::size_t kPrefix = 10;                         // magic, version, length
  while ((kPrefix + text.size() + 1) % 64 != 0) text += ' ';  // so that the numbers are aligned when mapped
  text += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(text.size() & 0xff);
  bytes += static_cast<char>(text.size() >> 8);
  return bytes + text;
}

template <typename T>
std::string bytes_of(std::string_view type, std::span<const T> values, std::span<const std::size_t> shape) {
  std::string bytes = header(type, shape, values.size());
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  return bytes;
}

template <typename T>
void write(const std::filesystem::path& path, std::string_view type, std::span<const T> values,
           std::span<const std::size_t> shape) {
  const std::string head = header(type, shape, values.size());
  PendingFile file(path);
  file.write(head);
  file.write({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  file.commit();
}

}  // namespace

std::string npy_bytes(std::span<const double> values, std::span<const std::size_t> shape) {
  return bytes_of("<f8", values, shape);
}

std::string npy_bytes(std::span<const std::int32_t> values, std::span<const std::size_t> shape) {
  return bytes_of("<i4", values, shape);
}

void write_npy(const std::filesystem::path& path, std::span<const double> values,
               std::span<const std::size_t> shape) {
  write(path, "<f8", values, shape);
}

void write_npy(const std::filesystem::path& path, std::span<const std::int32_t> values,
               std::span<const std::size_t> shape) {
  write(path, "<i4", values, shape);
}

}  // namespace coppice
