// The NPY format of NumPy, version 1.0, little-endian and row-major: arrays of float64 or int32 with one to
// four axes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace coppice {

/// The bytes of an .npy file. Error{bug} if the shape does not have 1 to 4 axes or does not multiply to the
/// size.
std::string npy_bytes(std::span<const double> values, std::span<const std::size_t> shape);
std::string npy_bytes(std::span<const std::int32_t> values, std::span<const std::size_t> shape);

void write_npy(const std::filesystem::path& path, std::span<const double> values,
               std::span<const std::size_t> shape);
void write_npy(const std::filesystem::path& path, std::span<const std::int32_t> values,
               std::span<const std::size_t> shape);

}  // namespace coppice
