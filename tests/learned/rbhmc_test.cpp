// The nested mixture with learned hyper-parameters: against enumeration and quadrature, and as a chain that
// can be saved, loaded, exchanged with its replicas and asked for predictions. Geweke's test of it is among
// those of tests/statistical/rbhmc_joint_test.cpp.
#include <gtest/gtest.h>

#include "coppice/model/rbhmc/draw_payload.hpp"
#include "support/learned_rbhmc.hpp"

namespace coppice::test {
namespace {

TEST(LearnedRbhmc, AgreesWithEnumerationAndQuadrature) {
  const RbhmcCase small = learned_rbhmc_case();
  const RbhmcData data(small);
  ASSERT_EQ(data.family().hyper_size(), 2U);
  const LearnedRbhmcLaw law(data, small.settings);
  const std::vector<std::vector<std::string>> variants{
      {}, {"path-update=\"gibbs\"", "theta=\"drawn\""}, {"moves=\"paths,components,weights\""}};
  for (const std::vector<std::string>& settings : variants)
    for (const std::uint64_t seed : test_seeds()) {
      const Agreement agreement =
          compare_learned_rbhmc(data, small.settings, law, seed, scaled(60'000), settings);
      EXPECT_TRUE(agreement.holds()) << agreement;
      EXPECT_GT(agreement.checks, 20U);
    }
}

RbhmcCase two_groups(const std::string& family, Kind kind, double penalty) {
  RbhmcCase small{"groups", {}, family, {}, {2, 1.0, 1.0, 1.0, penalty, 0.5, 1.0}, kind, true};
  Stream stream({9, 0, 0}, Purpose::test, 5);
  for (int i = 0; i < 40; ++i) {
    const double center = i % 2 == 0 ? -2.0 : 2.0;
    std::vector<double> row;
    for (int j = 0; j < 3; ++j) {
      const double value = center + draw_normal(stream);
      row.push_back(kind == Kind::binary ? (value > 0.0 ? 1.0 : 0.0) : value);
    }
    small.data.push_back(row);
  }
  return small;
}

std::string seen_of(const Inference& chain, const Problem& problem) {
  std::vector<double> traces(trace_names(model_by_name("rbhmc"), problem).size());
  chain.traces(traces);
  Labels labels(problem.rows->size() * 2);
  chain.labels(labels);
  std::string text = chain.payload();
  text.append(reinterpret_cast<const char*>(traces.data()), traces.size() * sizeof(double));
  text.append(reinterpret_cast<const char*>(labels.data()), labels.size() * sizeof(Label));
  return text;
}

struct ChainCase {
  RbhmcCase small;
  std::vector<std::string> settings;
};

class LearnedRbhmcChain : public ::testing::TestWithParam<ChainCase> {};

TEST_P(LearnedRbhmcChain, GoesOnAfterLoadingAsIfNothingHadHappened) {
  const RbhmcData data(GetParam().small);
  ASSERT_NE(data.family().hyper_size(), 0U);
  const ModelEntry& model = model_by_name("rbhmc");
  const Problem problem = rbhmc_problem(data, GetParam().small.settings, GetParam().settings);
  const std::unique_ptr<Inference> whole = model.make_inference(problem);
  whole->init({3, 0, 0});
  for (std::uint64_t sweep = 1; sweep <= 20; ++sweep) whole->step({3, 0, sweep});
  whole->rebuild();
  const std::unique_ptr<Inference> loaded = model.make_inference(problem);
  loaded->load(whole->save());
  EXPECT_EQ(whole->save(), loaded->save());
  for (std::uint64_t sweep = 21; sweep <= 60; ++sweep) {
    whole->step({3, 0, sweep});
    loaded->step({3, 0, sweep});
    const double log_joint = whole->log_joint();
    EXPECT_NEAR(log_joint, whole->log_joint_from_scratch(), 1e-7 * (1.0 + std::abs(log_joint)));
    ASSERT_EQ(seen_of(*whole, problem), seen_of(*loaded, problem)) << sweep;
  }
  EXPECT_THROW(loaded->load(whole->save().substr(0, 100)), Error);
  const std::unique_ptr<Inference> fresh = model.make_inference(problem);
  fresh->init({4, 0, 0});
  whole->init({4, 0, 0});
  // Tables that were refilled differ from fresh ones in their last bits.
  EXPECT_NEAR(whole->log_joint(), fresh->log_joint(), 1e-8);
}

/// With one component a new row's density is a mixture of that and of a new one; here of all components.
TEST_P(LearnedRbhmcChain, PredictsWithTheValuesOfTheDraw) {
  const RbhmcData data(GetParam().small);
  const ModelEntry& model = model_by_name("rbhmc");
  const Problem problem = rbhmc_problem(data, GetParam().small.settings, GetParam().settings);
  const std::unique_ptr<Inference> chain = model.make_inference(problem);
  chain->init({5, 0, 0});
  for (std::uint64_t sweep = 1; sweep <= 20; ++sweep) chain->step({5, 0, sweep});
  std::vector<double> traces(trace_names(model, problem).size());
  chain->traces(traces);
  Labels labels(80);
  chain->labels(labels);
  LevelTree tree(40, 2);
  tree.assign(labels);
  const rbhmc::DrawPayload payload = rbhmc::read_payload(chain->payload(), tree, data.family().hyper_size());
  const std::unique_ptr<Family> family = data.family().clone();
  family->set_hyper(payload.hyper.data());
  const std::unique_ptr<Predictor> predictor = model.make_predictor(problem);
  predictor->set_draw(labels, traces, chain->payload());
  for (std::size_t k = 0; k < payload.components; ++k) {
    std::vector<double> stats(family->stats_size());
    family->clear(stats.data());
    for (std::size_t row = 0; row < 40; ++row)
      if (payload.component_of[row] == static_cast<Label>(k)) family->add(stats.data(), data.rows[row]);
    const CellPredictive expected = family->predict_cell(stats.data(), 1);
    EXPECT_NEAR(predictor->predict_cell(k, 1).mean, expected.mean, 1e-10);
  }
  EXPECT_THROW(predictor->set_draw(labels, traces, chain->payload().substr(0, 60)), Error);
}

INSTANTIATE_TEST_SUITE_P(
    Settings, LearnedRbhmcChain,
    ::testing::Values(ChainCase{two_groups("bernoulli", Kind::binary, 0.1), {}},
                      ChainCase{two_groups("gaussian", Kind::real, 0.0), {}},
                      ChainCase{two_groups("gaussian", Kind::real, 0.1), {"theta=\"drawn\""}},
                      ChainCase{two_groups("gaussian-diagonal", Kind::real, 0.05), {"replicas=2"}}));

}  // namespace
}  // namespace coppice::test
