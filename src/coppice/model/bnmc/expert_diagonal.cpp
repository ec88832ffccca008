#include <algorithm>
#include <cmath>
#include <limits>

#include "coppice/base/error.hpp"
#include "coppice/model/bnmc/expert.hpp"
#include "coppice/model/bnmc/preconditioner.hpp"

namespace coppice::bnmc {
namespace {

Lanes root(Lanes x) {
  for (std::size_t i = 0; i < kLanes; ++i) x[i] = std::sqrt(x[i]);
  return x;
}
Lanes select(LanesInt condition, Lanes yes, Lanes no) { return condition ? yes : no; }
Lanes absolute(Lanes x) { return x < 0.0 ? -x : x; }
Lanes larger(Lanes a, Lanes b) { return a > b ? a : b; }
bool any(LanesInt condition) {
  std::int64_t found = 0;
  for (std::size_t i = 0; i < kLanes; ++i) found |= condition[i];
  return found != 0;
}

Lanes dot(const LaneVector& a, const LaneVector& b) {
  Lanes sum{};
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

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
        residual_(size_),
        solved_(size_),
        direction_(size_),
        image_(size_),
        preconditioner_(design) {
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
    for (std::size_t lane = 0; lane < y.size(); ++lane) going_[lane] = -1;
    if (design.has_intercept()) set_intercepts(start);
  }

  std::vector<Expert> run(std::size_t labels) {
    std::vector<Expert> experts(labels);
    predict();
    // Under the wide prior rows say little, and the first steps would go much too far.
    for (std::size_t round = 0; is_variational() && round < kFirstRounds; ++round) spread();
    Lanes elbo = bound();
    for (std::size_t iteration = 0; iteration < options_.iterations && any(going_); ++iteration) {
      augment();
      solve();
      Lanes change = move();
      if (is_variational()) change = larger(change, spread());
      const Lanes next = bound();
      for (std::size_t lane = 0; lane < labels; ++lane)
        if (going_[lane] != 0) experts[lane].elbos.push_back(next[lane]);
      const LanesInt gains = (next - elbo) >= options_.least_gain * absolute(next);
      going_ = going_ & (change >= options_.tolerance) & gains;
      elbo = next;
    }
    predict();
    elbo = bound();
    for (std::size_t lane = 0; lane < labels; ++lane) {
      Expert& expert = experts[lane];
      expert.elbo = elbo[lane];
      expert.elbos.push_back(elbo[lane]);
      expert.mean.resize(static_cast<Eigen::Index>(size_));
      for (std::size_t d = 0; d < size_; ++d) expert.mean[static_cast<Eigen::Index>(d)] = mean_[d][lane];
      if (!is_variational()) continue;
      expert.variance.resize(static_cast<Eigen::Index>(size_));
      for (std::size_t d = 0; d < size_; ++d)
        expert.variance[static_cast<Eigen::Index>(d)] = variance_[d][lane];
    }
    return experts;
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

  void apply(const LaneVector& from, LaneVector& to) {
    design_.times(from, work_);
    for (std::size_t row = 0; row < rows_; ++row) work_.set(row, curvature_[row] * work_[row]);
    design_.transposed_times(work_, to);
    for (std::size_t d = 0; d < size_; ++d) to.set(d, to[d] + precision_[d] * from[d]);
  }

  /// The step of Newton's method into change_, by preconditioned conjugate gradients. As the next iteration
  /// has another curvature and other variances, a tenth of the residual is near enough.
  void solve() {
    design_.transposed_times(work_, residual_);
    design_.transposed_squares_times(curvature_, image_);
    for (std::size_t d = 0; d < size_; ++d) {
      residual_.set(d, residual_[d] - precision_[d] * mean_[d]);
      image_.set(d, image_[d] + precision_[d]);
      change_.set(d, Lanes{});
    }
    preconditioner_.set(image_, curvature_, precision_);
    preconditioner_.solve(residual_, direction_);
    Lanes old = dot(residual_, direction_);
    const Lanes enough = larger(0.01 * old, broadcast(1e-300));
    const std::size_t most = 2 * size_ + 10;
    for (std::size_t step = 0; step < most; ++step) {
      const LanesInt on = going_ & (old > enough);
      if (!any(on)) break;
      apply(direction_, image_);
      const Lanes alpha = select(on, old / select(on, dot(direction_, image_), broadcast(1.0)), Lanes{});
      for (std::size_t d = 0; d < size_; ++d) {
        change_.set(d, change_[d] + alpha * direction_[d]);
        residual_.set(d, residual_[d] - alpha * image_[d]);
      }
      preconditioner_.solve(residual_, solved_);
      const Lanes next = dot(residual_, solved_);
      const Lanes beta = select(on, next / select(on, old, broadcast(1.0)), Lanes{});
      for (std::size_t d = 0; d < size_; ++d) direction_.set(d, solved_[d] + beta * direction_[d]);
      old = select(on, next, old);
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
      // What rounding takes away is no reason to stay.
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

  /// The variances that are best for the augmentation as it is; the largest change.
  Lanes spread() {
    for (std::size_t row = 0; row < rows_; ++row) work_.set(row, augmentation(row));
    design_.transposed_squares_times(work_, image_);
    Lanes largest{};
    for (std::size_t d = 0; d < size_; ++d) {
      const Lanes variance = 1.0 / (image_[d] + precision_[d]);
      const Lanes kept = select(going_, variance, variance_[d]);
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
  LanesInt going_{};         // lanes that have not settled
  LaneVector precision_;     // of the priors
  LaneVector known_, half_;  // 1 where the label is known; y - 1/2 there, else 0
  LaneVector fitted_, variance_of_row_, curvature_, work_;
  LaneVector mean_, variance_, change_, residual_, solved_, direction_, image_;
  Preconditioner preconditioner_;
};

}  // namespace

std::vector<Expert> fit_diagonal(const SparseDesign& design, std::span<const std::vector<double>> y,
                                 std::span<const Eigen::VectorXd* const> prior_variances,
                                 const ExpertOptions& options, std::span<const Expert* const> start) {
  if (y.size() > kLanes) fail(ErrorCode::bug, "{} labels at once", y.size());
  return EightExperts(design, y, prior_variances, options, start).run(y.size());
}

}  // namespace coppice::bnmc
