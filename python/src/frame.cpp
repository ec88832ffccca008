// Columns that are in memory: numbers from any strided array, texts as codes and levels.
#include "bindings.hpp"
#include "coppice/base/error.hpp"
#include "coppice/data/arrow_stream.hpp"

namespace coppice::python {
namespace {

using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::device::cpu>;

using Indices = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::device::cpu>;

std::vector<double> values_of(const Numbers& array) {
  std::vector<double> values;
  values.reserve(array.shape(0));
  const double* cell = array.data();
  for (std::size_t row = 0; row < array.shape(0); ++row, cell += array.stride(0)) values.push_back(*cell);
  return values;
}

/// A column of zeros but for some rows, as a sparse matrix keeps it.
void add_sparse_column(Frame& frame, std::string name, const Indices& rows, const Numbers& values) {
  RawTable& raw = frame.raw;
  if (rows.shape(0) != values.shape(0))
    fail(ErrorCode::usage, "column '{}' has {} cells in {} rows", name, values.shape(0), rows.shape(0));
  RawColumn column;
  column.name = std::move(name);
  column.values.assign(raw.rows, 0.0);
  for (std::size_t i = 0; i < rows.shape(0); ++i) {
    const std::int64_t row = rows.data()[static_cast<std::int64_t>(i) * rows.stride(0)];
    if (row < 0 || static_cast<std::size_t>(row) >= raw.rows)
      fail(ErrorCode::usage, "column '{}' has a cell in row {} of {}", column.name, row, raw.rows);
    column.values[static_cast<std::size_t>(row)] +=
        values.data()[static_cast<std::int64_t>(i) * values.stride(0)];
  }
  raw.columns.push_back(std::move(column));
}

/// Name, numbers or codes, and texts (None of numbers) of each column of an Arrow stream.
nb::list arrow_columns(const nb::object& table) {
  const nb::object capsule = table.attr("__arrow_c_stream__")();
  auto* stream = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule.ptr(), "arrow_array_stream"));
  if (stream == nullptr) throw nb::python_error();
  RawTable raw;
  {
    const nb::gil_scoped_release release;
    raw = read_arrow_stream(*stream, "X");
  }
  nb::list columns;
  for (RawColumn& column : raw.columns) {
    const std::size_t rows = column.values.size();
    const nb::object levels = column.is_text ? nb::cast(column.levels) : nb::object(nb::none());
    columns.append(nb::make_tuple(column.name, to_numpy(std::move(column.values), {rows}), levels));
  }
  return columns;
}

void start_frame(Frame* place, std::vector<std::string> row_ids) {
  new (place) Frame(start_memory_table("X", std::move(row_ids)));
}

void set_row_ids(Frame& frame, std::vector<std::string> row_ids) {
  if (row_ids.size() != frame.raw.rows)
    fail(ErrorCode::usage, "{} names for {} rows", row_ids.size(), frame.raw.rows);
  frame.row_ids = std::move(row_ids);
}

}  // namespace

void add_frame(nb::module_& module) {
  module.def("arrow_columns", &arrow_columns, nb::arg("table"),
             "Columns of an object with the Arrow PyCapsule interface: name, numbers or codes, and texts.");
  nb::class_<Frame>(module, "Frame", "Columns of a table in memory.")
      .def("__init__", &start_frame, nb::arg("row_ids"))
      .def_static(
          "numbered",
          [](const std::string& name, std::uint64_t first, std::size_t rows) {
            std::vector<std::string> ids;
            ids.reserve(rows);
            for (std::size_t i = 0; i < rows; ++i) ids.push_back(std::to_string(first + i));
            return start_memory_table(name, std::move(ids));
          },
          nb::arg("name"), nb::arg("first"), nb::arg("rows"), "Rows that are named by their numbers.")
      .def("row_ids", [](const Frame& frame) { return frame.row_ids; })
      .def("set_row_ids", &set_row_ids, nb::arg("row_ids"))
      .def(
          "add_numbers",
          [](Frame& frame, std::string name, const Numbers& values) {
            add_numbers(frame, std::move(name), values_of(values));
          },
          nb::arg("name"), nb::arg("values"), "Appends a column of numbers; NaN is a missing cell.")
      .def("add_sparse", &add_sparse_column, nb::arg("name"), nb::arg("rows"), nb::arg("values"),
           "Appends a column of numbers that is zero but in these rows.")
      .def(
          "add_texts",
          [](Frame& frame, std::string name, const Numbers& codes, std::vector<std::string> levels) {
            add_texts(frame, std::move(name), values_of(codes), std::move(levels));
          },
          nb::arg("name"), nb::arg("codes"), nb::arg("levels"),
          "Appends a column of texts: codes are indices into the levels, NaN is a missing cell.");
}

}  // namespace coppice::python
