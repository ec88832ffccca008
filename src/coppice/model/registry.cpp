#include "coppice/model/registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "coppice/base/error.hpp"
#include "coppice/model/bhc/bhc.hpp"
#include "coppice/model/bhcc/bhcc.hpp"
#include "coppice/model/bnmc/bnmc.hpp"
#include "coppice/model/crosscat/crosscat.hpp"
#include "coppice/model/nhcm/nhcm.hpp"
#include "coppice/model/nrmm/nrmm.hpp"
#include "coppice/model/rbhmc/rbhmc.hpp"

namespace coppice {

const std::vector<ModelEntry>& all_models() {
  static const std::vector<ModelEntry> models{nrmm_entry(), rbhmc_entry(),    nhcm_entry(), bhc_entry(),
                                              bhcc_entry(), crosscat_entry(), bnmc_entry()};
  return models;
}

const ModelEntry& model_by_name(std::string_view name) {
  std::vector<std::string> names;
  for (const ModelEntry& entry : all_models()) {
    if (entry.name == name) return entry;
    names.push_back(entry.name);
  }
  fail(ErrorCode::usage, "model {}: there is none of that name; the models are {}", name,
       fmt::join(names, ", "));
}

}  // namespace coppice
