#include "coppice/family/registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "coppice/base/error.hpp"
#include "coppice/family/all.hpp"

namespace coppice {

const std::vector<FamilyEntry>& all_families() {
  static const std::vector<FamilyEntry> list = family_list();
  return list;
}

const FamilyEntry& family_by_name(std::string_view name) {
  for (const FamilyEntry& entry : all_families())
    if (entry.name == name) return entry;
  std::vector<std::string> names{"auto"};
  for (const FamilyEntry& entry : all_families()) names.push_back(entry.name);
  fail(ErrorCode::configuration, "family {}: there is no such family; the families are {}", name,
       fmt::join(names, ", "));
}

const FamilyEntry& automatic_family(Kind kind, bool joint) {
  const FamilyEntry* found = nullptr;
  for (const FamilyEntry& entry : all_families()) {
    if (std::find(entry.automatic.begin(), entry.automatic.end(), kind) == entry.automatic.end()) continue;
    if (entry.joint == joint) return entry;
    if (found == nullptr) found = &entry;
  }
  if (found == nullptr) fail(ErrorCode::bug, "there is no default family for {} columns", kind_name(kind));
  return *found;
}

const FamilyEntry& independent_family_like(std::string_view name) {
  const FamilyEntry& entry = family_by_name(name);
  if (!entry.joint) return entry;
  for (const FamilyEntry& other : all_families())
    if (!other.joint && other.support == entry.support && other.takes(entry.kinds.front())) return other;
  fail(ErrorCode::bug, "no family of independent columns is like {}", name);
}

}  // namespace coppice
