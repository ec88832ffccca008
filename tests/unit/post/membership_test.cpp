// Where a new row belongs, in every model: what `predict` says from the draws for five rows, against the
// draws for those five and the new one together. Samplers are proved against full enumeration elsewhere, so
// the second is the posterior by definition: how often the new row is with whom.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "coppice/post/predict.hpp"
#include "small_run.hpp"
#include "support/sampling_error.hpp"

namespace coppice {
namespace {

struct MembershipCase {
  const char* name;
  const char* model;
  std::size_t level = 1;
  Settings parameters = {};
};

const char* const kBinaryRows[] = {"1,1,0,1", "1,1,1,1", "0,0,1,0", "0,0,0,0", "1,0,0,1", "1,1,1,0"};
const char* const kRealRows[] = {"-2.1", "-1.7", "1.9", "2.3", "0.2", "-0.9"};

std::string table(bool is_real, std::size_t rows, std::size_t first = 0) {
  std::string csv = is_real ? "x\n" : "a,b,c,d\n";
  for (std::size_t i = first; i < rows; ++i)
    csv += std::string(is_real ? kRealRows[i] : kBinaryRows[i]) + "\n";
  return csv;
}

/// Mean over independent runs, with its standard error.
struct Estimate {
  double mean = 0.0;
  double error = 0.0;
};
Estimate estimate(const std::vector<double>& values) {
  Estimate result;
  const auto n = static_cast<double>(values.size());
  for (const double value : values) result.mean += value / n;
  for (const double value : values) result.error += std::pow(value - result.mean, 2) / (n * (n - 1.0));
  result.error = std::sqrt(result.error);
  return result;
}

class MembershipOfNewRows : public RunTest, public testing::WithParamInterface<MembershipCase> {};

TEST_P(MembershipOfNewRows, IsThatOfThePosteriorOfAllRows) {
  const MembershipCase& given = GetParam();
  const bool is_real = std::string(given.model) == "nhcm";
  // The prior must not depend on the data: the sixth row would change it.
  SmallRun request{.csv = "",
                   .family = is_real ? "gaussian" : "bernoulli",
                   .parameters = given.parameters,
                   .chains = 1,
                   .draws = test::scaled(1200),
                   .model = given.model};
  if (is_real)
    request.family_settings = {{"prior_mean", parse_setting("[0.0]")},
                               {"mean_strength", Setting::number(0.3)},
                               {"dof", Setting::number(4.0)},
                               {"scale", parse_setting("[[1.0]]")}};
  else
    request.family_settings = {{"a", Setting::number(0.4)}, {"b", Setting::number(0.4)}};
  const std::vector<Label> consensus{0, 0, 1, 1, 0};
  constexpr std::size_t kRuns = 16;
  std::vector<double> predicted[3];
  std::vector<double> drawn[3];
  for (std::size_t i = 0; i < kRuns; ++i) {
    request.seed = 2 * i + 1;
    request.csv = table(is_real, 5);
    const auto five = make_run(request);
    const Prediction prediction =
        predict(*five, new_rows(*five, table(is_real, 6, 5)), consensus,
                {.threads = 1, .level = given.level})[0];  // a few draws at a time: threads would only wait
    predicted[0].push_back(prediction.probabilities[0]);
    predicted[1].push_back(prediction.probabilities[1]);
    predicted[2].push_back(prediction.new_probability);
    request.seed = 2 * i + 2;
    request.csv = table(is_real, 6);
    const auto six = make_run(request);
    double shares[3] = {0.0, 0.0, 0.0};
    six->for_each_draw(0, [&](const SavedDraw& saved) {
      const std::span<const Label> labels = saved.labels.subspan((given.level - 1) * 6, 6);
      double members[2] = {0.0, 0.0};
      for (std::size_t j = 0; j < 5; ++j)
        if (labels[j] == labels[5]) members[consensus[j]] += 1.0;
      const double all = members[0] + members[1];
      if (all == 0.0) shares[2] += 1.0;
      for (std::size_t g = 0; g < 2 && all > 0.0; ++g) shares[g] += members[g] / all;
    });
    for (std::size_t k = 0; k < 3; ++k)
      drawn[k].push_back(shares[k] / static_cast<double>(six->draws_per_chain()));
  }
  for (std::size_t k = 0; k < 3; ++k) {
    const Estimate a = estimate(predicted[k]);
    const Estimate b = estimate(drawn[k]);
    // Two means of 16 runs each: five standard errors are exceeded by chance once in 40,000 comparisons.
    EXPECT_NEAR(a.mean, b.mean, 5.0 * std::hypot(a.error, b.error) + 1e-12) << "group " << k;
    EXPECT_GT(b.mean, 0.02) << "a group that is never met proves nothing";
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, MembershipOfNewRows,
    testing::Values(MembershipCase{"nrmm", "nrmm", 1, {{"alpha", Setting::number(0.8)}}},
                    MembershipCase{"nrmm_learned", "nrmm"},
                    MembershipCase{"nrmm_ngg", "nrmm", 1, {{"process", parse_setting("\"ngg\"")}}},
                    MembershipCase{"crosscat", "crosscat"}, MembershipCase{"rbhmc_top", "rbhmc", 1},
                    MembershipCase{"rbhmc_leaves", "rbhmc", 3}, MembershipCase{"nhcm_clusters", "nhcm", 1},
                    MembershipCase{"nhcm_subclusters", "nhcm", 2}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace coppice
