// Parts of the program that need libraries which are not everywhere: shared libraries of their own, which are
// loaded when they are needed.
#pragma once

#include <string>

namespace coppice {

enum class ModuleSymbols { own, shared };  // shared: what the module loads may use its libraries

/// A function of a module beside the program, in ../lib/coppice as it is installed, or where the linker finds
/// libraries; nullptr if there is none.
void* find_in_module(const std::string& library, const char* function, ModuleSymbols symbols);

}  // namespace coppice
