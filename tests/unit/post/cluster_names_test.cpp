#include "coppice/post/cluster_names.hpp"

#include <gtest/gtest.h>

#include "coppice/base/error.hpp"
#include "coppice/post/cross_table.hpp"
#include "small_run.hpp"

namespace coppice {
namespace {

using Names = std::vector<std::string>;
using Counts = std::vector<std::size_t>;

class ClusterNamesTest : public RunTest {
 protected:
  /// Ten rows, of which those that were named are given.
  std::unique_ptr<SavedRun> run_with(const std::vector<GivenName>& names) {
    std::string csv = "x\n";
    for (int i = 0; i < 10; ++i) csv += std::to_string(i < 5 ? 0.1 * i : 9.0 + 0.1 * i) + "\n";
    const auto run = make_run({.csv = csv, .chains = 1, .warmup = 1, .draws = 2});
    RunFile file = RunFile::open(run->file().path(), RunFile::Access::write);
    file.set_names(names);
    file.finish();
    return std::make_unique<SavedRun>(run->file().path());
  }
};

TEST_F(ClusterNamesTest, NamesAreReadAsTheyWereWritten) {
  const auto run = run_with({{1, "first \"half\"", {0, 1, 2}}, {2, "zweite Hälfte", {9}}});
  ASSERT_EQ(run->contents().names.size(), 2u);
  EXPECT_EQ(run->contents().names[0].name, "first \"half\"");
  EXPECT_EQ(run->contents().names[0].rows, (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(run->contents().names[1].level, 2u);
}

TEST_F(ClusterNamesTest, ANameStaysWithMoreThanHalfOfItsRows) {
  const auto run = run_with({{1, "low", {0, 1, 2, 3, 4}}});
  EXPECT_EQ(given_names(*run, 1, Labels{0, 0, 0, 0, 0, 1, 1, 1, 1, 1}), (Names{"low", ""}));
  // 4 of 6 rows of both together.
  EXPECT_EQ(given_names(*run, 1, Labels{0, 1, 1, 1, 1, 1, 0, 0, 0, 0}), (Names{"", "low"}));
  // 3 of 6: half is not more than half.
  EXPECT_EQ(given_names(*run, 1, Labels{0, 0, 1, 1, 1, 1, 0, 0, 0, 0}), (Names{"", ""}));
}

TEST_F(ClusterNamesTest, OtherLevelsShareANameOnlyIfTheyHaveTheSameRows) {
  const auto run = run_with({{1, "low", {0, 1, 2, 3, 4}}});
  EXPECT_EQ(given_names(*run, 2, Labels{0, 0, 0, 0, 0, 1, 1, 1, 2, 2}), (Names{"low", "", ""}));
  EXPECT_EQ(given_names(*run, 2, Labels{0, 0, 0, 0, 1, 2, 2, 2, 2, 2}), (Names{"", "", ""}));
}

TEST_F(ClusterNamesTest, ANameOfTheLevelItselfGoesFirst) {
  const auto run = run_with({{1, "above", {0, 1, 2, 3, 4}}, {2, "below", {0, 1, 2, 3, 4}}});
  const Labels labels{0, 0, 0, 0, 0, 1, 1, 1, 1, 1};
  EXPECT_EQ(given_names(*run, 1, labels), (Names{"above", ""}));
  EXPECT_EQ(given_names(*run, 2, labels), (Names{"below", ""}));
}

TEST_F(ClusterNamesTest, DamagedNamesAreRefused) {
  for (const char* text :
       {"{", "[{}]", R"([{"level":1,"name":"x","rows":[10]}])", R"([{"level":1,"name":"x","rows":[1,1]}])",
        R"([{"level":1,"name":"x","rows":[]}])", R"([{"level":0,"name":"x","rows":[1]}])",
        R"([{"level":1,"name":"","rows":[1]}])"})
    EXPECT_THROW(given_names_from_json(text, 10), Error) << text;
}

TEST(ClusterNumbers, AreParsedAsTheyArePrinted) {
  EXPECT_EQ(parse_cluster_number("3").level, 1u);
  EXPECT_EQ(parse_cluster_number("3").cluster, 3);
  EXPECT_EQ(parse_cluster_number("2.10").level, 2u);
  EXPECT_EQ(parse_cluster_number("2.10").cluster, 10);
  for (const char* text : {"", ".", "2.", ".3", "-1", "3x", "1.2.3", "99999999999"})
    EXPECT_THROW(parse_cluster_number(text), Error) << text;
}

TEST(CrossTables, CountRowsOfClustersByClass) {
  const Column known{"class", Kind::category, {0, 2, 2, kMissing, 2, 0}, {"bird", "fish", "mammal"}};
  const CrossTable table = cross_table(known, Labels{0, 0, 1, 1, 1, 1});
  EXPECT_EQ(table.classes, (Names{"bird", "mammal"}));
  EXPECT_EQ(table.counts, (std::vector<Counts>{{1, 1}, {1, 2}}));
  EXPECT_EQ(table.unknown, (Counts{0, 1}));
  EXPECT_EQ(table.class_sizes(), (Counts{2, 3}));
  EXPECT_THROW(cross_table(known, Labels{0, 0}), Error);
}

}  // namespace
}  // namespace coppice
