// The tree formats on small trees, written out by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "coppice/base/error.hpp"
#include "coppice/out/ascii_tree.hpp"
#include "coppice/out/dot.hpp"
#include "coppice/out/newick.hpp"

namespace coppice {
namespace {

// ((a, b):0.25, (c, (d, e):0.5):0.75): 1
Linkage small_tree() { return {5, {{0, 1, 0.25, 2}, {3, 4, 0.5, 2}, {2, 6, 0.75, 3}, {5, 7, 1.0, 5}}}; }

const std::vector<std::string> kLeafNames{"a", "b", "c", "d", "e"};

// A tree as deep as it has leaves.
Linkage caterpillar(std::size_t n) {
  Linkage tree{n, {}};
  for (std::size_t k = 0; k + 1 < n; ++k) {
    const std::size_t left = k == 0 ? 0 : k + 1;
    const std::size_t right = k == 0 ? 1 : n + k - 1;
    tree.merges.push_back({std::min(left, right), std::max(left, right), static_cast<double>(k + 1), k + 2});
  }
  return tree;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(Newick, BranchLengthsAndSupport) {
  EXPECT_EQ(to_newick(small_tree(), kLeafNames),
            "((a:0.25,b:0.25):0.75,(c:0.75,(d:0.5,e:0.5):0.25):0.25);\n");
  const std::vector<double> support{0.9, 0.8, 0.7, 1.0};
  EXPECT_EQ(to_newick(small_tree(), kLeafNames, support),
            "((a:0.25,b:0.25)0.9:0.75,(c:0.75,(d:0.5,e:0.5)0.8:0.25)0.7:0.25)1;\n");
  EXPECT_EQ(to_newick({2, {{0, 1, 2.0, 2}}}, {}), "(0:2,1:2);\n");
  EXPECT_EQ(to_newick({1, {}}, std::vector<std::string>{"only one"}), "'only one';\n");
}

TEST(Newick, QuotesNames) {
  const std::vector<std::string> names{"it's", "b:c", "under_score", "", "plain-1.2"};
  EXPECT_EQ(to_newick(small_tree(), names),
            "(('it''s':0.25,'b:c':0.25):0.75,('under_score':0.75,('':0.5,plain-1.2:0.5):0.25):0.25);\n");
}

TEST(Newick, DeepTreesAndWrongSizes) {
  const std::string text = to_newick(caterpillar(200000), {});
  EXPECT_EQ(std::count(text.begin(), text.end(), '('), 199999);
  EXPECT_THROW(to_newick(small_tree(), std::vector<std::string>{"a"}), Error);
  EXPECT_THROW(to_newick(small_tree(), kLeafNames, std::vector<double>{1.0}), Error);
}

TEST(Dot, NodesEdgesAndCollapse) {
  const std::string text = to_dot(small_tree(), kLeafNames);
  EXPECT_NE(text.find("n0 [label=\"a\"];"), std::string::npos);
  EXPECT_NE(text.find("n8 [shape=plaintext, label=\"1\"];"), std::string::npos);
  EXPECT_NE(text.find("n8 -> n5;"), std::string::npos);
  EXPECT_NE(text.find("n8 -> n7;"), std::string::npos);
  const std::string collapsed = to_dot(small_tree(), kLeafNames, std::vector<double>{0.1, 0.2, 0.3, 0.4},
                                       {.collapse_at = 0.5, .max_names = 1});
  EXPECT_NE(collapsed.find("n6 [label=\"[2 rows: d, ...]\", style=rounded];"), std::string::npos)
      << collapsed;
  EXPECT_NE(collapsed.find("label=\"0.75 (0.3)\""), std::string::npos) << collapsed;
  EXPECT_EQ(collapsed.find("n3"), std::string::npos);
  EXPECT_NE(to_dot({1, {}}, std::vector<std::string>{"a\"b\\"}).find("\"a\\\"b\\\\\""), std::string::npos);
}

TEST(AsciiTree, DrawsForksInProportionToHeight) {
  const std::string text = ascii_tree(small_tree(), kLeafNames, {.width = 40, .ruler = false});
  EXPECT_EQ(text,
            " ┌────────────────────┬──────── a\n"
            "─┤                    └──────── b\n"
            " └──────┬────────────────────── c\n"
            "        └──────┬─────────────── d\n"
            "               └─────────────── e\n")
      << text;
}

TEST(AsciiTree, LinesAreNeverTooWide) {
  std::vector<std::string> names(5, "a very long name that must be cut somewhere because it does not fit");
  names[1] = "日本語の長い名前がここにありますので切らなければなりません";
  for (const std::size_t width : {40U, 41U, 60U, 100U}) {
    for (const double collapse : {-1.0, 0.3, 2.0}) {
      for (const bool unicode : {true, false}) {
        const std::string text =
            ascii_tree(small_tree(), names, {.width = width, .collapse_at = collapse, .unicode = unicode});
        for (const std::string& line : lines_of(text)) EXPECT_LE(display_width(line), width) << text;
      }
    }
  }
}

TEST(AsciiTree, CollapsesLowMerges) {
  const std::string text =
      ascii_tree(small_tree(), kLeafNames, {.width = 60, .collapse_at = 0.5, .ruler = false});
  ASSERT_EQ(lines_of(text).size(), 3U) << text;
  EXPECT_NE(text.find("[2 rows: a, b]"), std::string::npos) << text;
  EXPECT_NE(text.find("[2 rows: d, e]"), std::string::npos) << text;
  const std::string limited =
      ascii_tree(caterpillar(100000), {}, {.width = 80, .max_lines = 20, .ruler = false});
  EXPECT_EQ(lines_of(limited).size(), 20U);
  EXPECT_NE(limited.find("[99981 rows: 99980, 99979"), std::string::npos) << limited;
  EXPECT_NE(ascii_tree(small_tree(), kLeafNames, {.collapse_at = 5.0}).find("[5 rows: a, b, c, d, e]"),
            std::string::npos);
}

TEST(AsciiTree, EqualHeightsAreOneFork) {
  const Linkage star{4, {{0, 1, 1.0, 2}, {2, 4, 1.0, 3}, {3, 5, 1.0, 4}}};
  EXPECT_EQ(ascii_tree(star, {}, {.width = 40, .unicode = false, .ruler = false}),
            " +----------------------------- 3\n"
            "-+----------------------------- 2\n"
            " +----------------------------- 0\n"
            " +----------------------------- 1\n");
}

TEST(AsciiTree, DegenerateTrees) {
  EXPECT_EQ(ascii_tree({0, {}}, {}), "");
  EXPECT_NE(ascii_tree({1, {}}, std::vector<std::string>{"alone"}).find("alone\n"), std::string::npos);
  const Linkage flat{3, {{0, 1, 0.0, 2}, {2, 3, 0.0, 3}}};
  EXPECT_EQ(lines_of(ascii_tree(flat, {})).size(), 3U);
}

TEST(AsciiTree, RulerNamesTheHeights) {
  const auto lines = lines_of(ascii_tree(small_tree(), kLeafNames, {.width = 80}));
  ASSERT_EQ(lines.size(), 7U);
  EXPECT_EQ(lines[0].substr(0, 2), " 1");
  EXPECT_NE(lines[0].find("0.5"), std::string::npos);
}

TEST(FitToWidth, CutsAndCleans) {
  EXPECT_EQ(fit_to_width("abc", 3), "abc");
  EXPECT_EQ(fit_to_width("abcd", 3), "ab…");
  EXPECT_EQ(fit_to_width("abcd", 3, false), "...");
  EXPECT_EQ(fit_to_width("a\033[31mb\nc", 9), "a[31mbc");
  EXPECT_EQ(fit_to_width("日本語", 5), "日本…");
  EXPECT_EQ(fit_to_width("a\xff"
                         "b",
                         5),
            "a\xef\xbf\xbd"
            "b");
  EXPECT_EQ(display_width("e\xcc\x81"), 1U);
  EXPECT_EQ(display_width("日本"), 4U);
}

}  // namespace
}  // namespace coppice
