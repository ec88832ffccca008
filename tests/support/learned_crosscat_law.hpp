// The posterior of views with learned hyper-parameters by enumeration: given the views columns are
// independent, so the hyper-parameters of each are integrated by themselves, on a grid that is written out
// here once more.
#pragma once

#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coppice/family/inputs.hpp"
#include "coppice/model/crosscat/inference.hpp"
#include "support/crosscat_law.hpp"
#include "support/level_grid.hpp"

namespace coppice::test {

/// A table of a binary, a three-level and a real column, each with a learned prior.
inline LawCase learned_table(double missing) {
  return {"learned", "auto", {{Kind::binary}, {Kind::category, 3}, {Kind::real}}, {}, missing, true};
}

class LearnedCrosscatLaw {
 public:
  LearnedCrosscatLaw(const Fixture& fixture, double power, std::size_t fineness = 24)
      : rows_(fixture.rows), power_(power) {
    const double steps = static_cast<double>(fineness);
    const auto middle = [&](double low, double high, double i) { return low + (high - low) * i / steps; };
    const auto normal = [](double z) { return -0.5 * z * z; };
    // Binary: the mean of the Beta prior is uniform, log(a + b) ~ N(0, 1).
    for (double i = 0.5; i < 4.0 * steps; i += 1.0)
      for (double j = 0.5; j < 4.0 * steps; j += 1.0) {
        const double log_strength = -6.0 + 12.0 * j / (4.0 * steps);
        const double mean = i / (4.0 * steps);
        const double strength = std::exp(log_strength);
        add(0, {mean * strength, (1.0 - mean) * strength}, normal(log_strength));
      }
    const LevelGrid levels(2 * fineness, 2 * fineness);
    for (const LevelGrid::Point& point : levels.points()) {
      const std::array<double, 3>& c = point.concentration;
      add(1, {c[0], c[1], c[2]}, point.log_weight);
    }
    // Real: m0 ~ N(0, s^2) from the origin, log k0 ~ N(log 0.1, 1), log(2 a0) ~ N(log 8, 1.5^2) above log 2,
    // log(b0 / a0) ~ N(log(s^2 / 4), 1.5^2).
    const double sd = column_scale(fixture.table.columns[2]).sd;
    for (double a = 0.5; a < steps; a += 1.0)
      for (double b = 0.5; b < steps; b += 1.0)
        for (double c = 0.5; c < steps; c += 1.0)
          for (double d = 0.5; d < steps; d += 1.0) {
            const double z_mean = middle(-5.0, 5.0, a);
            const double z_strength = middle(-5.0, 5.0, b);
            const double log_dof = middle(std::log(2.0), std::log(8.0) + 6.5, c);
            const double z_dof = (log_dof - std::log(8.0)) / 1.5;
            const double z_variance = middle(-5.0, 5.0, d);
            const double shape = 0.5 * std::exp(log_dof);
            add(2,
                {sd * z_mean, 0.1 * std::exp(z_strength), shape,
                 shape * 0.25 * sd * sd * std::exp(1.5 * z_variance)},
                normal(z_mean) + normal(z_strength) + normal(z_dof) + normal(z_variance));
          }
    for (std::vector<Point>& points : points_) {
      std::vector<double> logs;
      for (const Point& point : points) logs.push_back(point.log_weight);
      const double total = log_sum_exp(logs);
      for (Point& point : points) point.log_weight -= total;
    }
    const auto log_prior = [power](const Views& views) {
      double total = CrosscatLaw::log_crp(views.columns, kAlphaColumns);
      for (const Labels& labels : views.rows) total += CrosscatLaw::log_crp(labels, kAlphaRows);
      return power * total;
    };
    law_.emplace(
        3, rows_.size(), log_prior,
        [&](std::size_t column, const Labels& labels) { return integrate(column, labels); }, power);
    for (const Views& state : law_->states())
      for (std::size_t column = 0; column < 3; ++column)
        for (std::size_t i = 0; i < functionals(column, points_[column].front().values.data()).size(); ++i)
          means_[{column, i}] += law_->probability(state) *
                                 conditional_.at({column, partition_key(labels_of(state, column))})[i];
  }

  static constexpr double kAlphaRows = 0.8, kAlphaColumns = 1.3;
  const CrosscatLaw& law() const { return *law_; }
  /// The mean of a function of a column's values.
  double mean(std::size_t column, std::size_t i) const { return means_.at({column, i}); }

  /// Bounded or light-tailed functions of the values, which are measured from the origin.
  static std::vector<double> functionals(std::size_t column, const double* values) {
    if (column == 0)
      return {values[0] / (values[0] + values[1]), std::log(values[0] + values[1]),
              std::pow(std::log(values[0] + values[1]), 2.0)};
    if (column == 1) {
      const double sum = values[0] + values[1] + values[2];
      return {std::log(sum), std::pow(std::log(sum), 2.0), values[0] / sum, values[1] / sum,
              values[0] * values[2] / (sum * sum)};
    }
    const double dof = std::log(2.0 * values[2]);
    const double variance = std::log(values[3] / values[2]);
    return {values[0], values[0] * values[0], std::log(values[1]), dof, variance,
            dof * dof, variance * variance};
  }

 private:
  struct Point {
    std::array<double, 4> values;
    double log_weight;
  };
  void add(std::size_t column, const std::array<double, 4>& values, double log_weight) {
    points_[column].push_back({values, log_weight});
  }
  static const Labels& labels_of(const Views& views, std::size_t column) {
    return views.rows[static_cast<std::size_t>(views.columns[column])];
  }

  /// log of the integral over the hyper-prior of p(cells | partition)^power, over the power.
  double integrate(std::size_t column, const Labels& labels) {
    std::vector<std::vector<double>> cells(cluster_sizes(labels).size());
    for (std::size_t row = 0; row < rows_.size(); ++row)
      if (!is_missing(rows_[row][column]))
        cells[static_cast<std::size_t>(labels[row])].push_back(rows_[row][column]);
    std::vector<double> logs;
    for (const Point& point : points_[column]) {
      double total = 0.0;
      for (const std::vector<double>& of_cluster : cells) total += log_marginal(column, of_cluster, point);
      logs.push_back(point.log_weight + power_ * total);
    }
    const double log_total = log_sum_exp(logs);
    std::vector<double> means(functionals(column, points_[column].front().values.data()).size(), 0.0);
    for (std::size_t p = 0; p < logs.size(); ++p) {
      const std::vector<double> found = functionals(column, points_[column][p].values.data());
      for (std::size_t i = 0; i < found.size(); ++i) means[i] += std::exp(logs[p] - log_total) * found[i];
    }
    conditional_[{column, partition_key(labels)}] = means;
    return log_total / power_;
  }
  static double log_marginal(std::size_t column, const std::vector<double>& cells, const Point& point) {
    const auto n = static_cast<double>(cells.size());
    if (cells.empty()) return 0.0;
    const std::array<double, 4>& v = point.values;
    // Yes and no are levels of which there are but two.
    if (column == 0) return LevelGrid::log_marginal(cells, {v[1], v[0], 0.0});
    if (column == 1) return LevelGrid::log_marginal(cells, {v[0], v[1], v[2]});
    double sum = 0.0, squares = 0.0;
    for (const double x : cells) sum += x;
    for (const double x : cells) squares += (x - sum / n) * (x - sum / n);
    const double step = sum / n - v[0];
    const double rate = v[3] + 0.5 * (squares + v[1] * n / (v[1] + n) * step * step);
    return log_gamma(v[2] + 0.5 * n) - log_gamma(v[2]) + v[2] * std::log(v[3]) -
           (v[2] + 0.5 * n) * std::log(rate) + 0.5 * std::log(v[1] / (v[1] + n)) - 0.5 * n * kLog2Pi;
  }

  const Rows& rows_;
  double power_;
  std::array<std::vector<Point>, 3> points_;
  std::map<std::pair<std::size_t, std::string>, std::vector<double>> conditional_;
  std::map<std::pair<std::size_t, std::size_t>, double> means_;
  std::optional<CrosscatLaw> law_;
};

/// A chain's views and hyper-parameters against the law.
class LearnedCrosscatVisits {
 public:
  LearnedCrosscatVisits(const LearnedCrosscatLaw& law, const Family& family, std::size_t draws)
      : law_(law), origin_(family.origin(2)), frequencies_(law.law(), draws) {}

  /// `hyper`: two values of the binary column, three of the three-level column, four of the real one.
  void add(const Views& views, const double* hyper) {
    frequencies_.add(views);
    const double real[] = {hyper[5] - origin_, hyper[6], hyper[7], hyper[8]};
    const double* values[] = {hyper, hyper + 2, real};
    for (std::size_t column = 0; column < 3; ++column) {
      const std::vector<double> found = LearnedCrosscatLaw::functionals(column, values[column]);
      for (std::size_t i = 0; i < found.size(); ++i) seen_[{column, i}].push_back(found[i]);
    }
  }
  Agreement agreement() const {
    Agreement agreement = frequencies_.agreement();
    for (const auto& [what, list] : seen_)
      agreement.check("column " + std::to_string(what.first) + " value " + std::to_string(what.second),
                      batch_estimate(list), law_.mean(what.first, what.second));
    return agreement;
  }

 private:
  const LearnedCrosscatLaw& law_;
  double origin_;
  CrosscatFrequencies frequencies_;
  std::map<std::pair<std::size_t, std::size_t>, std::vector<double>> seen_;
};

/// The chain as the program runs it.
inline Agreement compare_learned_cross(const CrosscatKernel& kernel, const LearnedCrosscatLaw& law,
                                       const Fixture& fixture, std::uint64_t seed, std::size_t draws) {
  const ModelEntry& model = model_by_name("crosscat");
  const Problem problem{&fixture.family(), &fixture.rows,
                        ParameterValues(model.parameters, crosscat_settings(kernel))};
  const std::unique_ptr<Inference> sampler = model.make_inference(problem);
  sampler->init({seed, 0, 0});
  LearnedCrosscatVisits visits(law, fixture.family(), draws);
  for (std::size_t sweep = 1; sweep <= 500 + draws; ++sweep) {
    sampler->step({seed, 0, sweep});
    const std::string payload = sampler->payload();
    if (sweep > 500) visits.add(model.views(problem, payload), crosscat::hyper_of(problem, payload).data());
  }
  return visits.agreement();
}

}  // namespace coppice::test
