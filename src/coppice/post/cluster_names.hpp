// How clusters are called everywhere: by a number, that of the reported partition ("3"; "2.3" is cluster 3 of
// level 2 of a model with several levels), and by a name, which is what a user called the cluster or else
// what distinguishes it from all other rows.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "coppice/post/analysis.hpp"
#include "coppice/post/consensus.hpp"
#include "coppice/post/profile.hpp"
#include "coppice/run/saved_run.hpp"

namespace coppice {

struct ClusterAddress {
  std::size_t level = 1;
  Label cluster = 0;
};

/// "3" for a model with one level, else "2.3".
std::string cluster_number(const SavedRun& run, ClusterAddress address);
/// The reverse; a number without a level means level 1. Error{usage} if it is not the number of a cluster.
ClusterAddress parse_cluster_number(const std::string& text);

/// The names that users gave to the clusters of the labels at a level; empty where there is none. A name
/// belongs to the cluster of its level that shares more than half of the rows of both together, and to
/// clusters of other levels that have the same rows.
std::vector<std::string> given_names(const SavedRun& run, std::size_t level, std::span<const Label> labels);

/// What distinguishes the clusters of a level from all other rows, with their names.
std::vector<ClusterProfile> profile_level(const SavedRun& run, std::size_t level, const Consensus& estimate,
                                          std::size_t most_traits);
/// The names alone, by cluster number; quicker.
struct ClusterName {
  std::string name;   // that a user gave, else `words`
  std::string words;  // what distinguishes it
};
std::vector<ClusterName> name_level(const SavedRun& run, std::size_t level, std::span<const Label> labels);

struct Renaming {
  ClusterAddress address;
  std::string name;  // empty: the name is taken away
};
/// The names of the run after the renamings of clusters of the reported partitions. Error{usage} if there is
/// no such cluster, or if two clusters of a level would have the same name.
std::vector<GivenName> rename_clusters(const Analysis& analysis, Selection selection,
                                       std::span<const Renaming> renamings);

}  // namespace coppice
