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
    const std::vector<std::string> traces = entry.traces(ParameterValues(entry.parameters, {}));
    ASSERT_FALSE(traces.empty());
    EXPECT_EQ(traces.front(), "log_joint");
  }
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
