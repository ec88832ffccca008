#include "coppice/family/row_batches.hpp"

#include "coppice/base/error.hpp"

namespace coppice {

const RowBatches& row_batches(const Family& family) {
  const auto* batches = dynamic_cast<const RowBatches*>(&family);
  if (batches == nullptr) fail(ErrorCode::bug, "the family {} has no batches of rows", family.name());
  return *batches;
}

}  // namespace coppice
