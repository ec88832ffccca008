// Trees of views against enumeration: what is merged, bounds as explicit sums over the views and clusters
// that the trees can give, below the evidence of the cross mixture; predictives as averages that sum to one;
// what must not change the answer.
#include <gtest/gtest.h>

#include <boost/math/quadrature/sinh_sinh.hpp>
#include <numeric>

#include "coppice/cluster/new_column.hpp"
#include "support/bhcc_law.hpp"
#include "support/seeds.hpp"

namespace coppice::test {
namespace {

constexpr double kAlphaRows = 0.7;
constexpr double kAlphaColumns = 1.3;

std::vector<std::string> with_cross_settings(std::vector<std::string> more) {
  more.insert(more.begin(), {"alpha-rows=0.7", "alpha-columns=1.3"});
  return more;
}

std::vector<std::vector<std::string>> all_cross_settings() {
  const std::vector<std::string> small{"randomized=true", "threshold=2", "subset=2", "rows-divided-from=2"};
  const auto and_also = [](std::vector<std::string> base, const std::vector<std::string>& more) {
    base.insert(base.end(), more.begin(), more.end());
    return base;
  };
  return {with_cross_settings({"inner=\"full\""}), with_cross_settings({"inner=\"reuse\""}),
          with_cross_settings(small),
          with_cross_settings(and_also(small, {"inner=\"reuse\"", "filter=\"published\""})),
          with_cross_settings(
              and_also(small, {"filter-levels=1", "row-filter-levels=1", "consolidate=\"off\""}))};
}

LawCase mixed_case() {
  return {"mixed", "auto", {{Kind::binary}, {Kind::real}, {Kind::category, 3}, {Kind::binary}}, {}, 0.15};
}

/// Cases whose columns can be divided; kept small, because everything is enumerated.
std::vector<LawCase> divisible_cases() {
  std::vector<LawCase> cases{mixed_case()};
  for (const LawCase& law_case : law_cases()) {
    const Fixture fixture(law_case, 1, 6);
    std::vector<std::size_t> all(fixture.family().width());
    std::iota(all.begin(), all.end(), std::size_t{0});
    if (all.size() > 1 && all.size() <= 5 && fixture.family().of_cells(all) != nullptr)
      cases.push_back(law_case);
  }
  cases.front().name = "mixed_with_blanks";
  return cases;
}

class BhccTrees : public ::testing::TestWithParam<LawCase> {};

TEST_P(BhccTrees, MergesTheBestOfAllPairs) {
  for (const std::uint64_t seed : test_seeds()) {
    const Fixture fixture(GetParam(), seed, 7);
    const Family& family = fixture.family();
    for (const bool reuse : {false, true}) {
      const CrossTree tree =
          BhccFit(family, fixture.rows, with_cross_settings({reuse ? "inner=\"reuse\"" : "inner=\"full\""}))
              .tree();
      const std::vector<PlainViewMerge> merges =
          merge_views_plainly(family, fixture.rows, kAlphaRows, kAlphaColumns, reuse, tree);
      ASSERT_EQ(tree.columns.nodes(), 2 * family.width() - 1);
      for (std::size_t i = 0; i < merges.size(); ++i) {
        const auto node = static_cast<Dendrogram::Node>(family.width() + i);
        const double scale = std::max(1.0, std::abs(merges[i].log_odds));
        if (merges[i].gap < 1e-8 * scale) break;  // rounding decides: from here on both are right
        ASSERT_EQ(cells_of(tree.columns, node), merges[i].cells) << "merge " << i;
        if (reuse)
          ASSERT_GE(tree.columns.log_odds(node), merges[i].log_odds - 1e-8 * scale) << "merge " << i;
        else
          ASSERT_NEAR(tree.columns.log_odds(node), merges[i].log_odds, 1e-8 * scale) << "merge " << i;
      }
    }
  }
}

TEST_P(BhccTrees, BoundIsASumOverViewsAndClustersBelowTheEvidence) {
  const Fixture fixture(GetParam(), 2, 6);
  const double evidence = log_crosscat_evidence(fixture.family(), fixture.rows, kAlphaRows, kAlphaColumns);
  for (const std::vector<std::string>& settings : all_cross_settings())
    for (const std::size_t steps : {std::size_t{0}, std::size_t{1}, std::size_t{4}, std::size_t{1000}}) {
      const BhccFit fit(fixture.family(), fixture.rows, settings, steps);
      const CrossTree tree = fit.tree();
      const BhccCuts cuts(tree, fixture.family(), fixture.rows, kAlphaRows, kAlphaColumns);
      ASSERT_NEAR(fit.bound(), cuts.log_total, relative(1e-9, cuts.log_total));
      ASSERT_LE(fit.bound(), evidence + relative(1e-9, evidence));
      const TreePosterior posterior(tree.columns);
      std::vector<double> is_view(tree.columns.nodes(), 0.0);
      for (std::size_t c = 0; c < cuts.cuts.size(); ++c)
        for (const Dendrogram::Node node : cuts.cuts[c])
          is_view[node] += std::exp(cuts.log_weights[c] - cuts.log_total);
      for (Dendrogram::Node node = 0; node < tree.columns.nodes(); ++node)
        ASSERT_NEAR(std::exp(posterior.log_cluster(node)), is_view[node], 1e-9) << "node " << node;
    }
}

TEST_P(BhccTrees, BoundIsTheEvidenceOfTwoRowsAndTwoColumns) {
  const Fixture fixture(GetParam(), 3);
  const SomeColumns two(fixture.family(), fixture.rows, {0, 1});
  Rows rows = two.rows;
  rows.cells.resize(2 * rows.width);
  for (const char* inner : {"full", "reuse"})
    EXPECT_NEAR(BhccFit(*two.family, rows, with_cross_settings({fmt::format("inner=\"{}\"", inner)})).bound(),
                log_crosscat_evidence(*two.family, rows, kAlphaRows, kAlphaColumns), 1e-8);
}

/// The averages over views and clusters, one by one.
TEST_P(BhccTrees, PredictivesAreAveragesOverViewsAndClusters) {
  constexpr std::size_t kRows = 6;
  const Fixture fixture(GetParam(), 4, kRows);
  const Fixture others(GetParam(), 5, 3);
  const Family& family = fixture.family();
  for (const std::vector<std::string>& settings : all_cross_settings()) {
    const BhccFit fit(family, fixture.rows, settings);
    const CrossTree tree = fit.tree();
    const BhccCuts cuts(tree, family, fixture.rows, kAlphaRows, kAlphaColumns);
    const std::unique_ptr<Predictor> predictor = fit.predictor();
    // Of each view: its columns, the partitions of its rows and their probabilities.
    struct NodeLaw {
      std::unique_ptr<SomeColumns> columns;
      std::vector<std::size_t> cells;
      std::vector<std::vector<Dendrogram::Node>> cuts;
      std::vector<double> log_weights;
    };
    std::vector<NodeLaw> laws(tree.columns.nodes());
    for (Dendrogram::Node node = 0; node < tree.columns.nodes(); ++node) {
      if (!tree.rows[node]) continue;
      NodeLaw& law = laws[node];
      law.cells = cells_of(tree.columns, node);
      law.columns = std::make_unique<SomeColumns>(family, fixture.rows, law.cells);
      law.cuts = cuts_of(*tree.rows[node]);
      law.log_weights = log_weights_of_cuts(*tree.rows[node], law.cuts, *law.columns->family,
                                            law.columns->rows, kAlphaRows);
      const double total = log_sum_exp(law.log_weights);
      for (double& weight : law.log_weights) weight -= total;
    }
    const auto stats_of = [&](Dendrogram::Node view, Dendrogram::Node node) {
      Stats stats(*laws[view].columns->family);
      for (const std::uint32_t row : items_of(*tree.rows[view], node))
        stats.add(laws[view].columns->rows[row]);
      return stats;
    };
    for (std::size_t i = 0; i < others.rows.size(); ++i) {
      const double* row = others.rows[i];
      double expected = kMinusInfinity;
      for (std::size_t c = 0; c < cuts.cuts.size(); ++c) {
        double product = cuts.log_weights[c] - cuts.log_total;
        for (const Dendrogram::Node view : cuts.cuts[c]) {
          std::vector<double> cells;
          for (const std::size_t cell : laws[view].cells) cells.push_back(row[cell]);
          double sum = kMinusInfinity;
          for (std::size_t r = 0; r < laws[view].cuts.size(); ++r) {
            double inner =
                std::log(kAlphaRows) + Stats(*laws[view].columns->family).log_predictive(cells.data());
            for (const Dendrogram::Node node : laws[view].cuts[r])
              inner = log_add_exp(inner, std::log(static_cast<double>(tree.rows[view]->size(node))) +
                                             stats_of(view, node).log_predictive(cells.data()));
            sum = log_add_exp(
                sum, laws[view].log_weights[r] + inner - std::log(static_cast<double>(kRows) + kAlphaRows));
          }
          product += sum;
        }
        expected = log_add_exp(expected, product);
      }
      if (expected == kMinusInfinity)
        ASSERT_EQ(log_density(*predictor, row), expected) << "a count beyond the trials";
      else
        ASSERT_NEAR(log_density(*predictor, row), expected, relative(1e-9, expected));
    }
    // Any training cell serves: its own value is in the statistics of both sides alike.
    for (std::size_t cell = 0; cell < family.width(); ++cell)
      for (std::size_t row = 0; row < kRows; row += 2) {
        double expected = 0.0;
        for (std::size_t c = 0; c < cuts.cuts.size(); ++c)
          for (const Dendrogram::Node view : cuts.cuts[c]) {
            const auto place = std::find(laws[view].cells.begin(), laws[view].cells.end(), cell);
            if (place == laws[view].cells.end()) continue;
            for (std::size_t r = 0; r < laws[view].cuts.size(); ++r)
              for (const Dendrogram::Node node : laws[view].cuts[r]) {
                const std::vector<std::uint32_t> members = items_of(*tree.rows[view], node);
                if (std::find(members.begin(), members.end(), row) == members.end()) continue;
                const double mean =
                    laws[view]
                        .columns->family
                        ->predict_cell(stats_of(view, node).data(),
                                       static_cast<std::size_t>(place - laws[view].cells.begin()))
                        .mean;
                expected += std::exp(cuts.log_weights[c] - cuts.log_total + laws[view].log_weights[r]) * mean;
              }
          }
        std::vector<CellComponent> parts;
        predictor->cell_components(row, cell, parts);
        double mean = 0.0;
        double sum = 0.0;
        for (const CellComponent& part : parts) {
          mean += part.weight * predictor->predict_cell(part.component, cell).mean;
          sum += part.weight;
        }
        ASSERT_NEAR(sum, 1.0, 1e-12);
        ASSERT_NEAR(mean, expected, relative(1e-9, expected));
      }
  }
}

/// The conditional of a cell of a new row is the ratio of two joint densities.
TEST_P(BhccTrees, ConditionalsAreRatios) {
  const Fixture fixture(GetParam(), 6, 8);
  const Fixture others(GetParam(), 7, 3);
  for (const std::vector<std::string>& settings : all_cross_settings()) {
    const bhcc::CrossPredictive predictive = BhccFit(fixture.family(), fixture.rows, settings).predictive();
    for (std::size_t i = 0; i < others.rows.size(); ++i)
      for (std::size_t cell = 0; cell < fixture.family().width(); ++cell) {
        std::vector<double> row(others.rows[i], others.rows[i] + fixture.family().width());
        if (is_missing(row[cell])) continue;
        const double joint = predictive.log_density(row.data());
        const double value = row[cell];
        row[cell] = kMissing;
        const double marginal = predictive.log_density(row.data());
        const std::size_t open[] = {cell};
        std::vector<std::vector<CellComponent>> mixtures;
        EXPECT_NEAR(predictive.conditional_cells(row.data(), open, mixtures), marginal, 1e-9);
        const std::vector<CellComponent>& parts = mixtures.front();
        double conditional = kMinusInfinity;
        for (const CellComponent& part : parts)
          conditional = log_add_exp(conditional,
                                    std::log(part.weight) + predictive.log_cell(part.component, cell, value));
        ASSERT_NEAR(conditional, joint - marginal, relative(1e-8, joint - marginal));
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, BhccTrees, ::testing::ValuesIn(divisible_cases()), CaseName());

LawCase binary_case(std::size_t columns, double missing = 0.1) {
  return {"binary", "bernoulli", std::vector<CaseColumn>(columns, {Kind::binary}), {}, missing};
}

TEST(BhccSums, RowsSumToOneAndColumnsToLess) {
  const Fixture fixture(binary_case(4), 1, 6);
  for (const std::vector<std::string>& settings : all_cross_settings()) {
    const BhccFit fit(fixture.family(), fixture.rows, settings);
    const std::unique_ptr<Predictor> predictor = fit.predictor();
    double rows = 0.0;
    for (unsigned bits = 0; bits < 16; ++bits) {
      const double row[] = {static_cast<double>(bits & 1), static_cast<double>(bits >> 1 & 1),
                            static_cast<double>(bits >> 2 & 1), static_cast<double>(bits >> 3 & 1)};
      rows += std::exp(log_density(*predictor, row));
    }
    EXPECT_NEAR(rows, 1.0, 1e-12);
    const bhcc::CrossPredictive predictive = fit.predictive();
    const SomeColumns column(fixture.family(), fixture.rows, {0});
    double proper = 0.0;
    double literal = 0.0;
    for (unsigned bits = 0; bits < 64; ++bits) {
      Rows cells;
      cells.width = 1;
      for (unsigned row = 0; row < 6; ++row) cells.cells.push_back(static_cast<double>(bits >> row & 1));
      proper += std::exp(predictive.new_column(*column.family, cells).log_probability);
      literal += std::exp(predictive.log_new_column_literal(*column.family, cells));
    }
    EXPECT_LE(proper, 1.0);
    EXPECT_GE(proper, 4.0 / (4.0 + kAlphaColumns));
    EXPECT_NEAR(literal, TreePosterior(predictive.tree().columns).expected_clusters(), 1e-10);
    // Both values of a missing cell, and of a cell of a new row given the others.
    for (std::size_t cell = 0; cell < 4; ++cell) {
      EXPECT_NEAR(std::exp(log_missing_cell(*predictor, 2, cell, 0.0)) +
                      std::exp(log_missing_cell(*predictor, 2, cell, 1.0)),
                  1.0, 1e-12);
      double row[] = {1.0, 0.0, 1.0, 1.0};
      row[cell] = kMissing;
      const std::size_t open[] = {cell};
      std::vector<std::vector<CellComponent>> mixtures;
      predictive.conditional_cells(row, open, mixtures);
      const std::vector<CellComponent>& parts = mixtures.front();
      double sum = 0.0;
      for (const CellComponent& part : parts)
        for (const double value : {0.0, 1.0})
          sum += part.weight * std::exp(predictive.log_cell(part.component, cell, value));
      EXPECT_NEAR(sum, 1.0, 1e-12);
    }
  }
}

TEST(BhccSums, DensitiesOfNumbersIntegrateToOne) {
  const Fixture fixture(mixed_case(), 2, 8);
  const std::size_t real = static_cast<std::size_t>(
      std::find(fixture.plan.order.begin(), fixture.plan.order.end(), 1u) - fixture.plan.order.begin());
  const std::unique_ptr<Predictor> predictor =
      BhccFit(fixture.family(), fixture.rows, with_cross_settings({})).predictor();
  boost::math::quadrature::sinh_sinh<double> integrator;
  EXPECT_NEAR(integrator.integrate([&](double x) {
    return std::abs(x) > 1e100 ? 0.0 : std::exp(log_missing_cell(*predictor, 3, real, x));
  }),
              1.0, 1e-8);
}

Rows columns_in_order(const Rows& rows, const std::vector<std::uint32_t>& order) {
  Rows other = rows;
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (std::size_t cell = 0; cell < order.size(); ++cell) other[row][cell] = rows[row][order[cell]];
  return other;
}

LawCase real_case(std::size_t columns) {
  return {"real", "gaussian-diagonal", std::vector<CaseColumn>(columns, {Kind::real}), {}, 0.1};
}

/// A table without ties in two crossing views.
Fixture crossing(std::size_t rows, std::size_t columns, std::uint64_t seed) {
  Fixture fixture(real_case(columns), seed, rows);
  Stream stream({seed, 0, 0}, Purpose::test);
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t cell = 0; cell < columns; ++cell)
      fixture.table.columns[cell].values[row] =
          5.0 * static_cast<double>(cell % 2 == 0 ? row % 3 : (row / 3) % 2) + draw_normal(stream);
  fixture.plan = plan_family(fixture.table, {}, "gaussian-diagonal",
                             parse_all({"prior_mean=4", "mean_strength=0.1", "shape=2", "rate=2"}));
  fixture.rows = encode(fixture.plan, fixture.table);
  return fixture;
}

TEST(BhccInvariance, RowsAndColumnsInAnotherOrderGiveTheSameTrees) {
  const Fixture fixture = crossing(30, 8, 3);
  std::vector<std::uint32_t> rows(30), columns(8);
  std::iota(rows.begin(), rows.end(), 0u);
  std::iota(columns.begin(), columns.end(), 0u);
  Stream stream({8, 0, 0}, Purpose::test);
  shuffle(stream, rows);
  shuffle(stream, columns);
  Rows permuted = fixture.rows;
  for (std::size_t i = 0; i < 30; ++i) std::copy_n(fixture.rows[rows[i]], 8, permuted[i]);
  permuted = columns_in_order(permuted, columns);
  for (const char* inner : {"full", "reuse"}) {
    const std::vector<std::string> settings = with_cross_settings({fmt::format("inner=\"{}\"", inner)});
    const BhccFit one(fixture.family(), fixture.rows, settings);
    const BhccFit other(fixture.family(), permuted, settings);
    EXPECT_NEAR(one.bound(), other.bound(), relative(1e-10, one.bound()));
    const CrossTree a = one.tree();
    const CrossTree b = other.tree();
    for (Dendrogram::Node node = 8; node < a.columns.nodes(); ++node) {
      std::vector<std::uint32_t> cells;
      for (const std::uint32_t cell : items_of(b.columns, node)) cells.push_back(columns[cell]);
      std::sort(cells.begin(), cells.end());
      ASSERT_EQ(items_of(a.columns, node), cells);
      ASSERT_NEAR(a.columns.log_odds(node), b.columns.log_odds(node),
                  relative(1e-8, a.columns.log_odds(node)));
    }
    const Views views = one.views();
    ASSERT_EQ(views.count(), 2u) << "even and odd columns";
    EXPECT_EQ(cluster_sizes(views.rows[0]).size(), 3u);
    EXPECT_EQ(cluster_sizes(views.rows[1]).size(), 2u);
  }
}

/// A column without a cell is a view of its own or in any other alike: only the sizes of the prior know it.
TEST(BhccInvariance, AColumnWithoutACellAddsNoEvidence) {
  const Fixture fixture = crossing(12, 3, 5);
  Table wider = fixture.table;
  wider.columns.push_back({"empty", Kind::real, std::vector<double>(12, kMissing), {}});
  const FamilyPlan plan = plan_family(wider, {}, "gaussian-diagonal",
                                      parse_all({"prior_mean=4", "mean_strength=0.1", "shape=2", "rate=2"}));
  const Rows rows = encode(plan, wider);
  const BhccFit fit(*plan.family, rows, with_cross_settings({}));
  const CrossTree tree = fit.tree();
  EXPECT_LE(fit.bound(), BhccFit(fixture.family(), fixture.rows, with_cross_settings({})).bound() + 1e-9);
  EXPECT_NEAR(shape_view_bound(*plan.family, rows, {0, 3}, *tree.rows[0], kAlphaRows),
              shape_view_bound(*plan.family, rows, {0}, *tree.rows[0], kAlphaRows), 1e-9);
}

TEST(BhccThreads, DoNotChangeABit) {
  const Fixture fixture = crossing(40, 24, 7);
  for (const std::vector<std::string>& settings : all_cross_settings()) {
    const BhccFit one(fixture.family(), fixture.rows, settings, 100000, 1, 1);
    for (const std::size_t threads : {2U, 8U})
      EXPECT_EQ(BhccFit(fixture.family(), fixture.rows, settings, 100000, 1, threads).payload(),
                one.payload());
  }
}

TEST(BhccLimits, OneColumnIsATreeOfItsRows) {
  const Fixture fixture(real_case(1), 9, 25);
  const BhccFit cross(fixture.family(), fixture.rows, with_cross_settings({}));
  const TreeFit plain(fixture.family(), fixture.rows, {"alpha-rows=0.7"});
  EXPECT_NEAR(cross.bound(), plain.bound(), 1e-9);
  EXPECT_EQ(cross.labels(), plain.labels());
  const Dendrogram rows = *cross.tree().rows[0];
  const Dendrogram expected = plain.tree();
  for (Dendrogram::Node node = 25; node < rows.nodes(); ++node) {
    EXPECT_EQ(rows.left(node), expected.left(node));
    EXPECT_EQ(rows.log_odds(node), expected.log_odds(node));
  }
}

TEST(BhccLimits, ConcentrationsDecideAlone) {
  const Fixture fixture = crossing(20, 6, 11);
  for (const char* inner : {"full", "reuse"}) {
    const std::string how = fmt::format("inner=\"{}\"", inner);
    const BhccFit together(fixture.family(), fixture.rows, {"alpha-columns=1e-300", how});
    EXPECT_EQ(together.views().count(), 1u);
    const BhccFit apart(fixture.family(), fixture.rows, {"alpha-columns=1e300", how});
    EXPECT_EQ(apart.views().count(), 6u);
    const CrossTree tree = apart.tree();
    for (Dendrogram::Node node = 6; node < tree.columns.nodes(); ++node)
      EXPECT_LT(tree.columns.log_odds(node), -100.0);
  }
}

TEST(BhccRandomized, WithALargeThresholdIsTheExactOne) {
  const Fixture fixture = crossing(20, 9, 12);
  for (const char* inner : {"full", "reuse"}) {
    const std::string how = fmt::format("inner=\"{}\"", inner);
    const BhccFit exact(fixture.family(), fixture.rows, with_cross_settings({how}));
    const BhccFit divided(
        fixture.family(), fixture.rows,
        with_cross_settings({how, "randomized=true", "threshold=9", "subset=4", "consolidate=\"off\""}));
    EXPECT_EQ(exact.payload(), divided.payload());
  }
}

/// log S of the halves of the small tree, by the recursion over its own fit.
TEST(BhccRandomized, ColumnsGoWhereTheHalvesSay) {
  const Fixture fixture = crossing(9, 7, 14);
  for (const bool published : {false, true}) {
    std::map<std::uint32_t, std::pair<double, double>> heard;
    const BhccFit divided(
        fixture.family(), fixture.rows,
        with_cross_settings({"inner=\"full\"", "randomized=true", "threshold=4", "subset=4",
                             "filter-levels=1", published ? "filter=\"published\"" : "filter=\"size\""}),
        [&](bhcc::Options& options) {
          options.division.priority = {0, 1, 2, 3, 9, 9, 9};
          options.division.on_filter = [&](std::uint32_t column, double left, double right) {
            heard[column] = {left, right};
          };
        });
    ASSERT_EQ(heard.size(), 3u);
    const SomeColumns chosen(fixture.family(), fixture.rows, {0, 1, 2, 3});
    const CrossTree tree =
        BhccFit(*chosen.family, chosen.rows, with_cross_settings({"inner=\"full\""})).tree();
    const Dendrogram& columns = tree.columns;
    std::vector<double> log_all(columns.nodes());
    const auto log_one = [&](Dendrogram::Node node) {
      return std::log(kAlphaColumns) + log_gamma(static_cast<double>(columns.size(node)));
    };
    for (Dendrogram::Node node = 0; node < columns.nodes(); ++node)
      log_all[node] =
          columns.is_leaf(node)
              ? log_one(node)
              : log_add_exp(log_one(node), log_all[columns.left(node)] + log_all[columns.right(node)]);
    for (const auto& [column, sides] : heard) {
      const SomeColumns other(fixture.family(), fixture.rows, {column});
      std::function<double(Dendrogram::Node)> log_s = [&](Dendrogram::Node node) {
        const double size = published ? 1.0 : static_cast<double>(columns.size(node));
        const double whole = std::log(size) + log_new_column(*tree.rows[node], *other.family, other.rows);
        if (columns.is_leaf(node)) return whole;
        const double odds = columns.log_odds(node);
        return log_add_exp(
            log_logistic(odds) + whole,
            log_logistic(-odds) + log_add_exp(log_s(columns.left(node)), log_s(columns.right(node))));
      };
      const auto half = [&](Dendrogram::Node node) {
        return log_s(node) + (published ? log_one(node) - log_all[node] : 0.0);
      };
      const Dendrogram::Node root = columns.roots().front();
      EXPECT_NEAR(sides.first, half(columns.left(root)), relative(1e-9, sides.first));
      EXPECT_NEAR(sides.second, half(columns.right(root)), relative(1e-9, sides.second));
    }
  }
}

TEST(BhccRandomized, FindsTheViewsAndConsolidationNeverHarms) {
  const Fixture fixture = crossing(30, 60, 13);
  std::set<double> bounds;
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const BhccFit plain(fixture.family(), fixture.rows,
                        {"randomized=true", "inner=\"reuse\"", "consolidate=\"off\""}, 100000, seed);
    const BhccFit consolidated(fixture.family(), fixture.rows, {"randomized=true", "inner=\"reuse\""}, 100000,
                               seed);
    EXPECT_GE(consolidated.bound(), plain.bound());
    bounds.insert(plain.bound());
    const Views views = consolidated.views();
    EXPECT_EQ(views.count(), 2u);
    for (std::size_t cell = 0; cell < 60; ++cell) EXPECT_EQ(views.columns[cell], views.columns[cell % 2]);
  }
  EXPECT_GT(bounds.size(), 1u) << "seeds divide differently";
}

}  // namespace
}  // namespace coppice::test
