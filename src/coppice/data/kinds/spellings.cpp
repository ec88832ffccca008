#include "coppice/data/kinds/spellings.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

namespace coppice {
namespace {

std::string folded_word(std::string_view text) {
  std::string lower(text::trim(text));
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

std::vector<std::size_t> cells_of_levels(const RawColumn& column) {
  std::vector<std::size_t> cells(column.levels.size(), 0);
  for (const double value : column.values)
    if (!is_missing(value)) ++cells[static_cast<std::size_t>(value)];
  return cells;
}

}  // namespace

std::optional<bool> yes_or_no(std::string_view text) {
  constexpr std::array<std::string_view, 5> kYes = {"yes", "y", "true", "t", "on"};
  constexpr std::array<std::string_view, 5> kNo = {"no", "n", "false", "f", "off"};
  if (text.size() > 8) return std::nullopt;
  const std::string word = folded_word(text);
  if (std::find(kYes.begin(), kYes.end(), word) != kYes.end()) return true;
  if (std::find(kNo.begin(), kNo.end(), word) != kNo.end()) return false;
  return std::nullopt;
}

std::size_t join_spellings_of_yes_and_no(RawColumn& column) {
  constexpr std::size_t kMostSpellings = 20;
  const std::size_t spellings = column.levels.size();
  if (!column.is_text || spellings < 3 || spellings > kMostSpellings) return 0;
  const std::vector<std::size_t> cells = cells_of_levels(column);
  std::array<std::optional<std::size_t>, 2> most;
  std::vector<std::size_t> side(spellings);
  for (std::size_t i = 0; i < spellings; ++i) {
    const std::optional<bool> meaning = yes_or_no(column.levels[i]);
    if (!meaning) return 0;
    side[i] = *meaning ? 1 : 0;
    std::optional<std::size_t>& best = most.at(side[i]);
    if (!best || cells[i] > cells[*best]) best = i;
  }
  if (!most[0] || !most[1]) return 0;
  std::vector<std::string> levels = {column.levels[*most[0]], column.levels[*most[1]]};
  for (double& value : column.values)
    if (!is_missing(value)) value = static_cast<double>(side[static_cast<std::size_t>(value)]);
  column.levels = std::move(levels);
  return spellings;
}

std::string levels_alike(const RawColumn& column) {
  constexpr std::size_t kMostLevels = 1000;
  if (!column.is_text || column.levels.size() > kMostLevels) return {};
  std::map<std::string, std::vector<std::string>> by_word;
  for (const std::string& level : column.levels) by_word[folded_word(level)].push_back(level);
  for (auto& [word, same] : by_word) {
    if (same.size() < 2) continue;
    std::sort(same.begin(), same.end());
    return text::list_names(same);
  }
  return {};
}

std::optional<TotalRow> find_total_row(const RawTable& raw) {
  constexpr std::array<std::string_view, 8> kWords = {"total",  "totals", "grand total",   "sum",
                                                      "gesamt", "summe",  "total general", "grand totals"};
  if (raw.rows < 3) return std::nullopt;
  for (std::size_t j = 0; j < raw.columns.size(); ++j) {
    const RawColumn& column = raw.columns[j];
    if (!column.is_text || column.values.size() != raw.rows || is_missing(column.values.back())) continue;
    const double last = column.values.back();
    const std::string word = folded_word(column.levels[static_cast<std::size_t>(last)]);
    if (std::find(kWords.begin(), kWords.end(), word) == kWords.end()) continue;
    if (std::count(column.values.begin(), column.values.end(), last) == 1)
      return TotalRow{j, column.levels[static_cast<std::size_t>(last)]};
  }
  return std::nullopt;
}

std::string common_suffix(const RawColumn& column, double share) {
  if (!column.is_text) return {};
  const std::vector<std::size_t> cells = cells_of_levels(column);
  std::map<std::string, std::size_t> with;
  std::size_t present = 0;
  for (std::size_t i = 0; i < column.levels.size(); ++i) {
    present += cells[i];
    const std::string_view level = text::trim(column.levels[i]);
    const std::size_t end = level.find_last_of("0123456789");
    double value = 0.0;
    if (end == std::string_view::npos || end + 1 == level.size() ||
        text::parse_number(level.substr(0, end + 1), value) != text::Parsed::number)
      continue;
    with[std::string(text::trim(level.substr(end + 1)))] += cells[i];
  }
  const auto most = std::max_element(with.begin(), with.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == with.end() || static_cast<double>(most->second) < share * static_cast<double>(present))
    return {};
  return most->first;
}

}  // namespace coppice
