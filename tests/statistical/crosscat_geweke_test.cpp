// Geweke's joint-distribution test of the cross mixture: views, clusters and cells drawn afresh, and by a
// chain that alternates a sweep with new cells. Ten averages for each of five settings, some 50 checks at |z|
// < 4: 0.003 false alarms for a new seed, and the seed is fixed.
#include <gtest/gtest.h>

#include "laws/law_case.hpp"
#include "support/chains.hpp"
#include "support/sampling_error.hpp"

namespace coppice::test {
namespace {

constexpr std::size_t kRows = 6;
constexpr std::size_t kDraws = 10'000;

std::vector<double> functionals(const Views& views, const Rows& rows) {
  const auto squash = [](double x) { return x / (1.0 + std::abs(x)); };
  double mean_clusters = 0.0;
  double first = 0.0;
  double products = 0.0;
  const std::size_t columns = views.columns.size();
  for (std::size_t column = 0; column < columns; ++column) {
    mean_clusters += static_cast<double>(
        cluster_sizes(views.rows[static_cast<std::size_t>(views.columns[column])]).size());
    for (std::size_t row = 0; row < rows.size(); ++row) first += squash(rows[row][column]);
    products += squash(rows[0][column]) * squash(rows[1][column]);
  }
  const Labels& of_first = views.rows[static_cast<std::size_t>(views.columns[0])];
  const double together = of_first[0] == of_first[1] ? 1.0 : 0.0;
  const double same_view = views.columns[0] == views.columns[1] ? 1.0 : 0.0;
  const double difference = std::abs(squash(rows[0][0]) - squash(rows[1][0]));
  return {static_cast<double>(views.count()),
          same_view,
          mean_clusters,
          together,
          first,
          products,
          difference,
          difference * together,
          same_view * std::abs(squash(rows[0][0]) - squash(rows[0][1])),
          static_cast<double>(views.count()) * mean_clusters};
}

class CrosscatGeweke : public ::testing::TestWithParam<std::vector<std::string>> {};

TEST_P(CrosscatGeweke, BothWaysOfDrawingAgree) {
  for (const std::uint64_t seed : test_seeds()) {
    Fixture fixture(
        {"cross", "auto", {{Kind::binary}, {Kind::category, 3}, {Kind::real}, {Kind::count}}, {}, 0.0}, 1,
        kRows);
    const ModelEntry& model = model_by_name("crosscat");
    const Problem problem{&fixture.family(), &fixture.rows,
                          ParameterValues(model.parameters, settings_from(GetParam()))};
    const std::unique_ptr<Inference> sampler = model.make_inference(problem);
    const std::size_t draws = scaled(kDraws);
    std::vector<std::vector<double>> fresh(10), chained(10);
    const auto record = [&](std::vector<std::vector<double>>& into) {
      const std::vector<double> values = functionals(model.views(problem, sampler->payload()), fixture.rows);
      for (std::size_t i = 0; i < values.size(); ++i) into[i].push_back(values[i]);
    };
    for (std::size_t draw = 0; draw < draws; ++draw) {
      sampler->draw_prior({seed, 1, draw});
      sampler->draw_data({seed, 1, draw}, fixture.rows);
      record(fresh);
    }
    for (std::size_t draw = 0; draw < draws; ++draw) {
      sampler->step({seed, 2, draw});
      sampler->draw_data({seed, 2, draw}, fixture.rows);
      record(chained);
    }
    for (std::size_t i = 0; i < fresh.size(); ++i) {
      const Estimate a = batch_estimate(fresh[i]);
      const Estimate b = batch_estimate(chained[i]);
      const double z = (a.mean - b.mean) / std::hypot(a.error, b.error);
      EXPECT_LT(std::abs(z), bonferroni_limit(4.0, 50.0))
          << "average " << i << ": " << a.mean << " against " << b.mean;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Settings, CrosscatGeweke,
                         ::testing::Values(std::vector<std::string>{},
                                           std::vector<std::string>{"row-sweeps=0", "split-merge-moves=0"},
                                           std::vector<std::string>{"auxiliary=\"prior\"", "auxiliaries=1"},
                                           std::vector<std::string>{"row-sweeps=0"},
                                           std::vector<std::string>{"learn=\"alpha-rows,alpha-columns\""}));

}  // namespace
}  // namespace coppice::test
