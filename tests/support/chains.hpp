// Chains as the statistical tests see them: something that starts, steps, shows its partition and its
// concentration, and can be asked for its prior and for new data. A SamplerChain is a model of the list;
// tests that must fail put another chain in its place.
#pragma once

#include <algorithm>
#include <memory>
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
  virtual double alpha() const = 0;
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
        traces_(model.traces(problem_.parameters).size()) {
    const std::vector<std::string> names = model.traces(problem_.parameters);
    alpha_at_ = static_cast<std::size_t>(std::find(names.begin(), names.end(), "alpha") - names.begin());
  }

  void init(const StreamName& name) override { sampler_->init(name); }
  void step(const StreamName& name) override { sampler_->step(name); }
  void shape(std::span<Label> labels) const override { sampler_->shape(labels); }
  double alpha() const override {
    sampler_->traces(traces_);
    return traces_.at(alpha_at_);
  }
  void draw_prior(const StreamName& name) override { sampler_->draw_prior(name); }
  void draw_data(const StreamName& name, Rows& rows) override { sampler_->draw_data(name, rows); }
  Sampler& sampler() { return *sampler_; }

 private:
  Problem problem_;
  std::unique_ptr<Sampler> sampler_;
  std::size_t alpha_at_ = 0;
  mutable std::vector<double> traces_;
};

/// Runs the chain and compares it with the enumeration; with alpha, its mean too.
inline Agreement compare_chain(const ExactPosterior& exact, TestChain& chain, std::uint64_t seed,
                               std::size_t draws, bool with_alpha) {
  constexpr std::size_t kWarmup =
      1000;  // alpha is read at every fourth sweep: its trace costs more than a sweep
  Visits visits(exact, draws);
  std::vector<double> alphas;
  Labels labels(exact.rows());
  chain.init({seed, 0, 0});
  for (std::size_t sweep = 1; sweep <= kWarmup + draws; ++sweep) {
    chain.step({seed, 0, sweep});
    if (sweep <= kWarmup) continue;
    chain.shape(labels);
    visits.add(labels);
    if (with_alpha && sweep % 4 == 0) alphas.push_back(chain.alpha());
  }
  Agreement agreement = compare(exact, visits);
  if (with_alpha) agreement.check("mean of alpha", batch_estimate(alphas), exact.alpha_mean());
  return agreement;
}

}  // namespace coppice::test
