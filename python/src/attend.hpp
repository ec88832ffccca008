// What everything that runs long has in common: work on a thread of its own, while the calling thread listens
// for Ctrl-C and reports progress; and the settings and columns that Python hands over.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "coppice/base/worker.hpp"

namespace coppice::python {

/// Does the task; the first Ctrl-C asks it to stop, a second one is KeyboardInterrupt. If anything is thrown
/// here, the task is stopped before that. `on_beat` is called by the calling thread now and then. A task that
/// ends with Error{stopped} has kept nothing: that is KeyboardInterrupt too.
void attend(const Worker::Task& task, const std::function<void()>& on_beat);

/// Texts as a user would type them, checked against the table. Throws Error{usage}.
Settings checked_values(const std::vector<Parameter>& table, const nb::dict& given, const std::string& model);

/// The columns with their kinds, and the labels if there are any to learn; rows may have weights.
Dataset read_frames(const Frame& frame, const Frame* labels, const std::string& codebook_text,
                    bool family_is_named = false, std::vector<double> weights = {});

}  // namespace coppice::python
