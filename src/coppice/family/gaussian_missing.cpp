// Missing cells of a Gaussian row. The predictive of a row is a multivariate t about m with the shape Lambda;
// with G = Lambda^-1 and e the present cells' distances from m (zero for the missing ones), b = (G e) and G
// at the missing cells give everything: the missing cells are expected at m - G^-1 b, the squared distance of
// the present ones is e' G e - b' G^-1 b, and the determinant of their part of Lambda is |Lambda| |G|. None
// of it needs G but at the missing cells: one pass of forward substitution with e and one unit vector for
// each of them.
#include <algorithm>
#include <cmath>
#include <limits>

#include "coppice/base/math.hpp"
#include "coppice/family/gaussian.hpp"
#include "coppice/family/gaussian_kernel.hpp"

namespace coppice {
namespace {

inline double log_of(double x) { return std::log(x); }
inline Lanes log_of(Lanes x) { return coppice::log(x); }
inline double root_of(double x) { return std::sqrt(x); }
inline Lanes root_of(Lanes x) { return root(x); }
inline double positive(double x) { return std::max(x, 0.0); }
inline Lanes positive(Lanes x) { return larger(x, Lanes{}); }
/// Of G, whose rounding must not make it indefinite.
inline double pivot(double x) { return std::max(x, std::numeric_limits<double>::min()); }
inline Lanes pivot(Lanes x) { return larger(x, broadcast(std::numeric_limits<double>::min())); }

struct Cells {
  std::size_t present[Gaussian::kLargestDimension], missing[Gaussian::kLargestDimension];
  std::size_t present_count = 0, missing_count = 0;

  Cells(const double* row, std::size_t d) {
    for (std::size_t j = 0; j < d; ++j)
      (is_missing(row[j]) ? missing[missing_count++] : present[present_count++]) = j;
  }
};

/// For one cluster or eight. `next` gives the factor of Lambda number by number, the diagonal as reciprocals;
/// `distance(j)` is e_j of a present cell. Leaves the packed factor of G (by columns, missing cells only) in
/// `gram` and its solution with b in `solved`.
template <typename Number>
class MissingPart {
 public:
  MissingPart(std::size_t d, std::size_t missing)
      : m_(missing), room_(d * (missing + 1) + missing * (missing + 1) / 2 + missing) {}

  template <typename Next, typename Distance>
  void solve(std::size_t d, const Cells& cells, Next&& next, Distance&& distance) {
    Number* right = room_.data();  // right[i * (m + 1) + a]: 0 for e, then the unit vectors
    Number* gram = right + d * (m_ + 1);
    Number* b = gram + m_ * (m_ + 1) / 2;
    std::fill(room_.begin(), room_.end(), Number{});
    for (std::size_t p = 0; p < cells.present_count; ++p)
      right[cells.present[p] * (m_ + 1)] = distance(cells.present[p]);
    squared_ = Number{};
    std::size_t begun = 0;  // unit vectors whose place was passed: the others are zero so far
    for (std::size_t j = 0; j < d; ++j) {
      Number* own = right + j * (m_ + 1);
      if (begun < m_ && cells.missing[begun] == j) own[++begun] = Number{} + 1.0;
      const Number inverse = next();
      for (std::size_t a = 0; a <= begun; ++a) own[a] *= inverse;
      for (std::size_t i = j + 1; i < d; ++i) {
        const Number entry = next();
        Number* below = right + i * (m_ + 1);
        for (std::size_t a = 0; a <= begun; ++a) below[a] -= entry * own[a];
      }
      squared_ += own[0] * own[0];
      Number* column = gram;
      for (std::size_t a = 0; a < begun; ++a) {
        b[a] += own[a + 1] * own[0];
        for (std::size_t c = a; c < begun; ++c) column[c - a] += own[a + 1] * own[c + 1];
        column += m_ - a;
      }
    }
    // Factor of G, its determinant, and L_G^-1 b.
    log_determinant_ = Number{};
    Number* column = gram;
    for (std::size_t a = 0; a < m_; ++a) {
      const Number square = pivot(column[0]);
      log_determinant_ += log_of(square);
      const Number inverse = 1.0 / root_of(square);
      for (std::size_t c = 0; c < m_ - a; ++c) column[c] *= inverse;
      Number* rest = column + (m_ - a);
      for (std::size_t c = 1; c < m_ - a; ++c)
        for (std::size_t r = c; r < m_ - a; ++r) *rest++ -= column[r] * column[c];
      b[a] *= inverse;
      for (std::size_t c = 1; c < m_ - a; ++c) b[a + c] -= column[c] * b[a];
      squared_ -= b[a] * b[a];
      column += m_ - a;
    }
    squared_ = positive(squared_);
  }

  /// Squared distance of the present cells, and log|G|.
  Number squared() const { return squared_; }
  Number log_determinant() const { return log_determinant_; }
  /// Entry (place, place) of G^-1: the squared length of L_G^-1 times the unit vector, which is overwritten.
  double inverse_entry(double* unit, std::size_t d) const {
    const Number* column = room_.data() + d * (m_ + 1);
    double total = 0.0;
    for (std::size_t a = 0; a < m_; ++a) {
      const double z = unit[a] / column[0];
      total += z * z;
      for (std::size_t c = 1; c < m_ - a; ++c) unit[a + c] -= column[c] * z;
      column += m_ - a;
    }
    return total;
  }
  /// L_G'^-1 (scale * noise - L_G^-1 b), in place of `noise`.
  void place(double scale, double* noise, std::size_t d) const {
    const Number* gram = room_.data() + d * (m_ + 1);
    const Number* b = gram + m_ * (m_ + 1) / 2;
    const Number* end = b;
    for (std::size_t a = m_; a-- > 0;) {
      const Number* column = end - (m_ - a);
      double value = scale * noise[a] - b[a];
      for (std::size_t c = 1; c < m_ - a; ++c) value -= column[c] * noise[a + c];
      noise[a] = value / column[0];
      end = column;
    }
  }

 private:
  std::size_t m_;
  std::vector<Number> room_;
  Number squared_{}, log_determinant_{};
};

/// A packed factor number by number, the diagonal as reciprocals.
class FactorEntries {
 public:
  FactorEntries(const double* factor, std::size_t d) : factor_(factor), d_(d), left_(d) {}
  double operator()() {
    const double value = left_ == d_ - column_ ? 1.0 / *factor_ : *factor_;
    ++factor_;
    if (--left_ == 0) left_ = d_ - ++column_;
    return value;
  }

 private:
  const double* factor_;
  std::size_t d_;
  std::size_t column_ = 0;
  std::size_t left_;  // entries of the column that are still to come
};

}  // namespace

/// A t of the missing cells given the present ones: dof, location, and the factor of its shape in `part`.
struct Gaussian::Conditional {
  Cells cells;
  MissingPart<double> part;
  double freedom;  // degrees of freedom
  double spread;   // (k + 1) / k + squared distance: the shape is this / freedom * G^-1

  Conditional(const double* row, std::size_t d) : cells(row, d), part(d, cells.missing_count) {}
};

Gaussian::Conditional Gaussian::condition(const double* stats, const double* row) const {
  Conditional result(row, d_);
  result.part.solve(d_, result.cells, FactorEntries(stats + kMean + d_, d_),
                    [&](std::size_t j) { return row[j] - stats[kMean + j]; });
  const double k = stats[kStrength];
  result.freedom =
      dof_ + stats[0] - static_cast<double>(d_) + 1.0 + static_cast<double>(result.cells.present_count);
  result.spread = (k + 1.0) / k + result.part.squared();
  return result;
}

void Gaussian::draw_missing(const double* stats, Stream& stream, double* row) const {
  if (std::none_of(row, row + d_, is_missing)) return;
  const Conditional conditional = condition(stats, row);
  const std::size_t count = conditional.cells.missing_count;
  double noise[kLargestDimension];
  const double chi_square = 2.0 * draw_gamma(stream, 0.5 * conditional.freedom);
  for (std::size_t a = 0; a < count; ++a) noise[a] = draw_normal(stream);
  conditional.part.place(std::sqrt(conditional.spread / chi_square), noise, d_);
  for (std::size_t a = 0; a < count; ++a) {
    const std::size_t j = conditional.cells.missing[a];
    row[j] = stats[kMean + j] + noise[a];
  }
}

void Gaussian::draw_missing_given(const double* theta, Stream& stream, double* row) const {
  if (std::none_of(row, row + d_, is_missing)) return;
  const Cells cells(row, d_);
  MissingPart<double> part(d_, cells.missing_count);
  part.solve(d_, cells, FactorEntries(theta + d_, d_), [&](std::size_t j) { return row[j] - theta[j]; });
  double noise[kLargestDimension];
  for (std::size_t a = 0; a < cells.missing_count; ++a) noise[a] = draw_normal(stream);
  part.place(1.0, noise, d_);
  for (std::size_t a = 0; a < cells.missing_count; ++a)
    row[cells.missing[a]] = theta[cells.missing[a]] + noise[a];
}

CellPredictive Gaussian::predict_cell_given(const double* stats, const double* row,
                                            std::size_t column) const {
  double cells[kLargestDimension];
  std::copy_n(row, d_, cells);
  cells[column] = kMissing;
  const Conditional conditional = condition(stats, cells);
  const std::size_t count = conditional.cells.missing_count;
  const auto place = static_cast<std::size_t>(
      std::find(conditional.cells.missing, conditional.cells.missing + count, column) -
      conditional.cells.missing);
  double location[kLargestDimension] = {};
  conditional.part.place(0.0, location, d_);
  double unit[kLargestDimension] = {};
  unit[place] = 1.0;
  const double variance = conditional.part.inverse_entry(unit, d_);
  const double excess = conditional.freedom - 2.0;
  return {prior_mean_[column] + stats[kMean + column] + location[place],
          excess > 0.0 ? variance * conditional.spread / excess : std::numeric_limits<double>::infinity(),
          {},
          conditional.freedom,
          std::sqrt(variance * conditional.spread / conditional.freedom)};
}

double Gaussian::cell_log_predictive_given(const double* stats, const double* row, std::size_t column,
                                           double value) const {
  double cells[kLargestDimension];
  std::copy_n(row, d_, cells);
  cells[column] = kMissing;
  const double without = log_predictive_of_present(stats, cells);
  cells[column] = value;
  return log_predictive_of_present(stats, cells) - without;
}

double Gaussian::cell_log_predictive(const double* stats, std::size_t column, double value) const {
  double cells[kLargestDimension];
  std::fill_n(cells, d_, kMissing);
  cells[column] = value;
  return log_predictive_of_present(stats, cells);
}

void Gaussian::add_log_predictive_of_present(const double* row, const double* cache, std::size_t stride,
                                             std::size_t chunks, double* out) const {
  const Cells cells(row, d_);
  if (cells.missing_count == 0) return add_log_predictive(row, cache, stride, chunks, {}, out);
  if (cells.present_count == 0) return;
  const auto missing = static_cast<double>(cells.missing_count);
  MissingPart<Lanes> part(d_, cells.missing_count);
  namespace kernel = gaussian_kernel;
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
    const double* of_chunk = cache + chunk * stride;
    const double* factor = of_chunk + d_ * kLanes;
    part.solve(
        d_, cells,
        [&] {
          const Lanes value = load_lanes(factor);
          factor += kLanes;
          return value;
        },
        [&](std::size_t j) { return row[j] - load_lanes(of_chunk + j * kLanes); });
    const double* scalars = of_chunk + (d_ + triangle_) * kLanes;
    const Lanes half = load_lanes(scalars + kernel::half_dof * kLanes);
    const Lanes ratio = load_lanes(scalars + kernel::ratio * kLanes);
    // The constant of all cells, less what the missing ones have in it.
    const Lanes constant = load_lanes(scalars + kernel::constant * kLanes) - 0.5 * part.log_determinant() +
                           coppice::log_gamma(half - 0.5 * missing) - coppice::log_gamma(half) +
                           0.5 * missing * (kLogPi - coppice::log(ratio));
    const Lanes result = constant - (half - 0.5 * missing) * coppice::log(1.0 + ratio * part.squared());
    store_lanes(out + chunk * kLanes, load_lanes(out + chunk * kLanes) + result);
  }
}

}  // namespace coppice
