// Where sweeps begin: seeds by k-means++ on features scaled alike, every row mostly with its nearest seed.
#pragma once

#include <span>

#include "coppice/base/rng.hpp"
#include "coppice/model/bnmc/mixture.hpp"

namespace coppice::bnmc {

/// Responsibilities of the given rows (0.9 for the nearest seed; the others share the rest); other rows have
/// none.
Responsibilities start_from_seeds(const MixtureRows& rows, std::span<const std::uint32_t> which,
                                  const Mixture& mixture, Stream& stream);

/// Responsibilities of the given rows in a mixture of twice as many clusters: each row keeps most of what it
/// has of the clusters so far, `old`, and gives a tenth to new clusters around seeds of their own.
Responsibilities start_with_more_clusters(const MixtureRows& rows, std::span<const std::uint32_t> which,
                                          const Mixture& before, const Responsibilities& old,
                                          const Mixture& mixture, Stream& stream);

}  // namespace coppice::bnmc
