// The variational mixture: reference traces, the evidence lower bound in both forms, never falling, never
// above the evidence, stochastic steps, dense and sparse rows, thread counts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "coppice/base/math.hpp"
#include "coppice/model/bnmc/mixture.hpp"
#include "support/reference_case.hpp"

namespace coppice::bnmc {
namespace {

using test::read_reference;

std::vector<std::uint32_t> all_of(std::size_t rows) {
  std::vector<std::uint32_t> which(rows);
  std::iota(which.begin(), which.end(), 0u);
  return which;
}

Table table_of(const std::vector<std::vector<double>>& rows, Kind kind) {
  Table table;
  for (std::size_t j = 0; j < rows.at(0).size(); ++j) {
    Column column{fmt::format("c{}", j), kind, {}, {}};
    for (const auto& row : rows) column.values.push_back(row[j]);
    table.columns.push_back(column);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) table.row_ids.push_back(fmt::format("{}", i));
  return table;
}

std::vector<std::vector<double>> numbers(const nlohmann::json& rows) {
  std::vector<std::vector<double>> result;
  for (const auto& row : rows) {
    result.emplace_back();
    for (const auto& cell : row) result.back().push_back(cell.is_null() ? kMissing : cell.get<double>());
  }
  return result;
}

Responsibilities pad(const std::vector<std::vector<double>>& rows, std::size_t stride) {
  Responsibilities r(rows.size() * stride, 0.0);
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t k = 0; k < rows[i].size(); ++k) r[i * stride + k] = rows[i][k];
  return r;
}

BlockPrior prior_of(const nlohmann::json& block, std::size_t columns) {
  BlockPrior prior;
  const std::string family = block.at("family");
  prior.likelihood = family == "bernoulli"  ? Likelihood::bernoulli
                     : family == "gaussian" ? Likelihood::gaussian
                                            : Likelihood::multinomial;
  prior.columns = columns;
  prior.a = block.value("conc", block.value("a", prior.a));
  prior.b = block.value("b", prior.b);
  prior.mean = block.value("m0", prior.mean);
  prior.mean_strength = block.value("k0", prior.mean_strength);
  prior.shape = block.value("a0", prior.shape);
  prior.rate = block.value("b0", prior.rate);
  return prior;
}

Kind kind_of(const nlohmann::json& block) {
  const std::string family = block.at("family");
  return family == "bernoulli" ? Kind::binary : family == "gaussian" ? Kind::real : Kind::count;
}

struct ReferenceMixture {
  explicit ReferenceMixture(const nlohmann::json& input)
      : rows(labeled_rows(table_of(numbers(input.at("X")), kind_of(input.at("features"))),
                          table_of(numbers(input.at("Y")), Kind::binary))),
        mixture(input.at("K"), input.at("alpha"), prior_of(input.at("features"), rows.features.columns),
                prior_of(input.at("labels"), rows.labels.columns)),
        items(mixture.encode(rows)),
        r(pad(numbers(input.at("R0")), mixture.stride())) {}

  LabeledRows rows;
  Mixture mixture;
  MixtureRows items;
  Responsibilities r;
};

/// The posterior's numbers, as far as they have one form: pseudo-counts of Dirichlet and Beta.
void expect_globals(const nlohmann::json& expected, const Mixture& mixture, const Block& block,
                    const AlignedVector& counts, const BlockStatistics& statistics, double tolerance) {
  const BlockPrior& prior = block.prior();
  for (std::size_t k = 0; k < expected.size(); ++k)
    for (std::size_t d = 0; d < prior.columns; ++d) {
      const auto statistic = [&](std::size_t slot) {
        return statistics.scale * statistics.table[slot * mixture.stride() + k];
      };
      const nlohmann::json& cell = expected.at(k).at(d);
      if (prior.likelihood == Likelihood::multinomial) {
        EXPECT_NEAR(prior.a + statistic(d), cell.get<double>(), tolerance);
      } else if (prior.likelihood == Likelihood::bernoulli && cell.is_array()) {
        const double present = counts[k] - statistic(prior.columns + d);
        EXPECT_NEAR(prior.a + statistic(d), cell.at(0).get<double>(), tolerance);
        EXPECT_NEAR(prior.b + present - statistic(d), cell.at(1).get<double>(), tolerance);
      }
    }
}

class MixtureReference : public ::testing::TestWithParam<std::string> {};

TEST_P(MixtureReference, BatchTraceGlobalsAndPredictions) {
  const nlohmann::json json = read_reference(GetParam());
  const nlohmann::json& result = json.at("result");
  ReferenceMixture problem(json.at("case"));
  const Mixture& mixture = problem.mixture;
  const auto which = all_of(problem.items.size());
  MixtureStatistics statistics = mixture.collect(problem.items, which, problem.r);
  for (const auto& pair : result.at("elbo_trace_first_10")) {
    EXPECT_NEAR(mixture.elbo(problem.items, statistics, problem.r), pair.at(0).get<double>(), 1e-8);
    EXPECT_NEAR(mixture.elbo_after_collect(statistics, problem.r), pair.at(0).get<double>(), 1e-8);
    const Mixture::Local local = mixture.local_update(problem.items, which, statistics, 1, &problem.r);
    EXPECT_NEAR(local.log_normalizer - mixture.divergence(statistics), pair.at(1).get<double>(), 1e-8);
    EXPECT_NEAR(mixture.elbo(problem.items, statistics, problem.r), pair.at(1).get<double>(), 1e-8);
    statistics = local.statistics;
  }
  const Responsibilities expected = pad(numbers(result.at("resp")), mixture.stride());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(problem.r[i], expected[i], 1e-8);
  expect_globals(result.at("globals").at("F"), mixture, mixture.features(), statistics.counts,
                 statistics.features, 1e-8);
  expect_globals(result.at("globals").at("L"), mixture, mixture.labels(), statistics.counts,
                 statistics.labels, 1e-8);
  const auto weights = mixture.expected_log_weights(statistics.counts);
  const auto means = mixture.log_mean_weights(statistics.counts);
  double total = 0.0;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    EXPECT_NEAR(weights[k], result.at("elog_pi").at(k).get<double>(), 1e-8);
    EXPECT_NEAR(std::exp(means[k]), result.at("mean_pi").at(k).get<double>(), 1e-8);
    total += std::exp(means[k]);
  }
  EXPECT_NEAR(total, 1.0, 1e-12);
  if (result.contains("exact")) {
    EXPECT_LE(result.at("elbo").get<double>(), result.at("exact").at("log_evidence").get<double>());
  }
  if (!result.contains("predict")) return;

  const Table fresh = table_of(numbers(json.at("case").at("X_new")), kind_of(json.at("case").at("features")));
  const SparseRows items = mixture.features().encode(sparse_rows(fresh));
  const BlockPredictive predictive(mixture.features(), statistics.counts, statistics.features);
  const auto& predict = result.at("predict");
  for (std::size_t row = 0; row < items.rows(); ++row) {
    AlignedVector scores(mixture.stride(), 0.0);
    predictive.add(items.columns_of(row), items.values_of(row), scores.data());
    std::vector<double> log_joint(mixture.clusters());
    for (std::size_t k = 0; k < log_joint.size(); ++k) log_joint[k] = means[k] + scores[k];
    const double log_density = log_sum_exp(log_joint);
    EXPECT_NEAR(log_density, predict.at("log_p_x_predictive").at(row).get<double>(), 1e-8);
    for (std::size_t k = 0; k < log_joint.size(); ++k)
      EXPECT_NEAR(std::exp(log_joint[k] - log_density),
                  predict.at("resp_predictive").at(row).at(k).get<double>(), 1e-8);
  }
}

TEST_P(MixtureReference, StochasticTrace) {
  const nlohmann::json json = read_reference(GetParam());
  ReferenceMixture problem(json.at("case"));
  const Mixture& mixture = problem.mixture;
  const auto& svi = json.at("case").at("svi");
  MixtureStatistics statistics = mixture.collect(problem.items, all_of(problem.items.size()), problem.r);
  const double tau = svi.at("tau");
  const double kappa = svi.at("kappa");
  for (std::size_t t = 1; t <= svi.at("batches").size(); ++t) {
    const auto which = svi.at("batches").at(t - 1).get<std::vector<std::uint32_t>>();
    const auto& expected = json.at("result").at("svi").at("log").at(t - 1);
    const double rate = std::pow(static_cast<double>(t) + tau, -kappa);
    EXPECT_NEAR(rate, expected.at("rho").get<double>(), 1e-12);
    const Mixture::Minibatch update =
        mixture.minibatch_update(problem.items, which, statistics, 1, &problem.r);
    const double factor = static_cast<double>(problem.items.size()) / static_cast<double>(which.size());
    mixture.blend(statistics, update, rate, factor, factor);
    for (std::size_t i = 0; i < which.size(); ++i)
      for (std::size_t k = 0; k < mixture.clusters(); ++k)
        EXPECT_NEAR(problem.r[which[i] * mixture.stride() + k], expected.at("resp").at(i).at(k).get<double>(),
                    1e-9);
    for (std::size_t k = 0; k < mixture.clusters(); ++k)
      EXPECT_NEAR(statistics.counts[k], expected.at("counts").at(k).get<double>(), 1e-9);
  }
  const auto globals = json.at("result").at("svi").at("globals");
  expect_globals(globals.at("F"), mixture, mixture.features(), statistics.counts, statistics.features, 1e-9);
  expect_globals(globals.at("L"), mixture, mixture.labels(), statistics.counts, statistics.labels, 1e-9);
}

/// Where clusters do not overlap, the mean field is exact.
class SeparatedMixtureReference : public ::testing::TestWithParam<std::string> {};

TEST_P(SeparatedMixtureReference, EvidenceAndCoassignments) {
  const nlohmann::json json = read_reference(GetParam());
  const nlohmann::json& result = json.at("result");
  ReferenceMixture problem(json.at("case"));
  const Mixture& mixture = problem.mixture;
  const auto which = all_of(problem.items.size());
  MixtureStatistics statistics = mixture.collect(problem.items, which, problem.r);
  double elbo = 0.0;
  for (int sweep = 0; sweep < 200; ++sweep) {
    const Mixture::Local local = mixture.local_update(problem.items, which, statistics, 1, &problem.r);
    elbo = local.log_normalizer - mixture.divergence(statistics);
    statistics = local.statistics;
  }
  // Two clusters can change their names, and the bound knows one of the ways.
  const double evidence = result.at("exact").at("log_evidence");
  EXPECT_NEAR(evidence - elbo, result.at("checks").at("evidence_minus_elbo").get<double>(), 1e-8);
  EXPECT_NEAR(evidence - elbo, std::log(2.0), 1e-3);
  for (std::size_t i = 0; i < which.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      double together = 0.0;
      for (std::size_t k = 0; k < mixture.clusters(); ++k)
        together += problem.r[i * mixture.stride() + k] * problem.r[j * mixture.stride() + k];
      EXPECT_NEAR(together, result.at("exact").at("coassign").at(i).at(j).get<double>(), 1e-8);
    }
  // Fifty epochs of stochastic steps from the same start come as far as sweeps do, to half a percent.
  ReferenceMixture again(json.at("case"));
  MixtureStatistics stochastic = mixture.collect(again.items, which, again.r);
  Stream stream({33, 0, 0}, Purpose::test);
  std::vector<std::uint32_t> order = which;
  double step = 0.0;
  for (int epoch = 0; epoch < 50; ++epoch) {
    shuffle(stream, order);
    for (std::size_t begin = 0; begin < order.size(); begin += 2) {
      const std::span<const std::uint32_t> part(order.data() + begin,
                                                std::min<std::size_t>(2, order.size() - begin));
      const double factor = static_cast<double>(order.size()) / static_cast<double>(part.size());
      mixture.blend(stochastic, mixture.minibatch_update(again.items, part, stochastic, 1),
                    std::pow(++step + 1.0, -0.7), factor, factor);
    }
  }
  const double reached =
      mixture.local_update(again.items, which, stochastic, 1).log_normalizer - mixture.divergence(stochastic);
  EXPECT_GT(reached, elbo - 0.005 * std::abs(elbo));
}

INSTANTIATE_TEST_SUITE_P(Cases, MixtureReference, ::testing::ValuesIn(test::reference_cases("bnmc_mixture_")),
                         test::CaseOfFile());
INSTANTIATE_TEST_SUITE_P(Cases, SeparatedMixtureReference,
                         ::testing::ValuesIn(test::reference_cases("bnmc_mixture_separated")),
                         test::CaseOfFile());

// ---- random data of every likelihood, with missing cells ----

struct RandomCase {
  Likelihood features, labels;
  double weight;
};

LabeledRows random_rows(Likelihood features, std::size_t rows, double missing, std::uint64_t seed) {
  Stream stream({seed, 0, 0}, Purpose::test);
  std::vector<std::vector<double>> x(rows);
  std::vector<std::vector<double>> y(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    const bool group = i % 3 == 0;
    for (std::size_t d = 0; d < 5; ++d) {
      const double high = group == (d < 3) ? 2.0 : 0.3;
      double cell = static_cast<double>(draw_poisson(stream, high));
      if (features == Likelihood::bernoulli) cell = cell > 0.0 ? 1.0 : 0.0;
      if (features == Likelihood::gaussian) cell = high + draw_normal(stream);
      x[i].push_back(draw_uniform(stream) < missing ? kMissing : cell);
    }
    for (std::size_t c = 0; c < 4; ++c) {
      const double cell = draw_uniform(stream) < (group == (c < 2) ? 0.8 : 0.1) ? 1.0 : 0.0;
      y[i].push_back(draw_uniform(stream) < missing ? kMissing : cell);
    }
  }
  const Kind kind = features == Likelihood::gaussian    ? Kind::real
                    : features == Likelihood::bernoulli ? Kind::binary
                                                        : Kind::count;
  return labeled_rows(table_of(x, kind), table_of(y, Kind::binary));
}

Responsibilities random_start(const Mixture& mixture, std::size_t rows, std::uint64_t seed) {
  Stream stream({seed, 1, 0}, Purpose::test);
  Responsibilities r(rows * mixture.stride(), 0.0);
  const std::vector<double> flat(mixture.clusters(), 1.0);
  for (std::size_t i = 0; i < rows; ++i)
    draw_dirichlet(stream, flat, {r.data() + i * mixture.stride(), flat.size()});
  return r;
}

class MixtureRandom : public ::testing::TestWithParam<RandomCase> {
 protected:
  Mixture make(std::size_t clusters) const {
    BlockPrior features{GetParam().features, 5, 0.7, 0.9};
    features.weight = GetParam().weight;
    return {clusters, 1.3, features, {GetParam().labels, 4, 0.4, 0.6}};
  }
};

TEST_P(MixtureRandom, BoundNeverFallsAndBothFormsAgree) {
  for (const double missing : {0.0, 0.25}) {
    const LabeledRows rows = random_rows(GetParam().features, 60, missing, 3);
    const Mixture mixture = make(11);
    const MixtureRows items = mixture.encode(rows);
    const auto which = all_of(rows.features.rows());
    Responsibilities r = random_start(mixture, which.size(), 4);
    MixtureStatistics statistics = mixture.collect(items, which, r);
    double last = kMinusInfinity;
    for (int sweep = 0; sweep < 40; ++sweep) {
      const double after_collect = mixture.elbo(items, statistics, r);
      const double slack = 1e-9 * std::abs(after_collect);
      ASSERT_GE(after_collect, last - slack) << sweep;
      ASSERT_NEAR(mixture.elbo_after_collect(statistics, r), after_collect, slack);
      const Mixture::Local local = mixture.local_update(items, which, statistics, 2, &r);
      last = mixture.elbo(items, statistics, r);
      ASSERT_GE(last, after_collect - slack) << sweep;
      ASSERT_NEAR(local.log_normalizer - mixture.divergence(statistics), last, slack);
      statistics = local.statistics;
      if (sweep % 10 != 9) continue;
      const double before = mixture.elbo_after_collect(statistics, r);
      if (!mixture.reorder(statistics)) continue;
      r.assign(r.size(), 0.0);  // the order of columns of r follows with the next update
      const Mixture::Local again = mixture.local_update(items, which, statistics, 1, &r);
      last = again.log_normalizer - mixture.divergence(statistics);
      ASSERT_GE(last, before - slack);
      statistics = again.statistics;
    }
  }
}

TEST_P(MixtureRandom, BoundIsBelowTheEnumeratedEvidence) {
  constexpr std::size_t kRows = 6;
  constexpr std::size_t kClusters = 3;
  const LabeledRows rows = random_rows(GetParam().features, kRows, 0.2, 5);
  const Mixture mixture = make(kClusters);
  const MixtureRows items = mixture.encode(rows);
  const auto which = all_of(kRows);
  // Hard assignments have no entropy: the second form is log p(rows, assignment).
  double evidence = kMinusInfinity;
  std::size_t all = 1;
  for (std::size_t i = 0; i < kRows; ++i) all *= kClusters;
  for (std::size_t code = 0; code < all; ++code) {
    Responsibilities r(kRows * mixture.stride(), 0.0);
    std::size_t rest = code;
    for (std::size_t i = 0; i < kRows; ++i, rest /= kClusters)
      r[i * mixture.stride() + rest % kClusters] = 1.0;
    evidence = log_add_exp(evidence, mixture.elbo_after_collect(mixture.collect(items, which, r), r));
  }
  Responsibilities r = random_start(mixture, kRows, 6);
  MixtureStatistics statistics = mixture.collect(items, which, r);
  double bound = 0.0;
  for (int sweep = 0; sweep < 100; ++sweep) {
    const Mixture::Local local = mixture.local_update(items, which, statistics, 1, &r);
    bound = local.log_normalizer - mixture.divergence(statistics);
    statistics = local.statistics;
  }
  EXPECT_LT(bound, evidence);
  EXPECT_GT(bound, evidence - 6.0);
  // One cluster leaves nothing to approximate.
  const Mixture single = make(1);
  const MixtureRows single_items = single.encode(rows);
  Responsibilities ones(kRows * single.stride(), 0.0);
  for (std::size_t i = 0; i < kRows; ++i) ones[i * single.stride()] = 1.0;
  const MixtureStatistics together = single.collect(single_items, which, ones);
  EXPECT_NEAR(single.elbo(single_items, together, ones), single.elbo_after_collect(together, ones), 1e-9);
}

TEST_P(MixtureRandom, ThreadsChangeNothingAndAFullMinibatchIsASweep) {
  const LabeledRows rows = random_rows(GetParam().features, 700, 0.1, 7);
  const Mixture mixture = make(9);
  const MixtureRows items = mixture.encode(rows);
  const auto which = all_of(rows.features.rows());
  MixtureStatistics statistics = mixture.collect(items, which, random_start(mixture, which.size(), 8));
  const Mixture::Local one = mixture.local_update(items, which, statistics, 1);
  const Mixture::Local two = mixture.local_update(items, which, statistics, 2);
  EXPECT_EQ(one.log_normalizer, two.log_normalizer);
  EXPECT_EQ(one.statistics.counts, two.statistics.counts);
  EXPECT_EQ(one.statistics.features.table, two.statistics.features.table);
  mixture.blend(statistics, mixture.minibatch_update(items, which, statistics, 2), 1.0, 1.0, 1.0);
  for (std::size_t i = 0; i < statistics.features.table.size(); ++i)
    EXPECT_NEAR(statistics.features.scale * statistics.features.table[i], one.statistics.features.table[i],
                1e-12);
}

/// The given columns in another order.
SparseRows with_columns(const SparseRows& rows, const std::vector<std::uint32_t>& to) {
  SparseRows result;
  result.columns = rows.columns;
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    std::vector<std::pair<std::uint32_t, double>> cells;
    for (std::size_t i = 0; i < rows.columns_of(row).size(); ++i)
      cells.emplace_back(to[rows.columns_of(row)[i]], rows.values_of(row)[i]);
    std::sort(cells.begin(), cells.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [column, value] : cells) {
      result.column.push_back(column);
      result.value.push_back(value);
    }
    result.start.push_back(result.column.size());
  }
  return result;
}

TEST_P(MixtureRandom, NamesOfRowsFeaturesAndLabelsMeanNothing) {
  constexpr std::uint32_t kRows = 40;
  const LabeledRows rows = random_rows(GetParam().features, kRows, 0.15, 21);
  const std::vector<std::uint32_t> features{3, 0, 4, 1, 2};
  const std::vector<std::uint32_t> labels{2, 3, 1, 0};
  std::vector<std::uint32_t> order(kRows);
  for (std::uint32_t i = 0; i < kRows; ++i) order[i] = (7 * i + 3) % kRows;
  LabeledRows other = some_rows(rows, order);
  other.features = with_columns(other.features, features);
  other.labels = with_columns(other.labels, labels);
  const Mixture mixture = make(5);
  const MixtureRows items = mixture.encode(rows);
  const MixtureRows other_items = mixture.encode(other);
  Responsibilities r = random_start(mixture, kRows, 22);
  Responsibilities other_r = r;
  for (std::size_t i = 0; i < kRows; ++i)
    std::copy_n(r.begin() + static_cast<std::ptrdiff_t>(order[i] * mixture.stride()), mixture.stride(),
                other_r.begin() + static_cast<std::ptrdiff_t>(i * mixture.stride()));
  MixtureStatistics statistics = mixture.collect(items, all_of(kRows), r);
  MixtureStatistics other_statistics = mixture.collect(other_items, all_of(kRows), other_r);
  for (int sweep = 0; sweep < 5; ++sweep) {
    statistics = mixture.local_update(items, all_of(kRows), statistics, 1, &r).statistics;
    other_statistics =
        mixture.local_update(other_items, all_of(kRows), other_statistics, 1, &other_r).statistics;
  }
  for (std::size_t i = 0; i < kRows; ++i)
    for (std::size_t k = 0; k < mixture.clusters(); ++k)
      EXPECT_NEAR(other_r[i * mixture.stride() + k], r[order[i] * mixture.stride() + k], 1e-10);
  for (std::size_t k = 0; k < mixture.clusters(); ++k) {
    const auto expect_moved = [&](const Block& block, const BlockStatistics& from, const BlockStatistics& to,
                                  const std::vector<std::uint32_t>& names) {
      const std::vector<double> means = block.means(statistics.counts, from, k);
      const std::vector<double> moved = block.means(other_statistics.counts, to, k);
      for (std::size_t d = 0; d < means.size(); ++d) EXPECT_NEAR(moved[names[d]], means[d], 1e-10);
    };
    expect_moved(mixture.features(), statistics.features, other_statistics.features, features);
    expect_moved(mixture.labels(), statistics.labels, other_statistics.labels, labels);
  }
}

/// 2.5 as it stands: all of s is multiplied and added to.
void blend_densely(MixtureStatistics& s, const MixtureStatistics& found, double rate, double factor) {
  const auto blend = [&](AlignedVector& to, const AlignedVector& from) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = (1.0 - rate) * to[i] + rate * factor * from[i];
  };
  blend(s.counts, found.counts);
  for (auto block : {&MixtureStatistics::features, &MixtureStatistics::labels}) {
    blend((s.*block).table, (found.*block).table);
    blend((s.*block).totals, (found.*block).totals);
  }
}

TEST_P(MixtureRandom, LazyStepsAreTheDenseOnes) {
  LabeledRows rows = random_rows(GetParam().features, 60, 0.1, 11);
  // Features that minibatches of three rows mostly lack.
  if (GetParam().features == Likelihood::multinomial)
    for (std::size_t i = 0; i < rows.features.column.size(); ++i)
      if (rows.features.column[i] != 2 && i % 5 != 0) rows.features.value[i] = kMissing;
  const Mixture mixture = make(6);
  const MixtureRows items = mixture.encode(rows);
  MixtureStatistics lazy = mixture.collect(items, all_of(60), random_start(mixture, 60, 12));
  MixtureStatistics dense = lazy;
  Stream stream({13, 0, 0}, Purpose::test);
  for (std::size_t step = 1; step <= 400; ++step) {
    std::vector<std::uint32_t> which;
    for (std::size_t i = 0; i < 3; ++i) which.push_back(static_cast<std::uint32_t>(draw_index(stream, 60)));
    // Large rates first: the scale passes its smallest value several times.
    const double rate = step < 100 ? 0.95 : std::pow(static_cast<double>(step) + 1.0, -0.7);
    // Both see the posterior of the dense one, so that no difference of rounding feeds itself.
    const Mixture::Local found = mixture.local_update(items, which, dense, 1);
    const Mixture::Minibatch update = mixture.minibatch_update(items, which, dense, 1);
    EXPECT_EQ(update.statistics.counts, found.statistics.counts);
    blend_densely(dense, found.statistics, rate, 20.0);
    mixture.blend(lazy, update, rate, 20.0, 20.0);
  }
  const auto expect_alike = [](double found, double expected) {
    EXPECT_NEAR(found, expected, 1e-12 * (1.0 + std::abs(expected)));
  };
  for (std::size_t k = 0; k < mixture.stride(); ++k) expect_alike(lazy.counts[k], dense.counts[k]);
  for (auto block : {&MixtureStatistics::features, &MixtureStatistics::labels}) {
    const BlockStatistics& found = lazy.*block;
    const BlockStatistics& expected = dense.*block;
    for (std::size_t i = 0; i < found.table.size(); ++i)
      expect_alike(found.scale * found.table[i], expected.table[i]);
    for (std::size_t k = 0; k < mixture.stride(); ++k) expect_alike(found.totals[k], expected.totals[k]);
  }
}

TEST(MixtureMinibatch, LooksOnlyAtWhatOccurs) {
  // Statistics of features that do not occur are not even read.
  const LabeledRows rows = random_rows(Likelihood::multinomial, 40, 0.0, 14);
  const Mixture mixture(4, 1.0, {Likelihood::multinomial, 5}, {Likelihood::multinomial, 4});
  LabeledRows few = rows;
  for (std::size_t i = 0; i < few.features.column.size(); ++i)
    if (few.features.column[i] == 3) few.features.value[i] = kMissing;
  const MixtureRows items = mixture.encode(few);
  MixtureStatistics statistics = mixture.collect(items, all_of(40), random_start(mixture, 40, 15));
  for (std::size_t k = 0; k < mixture.stride(); ++k)
    statistics.features.table[3 * mixture.stride() + k] = std::numeric_limits<double>::quiet_NaN();
  const Mixture::Minibatch update = mixture.minibatch_update(items, all_of(40), statistics, 1);
  EXPECT_EQ(update.feature_slots, (std::vector<std::uint32_t>{0, 1, 2, 4}));
  EXPECT_EQ(update.statistics.features.table.size(), 4 * mixture.stride());
  mixture.blend(statistics, update, 0.3, 1.0, 1.0);
  for (std::size_t d = 0; d < 5; ++d)
    EXPECT_EQ(std::isnan(statistics.features.table[d * mixture.stride()]), d == 3) << d;
}

INSTANTIATE_TEST_SUITE_P(Likelihoods, MixtureRandom,
                         ::testing::Values(RandomCase{Likelihood::multinomial, Likelihood::multinomial, 1.0},
                                           RandomCase{Likelihood::multinomial, Likelihood::bernoulli, 0.3},
                                           RandomCase{Likelihood::bernoulli, Likelihood::multinomial, 0.5},
                                           RandomCase{Likelihood::bernoulli, Likelihood::bernoulli, 1.0},
                                           RandomCase{Likelihood::gaussian, Likelihood::bernoulli, 1.0},
                                           RandomCase{Likelihood::gaussian, Likelihood::multinomial, 0.4}));

TEST(Sticks, ExpectationsAreThoseOfBetaSticks) {
  const Mixture mixture(3, 1.0, {Likelihood::multinomial, 1}, {Likelihood::multinomial, 1});
  AlignedVector counts(mixture.stride(), 0.0);
  counts[0] = 3.0;
  counts[1] = 2.0;
  counts[2] = 1.0;
  const std::vector<double> weights = mixture.expected_log_weights(counts);
  EXPECT_NEAR(weights[0], -0.759524, 1e-6);
  EXPECT_NEAR(weights[1], -1.342857, 1e-6);
  EXPECT_NEAR(weights[2], -1.842857, 1e-6);
}

TEST(MissingLabels, AnUnlabeledRowAddsNothing) {
  const LabeledRows rows = random_rows(Likelihood::multinomial, 8, 1.0, 9);
  for (const Likelihood likelihood : {Likelihood::multinomial, Likelihood::bernoulli}) {
    const Mixture mixture(4, 1.0, {Likelihood::multinomial, 5}, {likelihood, 4});
    const MixtureRows items = mixture.encode(rows);
    EXPECT_EQ(std::count(items.labeled.begin(), items.labeled.end(), 1), 0);
    const MixtureStatistics statistics = mixture.collect(items, all_of(8), random_start(mixture, 8, 10));
    EXPECT_NEAR(mixture.labels().log_evidence(statistics.counts, statistics.labels), 0.0, 1e-9);
    EXPECT_NEAR(mixture.labels().divergence(statistics.counts, statistics.labels), 0.0, 1e-9);
  }
}

}  // namespace
}  // namespace coppice::bnmc
