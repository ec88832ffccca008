// Tables of Apache Arrow through its C stream interface, a fixed layout in memory that pyarrow, polars,
// DuckDB and others hand over without a copy.
#pragma once

#include <cstdint>
#include <string>

#include "coppice/data/raw_table.hpp"

// Names and order of the fields are those of the interface.
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE
extern "C" {
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;
  void (*release)(struct ArrowSchema*);
  void* private_data;
};
struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;
  void (*release)(struct ArrowArray*);
  void* private_data;
};
}
#endif
#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE
extern "C" {
struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema* out);
  int (*get_next)(struct ArrowArrayStream*, struct ArrowArray* out);
  const char* (*get_last_error)(struct ArrowArrayStream*);
  void (*release)(struct ArrowArrayStream*);
  void* private_data;
};
}
#endif

namespace coppice {

/// The columns of a stream of record batches, which is read to its end; its owner releases it. Numbers,
/// booleans and decimals become numbers, durations seconds; texts, dictionaries, dates and times become texts
/// as a CSV file has them; null is a missing cell. Throws Error{bad_data}, which names the column, for other
/// types and for infinite numbers.
RawTable read_arrow_stream(ArrowArrayStream& stream, const std::string& file);

}  // namespace coppice
