// The mixture with a learned block, and with missing cells: against enumeration over all partitions, with the
// hyper-parameters and the missing cells integrated by sums over grids; by Geweke's test; and as a chain that
// can be saved, loaded and rescaled.
#include <gtest/gtest.h>

#include <algorithm>

#include "coppice/cluster/filled_rows.hpp"
#include "coppice/family/plan.hpp"
#include "learned/geweke_chain.hpp"
#include "learned/learned_case.hpp"
#include "learned/seen.hpp"
#include "support/level_grid.hpp"

namespace coppice::test {
namespace {

/// All partitions of a few rows with their probabilities, from log p(rows of a subset) of every subset.
class Enumeration {
 public:
  /// `log_data(labels, clusters)` is log p(data | partition).
  template <typename LogData>
  Enumeration(std::size_t n, double alpha, LogData&& log_data) {
    std::vector<double> logs;
    for_each_partition(n, [&](std::span<const Label> labels, std::size_t clusters) {
      double total = log_gamma(alpha) - log_gamma(alpha + static_cast<double>(n)) +
                     static_cast<double>(clusters) * std::log(alpha);
      for (const std::size_t size : cluster_sizes(labels)) total += log_gamma(static_cast<double>(size));
      partitions_.emplace_back(labels.begin(), labels.end());
      logs.push_back(total + log_data(labels, clusters));
    });
    const double total = log_sum_exp(logs);
    for (const double value : logs) probabilities_.push_back(std::exp(value - total));
  }
  std::size_t size() const { return partitions_.size(); }
  const Labels& partition(std::size_t i) const { return partitions_[i]; }
  double probability(std::size_t i) const { return probabilities_[i]; }
  std::size_t index(const Labels& labels) const {
    return static_cast<std::size_t>(std::find(partitions_.begin(), partitions_.end(), labels) -
                                    partitions_.begin());
  }

 private:
  std::vector<Labels> partitions_;
  std::vector<double> probabilities_;
};

const std::vector<std::vector<std::string>>& samplers() {
  static const std::vector<std::vector<std::string>> list{
      {"sampler=\"gibbs\""},
      {"sampler=\"split-merge\""},
      {"sampler=\"tree-guided\"", "scan-every=3", "row-updates=2", "multiway-moves=2"},
      {"sampler=\"auto\""},
      {"sampler=\"data-parallel\"", "pair-moves=2", "launch-rows=3", "block-size=2"}};
  return list;
}

Problem problem_of(const Family& family, const Rows& rows, const std::vector<std::string>& settings) {
  return {&family, &rows, ParameterValues(mixture().parameters, settings_from(settings))};
}

/// Frequencies of the partitions against the enumeration; `also` sees the chain after every sweep.
template <typename Also>
Agreement compare_partitions(const Enumeration& exact, const Problem& problem, std::uint64_t seed,
                             std::size_t draws, Also&& also) {
  const std::unique_ptr<Inference> chain = mixture().make_inference(problem);
  Visits visits(exact.size(), draws);
  Labels labels(problem.rows->size());
  chain->init({seed, 0, 0});
  for (std::size_t sweep = 1; sweep <= draws + 500; ++sweep) {
    chain->step({seed, 0, sweep});
    if (sweep <= 500) continue;
    chain->labels(labels);
    visits.add(exact.index(labels));
    also(*chain, labels);
  }
  Agreement agreement;
  for (std::size_t i = 0; i < exact.size(); ++i)
    if (exact.probability(i) > 1e-3)
      visits.check(agreement, "partition " + partition_key(exact.partition(i)), exact.probability(i),
                   [&](std::size_t j) { return j == i; });
  return agreement;
}

class LearnedMixture : public ::testing::TestWithParam<std::size_t> {};

TEST_P(LearnedMixture, AgreesWithEnumerationAndAGridOfHyperParameters) {
  Rows rows;
  rows.width = 1;
  rows.cells = {-1.1, -0.8, 0.9, 1.3, 0.2};
  const PriorGrid grid(24);
  const Enumeration exact(rows.size(), 1.3, [&](std::span<const Label> labels, std::size_t clusters) {
    std::vector<double> n(clusters, 0.0);
    std::vector<double> sums(clusters, 0.0);
    std::vector<double> squares(clusters, 0.0);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const auto c = static_cast<std::size_t>(labels[i]);
      n[c] += 1.0;
      sums[c] += rows[i][0];
      squares[c] += rows[i][0] * rows[i][0];
    }
    std::vector<double> logs;
    for (const PriorGrid::Point& point : grid.points()) {
      double total = point.log_weight;
      for (std::size_t c = 0; c < clusters; ++c)
        total += log_marginal_1d(n[c], sums[c], squares[c], std::exp(point.log_kappa), std::exp(point.log_nu),
                                 point.mean, std::exp(point.log_omega));
      logs.push_back(total);
    }
    return log_sum_exp(logs);
  });
  const Gaussian block = learned_block(1, rows.size());
  std::vector<std::string> settings = samplers()[GetParam()];
  settings.push_back("alpha=1.3");
  const Problem problem = problem_of(block, rows, settings);
  const Agreement agreement =
      compare_partitions(exact, problem, 1, scaled(100'000), [](const Inference&, const Labels&) {});
  EXPECT_TRUE(agreement.holds()) << agreement;
}

/// A column of three levels in these rows.
Table levels_table(const std::vector<double>& cells) {
  Table table;
  table.columns.push_back({"level", Kind::category, cells, {"a", "b", "c"}});
  for (std::size_t i = 0; i < cells.size(); ++i) table.row_ids.push_back(std::to_string(i + 1));
  return table;
}

TEST_P(LearnedMixture, LevelsAgreeWithEnumerationAndAGridOfConcentrations) {
  const std::vector<double> cells{0.0, 0.0, 1.0, 0.0, kMissing, 2.0};
  const LevelGrid grid(32, 32);
  std::vector<double> means;  // of the first level's share, given a partition
  const Enumeration exact(cells.size(), 1.3, [&](std::span<const Label> labels, std::size_t clusters) {
    std::vector<std::vector<double>> of_cluster(clusters);
    for (std::size_t i = 0; i < labels.size(); ++i)
      if (!is_missing(cells[i])) of_cluster[static_cast<std::size_t>(labels[i])].push_back(cells[i]);
    std::vector<double> logs;
    for (const LevelGrid::Point& point : grid.points()) {
      double total = point.log_weight;
      for (const std::vector<double>& own : of_cluster)
        total += LevelGrid::log_marginal(own, point.concentration);
      logs.push_back(total);
    }
    const double total = log_sum_exp(logs);
    double mean = 0.0;
    for (std::size_t p = 0; p < logs.size(); ++p) {
      const std::array<double, 3>& c = grid.points()[p].concentration;
      mean += std::exp(logs[p] - total) * c[0] / (c[0] + c[1] + c[2]);
    }
    means.push_back(mean);
    return total;
  });
  double mean = 0.0;
  for (std::size_t i = 0; i < exact.size(); ++i) mean += exact.probability(i) * means[i];
  const Table table = levels_table(cells);
  const FamilyPlan plan = plan_family(table, {}, "auto", {}, false, {.learns_hyper = true});
  ASSERT_EQ(plan.family->hyper_size(), 3U);
  const Rows rows = encode(plan, table);
  std::vector<std::string> settings = samplers()[GetParam()];
  settings.push_back("alpha=1.3");
  const Problem problem = problem_of(*plan.family, rows, settings);
  std::vector<double> shares;
  Agreement agreement =
      compare_partitions(exact, problem, 1, scaled(100'000), [&](const Inference& chain, const Labels&) {
        const std::vector<double> c = read_learned(chain.payload(), 3, 0).hyper;
        shares.push_back(c[0] / (c[0] + c[1] + c[2]));
      });
  agreement.check("the share of the first level", batch_estimate(shares), mean);
  EXPECT_TRUE(agreement.holds()) << agreement;
}

TEST_P(LearnedMixture, MissingCellsAgreeWithEnumerationAndSumsOverThem) {
  // The prior is given: what is missing is all there is to integrate.
  const Gaussian block({0.0, 0.0}, 0.4, 4.0, std::vector<double>{0.8, 0.3, 0.3, 0.6}, 4);
  Rows rows;
  rows.width = 2;
  rows.cells = {-1.0, -0.8, -0.7, kMissing, 1.0, 0.9, kMissing, 0.6};
  double mean_of_hole = 0.0;
  std::vector<double> hole_means;
  const Enumeration exact(rows.size(), 0.9, [&](std::span<const Label> labels, std::size_t clusters) {
    double total = 0.0;
    double found = 0.0;
    for (std::size_t c = 0; c < clusters; ++c) {
      std::vector<std::size_t> members;
      for (std::size_t i = 0; i < labels.size(); ++i)
        if (labels[i] == static_cast<Label>(c)) members.push_back(i);
      double mean = 0.0;
      total += log_marginal_with_holes(block, rows, members, &mean, 1);
      if (std::find(members.begin(), members.end(), 1U) != members.end()) found = mean;
    }
    hole_means.push_back(found);
    return total;
  });
  for (std::size_t i = 0; i < exact.size(); ++i) mean_of_hole += exact.probability(i) * hole_means[i];
  std::vector<std::string> settings = samplers()[GetParam()];
  settings.push_back("alpha=0.9");
  const Problem problem = problem_of(block, rows, settings);
  std::vector<double> seen;
  Agreement agreement =
      compare_partitions(exact, problem, 1, scaled(100'000), [&](const Inference& chain, const Labels&) {
        const double x = read_learned(chain.payload(), 0, 2).cells[0];
        seen.push_back(x / (1.0 + std::abs(x)));
      });
  agreement.check("the first missing cell", batch_estimate(seen), mean_of_hole);
  EXPECT_TRUE(agreement.holds()) << agreement;
}

struct GewekeCase {
  std::size_t sampler, columns;
  bool missing;
};

class LearnedGeweke : public ::testing::TestWithParam<GewekeCase> {};

TEST_P(LearnedGeweke, BothWaysHaveTheSameLaw) {
  const GewekeCase which = GetParam();
  const std::size_t n = 6;
  const Gaussian block = learned_block(which.columns, n);
  Rows rows = made_rows(n, which.columns, 0.0, 4);
  // The first cells of rows 0 and 1 are looked at, and one row has nothing but holes.
  if (which.missing) {
    rows[0][1] = rows[2][0] = rows[5][which.columns - 1] = kMissing;
    std::fill_n(rows[3], which.columns, kMissing);
  }
  std::vector<std::string> settings = samplers()[which.sampler];
  settings.push_back("alpha-prior=[2, 1.5]");
  const std::size_t holes = FilledRows(block, rows).cells_size();
  for (const std::uint64_t seed : test_seeds()) {
    const Agreement agreement = compare_both_ways(
        mixture(), block, rows, settings, seed, scaled(30'000), [&](const Inference& chain) {
          return read_learned(chain.payload(), block.hyper_size(), holes).cells;
        });
    EXPECT_TRUE(agreement.holds()) << "seed " << seed << ": " << agreement;
  }
}

INSTANTIATE_TEST_SUITE_P(Samplers, LearnedMixture, ::testing::Values(0, 1, 2, 3, 4));
INSTANTIATE_TEST_SUITE_P(Samplers, LearnedGeweke,
                         ::testing::Values(GewekeCase{0, 1, false}, GewekeCase{1, 2, false},
                                           GewekeCase{2, 2, false}, GewekeCase{3, 3, false},
                                           GewekeCase{0, 2, true}, GewekeCase{2, 2, true},
                                           GewekeCase{3, 3, true}, GewekeCase{4, 1, false},
                                           GewekeCase{4, 3, true}));

class LearnedChain : public ::testing::TestWithParam<double> {};

TEST_P(LearnedChain, GoesOnAfterLoadingAsIfNothingHadHappened) {
  const Gaussian block = learned_block(3, 40);
  const Rows rows = made_rows(40, 3, GetParam(), 11);
  const Problem problem = problem_of(block, rows, {});
  const ModelEntry& model = mixture();
  const std::unique_ptr<Inference> whole = model.make_inference(problem);
  whole->init({3, 0, 0});
  for (std::uint64_t sweep = 1; sweep <= 30; ++sweep) whole->step({3, 0, sweep});
  whole->rebuild();
  const std::unique_ptr<Inference> loaded = model.make_inference(problem);
  loaded->load(whole->save());
  EXPECT_EQ(whole->save(), loaded->save());
  EXPECT_NEAR(whole->log_joint(), whole->log_joint_from_scratch(), 1e-7);
  for (std::uint64_t sweep = 31; sweep <= 60; ++sweep) {
    whole->step({3, 0, sweep});
    loaded->step({3, 0, sweep});
    EXPECT_NEAR(whole->log_joint(), whole->log_joint_from_scratch(), 1e-7);
    ASSERT_EQ(seen_of(model, *whole, problem), seen_of(model, *loaded, problem)) << sweep;
  }
  EXPECT_THROW(loaded->load(whole->save().substr(0, 200)), Error);
}

TEST_P(LearnedChain, DoesNotCareForUnits) {
  // A power of two times everything is the same to the last bit; with any factor and offset partitions are
  // the same until rounding decides a close choice.
  const Rows rows = made_rows(40, 3, GetParam(), 12);
  Rows scaled_rows = rows;
  for (std::size_t i = 0; i < rows.size(); ++i) scaled_rows[i][1] *= 1000.0;
  const Gaussian block = learned_block(3, 40);
  const Gaussian other({0.0, 0.0, 0.0}, {1.0, 1000.0, 1.0}, 40);
  const ModelEntry& model = mixture();
  const Problem problem = problem_of(block, rows, {});
  const Problem scaled_problem = problem_of(other, scaled_rows, {});
  const std::unique_ptr<Inference> a = model.make_inference(problem);
  const std::unique_ptr<Inference> b = model.make_inference(scaled_problem);
  a->init({5, 0, 0});
  b->init({5, 0, 0});
  Labels labels_a(40);
  Labels labels_b(40);
  for (std::uint64_t sweep = 1; sweep <= 40; ++sweep) {
    a->step({5, 0, sweep});
    b->step({5, 0, sweep});
    a->labels(labels_a);
    b->labels(labels_b);
    ASSERT_EQ(labels_a, labels_b) << sweep;
  }
}

TEST_P(LearnedChain, PredictsWhatItsDrawSays) {
  const Gaussian block = learned_block(3, 40);
  const Rows rows = made_rows(40, 3, GetParam(), 13);
  const Problem problem = problem_of(block, rows, {});
  const ModelEntry& model = mixture();
  const std::unique_ptr<Inference> chain = model.make_inference(problem);
  chain->init({7, 0, 0});
  for (std::uint64_t sweep = 1; sweep <= 20; ++sweep) chain->step({7, 0, sweep});
  std::vector<double> traces(trace_names(model, problem).size());
  chain->traces(traces);
  Labels labels(40);
  chain->labels(labels);
  const std::unique_ptr<Predictor> predictor = model.make_predictor(problem);
  predictor->set_draw(labels, traces, chain->payload());
  // log p(x | draw) is the log joint with one more row less that without: here of a cluster's part.
  const std::unique_ptr<Family> learned = block.clone();
  const FilledRows holes(block, rows);
  const LearnedPayload payload = read_learned(chain->payload(), block.hyper_size(), holes.cells_size());
  learned->set_hyper(payload.hyper.data());
  FilledRows filled(*learned, rows);
  filled.set_cells(payload.cells);
  std::vector<double> weights(predictor->clusters(1) + 1);
  double row[] = {0.4, -0.2, kMissing};
  predictor->log_weights(row, 1, weights);
  for (std::size_t c = 0; c + 1 < weights.size(); ++c) {
    std::vector<double> stats(learned->stats_size());
    learned->clear(stats.data());
    double size = 0.0;
    for (std::size_t i = 0; i < 40; ++i)
      if (labels[i] == static_cast<Label>(c)) {
        learned->add(stats.data(), filled.rows()[i]);
        size += 1.0;
      }
    const double alpha = traces[4];
    EXPECT_NEAR(weights[c], std::log(size / (40.0 + alpha)) + learned->log_predictive(stats.data(), row),
                1e-9);
    // A missing cell of a training row: given the row's own cells and the others of its cluster.
    for (const FilledRows::Cell& cell : filled.cells()) {
      if (labels[cell.row] != static_cast<Label>(c)) continue;
      std::vector<CellComponent> mixture;
      predictor->cell_components(cell.row, cell.column, mixture);
      ASSERT_EQ(mixture.size(), 1U);
      std::vector<double> others(learned->stats_size());
      learned->clear(others.data());
      for (std::size_t i = 0; i < 40; ++i)
        if (labels[i] == static_cast<Label>(c) && i != cell.row)
          learned->add(others.data(), filled.rows()[i]);
      const CellPredictive expected = learned->predict_cell_given(others.data(), rows[cell.row], cell.column);
      const CellPredictive found = predictor->predict_cell(mixture[0].component, cell.column);
      EXPECT_NEAR(found.mean, expected.mean, 1e-9);
      if (std::isfinite(expected.variance)) {
        EXPECT_NEAR(found.variance, expected.variance, 1e-8);
      }
    }
  }
  EXPECT_THROW(predictor->set_draw(labels, traces, chain->payload().substr(0, 20)), Error);
}

INSTANTIATE_TEST_SUITE_P(Missing, LearnedChain, ::testing::Values(0.0, 0.2));

}  // namespace
}  // namespace coppice::test
