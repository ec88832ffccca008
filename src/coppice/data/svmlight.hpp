// Reader of svmlight / libsvm files, `l1,l2 index:value index:value # comment`. Absent features are zero.
// Labels, as written, become the truth column "label". Columns are named by their index in the file (f1, f2,
// ...; f0 too if the file counts from 0), so that a file of new rows is matched whatever features it happens
// to mention.
#pragma once

#include <string>
#include <string_view>

#include "coppice/data/raw_table.hpp"

namespace coppice {

/// All columns share one kind: binary if every value is 0 or 1, count if every one is whole and not negative,
/// real otherwise. Throws Error{bad_data}. The result refers to `bytes` through `locate`.
RawTable parse_svmlight(std::string_view bytes, const std::string& file);

}  // namespace coppice
