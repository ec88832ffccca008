// Several answers when there are several: a small weighted set of partitions that stands for all draws, so
// that each draw is near one of them (k-medoids in the variation of information; the idea of WASABI, Balocchi
// and Wade 2025, arXiv 2506.16295). Two to five are offered only if they are separate: if the mean silhouette
// (Rousseeuw 1987) of the draws of every mode is at least one half, every mode has at least 5 % of the draws,
// and any two differ in whether two groups of at least two members, and 2 % of all, are together. Otherwise
// one cloud of draws has one center, however wide it is.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "coppice/post/partition_diagnostics.hpp"
#include "coppice/shape/partition.hpp"

namespace coppice {

/// One of several answers.
struct Mode {
  double weight = 0.0;                // fraction of the draws that are nearest to it
  std::vector<double> chain_weights;  // the same within each chain
  Labels labels;                      // of the members, canonical: the one of its draws nearest to the others
  std::size_t clusters = 0;
  std::size_t chain = 0, draw = 0;  // the draw it is
  double radius = 0.0;              // mean distance of its draws, in nats
};

struct Modes {
  std::vector<Mode> modes;  // heaviest first; a single one if the draws have one center
  double silhouette = 0.0;  // mean of the draws of the least coherent mode; 0 for a single one
  /// For each mode but the first, what distinguishes it from the first, in members: those together in one of
  /// the two and apart in the other.
  struct Difference {
    bool first_joins = false;             // together in the first mode, apart in this one
    std::vector<std::size_t> one, other;  // members of the two parts, ascending
    bool is_whole_cluster = false;        // the two parts are all of the cluster that joins them
  };
  std::vector<Difference> differences;
};

/// A pure function of the draws; labels are any non-negative numbers. Error{usage} if there are none.
Modes find_modes(std::span<const LabelMatrix> chains);

/// "A: 62 %, B: 38 %; they differ in whether rows 12 to 40 are one group": empty for a single mode.
std::string modes_sentence(const SavedRun& run, const PartitionDraws& draws, const Modes& modes);
/// "A", "B", ...
std::string mode_name(std::size_t index);

/// The extremes of a credible ball around an estimate (Wade and Ghahramani 2018): of the draws within the
/// radius those with the fewest clusters (vertical upper bound), with the most clusters (vertical lower
/// bound) and the farthest (horizontal bound); of several the farthest.
struct BallBound {
  std::size_t draw = 0;  // of the matrix
  std::size_t clusters = 0;
  double distance = 0.0;
  Labels labels;  // canonical
};
struct BallBounds {
  BallBound upper, lower, horizontal;
};
/// `distances` are those of the draws from the estimate; at least one is within the radius.
BallBounds ball_bounds(const LabelMatrix& draws, std::span<const double> distances, double radius);

}  // namespace coppice
