#include "parts.hpp"

#include <algorithm>
#include <cstring>

#include "coppice/base/error.hpp"
#include "coppice/run/table_parts.hpp"
#include "coppice/version.hpp"

namespace coppice::python {
namespace {

nb::bytes to_bytes(std::string_view bytes) { return nb::bytes(bytes.data(), bytes.size()); }
std::string_view view_of(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

nb::bytes ask_part(PartOfTable& part, const nb::bytes& message, std::uint64_t slot, std::size_t threads) {
  BlockAnswer answer;
  {
    const std::string_view asked = view_of(message);
    const nb::gil_scoped_release release;
    answer = part.ask(asked, slot, threads);
  }
  return nb::bytes(answer.data(), answer.size() * sizeof(double));
}

/// What a part answers to Run.label_question.
nb::ndarray<nb::numpy, std::int32_t> labels_of_part(PartOfTable& part, const nb::bytes& message,
                                                    std::uint64_t slot, std::size_t threads) {
  std::vector<std::int32_t> labels;
  {
    const std::string_view asked = view_of(message);
    const nb::gil_scoped_release release;
    for (const double label : part.ask(asked, slot, threads))
      labels.push_back(static_cast<std::int32_t>(label));
  }
  const std::size_t count = labels.size();
  return to_numpy(std::move(labels), {count});
}

using Cells = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void make_part_of_cells(PartOfTable* place, const std::string& description, const Cells& cells,
                        std::uint64_t first) {
  Rows rows{cells.shape(1), {}};
  rows.cells.assign(cells.data(), cells.data() + cells.size());
  const nb::gil_scoped_release release;
  new (place) PartOfTable(description, std::move(rows), first);
}

nb::ndarray<nb::numpy, double> cells_of_part(const PartOfTable& part) {
  const Rows& rows = part.rows();
  return to_numpy(std::vector<double>(rows.cells.begin(), rows.cells.end()), {rows.size(), rows.width});
}

void make_part(PartOfTable* place, const std::string& description, const Frame& rows, std::uint64_t first) {
  const nb::gil_scoped_release release;
  new (place) PartOfTable(description, rows, first);
}

nb::ndarray<nb::numpy, std::uint64_t> as_array(std::vector<std::uint64_t> rows) {
  const std::size_t count = rows.size();
  return to_numpy(std::move(rows), {count});
}

}  // namespace

std::size_t PythonEngine::slot_of(const BlockTask& task) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find(tasks_.begin(), tasks_.end(), &task);
  if (found == tasks_.end()) {
    tasks_.push_back(&task);
    return tasks_.size() - 1;
  }
  return static_cast<std::size_t>(found - tasks_.begin());
}

std::vector<BlockAnswer> PythonEngine::ask(BlockTask& task, std::size_t, std::string_view message) {
  task.receive(message);
  const std::size_t slot = slot_of(task);
  std::vector<BlockAnswer> answers;
  {
    const nb::gil_scoped_acquire acquire;
    for (const nb::handle part : (*ask_)(slot, to_bytes(message))) {
      const auto bytes = nb::cast<nb::bytes>(part);
      BlockAnswer& answer = answers.emplace_back(bytes.size() / sizeof(double));
      std::memcpy(answer.data(), bytes.c_str(), answer.size() * sizeof(double));
    }
  }
  return answers;
}

void add_parts(nb::module_& module) {
  module.attr("build") = kBuild;
  module.def(
      "planning_rows", [](std::size_t rows) { return as_array(planning_rows(rows)); }, nb::arg("rows"),
      "Numbers of the rows from which a fit of a table in parts is planned.");
  module.def(
      "answer_rows", [](std::size_t rows, std::size_t most) { return as_array(answer_rows(rows, most)); },
      nb::arg("rows"), nb::arg("most"), "Numbers of the rows that answers are about.");
  nb::class_<PartOfTable>(module, "Part", "Consecutive blocks of rows of a table in parts.")
      .def("__init__", &make_part, nb::arg("description"), nb::arg("rows"), nb::arg("first"))
      .def("__init__", &make_part_of_cells, nb::arg("description"), nb::arg("cells"), nb::arg("first"))
      .def("cells", &cells_of_part, "The rows as they are encoded, from which the part can be made again.")
      .def("nbytes", [](const PartOfTable& part) { return part.rows().cells.size() * sizeof(double); })
      .def("ask", &ask_part, nb::arg("message"), nb::arg("slot"), nb::arg("threads"),
           "The merged answers of its blocks to a message: numbers of eight bytes.")
      .def("labels", &labels_of_part, nb::arg("message"), nb::arg("slot"), nb::arg("threads"),
           "The labels of its rows in a draw.");
}

}  // namespace coppice::python
