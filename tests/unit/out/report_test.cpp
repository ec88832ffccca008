#include "coppice/out/report.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "coppice/out/base64.hpp"

namespace coppice {
namespace {

TEST(Base64, VectorsOfTheStandard) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foob"), "Zm9vYg==");
  EXPECT_EQ(base64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xff\xfe\x00"), "//4=");  // a literal ends at its first zero
  const std::uint16_t numbers[] = {1, 65535};
  EXPECT_EQ(base64_of(std::span<const std::uint16_t>(numbers)), "AQD//w==");
}

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Report, DataCannotEndTheirElement) {
  const std::string evil = "</script><script>alert(1)</script><!--<script>";
  const std::string json = nlohmann::json{{evil, {evil, "&lt;"}}}.dump();
  EXPECT_EQ(json_for_html(json).find_first_of("<>&"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(json_for_html(json)), nlohmann::json::parse(json));
  const std::string page = report_page({"run()", "body{}"}, evil + "\"'", json);
  EXPECT_EQ(count(page, "<script"), 2U);
  EXPECT_EQ(count(page, "</script>"), 2U);
  EXPECT_EQ(page.find("alert(1)</"), std::string::npos);
}

TEST(Report, PolicyNamesTheScriptByItsDigest) {
  const std::string page = report_page({"abc", "body{}"}, "t", "{}");
  // SHA-256 of "abc", as openssl dgst -sha256 -binary | base64 gives it.
  EXPECT_NE(page.find("script-src 'sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0='"), std::string::npos);
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  EXPECT_EQ(page.find("unsafe"), std::string::npos);
  EXPECT_EQ(page.find("connect-src"), std::string::npos);
  EXPECT_EQ(page.find("http:"), std::string::npos);
  const std::string live = report_page({"abc", "body{}"}, "t", "{}", {true});
  EXPECT_NE(live.find("connect-src 'self'"), std::string::npos);
  EXPECT_NE(live.find("<html lang=\"en\" data-live>"), std::string::npos);
}

}  // namespace
}  // namespace coppice
