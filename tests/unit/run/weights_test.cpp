// Rows with weights on their way from a file to a run and back.
#include <gtest/gtest.h>

#include "coppice/base/error.hpp"
#include "coppice/data/row_weights.hpp"
#include "coppice/run/fit_service.hpp"
#include "coppice/run/new_run.hpp"

namespace coppice::test {
namespace {

constexpr const char* kWeightedTable =
    "size,kind,visits,people\n"
    "1.5,a,3,2\n2.25,b,0,1\n-0.5,a,1,4\n3.75,b,7,1\n0.25,c,2,3\n1.0,c,4,1\n2.0,a,5,2\n-1.25,b,1,1\n";

Dataset weighted_data(const std::string& text = kWeightedTable) {
  ReadOptions reading;
  reading.weights = "people";
  return read_dataset_bytes(text, "table.csv", reading);
}

RunContents weighted_contents(Dataset data, const std::string& model,
                              const std::vector<std::string>& parameters = {},
                              const std::string& family = "auto") {
  RunConfig config;
  config.model = model;
  config.family = family;
  config.hyper = kFixedHyper;
  for (const std::string& parameter : parameters) parse_assignment(parameter, config.parameters);
  return contents_of(config, std::move(data));
}

std::string why_weights_are_refused(const RunContents& of) {
  try {
    set_up_problem(of);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(RowWeights, AreNotModeled) {
  const Dataset data = weighted_data();
  EXPECT_EQ(data.table.find("people"), nullptr);
  ASSERT_EQ(data.weights.columns.size(), 1U);
  EXPECT_EQ(data.weights.columns[0].values, (std::vector<double>{2, 1, 4, 1, 3, 1, 2, 1}));
}

TEST(RowWeights, GiveTheDefaultsOfRepeatedRows) {
  for (const bool standardize : {false, true}) {
    RunConfig config;
    config.model = "bhc";
    config.hyper = kFixedHyper;
    config.standardize = standardize;
    const RunContents of_weights = contents_of(config, weighted_data());
    Dataset repeated = weighted_data();
    repeated.table = repeat_rows(repeated.table, repeated.weights.columns[0].values);
    repeated.weights = {};
    const RunContents of_repeated = contents_of(config, std::move(repeated));
    EXPECT_EQ(of_weights.transform, of_repeated.transform);
    EXPECT_EQ(set_up_problem(of_weights)->plan.blocks, set_up_problem(of_repeated)->plan.blocks);
  }
}

TEST(RowWeights, AreKeptWithTheRun) {
  for (const char* model : {"nrmm", "bhc"}) {
    FitRequest request;
    request.model = model;
    if (request.model == "nrmm") parse_assignment("draws=5", request.run_length);
    if (request.model == "nrmm") parse_assignment("warmup=5", request.run_length);
    request.data = weighted_data();
    request.reading.weights = "people";
    Fit fit = Fit::begin(std::move(request));
    EXPECT_EQ(fit.setup().rows.copies(), 15.0);
    fit.run();
    const SavedRun run = Fit::take_run(std::move(fit));
    EXPECT_EQ(run.config().weights, "people");
    EXPECT_EQ(run.setup().rows.copies(), 15.0);
    EXPECT_EQ(run.contents().weights.columns.at(0).name, "people");
    const std::vector<std::string>& notes = run.config().notes;
    EXPECT_TRUE(std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
      return note.find("8 rows count as 15") != std::string::npos;
    }));
  }
}

TEST(RowWeights, AreRefusedWhereTheyHaveNoMeaning) {
  EXPECT_EQ(why_weights_are_refused(weighted_contents(weighted_data(), "nrmm")), "");
  EXPECT_EQ(why_weights_are_refused(weighted_contents(weighted_data(), "bhc")), "");
  for (const char* model : {"nhcm", "crosscat", "bhcc", "rbhmc"})
    EXPECT_NE(why_weights_are_refused(weighted_contents(weighted_data(), model))
                  .find("takes no row weights; nrmm and bhc do"),
              std::string::npos)
        << model;
  EXPECT_NE(why_weights_are_refused(weighted_contents(weighted_data(), "nrmm", {"process=\"ngg\""}))
                .find("Dirichlet process"),
            std::string::npos);
  EXPECT_NE(why_weights_are_refused(weighted_contents(weighted_data(), "nrmm", {"sampler=\"data-parallel\""}))
                .find("data-parallel"),
            std::string::npos);
  EXPECT_NE(why_weights_are_refused(weighted_contents(weighted_data(), "nrmm", {"expect-clusters=[3]"}))
                .find("--expect-clusters"),
            std::string::npos);
  const Dataset gaps = weighted_data("x,y,people\n1.5,2.5,1\n,1.25,2\n0.5,0.25,1\n2.5,1.75,3\n");
  EXPECT_NE(why_weights_are_refused(weighted_contents(gaps, "nrmm", {}, "gaussian")).find("must be complete"),
            std::string::npos);
  EXPECT_EQ(why_weights_are_refused(weighted_contents(gaps, "nrmm", {}, "gaussian-diagonal")), "");
}

TEST(RowWeights, AreWholeNumbers) {
  const auto problem = [](const std::string& weight) -> std::string {
    try {
      weighted_data("x,people\n1.5,1\n2.5," + weight + "\n0.5,2\n");
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(problem("3"), "");
  EXPECT_NE(problem("1.5").find("table.csv:3: column 'people'"), std::string::npos) << problem("1.5");
  EXPECT_NE(problem("1.5").find("whole number"), std::string::npos);
  EXPECT_NE(problem("0").find("leave the row out"), std::string::npos);
  EXPECT_NE(problem("-2").find("whole number"), std::string::npos);
  EXPECT_NE(problem("").find("missing"), std::string::npos);
  EXPECT_NE(problem("many").find("people"), std::string::npos);
  EXPECT_NE(problem("99999999").find("10000000"), std::string::npos);
}

}  // namespace
}  // namespace coppice::test
