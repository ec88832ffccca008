#include "coppice/model/nrmm/guide.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "coppice/base/math.hpp"
#include "coppice/cluster/clusters.hpp"
#include "coppice/model/nrmm/bisect.hpp"

namespace coppice::nrmm {

Guide build_guide(const Family& family, const Rows& rows, std::size_t count, const ProductPartition&,
                  GuideKind, Stream& stream) {
  Guide guide{RowTree(count), Labels(count, 0)};
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  Bisection bisection(family, rows);
  bisection.build(guide.tree, order, stream);
  guide.tree.finish();
  return guide;
}

}  // namespace coppice::nrmm
