#include "coppice/out/report.hpp"

#include <fmt/format.h>

#include "coppice/data/digest.hpp"
#include "coppice/out/base64.hpp"

namespace coppice {
namespace {

std::string source_of(std::string_view content) {
  return fmt::format("'sha256-{}'", base64(sha256_bytes(content)));
}

}  // namespace

std::string json_for_html(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  for (const char c : json) {
    // In JSON these can stand only inside of strings.
    if (c == '<') {
      text += "\\u003c";
    } else if (c == '>') {
      text += "\\u003e";
    } else if (c == '&') {
      text += "\\u0026";
    } else {
      text += c;
    }
  }
  return text;
}

std::string text_for_html(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '&':
        escaped += "&amp;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string report_page(const ReportAssets& assets, std::string_view title, std::string_view data,
                        const ReportOptions& options) {
  std::string page = fmt::format(
      "<!doctype html>\n<html lang=\"en\"{}>\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src {}; style-src "
      "{}; "
      "img-src data: blob:; {}base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n<style>",
      options.live ? " data-live" : "", source_of(assets.script), source_of(assets.style),
      options.live ? "connect-src 'self'; " : "", text_for_html(title));
  page += assets.style;
  page +=
      "</style>\n</head>\n<body>\n<noscript>This report needs JavaScript to draw its figures. Nothing is "
      "loaded from elsewhere.</noscript>\n<div id=\"report\"></div>\n"
      "<script type=\"application/json\" id=\"data\">";
  page += json_for_html(data);
  page += "</script>\n<script>";
  page += assets.script;
  page += "</script>\n</body>\n</html>\n";
  return page;
}

}  // namespace coppice
