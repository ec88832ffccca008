// The joint law of state and data under a regularizer, J ~ p(state) p(data | state) exp(-2 C Xi), drawn in
// two ways. Afresh: a draw from prior and model, kept with probability exp(-2 C Xi) (over its largest value).
// By the sampler: a sweep given the data, new data given the state. Both agree if and only if the sampler
// keeps its target for such data (Geweke 2004).
#pragma once

#include "coppice/model/rbhmc/replica.hpp"
#include "support/monte_carlo.hpp"
#include "support/rbhmc_chain.hpp"
#include "support/trace_values.hpp"

namespace coppice::test {

struct RbhmcVariant {
  std::string name;
  RbhmcCase small;  // its data only give the size
  std::vector<std::string> settings;
};

inline void PrintTo(const RbhmcVariant& variant, std::ostream* out) { *out << variant.name; }

/// A sampler of which state and data can be drawn together.
class RbhmcJoint {
 public:
  RbhmcJoint(const RbhmcData& data, const RbhmcVariant& variant)
      : data_(data),
        first_(data.rows),
        settings_(variant.small.settings),
        problem_(rbhmc_problem(data, settings_, variant.settings)),
        model_(&model_by_name("rbhmc")),
        sampler_(model_->make_inference(problem_)),
        traces_(*model_, problem_.parameters, data.family().hyper_trace_names().size()),
        labels_(data.rows.size() * settings_.levels),
        components_(data.rows.size()) {}

  Inference& sampler() { return *sampler_; }

  /// State and data afresh; names go on from `sweep`. Under evidence, whose factor has no largest value, they
  /// are from prior and model: functionals_afresh() does the rest.
  void draw_afresh(RbhmcData& data, std::uint64_t seed, std::uint64_t chain, std::uint64_t& sweep) {
    Stream keep({seed, chain, sweep}, Purpose::test);
    const auto gates = static_cast<double>(settings_.levels * data.rows.size());
    double least = settings_.centered ? -settings_.margin * gates : 0.0;
    if (settings_.infomax) {
      least = 0.0;
      for (std::size_t level = 1; level <= settings_.levels; ++level)
        least -= 0.5 * settings_.power(level) * static_cast<double>(data.rows.size()) *
                 std::log(static_cast<double>(data.rows.size()));
    }
    while (true) {
      ++sweep;
      sampler_->draw_prior({seed, chain, sweep});
      sampler_->draw_data({seed, chain, sweep}, data.rows);
      observe();
      if (settings_.evidence) return;
      if (std::log(draw_uniform(keep)) <= -2.0 * settings_.penalty * (hinge_ - least)) return;
    }
  }

  /// The functionals of a state and data that are drawn afresh; under evidence by independence Metropolis:
  /// where the new ones are refused, those of the last call once more.
  std::vector<double> functionals_afresh(RbhmcData& data, std::uint64_t seed, std::uint64_t chain,
                                         std::uint64_t& sweep) {
    draw_afresh(data, seed, chain, sweep);
    if (!settings_.evidence) return functionals();
    Stream accept({seed, chain, sweep}, Purpose::test);
    const double log_factor = -2.0 * settings_.penalty * hinge_;
    if (last_.empty() || std::log(draw_uniform(accept)) < log_factor - last_log_factor_) {
      last_ = functionals();
      last_log_factor_ = log_factor;
    }
    return last_;
  }

  /// Reads the state; the hinge is computed here, from discriminants and data.
  void observe() {
    traces_.read(*sampler_);
    sampler_->labels(labels_);
    const RbhmcTree tree(labels_, data_.rows.size());
    const std::string payload = sampler_->payload();
    ByteReader reader(payload);
    const auto count = reader.get<std::uint64_t>();
    const auto dimension = reader.get<std::uint64_t>();
    reader.get(components_.data(), components_.size());
    std::vector<std::vector<double>> eta(tree.nodes.size(), std::vector<double>(dimension, 0.0));
    for (std::size_t node = 0; node < tree.nodes.size(); ++node) {
      for (std::size_t i = 0; i < dimension && node > 0; ++i) eta[node][i] = reader.get<float>();
      for (std::size_t k = 0; tree.nodes[node].level < tree.depth && k <= count; ++k) reader.get<float>();
    }
    hyper_.resize(reader.left() / sizeof(double));
    reader.get(hyper_.data(), hyper_.size());
    leaves_ = static_cast<double>(tree.leaves);
    if (settings_.evidence)
      hinge_ = -0.5 * total_log_bayes_factors(tree, evidence_features(data_.rows, first_), settings_);
    else if (settings_.infomax)
      hinge_ = -0.5 * total_log_gates(tree, eta, gate_features(data_.rows, first_), settings_);
    else
      // Without a penalty discriminants are not kept: the trace it is.
      hinge_ = dimension == 0
                   ? traces_["hinge"]
                   : total_hinge(tree, eta, margin_features(data_.family(), data_.rows, settings_.intercept),
                                 settings_.margin, settings_.centered);
  }

  std::vector<double> functionals() const {
    const Rows& rows = data_.rows;
    const std::size_t n = rows.size();
    const auto bounded = [](double cell) { return cell / (1.0 + std::abs(cell)); };
    double first = 0.0, second = 0.0;
    for (const double cell : rows.cells) {
      first += bounded(cell) / static_cast<double>(rows.cells.size());
      second += bounded(cell) * bounded(cell) / static_cast<double>(rows.cells.size());
    }
    const double x = bounded(rows[0][0]);
    const double y = bounded(rows[1][0]);
    const double path = labels_[(settings_.levels - 1) * n] == labels_[(settings_.levels - 1) * n + 1];
    const double top = labels_[0] == labels_[1];
    const double same = components_[0] == components_[1];
    const double k = traces_["components"];
    std::vector<double> list{k,
                             leaves_,
                             traces_["clusters_1"],
                             traces_["root_remainder"],
                             hinge_,
                             hinge_ * hinge_ / (1.0 + std::abs(hinge_)),
                             top,
                             path,
                             same,
                             std::log(traces_["alpha"]),
                             std::log(traces_["gamma"]),
                             std::log(traces_["gamma0"]),
                             first,
                             second,
                             x * y,
                             std::abs(x - y),
                             path * std::abs(x - y),
                             top * x * y,
                             same * std::abs(x - y),
                             second * k,
                             second * leaves_,
                             hinge_ * leaves_};
    for (const double value : hyper_) {
      const double own = bounded(0.3 * std::log(1e-6 + std::abs(value)));
      list.insert(list.end(), {own, own * own, own * second, own * k});
    }
    return list;
  }
  double components() const { return traces_["components"]; }
  double leaves() const { return leaves_; }
  double hinge() const { return hinge_; }
  double remainder() const { return traces_["root_remainder"]; }

 private:
  const RbhmcData& data_;
  Rows first_;  // by which gates and evidence standardize
  RbhmcSettings settings_;
  Problem problem_;
  const ModelEntry* model_;
  std::unique_ptr<Inference> sampler_;
  TraceValues traces_;
  Labels labels_, components_;
  std::vector<double> hyper_;
  double hinge_ = 0.0, leaves_ = 0.0;
  std::vector<double> last_;  // of functionals_afresh()
  double last_log_factor_ = 0.0;
};

/// Geweke's test: the functionals of draws afresh and along the sampler.
inline Agreement rbhmc_joint_agreement(const RbhmcVariant& variant, std::uint64_t seed, std::size_t draws) {
  RbhmcData data(variant.small);
  std::vector<std::vector<double>> fresh, successive;
  const auto record = [](const std::vector<double>& values, std::vector<std::vector<double>>& columns) {
    columns.resize(values.size());
    for (std::size_t j = 0; j < values.size(); ++j) columns[j].push_back(values[j]);
  };
  RbhmcJoint prior(data, variant);
  std::uint64_t sweep = 0;
  for (std::size_t i = 0; i < draws; ++i) record(prior.functionals_afresh(data, seed, 1, sweep), fresh);
  data.rows = RbhmcData(variant.small).rows;  // gates are standardized by the first data of a sampler
  RbhmcJoint chain(data, variant);
  sweep = 0;
  chain.draw_afresh(data, seed, 2, sweep);
  for (std::size_t i = 0; i < draws; ++i) {
    ++sweep;
    chain.sampler().step({seed, 2, sweep});
    chain.sampler().draw_data({seed, 2, sweep}, data.rows);
    chain.observe();
    record(chain.functionals(), successive);
  }
  Agreement agreement;
  for (std::size_t j = 0; j < fresh.size(); ++j) {
    const Estimate a = batch_estimate(fresh[j]);
    const Estimate b = batch_estimate(successive[j]);
    agreement.check(fmt::format("functional {}", j), {b.mean, std::hypot(a.error, b.error)}, a.mean);
  }
  return agreement;
}

}  // namespace coppice::test
