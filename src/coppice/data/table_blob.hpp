// A table as one compact block of bytes, the form in which a run file keeps its data: versioned,
// little-endian, zstd-compressed with a content checksum. Every bit of every value survives.
#pragma once

#include <string>
#include <string_view>

#include "coppice/data/table.hpp"

namespace coppice {

std::string serialize(const Table& table);
/// Throws Error{bad_data} for anything that serialize did not write; safe on hostile bytes.
Table deserialize_table(std::string_view bytes);

}  // namespace coppice
