// Which family a plan gives to which column, and how rows are encoded for it and decoded back.
#include "coppice/family/plan.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "coppice/family/registry.hpp"
#include "unit/family/tables.hpp"

namespace coppice::test {
namespace {

std::string automatic(const Table& table, const Codebook& codebook = {}) {
  return plan_family(table, codebook, "auto", {}).description();
}

TEST(Plan, EveryKindHasItsDefaultFamily) {
  EXPECT_EQ(automatic(make_table({real_column("x", {1, 2, 3})})), "gaussian-diagonal on 1 column");
  EXPECT_EQ(automatic(make_table({count_column("x", {1, 2, 3})})), "poisson on 1 column");
  EXPECT_EQ(automatic(make_table({binary_column("x", {1, 0, 1})})), "bernoulli on 1 column");
  EXPECT_EQ(automatic(make_table({category_column("x", {0, 1, 1}, {"a", "b"})})), "categorical on 1 column");
}

TEST(Plan, RealColumnsAreJointWhenTheyAreCompleteAndFew) {
  EXPECT_EQ(automatic(real_table(1, 100)), "gaussian-diagonal on 1 column");
  EXPECT_EQ(automatic(real_table(2, 10)), "gaussian on 2 columns");
  EXPECT_EQ(automatic(real_table(2, 9)), "gaussian-diagonal on 2 columns");
  EXPECT_EQ(automatic(real_table(10, 50)), "gaussian on 10 columns");
  EXPECT_EQ(automatic(real_table(10, 49)), "gaussian-diagonal on 10 columns");
  EXPECT_EQ(automatic(real_table(11, 1000)), "gaussian-diagonal on 11 columns");
  Table missing = real_table(3, 50);
  missing.columns[1].values[4] = kMissing;
  EXPECT_EQ(automatic(missing), "gaussian-diagonal on 3 columns");
}

Table mixed_table() {
  return make_table({category_column("color", {0, 2, kMissing, 1, 0}, {"red", "green", "blue"}),
                     real_column("height", {1.5, 2.5, 3.0, kMissing, 2.0}),
                     count_column("visits", {3, 0, 7, 1, kMissing}),
                     category_column("town", {1, 1, 0, 0, 1}, {"A", "B"}),
                     real_column("weight", {60.5, 70.25, 80.125, 55.5, 91.0})});
}

TEST(Plan, ColumnsOfOneFamilyStandTogether) {
  const FamilyPlan plan = plan_family(mixed_table(), {}, "auto", {});
  EXPECT_EQ(plan.description(),
            "categorical on 2 columns, gaussian-diagonal on 2 columns, poisson on 1 column");
  EXPECT_EQ(plan.order, (std::vector<std::size_t>{0, 3, 1, 4, 2}));
  EXPECT_EQ(plan.family->name(), "row");
  EXPECT_EQ(plan.family->width(), 5u);
  EXPECT_EQ(plan_family(real_table(2, 50), {}, "auto", {}).family->name(), "gaussian");
}

TEST(Plan, NamedFamiliesTakeEveryKindTheyCanModel) {
  for (const FamilyEntry& entry : all_families()) {
    for (const Kind kind : entry.kinds) {
      Table table = make_table({{"a", kind, {0, 1, 1, 0, 1}, {}}, {"b", kind, {1, 1, 0, 0, 0}, {}}});
      if (kind == Kind::category)
        for (Column& column : table.columns) column.levels = {"no", "yes"};
      const FamilyPlan plan = plan_family(table, {}, entry.name, {});
      EXPECT_EQ(plan.description(), entry.name + " on 2 columns");
      EXPECT_TRUE(std::isfinite(log_marginal_of_first(plan, table))) << entry.name << ", " << kind_name(kind);
    }
  }
}

TEST(Plan, TheListHasNoNameTwice) {
  std::set<std::string> names;
  for (const FamilyEntry& entry : all_families()) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    EXPECT_FALSE(entry.summary.empty());
    EXPECT_FALSE(entry.kinds.empty());
    std::set<std::string> parameters;
    for (const Parameter& parameter : entry.parameters) {
      EXPECT_TRUE(parameters.insert(parameter.name).second) << parameter.name;
      EXPECT_FALSE(parameter.help.empty()) << parameter.name;
    }
  }
}

TEST(Plan, DefaultsInTheListAreThoseOfTheFamilies) {
  // The tables feed the help texts; a default written there must be what the family does when nothing is set.
  for (const FamilyEntry& entry : all_families()) {
    const Kind kind = entry.kinds.front();
    Table table = make_table({{"a", kind, {0, 1, 1, 0, 2}, {}}, {"b", kind, {1, 2, 0, 0, 0}, {}}});
    if (kind == Kind::binary)
      for (Column& column : table.columns) column.values = {0, 1, 1, 0, 1};
    if (kind == Kind::category)
      for (Column& column : table.columns) column.levels = {"x", "y", "z"};
    Settings defaults;
    for (const Parameter& parameter : entry.parameters)
      if (!parameter.fallback.empty()) defaults.emplace(parameter.name, parse_setting(parameter.fallback));
    const FamilyPlan silent = plan_family(table, {}, entry.name, {});
    const FamilyPlan spoken = plan_family(table, {}, entry.name, defaults);
    EXPECT_EQ(log_marginal_of_first(silent, table), log_marginal_of_first(spoken, table)) << entry.name;
  }
}

TEST(Plan, TheCodebookOverrules) {
  Codebook codebook;
  codebook.columns = {{"visits", Kind::count, {}, "binomial", set({"trials=50"})},
                      {"height", Kind::real, {}, "gaussian-known", {}},
                      {"not in the table", Kind::real, {}, "gaussian", {}}};
  const std::string expected =
      "categorical on 2 columns, gaussian-known on 1 column, binomial on 1 column, gaussian-diagonal on 1 "
      "column";
  EXPECT_EQ(automatic(mixed_table(), codebook), expected);
  // Also over a family named for all columns.
  Table counts = make_table({count_column("visits", {1, 2, 3}), count_column("calls", {4, 5, 6})});
  EXPECT_EQ(plan_family(counts, codebook, "poisson", {}).description(),
            "binomial on 1 column, poisson on 1 column");
}

TEST(Plan, AutoInTheCodebookIsTheDefaultOfTheKind) {
  Codebook codebook;
  codebook.columns = {{"visits", Kind::count, {}, "auto", {}}};
  const Table counts = make_table({count_column("visits", {1, 2, 3}), count_column("calls", {4, 5, 6})});
  EXPECT_EQ(plan_family(counts, codebook, "binomial", {}).description(),
            "poisson on 1 column, binomial on 1 column");
}

TEST(Encode, MeasuresFromTheOriginInTheOrderOfThePlan) {
  const Table table = mixed_table();
  const FamilyPlan plan = plan_family(table, {}, "auto", {});
  const Rows rows = encode(plan, table);
  ASSERT_EQ(rows.size(), 5u);
  ASSERT_EQ(rows.width, 5u);
  EXPECT_EQ(rows[1][0], 2.0);  // color
  EXPECT_EQ(rows[1][1], 1.0);  // town
  EXPECT_DOUBLE_EQ(rows[1][2], 2.5 - 2.25);
  EXPECT_DOUBLE_EQ(rows[1][3], 70.25 - 71.475);
  EXPECT_EQ(rows[1][4], 0.0);  // visits
  EXPECT_TRUE(is_missing(rows[2][0]));
  EXPECT_TRUE(is_missing(rows[3][2]));
  EXPECT_TRUE(is_missing(rows[4][4]));
}

TEST(Encode, TakesNewRowsFromTheOriginOfTheOldOnes) {
  const FamilyPlan plan = plan_family(make_table({real_column("x", {9, 10, 11})}), {}, "auto", {});
  const Rows rows = encode(plan, make_table({real_column("x", {12})}));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0][0], 2.0);
  EXPECT_EQ(encode(plan, make_table({real_column("x", {})})).size(), 0u);
}

TEST(Decode, UndoesEncode) {
  const Table table = mixed_table();
  const FamilyPlan plan = plan_family(table, {}, "auto", {});
  const Table back = decode(plan, encode(plan, table), table);
  ASSERT_EQ(back.columns.size(), table.columns.size());
  EXPECT_EQ(back.row_ids, (std::vector<std::string>{"1", "2", "3", "4", "5"}));
  for (std::size_t j = 0; j < table.columns.size(); ++j) {
    EXPECT_EQ(back.columns[j].name, table.columns[j].name);
    EXPECT_EQ(back.columns[j].kind, table.columns[j].kind);
    EXPECT_EQ(back.columns[j].levels, table.columns[j].levels);
    for (std::size_t i = 0; i < table.rows(); ++i) {
      const double cell = table.columns[j].values[i];
      EXPECT_EQ(is_missing(back.columns[j].values[i]), is_missing(cell));
      if (is_missing(cell)) continue;
      EXPECT_NEAR(back.columns[j].values[i], cell, 1e-13);
    }
  }
}

}  // namespace
}  // namespace coppice::test
