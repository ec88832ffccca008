// Parquet files, and Arrow files and streams. Their reader is in a module of its own, libcoppice_arrow.so,
// which is built where Apache Arrow is found and loaded with the first such file.
#pragma once

#include <string>
#include <string_view>

#include "coppice/data/raw_table.hpp"

namespace coppice {

/// Whether the bytes begin as a Parquet or an Arrow file does.
bool is_arrow_file(std::string_view bytes);

/// Throws Error{bad_data}, and Error{configuration} if there is no module. The result refers to `bytes`
/// through `locate`.
RawTable parse_arrow_file(std::string_view bytes, const std::string& file);

}  // namespace coppice
