#include "coppice/base/module.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <vector>

namespace coppice {

void* find_in_module(const std::string& library, const char* function, ModuleSymbols symbols) {
  std::vector<std::string> places;
  std::error_code problem;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", problem);
  if (!problem) {
    places.push_back(program.parent_path() / library);
    places.push_back(program.parent_path().parent_path() / "lib" / "coppice" / library);
  }
  places.push_back(library);
  for (const std::string& place : places)
    if (void* module =
            dlopen(place.c_str(), RTLD_NOW | (symbols == ModuleSymbols::shared ? RTLD_GLOBAL : RTLD_LOCAL)))
      return dlsym(module, function);
  return nullptr;
}

}  // namespace coppice
