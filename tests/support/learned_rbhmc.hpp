// The nested mixture with a learned Bernoulli prior against enumeration: the posterior at every point of a
// quadrature over the hyper-prior, weighed by its evidence. The hyper-prior is written out once more.
#pragma once

#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <map>
#include <memory>
#include <vector>

#include "support/rbhmc_chain.hpp"

namespace coppice::test {

/// One binary column that is all ones: it says much about the mean of the prior.
inline RbhmcCase learned_rbhmc_case() {
  return {"learned", {{1.0}, {1.0}, {1.0}, {1.0}}, "bernoulli", {}, {2, 0.8, 1.2, 1.0}, Kind::binary, true};
}

class LearnedRbhmcLaw {
 public:
  explicit LearnedRbhmcLaw(const RbhmcData& data, const RbhmcSettings& settings) {
    // The mean a / (a + b) is uniform, log(a + b) ~ N(0, 1).
    using Rule = boost::math::quadrature::gauss<double, 10>;
    std::vector<std::pair<double, double>> means;
    for (std::size_t i = 0; i < Rule::abscissa().size(); ++i)
      for (const double sign : {-1.0, 1.0})
        means.emplace_back(0.5 + 0.5 * sign * Rule::abscissa()[i], Rule::weights()[i]);
    std::vector<double> logs;
    std::vector<std::vector<double>> values;
    for (const auto& [mean, weight] : means)
      for (double z = -5.0; z <= 5.01; z += 0.5) {
        const std::unique_ptr<Family> family = data.family().clone();
        const double strength = std::exp(z);
        const double hyper[] = {mean * strength, (1.0 - mean) * strength};
        family->set_hyper(hyper);
        const RbhmcPosterior exact(*family, data.rows, settings, 0.0);
        logs.push_back(std::log(weight) - 0.5 * z * z + exact.log_evidence());
        values.emplace_back();
        for (std::size_t j = 0; j < exact.functionals(); ++j)
          values.back().push_back(exact.expectation(j).mean);
        values.back().insert(values.back().end(), {mean, z, mean * z, z * z});
      }
    expectation_.assign(values.front().size(), 0.0);
    for (std::size_t i = 0; i < logs.size(); ++i)
      for (std::size_t j = 0; j < expectation_.size(); ++j)
        expectation_[j] += std::exp(logs[i] - log_sum_exp(logs)) * values[i][j];
  }
  /// Functionals of the enumeration, then mean, log strength, their product and the square of the latter.
  const std::vector<double>& expectation() const { return expectation_; }

 private:
  std::vector<double> expectation_;
};

inline Agreement compare_learned_rbhmc(const RbhmcData& data, const RbhmcSettings& settings,
                                       const LearnedRbhmcLaw& law, std::uint64_t seed, std::size_t draws,
                                       const std::vector<std::string>& more = {}) {
  const Problem problem = rbhmc_problem(data, settings, more);
  const std::unique_ptr<Inference> sampler = model_by_name("rbhmc").make_inference(problem);
  // Only names and functionals of trees and components are taken from it, not its expectations.
  const RbhmcPosterior exact(data.family(), data.rows, settings, 0.0);
  RbhmcRecord record(exact, draws);
  std::vector<std::vector<double>> hyper(4);
  sampler->init({seed, 0, 0});
  for (std::size_t sweep = 1; sweep <= 500 + draws; ++sweep) {
    sampler->step({seed, 0, sweep});
    if (sweep <= 500) continue;
    record.add(*sampler);
    const std::string payload = sampler->payload();
    ByteReader reader(std::string_view(payload).substr(payload.size() - 2 * sizeof(double)));
    const auto a = reader.get<double>();
    const double strength = a + reader.get<double>();
    const double values[] = {a / strength, std::log(strength), a / strength * std::log(strength),
                             std::log(strength) * std::log(strength)};
    for (std::size_t i = 0; i < 4; ++i) hyper[i].push_back(values[i]);
  }
  Agreement agreement;
  const std::vector<double>& truth = law.expectation();
  for (std::size_t j = 0; j < exact.functionals(); ++j) {
    // The hinge without a penalty has a Monte Carlo error of its own.
    if (exact.name(j) == "hinge" || std::min(truth[j], std::abs(1.0 - truth[j])) < 1e-3) continue;
    agreement.check(exact.name(j), record.estimate(j), truth[j], 1e-6);
  }
  for (std::size_t i = 0; i < 4; ++i)
    agreement.check("value " + std::to_string(i), batch_estimate(hyper[i]), truth[exact.functionals() + i]);
  return agreement;
}

}  // namespace coppice::test
