// See law_case.hpp.
#include "laws/law_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "coppice/family/registry.hpp"

namespace coppice::test {
namespace {

std::string test_name(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::vector<CaseColumn> same_columns(std::size_t count, const CaseColumn& column) {
  return std::vector<CaseColumn>(count, column);
}

/// A first line for a family that this file may know nothing about: columns of the first kind it can model.
LawCase default_case(const FamilyEntry& entry, std::size_t columns) {
  const Kind kind = entry.kinds.front();
  return {test_name(entry.name) + "_default", entry.name,
          same_columns(columns, {kind, kind == Kind::category ? 3u : 0u})};
}

CaseColumn real_column() { return {Kind::real}; }
CaseColumn count_column() { return {Kind::count}; }
CaseColumn binary_column() { return {Kind::binary}; }
CaseColumn category_column(std::size_t levels) { return {Kind::category, levels}; }

LawCase mixed_case(std::string name, double missing) {
  return {std::move(name),
          "auto",
          {category_column(4),
           real_column(),
           count_column(),
           {Kind::count, 0, "binomial", {"trials=50", "a=0.7"}},
           binary_column(),
           {Kind::real, 0, "gaussian-known", {"noise_variance=2"}},
           real_column(),
           category_column(2)},
          {},
          missing};
}

std::vector<double> simulate_column(const CaseColumn& column, const std::vector<int>& group, Stream& stream) {
  const double limit = [&] {
    for (const std::string& setting : column.settings)
      if (setting.starts_with("trials=")) return std::stod(setting.substr(7));
    return 1e300;
  }();
  const double low = draw_uniform(stream) * 4.0;
  const double high = low + 1.0 + draw_uniform(stream) * 4.0;
  std::vector<double> values;
  for (const int g : group) {
    const double center = g == 0 ? low : high;
    switch (column.kind) {
      case Kind::real:
        values.push_back(center + 1.3 * draw_normal(stream));
        break;
      case Kind::count:
        values.push_back(std::min(limit, static_cast<double>(draw_poisson(stream, center))));
        break;
      case Kind::binary:
        values.push_back(draw_uniform(stream) < center / 9.0 ? 1.0 : 0.0);
        break;
      case Kind::category:
        values.push_back(
            std::min(std::floor(draw_beta(stream, center + 0.2, 2.0) * static_cast<double>(column.levels)),
                     static_cast<double>(column.levels - 1)));
        break;
    }
  }
  return values;
}

}  // namespace

std::vector<LawCase> law_cases() {
  std::vector<LawCase> cases;
  for (const FamilyEntry& entry : all_families()) {
    cases.push_back(default_case(entry, 3));
    if (!entry.missing_allowed) continue;
    LawCase missing = default_case(entry, 3);
    missing.name = test_name(entry.name) + "_missing";
    missing.missing = 0.3;
    cases.push_back(missing);
  }
  // The kernel has code of its own for small dimensions and for 12, and general code for the rest.
  for (const std::size_t dimension : {1u, 2u, 5u, 12u, 20u})
    cases.push_back(
        {fmt::format("gaussian_{}", dimension), "gaussian", same_columns(dimension, real_column())});
  cases.push_back({"gaussian_odd",
                   "gaussian",
                   same_columns(2, real_column()),
                   {"prior_mean=[-3, 8]", "mean_strength=2.5", "dof=1.3", "scale=[[4, -1.5], [-1.5, 0.7]]"}});
  cases.push_back({"gaussian_preset", "gaussian", same_columns(3, real_column()), {"preset=\"nips2015\""}});
  cases.push_back({"gaussian_diagonal_odd",
                   "gaussian-diagonal",
                   same_columns(2, real_column()),
                   {"prior_mean=[-3, 8]", "mean_strength=[4, 0.001]", "shape=[0.2, 30]", "rate=[1e-2, 50]"},
                   0.2});
  cases.push_back({"gaussian_known_odd",
                   "gaussian-known",
                   same_columns(2, real_column()),
                   {"prior_mean=[-3, 8]", "noise_variance=[0.3, 9]", "prior_variance=[100, 0.01]"},
                   0.2});
  cases.push_back({"bernoulli_odd",
                   "bernoulli",
                   same_columns(4, binary_column()),
                   {"a=[0.001, 3, 20, 1]", "b=0.05"},
                   0.2});
  cases.push_back({"binomial_one_trial",
                   "binomial",
                   same_columns(2, {Kind::count, 0, "", {"trials=1"}}),
                   {"a=0.3", "b=4"}});
  cases.push_back({"binomial_50_trials",
                   "binomial",
                   same_columns(2, {Kind::count, 0, "", {"trials=50"}}),
                   {"a=[0.01, 5]", "b=[2, 0.4]"},
                   0.2});
  cases.push_back({"categorical_levels",
                   "categorical",
                   {category_column(2), category_column(5), category_column(11)},
                   {"concentration=0.03"},
                   0.2});
  cases.push_back({"categorical_weights",
                   "categorical",
                   {{Kind::category, 3, "", {"concentration=[0.2, 5, 1]"}},
                    {Kind::category, 2, "", {"concentration=9"}}}});
  cases.push_back({"multinomial_odd",
                   "multinomial",
                   same_columns(4, count_column()),
                   {"concentration=[0.01, 7, 0.5, 2]"}});
  cases.push_back({"poisson_odd",
                   "poisson",
                   same_columns(2, count_column()),
                   {"shape=[0.1, 40]", "rate=[0.02, 8]"},
                   0.2});
  cases.push_back({"negative_binomial_odd",
                   "negative-binomial",
                   same_columns(2, count_column()),
                   {"size=[0.3, 40]", "a=[12, 9]", "b=[0.2, 30]"},
                   0.2});
  cases.push_back(mixed_case("mixed", 0.0));
  cases.push_back(mixed_case("mixed_missing", 0.3));
  return cases;
}

std::vector<LawCase> narrow_cases() {
  std::vector<LawCase> cases;
  for (const FamilyEntry& entry : all_families())
    cases.push_back(default_case(entry, entry.joint && entry.is_discrete() ? 2 : 1));
  cases.push_back({"gaussian_2",
                   "gaussian",
                   same_columns(2, real_column()),
                   {"prior_mean=[1, 5]", "mean_strength=0.7", "dof=4.5", "scale=[[4, -1.5], [-1.5, 3]]"}});
  cases.push_back({"gaussian_diagonal_odd",
                   "gaussian-diagonal",
                   same_columns(2, real_column()),
                   {"prior_mean=[3, 2]", "mean_strength=[4, 0.3]", "shape=[0.6, 10]", "rate=[2, 20]"},
                   0.2});
  cases.push_back(
      {"binomial_50_trials", "binomial", {{Kind::count, 0, "", {"trials=50"}}}, {"a=0.8", "b=3"}});
  cases.push_back(
      {"categorical_5", "categorical", {category_column(5)}, {"concentration=[0.2, 3, 1, 0.4, 2]"}});
  cases.push_back({"poisson_odd", "poisson", {count_column()}, {"shape=2.5", "rate=0.4"}});
  cases.push_back(
      {"mixed", "auto", {category_column(3), real_column(), count_column(), binary_column()}, {}, 0.3});
  return cases;
}

std::vector<LawCase> learned_cases() {
  std::vector<LawCase> cases;
  for (const FamilyEntry& entry : all_families()) {
    if (entry.joint) continue;
    LawCase learned = default_case(entry, 3);
    learned.name = test_name(entry.name) + "_learned";
    learned.missing = 0.2;
    learned.learn = true;
    cases.push_back(learned);
  }
  cases.push_back(mixed_case("mixed_learned", 0.2));
  cases.back().learn = true;
  return cases;
}

/// Positive values by a third, locations by a bit of what such columns scatter.
void move_hyper(Family& family) {
  std::vector<double> values(family.hyper_size());
  family.get_hyper(values.data());
  const std::vector<std::string> names = family.hyper_names();
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = names[i].ends_with(".prior_mean") ? values[i] + 0.4 : 1.33 * values[i];
  family.set_hyper(values.data());
}

std::vector<LawCase> real_cases() {
  std::vector<LawCase> cases = law_cases();
  std::erase_if(cases, [](const LawCase& law_case) {
    return std::any_of(law_case.columns.begin(), law_case.columns.end(),
                       [](const CaseColumn& column) { return column.kind != Kind::real; });
  });
  return cases;
}

std::vector<LawCase> missing_cases() {
  std::vector<LawCase> cases = law_cases();
  std::erase_if(cases, [](const LawCase& law_case) { return law_case.missing == 0.0; });
  return cases;
}

Settings parse_all(const std::vector<std::string>& assignments) {
  Settings settings;
  for (const std::string& assignment : assignments) parse_assignment(assignment, settings);
  return settings;
}

Fixture::Fixture(const LawCase& law_case, std::uint64_t seed, std::size_t row_count) {
  // Posteriors of wide rows need more rows before Monte Carlo over them is worth anything.
  if (row_count == 0) row_count = 60 + 10 * law_case.columns.size();
  Stream stream({seed, 0, 0}, Purpose::test, 1000);
  std::vector<int> group;
  for (std::size_t i = 0; i < row_count; ++i) {
    table.row_ids.push_back(fmt::format("{}", i + 1));
    group.push_back(draw_uniform(stream) < 0.6 ? 0 : 1);
  }
  for (std::size_t j = 0; j < law_case.columns.size(); ++j) {
    const CaseColumn& shape = law_case.columns[j];
    Column column{fmt::format("c{}", j + 1), shape.kind, simulate_column(shape, group, stream), {}};
    for (std::size_t level = 0; level < shape.levels; ++level)
      column.levels.push_back(fmt::format("l{}", level));
    for (double& cell : column.values)
      if (draw_uniform(stream) < law_case.missing) cell = kMissing;
    codebook.columns.push_back(
        {column.name, column.kind, column.levels, shape.family, parse_all(shape.settings)});
    table.columns.push_back(std::move(column));
  }
  plan = plan_family(table, codebook, law_case.family, parse_all(law_case.settings), law_case.learn,
                     {.learns_hyper = law_case.learn});
  if (law_case.learn) move_hyper(*plan.family);
  rows = encode(plan, table);
}

}  // namespace coppice::test
