// Where a new row belongs, in every model: what `predict` says from draws for four rows, against the
// enumeration of all states of those four and the new one together (whom is it with, how often?); for greedy
// trees, against the sum over all partitions that cutting the tree can give.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "coppice/post/predict.hpp"
#include "small_run.hpp"
#include "support/bhc_law.hpp"
#include "support/crosscat_law.hpp"
#include "support/nhcm_enumeration.hpp"
#include "support/nrmm_enumeration.hpp"
#include "support/rbhmc_enumeration.hpp"
#include "support/sampling_error.hpp"

namespace coppice {
namespace {

constexpr std::size_t kKnown = 4;
const std::vector<Label> kConsensus{0, 0, 1, 1};

struct MembershipCase {
  const char* name;
  const char* model;
  std::size_t level = 1;
  std::vector<std::string> parameters = {};
  test::MixtureLaw law = {};  // of nrmm
};

const char* const kBinaryRows[] = {"1,1,0", "1,1,1", "0,0,1", "0,0,0", "1,0,1"};
const double kRealRows[] = {-2.1, -1.7, 1.9, 2.3, 0.2};

std::string rows_as_csv(bool is_real, std::size_t first, std::size_t end) {
  std::string csv = is_real ? "x\n" : "a,b,c\n";
  for (std::size_t i = first; i < end; ++i)
    csv += (is_real ? fmt::format("{}", kRealRows[i]) : kBinaryRows[i]) + std::string("\n");
  return csv;
}

/// How the new row is divided among the two groups and a cluster of its own.
struct Shares {
  double of[3] = {0.0, 0.0, 0.0};

  /// A state of all rows, the new one last, with its probability.
  void add(std::span<const Label> labels, double probability) {
    double members[2] = {0.0, 0.0};
    for (std::size_t row = 0; row < kKnown; ++row)
      if (labels[row] == labels[kKnown]) members[kConsensus[row]] += 1.0;
    const double all = members[0] + members[1];
    if (all == 0.0) of[2] += probability;
    for (std::size_t group = 0; group < 2 && all > 0.0; ++group)
      of[group] += probability * members[group] / all;
  }
};

Shares enumerate_nhcm(std::size_t level) {
  test::NhcmModel model;
  model.rows.resize(kKnown + 1, 1);
  for (Eigen::Index row = 0; row < model.rows.rows(); ++row) model.rows(row, 0) = kRealRows[row];
  model.prior_mean = Eigen::VectorXd::Zero(1);
  model.scale = Eigen::MatrixXd::Identity(1, 1);
  model.mean_strength = 0.3;
  model.dof = 4.0;
  const test::NhcmPosterior exact(model);
  Shares shares;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    Labels labels;
    for (std::size_t row = 0; row <= kKnown; ++row)
      labels.push_back(level == 1 ? exact.shape(i).cluster(row) : exact.shape(i).subclusters[row]);
    shares.add(labels, exact.probability(i));
  }
  return shares;
}

/// Of the rows with the new one among them.
Shares enumerate(const MembershipCase& given, const Family& family, const Rows& rows) {
  const std::string model = given.model;
  if (model == "nhcm") return enumerate_nhcm(given.level);
  Shares shares;
  if (model == "nrmm") {
    const test::ExactPosterior exact(family, rows, given.law);
    for (std::size_t i = 0; i < exact.size(); ++i) shares.add(exact.partition(i), exact.probability(i));
  } else if (model == "crosscat") {
    const test::CrosscatLaw exact(family, rows, 1.0, 1.0);
    for (std::size_t i = 0; i < exact.states().size(); ++i) {
      const Views& views = exact.states()[i];
      shares.add(views.rows[views.largest()], std::exp(exact.log_joint(i) - exact.log_evidence()));
    }
  } else {
    const test::RbhmcPosterior exact(family, rows, {.levels = 2, .alpha = 0.4, .gamma = 1.0, .gamma0 = 0.85});
    for (std::size_t i = 0; i < exact.size(); ++i)
      shares.add(std::span(exact.tree(i).labels).subspan((given.level - 1) * rows.size(), rows.size()),
                 exact.probability(i));
  }
  return shares;
}

SmallRun request_of(const MembershipCase& given) {
  const bool is_real = std::string(given.model) == "nhcm";
  SmallRun request{.csv = "",
                   .family = is_real ? "gaussian" : "bernoulli",
                   .parameters = test::settings_from(given.parameters),
                   .chains = 1,
                   .draws = test::scaled(1200),
                   .model = given.model};
  // The prior must not depend on the data: the new row would change it.
  if (is_real)
    request.family_settings =
        test::settings_from({"prior_mean=[0.0]", "mean_strength=0.3", "dof=4.0", "scale=[[1.0]]"});
  else
    request.family_settings = test::settings_from({"a=0.4", "b=0.4"});
  return request;
}

class MembershipOfNewRows : public RunTest, public testing::WithParamInterface<MembershipCase> {};

TEST_P(MembershipOfNewRows, IsThatOfThePosteriorOfAllRows) {
  const MembershipCase& given = GetParam();
  const bool is_real = std::string(given.model) == "nhcm";
  SmallRun request = request_of(given);
  constexpr std::size_t kRuns = 16;
  std::vector<double> predicted[3];
  for (std::size_t i = 0; i < kRuns; ++i) {
    request.seed = i + 1;
    request.csv = rows_as_csv(is_real, 0, kKnown);
    const auto run = make_run(request);
    const Prediction prediction =
        predict(*run, new_rows(*run, rows_as_csv(is_real, kKnown, kKnown + 1)), kConsensus,
                {.threads = 1, .level = given.level})[0];  // a few draws at a time: threads would only wait
    predicted[0].push_back(prediction.probabilities[0]);
    predicted[1].push_back(prediction.probabilities[1]);
    predicted[2].push_back(prediction.new_probability);
  }
  request.csv = rows_as_csv(is_real, 0, kKnown + 1);
  request.draws = 1;
  const auto all = make_run(request);  // for its family and rows
  const Shares exact = enumerate(given, *all->setup().problem.family, *all->setup().problem.rows);
  EXPECT_NEAR(exact.of[0] + exact.of[1] + exact.of[2], 1.0, 1e-9);
  for (std::size_t k = 0; k < 3; ++k) {
    double mean = 0.0;
    double squares = 0.0;
    for (const double value : predicted[k]) mean += value / kRuns;
    for (const double value : predicted[k]) squares += (value - mean) * (value - mean);
    const double error = std::sqrt(squares / (kRuns * (kRuns - 1.0)));
    // A t distribution with 15 degrees of freedom is beyond 5.5 once in 16,000 times; a few draws of a ratio
    // are off by their number at most, which is far below that.
    EXPECT_NEAR(mean, exact.of[k], 5.5 * error + 1e-12) << "group " << k;
    EXPECT_LT(error, 0.01) << "group " << k;
    EXPECT_GT(exact.of[k], 0.02) << "a group that is never met proves nothing";
  }
}

const test::MixtureLaw kNggLaw{std::nullopt, 1.0, 1.0, true, std::nullopt, 1.5, 1.5};
const std::vector<std::string> kPlainTree{"levels=2", "penalty=0"};

INSTANTIATE_TEST_SUITE_P(Models, MembershipOfNewRows,
                         testing::Values(MembershipCase{"nrmm", "nrmm", 1, {"alpha=0.8"}, {0.8}},
                                         MembershipCase{"nrmm_learned", "nrmm"},
                                         MembershipCase{"nrmm_ngg", "nrmm", 1, {"process=\"ngg\""}, kNggLaw},
                                         MembershipCase{"crosscat", "crosscat"},
                                         MembershipCase{"rbhmc_top", "rbhmc", 1, kPlainTree},
                                         MembershipCase{"rbhmc_leaves", "rbhmc", 2, kPlainTree},
                                         MembershipCase{"nhcm_clusters", "nhcm", 1},
                                         MembershipCase{"nhcm_subclusters", "nhcm", 2}),
                         [](const auto& info) { return info.param.name; });

class MembershipInTrees : public RunTest, public testing::WithParamInterface<const char*> {};

/// The clusters are those of the tree; a row that joins a part of the tree which spans several of them is
/// divided by their rows in it.
TEST_P(MembershipInTrees, IsTheSumOverPartitionsOfTheTree) {
  constexpr double kAlpha = 0.7;
  constexpr std::size_t kRows = 8;
  SmallRun request{.csv = "a,b,c\n1,1,0\n1,1,1\n0,0,1\n0,0,0\n1,1,1\n0,1,0\n1,0,1\n0,0,1\n",
                   .family = "bernoulli",
                   .parameters = test::settings_from({"alpha-rows=0.7"}),
                   .model = GetParam()};
  request.family_settings = test::settings_from({"a=0.4", "b=0.4"});
  const auto run = make_run(request);
  Labels labels;
  Dendrogram tree;
  std::vector<std::size_t> cells{0, 1, 2};
  const Problem& problem = run->setup().problem;
  run->for_each_draw(0, [&](const SavedDraw& saved) {
    labels.assign(saved.labels.begin(), saved.labels.end());
    tree = run->model().row_tree(problem, saved.payload);
    if (!run->model().has_views()) return;
    const Views views = run->model().views(problem, saved.payload);
    std::erase_if(
        cells, [&](std::size_t cell) { return views.columns[cell] != static_cast<Label>(views.largest()); });
  });
  ASSERT_EQ(labels.size(), kRows);
  const std::size_t clusters = cluster_sizes(labels).size();
  ASSERT_GT(clusters, 1u) << "one cluster proves nothing";
  const std::unique_ptr<Family> family = problem.family->of_cells(cells);
  Rows rows;
  rows.width = cells.size();
  for (std::size_t row = 0; row < kRows; ++row)
    for (const std::size_t cell : cells) rows.cells.push_back((*problem.rows)[row][cell]);
  const auto cuts = test::cuts_of(tree);
  const std::vector<double> log_weights = test::log_weights_of_cuts(tree, cuts, *family, rows, kAlpha);
  const test::Stats empty(*family);
  const Rows fresh = new_rows(*run, "a,b,c\n1,0,1\n0,1,1\n0,0,0\n1,1,1\n");
  const std::vector<Prediction> predictions = predict(*run, fresh, labels);
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    std::vector<double> row;
    for (const std::size_t cell : cells) row.push_back(fresh[i][cell]);
    std::vector<double> expected(clusters + 1, 0.0);  // a new one last
    for (std::size_t c = 0; c < cuts.size(); ++c) {
      const double weight = std::exp(log_weights[c] - log_sum_exp(log_weights));
      expected[clusters] += weight * kAlpha * std::exp(empty.log_predictive(row.data()));
      for (const Dendrogram::Node node : cuts[c]) {
        test::Stats stats(*family);
        for (const std::uint32_t member : test::items_of(tree, node)) stats.add(rows[member]);
        const double density = std::exp(stats.log_predictive(row.data()));
        for (const std::uint32_t member : test::items_of(tree, node))
          expected[static_cast<std::size_t>(labels[member])] += weight * density;
      }
    }
    double total = 0.0;
    for (const double value : expected) total += value;
    for (std::size_t cluster = 0; cluster < clusters; ++cluster)
      EXPECT_NEAR(predictions[i].probabilities[cluster], expected[cluster] / total, 1e-9) << "row " << i;
    EXPECT_NEAR(predictions[i].new_probability, expected[clusters] / total, 1e-9) << "row " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, MembershipInTrees, testing::Values("bhc", "bhcc"));

}  // namespace
}  // namespace coppice
