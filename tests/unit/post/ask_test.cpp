// Questions about columns, rows and cells against their definitions: sums over all values of small discrete
// tables draw by draw, and leave-one-out densities against the enumeration of all partitions.
#include <gtest/gtest.h>

#include <cmath>

#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"
#include "coppice/model/left_out.hpp"
#include "coppice/model/pair_densities.hpp"
#include "coppice/post/column_dependence.hpp"
#include "coppice/post/conditional.hpp"
#include "coppice/post/draw_batches.hpp"
#include "coppice/post/row_similarity.hpp"
#include "coppice/post/unusual_rows.hpp"
#include "small_run.hpp"
#include "support/nrmm_enumeration.hpp"
#include "support/sampling_error.hpp"

namespace coppice {
namespace {

const char* const kBinary =
    "a,b,c\n1,1,0\n1,1,1\n0,0,1\n0,,0\n1,0,0\n0,0,1\n1,1,0\n0,0,1\n1,1,0\n0,1,1\n1,1,0\n0,0,1\n";
const char* const kFive = "a,b,c\n1,1,0\n1,1,1\n0,0,1\n0,1,0\n1,0,0\n";

std::string reals(std::size_t rows) {
  std::string csv = "x,y\n";
  for (std::size_t i = 0; i < rows; ++i) {
    const double t = static_cast<double>(i) / static_cast<double>(rows);
    csv += fmt::format("{:.4f},{:.4f}\n", std::sin(40.0 * t) + (i % 2 == 0 ? 5.0 : 0.0),
                       std::sin(40.0 * t) + 0.3 * std::cos(171.0 * t));
  }
  return csv;
}

double density_of(const Predictor& predictor, const double* row) {
  std::vector<double> weights(predictor.clusters(1) + 1);
  predictor.log_weights(row, 1, weights);
  return std::exp(log_sum_exp(weights));
}

/// p(cells | draw) from marginals of the clusters with and without the row: nothing of a predictor is used.
double density_by_definition(const SavedRun& run, const double* row, std::span<const Label> labels,
                             double alpha) {
  const Family& family = *run.setup().plan.family;
  const auto ratio = [&](std::vector<double> stats) {
    const double before = family.log_marginal(stats.data());
    family.add(stats.data(), row);
    return std::exp(family.log_marginal(stats.data()) - before);
  };
  const auto n = static_cast<double>(labels.size());
  double sum = alpha * ratio(stats_of(family, run.setup().rows, labels, -1));
  for (std::size_t i = 0; i < labels.size(); ++i)
    sum += ratio(stats_of(family, run.setup().rows, labels, labels[i]));
  return sum / (n + alpha);
}

class AskTest : public RunTest, public testing::WithParamInterface<const char*> {
 protected:
  std::unique_ptr<SavedRun> binary_run(const std::string& model = "nrmm") {
    const bool has_alpha = model == "nrmm";
    return make_run({.csv = kBinary,
                     .parameters = has_alpha ? Settings{{"alpha", Setting::number(0.8)}} : Settings{},
                     .chains = 1,
                     .draws = 40,
                     .model = model});
  }
};

TEST_F(AskTest, PredictionGivenCellsIsTheConditionalOfTheMixture) {
  const auto run = binary_run();
  const Table known = row_of_known_cells(*run, std::vector<KnownCell>{{"a", "1"}, {"c", "0"}});
  const std::size_t wanted[] = {1};
  const std::vector<ImputedCell> cells = conditional_cells(*run, known, wanted);
  ASSERT_EQ(cells.size(), 1U);
  double both = 0.0;
  double given = 0.0;
  run->for_each_draw(0, [&](const SavedDraw& draw) {
    for (const double b : {0.0, 1.0}) {
      const double row[] = {1.0, b, 0.0};
      const double p = density_by_definition(*run, row, draw.labels, 0.8);
      given += p;
      if (b == 1.0) both += p;
    }
  });
  EXPECT_NEAR(cells.front().probabilities[1], both / given, 1e-9);
}

TEST_F(AskTest, MutualInformationIsTheSumOverAllValues) {
  const auto run = binary_run();
  const std::pair<std::size_t, std::size_t> pair[] = {{0, 2}};
  const ColumnDependence answer = column_dependence(*run, pair, {.most_draws = 40}).front();
  double mean = 0.0;
  double share = 0.0;
  run->for_each_draw(0, [&](const SavedDraw& draw) {
    double p[2][2] = {};
    for (int a = 0; a < 2; ++a)
      for (int c = 0; c < 2; ++c) {
        const double row[] = {static_cast<double>(a), kMissing, static_cast<double>(c)};
        p[a][c] = density_by_definition(*run, row, draw.labels, 0.8);
      }
    double information = 0.0;
    double entropy = 0.0;
    for (int a = 0; a < 2; ++a) {
      const double of_a = p[a][0] + p[a][1];
      entropy -= of_a * std::log(of_a);
      for (int c = 0; c < 2; ++c) information += p[a][c] * std::log(p[a][c] / (of_a * (p[0][c] + p[1][c])));
    }
    mean += information / 40.0;
    share += information / entropy / 40.0;
  });
  EXPECT_GT(mean, 0.01);
  EXPECT_NEAR(answer.mutual_information, mean, 1e-9);
  EXPECT_NEAR(answer.share_of_first, share, 1e-9);
  EXPECT_NEAR(answer.correlation, std::sqrt(1.0 - std::exp(-2.0 * mean)), 1e-9);
  EXPECT_LE(answer.low, answer.mutual_information);
  EXPECT_GE(answer.high, answer.mutual_information);
}

/// Models with densities of pairs of their own: the same as one row for each pair of values.
TEST_F(AskTest, PairsAreRowsOfTwoCells) {
  for (const char* model : {"nrmm", "crosscat"}) {
    const auto run = binary_run(model);
    for_each_batch(*run, 5, 1, [&](std::span<const TakenDraw> batch) {
      for (const TakenDraw& draw : batch)
        for (std::size_t first = 0; first < 3; ++first) {
          const std::size_t second = (first + 1) % 3;
          const double values[] = {0.0, 1.0};
          double pairs[4];
          const auto& predictor = dynamic_cast<const PairDensities&>(*draw.predictor);
          ASSERT_TRUE(predictor.pair_densities({first, values}, {second, values}, pairs));
          const double scale = pairs[0] + pairs[1] + pairs[2] + pairs[3];
          for (std::size_t i = 0; i < 4; ++i) {
            double row[] = {kMissing, kMissing, kMissing};
            row[first] = values[i / 2];
            row[second] = values[i % 2];
            EXPECT_NEAR(pairs[i] / scale, density_of(*draw.predictor, row), 1e-9) << model;
          }
        }
    });
  }
}

TEST_F(AskTest, GridsOfNumbersAreFineEnough) {
  for (const char* family : {"gaussian", "gaussian-diagonal"}) {
    const auto run = make_run({.csv = reals(120), .family = family, .chains = 1, .draws = 8});
    const std::pair<std::size_t, std::size_t> pair[] = {{0, 1}};
    const double coarse = column_dependence(*run, pair, {.most_draws = 8}).front().mutual_information;
    const double fine =
        column_dependence(*run, pair, {.most_draws = 8, .nodes = 120}).front().mutual_information;
    EXPECT_NEAR(coarse, fine, 0.03 * fine) << family;  // as the documentation promises
    EXPECT_GT(fine, 0.05) << family;
  }
}

TEST_F(AskTest, LeaveOneOutDensitiesAgreeWithAllPartitions) {
  const auto run = make_run({.csv = kFive,
                             .parameters = {{"alpha", Setting::number(0.8)}},
                             .chains = 1,
                             .draws = test::scaled(20'000)});
  const Family& family = *run->setup().plan.family;
  const Rows& rows = run->setup().rows;
  const test::MixtureLaw law{.fixed = 0.8};
  const double all = test::ExactPosterior(family, rows, law).log_evidence();
  const PointwiseDensities pointwise = pointwise_densities(*run);
  const UnusualRows found = unusual_rows(*run, {.most_rows = 0, .most_draws = test::scaled(20'000)});
  ASSERT_EQ(found.rows.size(), 5U);
  test::Agreement agreement;
  for (const UnusualRow& entry : found.rows) {
    Rows others;
    others.width = rows.width;
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (i != entry.row) others.cells.insert(others.cells.end(), rows[i], rows[i] + rows.width);
    const double exact = all - test::ExactPosterior(family, others, law).log_evidence();
    std::vector<double> inverse;
    for (std::size_t i = entry.row; i < pointwise.values.size(); i += 5)
      inverse.push_back(std::exp(-pointwise.values[i]));
    agreement.check(fmt::format("row {}", entry.row), test::batch_estimate(inverse), std::exp(-exact));
    double mean = 0.0;
    for (const double value : inverse) mean += value / static_cast<double>(inverse.size());
    EXPECT_NEAR(entry.log_density, -std::log(mean), 1e-9);
    // The conditional of a cell, from the same enumeration: the row without it.
    for (const UnusualCell& cell : entry.cells) EXPECT_LE(cell.excess, -1.0);
  }
  EXPECT_TRUE(agreement.holds()) << agreement;
}

/// A row that is left out leaves no trace: its density does not depend on what it was, and is a density.
TEST_P(AskTest, ARowThatIsLeftOutDoesNotMatter) {
  const std::string model = GetParam();
  const bool is_real = model == "nhcm";
  const auto run = is_real ? make_run({.csv = reals(12), .chains = 1, .draws = 6, .model = model})
                           : make_run({.csv = kBinary, .chains = 1, .draws = 6, .model = model});
  const Rows& rows = run->setup().rows;
  const std::size_t width = rows.width;
  std::vector<double> patterns;
  for (std::size_t pattern = 0; pattern < 8; ++pattern)
    for (std::size_t cell = 0; cell < width; ++cell)
      patterns.push_back(is_real ? 0.7 * static_cast<double>(pattern) - 1.1 * static_cast<double>(cell)
                                 : static_cast<double>(pattern >> cell & 1));
  run->for_each_draw(0, [&](const SavedDraw& draw) {
    for (const std::size_t row : {std::size_t{0}, std::size_t{2}, std::size_t{9}}) {
      const auto densities = [&](const Rows& data) {
        Problem problem = run->setup().problem;
        problem.rows = &data;
        const std::unique_ptr<Predictor> predictor = run->model().make_predictor(problem);
        predictor->set_draw(draw.labels, draw.traces, draw.payload);
        std::vector<double> out(8);
        dynamic_cast<const LeaveOneOut&>(*predictor).log_densities_without(row, patterns, out);
        return out;
      };
      Rows changed = rows;
      for (std::size_t cell = 0; cell < width; ++cell)
        changed[row][cell] = is_real ? changed[row][cell] + 2.5 : 1.0 - changed[row][cell];
      const std::vector<double> before = densities(rows);
      const std::vector<double> after = densities(changed);
      double total = 0.0;
      for (std::size_t k = 0; k < 8; ++k) {
        EXPECT_NEAR(before[k], after[k], 1e-8) << model << " row " << row;
        total += std::exp(before[k]);
      }
      if (!is_real) {
        // Draws of rbhmc keep the weights of their components in single precision.
        EXPECT_NEAR(total, 1.0, model == "rbhmc" ? 1e-7 : 1e-9) << model << " row " << row;
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Models, AskTest, testing::Values("nrmm", "crosscat", "rbhmc", "nhcm"));

TEST_F(AskTest, AnOutlierIsFoundWithItsCell) {
  std::string csv = "id,x,y,z\n";
  for (int i = 0; i < 60; ++i)
    csv += fmt::format("r{},{:.3f},{:.3f},{}\n", i, std::sin(1.7 * i) + (i % 2 == 0 ? 4.0 : -4.0),
                       i == 17 ? 9.0 : std::cos(2.3 * i), i % 2 == 0 ? "left" : "right");
  const auto run = make_run({.csv = csv, .family = "auto", .chains = 2, .draws = 60});
  const UnusualRows found = unusual_rows(*run, {.most_rows = 3});
  ASSERT_EQ(found.rows.size(), 3U);
  EXPECT_EQ(run->table().row_ids[found.rows.front().row], "r17");
  ASSERT_FALSE(found.rows.front().cells.empty());
  const UnusualCell& cell = found.rows.front().cells.front();
  EXPECT_EQ(run->table().columns[cell.column].name, "y");
  EXPECT_EQ(cell.value, 9.0);
  EXPECT_LT(std::abs(cell.expected.median), 1.0);
  EXPECT_LT(found.rows.front().excess, found.rows.back().excess - 3.0);
}

TEST_F(AskTest, SimilarityIsTheShareOfDrawsAndColumns) {
  const auto run = binary_run("crosscat");
  const std::string path = run->file().path();
  const Analysis analysis(path);
  const std::size_t columns[] = {1};
  const std::vector<double> by_one = row_similarity(analysis, 0, columns);
  const std::vector<double> by_all = row_similarity(analysis, 0, {});
  std::vector<double> one(12, 0.0);
  std::vector<double> all(12, 0.0);
  run->for_each_draw(0, [&](const SavedDraw& draw) {
    const Views views = run->model().views(run->setup().problem, draw.payload);
    for (std::size_t row = 0; row < 12; ++row)
      for (std::size_t cell = 0; cell < 3; ++cell) {
        const Labels& labels = views.rows[static_cast<std::size_t>(views.columns[cell])];
        const double same = labels[row] == labels[0] ? 1.0 : 0.0;
        all[row] += same / 3.0 / 40.0;
        if (run->setup().plan.order[cell] == 1) one[row] += same / 40.0;
      }
  });
  for (std::size_t row = 0; row < 12; ++row) {
    EXPECT_NEAR(by_one[row], one[row], 1e-12);
    EXPECT_NEAR(by_all[row], all[row], 1e-12);
  }
}

TEST_F(AskTest, GreedyModelsRefuseToLeaveOutRows) {
  const auto run = make_run({.csv = kBinary, .chains = 1, .draws = 1, .model = "bhc"});
  try {
    unusual_rows(*run);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::configuration);
    EXPECT_NE(std::string(error.what()).find("nrmm"), std::string::npos);
  }
  const Table known = row_of_known_cells(*run, std::vector<KnownCell>{{"a", "1"}});
  EXPECT_EQ(unusual_rows(*run, known).rows.size(), 1U);
}

}  // namespace
}  // namespace coppice
