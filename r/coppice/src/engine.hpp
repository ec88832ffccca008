// What the parts of the package's C++ code share. The engine is the installed library; here is only the way
// to it.
#pragma once

#include <cpp11.hpp>
#include <string>
#include <vector>

#include "coppice/coppice.hpp"

namespace coppice_r {

using Pointer = cpp11::external_pointer<coppice::Analysis>;

/// The run behind a pointer; an error if it was saved in another session.
inline const coppice::Analysis& analysis_of(SEXP pointer) {
  const Pointer run(pointer);
  if (run.get() == nullptr)
    cpp11::stop("the run is not open in this session; open it again with coppice_open()");
  return *run.get();
}

/// Named texts as pairs.
inline coppice::TypedSettings typed(const cpp11::strings& values) {
  coppice::TypedSettings pairs;
  if (values.size() == 0) return pairs;
  const cpp11::strings names(values.attr("names"));
  for (R_xlen_t i = 0; i < values.size(); ++i)
    pairs.emplace_back(std::string(names[i]), std::string(values[i]));
  return pairs;
}

/// Columns as R hands them over: each a list of name, values and, of texts, levels.
inline coppice::MemoryTable table_of(const cpp11::list& columns, const cpp11::strings& row_names) {
  std::vector<std::string> ids(row_names.begin(), row_names.end());
  coppice::MemoryTable table = coppice::start_memory_table("data", std::move(ids));
  for (R_xlen_t j = 0; j < columns.size(); ++j) {
    const cpp11::list column(columns[j]);
    const cpp11::doubles cells(column["values"]);
    std::vector<double> values;
    values.reserve(static_cast<std::size_t>(cells.size()));
    for (const double cell : cells) values.push_back(ISNAN(cell) ? coppice::kMissing : cell);
    std::string name = cpp11::as_cpp<std::string>(column["name"]);
    if (Rf_isNull(column["levels"])) {
      coppice::add_numbers(table, std::move(name), std::move(values));
    } else {
      const cpp11::strings levels(column["levels"]);
      coppice::add_texts(table, std::move(name), std::move(values), {levels.begin(), levels.end()});
    }
  }
  return table;
}

}  // namespace coppice_r
