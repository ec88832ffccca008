// The reference cases, as JSON: those of tests/reference, which are always there, and where the folder of
// outside cases is there too, those.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/source_folder.hpp"

namespace coppice::test {

/// Throws if it is not there, which fails the test.
inline nlohmann::json read_reference(const std::filesystem::path& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error("the reference case " + path.string() + " is missing");
  return nlohmann::json::parse(in);
}

/// The paths of the listed cases whose name begins so, whether or not the files are there, and of the outside
/// cases that begin with `outside`. A list that names no such case gives one path that is not there.
inline std::vector<std::string> reference_cases(const std::string& beginning, const std::string& outside) {
  std::vector<std::string> paths;
  std::ifstream list(reference_folder() / "cases.txt");
  for (std::string name; std::getline(list, name);)
    if (name.starts_with(beginning)) paths.push_back((reference_folder() / (name + ".json")).string());
  if (paths.empty()) paths.push_back((reference_folder() / (beginning + "unlisted.json")).string());
  std::vector<std::string> others;
  std::error_code absent;
  for (const auto& entry : std::filesystem::directory_iterator(outside_reference_folder(), absent))
    if (entry.path().filename().string().starts_with(outside) && entry.path().extension() == ".json")
      others.push_back(entry.path().string());
  std::sort(others.begin(), others.end());
  paths.insert(paths.end(), others.begin(), others.end());
  return paths;
}
inline std::vector<std::string> reference_cases(const std::string& beginning) {
  return reference_cases(beginning, beginning);
}

/// The name of a case among tests.
struct CaseOfFile {
  std::string operator()(const ::testing::TestParamInfo<std::string>& info) const {
    std::string name = std::filesystem::path(info.param).stem().string();
    std::replace(name.begin(), name.end(), '.', '_');
    return name;
  }
};

}  // namespace coppice::test
