#include "coppice/model/rbhmc/auto_penalty.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "coppice/base/math.hpp"
#include "coppice/base/parallel.hpp"
#include "coppice/base/stop.hpp"
#include "coppice/model/rbhmc/margins.hpp"

namespace coppice::rbhmc {
namespace {

constexpr std::size_t kFewestRows = 15;
constexpr std::size_t kMostRows = 400;
constexpr std::size_t kFolds = 3;
constexpr std::size_t kWarmup = 200;
constexpr std::size_t kDraws = 100;
constexpr std::size_t kThin = 3;
constexpr double kNeededErrors = 2.0;

/// A regularizer and its strength, penalty times margin: what a row can gain or lose at one level is of the
/// order of twice that, in nats.
struct Candidate {
  const char* regularizer;
  double strength;
};
constexpr Candidate kCandidates[] = {
    {"hinge", 0.0}, {"hinge", 0.02}, {"hinge", 0.1}, {"centered", 0.1}, {"centered", 0.4}};

struct Fold {
  Rows train;
  std::vector<const double*> held_out;
};

/// Disjoint fifths of the same rows, held out in turn.
std::vector<Fold> make_folds(const Rows& rows, std::uint64_t seed) {
  std::vector<Fold> folds(kFolds);
  const std::size_t used = std::min(rows.size(), kMostRows);
  const std::size_t held = std::max<std::size_t>(1, used / 5);
  std::vector<std::uint32_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0U);
  Stream stream({seed, 0, 0}, Purpose::hold_out);
  shuffle(stream, order);
  for (std::size_t fold = 0; fold < kFolds; ++fold) {
    folds[fold].train.width = rows.width;
    for (std::size_t i = 0; i < used; ++i) {
      const double* row = rows[order[i]];
      if (i / held == fold)
        folds[fold].held_out.push_back(row);
      else
        folds[fold].train.cells.insert(folds[fold].train.cells.end(), row, row + rows.width);
    }
  }
  return folds;
}

/// Log predictive density of each held-out row, averaged over the draws of one short chain.
std::vector<double> held_out_density(const ModelEntry& model, const Problem& whole, const Fold& fold,
                                     const Settings& settings, std::uint64_t seed, std::uint64_t chain) {
  const Problem problem{whole.family, &fold.train, ParameterValues(model.parameters, settings),
                        whole.category_levels};
  const std::unique_ptr<Inference> inference = model.make_inference(problem);
  const std::unique_ptr<Predictor> predictor = model.make_predictor(problem);
  Labels labels(fold.train.size() * model.levels(problem.parameters));
  std::vector<double> traces(trace_names(model, problem).size());
  std::vector<double> weights;
  std::vector<std::vector<double>> densities(fold.held_out.size());
  // Chains of the run itself count from zero: these are far away from them.
  const std::uint64_t name = (std::uint64_t{1} << 48) + chain;
  inference->init({seed, name, 0});
  for (std::size_t sweep = 1; sweep <= kWarmup + kDraws * kThin; ++sweep) {
    throw_if_stopped(whole.stop);
    inference->step({seed, name, sweep});
    if (sweep <= kWarmup || sweep % kThin != 0) continue;
    inference->labels(labels);
    inference->traces(traces);
    predictor->set_draw(labels, traces, inference->payload());
    weights.resize(predictor->clusters(1) + 1);
    for (std::size_t row = 0; row < fold.held_out.size(); ++row) {
      predictor->log_weights(fold.held_out[row], 1, weights);
      densities[row].push_back(log_sum_exp(weights));
    }
  }
  std::vector<double> result;
  for (const std::vector<double>& draws : densities)
    result.push_back(log_sum_exp(draws) - std::log(static_cast<double>(draws.size())));
  return result;
}

struct Comparison {
  double mean = 0.0;
  double error = 0.0;
};

double standard_error(const std::vector<double>& values, double mean) {
  const auto n = static_cast<double>(values.size());
  double squares = 0.0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (n - 1.0) / n);
}

/// Mean difference to no penalty over all held-out rows of all folds. Rows of a fold share a chain, so the
/// error is the larger one of that over rows and that over folds.
Comparison compare(const std::vector<std::vector<double>>& with_penalty,
                   const std::vector<std::vector<double>>& without) {
  std::vector<double> rows, folds;
  for (std::size_t fold = 0; fold < without.size(); ++fold) {
    double sum = 0.0;
    for (std::size_t row = 0; row < without[fold].size(); ++row) {
      rows.push_back(with_penalty[fold][row] - without[fold][row]);
      sum += rows.back();
    }
    folds.push_back(sum / static_cast<double>(without[fold].size()));
  }
  Comparison result;
  for (const double value : rows) result.mean += value / static_cast<double>(rows.size());
  result.error = std::max(standard_error(rows, result.mean), standard_error(folds, result.mean));
  return result;
}

double length_of_features(const Problem& problem, const Options& options) {
  const Margins margins(problem, options);
  double squares = 0.0;
  for (std::size_t row = 0; row < problem.rows->size(); ++row)
    squares += margins.dot(margins.feature(row), margins.feature(row));
  return std::sqrt(squares / static_cast<double>(std::max<std::size_t>(1, problem.rows->size())));
}

/// Settings that only a penalty gives a meaning; the published procedure differs from the others even
/// without.
std::vector<std::string> idle_without_penalty(const Settings& given, const ParameterValues& parameters) {
  std::vector<std::string> idle;
  if (given.contains("regularizer") && parameters.choice("regularizer") != "paper")
    idle.emplace_back("--regularizer");
  for (const char* name :
       {"margin", "discriminant-sd", "intercept", "informed", "discriminant-update", "level-powers"})
    if (given.contains(name)) idle.push_back(std::string("--") + name);
  return idle;
}

}  // namespace

Resolution resolve_penalty(const ModelEntry& model, const Problem& problem, const Settings& given,
                           std::uint64_t seed, std::size_t threads) {
  Resolution resolution;
  if (!problem.parameters.is_word("penalty")) {
    if (problem.parameters.real("penalty") > 0.0) return {};
    if (const std::vector<std::string> idle = idle_without_penalty(given, problem.parameters); !idle.empty())
      resolution.notes.push_back(
          fmt::format("note: without a penalty the tree does not depend on {}", fmt::join(idle, ", ")));
    return resolution;
  }
  const auto take_none = [&](const std::string& why) {
    resolution.settings = {{"penalty", Setting::number(0.0)}};
    resolution.notes.push_back("penalty auto: none, a plain nested mixture; " + why);
    return resolution;
  };
  const std::size_t rows = problem.rows->size();
  if (rows < kFewestRows) return take_none(fmt::format("{} rows are too few to choose", rows));
  const Options options(problem.parameters);
  const double length = length_of_features(problem, options);
  const double margin = given.contains("margin") ? options.margin : options.discriminant_sd * length;
  if (!(margin > 0.0) || !std::isfinite(margin)) return take_none("the margin would be zero");

  std::vector<Candidate> candidates;
  for (const Candidate& candidate : kCandidates)
    if (candidate.strength == 0.0 || !given.contains("regularizer") ||
        problem.parameters.choice("regularizer") == candidate.regularizer)
      candidates.push_back(candidate);
  if (candidates.size() == 1) return take_none("it chooses only among exact regularizers; give a number");
  const std::vector<Fold> folds = make_folds(*problem.rows, seed);
  std::vector<std::vector<std::vector<double>>> densities(candidates.size(),
                                                          std::vector<std::vector<double>>(kFolds));
  parallel_for(candidates.size() * kFolds, threads, [&](std::size_t task) {
    const std::size_t fold = task % kFolds;
    const Candidate& candidate = candidates[task / kFolds];
    Settings settings = problem.parameters.settings();
    settings.insert_or_assign("regularizer", Setting{Setting::Shape::text, {}, 0, candidate.regularizer});
    settings.insert_or_assign("margin", Setting::number(margin));
    settings.insert_or_assign("penalty", Setting::number(candidate.strength / margin));
    settings.insert_or_assign("temperatures", Setting::vector({1.0}));
    densities[task / kFolds][fold] = held_out_density(model, problem, folds[fold], settings, seed, fold);
  });
  std::size_t best = 0;
  Comparison evidence;
  std::string tried;
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    const Comparison difference = compare(densities[i], densities[0]);
    tried +=
        fmt::format("{}{} {:.3g}: {:+.3f} ± {:.3f}", tried.empty() ? "" : ", ", candidates[i].regularizer,
                    candidates[i].strength / margin, difference.mean, difference.error);
    const double needed = std::max(kNeededErrors * difference.error, evidence.mean);
    if (!std::isfinite(difference.mean) || !std::isfinite(needed) || !(difference.mean > needed)) continue;
    best = i;
    evidence = difference;
  }
  const std::string seen =
      fmt::format("held-out log density against no penalty, {} times {} rows held out: {}", kFolds,
                  folds[0].held_out.size(), tried);
  if (best == 0)
    return take_none("no penalty predicts held-out rows better by two standard errors (" + seen + ")");
  const double penalty = candidates[best].strength / margin;
  resolution.settings = {{"regularizer", Setting{Setting::Shape::text, {}, 0, candidates[best].regularizer}},
                         {"penalty", Setting::number(penalty)},
                         {"margin", Setting::number(margin)}};
  resolution.notes.push_back(
      fmt::format("penalty auto: {} {:.3g} with margin {:.3g}, which predicts held-out rows best ({})",
                  candidates[best].regularizer, penalty, margin, seen));
  return resolution;
}

}  // namespace coppice::rbhmc
