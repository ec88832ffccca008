// From the experts' parts to scores: every rule against numbers worked out by hand, and what calibration
// learns.
#include <gtest/gtest.h>

#include <cmath>

#include "coppice/model/bnmc/learned.hpp"
#include "support/chains.hpp"

namespace coppice::bnmc {
namespace {

Options options_with(std::vector<std::string> settings) {
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
  LabelledRows rows;
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
    LabelledRows rows;
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
  LabelledRows rows;
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

TEST(BnmcScores, CardinalitiesAreMeansOfLabelledRowsAlone) {
  LabelledRows rows;
  rows.labels.columns = 2;
  rows.labels.start = {0, 2, 3, 5};  // both labels; the first; nobody knows
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
