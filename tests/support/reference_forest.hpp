// The tree of a reference case as a forest that carries its statistics.
#pragma once

#include "coppice/cluster/merge_tree.hpp"
#include "support/reference_case.hpp"
#include "support/reference_law.hpp"

namespace coppice::test {

struct ReferenceForest {
  explicit ReferenceForest(const nlohmann::json& reference)
      : problem(reference.at("input")),
        u(reference.at("tree_u").is_null() ? 0.0 : reference.at("tree_u").get<double>()),
        law(reference_law(reference.at("input"), problem.rows.size(), u)),
        forest(problem.family(), problem.rows, *law),
        root(build_reference_tree(
            reference.at("tree"), [&](std::uint32_t row) { return forest.leaf(row); },
            [&](MergeTree::Node left, MergeTree::Node right) { return forest.join(left, right); })) {}

  ReferenceProblem problem;
  double u;
  std::shared_ptr<const ProductPartition> law;
  MergeTree forest;
  MergeTree::Node root;
};

}  // namespace coppice::test
