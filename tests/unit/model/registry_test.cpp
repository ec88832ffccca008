// The list of models: names are found, unknown names are refused with the list, tables hold together.
#include "coppice/model/registry.hpp"

#include <gtest/gtest.h>

#include <set>

#include "coppice/base/error.hpp"

namespace coppice {
namespace {

TEST(Registry, NamesAreFoundAndUnique) {
  std::set<std::string> names;
  for (const ModelEntry& entry : all_models()) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    EXPECT_EQ(&model_by_name(entry.name), &entry);
    EXPECT_FALSE(entry.summary.empty());
    EXPECT_GE(entry.levels(ParameterValues(entry.parameters, {})), 1u);
    const std::vector<TraceInfo> traces = entry.traces(ParameterValues(entry.parameters, {}));
    ASSERT_FALSE(traces.empty());
    EXPECT_EQ(traces.front().name, "log_joint");
    std::set<std::string> trace_names;
    for (const TraceInfo& trace : traces) {
      EXPECT_TRUE(trace_names.insert(trace.name).second) << entry.name << ": " << trace.name;
      EXPECT_FALSE(trace.help.empty()) << entry.name << ": " << trace.name;
    }
    if (entry.has_held_out_trace()) {
      EXPECT_EQ(trace_names.count(entry.held_out_trace), 1u) << entry.name;
    }
    for (const TraceSelection& selection : entry.selections)
      EXPECT_EQ(trace_names.count(selection.trace), 1u) << entry.name << ": " << selection.name;
  }
}

TEST(Registry, CapabilitiesFitTogether) {
  for (const ModelEntry& entry : all_models()) {
    EXPECT_NE(entry.make_inference, nullptr) << entry.name;
    EXPECT_NE(entry.make_predictor, nullptr) << entry.name;
    EXPECT_NE(entry.chain_bytes, nullptr) << entry.name;
    EXPECT_NE(entry.check_given, nullptr) << entry.name;
    // A fit that runs once knows its steps and notes that it is not a posterior sample; MCMC has no end.
    EXPECT_EQ(entry.runs_once(), entry.max_steps != nullptr) << entry.name;
    if (entry.runs_once()) {
      EXPECT_FALSE(entry.inexactness_note(ParameterValues(entry.parameters, {})).empty()) << entry.name;
    }
    // "Greedy" is what has a tree over the rows instead of draws.
    EXPECT_EQ(entry.is_greedy(), entry.has_row_tree()) << entry.name;
    if (entry.has_column_tree()) {
      EXPECT_TRUE(entry.has_views()) << entry.name;
    }
    if (!entry.label_baselines.empty()) {
      EXPECT_TRUE(entry.learns_labels()) << entry.name;
    }
  }
}

TEST(Registry, ModelsAreFoundByWhatTheyCanDo) {
  EXPECT_EQ(models_that(&ModelEntry::has_views), (std::vector<std::string>{"bhcc", "crosscat"}));
  EXPECT_EQ(models_that(&ModelEntry::learns_labels), (std::vector<std::string>{"bnmc"}));
  EXPECT_EQ(models_that(&ModelEntry::is_greedy), (std::vector<std::string>{"bhc", "bhcc"}));
  ASSERT_NE(label_baseline_by_name("ovr"), nullptr);
  EXPECT_EQ(label_baseline_by_name("ovr")->name, "ovr");
  EXPECT_EQ(label_baseline_by_name("bnmc"), nullptr);
}

TEST(Registry, UnknownNameNamesTheModels) {
  try {
    model_by_name("nrm");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_NE(std::string(error.what()).find("nrmm"), std::string::npos) << error.what();
  }
}

TEST(Registry, DefaultsOfEveryModelAreInRange) {
  for (const ModelEntry& entry : all_models()) {
    EXPECT_NO_THROW(ParameterValues(entry.parameters, {})) << entry.name;
    std::set<std::string> names;
    for (const Parameter& parameter : entry.parameters) {
      EXPECT_TRUE(names.insert(parameter.name).second) << parameter.name;
      EXPECT_FALSE(parameter.help.empty()) << parameter.name;
    }
  }
}

}  // namespace
}  // namespace coppice
