// The cross mixture against full enumeration: every kernel alone and together, replicas at other powers, rows
// at fixed columns, the densities it predicts.
#include <gtest/gtest.h>

#include <boost/math/quadrature/exp_sinh.hpp>

#include "coppice/prior/concentration.hpp"
#include "support/bhc_law.hpp"
#include "support/bhcc_law.hpp"
#include "support/crosscat_law.hpp"
#include "support/reference_case.hpp"
#include "support/tree_case.hpp"
#include "support/tree_reference.hpp"

namespace coppice::test {
namespace {

constexpr std::size_t kDraws = 100'000;

const LawCase& mixed_table() {
  static const LawCase law_case{
      "cross", "auto", {{Kind::binary}, {Kind::category, 3}, {Kind::real}}, {}, 0.15};
  return law_case;
}

class CrosscatKernels : public ::testing::TestWithParam<CrosscatKernel> {};

TEST_P(CrosscatKernels, DrawFromTheEnumeratedPosterior) {
  for (const std::uint64_t seed : test_seeds()) {
    const Fixture fixture = crosscat_table(GetParam());
    const Agreement agreement =
        compare_cross(GetParam(), fixture.family(), fixture.rows, seed, scaled(kDraws));
    EXPECT_TRUE(agreement.holds()) << agreement;
    EXPECT_GT(agreement.checks, 20u);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, CrosscatKernels, ::testing::ValuesIn(crosscat_kernels()),
                         [](const ::testing::TestParamInfo<CrosscatKernel>& info) {
                           return info.param.name;
                         });

TEST(CrosscatLawItself, SumsToOneAndKnowsTheModelsJoint) {
  const Fixture fixture(mixed_table(), 3, 3);
  const CrosscatLaw law(fixture.family(), fixture.rows, 0.8, 1.3);
  EXPECT_EQ(law.states().size(), 205u);
  double sum = 0.0;
  for (const auto& [key, probability] : law.probabilities()) sum += probability;
  EXPECT_NEAR(sum, 1.0, 1e-12);
  crosscat::Options options(
      ParameterValues(crosscat::parameter_table(), settings_from({"alpha-rows=0.8", "alpha-columns=1.3"})));
  crosscat::Columns columns(fixture.family(), fixture.rows);
  crosscat::State state(columns, options, 1.0);
  for (std::size_t i = 0; i < law.states().size(); ++i) {
    state.set(law.states()[i]);
    EXPECT_NEAR(state.log_joint(), law.log_joint(i), 1e-10 * std::abs(law.log_joint(i)));
    EXPECT_EQ(key_of(state.views()), key_of(law.states()[i]));
  }
}

/// A replica at another power by itself: rows and columns together.
TEST(CrosscatPower, HotReplicaDrawsFromThePoweredPosterior) {
  for (const std::uint64_t seed : test_seeds()) {
    const Fixture fixture(mixed_table(), 3, 3);
    const CrosscatLaw law(fixture.family(), fixture.rows, 0.8, 1.3, 0.6);
    crosscat::Options options(
        ParameterValues(crosscat::parameter_table(), settings_from({"alpha-rows=0.8", "alpha-columns=1.3"})));
    crosscat::Columns columns(fixture.family(), fixture.rows);
    crosscat::State state(columns, options, 0.6);
    Stream start({seed, 0, 0}, Purpose::initialize);
    state.draw_prior(start);
    const std::size_t draws = scaled(kDraws);
    CrosscatFrequencies frequencies(law, draws);
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

/// Moves of rows alone: the columns stay where they are, so the law is that of one view of all columns.
TEST(CrosscatRows, GibbsAndSplitMergeAloneAtFixedColumns) {
  for (const char* kernel : {"split-merge-moves=0", "row-sweeps=0"}) {
    const Fixture fixture(mixed_table(), 4, 4);
    const ModelEntry& model = model_by_name("crosscat");
    const Problem problem{
        &fixture.family(), &fixture.rows,
        ParameterValues(model.parameters, settings_from({"alpha-rows=0.8", "column-sweeps=0", "view-moves=0",
                                                         "init=\"single\"", kernel}))};
    const std::unique_ptr<Inference> sampler = model.make_inference(problem);
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
      sampler->labels(labels);
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
TEST(CrosscatPredictive, AveragesToTheRatioOfEvidences) {
  const LawCase law_case{"cross", "auto", {{Kind::binary}, {Kind::category, 3}, {Kind::real}}, {}, 0.0};
  const Fixture fixture(law_case, 5, 4);
  Rows three = fixture.rows;
  three.cells.resize(3 * three.width);
  const CrosscatLaw before(fixture.family(), three, 0.8, 1.3);
  const CrosscatLaw after(fixture.family(), fixture.rows, 0.8, 1.3);
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
TEST(CrosscatPredictive, MissingCellsAverageToTheRatioOfEvidences) {
  const LawCase law_case{"cross", "auto", {{Kind::binary}, {Kind::category, 3}, {Kind::real}}, {}, 0.0};
  const Fixture fixture(law_case, 6, 3);
  Rows hidden = fixture.rows;
  hidden[1][0] = kMissing;
  const CrosscatLaw law(fixture.family(), hidden, 0.8, 1.3);
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
                CrosscatLaw(fixture.family(), filled, 0.8, 1.3).log_evidence() - law.log_evidence(), 1e-9);
  }
}

/// A cell of a new row given the others, under every state: the ratio of two densities.
TEST(CrosscatPredictive, CellsOfNewRowsAreRatiosOfDensities) {
  const LawCase law_case{"cross", "auto", {{Kind::binary}, {Kind::category, 3}, {Kind::real}}, {}, 0.1};
  const Fixture fixture(law_case, 5, 3);
  const Fixture others(law_case, 6, 4);
  const CrosscatLaw law(fixture.family(), fixture.rows, 0.8, 1.3);
  const ModelEntry& model = model_by_name("crosscat");
  const Problem problem{
      &fixture.family(), &fixture.rows,
      ParameterValues(model.parameters, settings_from({"alpha-rows=0.8", "alpha-columns=1.3"}))};
  const std::unique_ptr<Predictor> predictor = model.make_predictor(problem);
  std::vector<std::vector<CellComponent>> mixtures;
  for (const Views& views : law.states()) {
    ByteWriter writer;
    views.save(writer);
    predictor->set_draw(views.rows[views.largest()], {}, writer.take());
    for (std::size_t i = 0; i < others.rows.size(); ++i) {
      std::vector<double> row(others.rows[i], others.rows[i] + others.rows.width);
      row[1] = kMissing;  // two cells are open at once
      for (std::size_t cell = 0; cell < row.size(); ++cell) {
        if (is_missing(row[cell])) continue;
        std::vector<double> given = row;
        given[cell] = kMissing;
        const std::size_t open[] = {1, cell};
        const double marginal = new_cells_of(*predictor).condition_cells(given.data(), open, mixtures);
        ASSERT_NEAR(marginal, log_density(*predictor, given.data()), 1e-10);
        const double joint = log_density(*predictor, row.data());
        ASSERT_NEAR(log_of_mixture(*predictor, mixtures[1], cell, row[cell]), joint - marginal,
                    relative(1e-9, joint));
      }
    }
  }
}

/// A new column: for two rows the bound of a view of its own is exact, and so is the average over the
/// posterior.
TEST(CrosscatPredictive, NewColumnsAverageToTheRatioOfEvidences) {
  const LawCase law_case{"cross", "auto", {{Kind::binary}, {Kind::category, 3}, {Kind::real}}, {}, 0.0};
  const Fixture fixture(law_case, 5, 2);
  const std::size_t kept[] = {0, 1};
  const std::size_t added[] = {2};
  const std::unique_ptr<Family> two = fixture.family().of_cells(kept);
  const std::unique_ptr<Family> third = fixture.family().of_cells(added);
  Rows rows, column;
  rows.width = 2;
  column.width = 1;
  for (std::size_t row = 0; row < 2; ++row) {
    rows.cells.insert(rows.cells.end(), fixture.rows[row], fixture.rows[row] + 2);
    column.cells.push_back(fixture.rows[row][2]);
  }
  const CrosscatLaw before(*two, rows, 0.8, 1.3);
  const CrosscatLaw after(fixture.family(), fixture.rows, 0.8, 1.3);
  const ModelEntry& model = model_by_name("crosscat");
  const Problem problem{
      two.get(), &rows,
      ParameterValues(model.parameters, settings_from({"alpha-rows=0.8", "alpha-columns=1.3"}))};
  const std::unique_ptr<Predictor> predictor = model.make_predictor(problem);
  double total = 0.0;
  for (const Views& views : before.states()) {
    ByteWriter writer;
    views.save(writer);
    predictor->set_draw(views.rows[views.largest()], {}, writer.take());
    const NewColumn answer = new_cells_of(*predictor).new_column(*third, column);
    EXPECT_LT(answer.log_new_view, answer.log_probability);
    total += before.probability(views) * std::exp(answer.log_probability);
  }
  EXPECT_NEAR(std::log(total), after.log_evidence() - before.log_evidence(), 1e-9);
}

/// Concentrations that are learned: the law of the partitions is the one with both integrated out, for the
/// posterior and for a replica at another power.
TEST(CrosscatConcentrations, LearnedOnesAreIntegratedOut) {
  const GammaPrior rows_prior{2.0, 1.5};
  const GammaPrior columns_prior{1.5, 1.0};
  const Fixture fixture(mixed_table(), 3, 3);
  for (const double power : {1.0, 0.6}) {
    const auto integral = [&](const GammaPrior& prior, double partitions, double clusters, double items) {
      boost::math::quadrature::exp_sinh<double> integrator;
      return std::log(integrator.integrate([&](double alpha) {
        return std::exp(power * (prior.log_density(alpha) + clusters * std::log(alpha) +
                                 partitions * (log_gamma(alpha) - log_gamma(alpha + items))));
      }));
    };
    const CrosscatLaw law(
        fixture.family(), fixture.rows,
        [&](const Views& views) {
          double clusters = 0.0;
          double sizes = 0.0;
          const auto add_sizes = [&](const Labels& labels) {
            for (const std::size_t size : cluster_sizes(labels))
              sizes += log_gamma(static_cast<double>(size));
          };
          add_sizes(views.columns);
          for (const Labels& labels : views.rows) {
            clusters += static_cast<double>(cluster_sizes(labels).size());
            add_sizes(labels);
          }
          const auto count = static_cast<double>(views.count());
          return power * sizes + integral(rows_prior, count, clusters, 3.0) +
                 integral(columns_prior, 1.0, count, 3.0);
        },
        power);
    crosscat::Options options(
        ParameterValues(crosscat::parameter_table(),
                        settings_from({"learn=\"alpha-rows,alpha-columns\"", "alpha-rows-prior=[2, 1.5]",
                                       "alpha-columns-prior=[1.5, 1]"})));
    crosscat::Columns columns(fixture.family(), fixture.rows);
    crosscat::State state(columns, options, power);
    Stream start({1, 0, 0}, Purpose::initialize);
    state.draw_prior(start);
    const std::size_t draws = scaled(kDraws);
    CrosscatFrequencies frequencies(law, draws);
    for (std::size_t sweep = 1; sweep <= 100 + draws; ++sweep) {
      Stream stream({1, 0, sweep}, Purpose::structure);
      state.column_sweep(stream, 1.0);
      state.row_sweep({1, 0, sweep}, 0);
      state.split_merge({1, 0, sweep}, 0);
      Stream own({1, 0, sweep}, Purpose::concentration);
      state.update_concentrations(own);
      if (sweep > 100) frequencies.add(state.views());
    }
    EXPECT_TRUE(frequencies.agreement().holds()) << power << ": " << frequencies.agreement();
  }
}

class CrosscatReference : public ::testing::TestWithParam<std::string> {};

/// Columns together, and rows together in the view of each column, after 20,000 sweeps.
TEST_P(CrosscatReference, ChainsAgreeWithAnotherProgram) {
  const nlohmann::json reference = read_reference(GetParam());
  const TreeCase table(reference.at("case"));
  const nlohmann::json& result = reference.at("result");
  const nlohmann::json& exact = result.at("exact_cdpm");
  const double log_evidence = exact.at("log_ml");
  EXPECT_NEAR(log_crosscat_evidence(table.family(), table.rows, result.at("alpha"), result.at("alpha_cols")),
              log_evidence, relative(1e-9, log_evidence));
  const ModelEntry& model = model_by_name("crosscat");
  const Problem problem{
      &table.family(), &table.rows,
      ParameterValues(model.parameters, settings_from({"alpha-rows=" + result.at("alpha").dump(),
                                                       "alpha-columns=" + result.at("alpha_cols").dump()}))};
  const std::unique_ptr<Inference> sampler = model.make_inference(problem);
  sampler->init({1, 0, 0});
  constexpr std::size_t kSweeps = 20'000;
  const std::size_t n = table.rows.size();
  const std::size_t width = table.family().width();
  std::vector<double> columns(width * width, 0.0);
  std::vector<double> rows(width * n * n, 0.0);
  for (std::size_t sweep = 1; sweep <= kSweeps; ++sweep) {
    sampler->step({1, 0, sweep});
    const Views views = model.views(problem, sampler->payload());
    for (std::size_t a = 0; a < width; ++a) {
      for (std::size_t b = 0; b < width; ++b)
        if (views.columns[a] == views.columns[b]) columns[a * width + b] += 1.0 / kSweeps;
      const Labels& labels = views.rows[static_cast<std::size_t>(views.columns[a])];
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < n; ++k)
          if (labels[i] == labels[k]) rows[(a * n + i) * n + k] += 1.0 / kSweeps;
    }
  }
  for (std::size_t a = 0; a < width; ++a) {
    const std::size_t column = table.plan.order[a];
    for (std::size_t b = 0; b < width; ++b)
      EXPECT_NEAR(columns[a * width + b], exact.at("col_coassign")[column][table.plan.order[b]].get<double>(),
                  0.02);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < n; ++k)
        EXPECT_NEAR(rows[(a * n + i) * n + k], exact.at("row_coassign_by_column")[column][i][k].get<double>(),
                    0.02);
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, CrosscatReference, ::testing::ValuesIn(reference_cases("bhcc_")),
                         CaseOfFile());

TEST(CrosscatErrors, JointFamiliesAreRefused) {
  const Fixture fixture({"joint", "gaussian", {{Kind::real}, {Kind::real}}, {}, 0.0}, 1, 5);
  const ModelEntry& model = model_by_name("crosscat");
  const Problem problem{&fixture.family(), &fixture.rows, ParameterValues(model.parameters, {})};
  try {
    model.make_inference(problem);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::configuration);
  }
}

}  // namespace
}  // namespace coppice::test
