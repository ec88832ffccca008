// A family made from the settings that another one says it was made with is the same family, to the last bit:
// what a run file relies on when defaults change.
#include "laws/law_case.hpp"

namespace coppice::test {
namespace {

class Rebuild : public ::testing::TestWithParam<LawCase> {};

TEST_P(Rebuild, GivesTheSameFamily) {
  const Fixture fixture(GetParam(), 3);
  const FamilyPlan again = rebuild_plan(fixture.table, fixture.plan.blocks);
  EXPECT_EQ(again.blocks, fixture.plan.blocks);
  EXPECT_EQ(again.order, fixture.plan.order);
  EXPECT_EQ(again.family->name(), fixture.family().name());
  const Rows rows = encode(again, fixture.table);
  ASSERT_EQ(rows.size(), fixture.rows.size());
  for (std::size_t cell = 0; cell < rows.width; ++cell)
    EXPECT_EQ(again.family->origin(cell), fixture.family().origin(cell)) << "cell " << cell;
  const std::size_t half = rows.size() / 2;
  const Stats before(fixture.family(), fixture.rows, 0, half);
  const Stats after(*again.family, rows, 0, half);
  EXPECT_EQ(again.family->log_marginal(after.data()), fixture.family().log_marginal(before.data()));
  for (std::size_t row = half; row < rows.size(); ++row)
    ASSERT_EQ(again.family->log_predictive(after.data(), rows[row]),
              fixture.family().log_predictive(before.data(), fixture.rows[row]))
        << "row " << row;
}

TEST_P(Rebuild, OfALearnedFamilyHasTheSamePriorOfItsHyperParameters) {
  const LawCase& law_case = GetParam();
  const Fixture fixture(law_case, 3);
  const ChainAbilities chains{.learns_hyper = true, .fills_missing = true};
  const FamilyPlan plan = plan_family(fixture.table, fixture.codebook, law_case.family,
                                      parse_all(law_case.settings), false, chains);
  // The columns at hand no longer say what they said: only what was recorded does.
  Table other = fixture.table;
  for (Column& column : other.columns)
    for (double& value : column.values)
      if (column.kind == Kind::real) value = 3.0 * value + 1.0;
  const FamilyPlan again = rebuild_plan(other, plan.blocks, chains);
  EXPECT_EQ(again.blocks, plan.blocks);
  ASSERT_EQ(again.family->hyper_size(), plan.family->hyper_size());
  std::vector<double> before(plan.family->hyper_size()), after(before.size());
  plan.family->get_hyper(before.data());
  again.family->get_hyper(after.data());
  EXPECT_EQ(after, before);
  EXPECT_EQ(again.family->log_hyper_prior(), plan.family->log_hyper_prior());
}

TEST_P(Rebuild, NamesEverySettingThatDecides) {
  // A block that names nothing would be rebuilt from defaults.
  const Fixture fixture(GetParam(), 3);
  for (const FamilyPlan::Block& block : fixture.plan.blocks) {
    EXPECT_FALSE(block.effective.block.empty() && block.effective.columns.empty()) << block.family;
    for (const auto& [name, value] : block.effective.block)
      EXPECT_NE(value.shape, Setting::Shape::text) << name << " is a word, and words stand for defaults";
  }
}

INSTANTIATE_TEST_SUITE_P(Laws, Rebuild, ::testing::ValuesIn(law_cases()), CaseName());

TEST(RebuildOf, SettingsThatDecideDefaultsOfOthers) {
  const Fixture fixture({"plain", "gaussian", {{Kind::real}, {Kind::real}, {Kind::real}}}, 1, 40);
  for (const auto& [family, setting] :
       {std::pair("gaussian", "preset=\"nips2015\""), std::pair("gaussian-diagonal", "share=0.2")}) {
    Settings settings;
    parse_assignment(setting, settings);
    const FamilyPlan plan = plan_family(fixture.table, {}, family, settings);
    const FamilyPlan plain = plan_family(fixture.table, {}, family, {});
    EXPECT_NE(plan.blocks, plain.blocks) << setting;
    const FamilyPlan again = rebuild_plan(fixture.table, plan.blocks);
    EXPECT_EQ(again.blocks, plan.blocks) << setting;
    const Rows rows = encode(plan, fixture.table);
    const Stats before(*plan.family, rows, 0, 20);
    const Stats after(*again.family, rows, 0, 20);
    EXPECT_EQ(again.family->log_marginal(after.data()), plan.family->log_marginal(before.data())) << setting;
  }
}

}  // namespace
}  // namespace coppice::test
