// Chains as the statistical tests see them: something that starts, steps, shows its partition and the
// parameters of its prior, and can be asked for its prior and for new data. A SamplerChain is a model of the
// list; tests that must fail put another chain in its place.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "coppice/model/registry.hpp"
#include "support/nrmm_enumeration.hpp"

namespace coppice::test {

class TestChain {
 public:
  virtual ~TestChain() = default;
  virtual void init(const StreamName& name) = 0;
  virtual void step(const StreamName& name) = 0;
  virtual void labels(std::span<Label> labels) const = 0;
  /// alpha and, for the generalized gamma process, sigma and log_u.
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
        sampler_(model.make_inference(problem_)),
        names_(model.trace_names(problem_.parameters)),
        traces_(names_.size()) {}

  void init(const StreamName& name) override { sampler_->init(name); }
  void step(const StreamName& name) override { sampler_->step(name); }
  void labels(std::span<Label> labels) const override { sampler_->labels(labels); }
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
  Inference& sampler() { return *sampler_; }

 private:
  Problem problem_;
  std::unique_ptr<Inference> sampler_;
  std::vector<std::string> names_;
  mutable std::vector<double> traces_;
};

/// What a chain, or many of them, was seen in, to be compared with the enumeration: the partitions, and the
/// parameters that vary with their means.
class ChainRecord {
 public:
  ChainRecord(const ExactPosterior& exact, std::size_t draws)
      : exact_(&exact), visits_(exact.size(), draws), labels_(exact.rows()) {}

  void add(const TestChain& chain) {
    chain.labels(labels_);
    visits_.add(exact_->index(labels_));
    // Traces cost more than a sweep: every fourth will do.
    if (++seen_ % 4 != 0) return;
    const std::map<std::string, double> parameters = chain.parameters();
    for (const char* name : {"alpha", "sigma"})
      if (parameters.contains(name)) values_[name].push_back(parameters.at(name));
    if (!parameters.contains("log_u")) return;
    const double log_u = parameters.at("log_u");
    const double sigma = parameters.at("sigma");
    values_["log_t"].push_back(std::log(std::expm1(sigma * log1p_exp(log_u))));
    values_["log_u"].push_back(log_u);
    values_["log_u squared"].push_back(log_u * log_u);
  }

  Agreement agreement() const {
    const auto varies = [](const std::vector<double>& list) {
      return std::any_of(list.begin(), list.end(), [&](double value) { return value != list.front(); });
    };
    // With sigma learned, log u has no variance: it grows like 1 / sigma.
    const bool has_log_u = !values_.contains("sigma") || !varies(values_.at("sigma"));
    Agreement agreement = compare(*exact_, visits_);
    for (const auto& [name, list] : values_)
      if (varies(list) && (has_log_u || !name.starts_with("log_u")))
        agreement.check("mean of " + name, batch_estimate(list), exact_->moments().at(name));
    return agreement;
  }

 private:
  const ExactPosterior* exact_;
  Visits visits_;
  Labels labels_;
  std::size_t seen_ = 0;
  std::map<std::string, std::vector<double>> values_;
};

/// Runs the chain and compares it with the enumeration.
inline Agreement compare_chain(const ExactPosterior& exact, TestChain& chain, std::uint64_t seed,
                               std::size_t draws) {
  constexpr std::size_t kWarmup = 1000;
  ChainRecord record(exact, draws);
  chain.init({seed, 0, 0});
  for (std::size_t sweep = 1; sweep <= kWarmup + draws; ++sweep) {
    chain.step({seed, 0, sweep});
    if (sweep > kWarmup) record.add(chain);
  }
  return record.agreement();
}

}  // namespace coppice::test
