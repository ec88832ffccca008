#include "coppice/family/multinomial.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"

namespace coppice {
namespace {

double row_sum(const double* row, std::size_t width) { return std::accumulate(row, row + width, 0.0); }

double log_coefficient(const double* row, std::size_t width) {
  double total = 0.0;
  double result = 0.0;
  for (std::size_t j = 0; j < width; ++j) {
    total += row[j];
    if (row[j] > 1.0) result -= log_factorial(row[j]);
  }
  return result + log_factorial(total);
}

}  // namespace

Multinomial::Multinomial(std::vector<double> concentration)
    : concentration_(std::move(concentration)),
      total_(std::accumulate(concentration_.begin(), concentration_.end(), 0.0)) {}

void Multinomial::clear(double* stats) const { std::fill_n(stats, stats_size(), 0.0); }

void Multinomial::change(double* stats, const double* row, double sign) const {
  stats[0] += sign;
  stats[1] += sign * log_coefficient(row, width());
  stats[2] += sign * row_sum(row, width());
  for (std::size_t j = 0; j < width(); ++j) stats[3 + j] += sign * row[j];
}

void Multinomial::add(double* stats, const double* row) const { change(stats, row, 1.0); }

bool Multinomial::remove(double* stats, const double* row) const {
  change(stats, row, -1.0);
  return true;
}

void Multinomial::merge(double* stats, const double* other) const {
  for (std::size_t i = 0; i < stats_size(); ++i) stats[i] += other[i];
}

double Multinomial::log_marginal(const double* stats) const {
  double result = stats[1] + log_gamma(total_) - log_gamma(total_ + stats[2]);
  for (std::size_t j = 0; j < width(); ++j)
    if (stats[3 + j] != 0.0)
      result += log_gamma(concentration_[j] + stats[3 + j]) - log_gamma(concentration_[j]);
  return result;
}

double Multinomial::log_predictive(const double* stats, const double* row) const {
  const double before = total_ + stats[2];
  double result =
      log_coefficient(row, width()) + log_gamma(before) - log_gamma(before + row_sum(row, width()));
  for (std::size_t j = 0; j < width(); ++j) {
    if (row[j] == 0.0) continue;
    const double weight = concentration_[j] + stats[3 + j];
    result += row[j] == 1.0 ? std::log(weight) : log_gamma(weight + row[j]) - log_gamma(weight);
  }
  return result;
}

double Multinomial::own_log_predictive(const double* stats, const double* row) const {
  const double without_row = total_ + (stats[2] - row_sum(row, width()));
  double result = log_coefficient(row, width()) + log_gamma(without_row) - log_gamma(total_ + stats[2]);
  for (std::size_t j = 0; j < width(); ++j) {
    if (row[j] == 0.0) continue;
    const double without = concentration_[j] + (stats[3 + j] - row[j]);
    result +=
        row[j] == 1.0 ? std::log(without) : log_gamma(concentration_[j] + stats[3 + j]) - log_gamma(without);
  }
  return result;
}

void Multinomial::draw_theta(const double* stats, Stream& stream, double* theta) const {
  std::vector<double> posterior(concentration_);
  for (std::size_t j = 0; j < width(); ++j) posterior[j] += stats[3 + j];
  draw_dirichlet(stream, posterior, {theta, width()});
}

void Multinomial::draw(const double* theta, Stream& stream, double* row) const {
  std::fill_n(row, width(), 0.0);
  for (double token = 0.0; token < row_total_; token += 1.0)
    row[draw_categorical(stream, {theta, width()})] += 1.0;
}

double Multinomial::log_likelihood(const double* theta, const double* row) const {
  double result = log_coefficient(row, width());
  for (std::size_t j = 0; j < width(); ++j)
    if (row[j] > 0.0) result += row[j] * std::log(theta[j]);
  return result;
}

void Multinomial::fill_bank(const double* stats, double* bank) const {
  const double total = total_ + stats[2];
  bank[0] = total;
  bank[kLanes] = log_gamma(total);
  for (std::size_t j = 0; j < width(); ++j) {
    const double weight = concentration_[j] + stats[3 + j];
    bank[(2 + 2 * j) * kLanes] = weight;
    bank[(3 + 2 * j) * kLanes] = std::log(weight);
  }
}

void Multinomial::add_log_predictive(const double* row, const double* bank, std::size_t stride,
                                     std::size_t chunks, const OwnCluster& own, double* out) const {
  const double coefficient = log_coefficient(row, width());
  const double tokens = row_sum(row, width());
  const double own_before = own.stats != nullptr ? out[own.slot] : 0.0;
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
    const double* caches = bank + chunk * stride;
    Lanes result =
        coefficient + load_lanes(caches + kLanes) - coppice::log_gamma(load_lanes(caches) + tokens);
    for (std::size_t j = 0; j < width(); ++j) {
      if (row[j] == 0.0) continue;
      const double* cell = caches + (2 + 2 * j) * kLanes;
      if (row[j] == 1.0) {
        result += load_lanes(cell + kLanes);
      } else if (row[j] <= 8.0) {
        const Lanes weight = load_lanes(cell);
        Lanes product = weight;
        for (double step = 1.0; step < row[j]; step += 1.0) product *= weight + step;
        result += coppice::log(product);
      } else {
        const Lanes weight = load_lanes(cell);
        result += coppice::log_gamma(weight + row[j]) - coppice::log_gamma(weight);
      }
    }
    store_lanes(out + chunk * kLanes, load_lanes(out + chunk * kLanes) + result);
  }
  if (own.stats != nullptr) out[own.slot] = own_before + own_log_predictive(own.stats, row);
}

CellPredictive Multinomial::predict_cell(const double* stats, std::size_t column) const {
  // Of a row as long as the cluster's average row.
  const double tokens = stats[0] > 0.0 ? stats[2] / stats[0] : row_total_;
  const double weight = concentration_[column] + stats[3 + column];
  const double total = total_ + stats[2];
  const double p = weight / total;
  return {tokens * p, tokens * p * (1.0 - p) * (total + tokens) / (total + 1.0), {}};
}

FamilyEntry multinomial_entry() {
  return {"multinomial",
          "all count columns together as one vector of counts (words); Dirichlet prior",
          {Kind::count, Kind::binary},
          false,
          {{"concentration",
            Parameter::Type::numbers,
            "0.5",
            "prior weight of every column, or one number for each",
            0.0,
            1e300,
            true,
            {},
            0}},
          [](const FamilyInputs& inputs) -> std::unique_ptr<Family> {
            const std::vector<double> half(inputs.columns.size(), 0.5);
            return std::make_unique<Multinomial>(inputs.per_column_values("concentration", half, 0.0));
          }};
}

}  // namespace coppice
