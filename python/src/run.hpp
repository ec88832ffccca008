// A run file opened for questions.
#pragma once

#include <mutex>

#include "bindings.hpp"
#include "coppice/post/analysis.hpp"

namespace coppice::python {

/// Questions are answered one at a time, with the interpreter free for other threads.
class Run {
 public:
  explicit Run(const std::string& path) : analysis_(path, ShownRows::all) {}

  template <typename Question>
  auto ask(Question question) const {
    const nb::gil_scoped_release release;
    const std::lock_guard lock(mutex_);
    return question(analysis_);
  }
  /// A question about two runs, which may be one and the same.
  template <typename Question>
  static auto ask_both(const Run& a, const Run& b, Question question) {
    const nb::gil_scoped_release release;
    if (&a == &b) {
      const std::lock_guard lock(a.mutex_);
      return question(a.analysis_, b.analysis_);
    }
    const std::scoped_lock lock(a.mutex_, b.mutex_);
    return question(a.analysis_, b.analysis_);
  }
  /// For what is at hand and makes Python values.
  const Analysis& analysis() const { return analysis_; }

 private:
  Analysis analysis_;
  mutable std::mutex mutex_;
};

/// What a run that learned labels answers.
void add_label_answers(nb::module_& module, nb::class_<Run>& run);
/// Questions about columns, rows and cells.
void add_questions(nb::module_& module, nb::class_<Run>& run);

}  // namespace coppice::python
