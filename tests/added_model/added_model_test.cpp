// What follows for a model from its folder and its line in the list: the registry knows it, its chain draws
// from its posterior, its predictions are those of the posterior, and a run of it is written, extended and
// read.
#include <gtest/gtest.h>

#include "support/chains.hpp"
#include "support/small_run.hpp"

namespace coppice::test {
namespace {

TEST(AddedModel, IsInTheList) {
  EXPECT_EQ(model_by_name("example").name, "example");
  EXPECT_EQ(all_models().back().name, "example");
}

TEST(AddedModel, FrequenciesAreThePosterior) {
  const Settings settings = settings_from({"alpha=0.9"});
  for (const LawCase& law_case : narrow_cases())
    for (const std::uint64_t seed : test_seeds()) {
      const Fixture fixture(law_case, seed, 5);
      const ExactPosterior exact(fixture.family(), fixture.rows, {0.9});
      SamplerChain chain(model_by_name("example"), fixture.family(), fixture.rows, settings);
      const Agreement agreement = compare_chain(exact, chain, seed, scaled(20'000));
      EXPECT_TRUE(agreement.holds()) << law_case.name << ", seed " << seed << ": " << agreement;
    }
}

/// p(the last row | the others) is a ratio of evidences.
TEST(AddedModel, PredictsByThePosterior) {
  const ModelEntry& model = model_by_name("example");
  for (const LawCase& law_case : narrow_cases()) {
    const Fixture fixture(law_case, 3, 6);
    Rows rows = fixture.rows;
    const std::vector<double> last(rows[5], rows[5] + rows.width);
    rows.cells.resize(5 * rows.width);
    const double exact = ExactPosterior(fixture.family(), fixture.rows, {0.9}).log_evidence() -
                         ExactPosterior(fixture.family(), rows, {0.9}).log_evidence();
    const Problem problem{&fixture.family(), &rows,
                          ParameterValues(model.parameters, settings_from({"alpha=0.9"}))};
    const std::unique_ptr<Inference> chain = model.make_inference(problem);
    const std::unique_ptr<Predictor> predictor = model.make_predictor(problem);
    Labels labels(5);
    std::vector<double> traces(model.trace_names(problem.parameters).size()), weights, densities;
    chain->init({1, 0, 0});
    for (std::uint64_t sweep = 1; sweep <= 20'000; ++sweep) {
      chain->step({1, 0, sweep});
      chain->labels(labels);
      chain->traces(traces);
      predictor->set_draw(labels, traces, chain->payload());
      weights.resize(predictor->clusters(1) + 1);
      predictor->log_weights(last.data(), 1, weights);
      densities.push_back(std::exp(log_sum_exp(weights) - exact));
    }
    Agreement agreement;
    agreement.check("density of a new row", batch_estimate(densities), 1.0);
    EXPECT_TRUE(agreement.holds()) << law_case.name << ": " << agreement;
  }
}

TEST(AddedModel, RunsAreExtendedBitForBit) {
  const ScratchFolder folder;
  const auto draws_of = [&](const std::string& name, std::size_t first, std::size_t all) {
    const std::string path = folder.file(name);
    RunFile::create(path, small_contents("example", {}, 12, 2, 20, first));
    EXPECT_EQ(resume(path, {}), FitEnd::finished);
    if (all > first) {
      RunFile::open(path, RunFile::Access::write).set_draws(all);
      EXPECT_EQ(resume(path, {}), FitEnd::finished);
    }
    return draws_at(path);
  };
  const std::vector<ChainDraws> whole = draws_of("whole.coppice", 60, 60);
  EXPECT_EQ(whole.at(0).count, 60u);
  EXPECT_EQ(draws_of("extended.coppice", 25, 60), whole);
}

}  // namespace
}  // namespace coppice::test
