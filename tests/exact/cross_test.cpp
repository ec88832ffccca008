// The cross mixture against full enumeration: every kernel alone and together, replicas at other powers, rows
// at fixed columns, the densities it predicts.
#include <gtest/gtest.h>

#include "support/cross_law.hpp"
#include "support/reference_case.hpp"
#include "support/tree_case.hpp"
#include "support/tree_law.hpp"

namespace coppice::test {
namespace {

constexpr std::size_t kDraws = 100'000;

const LawCase& mixed_table() {
  static const LawCase law_case{
      "cross", "auto", {{Kind::binary}, {Kind::category, 3}, {Kind::real}}, {}, 0.15};
  return law_case;
}

class CrossKernels : public ::testing::TestWithParam<CrossKernel> {};

TEST_P(CrossKernels, DrawFromTheEnumeratedPosterior) {
  for (const std::uint64_t seed : test_seeds()) {
    const Fixture fixture(mixed_table(), 3, 3);
    const Agreement agreement =
        compare_cross(GetParam(), fixture.family(), fixture.rows, seed, scaled(kDraws));
    EXPECT_TRUE(agreement.holds()) << agreement;
    EXPECT_GT(agreement.checks, 20u);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, CrossKernels, ::testing::ValuesIn(cross_kernels()),
                         [](const ::testing::TestParamInfo<CrossKernel>& info) { return info.param.name; });

TEST(CrossLawItself, SumsToOneAndKnowsTheModelsJoint) {
  const Fixture fixture(mixed_table(), 3, 3);
  const CrossLaw law(fixture.family(), fixture.rows, 0.8, 1.3);
  EXPECT_EQ(law.states().size(), 205u);
  double sum = 0.0;
  for (const auto& [key, probability] : law.probabilities()) sum += probability;
  EXPECT_NEAR(sum, 1.0, 1e-12);
  crosscat::Options options(
      ParameterValues(crosscat::parameter_table(), settings_from({"alpha-rows=0.8", "alpha-columns=1.3"})));
  const crosscat::Columns columns(fixture.family(), fixture.rows, options);
  crosscat::State state(columns, options, 1.0);
  for (std::size_t i = 0; i < law.states().size(); ++i) {
    state.set(law.states()[i]);
    EXPECT_NEAR(state.log_joint(), law.log_joint(i), 1e-10 * std::abs(law.log_joint(i)));
    EXPECT_EQ(key_of(state.views()), key_of(law.states()[i]));
  }
}

/// A replica at another power by itself: rows and columns together.
TEST(CrossPower, HotReplicaDrawsFromThePoweredPosterior) {
  for (const std::uint64_t seed : test_seeds()) {
    const Fixture fixture(mixed_table(), 3, 3);
    const CrossLaw law(fixture.family(), fixture.rows, 0.8, 1.3, 0.6);
    crosscat::Options options(
        ParameterValues(crosscat::parameter_table(), settings_from({"alpha-rows=0.8", "alpha-columns=1.3"})));
    const crosscat::Columns columns(fixture.family(), fixture.rows, options);
    crosscat::State state(columns, options, 0.6);
    Stream start({seed, 0, 0}, Purpose::initialize);
    state.draw_prior(start);
    const std::size_t draws = scaled(kDraws);
    CrossFrequencies frequencies(law, draws);
    for (std::size_t sweep = 1; sweep <= 100 + draws; ++sweep) {
      Stream stream({seed, 0, sweep}, Purpose::structure);
      state.column_sweep(stream, sweep % 2 == 0 ? 1.0 : options.new_view_share);
      state.row_sweep({seed, 0, sweep}, 0);
      state.split_merge({seed, 0, sweep}, 0);
      if (sweep > 100) frequencies.add(state.views());
    }
    EXPECT_TRUE(frequencies.agreement().holds()) << frequencies.agreement();
  }
}

/// Rows by themselves: the columns stay where they are, so the law is that of one view of all columns.
TEST(CrossRows, GibbsAndSplitMergeAloneAtFixedColumns) {
  for (const char* kernel : {"split-merge-moves=0", "row-sweeps=0"}) {
    const Fixture fixture(mixed_table(), 4, 4);
    const ModelEntry& model = model_by_name("crosscat");
    const Problem problem{
        &fixture.family(), &fixture.rows,
        ParameterValues(model.parameters,
                        settings_from({"alpha-rows=0.8", "column-sweeps=0", "init=\"single\"", kernel}))};
    const std::unique_ptr<Sampler> sampler = model.make_sampler(problem);
    std::map<std::string, double> truth;
    std::vector<double> terms;
    std::vector<std::string> keys;
    for_each_partition(4, [&](std::span<const Label> labels, std::size_t clusters) {
      double term = 0.0;
      for (std::size_t c = 0; c < clusters; ++c) {
        std::vector<std::uint32_t> members;
        for (std::uint32_t row = 0; row < 4; ++row)
          if (labels[row] == static_cast<Label>(c)) members.push_back(row);
        term += log_weight_of(fixture.family(), fixture.rows, members, 0.8);
      }
      terms.push_back(term);
      keys.push_back(partition_key(labels));
    });
    for (std::size_t i = 0; i < terms.size(); ++i) truth[keys[i]] = std::exp(terms[i] - log_sum_exp(terms));
    const std::size_t draws = scaled(kDraws);
    std::map<std::string, std::vector<double>> counts;
    for (const auto& [key, p] : truth) counts[key].assign(kBatches, 0.0);
    sampler->init({1, 0, 0});
    Labels labels(4);
    for (std::size_t draw = 0; draw < draws; ++draw) {
      sampler->step({1, 0, draw + 1});
      sampler->shape(labels);
      counts[partition_key(labels)][draw * kBatches / draws] +=
          static_cast<double>(kBatches) / static_cast<double>(draws);
    }
    Agreement agreement;
    for (const auto& [key, p] : truth)
      if (p * static_cast<double>(draws) >= 400.0)
        agreement.check(key, estimate_from_batches(counts[key]), p);
    EXPECT_TRUE(agreement.holds()) << kernel << ": " << agreement;
  }
}

/// The predictive of a new row averaged over the enumerated posterior is the ratio of two evidences.
TEST(CrossPredictive, AveragesToTheRatioOfEvidences) {
  const LawCase law_case{"cross", "auto", {{Kind::binary}, {Kind::category, 3}, {Kind::real}}, {}, 0.0};
  const Fixture fixture(law_case, 5, 4);
  Rows three = fixture.rows;
  three.cells.resize(3 * three.width);
  const CrossLaw before(fixture.family(), three, 0.8, 1.3);
  const CrossLaw after(fixture.family(), fixture.rows, 0.8, 1.3);
  const ModelEntry& model = model_by_name("crosscat");
  const Problem problem{
      &fixture.family(), &three,
      ParameterValues(model.parameters, settings_from({"alpha-rows=0.8", "alpha-columns=1.3"}))};
  const std::unique_ptr<Predictor> predictor = model.make_predictor(problem);
  double total = 0.0;
  for (const Views& views : before.states()) {
    ByteWriter writer;
    views.save(writer);
    predictor->set_draw(views.rows[views.largest()], {}, writer.take());
    total += before.probability(views) * std::exp(log_density(*predictor, fixture.rows[3]));
  }
  EXPECT_NEAR(std::log(total), after.log_evidence() - before.log_evidence(), 1e-9);
}

/// A missing cell: the average over the enumerated posterior is the ratio of evidences with and without it.
TEST(CrossPredictive, MissingCellsAverageToTheRatioOfEvidences) {
  const LawCase law_case{"cross", "auto", {{Kind::binary}, {Kind::category, 3}, {Kind::real}}, {}, 0.0};
  const Fixture fixture(law_case, 6, 3);
  Rows hidden = fixture.rows;
  hidden[1][0] = kMissing;
  const CrossLaw law(fixture.family(), hidden, 0.8, 1.3);
  const ModelEntry& model = model_by_name("crosscat");
  const Problem problem{
      &fixture.family(), &hidden,
      ParameterValues(model.parameters, settings_from({"alpha-rows=0.8", "alpha-columns=1.3"}))};
  const std::unique_ptr<Predictor> predictor = model.make_predictor(problem);
  for (const double value : {0.0, 1.0}) {
    Rows filled = hidden;
    filled[1][0] = value;
    double total = 0.0;
    for (const Views& views : law.states()) {
      ByteWriter writer;
      views.save(writer);
      predictor->set_draw(views.rows[views.largest()], {}, writer.take());
      total += law.probability(views) * std::exp(log_missing_cell(*predictor, 1, 0, value));
    }
    EXPECT_NEAR(std::log(total),
                CrossLaw(fixture.family(), filled, 0.8, 1.3).log_evidence() - law.log_evidence(), 1e-9);
  }
}

TEST(CrossReference, EnumerationAndChainAgreeWithAnotherProgram) {
  const auto reference = read_reference("bhcc_4x4.json");
  if (!reference) GTEST_SKIP() << "the reference cases are not on this machine";
  const TreeCase table(reference->at("case"));
  const nlohmann::json& exact = reference->at("result").at("exact_cdpm");
  const double alpha = reference->at("case").at("alpha");
  const CrossLaw law(table.family(), table.rows, alpha, alpha);
  EXPECT_NEAR(law.log_evidence(), exact.at("log_ml"), 1e-9 * 14);
  const ModelEntry& model = model_by_name("crosscat");
  const Problem problem{
      &table.family(), &table.rows,
      ParameterValues(model.parameters, settings_from({fmt::format("alpha-rows={}", alpha),
                                                       fmt::format("alpha-columns={}", alpha)}))};
  const std::unique_ptr<Sampler> sampler = model.make_sampler(problem);
  sampler->init({1, 0, 0});
  constexpr std::size_t kSweeps = 20'000;
  std::vector<double> together(16, 0.0);
  for (std::size_t sweep = 1; sweep <= kSweeps; ++sweep) {
    sampler->step({1, 0, sweep});
    const Views views = model.views(problem, sampler->details());
    for (std::size_t a = 0; a < 4; ++a)
      for (std::size_t b = 0; b < 4; ++b)
        together[table.plan.order[a] * 4 + table.plan.order[b]] +=
            views.columns[a] == views.columns[b] ? 1.0 / kSweeps : 0.0;
  }
  for (std::size_t a = 0; a < 4; ++a)
    for (std::size_t b = 0; b < 4; ++b)
      EXPECT_NEAR(together[a * 4 + b], exact.at("col_coassign")[a][b].get<double>(), 0.02);
}

TEST(CrossErrors, JointFamiliesAreRefused) {
  const Fixture fixture({"joint", "gaussian", {{Kind::real}, {Kind::real}}, {}, 0.0}, 1, 5);
  const ModelEntry& model = model_by_name("crosscat");
  const Problem problem{&fixture.family(), &fixture.rows, ParameterValues(model.parameters, {})};
  try {
    model.make_sampler(problem);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::configuration);
  }
}

}  // namespace
}  // namespace coppice::test
