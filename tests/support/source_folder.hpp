// Where the sources are, for tests that read files beside them. A function, not a macro: the path is compiled
// into one object, so all others are the same in every checkout and a compiler cache knows them.
#pragma once

#include <filesystem>

namespace coppice::test {

std::filesystem::path source_folder();

/// Reference cases computed by other programs; they are not part of the distribution.
inline std::filesystem::path reference_folder() { return source_folder() / "../shared/specs/cases"; }

}  // namespace coppice::test
