// What the driver of the data-parallel sampler tells the blocks of rows. A message names everything that an
// answer depends on: the parameters from which the labels follow, the streams, and the question.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "coppice/base/rng.hpp"

namespace coppice::nrmm {

/// Streams of the data-parallel sampler: values of Purpose that no other sampler uses. A stage of a launch
/// adds its number to `stage`, which is therefore the last.
namespace data_parallel_purpose {
inline constexpr std::uint64_t kFirst = 0x64700000;
// NOLINTBEGIN(readability-identifier-naming): named like the other values of Purpose, which are no constants
inline constexpr auto key = static_cast<Purpose>(kFirst);            // of a row, in a sweep
inline constexpr auto label = static_cast<Purpose>(kFirst + 1);      // of a row
inline constexpr auto missing = static_cast<Purpose>(kFirst + 2);    // cells of a row
inline constexpr auto cluster = static_cast<Purpose>(kFirst + 3);    // weight and parameters
inline constexpr auto pairs = static_cast<Purpose>(kFirst + 4);      // of rows
inline constexpr auto accept = static_cast<Purpose>(kFirst + 5);     // of a pair
inline constexpr auto in_launch = static_cast<Purpose>(kFirst + 6);  // whether a row is in it
inline constexpr auto start = static_cast<Purpose>(kFirst + 7);      // rows of the starting fit
// NOLINTEND(readability-identifier-naming)
inline constexpr std::uint64_t kSides = kFirst + 0x1000;   // parameters of the sides, by stage
inline constexpr std::uint64_t kStage = kFirst + 0x10000;  // sides of rows, by stage
inline Purpose sides(std::uint64_t stage) { return static_cast<Purpose>(kSides + stage); }
inline Purpose stage(std::uint64_t stage) { return static_cast<Purpose>(kStage + stage); }
}  // namespace data_parallel_purpose

/// Parameters of clusters, one after the other.
struct DrawnClusters {
  std::vector<double> log_weights;  // up to a common constant
  std::vector<double> thetas;

  std::size_t size() const { return log_weights.size(); }
};

/// From which all labels follow: row i joins a cluster whose anchor has no larger key than its own, with
/// probability proportional to weight times likelihood; an anchor keeps its cluster.
struct Assignment {
  StreamName name;  // keys and labels of the rows
  DrawnClusters clusters;
  std::vector<double> anchor_keys;  // 0: no row is kept out
  std::vector<std::uint64_t> anchor_rows;
};

/// Two rows and the union S of their clusters, which are the same cluster if the move is a split.
struct RowPair {
  std::uint64_t first = 0, second = 0;            // rows
  std::uint32_t first_slot = 0, second_slot = 0;  // their clusters
  double launch_share = 1.0;                      // of S: as many rows are in the launch
  double second_share = 0.5;                      // of these: as many begin beside the second row

  bool is_split() const { return first_slot == second_slot; }
};

enum class Question : std::uint64_t {
  tally,    // statistics, smallest key and its row, by cluster
  locate,   // clusters of rows
  launch,   // statistics of the two sides of every pair
  propose,  // log q of every pair; of a split also what tally gives, by side
  cells,    // of rows, as they were observed
  labels,   // of all rows of the block
};

struct BlockMessage {
  Question question = Question::tally;
  std::vector<double> hyper;        // of the family
  bool labels_are_kept = false;     // the blocks have labels that no assignment gives
  Assignment assignment;            // otherwise this gives them
  StreamName name;                  // of the keys and launches that are asked about
  std::vector<std::uint64_t> rows;  // to locate, or whose cells are asked for; these ascending
  std::vector<RowPair> pairs;
  std::uint64_t stage = 0;  // of the launch; in stage 0 sides are random
  bool all_rows = false;    // of S, not only those in the launch
  DrawnClusters sides;      // two for each pair, after stage 0

  std::string encode() const;
  static BlockMessage decode(std::string_view bytes);
};

/// The assignment's own bytes, as checkpoints and draws keep them.
std::string encode_assignment(const Assignment& assignment);
Assignment decode_assignment(std::string_view bytes);

}  // namespace coppice::nrmm
