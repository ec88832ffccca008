#include "coppice/base/close_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace coppice {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Letters that are missing, too many, another one, or exchanged with their neighbor.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  const auto same = [](char x, char y) { return lower(x) == lower(y); };
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(before, last);
    std::swap(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1)});
      if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::vector<std::string> close_names(std::string_view wanted, std::span<const std::string> known) {
  std::vector<std::pair<std::size_t, std::size_t>> close;
  const std::size_t tolerance = wanted.size() < 4 ? 1 : std::clamp<std::size_t>(wanted.size() / 3, 2, 4);
  constexpr std::size_t kLongestCompared = 100;  // the distance is quadratic in the length
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (wanted.size() > kLongestCompared || known[i].size() > kLongestCompared) continue;
    const std::size_t distance = edit_distance(wanted, known[i]);
    if (distance <= tolerance && distance < std::max(wanted.size(), known[i].size()))
      close.emplace_back(distance, i);
  }
  std::sort(close.begin(), close.end());
  constexpr std::size_t kMostNames = 3;
  std::vector<std::string> names;
  for (const auto& [distance, index] : close) {
    // One letter away is what was meant: names that are further away would only distract.
    const bool is_distracting = close.front().first <= 1 && distance > close.front().first;
    if (!is_distracting && names.size() < kMostNames) names.push_back(known[index]);
  }
  return names;
}

std::string did_you_mean(std::string_view wanted, std::span<const std::string> known) {
  const std::vector<std::string> names = close_names(wanted, known);
  return names.empty() ? "" : fmt::format("did you mean '{}'?", fmt::join(names, "', '"));
}

}  // namespace coppice
