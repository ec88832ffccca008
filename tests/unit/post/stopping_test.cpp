// Runs that end by themselves are converged: the rule that ends them and the verdict look at the same things.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "coppice/base/rng.hpp"
#include "coppice/post/analysis.hpp"
#include "unit/post/small_run.hpp"

namespace coppice {
namespace {

/// Yes/no columns that follow one of two divisions of the rows, some more closely than others, and numbers
/// that follow the first one. The views of the columns are uncertain.
std::string two_divisions(std::uint64_t seed, std::size_t rows = 10) {
  std::string csv = "a,b,c,d,e,length,width\n";
  Stream stream({seed, 0, 0}, Purpose::test);
  for (std::size_t row = 0; row < rows; ++row) {
    const bool first = row % 2 == 0;
    const bool second = row < rows / 2;
    const auto bit = [&](bool group, double share) {
      return draw_uniform(stream) < (group ? share : 1.0 - share) ? "yes" : "no";
    };
    csv += fmt::format("{},{},{},{},{},", bit(first, 0.9), bit(first, 0.7), bit(second, 0.9),
                       bit(second, 0.7), bit(first, 0.5));
    csv += fmt::format("{:.4f},{:.4f}\n", (first ? 1.0 : -1.0) + draw_normal(stream), draw_normal(stream));
  }
  return csv;
}

using Stopping = RunTest;

TEST_F(Stopping, ARunThatEndsByItselfIsConverged) {
  struct Case {
    std::string model;
    Settings parameters;
    std::uint64_t seeds;
  };
  const std::vector<Case> cases{
      {"crosscat", {}, 4},
      {"nrmm", {}, 2},
      {"nrmm", {{"sampler", {Setting::Shape::text, {}, 0, "data-parallel"}}}, 1},
      {"rbhmc", {{"levels", Setting::number(2.0)}}, 1},
  };
  for (const auto& [model, parameters, seeds] : cases)
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      SmallRun request{.csv = two_divisions(seed), .parameters = parameters};
      request.model = model;
      request.chains = 4;
      request.seed = seed;
      request.hyper = kLearnedHyper;
      request.is_until_trusted = true;
      const std::string path = make_run(request)->file().path();
      const Analysis analysis(path);
      EXPECT_EQ(analysis.run().config().end, kEndTrusted);
      EXPECT_TRUE(analysis.verdict().converged)
          << model << ", seed " << seed << ": " << analysis.verdict().sentence;
    }
}

}  // namespace
}  // namespace coppice
