// The offline report: one HTML page with its script, its style and its data inside. The page may load nothing
// and run only the script it was made with: the content security policy names both by their digests.
#pragma once

#include <string>
#include <string_view>

namespace coppice {

/// The page's own program, made from web/ when the project is built.
struct ReportAssets {
  std::string_view script;
  std::string_view style;
};

struct ReportOptions {
  /// The page asks its server now and then whether there are more draws (coppice view).
  bool live = false;
};

/// `data` is JSON; nothing in it can close the element that contains it. The title may contain anything.
std::string report_page(const ReportAssets& assets, std::string_view title, std::string_view data,
                        const ReportOptions& options = {});

/// JSON that may stand inside a <script> element.
std::string json_for_html(std::string_view json);
/// Text that may stand between tags or in a quoted attribute.
std::string text_for_html(std::string_view text);

}  // namespace coppice
