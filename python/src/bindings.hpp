// What the parts of the extension module share. Each part adds its own functions and classes to the module.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <initializer_list>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "coppice/run/in_memory.hpp"

namespace coppice::python {

namespace nb = nanobind;

/// Values of a vector as a NumPy array that owns them: no copy.
template <typename Value>
nb::ndarray<nb::numpy, Value> to_numpy(std::vector<Value> values, std::initializer_list<std::size_t> shape) {
  auto* kept = new std::vector<Value>(std::move(values));
  nb::capsule owner(kept, [](void* vector) noexcept { delete static_cast<std::vector<Value>*>(vector); });
  return nb::ndarray<nb::numpy, Value>(kept->data(), shape.size(), shape.begin(), owner);
}

/// Columns in memory, as Python hands them over.
using Frame = MemoryTable;

/// Columns of 0, 1 and NaN: what is known of labels.
Table label_table(const Frame& frame);

void add_catalogue(nb::module_& module);
void add_frame(nb::module_& module);
void add_fit(nb::module_& module);
void add_parts(nb::module_& module);
void add_crossvalidate(nb::module_& module);
void add_run(nb::module_& module);
void add_several_runs(nb::module_& module);

}  // namespace coppice::python
