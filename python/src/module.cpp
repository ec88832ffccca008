// The module coppice._native: a thin layer, without a face of its own. The package's Python code is the face.
#include <regex>

#include "bindings.hpp"
#include "coppice/base/error.hpp"
#include "coppice/version.hpp"

namespace coppice::python {
namespace {

/// Messages name settings as the command line spells them; here they are keyword arguments.
std::string in_python_words(const std::string& message) {
  static const std::regex flag("--([a-z][a-z0-9-]*)");
  std::string text;
  auto rest = message.cbegin();
  for (std::sregex_iterator found(message.begin(), message.end(), flag), end; found != end; ++found) {
    text.append(rest, (*found)[0].first);
    for (const char c : (*found)[1].str()) text += c == '-' ? '_' : c;
    rest = (*found)[0].second;
  }
  return text.append(rest, message.cend());
}

PyObject* exception_for(ErrorCode code) {
  switch (code) {
    case ErrorCode::cannot_read:
    case ErrorCode::cannot_write:
      return PyExc_OSError;
    case ErrorCode::bug:
      return PyExc_RuntimeError;
    case ErrorCode::usage:
    case ErrorCode::bad_data:
    case ErrorCode::stopped:
    case ErrorCode::configuration:
      break;
  }
  return PyExc_ValueError;
}

}  // namespace

NB_MODULE(_native, module) {
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const Error& error) {
      PyErr_SetString(exception_for(error.code()), in_python_words(error.what()).c_str());
    }
  });
  module.attr("__version__") = kVersion;
  add_catalogue(module);
  add_frame(module);
  add_fit(module);
  add_parts(module);
  add_crossvalidate(module);
  add_run(module);
  add_several_runs(module);
}

}  // namespace coppice::python
