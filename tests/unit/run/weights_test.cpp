// Rows with weights on their way from a file to a run and back.
#include <gtest/gtest.h>

#include "coppice/base/byte_stream.hpp"
#include "coppice/base/error.hpp"
#include "coppice/data/row_weights.hpp"
#include "coppice/model/registry.hpp"
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

/// For a model of real columns only.
Dataset real_data() {
  return weighted_data(
      "size,visits,people\n1.5,3.25,2\n2.25,0.5,1\n-0.5,1.75,4\n3.75,7.5,1\n0.25,2.5,3\n1.0,4.5,1\n2.0,5.25,"
      "2\n"
      "-1.25,1.0,1\n");
}

/// A table that the model can work with, with weights of 15 in all.
Dataset data_for(const std::string& model) {
  return model_by_name(model).family == "gaussian" ? real_data() : weighted_data();
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

FitRequest weighted_request(const std::string& model, Dataset data) {
  FitRequest request;
  request.model = model;
  if (!model_by_name(model).runs_once()) {
    parse_assignment("chains=2", request.run_length);
    parse_assignment("warmup=5", request.run_length);
    parse_assignment("draws=5", request.run_length);
  }
  request.data = std::move(data);
  request.reading.weights = "people";
  request.hyper = kFixedHyper;
  return request;
}

/// Everything that was drawn.
std::string draws_of(FitRequest request) {
  Fit fit = Fit::begin(std::move(request));
  fit.run();
  const SavedRun run = Fit::take_run(std::move(fit));
  ByteWriter writer;
  run.for_each_draw(0, [&](const SavedDraw& draw) {
    writer.put(draw.labels.data(), draw.labels.size());
    writer.put(draw.traces.data(), draw.traces.size());
    writer.put(draw.payload.data(), draw.payload.size());
  });
  return writer.take();
}

TEST(RowWeights, OfOneAreNoWeights) {
  for (const std::string& model : models_that(&ModelEntry::takes_weights)) {
    Dataset ones = data_for(model);
    std::fill(ones.weights.columns[0].values.begin(), ones.weights.columns[0].values.end(), 1.0);
    Dataset none = data_for(model);
    none.weights = {};
    for (const std::string hyper : {kFixedHyper, kLearnedHyper}) {
      const auto request_for = [&](const Dataset& data) {
        FitRequest request = weighted_request(model, data);
        request.hyper = hyper;
        return request;
      };
      FitRequest without = request_for(none);
      without.reading.weights.clear();
      const std::string drawn = draws_of(request_for(ones));
      EXPECT_FALSE(drawn.empty());
      EXPECT_EQ(drawn, draws_of(std::move(without))) << model << " " << hyper;
      EXPECT_NE(drawn, draws_of(request_for(data_for(model)))) << model << " " << hyper;
    }
  }
}

TEST(RowWeights, OfOneRefuseNothing) {
  Dataset ones = weighted_data();
  std::fill(ones.weights.columns[0].values.begin(), ones.weights.columns[0].values.end(), 1.0);
  EXPECT_FALSE(weighted_contents(ones, "nrmm").has_weights());
  EXPECT_EQ(why_weights_are_refused(weighted_contents(ones, "nrmm", {"process=\"ngg\""})), "");
  EXPECT_EQ(why_weights_are_refused(weighted_contents(ones, "rbhmc")), "");
}

TEST(RowWeights, AreKeptWithTheRun) {
  for (const std::string& model : models_that(&ModelEntry::takes_weights)) {
    Fit fit = Fit::begin(weighted_request(model, data_for(model)));
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
  for (const char* model : {"nrmm", "bhc", "bhcc", "crosscat"})
    EXPECT_EQ(why_weights_are_refused(weighted_contents(weighted_data(), model)), "") << model;
  EXPECT_EQ(why_weights_are_refused(weighted_contents(real_data(), "nhcm")), "");
  EXPECT_NE(why_weights_are_refused(weighted_contents(weighted_data(), "rbhmc"))
                .find("takes no row weights; nrmm, nhcm, bhc, bhcc, crosscat do"),
            std::string::npos);
  EXPECT_NE(why_weights_are_refused(weighted_contents(real_data(), "nhcm", {"sampler=\"published\""}))
                .find("--sampler published"),
            std::string::npos);
  EXPECT_NE(why_weights_are_refused(weighted_contents(weighted_data(), "crosscat", {"auxiliary=\"prior\""}))
                .find("--auxiliary prior"),
            std::string::npos);
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
