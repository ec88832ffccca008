// Entries of the families with independent columns: their names, hyper-parameters, defaults and makers.
#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "coppice/base/error.hpp"
#include "coppice/family/bernoulli.hpp"
#include "coppice/family/binomial.hpp"
#include "coppice/family/categorical.hpp"
#include "coppice/family/gaussian_diagonal.hpp"
#include "coppice/family/gaussian_known.hpp"
#include "coppice/family/hurdle.hpp"
#include "coppice/family/poisson.hpp"

namespace coppice {
namespace {

/// Sums of trials up to this many are tabulated; beyond it log-gamma is evaluated.
constexpr double kMostTrialsTabulated = 200'000.0;
/// With more trials than these single cells leave a table whose size is limited.
constexpr double kMostTrialsOfOwnTable = 2'000.0;
/// Tables of learned concentrations of single levels and of all: what is filled again with every update.
constexpr std::size_t kLargestOfLevel = 127;
constexpr std::size_t kLargestOfLevels = 511;
/// Marks a fraction that is not given.
constexpr double kNoShare = 1e300;

template <typename Function>
std::vector<double> from_scale(const FamilyInputs& inputs, Function&& function) {
  std::vector<double> values;
  for (const Column* column : inputs.columns) values.push_back(function(column_scale(*column)));
  return values;
}

Parameter with_earlier_name(Parameter parameter, const char* name) {
  parameter.aliases.push_back({name});
  return parameter;
}

std::vector<BernoulliCell> bernoulli_cells(const FamilyInputs& inputs) {
  const std::vector<double> a = inputs.per_column_values("a", for_every_column(inputs, 0.5), 0.0);
  const std::vector<double> b = inputs.per_column_values("b", for_every_column(inputs, 0.5), 0.0);
  std::vector<BernoulliCell> cells;
  std::map<std::pair<double, double>, std::shared_ptr<const BetaTables>> tables;
  const bool learns = inputs.learns({"a", "b"});
  for (std::size_t j = 0; j < a.size(); ++j) {
    if (learns) {
      cells.emplace_back(a[j], b[j], own_beta_tables(a[j], b[j], 2 * inputs.rows), true);
      continue;
    }
    auto& table = tables[{a[j], b[j]}];
    if (!table) table = std::make_shared<const BetaTables>(a[j], b[j], 2 * inputs.rows);
    cells.emplace_back(a[j], b[j], table);
  }
  return cells;
}

std::vector<BinomialCell> binomial_cells(const FamilyInputs& inputs) {
  std::vector<double> largest;
  for (const Column* column : inputs.columns) {
    double trials = 1.0;
    for (const double value : column->values)
      if (!is_missing(value)) trials = std::max(trials, value);
    largest.push_back(trials);
  }
  const std::vector<double> trials = inputs.per_column_values("trials", largest, 0.0);
  const std::vector<double> a = inputs.per_column_values("a", for_every_column(inputs, 0.5), 0.0);
  const std::vector<double> b = inputs.per_column_values("b", for_every_column(inputs, 0.5), 0.0);
  const bool learns = inputs.learns({"a", "b"});
  std::vector<BinomialCell> cells;
  std::map<std::tuple<double, double, double>, std::shared_ptr<const BetaTables>> tables;
  for (std::size_t j = 0; j < a.size(); ++j) {
    if (trials[j] != std::floor(trials[j]) || trials[j] < largest[j])
      fail(ErrorCode::configuration, "{} must be a whole number of at least {}, its largest value",
           inputs.words_of("trials", j, fmt::format("{}", trials[j])), largest[j]);
    const double most = 2.0 * trials[j] * static_cast<double>(inputs.rows);
    if (learns) {
      TableOf<BetaTables> own;
      if (trials[j] <= kMostTrialsOfOwnTable)
        own = own_beta_tables(a[j], b[j], static_cast<std::size_t>(most));
      cells.emplace_back(trials[j], a[j], b[j], std::move(own), true);
      continue;
    }
    auto& table = tables[{a[j], b[j], trials[j]}];
    if (!table && most <= kMostTrialsTabulated)
      table = std::make_shared<const BetaTables>(a[j], b[j], static_cast<std::size_t>(most));
    cells.emplace_back(trials[j], a[j], b[j], table);
  }
  return cells;
}

std::vector<double> level_concentration(const FamilyInputs& inputs, std::size_t j, std::size_t levels) {
  const Setting* setting = inputs.whole_block("concentration");
  if (inputs.per_column[j] != nullptr)
    if (const auto own = inputs.per_column[j]->find("concentration"); own != inputs.per_column[j]->end())
      setting = &own->second;
  if (setting == nullptr) return std::vector<double>(levels, 0.5);
  const bool number = setting->shape == Setting::Shape::number;
  if (!number && (setting->shape != Setting::Shape::vector || setting->numbers.size() != levels))
    fail(ErrorCode::configuration, "{} must be a number, or an array of {} (one for each level)",
         inputs.words_of("concentration", j, to_toml(*setting)), levels);
  std::vector<double> values(levels, setting->numbers[0]);
  if (!number) values = setting->numbers;
  for (const double value : values)
    if (!(value > 0.0 && std::isfinite(value)))
      fail(ErrorCode::configuration, "{} must be finite and greater than 0",
           inputs.words_of("concentration", j, to_toml(*setting)));
  return values;
}

/// Of every level in the Dirichlet prior of the learned means. A run that does not say it, of an earlier
/// version, learned none.
double weight_of_means(const FamilyInputs& inputs) {
  constexpr double kUniform = 1.0;
  const Setting* stored = inputs.whole_block("mean_weight");
  if (inputs.is_rebuilt && stored == nullptr) return CategoricalCell::kEqualMeans;
  const double weight = inputs.is_rebuilt ? stored->numbers[0] : kUniform;
  inputs.record("mean_weight", Setting::number(weight));
  return weight;
}

std::vector<CategoricalCell> categorical_cells(const FamilyInputs& inputs) {
  std::vector<CategoricalCell> cells;
  std::map<double, std::shared_ptr<const CountTable>> tables;
  const auto table_of = [&](double offset) {
    std::shared_ptr<const CountTable>& table = tables[offset];
    if (!table) table = std::make_shared<const CountTable>(offset, 2 * inputs.rows);
    return CategoricalCell::Table(table);
  };
  const bool learns = inputs.learns({"concentration"});
  const double mean_weight = learns ? weight_of_means(inputs) : 0.0;
  for (std::size_t j = 0; j < inputs.columns.size(); ++j) {
    const std::size_t levels = std::max<std::size_t>(inputs.columns[j]->levels.size(), 2);
    std::vector<double> concentration = level_concentration(inputs, j, levels);
    inputs.record("concentration", j, Setting::vector(concentration));
    const double total = std::accumulate(concentration.begin(), concentration.end(), 0.0);
    std::vector<CategoricalCell::Table> of_level;
    if (learns) {
      for (const double value : concentration)
        of_level.push_back(own_count_table(value, 2 * inputs.rows, kLargestOfLevel));
      cells.emplace_back(std::move(concentration), std::move(of_level),
                         own_count_table(total, 2 * inputs.rows, kLargestOfLevels), mean_weight);
      continue;
    }
    for (const double value : concentration) of_level.push_back(table_of(value));
    cells.emplace_back(std::move(concentration), std::move(of_level), table_of(total));
  }
  return cells;
}

std::vector<PoissonCell> poisson_cells(const FamilyInputs& inputs) {
  const std::vector<double> shape = inputs.per_column_values("shape", for_every_column(inputs, 1.0), 0.0);
  std::vector<double> mean, default_rate;
  for (std::size_t j = 0; j < shape.size(); ++j) {
    mean.push_back(std::max(column_scale(*inputs.columns[j]).mean, 1e-3));
    default_rate.push_back(shape[j] / mean[j]);
  }
  const std::vector<double> rate = inputs.per_column_values("rate", default_rate, 0.0);
  std::vector<PoissonCell> cells;
  const bool learns = inputs.learns({"shape", "rate"});
  if (learns) mean = inputs.from_data("data_mean", std::move(mean));
  for (std::size_t j = 0; j < shape.size(); ++j)
    cells.emplace_back(shape[j], rate[j], learns ? mean[j] : 0.0);
  return cells;
}

std::vector<GaussianDiagonalCell> gaussian_diagonal_cells(const FamilyInputs& inputs) {
  const std::vector<double> mean = inputs.per_column_values(
      "prior_mean", from_scale(inputs, [](const ColumnScale& s) { return s.mean; }), -1e300);
  const std::vector<double> share =
      inputs.given_values("within_fraction", for_every_column(inputs, kNoShare), 0.0);
  const auto has_share = [&](std::size_t j) { return share[j] != kNoShare; };
  std::vector<double> default_strength = for_every_column(inputs, kDefaultMeanStrength);
  std::vector<double> default_shape = for_every_column(inputs, 1.5);
  for (std::size_t j = 0; j < share.size(); ++j) {
    if (!has_share(j)) continue;
    default_strength[j] = share[j];
    default_shape[j] = 2.0;
  }
  const std::vector<double> strength = inputs.per_column_values("mean_strength", default_strength, 0.0);
  const std::vector<double> shape = inputs.per_column_values("shape", default_shape, 0.0);
  std::vector<double> default_rate;
  for (std::size_t j = 0; j < shape.size(); ++j) {
    const ColumnScale scale = column_scale(*inputs.columns[j]);
    // E[v] = rate / (shape - 1): a cluster is expected to have half the column's standard deviation.
    default_rate.push_back(has_share(j) ? shape[j] * share[j] * scale.population_variance
                                        : kDefaultClusterSd * kDefaultClusterSd *
                                              std::max(shape[j] - 1.0, 0.5) * scale.sd * scale.sd);
  }
  const std::vector<double> rate = inputs.per_column_values("rate", default_rate, 0.0);
  std::map<double, std::shared_ptr<const HalfStepGammas>> tables;
  std::map<std::pair<double, double>, std::shared_ptr<const NormalGammaTable>> union_tables;
  std::vector<GaussianDiagonalCell> cells;
  const bool learns = inputs.learns({"prior_mean", "mean_strength", "shape", "rate", "within_fraction"});
  std::vector<double> sds;
  if (learns)
    sds = inputs.from_data("data_sd", from_scale(inputs, [](const ColumnScale& s) { return s.sd; }));
  for (std::size_t j = 0; j < shape.size(); ++j) {
    if (learns) {
      constexpr std::size_t kLargestOwn = 16384;
      cells.emplace_back(
          mean[j], strength[j], shape[j], rate[j],
          TableOf(std::make_unique<HalfStepGammas>(shape[j], std::min(inputs.rows, kLargestOwn))),
          NormalGammaHyperPrior{sds[j], inputs.resolutions.empty() ? 0.0 : inputs.resolutions[j]});
      continue;
    }
    auto& table = tables[shape[j]];
    if (!table) table = std::make_shared<const HalfStepGammas>(shape[j], inputs.rows);
    auto& unions = union_tables[{strength[j], shape[j]}];
    if (!unions) unions = std::make_shared<const NormalGammaTable>(strength[j], shape[j], 2 * inputs.rows);
    cells.emplace_back(mean[j], strength[j], shape[j], rate[j], table, unions);
  }
  return cells;
}

std::vector<GaussianKnownCell> gaussian_known_cells(const FamilyInputs& inputs) {
  const std::vector<double> noise = inputs.per_column_values(
      "noise_variance",
      from_scale(inputs,
                 [](const ColumnScale& s) { return kDefaultClusterSd * kDefaultClusterSd * s.sd * s.sd; }),
      0.0);
  const std::vector<double> mean = inputs.per_column_values(
      "prior_mean", from_scale(inputs, [](const ColumnScale& s) { return s.mean; }), -1e300);
  const std::vector<double> variance = inputs.per_column_values(
      "prior_variance", from_scale(inputs, [](const ColumnScale& s) { return s.sd * s.sd; }), 0.0);
  std::vector<GaussianKnownCell> cells;
  for (std::size_t j = 0; j < noise.size(); ++j) cells.emplace_back(noise[j], mean[j], variance[j]);
  return cells;
}

}  // namespace

HalfStepGammas::HalfStepGammas(double start, std::size_t largest) : start_(start) {
  double previous = log_gamma(start);
  for (std::size_t n = 0; n <= largest; ++n) {
    const double next = log_gamma(start + 0.5 * static_cast<double>(n + 1));
    table_.push_back(next - previous);
    previous = next;
  }
}

NormalGammaTable::NormalGammaTable(double mean_strength, double shape, std::size_t largest) {
  const double log_gamma_shape = log_gamma(shape);
  for (std::size_t n = 0; n <= largest; ++n) {
    const auto cells = static_cast<double>(n);
    const double a = shape + 0.5 * cells;
    const double k = mean_strength + cells;
    entries_.push_back(
        {log_gamma(a) - log_gamma_shape + 0.5 * std::log(mean_strength / k) - 0.5 * cells * kLog2Pi, a,
         n == 0 ? 0.0 : mean_strength / (cells * k), n == 0 ? 0.0 : 1.0 / cells});
  }
}

void HalfStepGammas::refill(double start) {
  start_ = start;
  // With g(n) = log Gamma(a0 + (n + 1)/2) - log Gamma(a0 + n/2): g(n) + g(n + 1) = log(a0 + n/2).
  const std::size_t size = table_.size();
  double gamma = log_gamma(start + 0.5) - log_gamma(start);
  Lanes next = start + 0.5 * Lanes{0, 1, 2, 3, 4, 5, 6, 7};
  for (std::size_t n = 0; n < size; n += kLanes, next += 4.0) {
    const Lanes logs = coppice::log(next);
    for (std::size_t lane = 0; lane < std::min(kLanes, size - n); ++lane) {
      table_[n + lane] = gamma;
      gamma = logs[lane] - gamma;
    }
  }
}

NormalGammaTable::Entries NormalGammaTable::entries_of(Lanes cells, double mean_strength, double shape,
                                                       double log_gamma_shape) {
  const Lanes a = shape + 0.5 * cells;
  const Lanes k = mean_strength + cells;
  const LanesInt none = cells == 0.0;
  const Lanes per_cell = none ? Lanes{} : 1.0 / (none ? broadcast(1.0) : cells);
  return {
      coppice::log_gamma(a) - log_gamma_shape + 0.5 * coppice::log(mean_strength / k) - 0.5 * cells * kLog2Pi,
      a, mean_strength / k * per_cell, per_cell};
}

double HalfStepGammas::operator[](double n) const {
  if (const auto index = static_cast<std::size_t>(n); index < table_.size()) return table_[index];
  return log_gamma(start_ + 0.5 * (n + 1.0)) - log_gamma(start_ + 0.5 * n);
}

FamilyEntry bernoulli_entry() {
  return {.name = "bernoulli",
          .summary = "0/1 columns, independent within a cluster; Beta prior on each probability",
          .kinds = {Kind::binary},
          .parameters = {positive_parameter("a", "0.5", "prior weight of 1"),
                         positive_parameter("b", "0.5", "prior weight of 0")},
          .make = make_columns<bernoulli_cells>,
          .support = Support::levels,
          .automatic = {Kind::binary}};
}

FamilyEntry binomial_entry() {
  return {.name = "binomial",
          .summary = "counts of successes out of a fixed number of trials; Beta prior on each probability",
          .kinds = {Kind::count, Kind::binary},
          .parameters = {positive_parameter("trials", "",
                                            "number of trials; default: the column's largest value"),
                         positive_parameter("a", "0.5", "prior weight of success"),
                         positive_parameter("b", "0.5", "prior weight of failure")},
          .make = make_columns<binomial_cells>,
          .support = Support::bounded_counts,
          .support_parameter = "trials"};
}

FamilyEntry categorical_entry() {
  return {.name = "categorical",
          .summary = "columns with named levels; Dirichlet prior on the level probabilities",
          .kinds = {Kind::category, Kind::binary},
          .parameters = {positive_parameter("concentration", "0.5",
                                            "prior weight of every level, or one number for each level")},
          .make = make_columns<categorical_cells>,
          .support = Support::levels,
          .automatic = {Kind::category}};
}

FamilyEntry poisson_entry() {
  return {
      .name = "poisson",
      .summary = "unbounded counts; Gamma prior on each rate",
      .kinds = {Kind::count, Kind::binary},
      .parameters = {positive_parameter("shape", "1", "shape of the Gamma prior"),
                     positive_parameter("rate", "", "rate of the Gamma prior; default: shape / column mean")},
      .make = make_columns<poisson_cells>,
      .support = Support::counts,
      .rate_like = true,
      .automatic = {Kind::count},
      .make_with_spike = make_columns_with_spike<poisson_cells>};
}

FamilyEntry gaussian_diagonal_entry() {
  return {
      .name = "gaussian-diagonal",
      .summary = "real columns, independent within a cluster; normal-inverse-gamma prior",
      .kinds = {Kind::real, Kind::count, Kind::binary},
      .parameters =
          {number_parameter("prior_mean", "prior mean; default: the column's mean"),
           positive_parameter(
               "mean_strength", "",
               "prior sample size of the mean (kappa0): how many rows the prior mean is worth; default 0.05"),
           positive_parameter("shape", "1.5", "shape of the inverse-gamma prior of the variance"),
           positive_parameter("rate", "",
                              "its rate; default: a cluster has half the column's standard deviation"),
           with_earlier_name(
               positive_parameter(
                   "within_fraction", "",
                   "the fraction g of a column's variance that is within clusters: mean_strength g, shape 2 "
                   "and rate 2 g times that variance, where these are not given"),
               "share")},
      .make = make_columns<gaussian_diagonal_cells>,
      .support = Support::real_line,
      .automatic = {Kind::real},
      .make_with_spike = make_columns_with_spike<gaussian_diagonal_cells>};
}

FamilyEntry gaussian_known_entry() {
  return {.name = "gaussian-known",
          .summary = "real columns, independent within a cluster, with known noise variance",
          .kinds = {Kind::real, Kind::count, Kind::binary},
          .parameters = {positive_parameter("noise_variance", "",
                                            "variance within a cluster; default: a quarter of the column's"),
                         number_parameter("prior_mean",
                                          "prior mean of a cluster's mean; default: the column's mean"),
                         positive_parameter(
                             "prior_variance", "",
                             "prior variance of a cluster's mean; default: the column's variance")},
          .make = make_columns<gaussian_known_cells>,
          .support = Support::real_line};
}

}  // namespace coppice
