#include "coppice/family/registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "coppice/base/error.hpp"
#include "coppice/family/all.hpp"

namespace coppice {

const FamilyEntry& family_by_name(std::string_view name) {
  static const std::vector<FamilyEntry> list = all_families();
  for (const FamilyEntry& entry : list)
    if (entry.name == name) return entry;
  std::vector<std::string> names{"auto"};
  for (const FamilyEntry& entry : list) names.push_back(entry.name);
  fail(ErrorCode::configuration, "family {}: there is none of that name; the families are {}", name,
       fmt::join(names, ", "));
}

}  // namespace coppice
