// Partitions of n rows into clusters, as labels: label[i] is the cluster of row i. A canonical labeling
// numbers the clusters by first appearance (a restricted growth string), so equal partitions have equal
// labels.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace coppice {

using Label = std::int32_t;
using Labels = std::vector<Label>;

/// Renumbers labels by first appearance, in place; returns the number of clusters. Labels must not be
/// negative.
std::size_t canonicalize(std::span<Label> labels);

/// Cluster sizes of canonical labels.
std::vector<std::size_t> cluster_sizes(std::span<const Label> labels);

/// Entropy of a partition in nats, from the sizes of its clusters, which sum to `total`; empty clusters do
/// not count.
template <typename Sizes>
double partition_entropy(const Sizes& sizes, double total) {
  double entropy = 0.0;
  for (const auto size : sizes) {
    const double share = static_cast<double>(size) / total;
    if (share > 0.0) entropy -= share * std::log(share);
  }
  return std::max(entropy, 0.0);
}

/// Calls visit(labels, clusters) once for each of the Bell(n) partitions of n rows, in canonical form.
void for_each_partition(
    std::size_t n, const std::function<void(std::span<const Label> labels, std::size_t clusters)>& visit);

/// "00112" for the labels 0 0 1 1 2; digits, then letters, for up to 36 clusters.
std::string partition_key(std::span<const Label> labels);

/// Many labelings of the same rows, one row of the matrix for each draw.
struct LabelMatrix {
  std::size_t rows = 0;  // data rows = labels per draw
  std::vector<Label> values;

  std::size_t draws() const { return rows == 0 ? 0 : values.size() / rows; }
  std::span<const Label> operator[](std::size_t draw) const { return {values.data() + draw * rows, rows}; }
  std::span<Label> operator[](std::size_t draw) { return {values.data() + draw * rows, rows}; }
  void push_back(std::span<const Label> labels);
};

}  // namespace coppice
