// Multi-label measures against reference values, with ties, empty and full rows, and cells nobody knows.
#include "coppice/post/label_scores.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "support/source_folder.hpp"

namespace coppice {
namespace {

TEST(LabelScores, ReferenceValues) {
  std::ifstream in(test::reference_folder() / "bnmc_metrics.json");
  if (!in) GTEST_SKIP() << "the reference case is not here";
  const nlohmann::json json = nlohmann::json::parse(in);
  LabelledPredictions p;
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

TEST(LabelScores, CellsNobodyKnowsDoNotCount) {
  const double gap = std::numeric_limits<double>::quiet_NaN();
  LabelledPredictions p{
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

}  // namespace
}  // namespace coppice
