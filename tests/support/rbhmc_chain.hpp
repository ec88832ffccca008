// Chains of rbhmc against the enumeration: small tables with their family, the model's settings
// for them, and the comparison of everything a draw shows with its exact expectation.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "coppice/base/byte_stream.hpp"
#include "coppice/data/codebook.hpp"
#include "coppice/family/plan.hpp"
#include "coppice/model/registry.hpp"
#include "support/rbhmc_enumeration.hpp"
#include "support/trace_values.hpp"

namespace coppice::test {

/// Of one comparison.
inline constexpr std::size_t kRbhmcSweeps = 20'000;

struct RbhmcCase {
  std::string name;
  std::vector<std::vector<double>> data;
  std::string family = "gaussian-known";
  std::vector<std::string> family_settings = {};
  RbhmcSettings settings = {};
  Kind kind = Kind::real;
  bool learn = false;  // hyper-parameters
};

inline void PrintTo(const RbhmcCase& small, std::ostream* out) { *out << small.name; }

/// The table of a case in the layout of its family.
struct RbhmcData {
  explicit RbhmcData(const RbhmcCase& small) {
    for (std::size_t j = 0; j < small.data.at(0).size(); ++j) {
      Column column{fmt::format("c{}", j), small.kind, {}, {}};
      for (const std::vector<double>& row : small.data) column.values.push_back(row.at(j));
      table.columns.push_back(column);
    }
    for (std::size_t i = 0; i < small.data.size(); ++i) table.row_ids.push_back(fmt::format("{}", i));
    Settings settings;
    for (const std::string& assignment : small.family_settings) parse_assignment(assignment, settings);
    plan = plan_family(table, Codebook(), small.family, settings, false,
                       {.learns_hyper = small.learn, .fills_missing = true});
    rows = encode(plan, table);
  }
  const Family& family() const { return *plan.family; }

  Table table;
  FamilyPlan plan;
  Rows rows;
};

inline Settings rbhmc_parameters(const RbhmcSettings& settings, const std::vector<std::string>& more = {}) {
  std::vector<std::string> assignments{
      fmt::format("levels={}", settings.levels),   fmt::format("alpha={}", settings.alpha),
      fmt::format("gamma={}", settings.gamma),     fmt::format("gamma0={}", settings.gamma0),
      fmt::format("penalty={}", settings.penalty), fmt::format("discriminant-sd={}", settings.sd)};
  if (settings.learn_sd) assignments.emplace_back("learn=\"discriminant-sd\"");
  if (!settings.level_powers.empty())
    assignments.push_back(fmt::format("level-powers=[{}]", fmt::join(settings.level_powers, ",")));
  if (settings.evidence)
    std::erase_if(assignments, [](const std::string& s) { return s.starts_with("discriminant-sd"); });
  if (!settings.infomax && !settings.evidence) {
    assignments.push_back(fmt::format("margin={}", settings.margin));
    assignments.push_back(fmt::format("intercept={}", settings.intercept));
  }
  if (std::none_of(more.begin(), more.end(),
                   [](const std::string& s) { return s.starts_with("regularizer"); }))
    assignments.push_back(fmt::format("regularizer=\"{}\"", settings.evidence   ? "evidence"
                                                            : settings.infomax  ? "infomax"
                                                            : settings.centered ? "centered"
                                                                                : "hinge"));
  assignments.insert(assignments.end(), more.begin(), more.end());
  Settings parsed;
  for (const std::string& assignment : assignments) parse_assignment(assignment, parsed);
  return parsed;
}

inline Problem rbhmc_problem(const RbhmcData& data, const RbhmcSettings& settings,
                             const std::vector<std::string>& more = {}) {
  return {&data.family(), &data.rows,
          ParameterValues(model_by_name("rbhmc").parameters, rbhmc_parameters(settings, more))};
}

/// Averages of all functionals of the enumeration along a chain.
class RbhmcRecord {
 public:
  RbhmcRecord(const RbhmcPosterior& exact, std::size_t draws)
      : exact_(&exact),
        length_(draws / kBatches),
        values_(exact.functionals()),
        labels_(exact.rows() * exact.settings().levels),
        components_(exact.rows()),
        sums_(kBatches * exact.functionals(), 0.0),
        traces_(model_by_name("rbhmc"),
                ParameterValues(model_by_name("rbhmc").parameters, rbhmc_parameters(exact.settings()))) {}

  /// The labels and payload of a draw; the hinge is computed here, from the discriminants, or taken from the
  /// traces where there is no penalty and they are not kept.
  void add(const Inference& sampler) {
    sampler.labels(labels_);
    const std::size_t tree = exact_->index(labels_);
    const std::string payload = sampler.payload();
    ByteReader reader(payload);
    const auto count = reader.get<std::uint64_t>();
    const auto dimension = reader.get<std::uint64_t>();
    reader.get(components_.data(), components_.size());
    const RbhmcTree& shape = exact_->tree(tree);
    eta_.resize(shape.nodes.size());
    double remainder = 0.0;
    for (std::size_t node = 0; node < shape.nodes.size(); ++node) {
      eta_[node].resize(dimension);
      for (double& value : eta_[node]) value = node == 0 ? 0.0 : static_cast<double>(reader.get<float>());
      if (shape.nodes[node].level == shape.depth) continue;
      for (std::size_t k = 0; k < count; ++k) reader.get<float>();
      const auto rest = static_cast<double>(reader.get<float>());
      if (node == 0) remainder = rest;
    }
    if (dimension == 0 && !exact_->settings().evidence) {
      traces_.read(sampler);
      last_hinge_ = exact_->settings().infomax ? -0.5 * traces_["log_gates"] : traces_["hinge"];
    } else {
      last_hinge_ = exact_->hinge_of(shape, eta_);
    }
    exact_->evaluate(tree, components_, remainder, last_hinge_, values_);
    double* sums = sums_.data() + std::min(seen_ / length_, kBatches - 1) * values_.size();
    for (std::size_t j = 0; j < values_.size(); ++j) sums[j] += values_[j] / static_cast<double>(length_);
    ++seen_;
  }
  double last_hinge() const { return last_hinge_; }

  Estimate estimate(std::size_t j) const {
    std::vector<double> means;
    for (std::size_t batch = 0; batch < kBatches; ++batch) means.push_back(sums_[batch * values_.size() + j]);
    return estimate_from_batches(means);
  }
  Estimate estimate(const std::string& name) const {
    for (std::size_t j = 0; j < values_.size(); ++j)
      if (exact_->name(j) == name) return estimate(j);
    throw std::out_of_range(name);
  }

  /// All functionals against the enumeration. Events rarer than one in a thousand are left out; for the
  /// others the truth tells the variance, if that is larger than the one seen.
  Agreement agreement() const {
    Agreement agreement;
    const auto draws = static_cast<double>(seen_);
    for (std::size_t j = 0; j < values_.size(); ++j) {
      const Estimate& truth = exact_->expectation(j);
      Estimate seen = estimate(j);
      if (exact_->is_event(j)) {
        if (std::min(truth.mean, 1.0 - truth.mean) < 1e-3) continue;
        const double variance = truth.mean * (1.0 - truth.mean);
        const double observed = seen.mean * (1.0 - seen.mean);
        if (observed > 0.0) seen.error *= std::sqrt(std::max(1.0, variance / observed));
        seen.error = std::max(seen.error, std::sqrt(variance / draws));
      }
      seen.error = std::hypot(seen.error, truth.error);
      agreement.check(exact_->name(j), seen, truth.mean, 1e-6);  // payload are kept in single precision
    }
    return agreement;
  }

 private:
  const RbhmcPosterior* exact_;
  std::size_t length_;
  std::size_t seen_ = 0;
  std::vector<double> values_;
  Labels labels_, components_;
  std::vector<double> sums_;
  std::vector<std::vector<double>> eta_;
  TraceValues traces_;
  double last_hinge_ = 0.0;
};

inline RbhmcRecord run_rbhmc(const RbhmcPosterior& exact, const RbhmcData& data, std::uint64_t seed,
                             std::size_t draws, const std::vector<std::string>& more = {}) {
  constexpr std::size_t kWarmup = 500;
  const Problem problem = rbhmc_problem(data, exact.settings(), more);
  const std::unique_ptr<Inference> sampler = model_by_name("rbhmc").make_inference(problem);
  RbhmcRecord record(exact, draws);
  sampler->init({seed, 0, 0});
  for (std::size_t sweep = 1; sweep <= kWarmup + draws; ++sweep) {
    sampler->step({seed, 0, sweep});
    if (sweep > kWarmup) record.add(*sampler);
  }
  return record;
}

// The cases of the specification's appendix.
inline RbhmcCase rbhmc_case_a(double penalty) {
  return {"A",
          {{-1.5}, {-1.2}, {0.4}, {2.0}},
          "gaussian-known",
          {"noise_variance=0.5", "prior_mean=0", "prior_variance=4"},
          {2, 1.0, 1.0, 1.0, penalty, 0.5, 1.0}};
}
inline RbhmcCase rbhmc_case_b(double penalty) {
  return {"B",
          {{-1.5, 0.3}, {-1.2, 0.8}, {1.4, -1.0}, {2.0, 0.2}},
          "gaussian-known",
          {"noise_variance=0.5", "prior_mean=0", "prior_variance=2"},
          {3, 0.8, 1.5, 0.85, penalty, 0.3, 1.0}};
}
inline RbhmcCase rbhmc_case_c(double penalty) {
  return {"C",
          {{-1.5}, {0.2}, {1.4}},
          "gaussian-known",
          {"noise_variance=0.5", "prior_mean=0", "prior_variance=2"},
          {1, 1.5, 0.7, 2.0, penalty, 0.3, 1.0}};
}
/// The same with gates instead of hinges.
inline RbhmcCase infomax(RbhmcCase small) {
  small.name += "_infomax";
  small.settings.infomax = true;
  return small;
}
/// The same with the evidence of splits.
inline RbhmcCase by_evidence(RbhmcCase small) {
  small.name += "_evidence";
  small.settings.evidence = true;
  return small;
}
/// The same with powers of rewards by level.
inline RbhmcCase with_powers(RbhmcCase small, std::vector<double> powers) {
  small.name += "_powers";
  small.settings.level_powers = std::move(powers);
  return small;
}
inline RbhmcCase rbhmc_case_zero(double penalty) {
  return {"zero",
          {{0.0}, {0.0}, {0.0}},
          "gaussian-known",
          {"noise_variance=1", "prior_mean=0", "prior_variance=1"},
          {2, 1.0, 1.0, 1.0, penalty, 1.0, 1.0}};
}

}  // namespace coppice::test
