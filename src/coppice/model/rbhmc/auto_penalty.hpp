// Choosing the penalty when the user does not: rows are held out, short chains run with regularizers of
// several strengths, and the one that gives the held-out rows the highest predictive density is taken, but
// only if it beats the plain mixture by more than two standard errors of the difference. A penalty is an
// assumption beside the model: it has to earn its place. The margin's scale is that of the scores: the
// discriminants' standard deviation times the root mean square length of the rows' features.
#pragma once

#include "coppice/model/model.hpp"

namespace coppice::rbhmc {

/// Replaces `--penalty auto` by numbers, and sets regularizer and margin unless they were given. With
/// `--penalty 0` it only notes which of the given settings do nothing.
/// Deterministic in the seed, whatever the number of threads. `model` is the entry whose chains are run.
Resolution resolve_penalty(const ModelEntry& model, const Problem& problem, const Settings& given,
                           std::uint64_t seed, std::size_t threads);

}  // namespace coppice::rbhmc
