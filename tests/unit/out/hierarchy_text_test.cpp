// Trees of nested clusters as text, on a small tree written out by hand.
#include <gtest/gtest.h>

#include <sstream>

#include "coppice/base/error.hpp"
#include "coppice/out/ascii_hierarchy.hpp"
#include "coppice/out/ascii_tree.hpp"
#include "coppice/out/dot.hpp"
#include "coppice/out/newick.hpp"

namespace coppice {
namespace {

// Level 1: abcd | ef; level 2: abc | d | ef.
Hierarchy full_tree() { return make_hierarchy(Labels{0, 0, 0, 0, 1, 1, 0, 0, 0, 1, 2, 2}, 6); }

const std::vector<std::string> kNames{"ant", "bee", "cat", "dog", "it's", "fox"};
const std::vector<NodeCaption> kCaptions{{"all rows", 1.0, 1.0}, {"small", 0.5, 0.75},
                                         {"large", 0.25, 0.996}, {"crawls", 0.002, 0.125},
                                         {"barks", 1.0, 1.0},    {"large", 0.1, 0.2}};

TEST(AsciiHierarchy, DrawsThePresentationTree) {
  EXPECT_EQ(ascii_hierarchy(presentation_tree(full_tree()), kCaptions, kNames, {.width = 60}),
            "                              level   rows  support  overlap\n"
            "all rows                          0      6\n"
            "├─ small                          1      4     50 %     75 %\n"
            "│  ├─ crawls                      2      3     <1 %     12 %\n"
            "│  │  ant, bee, cat\n"
            "│  └─ barks                       2      1    100 %    100 %\n"
            "│     dog\n"
            "└─ large                        1-2      2     25 %    >99 %\n"
            "   it's, fox\n");
}

TEST(AsciiHierarchy, DrawsAllLevelsOfTheFullTree) {
  const std::string text = ascii_hierarchy(full_tree(), kCaptions, kNames, {.width = 60, .unicode = false});
  EXPECT_NE(text.find("`- large                          1      2"), std::string::npos) << text;
  EXPECT_NE(text.find("   `- the same rows               2      2"), std::string::npos) << text;
}

TEST(AsciiHierarchy, GathersTheSmallestNodesUntilTheTreeFits) {
  const Hierarchy shown = presentation_tree(full_tree());
  EXPECT_EQ(ascii_hierarchy(shown, kCaptions, kNames, {.width = 60, .max_lines = 8}),
            "                              level   rows  support  overlap\n"
            "all rows                          0      6\n"
            "├─ small                          1      4     50 %     75 %\n"
            "│  ├─ crawls                      2      3     <1 %     12 %\n"
            "│  │  ant, bee, cat\n"
            "│  └─ … 1 more cluster: dog\n"
            "└─ large                        1-2      2     25 %    >99 %\n"
            "   it's, fox\n");
}

TEST(AsciiHierarchy, KeepsEveryLineWithinItsWidth) {
  const std::size_t rows = 80;
  Labels labels;
  for (Label l = 0; l < 3; ++l)
    for (std::size_t i = 0; i < rows; ++i) labels.push_back(static_cast<Label>(i % (l == 0 ? 2 : 10)));
  const Hierarchy tree = make_hierarchy(labels, rows);
  const std::vector<NodeCaption> captions(tree.nodes.size(), {std::string(90, 'n'), 0.5, 0.5});
  std::vector<std::string> names;
  for (std::size_t i = 0; i < rows; ++i) names.push_back(std::string(i, 'x') + "日本");
  for (const std::size_t width : {60u, 77u, 120u})
    for (const std::size_t lines : {0u, 6u, 20u}) {
      std::istringstream text(
          ascii_hierarchy(presentation_tree(tree), captions, names, {.width = width, .max_lines = lines}));
      std::size_t count = 0;
      for (std::string line; std::getline(text, line); ++count) EXPECT_LE(display_width(line), width) << line;
      EXPECT_TRUE(lines == 0 || count <= lines) << count;
    }
}

TEST(AsciiHierarchy, RejectsNamesThatDoNotFit) {
  EXPECT_THROW(ascii_hierarchy(full_tree(), kCaptions, std::vector<std::string>{"a"}), Error);
  EXPECT_THROW(ascii_hierarchy(full_tree(), std::vector<NodeCaption>(2), kNames), Error);
}

TEST(NameSomeRows, SaysHowManyAreLeft) {
  const std::vector<std::uint32_t> rows{0, 1, 2, 3};
  EXPECT_EQ(name_some_rows(rows, kNames, 40), "ant, bee, cat, dog");
  EXPECT_EQ(name_some_rows(rows, kNames, 18), "ant, bee, … 2 more");
  EXPECT_EQ(name_some_rows(rows, kNames, 8), "4 rows");
}

TEST(NewickOfAHierarchy, PutsAllRowsEquallyFarFromTheRoot) {
  const std::vector<double> support{1.0, 0.5, 0.25, 0.125, 1.0, 0.1};
  EXPECT_EQ(hierarchy_to_newick(presentation_tree(full_tree()), kNames, support),
            "(((ant:1,bee:1,cat:1)0.125:1,(dog:1)1:1)0.5:1,('it''s':2,fox:2)0.25:1);\n");
  EXPECT_EQ(hierarchy_to_newick(presentation_tree(make_hierarchy(Labels(4, 0), 2)),
                                std::vector<std::string>{"a", "b"}),
            "(a:3,b:3);\n");
}

TEST(DotOfAHierarchy, HasABoxForEachNode) {
  const std::string text =
      hierarchy_to_dot(presentation_tree(full_tree()), kCaptions, kNames, {.max_names = 2});
  EXPECT_NE(text.find("n0 [label=\"all rows (6 rows)\"];"), std::string::npos) << text;
  EXPECT_NE(text.find("n3 [label=\"crawls (3 rows, <1 %): ant, bee, ...\", style=rounded];"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("n1 -> n3;"), std::string::npos) << text;
}

}  // namespace
}  // namespace coppice
