#include "coppice/post/learned_values.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "coppice/base/error.hpp"
#include "coppice/data/transform.hpp"
#include "coppice/family/gaussian_prior.hpp"
#include "coppice/family/registry.hpp"
#include "coppice/family/tied_copies.hpp"
#include "coppice/model/learned_draw.hpp"
#include "coppice/post/draw_batches.hpp"
#include "coppice/post/units.hpp"
#include "coppice/run/diagnostics.hpp"

namespace coppice {
namespace {

/// A draw costs a pass over the cells: evenly spaced ones stand for all.
constexpr std::size_t kMostLearnedCells = 20'000'000;
constexpr std::size_t kLeastLearnedDraws = 20;
constexpr std::size_t kMostLearnedDraws = 300;
/// For medians.
constexpr std::size_t kFewDraws = 9;

/// One number of a draw for users.
struct NamedNumber {
  std::string parameter;
  double value;
  std::string level = {};
};
using Named = std::vector<NamedNumber>;
/// Learned numbers of one column, by the family's names for them.
using Numbers = std::map<std::string, double>;

std::string concentration_of(std::size_t level) { return "concentration_" + std::to_string(level); }

/// Means and strengths in place of shapes and rates. `located` and `spread` turn a place and a distance into
/// the data's units.
template <typename Located, typename Spread>
Named readable(const Numbers& numbers, const std::vector<std::string>& levels, Located&& located,
               Spread&& spread) {
  Named list;
  const auto get = [&](const char* name) {
    const auto found = numbers.find(name);
    return found == numbers.end() ? std::nan("") : found->second;
  };
  const auto has = [&](const char* name) { return numbers.contains(name); };
  if (has("spike_a")) {
    list.push_back({"spike_probability", get("spike_a") / (get("spike_a") + get("spike_b"))});
    list.push_back({"spike_strength", get("spike_a") + get("spike_b")});
  }
  if (has("prior_mean")) list.push_back({"prior_mean", located(get("prior_mean"))});
  if (has("variance")) list.push_back({"cluster_sd", spread(std::sqrt(get("variance")))});
  if (has("shape") && has("rate") && has("prior_mean")) {  // gaussian-diagonal
    list.push_back({"cluster_sd", spread(std::sqrt(get("rate") / get("shape")))});
    list.push_back({"mean_strength", get("mean_strength")});
    list.push_back({"shape", get("shape")});
  } else if (has("shape")) {  // poisson
    list.push_back({"mean", get("shape") / get("rate")});
    list.push_back({"shape", get("shape")});
  } else if (has("size")) {  // negative-binomial
    list.push_back({"mean", get("size") * get("b") / (get("a") - 1.0)});
    list.push_back({"size", get("size")});
    list.push_back({"b", get("b")});
  } else if (has("a")) {  // bernoulli, binomial
    list.push_back({"mean", get("a") / (get("a") + get("b"))});
    list.push_back({"strength", get("a") + get("b")});
  } else if (has("concentration_1")) {  // categorical: one for each level
    std::vector<double> weights;
    for (std::size_t l = 1; has(concentration_of(l).c_str()); ++l)
      weights.push_back(get(concentration_of(l).c_str()));
    const double strength = std::accumulate(weights.begin(), weights.end(), 0.0);
    list.push_back({"strength", strength});
    for (std::size_t l = 0; l < weights.size(); ++l)
      list.push_back(
          {"probability", weights[l] / strength, l < levels.size() ? levels[l] : std::to_string(l)});
  } else if (has("concentration")) {  // the same for all levels, in runs of earlier versions
    list.push_back({"concentration", get("concentration")});
  }
  return list;
}

/// The learned block: numbers of standardized columns.
std::vector<Numbers> of_joint_columns(const FamilyPlan::Block& block, const GaussianPrior& prior) {
  const std::vector<double>& means = block.effective.block.at("data_mean").numbers;
  const std::vector<double>& sds = block.effective.block.at("data_sd").numbers;
  const Eigen::MatrixXd covariance = prior.covariance();
  std::vector<Numbers> columns;
  for (std::size_t j = 0; j < block.columns.size(); ++j) {
    const auto at = static_cast<Eigen::Index>(j);
    columns.push_back({{"prior_mean", means[j] + sds[j] * prior.mean()[j]},
                       {"variance", covariance(at, at) * sds[j] * sds[j]}});
  }
  return columns;
}

/// visit(values) for evenly spaced draws, between `least` and `most`.
template <typename Visit>
void for_each_learned(const SavedRun& run, std::size_t least, std::size_t most, Visit&& visit) {
  const std::size_t cells = std::max<std::size_t>(1, run.setup().rows.cells.size());
  for_each_batch(
      run, std::clamp(kMostLearnedCells / cells, least, most), 1, [&](std::span<const TakenDraw> batch) {
        for (const TakenDraw& draw : batch)
          if (const auto* learned = dynamic_cast<const LearnedDraw*>(draw.predictor); learned != nullptr)
            visit(learned->learned_values());
      });
}

/// What follows the last point of "column.parameter".
std::string name_without_column(const std::string& name) { return name.substr(name.rfind('.') + 1); }

}  // namespace

std::vector<LearnedValue> learned_values(const SavedRun& run) {
  const ProblemSetup& setup = run.setup();
  const Family& family = *setup.plan.family;
  if (!run.model().adapts_family() || family.hyper_size() == 0) return {};
  const std::vector<std::string> names = family.hyper_names();
  const std::vector<OriginalUnits> units =
      original_units(transform_from_json(run.contents().transform), run.table());

  std::vector<LearnedValue> list;
  std::vector<std::vector<double>> draws;  // of each entry of the list
  const auto take = [&](const std::vector<double>& values) {
    std::size_t place = 0;
    const auto put = [&](const std::string& column, const FamilyPlan::Block& block, bool is_log,
                         const Named& numbers) {
      for (const NamedNumber& number : numbers) {
        if (place == list.size()) {
          list.push_back({column, block.family, number.parameter, is_log, number.level});
          draws.emplace_back();
        }
        draws[place++].push_back(number.value);
      }
    };
    std::size_t at = 0;
    for (const FamilyPlan::Block& block : setup.plan.blocks) {
      if (!block.learned) continue;
      std::vector<Numbers> of_columns;
      if (family_by_name(block.family).joint) {
        GaussianPrior prior(block.columns.size());
        prior.set_values(values.data() + at);
        at += prior.size();
        of_columns = of_joint_columns(block, prior);
        put("", block, false, {{"mean_strength", prior.mean_strength()}, {"dof", prior.dof()}});
      } else {
        // Columns come one after the other; each repeats the names of its family. A column whose numbers were
        // given has none.
        for (const std::size_t column : block.columns) {
          of_columns.emplace_back();
          const std::string prefix = run.table().columns[column].name + ".";
          for (; at < names.size() && names[at] == prefix + name_without_column(names[at]) &&
                 !of_columns.back().contains(name_without_column(names[at]));
               ++at)
            of_columns.back().emplace(name_without_column(names[at]), values[at]);
        }
      }
      for (std::size_t i = 0; i < block.columns.size(); ++i) {
        const bool is_log = block.encodings[i].log;
        const OriginalUnits& unit = units[block.columns[i]];
        put(run.table().columns[block.columns[i]].name, block, is_log,
            readable(
                of_columns[i], run.table().columns[block.columns[i]].levels,
                [&](double value) { return is_log ? value : unit.location(value); },
                [&](double sd) { return is_log ? sd : std::abs(unit.spread(sd)); }));
      }
    }
  };
  for_each_learned(run, kLeastLearnedDraws, kMostLearnedDraws, take);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::vector<std::vector<double>> chains{draws[i]};
    const auto count = static_cast<double>(draws[i].size());
    list[i].mean = std::accumulate(draws[i].begin(), draws[i].end(), 0.0) / count;
    double squares = 0.0;
    for (const double value : draws[i]) squares += (value - list[i].mean) * (value - list[i].mean);
    list[i].sd = count > 1.0 ? std::sqrt(squares / (count - 1.0)) : 0.0;
    list[i].q05 = pooled_quantile(chains, 0.05);
    list[i].q95 = pooled_quantile(chains, 0.95);
  }
  return list;
}

std::unique_ptr<Family> family_as_learned(const SavedRun& run, const FamilyPlan& plan) {
  std::unique_ptr<Family> family = plan.family->clone();
  if (plan.has_copies) family = std::make_unique<TiedCopies>(std::move(family));
  if (!run.model().adapts_family() || family->hyper_size() == 0) return family;
  const std::vector<std::string> names = run.setup().plan.family->hyper_names();
  std::vector<std::vector<double>> draws(names.size());
  for_each_learned(run, 1, kFewDraws, [&](const std::vector<double>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) draws[i].push_back(values[i]);
  });
  if (draws.front().empty()) return family;
  const bool keeps_joint = family->hyper_size() == names.size();
  std::vector<double> medians;
  auto block = run.setup().plan.blocks.begin();
  for (std::size_t i = 0; i < names.size(); ++i) {
    // Values of a joint block begin with one that belongs to no column.
    if (!keeps_joint && names[i].find('.') == std::string::npos) {
      while (!block->learned || !family_by_name(block->family).joint) ++block;
      i += GaussianPrior(block++->columns.size()).size() - 1;
      continue;
    }
    const auto middle = draws[i].begin() + static_cast<std::ptrdiff_t>((draws[i].size() - 1) / 2);
    std::nth_element(draws[i].begin(), middle, draws[i].end());
    medians.push_back(*middle);
  }
  if (medians.size() != family->hyper_size())
    fail(ErrorCode::bug, "{} learned values for a family of {}", medians.size(), family->hyper_size());
  family->set_hyper(medians.data());
  return family;
}

}  // namespace coppice
