// Learned hyper-parameters of runs, in the units of the data; profiles that use them; and predictions that
// stay where the data are.
#include "coppice/post/learned_values.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "coppice/base/rng.hpp"
#include "coppice/post/impute.hpp"
#include "coppice/post/least_values.hpp"
#include "coppice/post/profile.hpp"
#include "coppice/post/sample_rows.hpp"
#include "unit/post/small_run.hpp"

namespace coppice {
namespace {

constexpr std::size_t kTableRows = 120;

/// Two groups: lengths about 20 and 60 (sd 3), a count about 1 and 12, a color; all cells are there unless
/// `gaps`.
std::string two_groups(double unit, bool gaps = false) {
  Stream stream({3, 0, 0}, Purpose::prior_data);
  std::string csv = "length,width,events,color\n";
  for (std::size_t row = 0; row < kTableRows; ++row) {
    const bool second = row % 2 == 1;
    const double length = unit * ((second ? 60.0 : 20.0) + 3.0 * draw_normal(stream));
    const double width = (second ? 7.0 : 3.0) + draw_normal(stream);
    const auto events = draw_poisson(stream, second ? 12.0 : 1.0);
    const bool missing = gaps && row % 10 == 0;
    csv += fmt::format("{},{:.6f},{},{}\n", missing ? "" : fmt::format("{:.6f}", length), width, events,
                       draw_uniform(stream) < (second ? 0.9 : 0.2) ? "red" : "blue");
  }
  return csv;
}

const LearnedValue& find(const std::vector<LearnedValue>& list, const std::string& column,
                         const std::string& parameter) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const LearnedValue& value) {
    return value.column == column && value.parameter == parameter;
  });
  if (found == list.end()) throw std::out_of_range(column + "." + parameter);
  return *found;
}

SmallRun request_of(const std::string& csv, const std::string& model) {
  SmallRun request{.csv = csv};
  request.model = model;
  request.hyper = kLearnedHyper;
  return request;
}

using LearnedValuesOfARun = RunTest;

TEST_F(LearnedValuesOfARun, AreInTheUnitsOfTheData) {
  for (const double unit : {1.0, 1000.0}) {
    const auto run = make_run(request_of(two_groups(unit), "nrmm"));
    const std::vector<LearnedValue> list = learned_values(*run);
    const LearnedValue& sd = find(list, "length", "cluster_sd");
    EXPECT_EQ(sd.family, "gaussian");
    EXPECT_GT(sd.mean, 1.0 * unit);
    EXPECT_LT(sd.mean, 8.0 * unit);
    EXPECT_LT(sd.q05, sd.mean);
    EXPECT_LT(sd.mean, sd.q95);
    EXPECT_NEAR(find(list, "length", "prior_mean").mean, 40.0 * unit, 30.0 * unit);
    EXPECT_GT(find(list, "", "dof").mean, 1.0);
    EXPECT_GT(find(list, "events", "mean").mean, 0.5);
    EXPECT_GT(find(list, "color", "mean").mean, 0.0);
    EXPECT_LT(find(list, "color", "mean").mean, 1.0);
  }
}

TEST_F(LearnedValuesOfARun, EveryModelThatLearnsHasThem) {
  for (const std::string model : {"nrmm", "crosscat", "rbhmc"}) {
    for (const bool gaps : {false, true}) {
      SmallRun request = request_of(two_groups(1.0, gaps), model);
      if (model == "rbhmc") request.parameters = {{"penalty", Setting::number(0.0)}};
      const auto run = make_run(request);
      const std::vector<LearnedValue> list = learned_values(*run);
      // One blank cell must not change the family.
      EXPECT_EQ(find(list, "length", "cluster_sd").family,
                model == "crosscat" ? "gaussian-diagonal" : "gaussian")
          << model << gaps;
      EXPECT_GT(find(list, "length", "cluster_sd").mean, 0.0);
      request.hyper = kFixedHyper;
      EXPECT_TRUE(learned_values(*make_run(request)).empty());
    }
  }
  std::string numbers = "a,b\n";
  Stream stream({4, 0, 0}, Purpose::prior_data);
  for (int i = 0; i < 60; ++i)
    numbers += fmt::format("{:.6f},{:.6f}\n", 10.0 * (i % 2) + draw_normal(stream), draw_normal(stream));
  EXPECT_GT(find(learned_values(*make_run(request_of(numbers, "nhcm"))), "a", "cluster_sd").mean, 0.0);
  EXPECT_TRUE(learned_values(*make_run(request_of(numbers, "bhc"))).empty()) << "chosen, not learned by MCMC";
}

TEST_F(LearnedValuesOfARun, LevelsHaveProbabilities) {
  std::string csv = "shape,size\n";
  Stream stream({6, 0, 0}, Purpose::prior_data);
  const char* const shapes[] = {"round", "square", "flat", "round"};
  for (std::size_t row = 0; row < kTableRows; ++row)
    csv +=
        fmt::format("{},{:.6f}\n", shapes[row % 4], 5.0 * static_cast<double>(row % 2) + draw_normal(stream));
  for (const std::string model : {"nrmm", "crosscat", "rbhmc"}) {
    SCOPED_TRACE(model);
    SmallRun request = request_of(csv, model);
    if (model == "rbhmc") request.parameters = {{"penalty", Setting::number(0.0)}};
    const std::vector<LearnedValue> list = learned_values(*make_run(request));
    EXPECT_GT(find(list, "shape", "strength").mean, 0.0);
    EXPECT_EQ(find(list, "shape", "strength").level, "");
    std::map<std::string, double> probabilities;
    for (const LearnedValue& value : list)
      if (value.parameter == "probability") probabilities[value.level] = value.mean;
    ASSERT_EQ(probabilities.size(), 3U);
    EXPECT_NEAR(probabilities.at("round") + probabilities.at("square") + probabilities.at("flat"), 1.0, 1e-9);
    EXPECT_GT(probabilities.at("round"), probabilities.at("flat"));
  }
}

TEST_F(LearnedValuesOfARun, ProfilesHaveTheSpreadOfTheCluster) {
  const auto run = make_run(request_of(two_groups(1.0), "nrmm"));
  Labels truth;
  for (std::size_t row = 0; row < kTableRows; ++row) truth.push_back(static_cast<Label>(row % 2));
  const std::vector<double> sure(kTableRows, 1.0);
  const std::vector<ClusterProfile> profiles = profile_clusters(*run, truth, sure, 0);
  for (const Trait& trait : profiles[1].traits)
    if (trait.column == "events") {
      EXPECT_NEAR(trait.inside, 12.0, 1.5);
      EXPECT_LT(trait.inside_sd, 6.0) << "the spread of the whole column is larger";
      EXPECT_GT(trait.inside_range.low, 2.0);
    }
}

using LeastValues = RunTest;

TEST_F(LeastValues, WhatIsNeverNegativeIsNeverPredictedNegative) {
  Stream stream({5, 0, 0}, Purpose::prior_data);
  std::string csv = "distance,change\n";
  for (int row = 0; row < 150; ++row) {
    const double distance = std::abs(3.0 + 2.5 * draw_normal(stream));
    const double change = draw_normal(stream);
    csv += fmt::format("{},{}\n", row % 9 == 0 ? "" : fmt::format("{:.5f}", distance),
                       row % 9 == 1 ? "" : fmt::format("{:.5f}", change));
  }
  for (const bool standardize : {false, true}) {
    SmallRun request = request_of(csv, "nrmm");
    request.standardize = standardize;
    const auto run = make_run(request);
    const std::vector<double> least = least_values(*run);
    EXPECT_TRUE(std::isfinite(least[0]));
    EXPECT_TRUE(std::isinf(least[1]));
    const Imputation imputed = impute(*run);
    bool any_change_below = false;
    for (const ImputedCell& cell : imputed.cells) {
      if (cell.column == 0) {
        EXPECT_GE(cell.low, 0.0);
        EXPECT_GE(cell.mean, 0.0);
        EXPECT_LE(cell.low, cell.median);
      }
      any_change_below = any_change_below || (cell.column == 1 && cell.low < 0.0);
    }
    EXPECT_TRUE(any_change_below);
    const Table rows = sample_rows(*run, 400, 1, 1);
    EXPECT_GE(*std::min_element(rows.columns[0].values.begin(), rows.columns[0].values.end()), 0.0);
    EXPECT_LT(*std::min_element(rows.columns[1].values.begin(), rows.columns[1].values.end()), -1.0);
  }
}

}  // namespace
}  // namespace coppice
