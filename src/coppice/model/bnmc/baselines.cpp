#include "coppice/model/bnmc/baselines.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "coppice/base/lanes.hpp"
#include "coppice/base/math.hpp"
#include "coppice/base/parallel.hpp"
#include "coppice/base/stop.hpp"
#include "coppice/model/bnmc/learned.hpp"

namespace coppice::bnmc {
namespace {

constexpr std::size_t kChains = 10;
constexpr std::size_t kFolds = 3;
// Of a label that comes later in the chain: it has no weight.
constexpr double kNoVariance = 1e-12;

Options baseline_options() {
  Settings given;
  const auto set = [&](const char* name, const char* value) {
    for (const Parameter& parameter : parameter_table())
      if (parameter.name == name) given.insert_or_assign(name, parse_parameter(parameter, value));
  };
  set("inputs", "features");
  set("combine", "linear");
  set("expert-method", "map");
  set("covariance", "diagonal");
  return Options(ParameterValues(parameter_table(), given));
}

/// Labels of some rows by label; NaN: not known.
std::vector<std::vector<double>> answers_of(const SparseRows& labels, std::span<const std::uint32_t> which) {
  std::vector<std::vector<double>> answers(labels.columns, std::vector<double>(which.size(), 0.0));
  for (std::size_t i = 0; i < which.size(); ++i)
    for (std::size_t j = 0; j < labels.columns_of(which[i]).size(); ++j)
      answers[labels.columns_of(which[i])[j]][i] = labels.values_of(which[i])[j];
  return answers;
}

/// The inputs, then every label that is known to be there.
SparseRows inputs_with_labels(const SparseRows& inputs, const SparseRows& labels) {
  SparseRows result;
  result.columns = inputs.columns + labels.columns;
  for (std::size_t row = 0; row < inputs.rows(); ++row) {
    const auto append = [&](const SparseRows& from, std::size_t offset) {
      for (std::size_t i = 0; i < from.columns_of(row).size(); ++i) {
        if (is_missing(from.values_of(row)[i])) continue;
        result.column.push_back(static_cast<std::uint32_t>(offset + from.columns_of(row)[i]));
        result.value.push_back(from.values_of(row)[i]);
      }
    };
    append(inputs, 0);
    append(labels, inputs.columns);
    result.start.push_back(result.column.size());
  }
  return result;
}

/// A regression to fit: the label, and the chain that it is in.
struct Job {
  std::size_t chain, label;
};

class Regressions {
 public:
  /// All rows whose answers are given; `nearby` are regressions of nearly the same rows, or null.
  Regressions(Baseline kind, const SparseDesign& design, const std::vector<std::vector<double>>& answers,
              const Options& options, const Inputs& inputs, std::uint64_t seed, std::size_t threads,
              const std::atomic<bool>* stop, const Regressions* nearby)
      : inputs_(inputs.size()) {
    const std::size_t labels = answers.size();
    std::vector<char> varies;
    for (const std::vector<double>& answer : answers) {
      double positive = 0.0;
      double known = 0.0;
      for (const double y : answer) {
        positive += is_missing(y) ? 0.0 : y;
        known += is_missing(y) ? 0.0 : 1.0;
      }
      base_rates_.push_back((positive + 0.5) / (known + 1.0));
      varies.push_back(positive > 0.0 && positive < known ? 1 : 0);
    }
    if (kind == Baseline::base_rates) return;
    const bool is_chain = kind == Baseline::chains;
    weights_.assign(is_chain ? kChains : 1, std::vector<Expert>(labels));
    const Eigen::VectorXd variance = inputs.prior_variance();
    std::vector<Job> jobs;
    for (std::size_t chain = 0; chain < weights_.size(); ++chain) {
      orders_.emplace_back();
      if (!is_chain) continue;
      orders_[chain].resize(labels);
      std::iota(orders_[chain].begin(), orders_[chain].end(), 0u);
      Stream stream({seed, chain, 0}, Purpose::scan_order);
      shuffle(stream, orders_[chain]);
    }
    // The regressions of a label are similar in all chains: solved side by side, they take as many steps.
    for (std::size_t label = 0; label < labels; ++label)
      for (std::size_t chain = 0; varies[label] != 0 && chain < weights_.size(); ++chain)
        jobs.push_back({chain, label});
    parallel_for((jobs.size() + kExpertsAtOnce - 1) / kExpertsAtOnce, threads, [&](std::size_t part) {
      throw_if_stopped(stop);
      const std::size_t end = std::min(jobs.size(), (part + 1) * kExpertsAtOnce);
      std::vector<std::vector<double>> fitted;
      std::vector<Eigen::VectorXd> with_labels;
      if (is_chain)
        for (std::size_t at = part * kExpertsAtOnce; at < end; ++at)
          with_labels.push_back(variance_with_labels(variance, orders_[jobs[at].chain], jobs[at].label));
      std::vector<const Eigen::VectorXd*> variances;
      std::vector<const Expert*> start;
      for (std::size_t at = part * kExpertsAtOnce; at < end; ++at) {
        const Job& job = jobs[at];
        fitted.push_back(answers[job.label]);
        variances.push_back(is_chain ? &with_labels[at - part * kExpertsAtOnce] : &variance);
        const Expert* before = nearby == nullptr ? nullptr : &nearby->weights_[job.chain][job.label];
        start.push_back(before != nullptr && before->mean.size() > 0 ? before : nullptr);
      }
      std::vector<Expert> experts = fit_diagonal(design, fitted, variances, options.expert, start);
      for (std::size_t i = 0; i < experts.size(); ++i) {
        const Job& job = jobs[part * kExpertsAtOnce + i];
        weights_[job.chain][job.label] = std::move(experts[i]);
      }
    });
  }

  std::vector<double> probabilities(const SparseRows& inputs, std::size_t row) const {
    if (weights_.empty()) return base_rates_;
    const std::size_t labels = base_rates_.size();
    std::vector<double> sum(labels, 0.0);
    for (std::size_t chain = 0; chain < weights_.size(); ++chain) {
      std::vector<char> chosen(labels, 0);
      const std::vector<std::uint32_t>& order = orders_[chain];
      for (std::size_t place = 0; place < labels; ++place) {
        const std::size_t label = order.empty() ? place : order[place];
        const double p = probability(weights_[chain][label].mean, inputs, row, chosen, label);
        if (!order.empty()) chosen[label] = p >= 0.5 ? 1 : 0;
        sum[label] += p / static_cast<double>(weights_.size());
      }
    }
    return sum;
  }

 private:
  /// Of the inputs, and of the labels that come before the given one; the others have no weight.
  static Eigen::VectorXd variance_with_labels(const Eigen::VectorXd& variance,
                                              const std::vector<std::uint32_t>& order, std::size_t label) {
    const auto labels = static_cast<Eigen::Index>(order.size());
    Eigen::VectorXd all(variance.size() + labels);
    all << variance, Eigen::VectorXd::Constant(labels, kNoVariance);
    for (std::size_t before = 0; order[before] != label; ++before) all[variance.size() + order[before]] = 1.0;
    return all;
  }

  double probability(const Eigen::VectorXd& weights, const SparseRows& inputs, std::size_t row,
                     const std::vector<char>& chosen, std::size_t label) const {
    if (weights.size() == 0) return base_rates_[label];
    double total = 0.0;
    const auto columns = inputs.columns_of(row);
    for (std::size_t i = 0; i < columns.size() && columns[i] < inputs_; ++i)
      total += weights[columns[i]] * inputs.values_of(row)[i];
    for (std::size_t c = 0; c < chosen.size(); ++c)
      if (chosen[c] != 0) total += weights[static_cast<Eigen::Index>(inputs_ + c)];
    return std::exp(log_logistic(total));
  }

  std::size_t inputs_;
  std::vector<double> base_rates_;
  std::vector<std::vector<std::uint32_t>> orders_;  // of the labels, by chain; empty: none sees another
  std::vector<std::vector<Expert>> weights_;        // by chain and label; without a mean: the base rate
};

class BaselineClassifier final : public Classifier {
 public:
  BaselineClassifier(Baseline kind, const LabeledRows& rows, std::uint64_t seed, std::size_t threads,
                     const std::atomic<bool>* stop)
      : options_(baseline_options()), inputs_(rows, options_) {
    const SparseRows inputs = inputs_.transform(rows.features, nullptr, threads);
    const SparseRows all = kind == Baseline::chains ? inputs_with_labels(inputs, rows.labels) : inputs;
    const std::size_t count = rows.features.rows();
    std::vector<std::uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0u);
    all_ = std::make_unique<Regressions>(kind, SparseDesign(all), answers_of(rows.labels, order), options_,
                                         inputs_, seed, threads, stop, nullptr);
    Stream stream({seed, 0, 0}, Purpose::hold_out);
    shuffle(stream, order);
    std::vector<std::size_t> fold_of(count);
    for (std::size_t i = 0; i < count; ++i) fold_of[order[i]] = i % kFolds;
    std::vector<RowParts> held_out(count);
    for (std::size_t fold = 0; fold < kFolds; ++fold) {
      std::vector<std::uint32_t> kept;
      for (std::uint32_t row = 0; row < count; ++row)
        if (fold_of[row] != fold) kept.push_back(row);
      const Regressions without(kind, SparseDesign(all, kept), answers_of(rows.labels, kept), options_,
                                inputs_, seed, threads, stop, all_.get());
      parallel_for(count, threads, [&](std::size_t row) {
        if (fold_of[row] != fold) return;
        held_out[row].linear = without.probabilities(inputs, row);
        held_out[row].mixture.assign(rows.labels.columns, 0.0);
      });
    }
    thresholds_ = calibrate(rows, held_out, Learned(), options_).thresholds;
  }

  LabelPrediction predict(const SparseRows& features, std::size_t row) const override {
    LabelPrediction result;
    result.probabilities = all_->probabilities(inputs_.transform(some_rows(features, row), nullptr, 1), 0);
    result.scores = result.probabilities;
    for (std::size_t c = 0; c < thresholds_.size(); ++c)
      result.chosen.push_back(result.scores[c] >= thresholds_[c]);
    result.clusters = {1.0};
    result.log_density = kMissing;
    return result;
  }
  std::vector<LabelPattern> patterns() const override { return {}; }
  const std::vector<double>& thresholds() const override { return thresholds_; }

 private:
  Options options_;
  Inputs inputs_;
  std::vector<double> thresholds_;
  std::unique_ptr<Regressions> all_;
};

}  // namespace

std::unique_ptr<Classifier> fit_baseline(Baseline kind, const LabeledRows& rows, std::uint64_t seed,
                                         std::size_t threads, const std::atomic<bool>* stop) {
  return std::make_unique<BaselineClassifier>(kind, rows, seed, threads, stop);
}

}  // namespace coppice::bnmc
