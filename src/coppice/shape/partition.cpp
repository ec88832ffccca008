#include "coppice/shape/partition.hpp"

#include <algorithm>

#include "coppice/base/error.hpp"

namespace coppice {

std::size_t canonicalize(std::span<Label> labels) {
  Label largest = -1;
  for (const Label label : labels) largest = std::max(largest, label);
  std::vector<Label> renamed(static_cast<std::size_t>(largest + 1), -1);
  Label next = 0;
  for (Label& label : labels) {
    Label& name = renamed[static_cast<std::size_t>(label)];
    if (name < 0) name = next++;
    label = name;
  }
  return static_cast<std::size_t>(next);
}

std::vector<std::size_t> cluster_sizes(std::span<const Label> labels) {
  std::vector<std::size_t> sizes;
  for (const Label label : labels) {
    const auto cluster = static_cast<std::size_t>(label);
    if (cluster >= sizes.size()) sizes.resize(cluster + 1, 0);
    ++sizes[cluster];
  }
  return sizes;
}

void for_each_partition(
    std::size_t n, const std::function<void(std::span<const Label> labels, std::size_t clusters)>& visit) {
  Labels labels(n, 0);
  Labels highest(n, 0);  // highest[i] = largest label among rows 0..i
  while (true) {
    visit(labels, n == 0 ? 0 : static_cast<std::size_t>(highest[n - 1]) + 1);
    std::size_t i = n;
    while (i > 1 && labels[i - 1] == highest[i - 2] + 1) --i;
    if (i <= 1) return;
    ++labels[i - 1];
    highest[i - 1] = std::max(highest[i - 2], labels[i - 1]);
    for (std::size_t j = i; j < n; ++j) {
      labels[j] = 0;
      highest[j] = highest[i - 1];
    }
  }
}

std::string partition_key(std::span<const Label> labels) {
  std::string key;
  for (const Label label : labels) {
    if (label < 0 || label > 35) fail(ErrorCode::bug, "partition_key: label {} is not in 0..35", label);
    key += static_cast<char>(label < 10 ? '0' + label : 'a' + label - 10);
  }
  return key;
}

void LabelMatrix::push_back(std::span<const Label> labels) {
  if (rows == 0) rows = labels.size();
  if (labels.size() != rows)
    fail(ErrorCode::bug, "LabelMatrix: {} labels where {} are expected", labels.size(), rows);
  values.insert(values.end(), labels.begin(), labels.end());
}

}  // namespace coppice
