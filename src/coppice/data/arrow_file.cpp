#include "coppice/data/arrow_file.hpp"

#include <fmt/format.h>

#include <cmath>

#include "coppice/base/error.hpp"
#include "coppice/base/module.hpp"
#include "coppice/data/arrow_stream.hpp"

namespace coppice {
namespace {

using OpenStream = int(const char* bytes, std::size_t size, ArrowArrayStream* stream, char* message,
                       std::size_t message_size);

struct OpenedStream {
  ArrowArrayStream held{};
  ~OpenedStream() {
    if (held.release != nullptr) held.release(&held);
  }
};

}  // namespace

bool is_arrow_file(std::string_view bytes) {
  return bytes.starts_with("PAR1") || bytes.starts_with("ARROW1");
}

RawTable parse_arrow_file(std::string_view bytes, const std::string& file) {
  static OpenStream* const open = reinterpret_cast<OpenStream*>(
      find_in_module("libcoppice_arrow.so", "coppice_open_arrow", ModuleSymbols::own));
  if (open == nullptr)
    fail(ErrorCode::configuration,
         "{}: this build reads no Parquet and Arrow files: build it with -DCOPPICE_ARROW=FOLDER, the folder "
         "of "
         "the Python package pyarrow (or install Arrow C++ and its headers), read the file from Python, or "
         "convert it to .csv or .npy",
         file);
  const auto read = [bytes, file] {
    OpenedStream stream;
    char message[512] = "";
    if (open(bytes.data(), bytes.size(), &stream.held, message, sizeof message) != 0)
      fail(ErrorCode::bad_data, "{}: {}", file, message);
    return read_arrow_stream(stream.held, file);
  };
  RawTable table = read();
  // Only an error asks for a cell: the file is read again rather than kept twice.
  table.locate = [file, read](std::size_t row, std::size_t column) {
    const RawColumn own = read().columns[column];
    const double value = own.values[row];
    return Place{fmt::format("{}: row {}", file, row + 1), is_missing(value) ? ""
                                                           : own.is_text
                                                               ? own.levels[static_cast<std::size_t>(value)]
                                                               : fmt::format("{}", value)};
  };
  for (std::size_t j = 0; j < table.columns.size(); ++j)
    for (std::size_t row = 0; row < table.rows; ++row)
      if (std::isinf(table.columns[j].values[row]))
        table.fail_cell(row, j, "is infinite; replace it by a finite number or by null for missing");
  return table;
}

}  // namespace coppice
