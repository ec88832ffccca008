// The cross mixture with learned hyper-parameters: against enumeration over all views, with the
// hyper-parameters of each column integrated on a grid; by Geweke's test; and as a chain that can be saved,
// loaded and asked for predictions.
#include <gtest/gtest.h>

#include "coppice/model/crosscat/inference.hpp"
#include "learned/seen.hpp"
#include "support/learned_crosscat_law.hpp"

namespace coppice::test {
namespace {

class LearnedCrosscat : public ::testing::TestWithParam<CrosscatKernel> {};

TEST_P(LearnedCrosscat, AgreesWithEnumerationAndGridsOfHyperParameters) {
  const Fixture fixture(learned_table(0.15), 3, 3);
  ASSERT_EQ(fixture.family().hyper_size(), 9u);
  const LearnedCrosscatLaw law(fixture, 1.0);
  for (const std::uint64_t seed : test_seeds()) {
    const Agreement agreement = compare_learned_cross(GetParam(), law, fixture, seed, scaled(100'000));
    EXPECT_TRUE(agreement.holds()) << agreement;
    EXPECT_GT(agreement.checks, 20u);  // fewer states are checked in shorter chains
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, LearnedCrosscat, ::testing::ValuesIn(learned_crosscat_kernels()),
                         [](const ::testing::TestParamInfo<CrosscatKernel>& info) {
                           return info.param.name;
                         });

TEST(LearnedCrosscatPower, HotReplicaPowersAllButTheHyperPrior) {
  const Fixture fixture(learned_table(0.15), 3, 3);
  const LearnedCrosscatLaw law(fixture, 0.6);
  const crosscat::Options options(
      ParameterValues(crosscat::parameter_table(), settings_from({"alpha-rows=0.8", "alpha-columns=1.3"})));
  crosscat::Columns columns(fixture.family(), fixture.rows);
  crosscat::State state(columns, options, 0.6);
  Stream start({1, 0, 0}, Purpose::initialize);
  state.draw_prior(start);
  const std::size_t draws = scaled(100'000);
  LearnedCrosscatVisits visits(law, fixture.family(), draws);
  for (std::size_t sweep = 1; sweep <= 500 + draws; ++sweep) {
    Stream stream({1, 0, sweep}, Purpose::structure);
    state.column_sweep(stream, 1.0);
    state.row_sweep({1, 0, sweep}, 0);
    state.split_merge({1, 0, sweep}, 0);
    state.update_hyper({1, 0, sweep}, 0);
    if (sweep > 500) visits.add(state.views(), state.hyper().data());
  }
  EXPECT_TRUE(visits.agreement().holds()) << visits.agreement();
}

TEST(LearnedCrosscatLawItself, DoesNotDependOnTheGrid) {
  const Fixture fixture(learned_table(0.15), 3, 3);
  const LearnedCrosscatLaw coarse(fixture, 1.0, 16);
  const LearnedCrosscatLaw fine(fixture, 1.0);
  for (const Views& state : fine.law().states())
    EXPECT_NEAR(coarse.law().probability(state), fine.law().probability(state),
                1e-5 + 2e-3 * fine.law().probability(state));
  for (const auto& [column, count] : {std::pair{0U, 3U}, {1U, 5U}, {2U, 7U}})
    for (std::size_t i = 0; i < count; ++i)
      EXPECT_NEAR(coarse.mean(column, i), fine.mean(column, i), relative(4e-3, fine.mean(column, i)))
          << column << " " << i;
}

double squash(double x) { return std::isfinite(x) ? x / (1.0 + std::abs(x)) : -1.0; }

/// Everything is learned: hyper-parameters of five kinds of columns and both concentrations.
TEST(LearnedCrosscatGeweke, BothWaysOfDrawingAgree) {
  for (const std::uint64_t seed : test_seeds()) {
    Fixture fixture({"learned",
                     "auto",
                     {{Kind::binary},
                      {Kind::category, 3},
                      {Kind::real},
                      {Kind::count, 0, "poisson"},
                      {Kind::count, 0, "negative-binomial"},
                      {Kind::count, 0, "binomial", {"trials=12"}}},
                     {},
                     0.0,
                     true},
                    1, 5);
    const ModelEntry& model = model_by_name("crosscat");
    const Problem problem{
        &fixture.family(), &fixture.rows,
        ParameterValues(model.parameters, settings_from({"learn=\"alpha-rows,alpha-columns\""}))};
    const std::unique_ptr<Inference> sampler = model.make_inference(problem);
    std::vector<double> traces(trace_names(model, problem).size());
    const std::size_t draws = scaled(60'000);
    std::vector<std::vector<double>> fresh, chained;
    const auto record = [&](std::vector<std::vector<double>>& into) {
      const std::string payload = sampler->payload();
      const Views views = model.views(problem, payload);
      const std::vector<double> hyper = crosscat::hyper_of(problem, payload);
      sampler->traces(traces);
      std::vector<double> values{static_cast<double>(views.count()), traces[4], squash(traces[5]),
                                 squash(traces[6])};
      for (const double value : hyper) values.push_back(squash(0.2 * std::log(1e-6 + std::abs(value))));
      for (std::size_t j = 0; j < fixture.rows.width; ++j) {
        const Labels& labels = views.rows[static_cast<std::size_t>(views.columns[j])];
        const double together = labels[0] == labels[1] ? 1.0 : 0.0;
        const double x = squash(0.3 * fixture.rows[0][j]);
        const double y = squash(0.3 * fixture.rows[1][j]);
        values.insert(values.end(), {together, x, x * y, together * std::abs(x - y)});
      }
      const std::size_t plain = values.size();
      for (std::size_t i = 4; i < plain; ++i) values.push_back(values[i] * values[4 + (i + 5) % (plain - 4)]);
      into.resize(values.size());
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
    Agreement agreement;
    for (std::size_t i = 0; i < fresh.size(); ++i) {
      const Estimate a = batch_estimate(fresh[i]);
      const Estimate b = batch_estimate(chained[i]);
      agreement.check("functional " + std::to_string(i), {b.mean, std::hypot(a.error, b.error)}, a.mean);
    }
    EXPECT_TRUE(agreement.holds()) << "seed " << seed << ": " << agreement;
  }
}

LawCase wide_table() {
  return {"learned",
          "auto",
          {{Kind::real},
           {Kind::binary},
           {Kind::count},
           {Kind::category, 4},
           {Kind::real},
           {Kind::count, 0, "binomial", {"trials=50"}}},
          {},
          0.1,
          true};
}

class LearnedCrosscatChain : public ::testing::TestWithParam<std::vector<std::string>> {};

TEST_P(LearnedCrosscatChain, GoesOnAfterLoadingAsIfNothingHadHappened) {
  const Fixture fixture(wide_table(), 7, 40);
  const ModelEntry& model = model_by_name("crosscat");
  const Problem problem{&fixture.family(), &fixture.rows,
                        ParameterValues(model.parameters, settings_from(GetParam()))};
  const std::unique_ptr<Inference> whole = model.make_inference(problem);
  whole->init({3, 0, 0});
  for (std::uint64_t sweep = 1; sweep <= 30; ++sweep) whole->step({3, 0, sweep});
  whole->rebuild();
  const std::unique_ptr<Inference> loaded = model.make_inference(problem);
  loaded->load(whole->save());
  EXPECT_EQ(whole->save(), loaded->save());
  for (std::uint64_t sweep = 31; sweep <= 90; ++sweep) {
    whole->step({3, 0, sweep});
    loaded->step({3, 0, sweep});
    EXPECT_NEAR(whole->log_joint(), whole->log_joint_from_scratch(), 1e-7);
    ASSERT_EQ(seen_of(model, *whole, problem), seen_of(model, *loaded, problem)) << sweep;
  }
  EXPECT_THROW(loaded->load(whole->save().substr(0, 200)), Error);
  // A new start forgets what was learned.
  const std::unique_ptr<Inference> fresh = model.make_inference(problem);
  fresh->init({4, 0, 0});
  whole->init({4, 0, 0});
  EXPECT_EQ(whole->save(), fresh->save());
}

INSTANTIATE_TEST_SUITE_P(Settings, LearnedCrosscatChain,
                         ::testing::Values(std::vector<std::string>{},
                                           std::vector<std::string>{"learn=\"alpha-rows\"",
                                                                    "temperatures=[1, 0.9, 0.8]"}));

TEST(LearnedCrosscatPredictor, UsesTheValuesOfTheDraw) {
  const Fixture fixture(wide_table(), 8, 40);
  const ModelEntry& model = model_by_name("crosscat");
  const Problem problem{&fixture.family(), &fixture.rows,
                        ParameterValues(model.parameters, settings_from({"alpha-rows=0.7"}))};
  const std::unique_ptr<Inference> chain = model.make_inference(problem);
  chain->init({5, 0, 0});
  for (std::uint64_t sweep = 1; sweep <= 30; ++sweep) chain->step({5, 0, sweep});
  const std::string payload = chain->payload();
  Labels labels(40);
  chain->labels(labels);
  const std::unique_ptr<Predictor> predictor = model.make_predictor(problem);
  predictor->set_draw(labels, {}, payload);
  const Views views = model.views(problem, payload);
  const std::unique_ptr<Family> family = fixture.family().clone();
  family->set_hyper(crosscat::hyper_of(problem, payload).data());
  // log p(new row | draw) is a product over views of averages over clusters.
  const double* row = fixture.rows[3];
  double expected = 0.0;
  for (std::size_t view = 0; view < views.count(); ++view) {
    const std::vector<std::size_t> sizes = cluster_sizes(views.rows[view]);
    std::vector<double> terms{std::log(0.7 / 40.7)};
    for (const std::size_t size : sizes) terms.push_back(std::log(static_cast<double>(size) / 40.7));
    for (std::size_t column = 0; column < fixture.rows.width; ++column) {
      if (views.columns[column] != static_cast<Label>(view) || is_missing(row[column])) continue;
      const std::size_t alone[] = {column};
      const std::unique_ptr<Family> own = family->of_cells(alone);
      terms[0] += Stats(*own).log_predictive(row + column);
      for (std::size_t c = 0; c < sizes.size(); ++c) {
        Stats stats(*own);
        for (std::size_t i = 0; i < 40; ++i)
          if (views.rows[view][i] == static_cast<Label>(c)) stats.add(fixture.rows[i] + column);
        terms[c + 1] += stats.log_predictive(row + column);
      }
    }
    expected += log_sum_exp(terms);
  }
  std::vector<double> weights(predictor->clusters(1) + 1);
  predictor->log_weights(row, 1, weights);
  EXPECT_NEAR(log_sum_exp(weights), expected, 1e-9 * std::abs(expected));
  EXPECT_THROW(predictor->set_draw(labels, {}, payload.substr(0, payload.size() - 8)), Error);
}

}  // namespace
}  // namespace coppice::test
