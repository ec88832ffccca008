// Rows with weights against tables in which rows really are repeated: mixtures against the enumeration of all
// partitions of the copies, given that copies of a row share a cluster; trees and predictions against those
// of blocks of copies.
#include <gtest/gtest.h>

#include "coppice/cluster/merge_tree.hpp"
#include "coppice/cluster/tree_predictive.hpp"
#include "coppice/prior/crp.hpp"
#include "laws/law_case.hpp"
#include "support/bhc_law.hpp"
#include "support/copied_rows.hpp"
#include "support/variants.hpp"

namespace coppice::test {
namespace {

constexpr std::size_t kWeightedSweeps = 50'000;
constexpr double kWeightedAlpha = 0.9;
constexpr std::size_t kCounts[] = {1, 3, 1, 2};  // 7 copies of 4 rows: 877 partitions, 15 of them with ties

class Weights : public ::testing::TestWithParam<LawCase> {};

TEST_P(Weights, ThePosteriorIsThatOfRepeatedRowsThatStayTogether) {
  for (const std::uint64_t seed : test_seeds()) {
    const Fixture fixture(GetParam(), seed, 4);
    const CopiedRows rows(fixture, kCounts);
    const ExactPosterior repeated(fixture.family(), rows.repeated, {kWeightedAlpha}, rows.copies);
    // With the concentration fixed, the number of rows changes all probabilities by one factor.
    const ExactPosterior weighted(rows.family, rows.weighted, {kWeightedAlpha});
    ASSERT_EQ(repeated.size(), weighted.size());
    for (std::size_t i = 0; i < repeated.size(); ++i)
      ASSERT_NEAR(weighted.probability(weighted.index(repeated.partition(i))), repeated.probability(i), 1e-9);
  }
}

TEST_P(Weights, TreesAreThoseOfBlocksOfCopies) {
  for (const std::uint64_t seed : test_seeds()) {
    const Fixture fixture(GetParam(), seed, 10);
    const CopiedRows rows(fixture, kCounts);
    const Crp prior(kWeightedAlpha, rows.repeated.size());
    MergeTree blocks(fixture.family(), rows.repeated, prior);
    const TreeFit fit(rows.family, rows.weighted, {"alpha-rows=0.9"});
    const Dendrogram tree = fit.tree();
    std::vector<MergeTree::Node> nodes;
    for (std::uint32_t row = 0; row < rows.weighted.size(); ++row)
      nodes.push_back(blocks.block(rows.copies_of(std::span(&row, 1))));
    for (auto node = static_cast<Dendrogram::Node>(tree.items()); node < tree.nodes(); ++node) {
      nodes.push_back(blocks.join(nodes[tree.left(node)], nodes[tree.right(node)]));
      const double truth = -blocks.log_d(nodes.back());
      ASSERT_NEAR(tree.log_odds(node), truth, 1e-8 * std::max(1.0, std::abs(truth)));
    }
    const double bound = blocks.log_phi(nodes.back()) + log_gamma(kWeightedAlpha) -
                         log_gamma(kWeightedAlpha + static_cast<double>(rows.repeated.size()));
    EXPECT_NEAR(fit.bound(), bound, 1e-9 * std::abs(bound));
  }
}

TEST_P(Weights, EveryMergeIsTheBestOfAllPairsOfBlocks) {
  const Fixture fixture(GetParam(), 1, 10);
  const CopiedRows rows(fixture, kCounts);
  const Crp prior(kWeightedAlpha, rows.repeated.size());
  MergeTree blocks(fixture.family(), rows.repeated, prior);
  const Dendrogram tree = TreeFit(rows.family, rows.weighted, {"alpha-rows=0.9"}).tree();
  std::vector<MergeTree::Node> nodes, roots;
  for (std::uint32_t row = 0; row < rows.weighted.size(); ++row)
    nodes.push_back(blocks.block(rows.copies_of(std::span(&row, 1))));
  roots = nodes;
  for (auto node = static_cast<Dendrogram::Node>(tree.items()); node < tree.nodes(); ++node) {
    double best = 1e300;
    for (std::size_t a = 0; a < roots.size(); ++a)
      for (std::size_t b = a + 1; b < roots.size(); ++b)
        best = std::min(best, blocks.log_d(roots[a], roots[b]));
    const MergeTree::Node left = nodes[tree.left(node)];
    const MergeTree::Node right = nodes[tree.right(node)];
    ASSERT_NEAR(blocks.log_d(left, right), best, 1e-8 * std::max(1.0, std::abs(best)));
    std::erase(roots, left);
    std::erase(roots, right);
    nodes.push_back(blocks.join(left, right));
    roots.push_back(nodes.back());
  }
}

/// Weights of joining each cluster, or a new one, for rows that are new.
std::vector<double> log_weights(const Predictor& predictor, const double* row) {
  std::vector<double> weights(predictor.clusters(1) + 1);
  predictor.log_weights(row, 1, weights);
  return weights;
}

std::vector<double> one_copy(const Rows& rows, std::size_t row) {
  std::vector<double> cells(rows[row], rows[row] + rows.width);
  cells.push_back(1.0);
  return cells;
}

TEST_P(Weights, MixturesPredictAsFromRepeatedRows) {
  const Fixture fixture(GetParam(), 3, 12);
  const CopiedRows rows(fixture, kCounts);
  const ModelEntry& model = model_by_name("nrmm");
  const ParameterValues parameters(model.parameters, settings_from({"alpha=0.9"}));
  const Problem weighted{&rows.family, &rows.weighted, parameters};
  const Problem repeated{&fixture.family(), &rows.repeated, parameters};
  const Labels labels{0, 1, 0, 2, 1, 1, 0, 2, 3, 3, 0, 1};
  std::vector<double> traces(model.trace_names(parameters).size(), kWeightedAlpha);
  const auto of_weighted = model.make_predictor(weighted);
  const auto of_repeated = model.make_predictor(repeated);
  of_weighted->set_draw(labels, traces, "");
  of_repeated->set_draw(rows.labels_of_copies(labels), traces, "");
  for (std::size_t row = 0; row < fixture.rows.size(); ++row) {
    const std::vector<double> found = log_weights(*of_weighted, one_copy(fixture.rows, row).data());
    const std::vector<double> truth = log_weights(*of_repeated, fixture.rows[row]);
    for (std::size_t c = 0; c < truth.size(); ++c) ASSERT_NEAR(found[c], truth[c], relative(1e-8, truth[c]));
  }
}

TEST_P(Weights, TreesPredictAsFromBlocksOfCopies) {
  const Fixture fixture(GetParam(), 4, 8);
  const CopiedRows rows(fixture, kCounts);
  const TreeFit fit(rows.family, rows.weighted, {"alpha-rows=0.9"});
  const auto predictor = fit.predictor();
  const Dendrogram tree = fit.tree();
  const std::vector<std::vector<Dendrogram::Node>> cuts = cuts_of(tree);
  // The average over all partitions that cutting the tree can give, each weighed as one of the copies.
  std::vector<double> log_cut, log_density;
  const std::vector<double> added = one_copy(fixture.rows, 5);
  for (const std::vector<Dendrogram::Node>& cut : cuts) {
    double weight = 0.0;
    Stats none(fixture.family());
    std::vector<double> terms{std::log(kWeightedAlpha) + none.log_predictive(fixture.rows[5])};
    for (const Dendrogram::Node node : cut) {
      Stats stats(fixture.family());
      for (const std::uint32_t copy : rows.copies_of(items_of(tree, node))) stats.add(rows.repeated[copy]);
      weight += std::log(kWeightedAlpha) + log_gamma(count_of(stats.data())) + stats.log_marginal();
      terms.push_back(std::log(count_of(stats.data())) + stats.log_predictive(fixture.rows[5]));
    }
    log_cut.push_back(weight);
    log_density.push_back(weight + log_sum_exp(terms));
  }
  const double truth = log_sum_exp(log_density) - log_sum_exp(log_cut) -
                       std::log(kWeightedAlpha + static_cast<double>(rows.repeated.size()));
  const std::vector<double> found = log_weights(*predictor, added.data());
  EXPECT_NEAR(log_sum_exp(found), truth, 1e-7 * std::max(1.0, std::abs(truth)));
}

INSTANTIATE_TEST_SUITE_P(Families, Weights, ::testing::ValuesIn(narrow_cases()), CaseName());

struct WeightedCase {
  std::size_t law_case;
  std::size_t variant;
  bool learned;
};

/// Samplers that take weights, each with one of the families.
std::vector<WeightedCase> all_weighted() {
  std::vector<WeightedCase> list;
  for (std::size_t variant = 0; variant < mixture_variants().size(); ++variant) {
    const Variant chosen = mixture_variants()[variant];
    const ModelEntry& model = model_by_name(chosen.model);
    const ParameterValues values(model.parameters, settings_from(chosen.settings));
    if (model.refuses_weights == nullptr || !model.refuses_weights(values).empty()) continue;
    for (const bool learned : {false, true})
      list.push_back({variant % narrow_cases().size(), variant, learned});
  }
  return list;
}

class WeightedSamplers : public ::testing::TestWithParam<WeightedCase> {};

TEST_P(WeightedSamplers, FrequenciesAreThePosteriorOfRepeatedRowsThatStayTogether) {
  const WeightedCase& chosen = GetParam();
  const Variant variant = mixture_variants()[chosen.variant];
  Settings settings = settings_from(variant.settings);
  parse_assignment(chosen.learned ? "alpha-prior=[2, 1.5]" : "alpha=0.9", settings);
  MixtureLaw law{kWeightedAlpha};
  if (chosen.learned) law = {std::nullopt, 2.0, 1.5};
  for (const std::uint64_t seed : test_seeds()) {
    const Fixture fixture(narrow_cases()[chosen.law_case], seed, 5);
    const CopiedRows rows(fixture, kCounts);
    const ExactPosterior exact(fixture.family(), rows.repeated, law, rows.copies);
    SamplerChain chain(model_by_name(variant.model), rows.family, rows.weighted, settings);
    const Agreement agreement = compare_chain(exact, chain, seed, scaled(kWeightedSweeps));
    EXPECT_TRUE(agreement.holds()) << "seed " << seed << ": " << agreement;
  }
}

INSTANTIATE_TEST_SUITE_P(Samplers, WeightedSamplers, ::testing::ValuesIn(all_weighted()),
                         [](const ::testing::TestParamInfo<WeightedCase>& info) {
                           return mixture_variants()[info.param.variant].name +
                                  (info.param.learned ? "_alpha_learned" : "_alpha_fixed");
                         });

}  // namespace
}  // namespace coppice::test
