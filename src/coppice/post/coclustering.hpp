// Posterior similarity: the fraction of draws in which two rows are in the same cluster. Counts are exact.
// Labels are renumbered per draw and packed into bytes (draws of up to 256 clusters) or 16-bit words, so that
// one vector instruction compares a row with 16 to 64 others; 8-bit partial counts are flushed every 255
// draws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "coppice/shape/partition.hpp"

namespace coppice {

/// Number of draws that put rows i and j together: full rows x rows matrix, row-major, diagonal = draws.
/// Labels are any non-negative numbers. The result does not depend on `threads` (0: all).
std::vector<std::uint32_t> coclustering_counts(const LabelMatrix& draws, std::size_t threads = 1);

/// coclustering_counts divided by the number of draws. Error{usage} if there is no draw.
std::vector<double> coclustering(const LabelMatrix& draws, std::size_t threads = 1);

/// The strict upper triangle in SciPy's condensed order, in single precision: a quarter of the memory of the
/// full matrix.
std::vector<float> coclustering_packed(const LabelMatrix& draws, std::size_t threads = 1);

/// Pairwise uncertainty: the mean over pairs of rows of 4 p (1 - p), where p is the fraction of draws that
/// put them together. 0: every pair is certain; 1: every pair is a toss-up.
double pairwise_uncertainty(const LabelMatrix& draws, std::size_t threads = 1);

}  // namespace coppice
