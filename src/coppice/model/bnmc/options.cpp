#include "coppice/model/bnmc/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "coppice/base/error.hpp"
#include "coppice/base/parallel.hpp"

namespace coppice::bnmc {
namespace {

// Above these a full covariance costs more than it says.
constexpr std::size_t kMostFullInputs = 400;
constexpr double kMostFullWork = 2e7;  // rows x inputs^2 x labels

Parameter choice(std::string name, std::vector<std::string> choices, std::string help) {
  Parameter parameter{std::move(name), Parameter::Type::choice, choices.front(), std::move(help)};
  parameter.choices = std::move(choices);
  return parameter;
}

std::string text_of(const Settings& given, const std::string& name) {
  const auto found = given.find(name);
  return found == given.end() ? "" : found->second.text;
}

Likelihood likelihood_named(const std::string& name) {
  return name == "bernoulli"  ? Likelihood::bernoulli
         : name == "gaussian" ? Likelihood::gaussian
                              : Likelihood::multinomial;
}

Likelihood likelihood_for(const LabeledRows& rows, const std::string& wanted) {
  const auto any = [&](Kind kind) { return std::count(rows.kinds.begin(), rows.kinds.end(), kind) > 0; };
  const bool negative =
      std::any_of(rows.features.value.begin(), rows.features.value.end(), [](double x) { return x < 0.0; });
  if (wanted == "auto")
    return any(Kind::real)    ? Likelihood::gaussian
           : any(Kind::count) ? Likelihood::multinomial
                              : Likelihood::bernoulli;
  const Likelihood likelihood = likelihood_named(wanted);
  if (likelihood == Likelihood::bernoulli && (any(Kind::real) || any(Kind::count)))
    fail(ErrorCode::configuration, "--features bernoulli needs columns of 0 and 1; try --features auto");
  if (likelihood == Likelihood::multinomial && negative)
    fail(ErrorCode::configuration,
         "--features multinomial needs numbers that are not negative; try "
         "--features gaussian");
  return likelihood;
}

// Shares of topics vary by about a fifth: this makes them as large as the other inputs.
constexpr double kShareScale = 5.0;

double transformed(double x, bool is_count) { return is_count ? std::log1p(x) : x; }

/// Mean and standard deviation (1 if there is none) of the present cells of each column.
void measure(const SparseRows& rows, const std::vector<char>& is_count, std::vector<double>& mean,
             std::vector<double>& deviation) {
  std::vector<double> missing(rows.columns, 0.0);
  mean.assign(rows.columns, 0.0);
  deviation.assign(rows.columns, 0.0);
  std::vector<double> entries(rows.columns, 0.0);
  const auto visit = [&](auto&& on_cell) {
    for (std::size_t i = 0; i < rows.value.size(); ++i)
      on_cell(rows.column[i], transformed(rows.value[i], is_count[rows.column[i]] != 0));
  };
  visit([&](std::uint32_t d, double x) {
    if (is_missing(x))
      missing[d] += 1.0;
    else
      mean[d] += x, entries[d] += 1.0;
  });
  const auto count = static_cast<double>(rows.rows());
  for (std::size_t d = 0; d < rows.columns; ++d) mean[d] /= std::max(1.0, count - missing[d]);
  visit([&](std::uint32_t d, double x) {
    if (!is_missing(x)) deviation[d] += (x - mean[d]) * (x - mean[d]);
  });
  for (std::size_t d = 0; d < rows.columns; ++d) {
    const double zeros = count - missing[d] - entries[d];
    deviation[d] = std::sqrt((deviation[d] + zeros * mean[d] * mean[d]) / std::max(1.0, count - missing[d]));
    if (!(deviation[d] > 0.0)) deviation[d] = 1.0;
  }
}

}  // namespace

std::vector<Parameter> parameter_table() {
  using Type = Parameter::Type;
  Parameter threshold{
      "threshold", Type::real, "micro",
      "smallest score at which a label is predicted; micro, macro, hamming: the one that is best by that "
      "measure "
      "on held-out rows; at-least-one: micro, or else a row's best label; top-k: a row's best --top labels",
      0.0};
  threshold.choices = {"micro", "macro", "hamming", "at-least-one", "top-k"};
  return {
      {"truncation", Type::integer, "50", "truncation level: the largest number of clusters", 1.0, 10000.0},
      {"alpha", Type::real, "1", "concentration: how readily rows open new clusters", 0.0, 1e300, true},
      choice("features", {"auto", "multinomial", "bernoulli", "gaussian"},
             "likelihood of the features within a cluster; auto: by the kinds of the columns"),
      choice("label-model", {"multinomial", "bernoulli"},
             "labels of a cluster: draws from one distribution (zeros say nothing), or each on its own"),
      {"feature-prior", Type::real, "0.5", "pseudo-count of each feature (multinomial, bernoulli)", 0.0,
       1e300, true},
      {"label-prior", Type::real, "0.5", "pseudo-count of each label", 0.0, 1e300, true},
      {"feature-weight", Type::real, "1", "power of the features' likelihood", 0.0, 1e6, true},
      {"label-weight", Type::real, "1", "power of the labels' likelihood", 0.0, 1e6, true},
      choice("cluster-posterior", {"predictive", "variational"},
             "clusters of rows to predict: from the predictive density, or by a local variational update"),
      choice("expert", {"logistic", "svm", "none"}, "linear classifier for each label"),
      choice("expert-method", {"vb", "gibbs", "svi", "map"}, "how its weights are estimated"),
      choice("covariance", {"auto", "full", "diagonal"},
             "covariance of an expert's weights; auto: full for small problems"),
      choice(
          "combine", {"stack", "product", "mixture", "linear", "logit"},
          "how clusters and linear classifiers are combined into one score; stack: learned on held-out rows"),
      {"topics", Type::integer, "30", "topics of count or binary features; 0: none", 0.0, 1000.0},
      choice("inputs", {"auto", "features", "topics", "both"},
             "inputs of the linear classifiers; auto: topics for counts, both for binary features, features "
             "for numbers"),
      {"minibatch", Type::integer, "0", "rows of a stochastic step; 0: all rows, exact sweeps", 0.0, 1e9},
      {"forgetting", Type::real, "0.7", "power of the step sizes of stochastic steps", 0.5, 1.0, true},
      {"delay", Type::real, "1", "delay of the step sizes of stochastic steps", 0.0, 1e9},
      {"epochs", Type::integer, "20", "passes over the rows by stochastic steps", 1.0, 1e6},
      {"restarts", Type::integer, "3", "number of initializations; the one with the highest bound is kept",
       1.0, 1000.0},
      {"sweeps", Type::integer, "500", "largest number of sweeps per initialization", 1.0, 1e6},
      {"tolerance", Type::real, "1e-6", "relative change of the bound at which sweeps end", 0.0, 1.0, true},
      {"grow", Type::flag, "false", "double the truncation while its last cluster is used"},
      {"calibration", Type::integer, "3",
       "folds of the rows whose held-out predictions calibrate the scores; 0: no calibration", 0.0, 100.0},
      threshold,
      {"top", Type::integer, "0", "labels per row with --threshold top-k; 0: as many as are expected", 0.0,
       1e9},
      {"keep", Type::real, "1",
       "fraction of what was learned that an update keeps for each batch of new rows", 0.0, 1.0, true},
      {"min-positives", Type::integer, "5", "labels with fewer rows get no linear classifier", 1.0, 1e9},
      choice("unobserved", {"zero", "missing"},
             "what an absent label means: that the row does not have it, or that it is unknown"),
      choice("label-scale", {"all", "labeled"},
             "stochastic steps scale labels by all rows, or by the rows that have labels"),
  };
}

void check_given(const Settings& given) {
  const std::string link = text_of(given, "expert");
  const std::string method = text_of(given, "expert-method");
  const std::string combine = text_of(given, "combine");
  if (link == "svm" && (method == "map" || method == "svi"))
    fail(ErrorCode::configuration, "--expert svm works by --expert-method vb or gibbs, not {}", method);
  if (text_of(given, "covariance") == "diagonal" && (method == "gibbs" || method == "svi"))
    fail(ErrorCode::configuration, "--expert-method {} needs --covariance full", method);
  if (combine == "logit" && text_of(given, "label-model") != "bernoulli")
    fail(ErrorCode::configuration, "--combine logit needs probabilities: --label-model bernoulli");
  if (link == "none" && !combine.empty() && combine != "mixture")
    fail(ErrorCode::configuration, "--expert none leaves the mixture alone: --combine mixture");
  const auto folds = given.find("calibration");
  const bool none = folds != given.end() && folds->second.numbers.at(0) == 0.0;
  if (none && combine == "stack")
    fail(ErrorCode::configuration, "--combine stack is learned on held-out rows: --calibration 2 or more");
  if (none && combine.empty() && link != "none")
    fail(ErrorCode::configuration,
         "--calibration 0 leaves no held-out rows to learn --combine stack from; choose product, mixture or "
         "linear");
  if (given.contains("top") && text_of(given, "threshold") != "top-k")
    fail(ErrorCode::configuration, "--top is the number of labels that --threshold top-k predicts");
  if (text_of(given, "unobserved") == "missing" &&
      (combine == "linear" || combine == "logit" || text_of(given, "label-model") == "bernoulli"))
    fail(ErrorCode::configuration,
         "--unobserved missing leaves only present labels, but {} also needs absent ones; only the clusters "
         "can learn from them: {}",
         combine == "linear" || combine == "logit" ? "--combine " + combine : "--label-model bernoulli",
         combine == "linear" || combine == "logit" ? "--combine mixture" : "--label-model multinomial");
  if (folds != given.end() && folds->second.numbers.at(0) == 1.0)
    fail(ErrorCode::configuration, "--calibration 1 leaves no rows to learn from; 0 or at least 2");
}

Options::Options(const ParameterValues& p)
    : clusters(p.integer("truncation")),
      minibatch(p.integer("minibatch")),
      epochs(p.integer("epochs")),
      restarts(p.integer("restarts")),
      sweeps(p.integer("sweeps")),
      folds(p.integer("calibration")),
      least_positives(p.integer("min-positives")),
      topics(p.integer("topics")),
      top(p.integer("top")),
      keep(p.real("keep")),
      alpha(p.real("alpha")),
      forgetting(p.real("forgetting")),
      delay(p.real("delay")),
      tolerance(p.real("tolerance")),
      feature_weight(p.real("feature-weight")),
      label_weight(p.real("label-weight")),
      feature_prior(p.real("feature-prior")),
      label_prior(p.real("label-prior")),
      grow(p.flag("grow")),
      scales_by_labeled(p.choice("label-scale") == "labeled"),
      has_expert(p.choice("expert") != "none"),
      unobserved_is_missing(p.choice("unobserved") == "missing"),
      is_variational(p.choice("cluster-posterior") == "variational"),
      features(p.choice("features")),
      covariance(p.choice("covariance")),
      inputs(p.choice("inputs")),
      label_model(likelihood_named(p.choice("label-model"))) {
  expert.link = p.choice("expert") == "svm" ? Link::svm : Link::logistic;
  const std::string& method = p.choice("expert-method");
  expert.method = method == "gibbs" ? Method::gibbs
                  : method == "svi" ? Method::svi
                  : method == "map" ? Method::map
                                    : Method::vb;
  // A thousandth of a weight moves no probability by more than the data leave open anyway.
  expert.tolerance = 1e-3;
  expert.least_gain = 1e-4;
  expert.delay = delay;
  expert.forgetting = forgetting;
  expert.epochs = epochs;
  const std::string& how = p.choice("combine");
  combine = !has_expert || how == "mixture" ? Combine::mixture
            : how == "linear"               ? Combine::linear
            : how == "logit"                ? Combine::logit
            : how == "product"              ? Combine::product
                                            : Combine::stack;
  aim = Aim::fixed;
  threshold = 0.35;  // of uncalibrated counts
  choice = Choice::threshold;
  if (!p.is_word("threshold")) {
    threshold = p.real("threshold");
    return;
  }
  const std::string& word = p.choice("threshold");
  choice = word == "top-k" ? Choice::top : word == "at-least-one" ? Choice::at_least_one : Choice::threshold;
  if (choice == Choice::top)
    threshold = kMissing;
  else if (folds != 0)
    aim = word == "macro" ? Aim::macro : word == "hamming" ? Aim::hamming : Aim::micro;
}

const LabeledRows& labeled_of(const Problem& problem) {
  if (problem.labeled == nullptr)
    fail(ErrorCode::configuration, "bnmc learns labels, but there are none here");
  return *problem.labeled;
}

LabeledRows rows_as_known(const LabeledRows& rows, const Options& options) {
  if (!options.unobserved_is_missing) return rows;
  const SparseRows& labels = rows.labels;
  SparseRows known;
  known.columns = labels.columns;
  for (std::size_t row = 0; row < labels.rows(); ++row) {
    const auto which = labels.columns_of(row);
    const auto values = labels.values_of(row);
    for (std::size_t c = 0, at = 0; c < labels.columns; ++c) {
      const bool is_there = at < which.size() && which[at] == c;
      known.column.push_back(static_cast<std::uint32_t>(c));
      known.value.push_back(is_there ? values[at++] : kMissing);
    }
    known.start.push_back(known.column.size());
  }
  return {rows.features, rows.kinds, std::move(known)};
}

std::vector<std::string> warnings_of(const SparseRows& labels, const Options& options) {
  std::vector<std::size_t> missing(labels.columns, 0);
  bool any_one = false;
  for (std::size_t i = 0; i < labels.value.size(); ++i) {
    const bool is_known = !is_missing(labels.value[i]);
    any_one = any_one || is_known;
    missing[labels.column[i]] += is_known ? 0 : 1;
  }
  const bool any_zero =
      !options.unobserved_is_missing && labels.value.size() < labels.rows() * labels.columns;
  if (!any_one && !any_zero)
    return {fmt::format(
        "warning: no label of any row is known: there is nothing to learn, and each of the {} labels has the "
        "probability {}",
        labels.columns,
        options.label_model == Likelihood::multinomial ? fmt::format("1/{}", labels.columns) : "1/2")};
  if (!any_one)
    return {
        "warning: no row is known to have any label: there is nothing to distinguish, and all have the same "
        "small probability"};
  const auto unknown = std::count(missing.begin(), missing.end(), labels.rows());
  if (any_zero && unknown > 0)
    return {fmt::format(
        "warning: {} of the {} labels (the first is number {}) {} not known in any row: nothing is learned "
        "about {}, and {} probability means nothing",
        unknown, labels.columns,
        std::find(missing.begin(), missing.end(), labels.rows()) - missing.begin() + 1,
        unknown == 1 ? "is" : "are", unknown == 1 ? "it" : "them", unknown == 1 ? "its" : "their")};
  if (any_zero) return {};
  return {
      "warning: no label is known to be absent anywhere: linear classifiers have nothing to separate, scores "
      "come from the clusters alone, they are not calibrated, and the number of labels of a row is a guess "
      "from those that are present"};
}

Mixture make_mixture(const LabeledRows& rows, const Options& options, std::size_t clusters,
                     const Units& units) {
  BlockPrior features{likelihood_for(rows, options.features), rows.features.columns, options.feature_prior,
                      options.feature_prior};
  features.weight = options.feature_weight;
  features.origin = units.origin;
  features.scale = units.scale;
  if (features.likelihood == Likelihood::gaussian && units.origin.empty())
    measure(rows.features, std::vector<char>(rows.features.columns, 0), features.origin, features.scale);
  BlockPrior labels{options.label_model, rows.labels.columns, options.label_prior, options.label_prior};
  labels.weight = options.label_weight;
  return {clusters, options.alpha, features, labels};
}

bool has_topics(const LabeledRows& rows, const Options& options) {
  const auto is_blended = [](Kind kind) { return kind == Kind::count || kind == Kind::binary; };
  const bool can = std::all_of(rows.kinds.begin(), rows.kinds.end(), is_blended);
  if (!can && (options.inputs == "topics" || options.inputs == "both"))
    fail(ErrorCode::configuration, "--inputs {} needs count or binary columns", options.inputs);
  return can && options.has_expert && options.topics > 0 && options.inputs != "features";
}

bool has_features(const LabeledRows& rows, const Options& options) {
  if (options.inputs != "auto") return options.inputs != "topics";
  // How often a word occurs is noise around its topics; that a bit is there may be all that there is to know.
  const bool counts = std::count(rows.kinds.begin(), rows.kinds.end(), Kind::count) > 0;
  return !counts || !has_topics(rows, options);
}

Inputs::Inputs(const LabeledRows& rows, const Options& options)
    : has_features_(has_features(rows, options)), topics_(has_topics(rows, options) ? options.topics : 0) {
  const std::size_t inputs = 1 + (has_features_ ? rows.features.columns : 0) + topics_;
  const double work = static_cast<double>(rows.features.rows()) * static_cast<double>(inputs * inputs) *
                      static_cast<double>(rows.labels.columns);
  const bool needs_full = options.expert.method == Method::gibbs || options.expert.method == Method::svi;
  full_ = options.covariance == "full" || needs_full ||
          (options.covariance == "auto" && inputs <= kMostFullInputs && work <= kMostFullWork);
  if (needs_full && inputs > 10 * kMostFullInputs)
    fail(ErrorCode::configuration,
         "--expert-method gibbs and svi keep a covariance of {} x {} numbers for each label; use vb or map",
         inputs, inputs);
  for (const Kind kind : rows.kinds) is_count_.push_back(kind == Kind::count ? 1 : 0);
  measure(rows.features, is_count_, mean_, scale_);
  for (std::size_t d = 0; d < rows.kinds.size(); ++d)
    if (rows.kinds[d] == Kind::binary) scale_[d] = 1.0;
  // Centered columns have no zeros left: sparse ones stay as they are.
  std::vector<std::size_t> nonzeros(mean_.size(), 0);
  for (const std::uint32_t column : rows.features.column) ++nonzeros[column];
  shift_.assign(mean_.size(), 0.0);
  for (std::size_t d = 0; d < shift_.size(); ++d) {
    const bool is_dense = rows.kinds[d] == Kind::real && 2 * nonzeros[d] >= rows.features.rows();
    if (rows.kinds[d] == Kind::binary || !(full_ || is_dense)) continue;
    shift_[d] = mean_[d];
    centered_.push_back(static_cast<std::uint32_t>(d));
  }
}

SparseRows Inputs::transform(const SparseRows& features, const Topics* topics, std::size_t threads) const {
  SparseRows result;
  result.columns = size();
  std::vector<double> shares(features.rows() * topics_);
  parallel_for(topics_ == 0 ? 0 : features.rows(), threads, [&](std::size_t row) {
    std::vector<std::uint32_t> columns;
    std::vector<double> values;
    present_cells(features, row, columns, values);
    topics->shares(columns, values, {shares.data() + row * topics_, topics_});
  });
  for (std::size_t row = 0; row < features.rows(); ++row) {
    const auto which = features.columns_of(row);
    const auto values = features.values_of(row);
    const auto put = [&](std::size_t input, double value) {
      if (value == 0.0) return;
      result.column.push_back(static_cast<std::uint32_t>(input));
      result.value.push_back(value);
    };
    const auto scaled = [&](std::size_t d, double x) {
      const double value = is_missing(x) ? mean_[d] : transformed(x, is_count_[d] != 0);
      return (value - shift_[d]) / scale_[d];
    };
    put(0, 1.0);
    const auto at_or_end = [&](std::span<const std::uint32_t> columns, std::size_t i) {
      return i < columns.size() ? columns[i] : static_cast<std::uint32_t>(features.columns);
    };
    for (std::size_t i = 0, j = 0; has_features_ && (i < which.size() || j < centered_.size());) {
      const std::uint32_t d = std::min(at_or_end(which, i), at_or_end(centered_, j));
      const bool is_there = at_or_end(which, i) == d;
      put(d + 1, scaled(d, is_there ? values[i] : 0.0));
      j += at_or_end(centered_, j) == d ? 1 : 0;
      i += is_there ? 1 : 0;
    }
    for (std::size_t k = 0; k < topics_; ++k)
      put(size() - topics_ + k, kShareScale * shares[row * topics_ + k]);
    result.start.push_back(result.column.size());
  }
  return result;
}

Eigen::VectorXd Inputs::prior_variance() const {
  Eigen::VectorXd variance = Eigen::VectorXd::Ones(static_cast<Eigen::Index>(size()));
  variance[0] = 25.0;
  return variance;
}

}  // namespace coppice::bnmc
