// Can this processor run the program? The rest of the library is compiled for one instruction set
// (COPPICE_ARCH) and would die of an illegal instruction on an older processor. This file is compiled for the
// oldest one, uses nothing but the language, and has C linkage, so it can be called before anything else is
// loaded.
#pragma once

#include <cstddef>

/// Writes the names of the instruction sets that the library was compiled for and this processor lacks,
/// separated by blanks, into `text` of `size` bytes; "" if there are none.
extern "C" void coppice_missing_instructions(char* text, std::size_t size);
