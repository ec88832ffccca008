#include "coppice/model/new_cells.hpp"

#include <fmt/ranges.h>

#include "coppice/model/registry.hpp"

namespace coppice {

const NewCells& new_cells_of(const Predictor& predictor) {
  const auto* known = dynamic_cast<const NewCells*>(&predictor);
  if (known == nullptr)
    fail(ErrorCode::configuration,
         "this model does not draw new rows, nor predict cells of theirs or new columns; these models do: {}",
         fmt::join(models_that(&ModelEntry::has_new_cells), ", "));
  return *known;
}

}  // namespace coppice
