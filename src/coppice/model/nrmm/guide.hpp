// Guide trees: one binary tree over all rows, built from the data and random numbers before any sampling. Any
// tree is valid for the moves it leads; a good one has rows that belong together below the same nodes and is
// well balanced. The default builder clusters the rows (all, or a sample that the others then join) by
// incremental hierarchical clustering, halves each cluster repeatedly, and joins the clusters greedily.
#pragma once

#include <atomic>

#include "coppice/base/rng.hpp"
#include "coppice/family/family.hpp"
#include "coppice/family/rows.hpp"
#include "coppice/model/nrmm/options.hpp"
#include "coppice/prior/product_partition.hpp"
#include "coppice/shape/partition.hpp"
#include "coppice/shape/row_tree.hpp"

namespace coppice::nrmm {

struct Guide {
  RowTree tree;
  Labels clusters;  // canonical; a good start of a chain
};

/// For the first `count` rows; `prior` holds the guide's own, fixed parameters. Error{stopped} when `stop`
/// is set meanwhile.
Guide build_guide(const Family& family, const Rows& rows, std::size_t count, const ProductPartition& prior,
                  GuideKind kind, Stream& stream, const std::atomic<bool>* stop = nullptr);

}  // namespace coppice::nrmm
