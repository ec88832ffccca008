// Randomized clustering from the top down, of items of any kind: a few items are clustered exactly, the two
// halves of their tree say where each other item goes, and each side is treated in the same way until it is
// small enough to be merged greedily. The work that is left is a stack, so sides may be nested as deep as
// there are items.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "coppice/base/byte_stream.hpp"
#include "coppice/base/rng.hpp"

namespace coppice {

struct RandomizedOptions {
  std::size_t threshold = 20;  // items that are merged greedily
  std::size_t subset = 10;     // items that divide the others; from 2 to the threshold
  std::size_t levels = 0;      // divisions above an item at most, then its side is one block; 0: no limit
  /// For tests: the items of smallest priority divide the others; empty: they are drawn.
  std::vector<double> priority = {};
  /// For tests: hears log S_a and log S_b of every item that is sent to a side.
  std::function<void(std::uint32_t item, double log_left, double log_right)> on_filter = {};
};

/// The items that are divided, and the forest that their trees are made in.
class DividedItems {
 public:
  using Node = std::uint32_t;
  using OnMade = std::function<void(Node)>;

  virtual ~DividedItems() = default;
  /// The tree of a few items (ascending), merged greedily. Tells of every node that is made, children first.
  virtual Node merge_all(std::span<const std::uint32_t> items, const OnMade& on_made) = 0;
  /// One leaf of several items.
  virtual Node block(std::span<const std::uint32_t> items, const OnMade& on_made) = 0;
  virtual Node join(Node left, Node right, const OnMade& on_made) = 0;
  /// on_left[i] != 0: the item items[i] goes to the left side. `chosen` are those whose tree divides the
  /// others; neither side may be empty.
  virtual void divide(std::span<const std::uint32_t> items, std::span<const std::uint32_t> chosen,
                      std::vector<char>& on_left) = 0;
};

class Division {
 public:
  using Node = DividedItems::Node;

  explicit Division(RandomizedOptions options) : options_(std::move(options)) {}

  const RandomizedOptions& options() const { return options_; }
  /// Begins with these items (ascending).
  void start(std::span<const std::uint32_t> items);
  bool finished() const { return tasks_.empty(); }
  /// One unit: a division, the tree of a side, or the merge of two sides. Drawing depends on seed and chain
  /// of the name and on the side.
  void step(const StreamName& name, DividedItems& items, const DividedItems::OnMade& on_made);
  /// Items that are in no tree yet.
  std::vector<std::uint32_t> waiting() const;

  /// The work that is left; nodes are given as numbers by `number_of`.
  void save(ByteWriter& writer, const std::function<std::uint32_t(Node)>& number_of) const;
  /// Throws Error{bad_data} if the bytes are not valid work on this many items.
  void load(ByteReader& reader, std::size_t items, const std::function<Node(std::uint32_t)>& node_of);

 private:
  struct Task {
    std::vector<std::uint32_t> items;  // none: merge the two trees that were finished last
    std::uint64_t depth = 0;
    std::uint64_t path = 1;  // which side of which side
  };

  void divide(const Task& task, const StreamName& name, DividedItems& items);
  std::vector<std::uint32_t> choose(const Task& task, const StreamName& name) const;

  RandomizedOptions options_;
  std::vector<Task> tasks_;
  std::vector<Node> done_;
};

}  // namespace coppice
