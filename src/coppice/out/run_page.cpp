#include "coppice/out/run_page.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "coppice/out/report_data.hpp"

namespace coppice {

std::string run_page(const ReportAssets& assets, const Analysis& analysis, Selection selection,
                     const ReportOptions& options) {
  const nlohmann::ordered_json data = report_data(analysis, selection);
  const std::string title =
      fmt::format("{}: {} · Coppice", data["head"]["title"].get<std::string>(), analysis.run().model().name);
  return report_page(assets, title, data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
                     options);
}

}  // namespace coppice
