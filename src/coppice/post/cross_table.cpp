#include "coppice/post/cross_table.hpp"

#include <fmt/format.h>

#include <map>

#include "coppice/base/error.hpp"

namespace coppice {

std::vector<std::size_t> CrossTable::class_sizes() const {
  std::vector<std::size_t> sizes(classes.size());
  for (const std::vector<std::size_t>& cluster : counts)
    for (std::size_t c = 0; c < sizes.size(); ++c) sizes[c] += cluster[c];
  return sizes;
}

CrossTable cross_table(const Column& known, std::span<const Label> clusters) {
  if (known.values.size() != clusters.size())
    fail(ErrorCode::usage, "there are {} known labels for {} rows", known.values.size(), clusters.size());
  std::map<double, std::size_t> place_of;  // of each class that occurs
  for (const double value : known.values)
    if (!is_missing(value)) place_of.emplace(value, 0);
  CrossTable table;
  for (auto& [value, place] : place_of) {
    place = table.classes.size();
    const auto level = static_cast<std::size_t>(value);
    table.classes.push_back(level < known.levels.size() ? known.levels[level] : fmt::format("{}", value));
  }
  const std::size_t count = cluster_sizes(clusters).size();
  table.counts.assign(count, std::vector<std::size_t>(table.classes.size()));
  table.unknown.assign(count, 0);
  for (std::size_t row = 0; row < clusters.size(); ++row) {
    const auto cluster = static_cast<std::size_t>(clusters[row]);
    const double value = known.values[row];
    ++(is_missing(value) ? table.unknown[cluster] : table.counts[cluster][place_of[value]]);
  }
  return table;
}

}  // namespace coppice
