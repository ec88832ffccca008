// Names that users gave to clusters. A name belongs to a set of rows: cluster numbers follow the reported
// partition, which may change when a run is resumed or another loss is chosen, and the name stays with the
// cluster that has most of those rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace coppice {

struct GivenName {
  std::size_t level = 1;            // of the cluster that was named, 1 = coarsest
  std::string name;                 // never empty
  std::vector<std::uint32_t> rows;  // of that cluster, ascending
};

std::string to_json(std::span<const GivenName> names);
/// Throws Error{bad_data} if the text is not a list of names for a table of so many rows.
std::vector<GivenName> given_names_from_json(std::string_view text, std::size_t rows);

/// The name without space around it. Error{usage} if it is longer than 200 bytes, not UTF-8, or has control
/// characters.
std::string checked_name(std::string_view name);

}  // namespace coppice
