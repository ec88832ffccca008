// Where characters beyond ASCII may stand in TOML, before the parser sees them.
#include "coppice/base/toml_text.hpp"

#include <gtest/gtest.h>

#include <string>

#include "coppice/base/error.hpp"
#include "coppice/base/setting.hpp"

namespace coppice {
namespace {

TEST(TomlText, TextsAndCommentsMayHoldAnything) {
  for (const std::string text :
       {"a = \"é\"", "a='é'", "\"é\" = 1", "a.\"é\".b = 1", "[t.\"é\"]\na = 1", "[['é']]", "a = [\"é\", 'é']",
        "a = [\n  \"x\", # é\n  \"é\",\n]\nb = \"é\"", "a = {\"é\" = 1, b = \"é\"}\n'é' = 2",
        "a = [{b = 'é'}, {'é' = 3}]\n\"é\" = 1", "a = 1 # é\nb = \"\"\"x\né\"\"\"\"\"\nc = 'é'",
        "a = \"\\\"é\"", "a = {}\n\"é\" = []", "# é"})
    EXPECT_EQ(find_stray_character(text), std::string::npos) << text;
  const std::string mark = "\xef\xbb\xbf";
  EXPECT_EQ(find_stray_character(mark + "a = 1"), std::string::npos);
}

TEST(TomlText, StrayCharactersAreFound) {
  // The place is where the letter stands.
  for (const std::string text :
       {"é = 1", "aé = 1", "a = é", "a = 1é", "a = [é]", "a = \"x\"é", "a = \"x\" é", "[é]", "a = 1\né",
        "a = \"\"\"x\\\n  é\"\"\"", "a = 'x' # c\né", "a = \"\"\"\\é\"\"\"", "a = \"\\é\""})
    EXPECT_EQ(find_stray_character(text), text.find("é")) << text;
}

TEST(TomlText, DeepNestingIsFoundBeforeItIsParsed) {
  const std::string many(100'000, '[');
  std::string tables;
  std::string dots = "a";
  for (int i = 0; i < 100'000; ++i) tables += "{a=", dots += ".a";
  for (const std::string& text : {"a = " + many, "a = " + tables, dots + " = 1", "[" + dots + "]"})
    EXPECT_NE(find_deep_nesting(text), std::string::npos) << text.substr(0, 20);
  EXPECT_THROW(parse_setting(many), Error);
  for (const std::string text :
       {"a = [[1, 2], [3, 4]]", "a = \"[[[[\" # [[[", "a.b.c = {d = [1]}\n[e.f]\ng = 1.5"})
    EXPECT_EQ(find_deep_nesting(text), std::string::npos) << text;
}

TEST(TomlText, QuotesInsideAWordBeginNoText) {
  for (const std::string text : {"a = 0i[\"é\"]", "a = 0\"é\"", "a = 1.'é'", "a = b={\"é\"}",
                                 "a = [1, 2\"é\"]", "a = {b = 1=\"é\"}", "a = \"x\"y\"é\""})
    EXPECT_EQ(find_stray_character(text), text.find("é")) << text;
  // Found by fuzzing: undefined inside the parser.
  EXPECT_THROW(parse_setting(std::string("0i[\"np\0\0\xef\xba\xbf[\0-,\0\0\0]", 19)), Error);
}

}  // namespace
}  // namespace coppice
