// From the experts' parts to scores: every rule against numbers worked out by hand, and what calibration
// learns.
#include <gtest/gtest.h>

#include <cmath>

#include "coppice/model/bnmc/learned.hpp"
#include "support/chains.hpp"

namespace coppice::bnmc {
namespace {

Options options_with(const std::vector<std::string>& settings) {
  return Options(ParameterValues(parameter_table(), test::settings_from(settings)));
}

double log_odds(double p) { return std::log(p / (1.0 - p)); }

struct Parts {
  RowParts row;
  Learned learned;
  Parts() {
    row.cardinality = 1.8;
    row.mixture = {0.5, 0.3, 0.2};
    row.linear = {0.9, 0.2, 0.6};
    learned.base_rates = {0.4, 0.3, 0.1};
  }
};

TEST(BnmcScores, ProductsAreSharesOfTheExpectedNumberOfLabels) {
  const Parts parts;
  const std::vector<double> scores =
      scores_of(parts.row, parts.learned, options_with({"combine=\"product\""}), {});
  const double total = 0.5 * 0.9 + 0.3 * 0.2 + 0.2 * 0.6;
  EXPECT_NEAR(scores[0], 1.8 * 0.5 * 0.9 / total, 1e-12);
  EXPECT_NEAR(scores[1], 1.8 * 0.3 * 0.2 / total, 1e-12);
  EXPECT_NEAR(scores[0] + scores[1] + scores[2], 1.8, 1e-12);
}

TEST(BnmcScores, OneExpertAlone) {
  const Parts parts;
  const std::vector<double> mixture =
      scores_of(parts.row, parts.learned, options_with({"combine=\"mixture\""}), {});
  const std::vector<double> linear =
      scores_of(parts.row, parts.learned, options_with({"combine=\"linear\""}), {});
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_NEAR(mixture[c], 1.8 * parts.row.mixture[c], 1e-12);
    EXPECT_NEAR(linear[c], parts.row.linear[c], 1e-12);
  }
}

TEST(BnmcScores, BernoulliLabelsAreProbabilitiesAlready) {
  const Parts parts;
  const std::vector<double> product = scores_of(
      parts.row, parts.learned, options_with({"combine=\"product\"", "label-model=\"bernoulli\""}), {});
  const std::vector<double> logit = scores_of(
      parts.row, parts.learned, options_with({"combine=\"logit\"", "label-model=\"bernoulli\""}), {});
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_NEAR(product[c], parts.row.mixture[c] * parts.row.linear[c], 1e-12);
    EXPECT_NEAR(log_odds(logit[c]),
                log_odds(parts.row.mixture[c]) + log_odds(parts.row.linear[c]) -
                    log_odds(parts.learned.base_rates[c]),
                1e-9);
  }
}

TEST(BnmcScores, StacksAreTheLogisticOfTheirSlopes) {
  const Parts parts;
  Calibration calibration;
  calibration.coefficients = {0.3, 0.5, 0.8, -0.2};
  const std::vector<double> scores =
      scores_of(parts.row, parts.learned, options_with({"combine=\"stack\""}), calibration);
  for (std::size_t c = 0; c < 3; ++c)
    EXPECT_NEAR(log_odds(scores[c]),
                0.3 + 0.5 * std::log(1.8 * parts.row.mixture[c]) + 0.8 * log_odds(parts.row.linear[c]) -
                    0.2 * log_odds(parts.learned.base_rates[c]),
                1e-9);
}

/// Rows whose one label is there if its score is above 0.3, mostly.
TEST(BnmcScores, CalibrationFindsTheThreshold) {
  LabeledRows rows;
  rows.labels.columns = 1;
  std::vector<RowParts> parts(400);
  Learned learned;
  learned.base_rates = {0.5};
  for (std::size_t row = 0; row < parts.size(); ++row) {
    const double score = (static_cast<double>(row) + 0.5) / 400.0;
    parts[row].mixture = {0.0};
    parts[row].linear = {score};
    if (score > 0.3) {
      rows.labels.column.push_back(0);
      rows.labels.value.push_back(1.0);
    }
    rows.labels.start.push_back(rows.labels.column.size());
  }
  const Calibration found =
      calibrate(rows, parts, learned, options_with({"combine=\"linear\"", "threshold=\"micro\""}));
  EXPECT_NEAR(found.thresholds[0], 0.3, 0.01);
  // A row of which nothing is known says nothing.
  rows.labels.value.assign(rows.labels.value.size(), kMissing);
  const Calibration nothing = calibrate(rows, parts, learned, options_with({"combine=\"linear\""}));
  EXPECT_EQ(nothing.thresholds.size(), 1u);
}

TEST(BnmcScores, CalibrationLooksBetweenTies) {
  for (const std::size_t size : {999u, 1000u, 1001u, 1003u}) {
    LabeledRows rows;
    rows.labels.columns = 1;
    std::vector<RowParts> parts(2 * size);
    Learned learned;
    learned.base_rates = {0.5};
    for (std::size_t row = 0; row < parts.size(); ++row) {
      parts[row].mixture = {0.0};
      parts[row].linear = {row < size ? 0.8 : 0.2};
      if (row < size) {
        rows.labels.column.push_back(0);
        rows.labels.value.push_back(1.0);
      }
      rows.labels.start.push_back(rows.labels.column.size());
    }
    const Calibration found =
        calibrate(rows, parts, learned, options_with({"combine=\"linear\"", "threshold=\"micro\""}));
    EXPECT_NEAR(found.thresholds[0], 0.5, 1e-9) << size << " rows of each";
  }
}

std::vector<bool> chosen_with(std::vector<std::string> settings, const RowParts& row,
                              std::vector<double> thresholds) {
  settings.push_back("combine=\"linear\"");
  Learned learned;
  learned.base_rates.assign(row.linear.size(), 0.5);
  Calibration calibration;
  calibration.thresholds = std::move(thresholds);
  return prediction_of(row, learned, options_with(settings), calibration).chosen;
}

TEST(BnmcScores, RowsHaveTheLabelsThatTheRuleGivesThem) {
  using Chosen = std::vector<bool>;
  RowParts row;
  row.cardinality = 1.6;
  row.mixture = {0.1, 0.2, 0.3, 0.4};
  row.linear = {0.5, 0.1, 0.5, 0.4};
  const std::vector<double> none(4, 0.9);
  const std::vector<double> some{0.6, 0.05, 0.5, 0.9};
  EXPECT_EQ(chosen_with({"threshold=0.5"}, row, none), (Chosen{false, false, false, false}));
  EXPECT_EQ(chosen_with({"threshold=0.5"}, row, some), (Chosen{false, true, true, false}));
  // The first of the best if none reaches its threshold, else nothing more.
  EXPECT_EQ(chosen_with({"threshold=\"at-least-one\""}, row, none), (Chosen{true, false, false, false}));
  EXPECT_EQ(chosen_with({"threshold=\"at-least-one\""}, row, some), (Chosen{false, true, true, false}));
  // Thresholds have no say in how many there are.
  EXPECT_EQ(chosen_with({"threshold=\"top-k\"", "top=1"}, row, none), (Chosen{true, false, false, false}));
  EXPECT_EQ(chosen_with({"threshold=\"top-k\"", "top=3"}, row, none), (Chosen{true, false, true, true}));
  EXPECT_EQ(chosen_with({"threshold=\"top-k\"", "top=9"}, row, none), (Chosen{true, true, true, true}));
  // As many as are expected, rounded.
  EXPECT_EQ(chosen_with({"threshold=\"top-k\""}, row, none), (Chosen{true, false, true, false}));
  row.cardinality = 1.4;
  EXPECT_EQ(chosen_with({"threshold=\"top-k\""}, row, none), (Chosen{true, false, false, false}));
  row.cardinality = 0.3;
  EXPECT_EQ(chosen_with({"threshold=\"top-k\""}, row, none), (Chosen{false, false, false, false}));
}

TEST(BnmcScores, OneLabelAtLeastHasTheThresholdOfMicroF1) {
  LabeledRows rows;
  rows.labels.columns = 1;
  std::vector<RowParts> parts(300);
  Learned learned;
  learned.base_rates = {0.5};
  for (std::size_t row = 0; row < parts.size(); ++row) {
    parts[row].mixture = {0.0};
    parts[row].linear = {(static_cast<double>(row) + 0.5) / 300.0};
    if (row % 3 != 0 && row > 100) {
      rows.labels.column.push_back(0);
      rows.labels.value.push_back(1.0);
    }
    rows.labels.start.push_back(rows.labels.column.size());
  }
  const auto found = [&](const char* threshold) {
    return calibrate(rows, parts, learned, options_with({"combine=\"linear\"", threshold})).thresholds[0];
  };
  EXPECT_EQ(found("threshold=\"at-least-one\""), found("threshold=\"micro\""));
  EXPECT_TRUE(is_missing(found("threshold=\"top-k\"")));
}

/// A mixture of two clusters that was told of five rows.
struct Tiny {
  explicit Tiny(Likelihood labels) : mixture(2, 1.0, {Likelihood::multinomial, 2}, {labels, 3}) {
    LabeledRows rows;
    rows.features = {2, {0, 2, 3, 5, 6, 7}, {0, 1, 0, 0, 1, 1, 1}, {3.0, 1.0, 2.0, 1.0, 2.0, 4.0, 1.0}};
    rows.labels = {3, {0, 2, 3, 4, 6, 7}, {0, 1, 0, 2, 1, 2, 2}, {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, kMissing}};
    Responsibilities r(5 * mixture.stride(), 0.0);
    for (std::size_t row = 0; row < 5; ++row) {
      r[row * mixture.stride()] = row < 2 ? 0.9 : 0.2;
      r[row * mixture.stride() + 1] = row < 2 ? 0.1 : 0.8;
    }
    const std::uint32_t which[] = {0, 1, 2, 3, 4};
    learned.statistics = mixture.collect(mixture.encode(rows), which, r);
    learn_rates(rows, which, mixture, r, learned);
  }
  Mixture mixture;
  Learned learned;
};

TEST(BnmcScores, KnownLabelsHaveTheirSayInTheClusters) {
  const SparseRows features{2, {0, 1}, {0}, {1.0}};  // one word, once
  for (const Likelihood likelihood : {Likelihood::bernoulli, Likelihood::multinomial}) {
    const Tiny tiny(likelihood);
    const AlignedVector& counts = tiny.learned.statistics.counts;
    const Scorer scorer(tiny.mixture, tiny.learned, options_with({}));
    std::vector<double> prior(2);
    std::vector<std::vector<double>> psi;
    for (std::size_t k = 0; k < 2; ++k) {
      const double phi = tiny.mixture.features().means(counts, tiny.learned.statistics.features, k)[0];
      prior[k] = std::exp(tiny.mixture.log_mean_weights(counts)[k]) * phi;
      psi.push_back(tiny.mixture.labels().means(counts, tiny.learned.statistics.labels, k));
    }
    // The first label is present, the second unknown, the third absent.
    const SparseRows known{3, {0, 2}, {0, 1}, {1.0, kMissing}};
    const SparseRows items = tiny.mixture.labels().encode(known);
    const RowParts parts = scorer(tiny.mixture.features().encode(features), features, 0, &items);
    const bool zeros_count = likelihood == Likelihood::bernoulli;
    std::vector<double> joint(2);
    for (std::size_t k = 0; k < 2; ++k)
      joint[k] = prior[k] * psi[k][0] * (zeros_count ? 1.0 - psi[k][2] : 1.0);
    const double total = joint[0] + joint[1];
    for (std::size_t k = 0; k < 2; ++k) EXPECT_NEAR(parts.clusters[k], joint[k] / total, 1e-12);
    for (std::size_t c = 0; c < 3; ++c)
      EXPECT_NEAR(parts.mixture[c], (joint[0] * psi[0][c] + joint[1] * psi[1][c]) / total, 1e-12);
    // The density is that of the features, and unknown labels carry no information.
    EXPECT_NEAR(parts.log_density, std::log(prior[0] + prior[1]), 1e-12);
    const SparseRows nothing{3, {0, 3}, {0, 1, 2}, {kMissing, kMissing, kMissing}};
    const SparseRows no_items = tiny.mixture.labels().encode(nothing);
    const RowParts alone = scorer(tiny.mixture.features().encode(features), features, 0);
    const RowParts same = scorer(tiny.mixture.features().encode(features), features, 0, &no_items);
    for (std::size_t k = 0; k < 2; ++k) EXPECT_NEAR(same.clusters[k], alone.clusters[k], 1e-12);
  }
}

TEST(BnmcScores, VariationalClustersAreThoseOfALocalUpdate) {
  const SparseRows features{2, {0, 2}, {0, 1}, {2.0, 1.0}};
  const SparseRows known{3, {0, 2}, {0, 1}, {1.0, kMissing}};
  const SparseRows unknown{3, {0, 3}, {0, 1, 2}, {kMissing, kMissing, kMissing}};
  for (const Likelihood likelihood : {Likelihood::bernoulli, Likelihood::multinomial}) {
    const Tiny tiny(likelihood);
    const Scorer scorer(tiny.mixture, tiny.learned, options_with({"cluster-posterior=\"variational\""}));
    const Scorer predictive(tiny.mixture, tiny.learned, options_with({}));
    const SparseRows items = tiny.mixture.features().encode(features);
    for (const SparseRows& labels : {known, unknown}) {
      Responsibilities r(tiny.mixture.stride());
      const std::uint32_t first = 0;
      const LabeledRows row{features, {}, labels};
      tiny.mixture.local_update(tiny.mixture.encode(row), {&first, 1}, tiny.learned.statistics, 1, &r);
      const SparseRows label_items = tiny.mixture.labels().encode(labels);
      const RowParts parts = scorer(items, features, 0, &label_items);
      for (std::size_t k = 0; k < 2; ++k) EXPECT_NEAR(parts.clusters[k], r[k], 1e-12);
      EXPECT_EQ(parts.log_density, predictive(items, features, 0).log_density);
      EXPECT_GT(std::abs(parts.clusters[0] - predictive(items, features, 0, &label_items).clusters[0]), 1e-4);
    }
  }
}

TEST(BnmcScores, KnownLabelsComeBackAsTheyAre) {
  using Chosen = std::vector<bool>;
  RowParts row;
  row.cardinality = 2.0;
  row.mixture = {0.1, 0.2, 0.3, 0.4};
  row.linear = {0.9, 0.1, 0.5, 0.4};
  Learned learned;
  learned.base_rates.assign(4, 0.5);
  Calibration calibration;
  calibration.thresholds.assign(4, 0.95);
  const double known[] = {0.0, 1.0, kMissing, kMissing};
  const double absent[] = {0.0, 0.0, kMissing, kMissing};
  const auto told = [&](std::span<const double> labels, std::vector<std::string> settings) {
    settings.push_back("combine=\"linear\"");
    return prediction_of(row, learned, options_with(settings), calibration, labels);
  };
  const LabelPrediction plain = told(known, {"threshold=0.95"});
  EXPECT_EQ(plain.probabilities, (std::vector<double>{0.0, 1.0, 0.5, 0.4}));
  EXPECT_EQ(plain.scores, plain.probabilities);
  EXPECT_EQ(plain.chosen, (Chosen{false, true, false, false}));
  EXPECT_EQ(told(known, {"threshold=\"at-least-one\""}).chosen, (Chosen{false, true, false, false}));
  EXPECT_EQ(told(absent, {"threshold=\"at-least-one\""}).chosen, (Chosen{false, false, true, false}));
  EXPECT_EQ(told(known, {"threshold=\"top-k\""}).chosen, (Chosen{false, true, true, false}));
  EXPECT_EQ(told(absent, {"threshold=\"top-k\"", "top=4"}).chosen, (Chosen{false, false, true, true}));
}

TEST(BnmcScores, LabelsThatAreNeverAbsentAreNotScaledUp) {
  const Mixture mixture(1, 1.0, {Likelihood::multinomial, 1}, {Likelihood::multinomial, 4});
  Responsibilities r(2 * mixture.stride(), 0.0);
  r[0] = r[mixture.stride()] = 1.0;
  const std::uint32_t which[] = {0, 1};
  LabeledRows rows;
  rows.features = {1, {0, 0, 0}, {}, {}};
  rows.labels = {4, {0, 4, 8}, {0, 1, 2, 3, 0, 1, 2, 3}, std::vector<double>(8, kMissing)};
  Learned learned;
  learn_rates(rows, which, mixture, r, learned);
  EXPECT_EQ(learned.base_rates, std::vector<double>(4, 0.25));  // nothing is known
  rows.labels.value[0] = rows.labels.value[5] = rows.labels.value[6] = 1.0;
  learn_rates(rows, which, mixture, r, learned);
  EXPECT_NEAR(learned.cardinality[0], 1.5, 1e-12);
  // Nor can scores be calibrated by them.
  std::vector<RowParts> parts(2);
  for (RowParts& part : parts) part.mixture = part.linear = {0.4, 0.3, 0.2, 0.1};
  const Calibration found = calibrate(rows, parts, learned, options_with({}));
  EXPECT_TRUE(found.coefficients.empty());
  EXPECT_EQ(found.thresholds, std::vector<double>(4, 0.35));
}

TEST(BnmcScores, CardinalitiesAreMeansOfLabeledRowsAlone) {
  LabeledRows rows;
  rows.labels.columns = 2;
  rows.labels.start = {0, 2, 3, 5};  // both labels; the first; unknown
  rows.labels.column = {0, 1, 0, 0, 1};
  rows.labels.value = {1.0, 1.0, 1.0, kMissing, kMissing};
  rows.features.columns = 1;
  rows.features.start = {0, 0, 0, 0};
  const Mixture mixture(2, 1.0, {Likelihood::multinomial, 1}, {Likelihood::multinomial, 2});
  Responsibilities r(3 * mixture.stride(), 0.0);
  r[0] = 1.0;
  r[mixture.stride() + 1] = 1.0;
  r[2 * mixture.stride()] = 1.0;
  Learned learned;
  const std::uint32_t which[] = {0, 1, 2};
  learn_rates(rows, which, mixture, r, learned);
  const double average = 1.5;
  EXPECT_NEAR(learned.cardinality[0], (2.0 + average) / 2.0, 1e-12);
  EXPECT_NEAR(learned.cardinality[1], (1.0 + average) / 2.0, 1e-12);
  EXPECT_NEAR(learned.base_rates[0], 2.5 / 3.0, 1e-12);
  EXPECT_NEAR(learned.base_rates[1], 1.5 / 3.0, 1e-12);
}

}  // namespace
}  // namespace coppice::bnmc
