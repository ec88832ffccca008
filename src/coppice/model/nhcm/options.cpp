#include "coppice/model/nhcm/options.hpp"

#include "coppice/base/error.hpp"
#include "coppice/model/expected_clusters.hpp"
#include "coppice/model/parameter_rows.hpp"

namespace coppice::nhcm {
namespace {

const std::vector<std::string> kLearned{"alpha-clusters", "alpha-subclusters", "spread"};

}  // namespace

Options::Options(const ParameterValues& parameters)
    : nesting(parameters.choice("nesting") == "global" ? TwoLevelCrp::Nesting::global
                                                       : TwoLevelCrp::Nesting::nested),
      alpha_clusters(concentration_of(parameters, "alpha-clusters")),
      alpha_subclusters(concentration_of(parameters, "alpha-subclusters")),
      spread(parameters.real("spread")),
      learn_spread(learns(parameters, "spread")),
      spread_prior(gamma_prior_of(parameters, "spread-prior")),
      published(parameters.choice("sampler") == "published"),
      interleaved(parameters.flag("interleave")),
      subcluster_moves(parameters.integer("subcluster-moves")),
      cluster_moves(parameters.integer("cluster-moves")),
      single_start(parameters.choice("init") == "single") {}

std::vector<Parameter> parameter_table() {
  using Type = Parameter::Type;
  return {
      choice_row("nesting", "global",
                 "prior: sub-clusters of all rows grouped into clusters (global), or clusters divided into "
                 "sub-clusters (nested)",
                 {"global", "nested"}),
      positive_row("alpha-clusters", "1", "how readily a cluster opens"),
      positive_row("alpha-subclusters", "1", "how readily a sub-cluster opens"),
      {"spread", Type::real, "3",
       "variance of the sub-clusters' means around their cluster's, in units of the cluster's covariance",
       0.0, kLargestSpread},
      {"learn", Type::words, "", "what is learned, starting from the values above", 0, 0, false, kLearned},
      prior_row("alpha-clusters-prior", "1,1",
                "shape and rate of the Gamma prior of alpha-clusters, if learned"),
      expected_clusters_row(
          "mean and standard deviation of the number of clusters, from which alpha-clusters-prior "
          "follows; needs --nesting nested [shape 1 without the second]"),
      prior_row("alpha-subclusters-prior", "1,1",
                "shape and rate of the Gamma prior of alpha-subclusters, if learned"),
      prior_row("spread-prior", "1.5,0.5", "shape and rate of the Gamma prior of the spread, if learned"),
      choice_row("sampler", "exact", "exact, or published: not exact, for comparison",
                 {"exact", "published"}),
      {"interleave", Type::flag, "false", "update a row's sub-cluster after every row"},
      {"subcluster-moves", Type::integer, "5", "split-merge proposals for sub-clusters in a sweep", 0.0, 1e6},
      {"cluster-moves", Type::integer, "5", "split-merge proposals for clusters in a sweep", 0.0, 1e6},
      choice_row("init", "sequential",
                 "initial state: rows one by one (sequential), or all in one sub-cluster (single)",
                 {"sequential", "single"}),
  };
}

void check_given(const Settings& given) {
  const ParameterValues values(parameter_table(), given);
  check_expected_clusters(given, "alpha-clusters");
  for (const std::string& name : kLearned)
    if (given.contains(name + "-prior") && !learns(values, name))
      fail(ErrorCode::configuration, "--{}-prior needs --learn {}", name, name);
  if (given.contains(kExpectClusters) && values.choice("nesting") != "nested")
    fail(
        ErrorCode::configuration,
        "--expect-clusters needs --nesting nested: with --nesting global the number of clusters also depends "
        "on the number of sub-clusters");
  if (learns(values, "spread") && values.real("spread") < kLeastSpread)
    fail(ErrorCode::configuration, "--learn spread needs a --spread of at least {} to start from",
         kLeastSpread);
  if (const auto sampler = given.find("sampler");
      sampler != given.end() && sampler->second.text == "published")
    for (const char* name : {"nesting", "interleave", "subcluster-moves", "cluster-moves"})
      if (given.contains(name))
        fail(ErrorCode::configuration, "--sampler published is one fixed procedure: leave out --{}", name);
}

std::string refuses_weights(const ParameterValues& parameters) {
  if (Options(parameters).published)
    return "takes no row weights with --sampler published, which has no posterior: choose the exact one";
  return {};
}

std::string inexactness_note(const ParameterValues& parameters) {
  if (!Options(parameters).published) return {};
  return "Not exact: --sampler published does not leave the posterior invariant; its numbers of clusters are "
         "not those of the model. Use --sampler exact.";
}

}  // namespace coppice::nhcm
