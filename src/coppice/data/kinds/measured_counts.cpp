#include "coppice/data/kinds/measured_counts.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "coppice/data/kinds/measure.hpp"
#include "coppice/data/kinds/unit_column.hpp"

namespace coppice {
namespace {

/// Keeps the solution finite where columns are collinear.
constexpr double kCollinearRidge = 1e-9;
/// Cells that are enough for the evidence of a long column.
constexpr std::size_t kEnoughCells = 4096;
/// The square of a mean in standard deviations above which a normal distribution hardly reaches zero.
constexpr double kFarFromZero = 4.0;

struct CountMoments {
  double cells = 0.0;
  double mean = 0.0;
  double variance = 0.0;
};

CountMoments moments_of_counts(const std::vector<double>& values) {
  CountMoments m;
  double square = 0.0;
  for (const double value : values) {
    ++m.cells;
    const double from = value - m.mean;
    m.mean += from / m.cells;
    square += from * (value - m.mean);
  }
  m.variance = square / m.cells;
  return m;
}

double sum_over_cells(const std::vector<double>& values, const auto& log_mass) {
  double sum = 0.0;
  for (const double value : values) sum += log_mass(value);
  return sum;
}

/// The better of a Poisson distribution and a negative binomial one with the same moments.
double penalized_as_counts(const std::vector<double>& values, const CountMoments& m) {
  const double poisson =
      sum_over_cells(values, [&](double x) { return x * std::log(m.mean) - m.mean - std::lgamma(x + 1.0); });
  double best = poisson - 0.5 * std::log(m.cells);
  if (m.variance > m.mean) {
    const double size = m.mean * m.mean / (m.variance - m.mean);
    const double wide = sum_over_cells(values, [&](double x) {
      return std::lgamma(x + size) - std::lgamma(size) - std::lgamma(x + 1.0) +
             size * std::log(size / (size + m.mean)) + x * std::log(m.mean / (size + m.mean));
    });
    best = std::max(best, wide - std::log(m.cells));
  }
  return best;
}

/// A normal distribution with these moments, rounded to whole numbers.
double penalized_as_rounded_normal(const std::vector<double>& values, const CountMoments& m) {
  const double scale = std::sqrt(2.0 * m.variance);
  const double log_mass = sum_over_cells(values, [&](double x) {
    const double from = std::abs(x - m.mean);
    return std::log(0.5 * (std::erfc((from - 0.5) / scale) - std::erfc((from + 0.5) / scale)));
  });
  return log_mass - std::log(m.cells);
}

/// The same beside other columns, which leave this share of the variance; no distribution gives a cell more
/// than all its mass.
double penalized_beside_others(const CountMoments& m, double share_left, double slopes) {
  const double density = -0.5 * std::log(2.0 * std::numbers::pi * std::numbers::e * m.variance * share_left);
  return m.cells * std::min(density, 0.0) - 0.5 * (2.0 + slopes) * std::log(m.cells);
}

/// The real columns, side by side, of norm 1.
Eigen::MatrixXd real_columns(std::span<const Column> columns, std::span<const ColumnSpec> specs,
                             const KindRules& rules) {
  std::vector<Eigen::VectorXd> vectors;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    if (columns[j].kind != Kind::real || specs[j].hurdle) continue;
    Eigen::VectorXd one = unit_column(columns[j].values, kSampleRows, specs[j].transform == "log");
    if (one.size() > 0) vectors.push_back(std::move(one));
  }
  if (vectors.empty() || vectors.size() > rules.collinear_columns ||
      static_cast<std::size_t>(vectors[0].size()) < 2 * vectors.size() + 20)
    return {};
  Eigen::MatrixXd all(vectors[0].size(), static_cast<Eigen::Index>(vectors.size()));
  for (std::size_t j = 0; j < vectors.size(); ++j) all.col(static_cast<Eigen::Index>(j)) = vectors[j];
  return all;
}

}  // namespace

std::vector<std::size_t> find_measured_counts(std::span<const Column> columns,
                                              std::span<const ColumnSpec> specs, const KindRules& rules) {
  std::vector<std::size_t> found;
  const Eigen::MatrixXd reals = real_columns(columns, specs, rules);
  const auto slopes = static_cast<double>(reals.cols());
  Eigen::MatrixXd products = reals.transpose() * reals;
  products.diagonal().array() += kCollinearRidge;
  const Eigen::LLT<Eigen::MatrixXd> factor(products);
  for (std::size_t j = 0; j < columns.size(); ++j) {
    if (columns[j].kind != Kind::count || !specs[j].inferred || specs[j].hurdle) continue;
    const std::vector<double> cells = sample_of(columns[j].values, kEnoughCells);
    const CountMoments m = moments_of_counts(cells);
    if (!(m.variance > 0.0) || !(m.mean > 0.0)) continue;
    const double counts = penalized_as_counts(cells, m);
    const double alone = penalized_as_rounded_normal(cells, m);
    const bool is_far_from_zero = m.mean * m.mean > kFarFromZero * m.variance;
    if (!is_far_from_zero && alone < counts - rules.code_evidence) continue;
    double best = alone;
    if (reals.cols() > 0) {
      const Eigen::VectorXd own = unit_column(columns[j].values, kSampleRows);
      if (own.size() == 0) continue;  // the same number in all rows that are compared
      const Eigen::VectorXd with = reals.transpose() * own;
      const double left = std::max(1.0 - with.dot(factor.solve(with)), kCollinearRidge);
      best = std::max(best, penalized_beside_others(m, left, slopes));
    }
    if (best > counts + rules.code_evidence) found.push_back(j);
  }
  return found;
}

}  // namespace coppice
