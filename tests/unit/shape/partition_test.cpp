// Partitions: enumeration against the Bell and Stirling numbers, canonical labels, keys, label matrices.
#include "coppice/shape/partition.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "coppice/base/error.hpp"

namespace coppice {
namespace {

TEST(Partition, EnumerationCountsAreBellNumbers) {
  const std::vector<std::size_t> bell{1, 1, 2, 5, 15, 52, 203, 877, 4140, 21147, 115975};
  for (std::size_t n = 0; n < bell.size(); ++n) {
    std::size_t visited = 0;
    for_each_partition(n, [&](std::span<const Label>, std::size_t) { ++visited; });
    EXPECT_EQ(visited, bell[n]) << "n = " << n;
  }
}

TEST(Partition, EnumerationByClustersCountsStirlingNumbers) {
  std::map<std::size_t, std::size_t> counts;
  for_each_partition(7, [&](std::span<const Label>, std::size_t clusters) { ++counts[clusters]; });
  const std::map<std::size_t, std::size_t> stirling{{1, 1},   {2, 63}, {3, 301}, {4, 350},
                                                    {5, 140}, {6, 21}, {7, 1}};
  EXPECT_EQ(counts, stirling);
}

TEST(Partition, EnumerationIsCanonicalAndWithoutRepeats) {
  std::set<std::string> keys;
  for_each_partition(8, [&](std::span<const Label> labels, std::size_t clusters) {
    Labels copy(labels.begin(), labels.end());
    EXPECT_EQ(canonicalize(copy), clusters);
    EXPECT_TRUE(std::equal(copy.begin(), copy.end(), labels.begin()));
    EXPECT_EQ(cluster_sizes(labels).size(), clusters);
    EXPECT_TRUE(keys.insert(partition_key(labels)).second) << partition_key(labels);
  });
  EXPECT_EQ(keys.size(), 4140u);
}

TEST(Partition, NoRowsIsOnePartitionOfNoClusters) {
  for_each_partition(0, [](std::span<const Label> labels, std::size_t clusters) {
    EXPECT_TRUE(labels.empty());
    EXPECT_EQ(clusters, 0u);
  });
}

TEST(Partition, CanonicalizeNumbersByFirstAppearance) {
  Labels labels{7, 3, 7, 0, 3, 12};
  EXPECT_EQ(canonicalize(labels), 4u);
  EXPECT_EQ(labels, (Labels{0, 1, 0, 2, 1, 3}));
  EXPECT_EQ(canonicalize(labels), 4u);
  EXPECT_EQ(labels, (Labels{0, 1, 0, 2, 1, 3}));
  Labels none;
  EXPECT_EQ(canonicalize(none), 0u);
}

TEST(Partition, CanonicalizeMakesRenamedPartitionsEqual) {
  for_each_partition(6, [](std::span<const Label> labels, std::size_t clusters) {
    Labels renamed;
    for (const Label label : labels)
      renamed.push_back(static_cast<Label>(5 * (clusters - static_cast<std::size_t>(label))));
    canonicalize(renamed);
    EXPECT_EQ(partition_key(renamed), partition_key(labels));
  });
}

TEST(Partition, ClusterSizes) {
  EXPECT_EQ(cluster_sizes(Labels{0, 1, 0, 2, 1, 0}), (std::vector<std::size_t>{3, 2, 1}));
  EXPECT_TRUE(cluster_sizes(Labels{}).empty());
}

TEST(Partition, KeysUseDigitsThenLetters) {
  EXPECT_EQ(partition_key(Labels{0, 0, 1, 1, 2}), "00112");
  EXPECT_EQ(partition_key(Labels{}), "");
  Labels all;
  for (Label label = 0; label < 36; ++label) all.push_back(label);
  EXPECT_EQ(partition_key(all), "0123456789abcdefghijklmnopqrstuvwxyz");
}

TEST(Partition, KeysRefuseWhatTheyCannotWrite) {
  for (const Label label : {-1, 36}) {
    try {
      partition_key(Labels{0, label});
      FAIL() << "label " << label << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bug);
      EXPECT_EQ(error.what(), "partition_key: label " + std::to_string(label) + " is not in 0..35");
    }
  }
}

TEST(LabelMatrix, KeepsOneRowPerDraw) {
  LabelMatrix matrix;
  EXPECT_EQ(matrix.draws(), 0u);
  matrix.push_back(Labels{0, 0, 1});
  matrix.push_back(Labels{0, 1, 2});
  EXPECT_EQ(matrix.draws(), 2u);
  EXPECT_EQ(matrix[1][2], 2);
  matrix[1][2] = 1;
  EXPECT_EQ(partition_key(matrix[1]), "011");
  EXPECT_EQ(partition_key(matrix[0]), "001");
}

TEST(LabelMatrix, RefusesAnotherNumberOfRows) {
  LabelMatrix matrix;
  matrix.push_back(Labels{0, 0, 1});
  try {
    matrix.push_back(Labels{0, 1});
    FAIL() << "two labels were accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bug);
    EXPECT_STREQ(error.what(), "LabelMatrix: 2 labels where 3 are expected");
  }
}

}  // namespace
}  // namespace coppice
