// Trees of views over rows with weights against trees over the repeated rows whose leaves are blocks of
// copies: what is merged, bounds as explicit sums, what is predicted.
#include <gtest/gtest.h>

#include "coppice/cluster/new_column.hpp"
#include "support/bhcc_law.hpp"
#include "support/copied_rows.hpp"
#include "support/tree_reference.hpp"

namespace coppice::test {
namespace {

constexpr double kBlockAlphaRows = 0.7;
constexpr double kBlockAlphaColumns = 1.3;
constexpr std::size_t kBlockCounts[] = {1, 3, 1, 2};

std::vector<std::string> with_block_settings(std::vector<std::string> more) {
  more.insert(more.begin(), {"alpha-rows=0.7", "alpha-columns=1.3"});
  return more;
}

std::vector<std::vector<std::string>> all_block_settings() {
  return {with_block_settings({"inner=\"full\""}), with_block_settings({"inner=\"reuse\""}),
          with_block_settings({"randomized=true", "threshold=2", "subset=2", "rows-divided-from=2"}),
          with_block_settings({"randomized=true", "threshold=2", "subset=2", "rows-divided-from=2",
                               "inner=\"reuse\"", "filter-levels=1", "row-filter-levels=1"})};
}

LawCase four_columns(double missing) {
  return {"mixed", "auto", {{Kind::binary}, {Kind::real}, {Kind::category, 3}, {Kind::binary}}, {}, missing};
}

/// The same tree over the repeated rows, with a block of copies for each row.
Dendrogram tree_of_copies(const Dendrogram& tree, const CopiedRows& rows) {
  Dendrogram copied(rows.repeated.size());
  std::vector<Dendrogram::Node> nodes;
  const auto all_copies = [&](std::span<const std::uint32_t> items) { return rows.copies_of(items); };
  for (std::uint32_t row = 0; row < tree.items(); ++row)
    nodes.push_back(static_cast<Dendrogram::Node>(rows.first[row]));
  // Rows of a larger block have none of their own.
  for (std::uint32_t row = 0; row < tree.items(); ++row)
    if (rows.copies[row] > 1 && tree.leaf_of(row) == row)
      nodes[row] = copied.block(all_copies(std::span(&row, 1)));
  for (auto node = static_cast<Dendrogram::Node>(tree.items()); node < tree.nodes(); ++node)
    nodes.push_back(tree.is_block(node)
                        ? copied.block(all_copies(tree.block_items(node)))
                        : copied.join(nodes[tree.left(node)], nodes[tree.right(node)], tree.log_odds(node)));
  return copied;
}

CrossTree trees_of_copies(const CrossTree& tree, const CopiedRows& rows) {
  CrossTree copied{tree.columns, {}};
  for (const std::shared_ptr<const Dendrogram>& own : tree.rows)
    copied.rows.push_back(own ? std::make_shared<const Dendrogram>(tree_of_copies(*own, rows)) : nullptr);
  return copied;
}

TEST(WeightedBhcc, BoundIsASumOverViewsAndClustersOfCopies) {
  for (const std::uint64_t seed : test_seeds()) {
    const Fixture fixture(four_columns(0.15), seed, 6);
    const CopiedRows rows(fixture, kBlockCounts);
    for (const std::vector<std::string>& settings : all_block_settings())
      for (const std::size_t steps : {std::size_t{0}, std::size_t{1}, std::size_t{4}, std::size_t{1000}}) {
        const BhccFit fit(rows.family, rows.weighted, settings, steps);
        const BhccCuts cuts(trees_of_copies(fit.tree(), rows), fixture.family(), rows.repeated,
                            kBlockAlphaRows, kBlockAlphaColumns);
        ASSERT_NEAR(fit.bound(), cuts.log_total, relative(1e-9, cuts.log_total)) << settings.back();
      }
  }
}

/// By the bounds of trees of some columns (bhc), or of the shapes that two views have.
TEST(WeightedBhcc, MergesTheBestOfAllPairs) {
  const Fixture fixture(four_columns(0.15), 2, 8);
  const CopiedRows rows(fixture, kBlockCounts);
  for (const bool reuse : {false, true}) {
    const CrossTree tree = BhccFit(rows.family, rows.weighted,
                                   with_block_settings({reuse ? "inner=\"reuse\"" : "inner=\"full\""}))
                               .tree();
    const CrossTree of_copies = trees_of_copies(tree, rows);
    const auto shape_bound = [&](const std::vector<std::size_t>& cells, Dendrogram::Node view) {
      return shape_view_bound(fixture.family(), rows.repeated, cells, *of_copies.rows[view], kBlockAlphaRows);
    };
    const auto log_weight = [&](const std::vector<std::size_t>& cells, double bound) {
      return std::log(kBlockAlphaColumns) + log_gamma(static_cast<double>(cells.size())) + bound;
    };
    std::vector<Dendrogram::Node> live;
    std::vector<double> log_phi;
    for (Dendrogram::Node node = 0; node < tree.columns.items(); ++node) {
      live.push_back(node);
      log_phi.push_back(log_weight({node}, shape_bound({node}, node)));
    }
    const auto odds_of = [&](Dendrogram::Node a, Dendrogram::Node b) {
      std::vector<std::size_t> cells = cells_of(tree.columns, a);
      for (const std::size_t cell : cells_of(tree.columns, b)) cells.push_back(cell);
      std::sort(cells.begin(), cells.end());
      const std::unique_ptr<Family> family = family_of_cells(rows.family, rows.weighted, cells);
      const double bound =
          reuse ? std::max(shape_bound(cells, a), shape_bound(cells, b))
                : TreeFit(*family, cells_of_rows(rows.weighted, cells), {"alpha-rows=0.7"}).bound();
      return log_weight(cells, bound) - log_phi[a] - log_phi[b];
    };
    for (auto node = static_cast<Dendrogram::Node>(tree.columns.items()); node < tree.columns.nodes();
         ++node) {
      const Dendrogram::Node left = tree.columns.left(node);
      const Dendrogram::Node right = tree.columns.right(node);
      double best = kMinusInfinity;
      for (std::size_t a = 0; a < live.size(); ++a)
        for (std::size_t b = a + 1; b < live.size(); ++b) best = std::max(best, odds_of(live[a], live[b]));
      ASSERT_NEAR(odds_of(left, right), best, relative(1e-8, best));
      // With reuse the merged view may have a better tree.
      ASSERT_GE(tree.columns.log_odds(node), best - relative(1e-8, best));
      ASSERT_TRUE(reuse || tree.columns.log_odds(node) <= best + relative(1e-8, best));
      log_phi.push_back(log_add_exp(tree.columns.log_odds(node), 0.0) + log_phi[left] + log_phi[right]);
      std::erase(live, left);
      std::erase(live, right);
      live.push_back(node);
    }
  }
}

/// Hyper-parameters are chosen by the same bound, of all columns here.
TEST(WeightedBhcc, EvidenceBoundIsThatOfReusedTrees) {
  const Fixture fixture(four_columns(0.15), 3, 8);
  const CopiedRows rows(fixture, kBlockCounts);
  const ModelEntry& model = model_by_name("bhcc");
  const Problem problem{&rows.family, &rows.weighted,
                        ParameterValues(model.parameters, settings_from(with_block_settings({})))};
  const BhccFit fit(rows.family, rows.weighted, with_block_settings({"inner=\"reuse\""}));
  EXPECT_NEAR(model.evidence_bound(problem), fit.bound(), relative(1e-12, fit.bound()));
}

TEST(WeightedBhcc, PredictsAsFromBlocksOfCopies) {
  constexpr std::size_t kRows = 7;
  const Fixture fixture(four_columns(0.15), 4, kRows);
  const Fixture others(four_columns(0.0), 5, 4);
  const CopiedRows rows(fixture, kBlockCounts);
  const ModelEntry& model = model_by_name("bhcc");
  for (const std::vector<std::string>& settings : all_block_settings()) {
    const BhccFit fit(rows.family, rows.weighted, settings);
    const std::unique_ptr<Predictor> of_weighted = fit.predictor();
    const Problem repeated{&fixture.family(), &rows.repeated,
                           ParameterValues(model.parameters, settings_from(settings))};
    const std::unique_ptr<Predictor> of_repeated = model.make_predictor(repeated);
    ByteWriter writer;
    trees_of_copies(fit.tree(), rows).save(writer);
    of_repeated->set_draw(rows.labels_of_copies(fit.labels()), {}, writer.take());
    ASSERT_EQ(of_weighted->clusters(1), of_repeated->clusters(1));
    const NewCells& weighted_cells = new_cells_of(*of_weighted);
    const NewCells& repeated_cells = new_cells_of(*of_repeated);
    std::vector<std::vector<CellComponent>> found, truth;
    for (std::size_t i = 0; i < others.rows.size(); ++i) {
      std::vector<double> row(others.rows[i], others.rows[i] + 4);
      row.push_back(1.0);  // one copy
      std::vector<double> weights(of_weighted->clusters(1) + 1), expected(weights.size());
      of_weighted->log_weights(row.data(), 1, weights);
      of_repeated->log_weights(row.data(), 1, expected);
      for (std::size_t c = 0; c < weights.size(); ++c)
        ASSERT_NEAR(weights[c], expected[c], relative(1e-8, expected[c]));
      for (std::size_t cell = 0; cell < 4; ++cell) {
        std::vector<double> given = row;
        given[cell] = kMissing;
        const std::size_t open[] = {cell};
        const double density = repeated_cells.condition_cells(given.data(), open, truth);
        ASSERT_NEAR(weighted_cells.condition_cells(given.data(), open, found), density,
                    relative(1e-8, density));
        ASSERT_NEAR(log_of_mixture(*of_weighted, found[0], cell, row[cell]),
                    log_of_mixture(*of_repeated, truth[0], cell, row[cell]), 1e-8);
      }
    }
    for (std::uint32_t row = 0; row < kRows; ++row)
      for (std::size_t cell = 0; cell < 4; ++cell)
        ASSERT_NEAR(log_missing_cell(*of_weighted, row, cell, others.rows[0][cell]),
                    log_missing_cell(*of_repeated, rows.first[row], cell, others.rows[0][cell]), 1e-8);
  }
}

/// Given the trees, a new column has the cells of all copies.
TEST(WeightedBhcc, NewColumnsCountCopies) {
  const Fixture fixture(four_columns(0.0), 6, 7);
  const CopiedRows rows(fixture, kBlockCounts);
  const std::size_t kept[] = {0, 1, 2};
  const std::size_t added[] = {3};
  const std::unique_ptr<Family> three = family_of_cells(fixture.family(), rows.weighted, kept);
  const Rows known = cells_of_rows(rows.weighted, kept);
  const Rows column = cells_of_rows(rows.weighted, added);
  const SomeColumns last(fixture.family(), rows.repeated, {3});
  const BhccFit fit(*three, known, with_block_settings({}));
  const CrossTree tree = fit.tree();
  const TreePosterior posterior(tree.columns);
  std::vector<double> terms;
  for (Dendrogram::Node node = 0; node < tree.columns.nodes(); ++node)
    if (tree.rows[node])
      terms.push_back(posterior.log_cluster(node) + std::log(static_cast<double>(tree.columns.size(node))) +
                      log_new_column(tree_of_copies(*tree.rows[node], rows), *last.family, last.rows));
  const std::unique_ptr<Family> alone = family_of_cells(fixture.family(), rows.weighted, added);
  terms.push_back(std::log(kBlockAlphaColumns) + TreeFit(*alone, column, {"alpha-rows=0.7"}).bound());
  const NewColumn found = new_cells_of(*fit.predictor()).new_column(*last.family, column);
  const double truth = log_sum_exp(terms) - std::log(3.0 + kBlockAlphaColumns);
  EXPECT_NEAR(found.log_probability, truth, relative(1e-9, truth));
}

/// What is drawn has the density that is said, which is that of the copies (above).
TEST(WeightedBhcc, DrawsRowsOfTheCopies) {
  const Fixture fixture({"pair", "auto", {{Kind::category, 2}, {Kind::category, 3}}, {}, 0.0}, 5, 8);
  const CopiedRows rows(fixture, kBlockCounts);
  const BhccFit fit(rows.family, rows.weighted, with_block_settings({}));
  const std::unique_ptr<Predictor> predictor = fit.predictor();
  constexpr std::size_t kRows = 40'000;
  Stream stream({1, 0, 0}, Purpose::test);
  std::vector<double> row(3), counts(6, 0.0);
  for (std::size_t i = 0; i < kRows; ++i) {
    new_cells_of(*predictor).draw_row(stream, row.data());
    counts[static_cast<std::size_t>(row[0] + 2.0 * row[1])] += 1.0 / kRows;
  }
  for (std::size_t value = 0; value < counts.size(); ++value) {
    const std::size_t second = value / 2;
    const double cells[] = {static_cast<double>(value % 2), static_cast<double>(second), 1.0};
    const double p = std::exp(log_density(*predictor, cells));
    EXPECT_NEAR(counts[value], p, 4.5 * std::sqrt(p * (1.0 - p) / kRows)) << value;
  }
}

}  // namespace
}  // namespace coppice::test
