// Forests over items: what is joined, what is kept in bytes, and which bytes are refused.
#include "coppice/shape/dendrogram.hpp"

#include <gtest/gtest.h>

#include "coppice/base/error.hpp"

namespace coppice {
namespace {

/// Items 0..6: a block {1, 4}, merges (0, block) and (2, 6), and the items 3 and 5 by themselves.
Dendrogram small_forest() {
  Dendrogram forest(7);
  const std::vector<std::uint32_t> members{1, 4};
  const Dendrogram::Node block = forest.block(members);
  forest.join(block, 0, 1.5);
  forest.join(6, 2, -2.0);
  return forest;
}

std::vector<std::uint32_t> items_below(const Dendrogram& forest, Dendrogram::Node node) {
  std::vector<std::uint32_t> items;
  forest.for_each_item(node, [&](std::uint32_t item) { items.push_back(item); });
  return items;
}

TEST(DendrogramShape, JoinsPutTheSmallestItemLeft) {
  const Dendrogram forest = small_forest();
  EXPECT_EQ(forest.nodes(), 10u);
  EXPECT_TRUE(forest.is_block(7));
  EXPECT_EQ(forest.left(8), 0u);
  EXPECT_EQ(forest.right(8), 7u);
  EXPECT_EQ(forest.left(9), 2u);
  EXPECT_EQ(forest.size(8), 3u);
  EXPECT_EQ(forest.leaf_of(4), 7u);
  EXPECT_EQ(forest.leaf_of(0), 0u);
  EXPECT_EQ(forest.roots(), (std::vector<Dendrogram::Node>{8, 9, 3, 5}));
  EXPECT_EQ(items_below(forest, 8), (std::vector<std::uint32_t>{0, 1, 4}));
}

TEST(DendrogramShape, NodesCannotBeUsedTwice) {
  Dendrogram forest = small_forest();
  EXPECT_THROW(forest.join(0, 3, 0.0), Error);
  EXPECT_THROW(forest.join(3, 3, 0.0), Error);
  const std::vector<std::uint32_t> taken{1, 3};
  EXPECT_THROW(forest.block(taken), Error);
}

TEST(DendrogramShape, BytesGiveTheSameForest) {
  const Dendrogram forest = small_forest();
  ByteWriter writer;
  forest.save(writer);
  const std::string bytes = writer.take();
  ByteReader reader(bytes);
  const Dendrogram again = Dendrogram::load(reader, 7);
  reader.end();
  ASSERT_EQ(again.nodes(), forest.nodes());
  for (Dendrogram::Node node = 0; node < forest.nodes(); ++node) {
    EXPECT_EQ(again.parent(node), forest.parent(node));
    EXPECT_EQ(again.log_odds(node), forest.log_odds(node));
    EXPECT_EQ(items_below(again, node), items_below(forest, node));
  }
}

TEST(DendrogramShape, DamagedBytesAreRefused) {
  ByteWriter writer;
  small_forest().save(writer);
  const std::string bytes = writer.take();
  std::size_t refused = 0;
  // Every byte of the structure, changed in every bit: a forest comes out, or a refusal, and nothing else.
  for (std::size_t at = 0; at < bytes.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      try {
        ByteReader reader(damaged);
        const Dendrogram forest = Dendrogram::load(reader, 7);
        reader.end();
        EXPECT_LE(forest.nodes(), 14u);
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::bad_data);
        ++refused;
      }
    }
  EXPECT_GT(refused, bytes.size());
  ByteReader reader(bytes);
  EXPECT_THROW(Dendrogram::load(reader, 4), Error) << "of fewer items";
}

}  // namespace
}  // namespace coppice
