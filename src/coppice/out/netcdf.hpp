// NetCDF-4 files with groups in the InferenceData schema of ArviZ: posterior, sample_stats, observed_data and
// so on, each with its own dimensions, coordinates and variables; what arviz.from_netcdf and
// xarray.open_datatree read. The writer is generic: it knows variables, not statistics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace coppice {

using NcAttribute = std::variant<std::string, double, std::int64_t, std::vector<double>>;
using NcAttributes = std::vector<std::pair<std::string, NcAttribute>>;
using NcData = std::variant<std::vector<double>, std::vector<std::int32_t>, std::vector<std::int64_t>,
                            std::vector<std::string>>;

struct NcVariable {
  std::string name;
  std::vector<std::string> dims;  // slowest first: chain, draw, ...; empty for a scalar
  NcData data;                    // row-major
  NcAttributes attributes = {};
};

struct NcGroup {
  std::string name;
  std::vector<NcVariable> variables;
  std::vector<NcVariable>
      coords;  // a variable named as its one dimension; defines the length of that dimension
  NcAttributes attributes = {};
  std::vector<std::pair<std::string, std::size_t>> dimensions = {};  // those without coordinates
};

/// Writes the file whole or not at all. Error{bug} for contradictory sizes or an unknown dimension,
/// Error{cannot_write} with the library's reason otherwise.
void write_netcdf(const std::filesystem::path& path, std::span<const NcGroup> groups,
                  const NcAttributes& root_attributes = {});

}  // namespace coppice
