// What is predicted for one cell of numbers: an average of t and normal distributions, one for each cluster
// and draw that the cell may belong to, and of a spike. Means and variances are exact; distribution functions
// of t distributions with three degrees of freedom or more are accurate to 1e-4, which is far below the Monte
// Carlo error of any run. Where numbers have a least value, all that is said is given that the number is not
// below it.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "coppice/family/family.hpp"
#include "coppice/family/plan.hpp"

namespace coppice {

/// What one component of one draw predicts, in the family's units.
struct NumberComponent {
  double mean = 0.0, sd = 0.0;
  double scale = 0.0, dof = 0.0;  // of the t distribution around the mean; infinite: a normal one
  double log_peak = 0.0;          // its log density at the mean
  double spike = 0.0;             // probability of the spike; the others exclude it

  NumberComponent() = default;
  explicit NumberComponent(const CellPredictive& predictive);
  /// P(number <= x), and its density, for one that is not at the spike.
  double cdf(double x) const;
  /// Expectations of the number and of its square where it is below x, and 0 elsewhere.
  struct Partial {
    double first = 0.0, second = 0.0;
  };
  Partial below(double x) const;
  double density(double x) const;
};

/// A component's weight in the predictive of a cell.
struct MixturePart {
  std::uint32_t component;
  double weight;
};

class CellMixture {
 public:
  /// Weights need not add up to one. `encoding` is that of the column, `least` the least number that it can
  /// have, in the units of the table.
  CellMixture(std::span<const NumberComponent> components, std::span<const MixturePart> parts,
              const Encoding& encoding, double least = -std::numeric_limits<double>::infinity());

  double weight() const { return total_; }
  /// In the units of the table. NaN on the log scale, where averages need not exist: medians do.
  double mean() const;
  double sd() const;
  /// The least number, in the units of the table, that the cell is at most with probability p.
  double quantile(double p) const;
  double spike_probability() const { return spike_ / total_; }

 private:
  const NumberComponent& of(const MixturePart& part) const { return components_[part.component]; }
  double part_weight(const MixturePart& part) const { return part.weight * (1.0 - of(part).spike); }
  double cdf(double x, double& density) const;
  void cut_off();
  double number_quantile(double p) const;

  std::span<const NumberComponent> components_;
  std::span<const MixturePart> parts_;
  Encoding encoding_;
  double total_ = 0.0;
  double spike_ = 0.0;            // weight of the spike
  double numbers_ = 0.0;          // weight of all other numbers
  double mean_ = 0.0, sd_ = 0.0;  // of these
  double boundless_ = 0.0;        // weight of normal components of infinite variance
  double least_;                  // of the numbers
  double below_ = 0.0;            // the probability of less than that, which they do not have
};

}  // namespace coppice
