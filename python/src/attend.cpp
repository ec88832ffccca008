#include "attend.hpp"

#include <chrono>

#include "coppice/base/error.hpp"

namespace coppice::python {

void attend(const Worker::Task& task, const std::function<void()>& on_beat) {
  constexpr std::chrono::milliseconds kBeat(100);
  Worker worker(task);
  bool stopping = false;
  for (bool done = false; !done;) {
    {
      const nb::gil_scoped_release release;
      done = worker.wait(kBeat);
    }
    if (PyErr_CheckSignals() != 0) {
      if (stopping || PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) == 0) throw nb::python_error();
      PyErr_Clear();
      worker.stop();
      stopping = true;
    }
    on_beat();
  }
  try {
    worker.end();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::stopped) throw;
    PyErr_SetString(PyExc_KeyboardInterrupt, error.what());
    throw nb::python_error();
  }
}

Settings checked_values(const std::vector<Parameter>& table, const nb::dict& given,
                        const std::string& model) {
  TypedSettings typed;
  for (const auto& [key, value] : given)
    typed.emplace_back(nb::cast<std::string>(key), nb::cast<std::string>(value));
  return checked_settings(table, typed, model);
}

Dataset read_frames(const Frame& frame, const Frame* labels, const std::string& codebook_text,
                    bool family_is_named, std::vector<double> weights) {
  const Table known = labels == nullptr ? Table() : label_table(*labels);
  return read_memory(
      frame, {labels == nullptr ? nullptr : &known, codebook_text, family_is_named, std::move(weights)});
}

}  // namespace coppice::python
