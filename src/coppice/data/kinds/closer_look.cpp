#include "coppice/data/kinds/closer_look.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "coppice/data/kinds/missingness.hpp"

namespace coppice {

std::vector<Finding> undeclared_labels(const Dataset& data) {
  std::vector<Finding> found;
  for (const ColumnSpec& spec : data.codebook.columns) {
    std::string name = spec.name;
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const bool is_usual =
        name == "label" || name == "labels" || name == "class" || name == "truth" || name == "target";
    const bool can_be_class = spec.kind == Kind::category || spec.kind == Kind::binary;
    if (is_usual && can_be_class && spec.inferred)
      found.push_back(
          {Severity::warning,
           "label",
           {spec.name},
           "is modeled like the others",
           fmt::format("if it holds known labels, keep it for scores with --truth {}", spec.name)});
  }
  return found;
}

void look_closer(Dataset& data) {
  for (Finding& finding : undeclared_labels(data)) data.findings.push_back(std::move(finding));
  for (const InformativeGaps& gaps : find_informative_gaps(data.table)) {
    const ColumnSpec* spec = data.codebook.find(gaps.column);
    if (spec != nullptr && spec->missing == "informative") continue;
    data.findings.push_back(
        {Severity::note,
         "missing",
         {gaps.column},
         fmt::format("is missing more often where '{}' differs ({:.0f} standard errors)", gaps.with,
                     gaps.errors),
         "missing = \"informative\" in the codebook adds a column that marks missing cells"});
  }
  std::stable_sort(data.findings.begin(), data.findings.end(),
                   [](const Finding& a, const Finding& b) { return a.severity < b.severity; });
}

}  // namespace coppice
