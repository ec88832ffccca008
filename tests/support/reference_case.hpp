// The mixtures of reference cases: data, family and prior.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "laws/law_case.hpp"
#include "support/nrmm_enumeration.hpp"
#include "support/reference_files.hpp"

namespace coppice::test {

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
