// Choosing the penalty when the user does not: rows are held out, short chains run with penalties of several
// strengths, and the strongest one is taken whose predictive density of the held-out rows is not worse than
// that of the plain mixture by more than half a standard error. The margin's scale is that of the scores: the
// discriminants' standard deviation times the root mean square length of the rows' features.
#pragma once

#include "coppice/model/model.hpp"

namespace coppice::rbhmc {

/// Replaces `--penalty auto` by numbers (penalty, margin, replicas), unless they were given. Deterministic in
/// the seed, whatever the number of threads.
Resolution resolve_penalty(const Problem& problem, const Settings& given, std::uint64_t seed,
                           std::size_t threads);

}  // namespace coppice::rbhmc
