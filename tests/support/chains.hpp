// Chains as the statistical tests see them: something that starts, steps, shows its partition and the
// parameters of its prior, and can be asked for its prior and for new data. A SamplerChain is a model of the
// list; tests that must fail put another chain in its place.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coppice/model/registry.hpp"
#include "support/enumeration.hpp"

namespace coppice::test {

class TestChain {
 public:
  virtual ~TestChain() = default;
  virtual void init(const StreamName& name) = 0;
  virtual void step(const StreamName& name) = 0;
  virtual void shape(std::span<Label> labels) const = 0;
  /// alpha and, for the generalised gamma process, sigma and log_u.
  virtual std::map<std::string, double> parameters() const = 0;
  virtual void draw_prior(const StreamName& name) = 0;
  virtual void draw_data(const StreamName& name, Rows& rows) = 0;
};

/// Settings from texts like sampler="gibbs".
inline Settings settings_from(const std::vector<std::string>& assignments) {
  Settings settings;
  for (const std::string& assignment : assignments) parse_assignment(assignment, settings);
  return settings;
}

class SamplerChain final : public TestChain {
 public:
  SamplerChain(const ModelEntry& model, const Family& family, const Rows& rows, const Settings& settings)
      : problem_{&family, &rows, ParameterValues(model.parameters, settings)},
        sampler_(model.make_sampler(problem_)),
        names_(model.traces(problem_.parameters)),
        traces_(names_.size()) {}

  void init(const StreamName& name) override { sampler_->init(name); }
  void step(const StreamName& name) override { sampler_->step(name); }
  void shape(std::span<Label> labels) const override { sampler_->shape(labels); }
  std::map<std::string, double> parameters() const override {
    sampler_->traces(traces_);
    std::map<std::string, double> values;
    for (std::size_t i = 0; i < names_.size(); ++i)
      if (names_[i] == "alpha" || names_[i] == "sigma" || names_[i] == "log_u")
        values[names_[i]] = traces_[i];
    return values;
  }
  void draw_prior(const StreamName& name) override { sampler_->draw_prior(name); }
  void draw_data(const StreamName& name, Rows& rows) override { sampler_->draw_data(name, rows); }
  Sampler& sampler() { return *sampler_; }

 private:
  Problem problem_;
  std::unique_ptr<Sampler> sampler_;
  std::vector<std::string> names_;
  mutable std::vector<double> traces_;
};

/// Runs the chain and compares it with the enumeration, and the parameters that vary with their means.
inline Agreement compare_chain(const ExactPosterior& exact, TestChain& chain, std::uint64_t seed,
                               std::size_t draws) {
  constexpr std::size_t kWarmup = 1000;
  Visits visits(exact.size(), draws);
  std::map<std::string, std::vector<double>> values;
  std::optional<double> first_sigma;
  Labels labels(exact.rows());
  chain.init({seed, 0, 0});
  for (std::size_t sweep = 1; sweep <= kWarmup + draws; ++sweep) {
    chain.step({seed, 0, sweep});
    if (sweep <= kWarmup) continue;
    chain.shape(labels);
    visits.add(exact.index(labels));
    // Traces cost more than a sweep: every fourth will do.
    if (sweep % 4 != 0) continue;
    const std::map<std::string, double> parameters = chain.parameters();
    for (const char* name : {"alpha", "sigma"})
      if (parameters.contains(name)) values[name].push_back(parameters.at(name));
    if (!parameters.contains("log_u")) continue;
    const double log_u = parameters.at("log_u");
    const double sigma = parameters.at("sigma");
    values["log_t"].push_back(std::log(std::expm1(sigma * log1p_exp(log_u))));
    // With sigma learned, log u has no variance: it grows like 1 / sigma.
    if (sigma != first_sigma.value_or(sigma)) continue;
    first_sigma = sigma;
    values["log_u"].push_back(log_u);
    values["log_u squared"].push_back(log_u * log_u);
  }
  if (first_sigma && values["log_u"].size() != values["log_t"].size()) {
    values.erase("log_u");
    values.erase("log_u squared");
  }
  Agreement agreement = compare(exact, visits);
  for (const auto& [name, list] : values)
    if (std::any_of(list.begin(), list.end(), [&](double value) { return value != list.front(); }))
      agreement.check("mean of " + name, batch_estimate(list), exact.moments().at(name));
  return agreement;
}

}  // namespace coppice::test
