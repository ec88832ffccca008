#include <algorithm>
#include <cmath>
#include <limits>

#include "coppice/base/error.hpp"
#include "coppice/model/bnmc/expert.hpp"
#include "coppice/model/bnmc/newton_steps.hpp"

namespace coppice::bnmc {
namespace {

Lanes select(LanesInt condition, Lanes yes, Lanes no) { return condition ? yes : no; }

/// Eight labels on their way; rows that are not fitted, or whose label is not known, have no weight. No lane
/// sees another, and one that has settled stays as it is: a label's answer does not depend on its company.
class EightExperts {
 public:
  EightExperts(const SparseDesign& design, std::span<const std::vector<double>> y,
               std::span<const Eigen::VectorXd* const> prior_variances, const ExpertOptions& options,
               std::span<const Expert* const> start)
      : design_(design),
        options_(options),
        rows_(design.rows()),
        size_(design.inputs()),
        precision_(size_),
        known_(rows_),
        half_(rows_),
        fitted_(rows_),
        variance_of_row_(rows_),
        curvature_(rows_),
        work_(rows_),
        mean_(size_),
        variance_(size_),
        change_(size_),
        image_(size_) {
    for (std::size_t row = 0; row < rows_; ++row) {
      Lanes known{};
      Lanes half{};
      for (std::size_t lane = 0; lane < y.size(); ++lane) {
        const double value = y[lane][row];
        if (is_missing(value)) continue;
        known[lane] = 1.0;
        half[lane] = value - 0.5;
      }
      known_.set(row, known);
      half_.set(row, half);
    }
    for (std::size_t d = 0; d < size_; ++d) {
      const auto at = static_cast<Eigen::Index>(d);
      Lanes prior = broadcast(1.0);
      for (std::size_t lane = 0; lane < y.size(); ++lane) prior[lane] = (*prior_variances[lane])[at];
      precision_.set(d, 1.0 / prior);
      Lanes mean{};
      Lanes variance = is_variational() ? prior : Lanes{};
      for (std::size_t lane = 0; lane < start.size(); ++lane) {
        if (start[lane] == nullptr) continue;
        mean[lane] = start[lane]->mean[at];
        if (is_variational()) variance[lane] = start[lane]->variance[at];
      }
      mean_.set(d, mean);
      variance_.set(d, variance);
    }
    for (std::size_t lane = 0; lane < y.size(); ++lane) {
      going_[lane] = -1;
      begins_anew_[lane] = start.empty() || start[lane] == nullptr ? -1 : 0;
    }
    if (design.has_intercept()) set_intercepts(start);
  }

  bool is_going() const { return any(going_); }

  void begin() {
    predict();
    // Under the wide prior rows say little, and the first steps would go much too far.
    if (is_variational() && any(begins_anew_))
      for (std::size_t round = 0; round < kFirstRounds; ++round) spread(begins_anew_);
    elbo_ = bound();
  }

  void ask(NewtonSteps& steps, std::size_t half) {
    augment();
    design_.transposed_times(work_, image_);
    for (std::size_t d = 0; d < size_; ++d) image_.set(d, image_[d] - precision_[d] * mean_[d]);
    steps.set(half, going_, curvature_, precision_, image_);
  }

  void go(const NewtonSteps& steps, std::size_t half, std::span<Expert> experts) {
    steps.get(half, change_);
    Lanes change = move();
    if (is_variational()) change = larger(change, spread(going_));
    const Lanes next = bound();
    for (std::size_t lane = 0; lane < experts.size(); ++lane)
      if (going_[lane] != 0) experts[lane].elbos.push_back(next[lane]);
    const LanesInt gains = (next - elbo_) >= options_.least_gain * absolute(next);
    going_ = going_ & (change >= options_.tolerance) & gains;
    elbo_ = next;
  }

  void end(std::span<Expert> experts) {
    predict();
    elbo_ = bound();
    for (std::size_t lane = 0; lane < experts.size(); ++lane) {
      Expert& expert = experts[lane];
      expert.elbo = elbo_[lane];
      expert.elbos.push_back(elbo_[lane]);
      expert.mean.resize(static_cast<Eigen::Index>(size_));
      for (std::size_t d = 0; d < size_; ++d) expert.mean[static_cast<Eigen::Index>(d)] = mean_[d][lane];
      if (!is_variational()) continue;
      expert.variance.resize(static_cast<Eigen::Index>(size_));
      for (std::size_t d = 0; d < size_; ++d)
        expert.variance[static_cast<Eigen::Index>(d)] = variance_[d][lane];
    }
  }

 private:
  /// Log odds of the labels: near where they end, as most labels are rare.
  void set_intercepts(std::span<const Expert* const> start) {
    Lanes known{};
    Lanes half{};
    for (std::size_t row = 0; row < rows_; ++row) {
      known += known_[row];
      half += half_[row];
    }
    Lanes intercept = log((0.5 * known + half + 0.5) / (0.5 * known - half + 0.5));
    for (std::size_t lane = 0; lane < start.size(); ++lane)
      if (start[lane] != nullptr) intercept[lane] = mean_[0][lane];
    mean_.set(0, intercept);
  }

  bool is_variational() const { return options_.method == Method::vb; }

  void predict() {
    design_.times(mean_, fitted_);
    if (is_variational()) design_.squares_times(variance_, variance_of_row_);
  }

  Lanes margin(std::size_t row) const { return 1.0 - 2.0 * half_[row] * fitted_[row]; }

  /// E[lambda] or E[1/lambda] of the augmentation at a row.
  Lanes augmentation(std::size_t row) const {
    if (options_.link == Link::svm) {
      const Lanes u = margin(row);
      const Lanes g = root(u * u + variance_of_row_[row]);
      return known_[row] / select(g < 1e-8, broadcast(1e-8), g);
    }
    const Lanes psi = fitted_[row];
    const Lanes c = root(psi * psi + variance_of_row_[row]);
    return known_[row] * mean_of_polya_gamma(c, exp(-c));
  }

  static Lanes mean_of_polya_gamma(Lanes c, Lanes decay) {
    const Lanes safe = select(c < 1e-4, broadcast(1.0), c);
    const Lanes mean = (1.0 - decay) / ((1.0 + decay) * 2.0 * safe);
    return select(c < 1e-4, 0.25 - c * c / 48.0, mean);
  }

  /// The bound's slope (work_) and curvature in each row's linear predictor. Of the logistic bound it is the
  /// curvature itself, which is less than the augmentation's weight, so that steps are Newton's; of the hinge
  /// the augmentation's weight, which is never too small.
  void augment() {
    for (std::size_t row = 0; row < rows_; ++row) {
      const Lanes psi = fitted_[row];
      if (options_.link == Link::svm) {
        const Lanes omega = augmentation(row);
        curvature_.set(row, omega);
        work_.set(row, 2.0 * half_[row] * (1.0 + omega) - omega * psi);
        continue;
      }
      const Lanes squared = psi * psi + variance_of_row_[row];
      const Lanes c = root(squared);
      const Lanes decay = exp(-c);
      const Lanes omega = mean_of_polya_gamma(c, decay);
      const Lanes logistic = decay / ((1.0 + decay) * (1.0 + decay));
      const Lanes share = psi * psi / select(squared < 1e-300, broadcast(1e-300), squared);
      curvature_.set(row, known_[row] * (omega + share * (logistic - omega)));
      work_.set(row, half_[row] - known_[row] * omega * psi);
    }
  }

  /// Moves by as much of change_ as does not lower the bound; the largest change of a weight.
  Lanes move() {
    Lanes linear{};
    Lanes square{};
    for (std::size_t d = 0; d < size_; ++d) {
      linear -= precision_[d] * mean_[d] * change_[d];
      square -= 0.5 * precision_[d] * change_[d] * change_[d];
    }
    design_.times(change_, work_);
    const Lanes before = likelihood(Lanes{});
    Lanes length = broadcast(1.0);
    for (std::size_t halving = 0; halving < kMostHalvings; ++halving) {
      const Lanes gain = likelihood(length) - before + length * (linear + length * square);
      // A loss within rounding error does not count as a fall.
      const LanesInt falls = ~(gain >= -1e-13 * absolute(before));
      if (!any(falls)) break;
      length = select(falls, halving + 1 < kMostHalvings ? 0.5 * length : Lanes{}, length);
    }
    Lanes largest{};
    for (std::size_t d = 0; d < size_; ++d) {
      const Lanes step = length * change_[d];
      mean_.set(d, mean_[d] + step);
      largest = larger(largest, absolute(step));
    }
    for (std::size_t row = 0; row < rows_; ++row) fitted_.set(row, fitted_[row] + length * work_[row]);
    return largest;
  }

  /// The variances of some lanes that are best for the augmentation as it is; the largest change.
  Lanes spread(LanesInt which) {
    for (std::size_t row = 0; row < rows_; ++row) work_.set(row, augmentation(row));
    design_.transposed_squares_times(work_, image_);
    Lanes largest{};
    for (std::size_t d = 0; d < size_; ++d) {
      const Lanes variance = 1.0 / (image_[d] + precision_[d]);
      const Lanes kept = select(which, variance, variance_[d]);
      largest = larger(largest, absolute(kept - variance_[d]));
      variance_.set(d, kept);
    }
    design_.squares_times(variance_, variance_of_row_);
    return largest;
  }

  /// The expected log likelihood's bound at the best augmentation, so far along work_.
  Lanes likelihood(Lanes length) const {
    Lanes total{};
    for (std::size_t row = 0; row < rows_; ++row) {
      const Lanes psi = fitted_[row] + length * work_[row];
      if (options_.link == Link::logistic) {
        const Lanes c = root(psi * psi + variance_of_row_[row]);
        total += known_[row] * (-0.5 * c - log(1.0 + exp(-c))) + half_[row] * psi;
      } else {
        const Lanes u = 1.0 - 2.0 * half_[row] * psi;
        total -= known_[row] * (u + root(u * u + variance_of_row_[row]));
      }
    }
    return total;
  }

  Lanes bound() const {
    Lanes total = likelihood(Lanes{});
    for (std::size_t d = 0; d < size_; ++d) {
      const Lanes precision = precision_[d];
      total -= 0.5 * precision * mean_[d] * mean_[d];
      if (is_variational()) total -= 0.5 * (precision * variance_[d] - 1.0 - log(precision * variance_[d]));
    }
    return total;
  }

  static constexpr std::size_t kFirstRounds = 3;
  static constexpr std::size_t kMostHalvings = 30;

  const SparseDesign& design_;
  const ExpertOptions& options_;
  std::size_t rows_, size_;
  LanesInt begins_anew_{};
  LanesInt going_{};  // lanes that have not settled
  Lanes elbo_{};
  LaneVector precision_;     // of the priors
  LaneVector known_, half_;  // 1 where the label is known; y - 1/2 there, else 0
  LaneVector fitted_, variance_of_row_, curvature_, work_;
  LaneVector mean_, variance_, change_, image_;
};

}  // namespace

std::vector<Expert> fit_diagonal(const SparseDesign& design, std::span<const std::vector<double>> y,
                                 std::span<const Eigen::VectorXd* const> prior_variances,
                                 const ExpertOptions& options, std::span<const Expert* const> start) {
  if (y.size() > kExpertsAtOnce) fail(ErrorCode::bug, "{} labels at once", y.size());
  std::vector<Expert> experts(y.size());
  std::vector<EightExperts> halves;
  const auto part_of = [](auto all, std::size_t half) {
    const std::size_t begin = std::min(half * kLanes, all.size());
    return all.subspan(begin, std::min(kLanes, all.size() - begin));
  };
  for (std::size_t half = 0; half * kLanes < y.size(); ++half)
    halves
        .emplace_back(design, part_of(y, half), part_of(prior_variances, half), options, part_of(start, half))
        .begin();
  NewtonSteps steps(design);
  for (std::size_t iteration = 0; iteration < options.iterations; ++iteration) {
    std::vector<std::size_t> going;
    for (std::size_t half = 0; half < halves.size(); ++half)
      if (halves[half].is_going()) going.push_back(half);
    if (going.empty()) break;
    for (const std::size_t half : going) halves[half].ask(steps, half);
    steps.solve();
    for (const std::size_t half : going) halves[half].go(steps, half, part_of(std::span(experts), half));
  }
  for (std::size_t half = 0; half < halves.size(); ++half)
    halves[half].end(part_of(std::span(experts), half));
  return experts;
}

}  // namespace coppice::bnmc
