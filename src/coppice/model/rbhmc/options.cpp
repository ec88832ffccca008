#include "coppice/model/rbhmc/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "coppice/base/error.hpp"
#include "coppice/model/parameter_rows.hpp"
#include "coppice/model/tempering.hpp"

namespace coppice::rbhmc {
namespace {

template <typename Enum>
Enum place_in(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<Enum>(std::find(names.begin(), names.end(), name) - names.begin());
}

// In the order of the enumerations.
const std::vector<std::string> kRegularizers{"hinge", "centered", "own", "paper", "infomax", "evidence"};
const std::vector<std::string> kPathUpdates{"metropolis", "gibbs", "prior"};
const std::vector<std::string> kDiscriminantUpdates{"slice", "gauss"};
const std::vector<std::string> kStarts{"sequential", "single-path", "each-alone", "prior", "dispersed"};
const std::vector<std::string> kMoves{"paths",     "components",    "weights",
                                      "structure", "discriminants", "shift"};

const std::vector<std::string> kConcentrations{"alpha", "gamma", "gamma0"};
const std::vector<std::string> kLearned{"alpha", "gamma", "gamma0", "discriminant-sd"};

/// --learn-concentrations was all or nothing.
std::optional<Setting> all_learned(const Setting& value) {
  if (value.shape != Setting::Shape::number)
    fail(ErrorCode::usage, "--learn-concentrations takes true or false, not {}", to_toml(value));
  if (value.numbers[0] == 0.0) return std::nullopt;
  return Setting{Setting::Shape::text, {}, 0, fmt::format("{}", fmt::join(kConcentrations, ","))};
}

/// --replicas was a number r of copies of the chain, with the powers (i / r)^2.
std::optional<Setting> temperatures_of_replicas(const Setting& value) {
  constexpr double kMost = 64.0;
  const double count = value.shape == Setting::Shape::number ? value.numbers[0] : -1.0;
  if (!(count >= 0.0 && count <= kMost && count == std::floor(count)))
    fail(ErrorCode::usage, "--replicas takes a whole number >= 0 and <= {}, not {}", kMost, to_toml(value));
  if (count == 0.0) return std::nullopt;
  std::vector<double> powers;
  for (double i = count; i >= 0.0; i -= 1.0) powers.push_back(i / count * (i / count));
  return Setting::vector(std::move(powers));
}

std::size_t number_or_by_rows(const ParameterValues& parameters, const char* name) {
  return parameters.has(name) ? parameters.integer(name) : Options::kByRows;
}

/// One power for each level. Those left out are as the last one; without any, rewards are equal for gates,
/// and for evidence, where equal ones would make the inner nodes cancel, each is half of the one above.
std::vector<double> powers_of_levels(const ParameterValues& parameters, std::size_t levels,
                                     bool by_evidence) {
  std::vector<double> powers =
      parameters.has("level-powers") ? parameters.numbers("level-powers") : std::vector<double>{1.0};
  const double factor = by_evidence && !parameters.has("level-powers") ? 0.5 : 1.0;
  while (powers.size() < levels) powers.push_back(factor * powers.back());
  return powers;
}

}  // namespace

Options::Options(const ParameterValues& parameters)
    : levels(parameters.integer("levels")),
      alpha(concentration_of(parameters, "alpha")),
      gamma(concentration_of(parameters, "gamma")),
      gamma0(concentration_of(parameters, "gamma0")),
      regularizer(place_in<Regularizer>(kRegularizers, parameters.choice("regularizer"))),
      penalty(parameters.is_word("penalty") ? 0.0 : parameters.real("penalty")),
      margin(parameters.real("margin")),
      discriminant_sd(parameters.real("discriminant-sd")),
      learns_discriminant_sd(coppice::learns(parameters, "discriminant-sd")),
      discriminant_precision(gamma_prior_of(parameters, "discriminant-sd-prior")),
      intercept(parameters.flag("intercept")),
      level_powers(powers_of_levels(parameters, levels, by_evidence())),
      path_update(place_in<PathUpdate>(kPathUpdates, parameters.choice("path-update"))),
      auxiliary_branches(parameters.integer("auxiliary-branches")),
      informed(parameters.flag("informed") && counts_others() && !by_evidence()),
      // Gates have only one update; check_given refuses the other.
      discriminant_update(
          rewards_splits()
              ? DiscriminantUpdate::slice
              : place_in<DiscriminantUpdate>(kDiscriminantUpdates, parameters.choice("discriminant-update"))),
      drawn_leaf_weights(parameters.choice("leaf-weights") == "drawn" || regularizer == Regularizer::paper),
      drawn_theta(parameters.choice("theta") == "drawn" || regularizer == Regularizer::paper),
      component_moves(parameters.integer("component-moves")),
      block_moves(counts_others() ? number_or_by_rows(parameters, "block-moves") : 0),
      split_merge_moves(counts_others() ? number_or_by_rows(parameters, "split-merge-moves") : 0),
      regraft_moves(counts_others() ? number_or_by_rows(parameters, "regraft-moves") : 0),
      start(place_in<Start>(kStarts, parameters.choice("init"))),
      temperatures(penalty > 0.0 && counts_others() ? parameters.numbers("temperatures")
                                                    : std::vector<double>{1.0}) {
  check_temperatures(parameters.numbers("temperatures"));
  for (const std::string& word : parameters.words("moves")) moves.push_back(place_in<Move>(kMoves, word));
}

std::vector<Parameter> parameter_table() {
  using Type = Parameter::Type;
  Parameter tempering = temperatures_row(
      "powers (inverse temperatures) of coupled replicas, the first 1: each applies that fraction of the "
      "penalty; 1,0.25,0 helps where chains are stuck and triples the work",
      true);
  tempering.aliases = {{"replicas", temperatures_of_replicas}};
  return {
      {"levels", Type::integer, "3", "depth of the tree below its root", 1.0, 32.0},
      positive_row("alpha", "0.4", "how readily a node branches (nested Chinese restaurant process)"),
      positive_row("gamma", "1", "how close a node's component weights stay to its parent's"),
      positive_row("gamma0", "0.85", "how many components there are (weights of the root)"),
      {.name = "learn",
       .type = Type::words,
       .fallback = "",
       .help = "what is learned, starting from the values above",
       .choices = kLearned,
       .aliases = {{"learn-concentrations", all_learned, true}}},
      prior_row("alpha-prior", "1,1", "shape and rate of the prior of alpha, if learned"),
      prior_row("gamma-prior", "1,1", "shape and rate of the prior of gamma, if learned"),
      prior_row("gamma0-prior", "1,1", "shape and rate of the prior of gamma0, if learned"),
      prior_row("discriminant-sd-prior", "1,1",
                "shape and rate of the prior of 1 / discriminant-sd^2, if learned"),
      {"penalty",
       Type::real,
       "auto",
       "strength C of the regularizer; 0: the plain nested mixture (BHMC); auto: chosen by held-out rows",
       0.0,
       kNoLimit,
       false,
       {"auto"}},
      {"level-powers", Type::numbers, "",
       "factors of the penalty at level 1, 2, ..., with infomax and evidence; the last one is that of all "
       "deeper levels [infomax: 1, evidence: 1, 1/2, 1/4, ...]",
       0.0, kNoLimit},
      {"margin", Type::real, "1",
       "margin eps0 by which a node's score must beat its siblings'; from the data with --penalty auto", 0.0,
       kNoLimit},
      positive_row("discriminant-sd", "1", "prior standard deviation of the discriminants"),
      {"intercept", Type::flag, "false", "discriminants with an intercept"},
      choice_row(
          "regularizer", "hinge",
          "hinge and centered are sampled exactly (--penalty auto may take either); so are infomax, which "
          "rewards siblings that a linear gate separates, and evidence, which rewards siblings whose rows "
          "a Gaussian for each describes better than one for all; own and paper are the published "
          "procedures, not exact",
          kRegularizers, {{"centred", "centered"}}),  // words: ok
      {"moves", Type::words, "paths,structure,discriminants,shift", "the moves of a sweep, in this order", 0,
       0, false, kMoves},
      choice_row("path-update", "metropolis",
                 "a row's path: metropolis from the plain conditional; gibbs over all leaves and auxiliary "
                 "branches; prior",
                 kPathUpdates),
      {"auxiliary-branches", Type::integer, "2", "auxiliary branches of a node, with --path-update gibbs",
       1.0, 100.0},
      {"informed", Type::flag, "true",
       "propose discriminants of new nodes from the data instead of the prior"},
      choice_row("discriminant-update", "slice", "elliptical slice sampling, or gauss: augmented Metropolis",
                 kDiscriminantUpdates),
      choice_row("leaf-weights", "collapsed", "component weights of leaves: integrated out or drawn",
                 {"collapsed", "drawn"}),
      choice_row("theta", "collapsed", "component parameters: integrated out or drawn",
                 {"collapsed", "drawn"}),
      {"component-moves", Type::integer, "5", "split-merge proposals for components in a structure move", 0.0,
       1e6},
      {"block-moves", Type::integer, "",
       "proposals to move the rows of one component in a leaf together [a tenth of the rows, 1 to 1000]", 0.0,
       1e6},
      {"split-merge-moves", Type::integer, "",
       "split-merge proposals at each level [a tenth of the rows, 1 to 10]", 0.0, 1e6},
      {"regraft-moves", Type::integer, "", "regraft proposals at each level [a fifth of its nodes, 1 to 10]",
       0.0, 1e6},
      choice_row("init", "sequential", "initial tree; dispersed: a different kind for each chain", kStarts),
      tempering,
  };
}

void check_given(const Settings& given) {
  const auto text = [&](const char* name) {
    const auto found = given.find(name);
    return found == given.end() ? std::string() : found->second.text;
  };
  const std::string regularizer = text("regularizer");
  if (regularizer == "own" || regularizer == "paper")
    for (const char* name : {"block-moves", "split-merge-moves", "regraft-moves", "temperatures", "informed"})
      if (given.contains(name))
        fail(ErrorCode::configuration, "--{} needs an exact target: it does not apply to --regularizer {}",
             name, regularizer);
  if ((regularizer == "own" || regularizer == "paper") &&
      (!given.contains("penalty") || given.at("penalty").shape == Setting::Shape::text))
    fail(ErrorCode::configuration,
         "--penalty auto chooses among exact regularizers: give --regularizer {} a --penalty", regularizer);
  if (regularizer == "paper")
    for (const char* name : {"moves", "path-update", "discriminant-update", "leaf-weights", "theta"})
      if (given.contains(name))
        fail(ErrorCode::configuration, "--regularizer paper is one fixed procedure: leave out --{}", name);
  if (regularizer == "evidence")
    for (const char* name : {"margin", "intercept", "discriminant-sd", "discriminant-sd-prior",
                             "discriminant-update", "informed"})
      if (given.contains(name))
        fail(ErrorCode::configuration,
             "--{} does not apply to --regularizer evidence, which has no discriminants", name);
  if (given.contains("level-powers") && regularizer != "infomax" && regularizer != "evidence")
    fail(ErrorCode::configuration, "--level-powers needs --regularizer infomax or evidence");
  if (regularizer == "infomax") {
    if (text("discriminant-update") == "gauss")
      fail(ErrorCode::configuration, "--discriminant-update gauss is for hinges: leave it out with infomax");
    for (const char* name : {"margin", "intercept"})
      if (given.contains(name))
        fail(ErrorCode::configuration,
             "--{} does not apply to --regularizer infomax, which has no margin and always an intercept",
             name);
  }
  if (given.contains("auxiliary-branches") && text("path-update") != "gibbs")
    fail(ErrorCode::configuration, "--auxiliary-branches needs --path-update gibbs");
  const ParameterValues values(parameter_table(), given);
  if ((regularizer == "own" || regularizer == "paper") && learns(values, "discriminant-sd"))
    fail(ErrorCode::configuration,
         "--learn discriminant-sd needs an exact target: it does not apply to --regularizer {}", regularizer);
  if (regularizer == "evidence" && learns(values, "discriminant-sd"))
    fail(ErrorCode::configuration,
         "--learn discriminant-sd does not apply to --regularizer evidence, which has no discriminants");
  if (values.has("level-powers") && values.numbers("level-powers").size() > values.integer("levels"))
    fail(ErrorCode::configuration, "--level-powers has {} numbers for {} levels",
         values.numbers("level-powers").size(), values.integer("levels"));
  for (const std::string& name : kLearned)
    if (given.contains(name + "-prior") && !learns(values, name))
      fail(ErrorCode::configuration, "--{}-prior needs --learn {}", name, name);
}

std::string inexactness_note(const ParameterValues& parameters) {
  const Options options(parameters);
  // Without a penalty `own` is the plain mixture; the published procedure is biased even then.
  if (options.counts_others() || (options.penalty == 0.0 && options.regularizer == Regularizer::own))
    return {};
  return fmt::format(
      "Not exact: {} regularization (--regularizer {}) follows a published procedure that does not sample "
      "from a posterior; --regularizer centered and hinge are exact.",
      options.regularizer == Regularizer::own ? "own-hinge (paper)" : "the paper's",
      parameters.choice("regularizer"));
}

}  // namespace coppice::rbhmc
