// Geweke's joint-distribution test for clusters of sub-clusters, with both concentrations and the spread
// learned: shape, parameters and data drawn afresh, and by a chain that alternates a sweep with new data.
#include <gtest/gtest.h>

#include "support/nhcm_problem.hpp"
#include "support/trace_values.hpp"

namespace coppice::test {
namespace {

constexpr std::size_t kNhcmRows = 6;
constexpr std::size_t kNhcmDraws = 40'000;

const std::vector<std::string> kFunctionals{"clusters",
                                            "sub-clusters",
                                            "largest sub-cluster",
                                            "largest cluster",
                                            "rows 0, 1 in a sub-cluster",
                                            "rows 0, 1 in a cluster",
                                            "log alpha of clusters",
                                            "log alpha of sub-clusters",
                                            "log spread",
                                            "first moment",
                                            "second moment",
                                            "product of rows 0, 1",
                                            "difference of rows 0, 1",
                                            "difference, in a cluster",
                                            "second moment x sub-clusters",
                                            "log spread x sub-clusters",
                                            "log spread x difference"};

struct NhcmGewekeChain {
  NhcmGewekeChain(const NhcmProblem& from, Rows& data, const std::vector<std::string>& settings)
      : model(model_by_name("nhcm")),
        problem{&from.family, &data, ParameterValues(model.parameters, settings_from(settings))},
        sampler(model.make_inference(problem)) {}

  std::vector<double> observe(const Rows& rows) const {
    Labels both(2 * kNhcmRows);
    sampler->labels(both);
    const Labels clusters(both.begin(), both.begin() + kNhcmRows);
    const Labels subs(both.begin() + kNhcmRows, both.end());
    const auto largest = [](const Labels& labels) {
      const std::vector<std::size_t> sizes = cluster_sizes(labels);
      return static_cast<double>(*std::max_element(sizes.begin(), sizes.end()));
    };
    TraceValues traces(model, problem.parameters);
    traces.read(*sampler);
    const double log_spread = std::log(traces["spread"]);
    // Bounded, so that averages exist whatever the tails.
    const auto bounded = [](double x) { return x / (1.0 + std::abs(x)); };
    double first = 0.0;
    double second = 0.0;
    for (const double cell : rows.cells) {
      first += bounded(cell) / static_cast<double>(rows.cells.size());
      second += bounded(cell) * bounded(cell) / static_cast<double>(rows.cells.size());
    }
    const double x = bounded(rows[0][0]);
    const double y = bounded(rows[1][0]);
    const double together = clusters[0] == clusters[1] ? 1.0 : 0.0;
    const double subclusters = traces["clusters_2"];
    return {traces["clusters_1"],
            subclusters,
            largest(subs),
            largest(clusters),
            subs[0] == subs[1] ? 1.0 : 0.0,
            together,
            std::log(traces["alpha_clusters"]),
            std::log(traces["alpha_subclusters"]),
            log_spread,
            first,
            second,
            x * y,
            std::abs(x - y),
            together * std::abs(x - y),
            second * subclusters,
            log_spread * subclusters,
            log_spread * std::abs(x - y)};
  }

  const ModelEntry& model;
  Problem problem;
  std::unique_ptr<Inference> sampler;
};

class NhcmGeweke : public ::testing::TestWithParam<bool> {};

TEST_P(NhcmGeweke, BothWaysHaveTheSameLaw) {
  const NhcmProblem problem(small_nhcm_model(kNhcmRows, 2, GetParam()));
  const std::vector<std::string> settings{std::string("nesting=\"") + (GetParam() ? "nested\"" : "global\""),
                                          "learn=\"alpha-clusters,alpha-subclusters,spread\"",
                                          "alpha-clusters-prior=[3, 2]",
                                          "alpha-subclusters-prior=[3, 2]",
                                          "spread-prior=[3, 1]",
                                          "subcluster-moves=1",
                                          "cluster-moves=1"};
  for (const std::uint64_t seed : test_seeds()) {
    Rows data = problem.rows;
    const std::size_t draws = scaled(kNhcmDraws);
    std::vector<std::vector<double>> fresh(kFunctionals.size()), successive(kFunctionals.size());
    const auto record = [&](std::vector<std::vector<double>>& columns, const NhcmGewekeChain& chain) {
      const std::vector<double> values = chain.observe(data);
      for (std::size_t i = 0; i < values.size(); ++i) columns[i].push_back(values[i]);
    };
    NhcmGewekeChain prior(problem, data, settings);
    for (std::size_t i = 0; i < draws; ++i) {
      prior.sampler->draw_prior({seed, 1, i});
      prior.sampler->draw_data({seed, 1, i}, data);
      record(fresh, prior);
    }
    NhcmGewekeChain chain(problem, data, settings);
    chain.sampler->draw_prior({seed, 2, 0});
    chain.sampler->draw_data({seed, 2, 0}, data);
    for (std::size_t i = 1; i <= draws; ++i) {
      chain.sampler->step({seed, 2, i});
      chain.sampler->draw_data({seed, 2, i}, data);
      record(successive, chain);
    }
    Agreement agreement;
    for (std::size_t i = 0; i < kFunctionals.size(); ++i) {
      const Estimate a = batch_estimate(fresh[i]);
      const Estimate b = batch_estimate(successive[i]);
      agreement.check(kFunctionals[i], {b.mean, std::hypot(a.error, b.error)}, a.mean);
    }
    EXPECT_LT(agreement.worst, bonferroni_limit(4.0, 34.0)) << "seed " << seed << ": " << agreement;
  }
}

INSTANTIATE_TEST_SUITE_P(Nestings, NhcmGeweke, ::testing::Bool(),
                         [](const ::testing::TestParamInfo<bool>& info) {
                           return info.param ? "nested" : "global";
                         });

}  // namespace
}  // namespace coppice::test
