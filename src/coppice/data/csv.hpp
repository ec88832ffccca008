// The CSV parser: RFC 4180 (quotes, doubled quotes, delimiters and line ends inside quotes) with LF, CRLF or
// CR line ends, a UTF-8 byte order mark, and spaces around unquoted cells ignored. One pass parses numbers
// straight into columns; a second pass codes the texts of those columns that turned out to hold any.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "coppice/data/raw_table.hpp"

namespace coppice {

struct CsvOptions {
  char delimiter = '\0';      // '\0': found out from the first record
  bool prefer_comma = false;  // when finding out: a comma in the first record settles it
  Header header = Header::automatic;
  std::vector<std::string> expected_names = {};  // a first record that has them all is a header
};

/// Called once with the columns named and nothing read; sets `want` (and declared_levels) of each.
using Chooser = std::function<void(RawTable&)>;

/// Throws Error{bad_data}. The result refers to `bytes` through `locate`.
RawTable parse_csv(std::string_view bytes, const std::string& file, const CsvOptions& options,
                   const Chooser& choose);

}  // namespace coppice
