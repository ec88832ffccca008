// Where the sources are, for tests that read files beside them. A function, not a macro: the path is compiled
// into one object, so all others are the same in every checkout and a compiler cache knows them.
#pragma once

#include <filesystem>

namespace coppice::test {

std::filesystem::path source_folder();

/// Reference cases that belong to the sources, with the list of them in cases.txt.
inline std::filesystem::path reference_folder() { return source_folder() / "tests/reference"; }

/// Further ones, computed elsewhere and not part of the distribution: COPPICE_OUTSIDE_CASES, or a folder
/// beside the sources.
std::filesystem::path outside_reference_folder();

}  // namespace coppice::test
