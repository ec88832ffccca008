#include "coppice/app/preflight.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "coppice/data/kinds/closer_look.hpp"
#include "coppice/data/text.hpp"

namespace coppice::app {
namespace {

std::string more(std::size_t count, std::string_view what, const std::string& file) {
  return fmt::format("and {} more {}{}: coppice check {}", count, what, count == 1 ? "" : "s", file);
}

}  // namespace

std::string kinds_in_words(const Codebook& codebook) {
  std::vector<std::string> parts;
  for (const Kind kind : {Kind::real, Kind::count, Kind::binary, Kind::category}) {
    std::size_t columns = 0;
    std::size_t logs = 0;
    std::size_t spikes = 0;
    std::size_t rounded = 0;
    std::size_t dates = 0;
    std::size_t wide = 0;
    for (const ColumnSpec& spec : codebook.columns) {
      if (spec.kind != kind) continue;
      ++columns;
      logs += spec.transform == "log" ? 1 : 0;
      spikes += spec.hurdle ? 1 : 0;
      rounded += spec.resolution ? 1 : 0;
      dates += spec.unit.find(" since ") != std::string::npos ? 1 : 0;
      wide += spec.family == "negative-binomial" ? 1 : 0;
    }
    if (columns == 0) continue;
    std::vector<std::string> details;
    const auto add = [&](std::size_t number, std::string_view what) {
      if (number > 0) details.push_back(fmt::format("{} {}", number, what));
    };
    add(logs, "on the log scale");
    add(spikes, "with a spike");
    add(rounded, "rounded");
    add(dates, dates == 1 ? "date" : "dates");
    add(wide, "overdispersed");
    parts.push_back(fmt::format("{} {}{}", columns, kind_name(kind),
                                details.empty() ? "" : fmt::format(" ({})", fmt::join(details, ", "))));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string sentence_of(const Finding& finding) {
  if (finding.columns.empty()) return finding.what;
  return finding.columns.size() == 1
             ? fmt::format("column {} {}", text::list_names(finding.columns), finding.what)
             : fmt::format("columns {}: each {}", text::list_names(finding.columns, 12), finding.what);
}

std::vector<std::string> first_lines(const Dataset& data, const std::string& file, bool learns_labels) {
  std::vector<std::string> lines;
  if (learns_labels) {
    for (const std::string& note : data.notes) lines.push_back("note: " + note);
    return lines;
  }
  constexpr std::size_t kMostLines = 5;
  constexpr std::size_t kMostNotes = 2;
  lines.push_back(fmt::format("columns: {}; coppice codebook {} says why, --codebook changes it",
                              kinds_in_words(data.codebook), file));
  const std::size_t shown = data.notes.size() > kMostNotes ? kMostNotes - 1 : data.notes.size();
  for (std::size_t i = 0; i < shown; ++i) lines.push_back("note: " + data.notes[i]);
  if (shown < data.notes.size())
    lines.push_back(
        fmt::format("note: {} ({})", data.notes[shown], more(data.notes.size() - shown - 1, "remark", file)));
  if (shown + 1 == data.notes.size()) lines.back() = "note: " + data.notes[shown];
  std::vector<Finding> warnings;
  std::vector<std::string> ambiguous;
  for (const Finding& finding : data.findings) {
    if (finding.severity == Severity::warning) warnings.push_back(finding);
    if (finding.severity == Severity::ambiguous)
      ambiguous.insert(ambiguous.end(), finding.columns.begin(), finding.columns.end());
  }
  for (Finding& finding : undeclared_labels(data)) warnings.push_back(std::move(finding));
  const std::size_t taken = lines.size() + (ambiguous.empty() ? 0 : 1);
  const std::size_t room = std::max<std::size_t>(1, kMostLines - std::min(kMostLines, taken));
  for (std::size_t i = 0; i < std::min(room, warnings.size()); ++i) {
    const std::size_t further = i + 1 == room ? warnings.size() - room : 0;
    lines.push_back(fmt::format("note: {}; {}{}", sentence_of(warnings[i]), warnings[i].remedy,
                                further == 0 ? "" : fmt::format(" ({})", more(further, "warning", file))));
  }
  if (!ambiguous.empty())
    lines.push_back(fmt::format(
        "ambiguous: {} ({}); coppice check {} says how to decide", text::list_names(ambiguous),
        ambiguous.size() == 1 ? "it could be of another kind" : "they could be of other kinds", file));
  return lines;
}

}  // namespace coppice::app
