#include "coppice/post/cluster_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "coppice/base/error.hpp"
#include "coppice/data/text.hpp"

namespace coppice {
namespace {

constexpr Label kNoCluster = -1;

/// The cluster of the labels that a name belongs to, or kNoCluster.
Label bearer(const GivenName& given, std::size_t level, std::span<const Label> labels,
             std::span<const std::size_t> sizes) {
  std::vector<std::size_t> shared(sizes.size());
  for (const std::uint32_t row : given.rows) ++shared[static_cast<std::size_t>(labels[row])];
  const auto most = std::max_element(shared.begin(), shared.end()) - shared.begin();
  const auto cluster = static_cast<std::size_t>(most);
  const std::size_t together = given.rows.size() + sizes[cluster] - shared[cluster];
  const bool is_same = shared[cluster] == together;
  const bool is_most = given.level == level && 2 * shared[cluster] > together;
  return is_same || is_most ? static_cast<Label>(most) : kNoCluster;
}

std::vector<std::vector<std::uint32_t>> rows_of_clusters(std::span<const Label> labels) {
  std::vector<std::vector<std::uint32_t>> rows;
  for (std::size_t row = 0; row < labels.size(); ++row) {
    const auto cluster = static_cast<std::size_t>(labels[row]);
    if (cluster >= rows.size()) rows.resize(cluster + 1);
    rows[cluster].push_back(static_cast<std::uint32_t>(row));
  }
  return rows;
}

std::size_t whole_number(std::string_view text, const std::string& all) {
  std::size_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || problem != std::errc() || end != text.data() + text.size() || number > 1'000'000'000)
    fail(ErrorCode::usage, "'{}' is not the number of a cluster: 3, or 2.3 for cluster 3 of level 2",
         text::display(all));
  return number;
}

/// The names after the renamings of clusters of one level.
void rename_level(const SavedRun& run, std::size_t level, std::span<const Label> labels,
                  std::span<const Renaming> renamings, std::vector<GivenName>& names) {
  const std::vector<std::vector<std::uint32_t>> rows = rows_of_clusters(labels);
  const std::vector<std::size_t> sizes = cluster_sizes(labels);
  for (const Renaming& renaming : renamings) {
    const Label cluster = renaming.address.cluster;
    if (static_cast<std::size_t>(cluster) >= rows.size())
      fail(ErrorCode::usage, "there is no cluster {}: {} has clusters 0 to {}",
           cluster_number(run, renaming.address),
           run.levels() == 1 ? std::string("the run") : fmt::format("level {}", level), rows.size() - 1);
    std::erase_if(names,
                  [&](const GivenName& given) { return bearer(given, level, labels, sizes) == cluster; });
    const std::string name = checked_name(renaming.name);
    if (!name.empty()) names.push_back({level, name, rows[static_cast<std::size_t>(cluster)]});
  }
  std::map<std::string, Label> bearers;
  for (const GivenName& given : names) {
    const Label cluster = bearer(given, level, labels, sizes);
    if (given.level != level || cluster == kNoCluster) continue;
    const auto [other, is_new] = bearers.emplace(given.name, cluster);
    if (!is_new && other->second != cluster)
      fail(ErrorCode::usage, "clusters {} and {} would both be called '{}'",
           cluster_number(run, {level, other->second}), cluster_number(run, {level, cluster}),
           text::display(given.name));
  }
}

}  // namespace

std::string cluster_number(const SavedRun& run, ClusterAddress address) {
  return run.levels() == 1 ? fmt::format("{}", address.cluster)
                           : fmt::format("{}.{}", address.level, address.cluster);
}

ClusterAddress parse_cluster_number(const std::string& text) {
  const std::size_t point = text.find('.');
  if (point == std::string::npos) return {1, static_cast<Label>(whole_number(text, text))};
  const std::string_view view = text;
  return {whole_number(view.substr(0, point), text),
          static_cast<Label>(whole_number(view.substr(point + 1), text))};
}

std::vector<std::string> given_names(const SavedRun& run, std::size_t level, std::span<const Label> labels) {
  const std::vector<std::size_t> sizes = cluster_sizes(labels);
  std::vector<std::string> names(sizes.size());
  // What was named at this level goes before what has the same rows at another.
  for (const bool own_level : {true, false})
    for (const GivenName& given : run.contents().names) {
      if ((given.level == level) != own_level) continue;
      const Label cluster = bearer(given, level, labels, sizes);
      if (cluster == kNoCluster) continue;
      std::string& name = names[static_cast<std::size_t>(cluster)];
      if (name.empty()) name = given.name;
    }
  return names;
}

std::vector<ClusterProfile> profile_level(const SavedRun& run, std::size_t level, const Consensus& estimate,
                                          std::size_t most_traits) {
  std::vector<ClusterProfile> profiles =
      profile_clusters(run, estimate.labels, estimate.row_confidence, most_traits);
  const std::vector<std::string> given = given_names(run, level, estimate.labels);
  for (ClusterProfile& profile : profiles)
    if (const std::string& name = given[static_cast<std::size_t>(profile.cluster)]; !name.empty())
      profile.name = name;
  return profiles;
}

std::vector<ClusterName> name_level(const SavedRun& run, std::size_t level, std::span<const Label> labels) {
  const std::vector<std::string> given = given_names(run, level, labels);
  std::vector<ClusterName> names;
  for (ClusterProfile& profile : profile_groups(run, rows_of_clusters(labels), 1)) {
    const std::string& name = given[names.size()];
    names.push_back({name.empty() ? profile.words : name, std::move(profile.words)});
  }
  return names;
}

std::vector<GivenName> rename_clusters(const Analysis& analysis, Selection selection,
                                       std::span<const Renaming> renamings) {
  const SavedRun& run = analysis.run();
  for (const Renaming& renaming : renamings) run.check_level(renaming.address.level);
  std::vector<GivenName> names = run.contents().names;
  for (std::size_t level = 1; level <= run.levels(); ++level) {
    std::vector<Renaming> here;
    for (const Renaming& renaming : renamings)
      if (renaming.address.level == level) here.push_back(renaming);
    if (!here.empty()) rename_level(run, level, analysis.consensus(level, selection).labels, here, names);
  }
  return names;
}

}  // namespace coppice
