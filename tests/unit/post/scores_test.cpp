// Scores against scikit-learn (scores_reference.json, made by tools/make_post_reference.py) and against their
// definitions.
#include "coppice/post/scores.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "coppice/base/error.hpp"
#include "support/source_folder.hpp"

namespace coppice {
namespace {

TEST(Scores, EqualScikitLearn) {
  std::ifstream file(test::source_folder() / "tests/unit/post/scores_reference.json");
  ASSERT_TRUE(file);
  const auto reference = nlohmann::json::parse(file);
  ASSERT_GE(reference["cases"].size(), 10U);
  std::size_t number = 0;
  for (const auto& one : reference["cases"]) {
    SCOPED_TRACE(number++);
    const auto truth = one["truth"].get<Labels>();
    const auto found = one["found"].get<Labels>();
    const Scores scores = score(truth, found);
    EXPECT_NEAR(scores.ari, one["ari"].get<double>(), 1e-12);
    EXPECT_NEAR(scores.nmi, one["nmi"].get<double>(), 1e-12);
    EXPECT_NEAR(scores.homogeneity, one["homogeneity"].get<double>(), 1e-12);
    EXPECT_NEAR(scores.completeness, one["completeness"].get<double>(), 1e-12);
    EXPECT_NEAR(scores.vi, one["vi"].get<double>(), 1e-12);
    EXPECT_NEAR(scores.f_measure, one["f_measure"].get<double>(), 1e-12);
    EXPECT_NEAR(scores.pairwise_f, one["pairwise_f"].get<double>(), 1e-12);
    EXPECT_NEAR(scores.purity, one["purity"].get<double>(), 1e-12);
    EXPECT_EQ(scores.ari, adjusted_rand_index(truth, found));
    EXPECT_EQ(scores.nmi, normalized_mutual_information(truth, found));
    EXPECT_EQ(scores.vi, variation_of_information(truth, found));
    EXPECT_EQ(scores.f_measure, f_measure(truth, found));
    EXPECT_EQ(scores.pairwise_f, pairwise_f_measure(truth, found));
    EXPECT_EQ(scores.purity, purity(truth, found));
  }
}

TEST(Scores, SkipsRowsWithoutTruth) {
  const Labels truth{0, 0, kMissingTruth, 1, 1, kMissingTruth};
  const Labels found{5, 5, 7, 2, 2, 5};
  const Scores scores = score(truth, found);
  EXPECT_EQ(scores.rows, 4U);
  EXPECT_EQ(scores.classes, 2U);
  EXPECT_EQ(scores.clusters, 2U);
  EXPECT_EQ(scores.ari, 1.0);
  EXPECT_EQ(scores.vi, 0.0);
  EXPECT_EQ(scores.f_measure, 1.0);
}

TEST(Scores, FMeasureByHand) {
  // Class 0 has 3 rows, of which 2 are in cluster 0 (size 3): F = 4/6. Class 1 has 2 rows, 1 in cluster 0, 1
  // alone: 2/3.
  const Labels truth{0, 0, 0, 1, 1};
  const Labels found{0, 0, 1, 0, 2};
  EXPECT_DOUBLE_EQ(f_measure(truth, found), (3.0 * 4.0 / 6.0 + 2.0 * 2.0 / 3.0) / 5.0);
}

TEST(Scores, BinderCountsOrderedPairs) {
  const Labels a{0, 0, 1, 1};
  const Labels b{0, 0, 0, 1};
  // Pairs joined by one only: (0,2), (1,2), (2,3).
  EXPECT_DOUBLE_EQ(binder_distance(a, b), 2.0 * 3.0 / 16.0);
  EXPECT_EQ(binder_distance(a, a), 0.0);
}

TEST(Scores, HugeLabelsCostNoMemory) {
  const Labels truth{2000000000, 2000000000, 5, 5};
  EXPECT_EQ(adjusted_rand_index(truth, Labels{1, 1, 1999999999, 1999999999}), 1.0);
}

TEST(Scores, RefusesWhatHasNoAnswer) {
  EXPECT_THROW(score(Labels{0, 1}, Labels{0}), Error);
  EXPECT_THROW(score(Labels{-1, -1}, Labels{0, 1}), Error);
  EXPECT_THROW(score(Labels{0, 1}, Labels{0, -1}), Error);
  EXPECT_THROW(score(Labels{}, Labels{}), Error);
}

}  // namespace
}  // namespace coppice
