// The updates of the learned prior leave its posterior invariant: against sums over a grid in one dimension,
// and by Geweke's test in one, two and three.
#include <gtest/gtest.h>

#include "learned/learned_case.hpp"
#include "support/monte_carlo.hpp"

namespace coppice::test {
namespace {

const std::vector<std::string>& names() {
  static const std::vector<std::string> list{"log kappa", "log nu", "mean",   "log omega", "log w",
                                             "kappa^2",   "nu^2",   "mean^2", "omega^2"};
  return list;
}

std::vector<double> functionals(double log_kappa, double log_nu, double mean, double log_omega,
                                double log_target) {
  return {log_kappa,       log_nu,      mean,
          log_omega,       log_target,  log_kappa * log_kappa,
          log_nu * log_nu, mean * mean, log_omega * log_omega};
}

TEST(LearnedPrior, UpdatesAgreeWithSumsOverAGridInOneDimension) {
  // Three clusters of a few rows each.
  const std::vector<std::vector<double>> clusters{
      {-1.0, -0.7, -1.3, -0.9}, {0.8, 1.1}, {0.1, 0.4, 0.2, 0.6, 0.0}};
  const PriorGrid grid(36);
  std::vector<double> logs;
  for (const PriorGrid::Point& point : grid.points()) {
    double total = point.log_weight;
    for (const std::vector<double>& rows : clusters) {
      double sum = 0.0;
      double squares = 0.0;
      for (const double x : rows) {
        sum += x;
        squares += x * x;
      }
      total += log_marginal_1d(static_cast<double>(rows.size()), sum, squares, std::exp(point.log_kappa),
                               std::exp(point.log_nu), point.mean, std::exp(point.log_omega));
    }
    logs.push_back(total);
  }
  const double log_total = log_sum_exp(logs);
  std::vector<double> truth(names().size(), 0.0);
  for (std::size_t i = 0; i < logs.size(); ++i) {
    const PriorGrid::Point& point = grid.points()[i];
    const std::vector<double> values =
        functionals(point.log_kappa, point.log_nu, point.mean, point.log_omega, point.log_excess_target);
    // The last place for w is its mean given Omega: nothing else of it is checked.
    for (std::size_t k = 0; k < truth.size(); ++k) truth[k] += std::exp(logs[i] - log_total) * values[k];
  }

  Gaussian block = learned_block(1, 20);
  const std::size_t draws = scaled(200'000);
  std::vector<std::vector<double>> seen(names().size());
  for (std::size_t i = 0; i < draws; ++i) {
    std::vector<std::vector<double>> stats;
    std::vector<const double*> pointers;
    for (const std::vector<double>& rows : clusters) {
      stats.emplace_back(block.stats_size());
      block.clear(stats.back().data());
      for (const double& x : rows) block.add(stats.back().data(), &x);
    }
    for (const std::vector<double>& of_cluster : stats) pointers.push_back(of_cluster.data());
    Stream stream({1, 0, i}, Purpose::hyper);
    block.update_hyper(pointers, stream);
    std::vector<double> values(block.hyper_size());
    block.get_hyper(values.data());
    const std::vector<double> now = functionals(std::log(values[0]), std::log(values[1]), values[3],
                                                2.0 * std::log(values[5]), std::log(values[2]));
    for (std::size_t k = 0; k < now.size(); ++k) seen[k].push_back(now[k]);
  }
  Agreement agreement;
  // The grid's own error is far below the sampler's; it is checked by another fineness.
  for (std::size_t k = 0; k < names().size(); ++k)
    agreement.check(names()[k], batch_estimate(seen[k]), truth[k]);
  EXPECT_TRUE(agreement.holds()) << agreement;
}

/// Fixed clusters of these sizes; hyper-parameters and rows in two ways.
class FixedClusters {
 public:
  FixedClusters(std::size_t d) : block_(learned_block(d, 20)), d_(d) {}

  void draw_prior(Stream& stream) { block_.draw_hyper_prior(stream); }
  void draw_rows(Stream& stream) {
    std::vector<double> empty(block_.stats_size());
    block_.clear(empty.data());
    std::vector<double> theta(block_.theta_size());
    std::vector<double> row(d_);
    stats_.clear();
    for (const std::size_t size : {5u, 2u, 1u, 7u}) {
      block_.draw_theta(empty.data(), stream, theta.data());
      stats_.push_back(empty);
      for (std::size_t i = 0; i < size; ++i) {
        block_.draw(theta.data(), stream, row.data());
        block_.add(stats_.back().data(), row.data());
        if (i == 0) first_ = row[0];
      }
    }
  }
  void update(Stream& stream) {
    std::vector<const double*> pointers;
    for (const std::vector<double>& stats : stats_) pointers.push_back(stats.data());
    block_.update_hyper(pointers, stream);
  }
  std::vector<double> functionals() const {
    std::vector<double> values(block_.hyper_size());
    block_.get_hyper(values.data());
    const double d = static_cast<double>(d_);
    double log_determinant = 0.0;
    const double* factor = values.data() + 3 + 2 * d_;
    const double last = d_ > 1 ? factor[1] / std::hypot(factor[1], factor[d_]) : 0.0;  // a correlation
    for (std::size_t j = 0; j < d_; factor += d_ - j, ++j) log_determinant += std::log(*factor);
    const double x = first_ / (1.0 + std::abs(first_));
    std::vector<double> list{std::log(values[0]),
                             std::log(values[1] - d + 1.0),
                             std::log(values[2] - d + 1.0),
                             values[3],
                             values[3 + d_ - 1] * values[3],
                             std::log(values[3 + d_]),
                             log_determinant / (5.0 + std::abs(log_determinant)),
                             last * last,
                             x,
                             x * x};
    const std::size_t plain = list.size();
    for (std::size_t i = 0; i < plain; ++i) list.push_back(list[i] * list[i]);
    for (std::size_t i = 0; i < plain; ++i) list.push_back(list[i] * list[9]);
    return list;
  }

 private:
  Gaussian block_;
  std::size_t d_;
  std::vector<std::vector<double>> stats_;
  double first_ = 0.0;
};

class LearnedPriorGeweke : public ::testing::TestWithParam<std::size_t> {};

TEST_P(LearnedPriorGeweke, BothWaysHaveTheSameLaw) {
  const std::size_t draws = scaled(60'000);
  for (const std::uint64_t seed : test_seeds()) {
    std::vector<std::vector<double>> fresh;
    std::vector<std::vector<double>> successive;
    const auto record = [](const FixedClusters& from, std::vector<std::vector<double>>& to) {
      const std::vector<double> values = from.functionals();
      to.resize(values.size());
      for (std::size_t i = 0; i < values.size(); ++i) to[i].push_back(values[i]);
    };
    FixedClusters prior(GetParam());
    FixedClusters chain(GetParam());
    Stream stream({seed, 0, 0}, Purpose::test);
    chain.draw_prior(stream);
    for (std::size_t i = 0; i < draws; ++i) {
      prior.draw_prior(stream);
      prior.draw_rows(stream);
      record(prior, fresh);
      chain.draw_rows(stream);
      chain.update(stream);
      record(chain, successive);
    }
    Agreement agreement;
    for (std::size_t i = 0; i < fresh.size(); ++i) {
      const Estimate a = batch_estimate(fresh[i]);
      const Estimate b = batch_estimate(successive[i]);
      agreement.check("functional " + std::to_string(i), {b.mean, std::hypot(a.error, b.error)}, a.mean);
    }
    EXPECT_TRUE(agreement.holds()) << "seed " << seed << ": " << agreement;
  }
}

INSTANTIATE_TEST_SUITE_P(Dimensions, LearnedPriorGeweke, ::testing::Values(1, 2, 3));

TEST(LearnedPrior, DensityIsThatOfItsDraws) {
  // E over draws of q(x) / p(x) is one for a density q with lighter tails; here q is p with other numbers,
  // so that any wrong constant or exponent shows.
  const Gaussian block = learned_block(1, 4);
  const std::unique_ptr<Family> copy = block.clone();
  RunningMean ratio;
  for (std::size_t i = 0; i < 100'000; ++i) {
    Stream stream({1, 0, i}, Purpose::test);
    copy->draw_hyper_prior(stream);
    std::vector<double> v(copy->hyper_size());
    copy->get_hyper(v.data());
    const auto normal = [](double x, double mean, double sd) {
      const double z = (x - mean) / sd;
      return -0.5 * (z * z + kLog2Pi) - std::log(sd);
    };
    const double omega = v[5] * v[5];
    const double log_nu = std::log(v[1]);
    // Log normals for nu above its least value, w, o and Omega (given o and w), narrower than the prior.
    double log_q = normal(std::log(v[0]), std::log(0.1), 0.7) + normal(v[3], 0.0, 0.7) +
                   normal(std::log(v[2]), std::log(30.0), 0.6) + normal(std::log(v[4]), -0.6, 0.4) -
                   std::log(v[4]);
    const double spread = std::sqrt(2.0 / v[2]) * 0.5;
    log_q += normal(std::log(omega), std::log(v[4]), spread) - std::log(omega);
    log_q += normal(log_nu, std::log(2.0) + 1.5, 0.3);  // five standard deviations above log 2
    ratio.add(std::exp(log_q - copy->log_hyper_prior()));
  }
  expect_mean(ratio, 1.0);
}

}  // namespace
}  // namespace coppice::test
