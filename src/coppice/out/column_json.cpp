#include "coppice/out/column_json.hpp"

#include <nlohmann/json.hpp>

namespace coppice {

using nlohmann::ordered_json;

namespace {

ordered_json text_or_null(const std::string& text) {
  return text.empty() ? ordered_json() : ordered_json(text);
}

ordered_json number_or_null(const std::optional<double>& number) {
  return number ? ordered_json(*number) : ordered_json();
}

}  // namespace

ordered_json column_json(const ColumnSpec& spec) {
  return {{"name", spec.name},
          {"kind", kind_name(spec.kind)},
          {"levels", spec.levels},
          {"family", text_or_null(spec.family)},
          {"transform", text_or_null(spec.transform)},
          {"hurdle", number_or_null(spec.hurdle)},
          {"resolution", number_or_null(spec.resolution)},
          {"unit", text_or_null(spec.unit)},
          {"missing_values", spec.missing_values},
          {"reason", text_or_null(spec.reason)}};
}

ordered_json findings_json(const std::vector<Finding>& findings) {
  ordered_json list = ordered_json::array();
  for (const Finding& finding : findings)
    list.push_back({{"severity", severity_name(finding.severity)},
                    {"topic", finding.topic},
                    {"columns", finding.columns},
                    {"what", finding.what},
                    {"remedy", text_or_null(finding.remedy)}});
  return list;
}

}  // namespace coppice
