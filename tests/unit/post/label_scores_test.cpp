// Multi-label measures against reference values, with ties, empty and full rows, and unknown cells.
#include "coppice/post/label_scores.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/reference_files.hpp"

namespace coppice {
namespace {

class LabelScoresReference : public ::testing::TestWithParam<std::string> {};

TEST_P(LabelScoresReference, Values) {
  const nlohmann::json json = test::read_reference(GetParam());
  LabeledPredictions p;
  p.labels = json.at("case").at("Y").at(0).size();
  for (std::size_t row = 0; row < json.at("case").at("Y").size(); ++row)
    for (std::size_t c = 0; c < p.labels; ++c) {
      p.truth.push_back(json.at("case").at("Y").at(row).at(c));
      p.scores.push_back(json.at("case").at("score").at(row).at(c));
      p.chosen.push_back(json.at("case").at("pred").at(row).at(c).get<int>() == 1);
      p.probabilities.push_back(0.5);
    }
  const auto k = json.at("case").at("k").get<std::vector<std::size_t>>();
  const LabelScores scores = label_scores(p, k);
  const nlohmann::json& expected = json.at("result");
  const auto near = [&](double value, const std::string& name) {
    EXPECT_NEAR(value, expected.at(name).get<double>(), 1e-12) << name;
  };
  near(scores.hamming_loss, "hamming_loss");
  near(scores.subset_accuracy, "subset_accuracy");
  near(scores.micro_f1, "micro_f1");
  near(scores.macro_f1, "macro_f1");
  near(scores.example_f1, "example_f1");
  near(scores.example_jaccard, "example_jaccard");
  near(scores.ranking_loss, "ranking_loss");
  near(scores.lrap, "lrap");
  near(scores.coverage, "coverage_sklearn");
  for (const auto& [at, value] : scores.precision_at) near(value, "precision_at_" + std::to_string(at));
  EXPECT_NEAR(scores.log_loss, std::log(2.0), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Cases, LabelScoresReference,
                         ::testing::ValuesIn(test::reference_cases("bnmc_metrics")), test::CaseOfFile());

TEST(LabelScores, CellsNobodyKnowsDoNotCount) {
  const double gap = std::numeric_limits<double>::quiet_NaN();
  LabeledPredictions p{
      2, {1.0, gap, 0.0, 1.0}, {0.9, 0.95, 0.2, 0.8}, {0.8, 0.9, 0.1, 0.7}, {true, true, false, true}};
  const LabelScores scores = label_scores(p, std::vector<std::size_t>{1});
  EXPECT_EQ(scores.hamming_loss, 0.0);
  EXPECT_EQ(scores.subset_accuracy, 1.0);
  EXPECT_EQ(scores.micro_f1, 1.0);
  EXPECT_EQ(scores.ranking_loss, 0.0);
  EXPECT_NEAR(scores.precision_at[0].second, 1.0, 1e-12);
  EXPECT_NEAR(scores.log_loss, -(std::log(0.8) + std::log(0.9) + std::log(0.7)) / 3.0, 1e-12);
  p.chosen[0] = false;  // a mistake counts once
  EXPECT_NEAR(label_scores(p, {}).hamming_loss, 1.0 / 3.0, 1e-12);
}

TEST(LabelScores, OfEachLabelAlone) {
  const double gap = std::numeric_limits<double>::quiet_NaN();
  const LabeledPredictions p{2,
                             {1.0, 0.0, 1.0, gap, 0.0, 1.0},
                             {0.9, 0.3, 0.4, 0.9, 0.8, 0.6},
                             {0.9, 0.3, 0.4, 0.9, 0.8, 0.6},
                             {true, false, false, true, true, true}};
  const std::vector<SingleLabelScores> labels = scores_by_label(p);
  ASSERT_EQ(labels.size(), 2u);
  EXPECT_EQ(labels[0].known, 3.0);
  EXPECT_EQ(labels[0].positives, 2.0);
  EXPECT_EQ(labels[0].precision(), 0.5);
  EXPECT_EQ(labels[0].recall(), 0.5);
  EXPECT_EQ(labels[0].f1(), 0.5);
  EXPECT_NEAR(labels[0].mean_probability, 0.7, 1e-12);
  EXPECT_NEAR(labels[0].log_loss, -(std::log(0.9) + std::log(0.4) + std::log(0.2)) / 3.0, 1e-12);
  EXPECT_EQ(labels[1].known, 2.0);
  EXPECT_EQ(labels[1].f1(), 1.0);
  // The mean of the single ones, weighted by what is known, is that of all.
  EXPECT_NEAR((3.0 * labels[0].log_loss + 2.0 * labels[1].log_loss) / 5.0, label_scores(p, {}).log_loss,
              1e-12);
  EXPECT_NEAR((labels[0].f1() + labels[1].f1()) / 2.0, label_scores(p, {}).macro_f1, 1e-12);
}

TEST(LabelScores, ReliabilityIsWhatWasSaidAndHowOftenItWasSo) {
  const double gap = std::numeric_limits<double>::quiet_NaN();
  const LabeledPredictions p{2,
                             {1.0, 0.0, 0.0, gap, 1.0, 1.0},
                             {0.0, 0.0, 0.0, 0.0, 0.0, 0.0},
                             {0.2, 0.1, 0.3, 0.9, 1.0, 0.75},
                             {true, true, true, true, true, true}};
  const std::vector<ReliabilityBin> all = reliability(p, 2);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].cells, 3.0);
  EXPECT_NEAR(all[0].mean_probability, 0.2, 1e-12);
  EXPECT_NEAR(all[0].share_true, 1.0 / 3.0, 1e-12);
  EXPECT_EQ(all[1].cells, 2.0);  // a probability of one belongs to the last part
  EXPECT_NEAR(all[1].mean_probability, 0.875, 1e-12);
  EXPECT_EQ(all[1].share_true, 1.0);
  EXPECT_NEAR(calibration_error(all), (3.0 * (1.0 / 3.0 - 0.2) + 2.0 * 0.125) / 5.0, 1e-12);
  const std::vector<ReliabilityBin> second = reliability(p, 2, 1);
  EXPECT_EQ(second[0].cells, 1.0);
  EXPECT_EQ(second[1].cells, 1.0);
  EXPECT_EQ(calibration_error(reliability(LabeledPredictions{2, {}, {}, {}, {}}, 2)), 0.0);
}

}  // namespace
}  // namespace coppice
