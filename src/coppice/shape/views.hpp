// The views of a table: a partition of the columns, and for each block of columns a partition of all rows.
#pragma once

#include <vector>

#include "coppice/base/byte_stream.hpp"
#include "coppice/shape/partition.hpp"

namespace coppice {

struct Views {
  Labels columns;            // the view of each column; canonical
  std::vector<Labels> rows;  // of each view: canonical labels of the rows

  std::size_t count() const { return rows.size(); }
  /// The view with most columns; of several the one with the first column.
  std::size_t largest() const;

  void save(ByteWriter& writer) const;
  /// Throws Error{bad_data} if the bytes are not views of a table of that size.
  static Views load(ByteReader& reader, std::size_t columns, std::size_t rows);
};

}  // namespace coppice
