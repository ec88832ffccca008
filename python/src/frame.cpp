// Columns that are in memory: numbers from any strided array, texts as codes and levels.
#include "bindings.hpp"
#include "coppice/base/error.hpp"

namespace coppice::python {
namespace {

using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::device::cpu>;

void add_column(Frame& frame, std::string name, const Numbers& values, std::vector<std::string> levels,
                bool is_text) {
  RawTable& raw = frame.raw;
  if (values.shape(0) != raw.rows)
    fail(ErrorCode::usage, "column '{}' has {} cells where {} rows are", name, values.shape(0), raw.rows);
  RawColumn column;
  column.name = std::move(name);
  column.is_text = is_text;
  column.levels = std::move(levels);
  column.values.reserve(raw.rows);
  const double* cell = values.data();
  const std::int64_t stride = values.stride(0);
  for (std::size_t row = 0; row < raw.rows; ++row, cell += stride) {
    if (is_text && !is_missing(*cell) && !(*cell >= 0.0 && *cell < static_cast<double>(column.levels.size())))
      fail(ErrorCode::usage, "column '{}' has the code {} and {} levels", column.name, *cell,
           column.levels.size());
    column.values.push_back(*cell);
  }
  raw.columns.push_back(std::move(column));
}

void start_frame(Frame* place, std::vector<std::string> row_ids) {
  Frame& frame = *new (place) Frame;
  frame.raw.file = "X";
  frame.raw.rows = row_ids.size();
  frame.raw.has_header = true;
  frame.row_ids = std::move(row_ids);
}

}  // namespace

Place place_of(const Frame& frame, std::size_t row, std::size_t column) {
  const RawColumn& cells = frame.raw.columns[column];
  const double value = cells.values[row];
  return {fmt::format("row {}", frame.row_ids[row]),
          cells.is_text ? cells.levels[static_cast<std::size_t>(value)] : fmt::format("{}", value)};
}

void add_frame(nb::module_& module) {
  nb::class_<Frame>(module, "Frame", "Columns of a table in memory.")
      .def("__init__", &start_frame, nb::arg("row_ids"))
      .def(
          "add_numbers",
          [](Frame& frame, std::string name, const Numbers& values) {
            add_column(frame, std::move(name), values, {}, false);
          },
          nb::arg("name"), nb::arg("values"), "Appends a column of numbers; NaN is a missing cell.")
      .def(
          "add_texts",
          [](Frame& frame, std::string name, const Numbers& codes, std::vector<std::string> levels) {
            add_column(frame, std::move(name), codes, std::move(levels), true);
          },
          nb::arg("name"), nb::arg("codes"), nb::arg("levels"),
          "Appends a column of texts: codes are indices into the levels, NaN is a missing cell.");
}

}  // namespace coppice::python
