// What a classifier of several labels is measured against: the labels' base rates, a logistic regression of
// each label on its own, and chains of them, in which a label sees those before it. All have the inputs of
// the linear experts and a threshold found, like theirs, on rows held out.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "coppice/model/model.hpp"

namespace coppice::bnmc {

enum class Baseline { base_rates, one_vs_rest, chains };

/// Fitted at once; the answers do not depend on the threads. A row has one cluster and no density. Throws
/// Error{stopped} soon after `stop`, which may be null, is set.
std::unique_ptr<Classifier> fit_baseline(Baseline kind, const LabeledRows& rows, std::uint64_t seed,
                                         std::size_t threads, const std::atomic<bool>* stop = nullptr);

}  // namespace coppice::bnmc
