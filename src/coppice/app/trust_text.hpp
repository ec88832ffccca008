// What is behind the verdict on a run, as text.
#pragma once

#include <string>

#include "coppice/app/context.hpp"
#include "coppice/post/trust.hpp"

namespace coppice::app {

/// Below the verdict: whether the model fits, and if the chains do not agree, on what, what is safe to use
/// and what to do.
std::string trust_text(const Analysis& analysis, const Trust& trust, const Context& context);
/// Diagnostics of who is with whom.
std::string partition_trace_table(const Analysis& analysis, const Context& context);
/// Every check of the fit.
std::string fit_table(const FitReport& fit, const Context& context);

}  // namespace coppice::app
