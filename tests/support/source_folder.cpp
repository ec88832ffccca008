#include "support/source_folder.hpp"

#include <cstdlib>

std::filesystem::path coppice::test::source_folder() { return COPPICE_SOURCE_DIR; }

std::filesystem::path coppice::test::outside_reference_folder() {
  const char* given = std::getenv("COPPICE_OUTSIDE_CASES");
  return given != nullptr ? std::filesystem::path(given) : source_folder() / "../shared/specs/cases";
}
