// The nested mixture with learned hyper-parameters: against enumeration and quadrature, and as a chain that
// can be saved, loaded, exchanged with its replicas and asked for predictions. Geweke's test of it is among
// those of tests/statistical/rbhmc_joint_test.cpp.
#include <gtest/gtest.h>

#include <map>

#include "coppice/cluster/filled_rows.hpp"
#include "coppice/model/learned_draw.hpp"
#include "coppice/model/rbhmc/draw_payload.hpp"
#include "coppice/model/rbhmc/replica.hpp"
#include "learned/geweke_chain.hpp"
#include "learned/seen.hpp"
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

/// The filled cells come last in a payload.
std::vector<double> cells_of(const Inference& chain, std::size_t count) {
  const std::string payload = chain.payload();
  ByteReader reader(std::string_view(payload).substr(payload.size() - count * sizeof(float)));
  std::vector<double> cells;
  for (std::size_t i = 0; i < count; ++i) cells.push_back(static_cast<double>(reader.get<float>()));
  return cells;
}

struct HolesCase {
  double penalty;
  std::vector<std::string> settings;
};

class RbhmcWithHoles : public ::testing::TestWithParam<HolesCase> {};

TEST_P(RbhmcWithHoles, AgreesWithEnumerationAndSumsOverMissingCells) {
  // The prior is given: what is missing is all there is to integrate.
  const RbhmcCase small{"holes",
                        {{-1.0, -0.8}, {-0.7, kMissing}, {1.0, 0.9}, {kMissing, 0.6}},
                        "gaussian",
                        {"prior_mean=0", "mean_strength=0.4", "dof=4", "scale=[[0.8, 0.3], [0.3, 0.6]]"},
                        {2, 0.8, 1.2, 1.0, GetParam().penalty, 0.5, 1.0}};
  const RbhmcData data(small);
  std::map<std::vector<std::size_t>, double> hole_means;  // of row 1, by the rows of its component
  const RbhmcPosterior exact(
      data.family(), data.rows, small.settings, 3e5, 1, [&](std::span<const std::size_t> members) {
        const std::vector<std::size_t> rows(members.begin(), members.end());
        return log_marginal_with_holes(data.family(), data.rows, rows, &hole_means[rows], 1);
      });
  double mean_of_hole = 0.0;
  for (std::size_t partition = 0; partition < exact.partitions(); ++partition) {
    const Labels& labels = exact.partition(partition);
    std::vector<std::size_t> members;
    for (std::size_t row = 0; row < labels.size(); ++row)
      if (labels[row] == labels[1]) members.push_back(row);
    for (std::size_t tree = 0; tree < exact.size(); ++tree)
      mean_of_hole +=
          exact.probability(tree) * exact.partition_given_tree(tree, partition) * hole_means.at(members);
  }
  for (const std::uint64_t seed : test_seeds()) {
    const std::size_t draws = scaled(60'000);
    const Problem problem = rbhmc_problem(data, small.settings, GetParam().settings);
    const std::unique_ptr<Inference> chain = model_by_name("rbhmc").make_inference(problem);
    RbhmcRecord record(exact, draws);
    std::vector<double> seen;
    chain->init({seed, 0, 0});
    for (std::size_t sweep = 1; sweep <= 500 + draws; ++sweep) {
      chain->step({seed, 0, sweep});
      if (sweep % 1000 == 0) {
        const double log_joint = chain->log_joint();
        EXPECT_NEAR(log_joint, chain->log_joint_from_scratch(), 1e-7 * (1.0 + std::abs(log_joint)));
        chain->rebuild();
      }
      if (sweep <= 500) continue;
      record.add(*chain);
      const double x = cells_of(*chain, 2)[0];
      seen.push_back(x / (1.0 + std::abs(x)));
    }
    Agreement agreement = record.agreement();
    agreement.check("the first missing cell", batch_estimate(seen), mean_of_hole, 2e-4);
    EXPECT_TRUE(agreement.holds()) << agreement;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Moves, RbhmcWithHoles,
    ::testing::Values(HolesCase{0.0, {}}, HolesCase{0.3, {}}, HolesCase{0.3, {"path-update=\"gibbs\""}},
                      HolesCase{0.0, {"path-update=\"prior\"", "moves=\"paths,weights\""}},
                      HolesCase{0.0, {"moves=\"components,structure\""}},
                      HolesCase{0.3, {"theta=\"drawn\""}}));

/// The chains above hardly notice an error of ten percent in the weights of incomplete rows; this does.
TEST(RbhmcWithHoles, RowsAreWeighedByTheirPresentCells) {
  const std::size_t n = 14;
  const Gaussian block = learned_block(3, n);
  const Rows rows = made_rows(n, 3, 0.3, 17);
  const Problem problem{&block, &rows,
                        ParameterValues(model_by_name("rbhmc").parameters,
                                        settings_from({"levels=2", "penalty=0", "gamma0=3"}))};
  rbhmc::Replica replica(problem, rbhmc::Options(problem.parameters));
  replica.init({1, 0, 0});
  std::size_t checked = 0;
  for (std::uint64_t sweep = 1; sweep <= 20; ++sweep) {
    replica.step({1, 0, sweep});
    rbhmc::State& state = replica.state();
    const Family& family = state.family();
    for (std::size_t row = 0; row < n; ++row) {
      state.load_densities(row);
      const auto log_predictive = [&](Label slot) {
        std::vector<double> stats(family.stats_size());
        family.clear(stats.data());
        for (std::size_t other = 0; other < n; ++other)
          if (other != row && state.components().label(other) == slot)
            family.add(stats.data(), state.filled().rows()[other]);
        return family.log_predictive(stats.data(), rows[row]);
      };
      const double of_new = log_predictive(-1);
      for (std::size_t slot = 0; slot < state.slots(); ++slot) {
        const auto label = static_cast<Label>(slot);
        const bool is_own = state.components().label(row) == label;
        if (state.components().size(label) <= (is_own ? 1U : 0U)) continue;
        EXPECT_NEAR(state.log_density()[slot] - state.log_density_new(), log_predictive(label) - of_new,
                    1e-7);
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 300U);
}

TEST(RbhmcWithHoles, BothWaysHaveTheSameLaw) {
  const std::size_t n = 5;
  const Gaussian block = learned_block(2, n);
  Rows rows = made_rows(n, 2, 0.0, 4);
  rows[0][1] = rows[2][0] = kMissing;
  std::fill_n(rows[3], 2, kMissing);
  const std::vector<std::vector<std::string>> variants{{"levels=2", "penalty=0"},
                                                       {"levels=2", "penalty=0", "theta=\"drawn\""}};
  for (const std::vector<std::string>& settings : variants)
    for (const std::uint64_t seed : test_seeds()) {
      const Agreement agreement =
          compare_both_ways(model_by_name("rbhmc"), block, rows, settings, seed, scaled(20'000),
                            [](const Inference& chain) { return cells_of(chain, 4); });
      EXPECT_TRUE(agreement.holds()) << "seed " << seed << ": " << agreement;
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

RbhmcCase with_gaps(RbhmcCase small) {
  for (std::size_t i = 0; i < small.data.size(); i += 3) small.data[i][i % 2] = kMissing;
  return small;
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
    ASSERT_EQ(seen_of(model, *whole, problem), seen_of(model, *loaded, problem)) << sweep;
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
  const std::unique_ptr<Family> family = data.family().clone();
  FilledRows filled(*family, data.rows);
  const rbhmc::DrawPayload payload =
      rbhmc::read_payload(chain->payload(), tree, family->hyper_size(), filled.cells_size());
  family->set_hyper(payload.hyper.data());
  filled.set_cells(payload.cells);
  const std::unique_ptr<Predictor> predictor = model.make_predictor(problem);
  predictor->set_draw(labels, traces, chain->payload());
  EXPECT_EQ(dynamic_cast<const LearnedDraw&>(*predictor).learned_values(), payload.hyper);
  for (std::size_t k = 0; k < payload.components; ++k) {
    std::vector<double> stats(family->stats_size());
    family->clear(stats.data());
    for (std::size_t row = 0; row < 40; ++row)
      if (payload.component_of[row] == static_cast<Label>(k)) family->add(stats.data(), filled.rows()[row]);
    const CellPredictive expected = family->predict_cell(stats.data(), 1);
    EXPECT_NEAR(predictor->predict_cell(k, 1).mean, expected.mean, 1e-10);
  }
  // A missing cell of the fit: given the row's own cells and the other rows of its component.
  for (const FilledRows::Cell& cell : filled.cells()) {
    std::vector<CellComponent> mixture;
    predictor->cell_components(cell.row, cell.column, mixture);
    ASSERT_EQ(mixture.size(), 1U);
    std::vector<double> others(family->stats_size());
    family->clear(others.data());
    for (std::size_t row = 0; row < 40; ++row)
      if (row != cell.row && payload.component_of[row] == payload.component_of[cell.row])
        family->add(others.data(), filled.rows()[row]);
    const CellPredictive expected =
        family->predict_cell_given(others.data(), data.rows[cell.row], cell.column);
    const CellPredictive found = predictor->predict_cell(mixture[0].component, cell.column);
    EXPECT_NEAR(found.mean, expected.mean, 1e-9);
    EXPECT_NEAR(found.scale, expected.scale, 1e-9);
    EXPECT_NEAR(predictor->log_cell(mixture[0].component, cell.column, 0.3),
                family->cell_log_predictive_given(others.data(), data.rows[cell.row], cell.column, 0.3),
                1e-9);
  }
  EXPECT_THROW(predictor->set_draw(labels, traces, chain->payload().substr(0, 60)), Error);
}

INSTANTIATE_TEST_SUITE_P(
    Settings, LearnedRbhmcChain,
    ::testing::Values(ChainCase{two_groups("bernoulli", Kind::binary, 0.1), {}},
                      ChainCase{two_groups("gaussian", Kind::real, 0.0), {}},
                      ChainCase{two_groups("gaussian", Kind::real, 0.1), {"theta=\"drawn\""}},
                      ChainCase{with_gaps(two_groups("gaussian", Kind::real, 0.1)), {"replicas=2"}},
                      ChainCase{with_gaps(two_groups("gaussian", Kind::real, 0.1)), {"theta=\"drawn\""}},
                      ChainCase{two_groups("gaussian-diagonal", Kind::real, 0.05), {"replicas=2"}}));

}  // namespace
}  // namespace coppice::test
