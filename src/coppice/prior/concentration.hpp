// A concentration as a model has it: a fixed number, or learned under a Gamma prior. The law that uses it (a
// Crp, ...) keeps its present value; how it may change is said here, the same for every model.
#pragma once

#include <cstddef>
#include <optional>

#include "coppice/base/rng.hpp"

namespace coppice {

/// value ~ Gamma(shape, rate).
struct GammaPrior {
  double shape = 1.0;
  double rate = 1.0;
  double log_density(double value) const;
  double draw(Stream& stream) const;
};

/// Beyond these a concentration changes nothing that double precision knows.
inline constexpr double kLeastConcentration = 1e-300;
inline constexpr double kLargestConcentration = 1e300;

/// One exact two-block Gibbs update of alpha given K clusters of N rows: eta ~ Beta(alpha, N), then alpha ~
/// Gamma(shape + K, rate - log eta).
double update_concentration(Stream& stream, const GammaPrior& prior, double alpha, std::size_t clusters,
                            std::size_t rows);

/// Partitions that share a concentration, in counts.
struct SeatedRows {
  double partitions = 1.0;  // independent given the concentration
  double clusters = 0.0;    // of all of them together
  double rows = 0.0;        // of each
};

class Concentration {
 public:
  /// Fixed.
  explicit Concentration(double value) : start_(value) {}
  /// Learned; chains begin at `start`.
  Concentration(double start, const GammaPrior& prior) : start_(start), prior_(prior) {}

  bool is_learned() const { return prior_.has_value(); }
  /// The fixed value, or where chains begin.
  double start() const { return start_; }
  /// Only of one that is learned.
  const GammaPrior& prior() const { return prior_.value(); }

  /// 0 if it is fixed.
  double log_prior(double value) const { return prior_ ? prior_->log_density(value) : 0.0; }
  /// A draw from the prior, or the fixed value.
  double draw_prior(Stream& stream) const;
  /// One update that leaves its law given the partitions, to this power, invariant: by slices over the
  /// logarithm. The value itself if it is fixed.
  double update_tempered(Stream& stream, double value, double power, const SeatedRows& seated) const;

 private:
  double start_;
  std::optional<GammaPrior> prior_;
};

/// Throws Error{bad_data} for a value in a saved state that no concentration can have.
void check_concentration(double value);

}  // namespace coppice
