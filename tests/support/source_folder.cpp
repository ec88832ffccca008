#include "support/source_folder.hpp"

std::filesystem::path coppice::test::source_folder() { return COPPICE_SOURCE_DIR; }
