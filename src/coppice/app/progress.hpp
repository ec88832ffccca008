// Progress of a fit on stderr: a line that is redrawn on a terminal, one plain line a minute elsewhere, or
// JSON lines.
#pragma once

#include <memory>

#include "coppice/app/context.hpp"
#include "coppice/run/fit.hpp"

namespace coppice::app {

/// An observer for the wanted kind of progress; nullptr for none.
std::unique_ptr<FitObserver> make_progress(const Context& context, std::size_t chains, bool runs_once);

/// "850 ms", "12 s", "3 min 20 s", "2 h 5 min".
std::string duration_words(double seconds);
/// "1 MB", "12 MB", "3.4 GB".
std::string size_words(std::size_t bytes);
/// "1 label", "3 labels".
std::string counted(std::size_t count, std::string_view noun);

}  // namespace coppice::app
