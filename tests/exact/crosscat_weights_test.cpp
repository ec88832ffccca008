// The cross mixture of rows with weights against tables in which rows really are repeated: the law of the
// views, given that copies of a row share their cluster in every view, and what is predicted.
#include <gtest/gtest.h>

#include <boost/math/quadrature/exp_sinh.hpp>

#include "coppice/model/left_out.hpp"
#include "coppice/model/new_cells.hpp"
#include "coppice/prior/concentration.hpp"
#include "support/copied_rows.hpp"
#include "support/crosscat_law.hpp"
#include "support/tree_reference.hpp"

namespace coppice::test {
namespace {

constexpr std::size_t kTiedDraws = 100'000;
constexpr std::size_t kTiedCounts[] = {2, 1, 3, 1};
constexpr double kTiedAlphaRows = 0.8, kTiedAlphaColumns = 1.3;

/// log p(cells of a column, repeated one by one | clusters).
std::function<double(std::size_t, const Labels&)> cells_of_copies(const Fixture& fixture,
                                                                  const CopiedRows& rows) {
  return [&](std::size_t column, const Labels& labels) {
    const std::size_t alone[] = {column};
    const std::unique_ptr<Family> own = fixture.family().of_cells(alone);
    const Labels all = rows.labels_of_copies(labels);
    double total = 0.0;
    for (std::size_t c = 0; c < cluster_sizes(labels).size(); ++c) {
      Stats stats(*own);
      for (std::size_t copy = 0; copy < all.size(); ++copy)
        if (all[copy] == static_cast<Label>(c)) stats.add(rows.repeated[copy] + column);
      total += stats.log_marginal();
    }
    return total;
  };
}

/// The states in which copies of a row are together, each with its probability as a state of the copies.
CrosscatLaw law_of_copies(const Fixture& fixture, const CopiedRows& rows, double power = 1.0) {
  return {fixture.rows.width, fixture.rows.size(),
          [&, power](const Views& views) {
            double total = CrosscatLaw::log_crp(views.columns, kTiedAlphaColumns);
            for (const Labels& labels : views.rows)
              total += CrosscatLaw::log_crp(rows.labels_of_copies(labels), kTiedAlphaRows);
            return power * total;
          },
          cells_of_copies(fixture, rows), power};
}

Fixture three_columns(double missing, std::uint64_t seed, std::size_t rows) {
  return Fixture({"cross", "auto", {{Kind::binary}, {Kind::category, 3}, {Kind::real}}, {}, missing}, seed,
                 rows);
}

std::vector<CrosscatKernel> weighted_kernels() {
  std::vector<CrosscatKernel> kernels = crosscat_kernels();
  const ModelEntry& model = model_by_name("crosscat");
  std::erase_if(kernels, [&](const CrosscatKernel& kernel) {
    return !model.refuses_weights(ParameterValues(model.parameters, settings_from(kernel.settings))).empty();
  });
  return kernels;
}

class WeightedCrosscat : public ::testing::TestWithParam<CrosscatKernel> {};

TEST_P(WeightedCrosscat, DrawsFromThePosteriorOfRepeatedRowsThatStayTogether) {
  for (const std::uint64_t seed : test_seeds()) {
    const Fixture fixture = crosscat_table(GetParam());
    const CopiedRows rows(fixture, kTiedCounts);
    const Agreement agreement = compare_cross(law_of_copies(fixture, rows), GetParam(), rows.family,
                                              rows.weighted, seed, scaled(kTiedDraws));
    EXPECT_TRUE(agreement.holds()) << agreement;
    EXPECT_GT(agreement.checks, 15u);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, WeightedCrosscat, ::testing::ValuesIn(weighted_kernels()),
                         [](const ::testing::TestParamInfo<CrosscatKernel>& info) {
                           return info.param.name;
                         });

TEST(WeightedCrosscatState, KnowsTheJointOfTheCopies) {
  const Fixture fixture = three_columns(0.15, 3, 3);
  const CopiedRows rows(fixture, kTiedCounts);
  const CrosscatLaw law = law_of_copies(fixture, rows);
  EXPECT_EQ(law.states().size(), 205u);
  crosscat::Options options(
      ParameterValues(crosscat::parameter_table(), settings_from({"alpha-rows=0.8", "alpha-columns=1.3"})));
  crosscat::Columns columns(rows.family, rows.weighted);
  crosscat::State state(columns, options, 1.0);
  for (std::size_t i = 0; i < law.states().size(); ++i) {
    state.set(law.states()[i]);
    EXPECT_NEAR(state.log_joint(), law.log_joint(i), 1e-10 * std::abs(law.log_joint(i)));
  }
}

/// With learned concentrations the number of copies decides how surely clusters are few; at another power,
/// a replica by itself.
TEST(WeightedCrosscatConcentrations, AreLearnedFromTheCopies) {
  const GammaPrior rows_prior{2.0, 1.5};
  const GammaPrior columns_prior{1.5, 1.0};
  const Fixture fixture = three_columns(0.15, 3, 3);
  const CopiedRows rows(fixture, kTiedCounts);
  const auto copies = static_cast<double>(rows.repeated.size());
  for (const double power : {1.0, 0.6}) {
    const auto integral = [&](const GammaPrior& prior, double partitions, double clusters, double items) {
      boost::math::quadrature::exp_sinh<double> integrator;
      return std::log(integrator.integrate([&](double alpha) {
        return std::exp(power * (prior.log_density(alpha) + clusters * std::log(alpha) +
                                 partitions * (log_gamma(alpha) - log_gamma(alpha + items))));
      }));
    };
    const CrosscatLaw law(
        3, 3,
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
            add_sizes(rows.labels_of_copies(labels));
          }
          const auto count = static_cast<double>(views.count());
          return power * sizes + integral(rows_prior, count, clusters, copies) +
                 integral(columns_prior, 1.0, count, 3.0);
        },
        cells_of_copies(fixture, rows), power);
    crosscat::Options options(
        ParameterValues(crosscat::parameter_table(),
                        settings_from({"learn=\"alpha-rows,alpha-columns\"", "alpha-rows-prior=[2, 1.5]",
                                       "alpha-columns-prior=[1.5, 1]"})));
    crosscat::Columns columns(rows.family, rows.weighted);
    crosscat::State state(columns, options, power);
    Stream start({1, 0, 0}, Purpose::initialize);
    state.draw_prior(start);
    const std::size_t draws = scaled(kTiedDraws);
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

/// Predictors of the weighted rows and of the repeated ones, under the same views.
struct BothPredictors {
  BothPredictors(const Fixture& fixture, const CopiedRows& rows, const Rows& repeated)
      : parameters(model.parameters, settings_from({"alpha-rows=0.8", "alpha-columns=1.3"})),
        weighted_problem{&rows.family, &rows.weighted, parameters},
        repeated_problem{&fixture.family(), &repeated, parameters},
        of_weighted(model.make_predictor(weighted_problem)),
        of_repeated(model.make_predictor(repeated_problem)) {}

  void set(const Views& views, const Views& of_copies) {
    for (const auto& [predictor, chosen] :
         {std::pair{of_weighted.get(), &views}, {of_repeated.get(), &of_copies}}) {
      ByteWriter writer;
      chosen->save(writer);
      predictor->set_draw(chosen->rows[chosen->largest()], {}, writer.take());
    }
  }

  const ModelEntry& model = model_by_name("crosscat");
  ParameterValues parameters;
  Problem weighted_problem, repeated_problem;
  std::unique_ptr<Predictor> of_weighted, of_repeated;
};

Views views_of_copies(const CopiedRows& rows, Views views) {
  for (Labels& labels : views.rows) labels = rows.labels_of_copies(labels);
  return views;
}

const Views kTiedViews{{0, 1, 0}, {{0, 1, 0, 2, 1, 1, 0, 2}, {0, 0, 1, 1, 0, 2, 1, 0}}};

TEST(WeightedCrosscatPredictive, IsThatOfRepeatedRows) {
  const Fixture fixture = three_columns(0.2, 5, 8);
  const Fixture others = three_columns(0.0, 6, 6);
  const CopiedRows rows(fixture, kTiedCounts);
  BothPredictors both(fixture, rows, rows.repeated);
  both.set(kTiedViews, views_of_copies(rows, kTiedViews));
  ASSERT_EQ(both.of_weighted->component_count(), both.of_repeated->component_count());
  ASSERT_EQ(both.of_weighted->clusters(1), both.of_repeated->clusters(1));
  std::vector<std::vector<CellComponent>> found, truth;
  for (std::size_t i = 0; i < others.rows.size(); ++i) {
    std::vector<double> row(others.rows[i], others.rows[i] + 3);
    row.push_back(1.0);  // one copy
    std::vector<double> weights(both.of_weighted->clusters(1) + 1), expected(weights.size());
    both.of_weighted->log_weights(row.data(), 1, weights);
    both.of_repeated->log_weights(row.data(), 1, expected);
    for (std::size_t c = 0; c < weights.size(); ++c) EXPECT_NEAR(weights[c], expected[c], 1e-9);
    row[0] = row[2] = kMissing;
    const std::size_t open[] = {0, 2};
    EXPECT_NEAR(new_cells_of(*both.of_weighted).condition_cells(row.data(), open, found),
                new_cells_of(*both.of_repeated).condition_cells(row.data(), open, truth), 1e-9);
    for (std::size_t k = 0; k < 2; ++k) {
      ASSERT_EQ(found[k].size(), truth[k].size());
      for (std::size_t part = 0; part < found[k].size(); ++part) {
        EXPECT_EQ(found[k][part].component, truth[k][part].component);
        EXPECT_NEAR(found[k][part].weight, truth[k][part].weight, 1e-9);
      }
    }
    for (std::size_t component = 0; component < both.of_weighted->component_count(); ++component)
      for (std::size_t cell = 0; cell < 3; ++cell) {
        // The first clusters are those of the first view.
        if (component < 3 && cell == 1) continue;
        if (component >= 3 && component < 6 && cell != 1) continue;
        EXPECT_NEAR(both.of_weighted->log_cell(component, cell, others.rows[i][cell]),
                    both.of_repeated->log_cell(component, cell, others.rows[i][cell]), 1e-9);
      }
  }
}

TEST(WeightedCrosscatPredictive, DrawsRowsOfTheCopies) {
  const Fixture fixture(
      {"cross", "auto", {{Kind::category, 2}, {Kind::category, 3}, {Kind::category, 2}}, {}, 0.0}, 5, 8);
  const CopiedRows rows(fixture, kTiedCounts);
  BothPredictors both(fixture, rows, rows.repeated);
  both.set(kTiedViews, views_of_copies(rows, kTiedViews));
  constexpr std::size_t kRows = 40'000;
  Stream stream({1, 0, 0}, Purpose::test);
  std::vector<double> row(4), counts(12, 0.0);
  for (std::size_t i = 0; i < kRows; ++i) {
    new_cells_of(*both.of_weighted).draw_row(stream, row.data());
    counts[static_cast<std::size_t>(row[0] + 2.0 * row[1] + 6.0 * row[2])] += 1.0 / kRows;
  }
  for (std::size_t value = 0; value < counts.size(); ++value) {
    const std::size_t third = value / 6;
    const double cells[] = {static_cast<double>(value % 2), static_cast<double>(value / 2 % 3),
                            static_cast<double>(third)};
    const double p = std::exp(log_density(*both.of_repeated, cells));
    EXPECT_NEAR(counts[value], p, 4.5 * std::sqrt(p * (1.0 - p) / kRows)) << value;
  }
}

/// Without a row all of its copies are gone.
TEST(WeightedCrosscatPredictive, LeavesOutAllCopiesOfARow) {
  const Fixture fixture = three_columns(0.0, 5, 8);
  const CopiedRows rows(fixture, kTiedCounts);
  for (std::size_t left_out = 0; left_out < 8; ++left_out) {
    Rows repeated;
    repeated.width = 3;
    Views of_copies{kTiedViews.columns, {{}, {}}};
    for (std::size_t row = 0; row < 8; ++row)
      for (std::size_t copy = 0; row != left_out && copy < rows.copies[row]; ++copy) {
        repeated.cells.insert(repeated.cells.end(), fixture.rows[row], fixture.rows[row] + 3);
        for (std::size_t view = 0; view < 2; ++view)
          of_copies.rows[view].push_back(kTiedViews.rows[view][row]);
      }
    for (Labels& labels : of_copies.rows) canonicalize(labels);
    BothPredictors both(fixture, rows, repeated);
    both.set(kTiedViews, of_copies);
    double found = 0.0;
    dynamic_cast<const LeaveOneOut&>(*both.of_weighted)
        .log_densities_without(left_out, {rows.weighted[left_out], rows.weighted.width}, {&found, 1});
    EXPECT_NEAR(found, log_density(*both.of_repeated, fixture.rows[left_out]), 1e-9) << left_out;
  }
}

/// A new column has the cells of the copies; its own view is that of blocks of copies.
TEST(WeightedCrosscatPredictive, NewColumnsCountCopies) {
  const Fixture fixture = three_columns(0.0, 5, 2);
  const CopiedRows rows(fixture, kTiedCounts);
  const std::size_t kept[] = {0, 1};
  const std::size_t added[] = {2};
  const std::unique_ptr<Family> third = fixture.family().of_cells(added);
  const Rows two = cells_of_rows(rows.weighted, kept);
  const Rows column = cells_of_rows(rows.weighted, added);
  const std::unique_ptr<Family> family = family_of_cells(fixture.family(), two, kept);
  const auto of_two = cells_of_copies(fixture, rows);
  const auto prior = [&](const Views& views) {
    double total = CrosscatLaw::log_crp(views.columns, kTiedAlphaColumns);
    for (const Labels& labels : views.rows)
      total += CrosscatLaw::log_crp(rows.labels_of_copies(labels), kTiedAlphaRows);
    return total;
  };
  const CrosscatLaw before(2, 2, prior, of_two, 1.0);
  const CrosscatLaw after = law_of_copies(fixture, rows);
  const ModelEntry& model = model_by_name("crosscat");
  const Problem problem{
      family.get(), &two,
      ParameterValues(model.parameters, settings_from({"alpha-rows=0.8", "alpha-columns=1.3"}))};
  const std::unique_ptr<Predictor> predictor = model.make_predictor(problem);
  double total = 0.0;
  for (const Views& views : before.states()) {
    ByteWriter writer;
    views.save(writer);
    predictor->set_draw(views.rows[views.largest()], {}, writer.take());
    total += before.probability(views) *
             std::exp(new_cells_of(*predictor).new_column(*third, column).log_probability);
  }
  EXPECT_NEAR(std::log(total), after.log_evidence() - before.log_evidence(), 1e-9);
}

}  // namespace
}  // namespace coppice::test
