// Reader of NumPy's .npy files, versions 1 to 3: one- and two-dimensional arrays of booleans, integers and
// floats in little-endian order, stored by rows or by columns. NaN is a missing cell.
#pragma once

#include <string>
#include <string_view>

#include "coppice/data/raw_table.hpp"

namespace coppice {

inline constexpr std::string_view kNpyMagic = "\x93NUMPY";

/// Columns are named c1..cD. Throws Error{bad_data}. The result refers to `bytes` through `locate`.
RawTable parse_npy(std::string_view bytes, const std::string& file);

}  // namespace coppice
