// Reference cases computed by other programs, as JSON beside the source tree. They are not part of the
// distribution; where they are absent the tests that read them are skipped.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "laws/law_case.hpp"
#include "support/enumeration.hpp"
#include "support/source_folder.hpp"

namespace coppice::test {

/// Nothing if the file is not there.
inline std::optional<nlohmann::json> read_reference(const std::string& file) {
  std::ifstream in(reference_folder() / file);
  if (!in) return std::nullopt;
  return nlohmann::json::parse(in);
}

/// The same of tests/reference too, with their paths: cases that are always there.
inline std::vector<std::string> all_reference_files(const std::string& beginning) {
  std::vector<std::string> files;
  for (const std::filesystem::path& folder : {source_folder() / "tests/reference", reference_folder()}) {
    std::error_code absent;
    for (const auto& entry : std::filesystem::directory_iterator(folder, absent))
      if (entry.path().filename().string().starts_with(beginning) && entry.path().extension() == ".json")
        files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// The name of a case among tests.
struct CaseOfFile {
  std::string operator()(const ::testing::TestParamInfo<std::string>& info) const {
    return std::filesystem::path(info.param).stem().string();
  }
};

/// The cases whose file begins so, by name; one that is not there if there are none, which is skipped.
inline std::vector<std::string> reference_files(const std::string& beginning) {
  std::vector<std::string> files;
  std::error_code absent;
  for (const auto& entry : std::filesystem::directory_iterator(reference_folder(), absent))
    if (entry.path().filename().string().starts_with(beginning))
      files.push_back(entry.path().filename().string());
  std::sort(files.begin(), files.end());
  if (files.empty()) files.push_back(beginning + "absent.json");
  return files;
}

/// The data, family and prior of a reference case.
struct ReferenceProblem {
  explicit ReferenceProblem(const nlohmann::json& input) {
    const bool gaussian = input.at("lik") == "niw";
    const nlohmann::json& hyper = input.at("hyper");
    const auto& data = input.at("X");
    for (std::size_t j = 0; j < data.at(0).size(); ++j) {
      Column column{fmt::format("c{}", j), gaussian ? Kind::real : Kind::binary, {}, {}};
      for (const auto& row : data) column.values.push_back(row.at(j));
      table.columns.push_back(column);
    }
    for (std::size_t i = 0; i < data.size(); ++i) table.row_ids.push_back(fmt::format("{}", i));
    Settings settings;
    const auto set = [&](const std::string& name, const char* key) {
      parse_assignment(name + "=" + hyper.at(key).dump(), settings);
    };
    if (gaussian) {
      set("prior_mean", "mu0");
      set("mean_strength", "kappa0");
      set("dof", "nu0");
      set("scale", "Psi0");
    } else {
      set("a", "a");
      set("b", "b");
    }
    plan = plan_family(table, Codebook(), gaussian ? "gaussian" : "bernoulli", settings);
    rows = encode(plan, table);
    const auto set_model = [&](const std::string& assignment) {
      parse_assignment(assignment, model_settings);
    };
    if (input.at("alpha").is_number()) {
      law.fixed = input.at("alpha").get<double>();
      set_model("alpha=" + input.at("alpha").dump());
    } else {
      law.shape = input.at("alpha_prior").at(0);
      law.rate = input.at("alpha_prior").at(1);
      set_model("alpha-prior=" + input.at("alpha_prior").dump());
    }
    law.ngg = input.at("prior") == "nggp";
    if (!law.ngg) return;
    set_model("process=\"ngg\"");
    if (input.at("sigma").is_number()) {
      law.sigma = input.at("sigma").get<double>();
      set_model("sigma=" + input.at("sigma").dump());
    } else {
      law.sigma_a = input.at("sigma_prior").at(0);
      law.sigma_b = input.at("sigma_prior").at(1);
      set_model("sigma-prior=" + input.at("sigma_prior").dump());
    }
  }
  const Family& family() const { return *plan.family; }

  Table table;
  FamilyPlan plan;
  Rows rows;
  MixtureLaw law;
  Settings model_settings;
};

}  // namespace coppice::test
