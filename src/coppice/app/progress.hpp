// Progress of a fit on stderr: a line that is redrawn on a terminal, one plain line a minute elsewhere, or
// JSON lines.
#pragma once

#include <memory>

#include "coppice/app/context.hpp"
#include "coppice/base/counted.hpp"
#include "coppice/run/fit_service.hpp"

namespace coppice::app {

struct ProgressOptions {
  std::size_t chains = 1;
  bool runs_once = false;
  double budget = 0.0;  // seconds of a run until trusted
};

/// An observer for the wanted kind of progress; nullptr for none.
std::unique_ptr<FitObserver> make_progress(const Context& context, const ProgressOptions& options);
/// That of a fit.
std::unique_ptr<FitObserver> make_progress(const Context& context, const Fit& fit);

/// "850 ms", "12 s", "3 min 20 s", "2 h 5 min".
std::string duration_words(double seconds);
/// "1 MB", "12 MB", "3.4 GB".
std::string size_words(std::size_t bytes);

}  // namespace coppice::app
