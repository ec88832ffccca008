// Greedy trees against enumeration: what is merged, every potential as an explicit sum over the partitions
// that the tree can give, the bound below the evidence, predictives as averages over partitions that sum to
// one.
#include <gtest/gtest.h>

#include <numeric>

#include "coppice/cluster/new_column.hpp"
#include "support/bhc_law.hpp"
#include "support/monte_carlo.hpp"
#include "support/seeds.hpp"

namespace coppice::test {
namespace {

constexpr double kAlpha = 0.7;
const std::vector<std::string> kSettings{"alpha-rows=0.7"};

std::vector<std::string> with(std::vector<std::string> more) {
  more.insert(more.begin(), kSettings.begin(), kSettings.end());
  return more;
}

std::vector<std::vector<std::string>> all_settings() {
  return {kSettings, with({"pair-scores=\"recompute\""}),
          with({"randomized=true", "threshold=2", "subset=2"}),
          with({"randomized=true", "threshold=3", "subset=2", "row-filter-levels=1"}),
          with({"randomized=true", "threshold=4", "subset=4", "row-filter-levels=2"})};
}

class Bhc : public ::testing::TestWithParam<LawCase> {};

TEST_P(Bhc, MergesTheBestOfAllPairs) {
  for (const std::uint64_t seed : test_seeds()) {
    const Fixture fixture(GetParam(), seed, 24);
    const std::vector<PlainMerge> plain = merge_plainly(fixture.family(), fixture.rows, kAlpha);
    for (const char* scores : {"keep", "recompute"}) {
      const Dendrogram tree =
          TreeFit(fixture.family(), fixture.rows, with({fmt::format("pair-scores=\"{}\"", scores)})).tree();
      ASSERT_TRUE(tree.is_tree());
      for (std::size_t i = 0; i < plain.size(); ++i) {
        const auto node = static_cast<Dendrogram::Node>(tree.items() + i);
        const double scale = std::max(1.0, std::abs(plain[i].log_odds));
        if (plain[i].gap < 1e-8 * scale) break;  // rounding decides: from here on both are right
        const auto sorted = [](std::vector<std::uint32_t> rows) {
          std::sort(rows.begin(), rows.end());
          return rows;
        };
        ASSERT_EQ(items_of(tree, tree.left(node)), sorted(plain[i].left)) << "merge " << i;
        ASSERT_EQ(items_of(tree, tree.right(node)), sorted(plain[i].right)) << "merge " << i;
        ASSERT_NEAR(tree.log_odds(node), plain[i].log_odds, 1e-8 * scale) << "merge " << i;
      }
    }
  }
}

TEST_P(Bhc, PotentialsAreSumsOverPartitions) {
  const Fixture fixture(GetParam(), 1, 9);
  const double evidence = log_evidence(fixture.family(), fixture.rows, kAlpha);
  for (const std::vector<std::string>& settings : all_settings()) {
    for (const std::size_t steps : {std::size_t{4}, std::size_t{13}, std::size_t{1000}}) {
      const TreeFit fit(fixture.family(), fixture.rows, settings, steps);
      const Dendrogram forest = fit.tree();
      const auto cuts = cuts_of(forest);
      const std::vector<double> weights =
          log_weights_of_cuts(forest, cuts, fixture.family(), fixture.rows, kAlpha);
      const double total = log_sum_exp(weights);
      ASSERT_NEAR(fit.bound(), total + log_gamma(kAlpha) - log_gamma(kAlpha + 9.0), relative(1e-10, total));
      ASSERT_LE(fit.bound(), evidence + 1e-9 * std::abs(total));

      const TreePosterior posterior(forest);
      std::vector<double> is_cluster(forest.nodes(), 0.0);
      std::vector<double> together(81, 0.0);
      double largest = kMinusInfinity;
      for (std::size_t c = 0; c < cuts.size(); ++c) {
        const double p = std::exp(weights[c] - total);
        largest = std::max(largest, weights[c]);
        for (const Dendrogram::Node node : cuts[c]) {
          is_cluster[node] += p;
          for (const std::uint32_t a : items_of(forest, node))
            for (const std::uint32_t b : items_of(forest, node)) together[a * 9 + b] += p;
        }
      }
      double clusters = 0.0;
      for (Dendrogram::Node node = 0; node < forest.nodes(); ++node) {
        ASSERT_NEAR(std::exp(posterior.log_cluster(node)), is_cluster[node], 1e-9) << "node " << node;
        clusters += is_cluster[node];
      }
      ASSERT_NEAR(posterior.expected_clusters(), clusters, 1e-9);
      const std::vector<double> matrix = posterior.coclustering();
      for (std::uint32_t a = 0; a < 9; ++a)
        for (std::uint32_t b = 0; b < 9; ++b) {
          ASSERT_NEAR(matrix[a * 9 + b], together[a * 9 + b], 1e-9);
          ASSERT_NEAR(posterior.coclustering(a, b), together[a * 9 + b], 1e-9);
        }
      // The most probable partition weighs as much as any.
      const Labels best = posterior.most_probable();
      double weight = 0.0;
      for (std::size_t cluster = 0; cluster < cluster_sizes(best).size(); ++cluster) {
        std::vector<std::uint32_t> members;
        for (std::uint32_t row = 0; row < 9; ++row)
          if (best[row] == static_cast<Label>(cluster)) members.push_back(row);
        weight += log_weight_of(fixture.family(), fixture.rows, members, kAlpha);
      }
      ASSERT_NEAR(weight, largest, relative(1e-9, largest));
    }
  }
}

TEST_P(Bhc, BoundIsTheEvidenceOfTwoRows) {
  const Fixture fixture(GetParam(), 1);
  Rows two = fixture.rows;
  two.cells.resize(2 * two.width);
  EXPECT_NEAR(TreeFit(fixture.family(), two, kSettings).bound(), log_evidence(fixture.family(), two, kAlpha),
              1e-10 * 100.0);
}

/// The averages over the partitions of the tree, one by one.
TEST_P(Bhc, PredictivesAreAveragesOverPartitions) {
  const Fixture fixture(GetParam(), 2, 9);
  const Fixture others(GetParam(), 3, 4);
  const Family& family = fixture.family();
  for (const std::vector<std::string>& settings : all_settings()) {
    const TreeFit fit(family, fixture.rows, settings);
    const Dendrogram tree = fit.tree();
    const auto cuts = cuts_of(tree);
    const std::vector<double> weights = log_weights_of_cuts(tree, cuts, family, fixture.rows, kAlpha);
    const double total = log_sum_exp(weights);
    const std::unique_ptr<Predictor> predictor = fit.predictor();
    const Stats empty(family);
    const auto stats_of = [&](Dendrogram::Node node) {
      Stats stats(family);
      for (const std::uint32_t row : items_of(tree, node)) stats.add(fixture.rows[row]);
      return stats;
    };
    for (std::size_t i = 0; i < others.rows.size(); ++i) {
      // Values of another simulation, measured from this family's origin.
      std::vector<double> row(others.rows[i], others.rows[i] + family.width());
      double expected = kMinusInfinity;
      for (std::size_t c = 0; c < cuts.size(); ++c) {
        double sum = std::log(kAlpha) + empty.log_predictive(row.data());
        for (const Dendrogram::Node node : cuts[c])
          sum = log_add_exp(sum, std::log(static_cast<double>(tree.size(node))) +
                                     stats_of(node).log_predictive(row.data()));
        expected = log_add_exp(expected, weights[c] - total + sum - std::log(9.0 + kAlpha));
      }
      ASSERT_NEAR(log_density(*predictor, row.data()), expected, relative(1e-9, expected));
    }
    std::vector<CellComponent> parts;
    for (std::size_t row = 0; row < 9; ++row) {
      predictor->cell_components(row, 0, parts);
      double mean = 0.0;
      double sum = 0.0;
      for (const CellComponent& part : parts) {
        mean += part.weight * predictor->predict_cell(part.component, 0).mean;
        sum += part.weight;
      }
      ASSERT_NEAR(sum, 1.0, 1e-12);
      double expected = 0.0;
      for (std::size_t c = 0; c < cuts.size(); ++c)
        for (const Dendrogram::Node node : cuts[c]) {
          const std::vector<std::uint32_t> members = items_of(tree, node);
          if (std::find(members.begin(), members.end(), row) != members.end())
            expected += std::exp(weights[c] - total) * family.predict_cell(stats_of(node).data(), 0).mean;
        }
      ASSERT_NEAR(mean, expected, relative(1e-9, expected));
    }
    // A column is joint over its rows: the one that is there already serves as a new one.
    const std::size_t first[] = {0};
    if (const std::unique_ptr<Family> column = family.of_cells(first)) {
      Rows cells;
      cells.width = 1;
      for (std::size_t row = 0; row < 9; ++row) cells.cells.push_back(fixture.rows[row][0]);
      double expected = kMinusInfinity;
      for (std::size_t c = 0; c < cuts.size(); ++c) {
        double sum = 0.0;
        for (const Dendrogram::Node node : cuts[c]) {
          Stats stats(*column);
          for (const std::uint32_t row : items_of(tree, node)) stats.add(cells[row]);
          sum += stats.log_marginal();
        }
        expected = log_add_exp(expected, weights[c] - total + sum);
      }
      ASSERT_NEAR(log_new_column(tree, *column, cells), expected, relative(1e-9, expected));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, Bhc, ::testing::ValuesIn(law_cases()), CaseName());

TEST(BhcDraws, FollowThePosteriorOfTheTree) {
  const Fixture fixture(law_cases().front(), 1, 9);
  const Dendrogram tree = TreeFit(fixture.family(), fixture.rows, kSettings).tree();
  const TreePosterior posterior(tree);
  Stream stream({1, 0, 0}, Purpose::test);
  constexpr std::size_t kDraws = 40'000;
  std::vector<double> together(81, 0.0);
  RunningMean clusters;
  for (std::size_t draw = 0; draw < kDraws; ++draw) {
    const Labels labels = posterior.draw(stream);
    for (std::size_t a = 0; a < 9; ++a)
      for (std::size_t b = 0; b < 9; ++b) together[a * 9 + b] += labels[a] == labels[b] ? 1.0 : 0.0;
    clusters.add(1.0 + *std::max_element(labels.begin(), labels.end()));
  }
  const std::vector<double> truth = posterior.coclustering();
  std::size_t uncertain = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const double error = std::sqrt(truth[i] * (1.0 - truth[i]) / kDraws);
    if (error > 1e-3) ++uncertain;
    EXPECT_NEAR(together[i] / kDraws, truth[i], 4.5 * error + 1e-9) << i / 9 << " and " << i % 9;
  }
  EXPECT_GT(uncertain, 0u) << "a tree without uncertain merges proves nothing";
  EXPECT_NEAR(clusters.mean(), posterior.expected_clusters(), 4.5 * clusters.standard_error());
}

TEST(BhcSums, PredictivesOfBinaryRowsSumToOne) {
  const Fixture fixture({"binary", "bernoulli", {{Kind::binary}, {Kind::binary}, {Kind::binary}}, {}, 0.2}, 1,
                        12);
  for (const std::vector<std::string>& settings : all_settings()) {
    const std::unique_ptr<Predictor> predictor =
        TreeFit(fixture.family(), fixture.rows, settings).predictor();
    double sum = 0.0;
    for (unsigned bits = 0; bits < 8; ++bits) {
      const double row[] = {static_cast<double>(bits & 1), static_cast<double>(bits >> 1 & 1),
                            static_cast<double>(bits >> 2 & 1)};
      sum += std::exp(log_density(*predictor, row));
    }
    EXPECT_NEAR(sum, 1.0, 1e-12);
  }
}

TEST(BhcSums, NewColumnsSumToOne) {
  const Fixture fixture({"binary", "bernoulli", {{Kind::binary}, {Kind::binary}}, {}, 0.0}, 1, 7);
  const Dendrogram tree = TreeFit(fixture.family(), fixture.rows, kSettings).tree();
  const std::size_t first[] = {0};
  const std::unique_ptr<Family> column = fixture.family().of_cells(first);
  double sum = 0.0;
  for (unsigned bits = 0; bits < 128; ++bits) {
    Rows cells;
    cells.width = 1;
    for (unsigned row = 0; row < 7; ++row) cells.cells.push_back(static_cast<double>(bits >> row & 1));
    sum += std::exp(log_new_column(tree, *column, cells));
  }
  EXPECT_NEAR(sum, 1.0, 1e-12);
}

// Tables without ties: the tree does not know the order of the rows, nor of a column without a cell.
TEST(BhcInvariance, RowsInAnotherOrderGiveTheSameTree) {
  const LawCase law_case{"real", "gaussian-diagonal", {{Kind::real}, {Kind::real}, {Kind::real}}, {}, 0.1};
  const Fixture fixture(law_case, 4, 40);
  std::vector<std::uint32_t> order(40);
  std::iota(order.begin(), order.end(), 0u);
  Stream stream({4, 0, 0}, Purpose::test);
  shuffle(stream, order);
  Rows permuted = fixture.rows;
  for (std::size_t i = 0; i < 40; ++i) std::copy_n(fixture.rows[order[i]], 3, permuted[i]);
  const Dendrogram one = TreeFit(fixture.family(), fixture.rows, kSettings).tree();
  const Dendrogram other = TreeFit(fixture.family(), permuted, kSettings).tree();
  ASSERT_EQ(one.nodes(), other.nodes());
  for (Dendrogram::Node node = 40; node < one.nodes(); ++node) {
    std::vector<std::uint32_t> rows;
    for (const std::uint32_t row : items_of(other, node)) rows.push_back(order[row]);
    std::sort(rows.begin(), rows.end());
    ASSERT_EQ(items_of(one, node), rows);
    ASSERT_NEAR(one.log_odds(node), other.log_odds(node), relative(1e-9, one.log_odds(node)));
  }
}

TEST(BhcInvariance, AColumnWithoutACellChangesNothing) {
  const Fixture fixture({"real", "gaussian-diagonal", {{Kind::real}, {Kind::real}}, {}, 0.0}, 5, 30);
  Table wider = fixture.table;
  wider.columns.push_back({"empty", Kind::real, std::vector<double>(30, kMissing), {}});
  const FamilyPlan plan = plan_family(wider, fixture.codebook, "gaussian-diagonal", {});
  const Rows rows = encode(plan, wider);
  const TreeFit one(fixture.family(), fixture.rows, kSettings);
  const TreeFit other(*plan.family, rows, kSettings);
  EXPECT_NEAR(one.bound(), other.bound(), relative(1e-12, one.bound()));
  EXPECT_EQ(one.labels(), other.labels());
}

TEST(BhcRandomized, WithALargeThresholdIsTheExactOne) {
  for (const LawCase& law_case : law_cases()) {
    const Fixture fixture(law_case, 6, 18);
    const Dendrogram exact = TreeFit(fixture.family(), fixture.rows, kSettings).tree();
    const Dendrogram divided =
        TreeFit(fixture.family(), fixture.rows, with({"randomized=true", "threshold=18"})).tree();
    ASSERT_EQ(exact.nodes(), divided.nodes());
    for (Dendrogram::Node node = 18; node < exact.nodes(); ++node) {
      ASSERT_EQ(exact.left(node), divided.left(node));
      ASSERT_EQ(exact.log_odds(node), divided.log_odds(node));
    }
  }
}

TEST(BhcRandomized, SeedsDivideDifferently) {
  const Fixture fixture({"real", "gaussian-diagonal", {{Kind::real}, {Kind::real}}, {}, 0.0}, 7, 200);
  std::set<double> bounds;
  for (const std::uint64_t seed : {1U, 2U, 3U})
    bounds.insert(TreeFit(fixture.family(), fixture.rows, with({"randomized=true"}), 100000, seed).bound());
  EXPECT_GT(bounds.size(), 1u);
}

}  // namespace
}  // namespace coppice::test
