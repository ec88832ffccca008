#include <algorithm>
#include <cmath>
#include <limits>

#include "coppice/base/aligned.hpp"
#include "coppice/base/error.hpp"
#include "coppice/base/lanes.hpp"
#include "coppice/model/bnmc/expert.hpp"

namespace coppice::bnmc {
namespace {

Lanes root(Lanes x) {
  for (std::size_t i = 0; i < kLanes; ++i) x[i] = std::sqrt(x[i]);
  return x;
}
Lanes select(LanesInt condition, Lanes yes, Lanes no) { return condition ? yes : no; }
Lanes absolute(Lanes x) { return x < 0.0 ? -x : x; }

/// Eight numbers for each row or column.
class LaneVector {
 public:
  explicit LaneVector(std::size_t size) : cells_(size * kLanes, 0.0) {}
  std::size_t size() const { return cells_.size() / kLanes; }
  Lanes operator[](std::size_t i) const { return load_lanes(cells_.data() + i * kLanes); }
  void set(std::size_t i, Lanes value) { store_lanes(cells_.data() + i * kLanes, value); }

 private:
  AlignedVector cells_;
};

/// Sum of value (or its square) * vector[index] over the items of one row, or of one column.
template <bool Squared>
Lanes gather(const SparseRows& items, std::size_t line, const LaneVector& vector) {
  Lanes even{};
  Lanes odd{};
  const auto index = items.columns_of(line);
  const auto value = items.values_of(line);
  std::size_t i = 0;
  for (; i + 2 <= index.size(); i += 2) {
    even += (Squared ? value[i] * value[i] : value[i]) * vector[index[i]];
    odd += (Squared ? value[i + 1] * value[i + 1] : value[i + 1]) * vector[index[i + 1]];
  }
  if (i < index.size()) even += (Squared ? value[i] * value[i] : value[i]) * vector[index[i]];
  return even + odd;
}

Lanes dot(const LaneVector& a, const LaneVector& b) {
  Lanes sum{};
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// Eight labels on their way; rows that are not fitted, or whose label is not known, have no weight.
class EightExperts {
 public:
  EightExperts(const SparseDesign& design, std::span<const std::uint32_t> which,
               std::span<const std::vector<double>> y, const Eigen::VectorXd& prior_variance,
               const ExpertOptions& options)
      : design_(design),
        which_(which),
        options_(options),
        size_(static_cast<std::size_t>(prior_variance.size())),
        prior_(prior_variance),
        known_(design.rows.rows()),
        half_(design.rows.rows()),
        fitted_(design.rows.rows()),
        variance_of_row_(design.rows.rows()),
        omega_(design.rows.rows()),
        target_(design.rows.rows()),
        product_(design.rows.rows()),
        mean_(size_),
        variance_(size_),
        diagonal_(size_),
        residual_(size_),
        direction_(size_),
        image_(size_) {
    for (std::size_t i = 0; i < which.size(); ++i) {
      Lanes known{};
      Lanes half{};
      for (std::size_t lane = 0; lane < y.size(); ++lane) {
        const double value = y[lane][i];
        if (is_missing(value)) continue;
        known[lane] = 1.0;
        half[lane] = value - 0.5;
      }
      known_.set(which[i], known);
      half_.set(which[i], half);
    }
    if (options.method == Method::vb)
      for (std::size_t d = 0; d < size_; ++d)
        variance_.set(d, broadcast(prior_[static_cast<Eigen::Index>(d)]));
  }

  std::vector<Expert> run(std::size_t labels) {
    std::vector<Expert> experts(labels);
    for (std::size_t iteration = 0; iteration < options_.iterations; ++iteration) {
      predict();
      if (iteration > 0) note_elbos(experts);
      if (have_settled(experts)) break;
      augment();
      const double change = solve();
      if (change < options_.tolerance) break;
    }
    predict();
    note_elbos(experts);
    for (std::size_t lane = 0; lane < labels; ++lane) {
      Expert& expert = experts[lane];
      expert.elbo = expert.elbos.back();
      expert.mean.resize(static_cast<Eigen::Index>(size_));
      for (std::size_t d = 0; d < size_; ++d) expert.mean[static_cast<Eigen::Index>(d)] = mean_[d][lane];
      if (options_.method != Method::vb) continue;
      expert.variance.resize(static_cast<Eigen::Index>(size_));
      for (std::size_t d = 0; d < size_; ++d)
        expert.variance[static_cast<Eigen::Index>(d)] = variance_[d][lane];
    }
    return experts;
  }

 private:
  /// Weights of rare inputs creep for long after the bounds have nothing left to gain.
  bool have_settled(const std::vector<Expert>& experts) const {
    if (options_.least_gain == 0.0) return false;
    return std::all_of(experts.begin(), experts.end(), [&](const Expert& expert) {
      const std::size_t count = expert.elbos.size();
      if (count < 2) return false;
      const double gain = expert.elbos[count - 1] - expert.elbos[count - 2];
      return gain < options_.least_gain * std::abs(expert.elbos[count - 1]);
    });
  }

  double prior_precision(std::size_t d) const { return 1.0 / prior_[static_cast<Eigen::Index>(d)]; }

  void predict() {
    for (const std::uint32_t row : which_) {
      fitted_.set(row, gather<false>(design_.rows, row, mean_));
      if (options_.method == Method::vb)
        variance_of_row_.set(row, gather<true>(design_.rows, row, variance_));
    }
  }

  Lanes margin(std::uint32_t row) const { return 1.0 - 2.0 * half_[row] * fitted_[row]; }

  void augment() {
    for (const std::uint32_t row : which_) {
      const Lanes psi = fitted_[row];
      if (options_.link == Link::logistic) {
        const Lanes c = root(psi * psi + variance_of_row_[row]);
        const Lanes decay = exp(-c);
        const Lanes safe = select(c < 1e-4, broadcast(1.0), c);
        const Lanes mean = (1.0 - decay) / ((1.0 + decay) * 2.0 * safe);
        omega_.set(row, known_[row] * select(c < 1e-4, 0.25 - c * c / 48.0, mean));
        target_.set(row, half_[row]);
      } else {
        const Lanes u = margin(row);
        const Lanes g = root(u * u + variance_of_row_[row]);
        const Lanes omega = 1.0 / select(g < 1e-8, broadcast(1e-8), g);
        omega_.set(row, known_[row] * omega);
        target_.set(row, 2.0 * half_[row] * (1.0 + omega));
      }
    }
  }

  /// Sum over the fitted rows of value * vector[row]: rows left out have no omega and no target.
  Lanes column_sum(std::size_t d, const LaneVector& vector) const {
    return gather<false>(design_.columns, d, vector);
  }

  void apply(const LaneVector& from, LaneVector& to) {
    for (const std::uint32_t row : which_)
      product_.set(row, omega_[row] * gather<false>(design_.rows, row, from));
    for (std::size_t d = 0; d < size_; ++d) to.set(d, column_sum(d, product_) + prior_precision(d) * from[d]);
  }

  /// Conjugate gradients with the diagonal as preconditioner, from the mean as it is; the largest change.
  double solve() {
    for (std::size_t d = 0; d < size_; ++d)
      diagonal_.set(d, gather<true>(design_.columns, d, omega_) + prior_precision(d));
    apply(mean_, image_);
    Lanes old{};
    for (std::size_t d = 0; d < size_; ++d) {
      const Lanes right = column_sum(d, target_);
      residual_.set(d, right - image_[d]);
      direction_.set(d, residual_[d] / diagonal_[d]);
      old += residual_[d] * direction_[d];
    }
    LaneVector before = mean_;
    // The augmentation follows with the next iteration, so a tenth of the residual is near enough; every step
    // of conjugate gradients raises the bound.
    const Lanes enough = at_least_tiny(0.01 * old);
    const std::size_t most = 2 * size_ + 10;
    for (std::size_t step = 0; step < most; ++step) {
      const LanesInt going = old > enough;
      if (count_at_most(select(going, broadcast(1.0), Lanes{}), 0.5) == kLanes) break;
      apply(direction_, image_);
      const Lanes curvature = dot(direction_, image_);
      const Lanes alpha = select(going, old / select(going, curvature, broadcast(1.0)), Lanes{});
      Lanes next{};
      for (std::size_t d = 0; d < size_; ++d) {
        mean_.set(d, mean_[d] + alpha * direction_[d]);
        const Lanes residual = residual_[d] - alpha * image_[d];
        residual_.set(d, residual);
        next += residual * residual / diagonal_[d];
      }
      const Lanes beta = select(going, next / select(going, old, broadcast(1.0)), Lanes{});
      for (std::size_t d = 0; d < size_; ++d)
        direction_.set(d, residual_[d] / diagonal_[d] + beta * direction_[d]);
      old = select(going, next, old);
    }
    if (options_.method == Method::vb)
      for (std::size_t d = 0; d < size_; ++d) variance_.set(d, 1.0 / diagonal_[d]);
    Lanes change{};
    for (std::size_t d = 0; d < size_; ++d) {
      const Lanes moved = absolute(mean_[d] - before[d]);
      change = select(moved > change, moved, change);
    }
    return maximum(change);
  }

  static Lanes at_least_tiny(Lanes x) { return select(x < 1e-300, broadcast(1e-300), x); }

  void note_elbos(std::vector<Expert>& experts) const {
    Lanes total{};
    for (const std::uint32_t row : which_) {
      const Lanes psi = fitted_[row];
      if (options_.link == Link::logistic) {
        const Lanes c = root(psi * psi + variance_of_row_[row]);
        total += known_[row] * (-0.5 * c - log(1.0 + exp(-c))) + half_[row] * psi;
      } else {
        const Lanes u = margin(row);
        total -= known_[row] * (u + root(u * u + variance_of_row_[row]));
      }
    }
    for (std::size_t d = 0; d < size_; ++d) {
      const double precision = prior_precision(d);
      total -= 0.5 * precision * mean_[d] * mean_[d];
      if (options_.method == Method::vb)
        total -= 0.5 * (precision * variance_[d] - 1.0 - log(precision * variance_[d]));
    }
    for (std::size_t lane = 0; lane < experts.size(); ++lane) experts[lane].elbos.push_back(total[lane]);
  }

  const SparseDesign& design_;
  std::span<const std::uint32_t> which_;
  const ExpertOptions& options_;
  std::size_t size_;
  const Eigen::VectorXd& prior_;
  LaneVector known_, half_;  // 1 where the label is known; y - 1/2 there, else 0
  LaneVector fitted_, variance_of_row_, omega_, target_, product_;
  LaneVector mean_, variance_, diagonal_, residual_, direction_, image_;
};

}  // namespace

SparseRows transpose(const SparseRows& rows) {
  SparseRows result;
  result.columns = rows.rows();
  result.start.assign(rows.columns + 1, 0);
  for (const std::uint32_t column : rows.column) ++result.start[column + 1];
  for (std::size_t j = 0; j < rows.columns; ++j) result.start[j + 1] += result.start[j];
  result.column.resize(rows.column.size());
  result.value.resize(rows.value.size());
  std::vector<std::size_t> next(result.start.begin(), result.start.end() - 1);
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    const auto columns = rows.columns_of(row);
    const auto values = rows.values_of(row);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::size_t to = next[columns[i]]++;
      result.column[to] = static_cast<std::uint32_t>(row);
      result.value[to] = values[i];
    }
  }
  return result;
}

std::vector<Expert> fit_diagonal(const SparseDesign& design, std::span<const std::uint32_t> which,
                                 std::span<const std::vector<double>> y,
                                 const Eigen::VectorXd& prior_variance, const ExpertOptions& options) {
  if (y.size() > kLanes) fail(ErrorCode::bug, "{} labels at once", y.size());
  return EightExperts(design, which, y, prior_variance, options).run(y.size());
}

}  // namespace coppice::bnmc
