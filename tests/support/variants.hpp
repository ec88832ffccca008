// The ways a model can be run. Conformance goes over every model of the list with its defaults and with every
// other value of every choice and flag of its parameter table, so a new sampler is tested by being in the
// table. The statistical suites add the combinations in which the split-merge moves stand on their own.
#pragma once

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "coppice/model/registry.hpp"
#include "support/chains.hpp"

namespace coppice::test {

struct Variant {
  std::string name;  // letters, digits and underscores
  std::string model;
  std::vector<std::string> settings;
};

inline void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.name; }

inline std::string as_test_name(std::string text) {
  for (char& letter : text)
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
  return text;
}

/// What a model's variants have in common beside its defaults: without a penalty most choices of the nested
/// mixture would make no difference.
inline std::vector<std::string> common_settings(const std::string& model) {
  if (model == "rbhmc") return {"penalty=0.1"};
  return {};
}

inline std::vector<Variant> all_variants() {
  std::vector<Variant> variants;
  for (const ModelEntry& model : all_models()) {
    if (model.learns_labels()) continue;  // needs labels; tested on its own
    variants.push_back({as_test_name(model.name), model.name, {}});
    const std::vector<std::string> common = common_settings(model.name);
    const auto add = [&](const std::string& name, const std::string& setting) {
      std::vector<std::string> settings = common;
      // These say how a randomized fit of views goes, and are refused without one.
      if (model.name == "bhcc" && (name.starts_with("filter_") || name.starts_with("consolidate_")))
        settings.push_back("randomized=true");
      if (!setting.empty()) settings.push_back(setting);
      variants.push_back({as_test_name(model.name + "_" + name), model.name, settings});
    };
    if (!common.empty()) add("common", "");
    for (const Parameter& parameter : model.parameters) {
      if (parameter.type == Parameter::Type::choice)
        for (const std::string& choice : parameter.choices)
          if (choice != parameter.fallback)
            add(parameter.name + "_" + choice, parameter.name + "=\"" + choice + "\"");
      if (parameter.type == Parameter::Type::flag) {
        const std::string other = parameter.fallback == "true" ? "false" : "true";
        add(parameter.name + "_" + other, parameter.name + "=" + other);
      }
      for (const ParameterAlias& alias : parameter.aliases) {
        if (alias.name == "replicas") add("replicas", "replicas=2");
        if (alias.is_flag) add(alias.name + "_true", alias.name + "=true");
      }
      if (parameter.name == "learn")
        for (const std::string& choice : parameter.choices)
          add("learn_" + choice, "learn=\"" + choice + "\"");
    }
  }
  return variants;
}

/// Whether the variant's model works with the family.
inline bool works_with(const Variant& variant, std::string_view family) {
  const ModelEntry& model = model_by_name(variant.model);
  // Views divide the columns of a family.
  if (model.has_views() && (family == "gaussian" || family == "multinomial")) return false;
  return model.family.empty() || model.family == family;
}
inline bool works_with(const Variant& variant, const Family& family) {
  std::vector<std::size_t> all(family.width());
  for (std::size_t cell = 0; cell < all.size(); ++cell) all[cell] = cell;
  if (model_by_name(variant.model).has_views() && family.of_cells(all) == nullptr) return false;
  return works_with(variant, family.name());
}

/// Those of the models that draw; greedy ones end.
inline std::vector<Variant> sampler_variants() {
  std::vector<Variant> variants = all_variants();
  std::erase_if(variants, [](const Variant& variant) { return model_by_name(variant.model).runs_once(); });
  return variants;
}

/// The samplers of the flat mixture: Gibbs, split-merge between Gibbs scans, split-merge alone (which is
/// irreducible: any partition is reached by merging everything and splitting it again), everything that a
/// guide tree leads, and each of its moves alone (the multiway move with single rows, because it cannot reach
/// every partition), moves between neighbors alone, and the default mix, with given numbers of moves and with
/// those that follow from their work.
inline std::vector<Variant> mixture_variants() {
  const auto split_merge = [](const std::string& name, const std::string& launch, int scans, bool gibbs) {
    return Variant{
        name,
        "nrmm",
        {"sampler=\"split-merge\"", "split-merge-launch=\"" + launch + "\"",
         "split-merge-scans=" + std::to_string(scans), gibbs ? "split-merge-moves=1" : "split-merge-moves=2",
         gibbs ? "scan-every=1" : "scan-every=0"}};
  };
  const auto guided = [](const std::string& name, int blocks, int splits, int scans, int multiway, int rows) {
    return Variant{
        name,
        "nrmm",
        {"sampler=\"tree-guided\"", "block-moves=" + std::to_string(blocks),
         "guided-split-moves=" + std::to_string(splits), "guided-split-scans=" + std::to_string(scans),
         "multiway-moves=" + std::to_string(multiway), "row-updates=" + std::to_string(rows),
         "scan-every=0"}};
  };
  const auto neighbors = [](const std::string& name, int scans) {
    return Variant{name,
                   "nrmm",
                   {"sampler=\"split-merge\"", "split-merge-moves=0", "neighbor-moves=2",
                    "neighbor-scans=" + std::to_string(scans), "scan-every=0"}};
  };
  return {
      {"gibbs", "nrmm", {"sampler=\"gibbs\""}},
      split_merge("sequential_1_gibbs", "sequential", 1, true),
      split_merge("random_1_gibbs", "random", 1, true),
      split_merge("sequential_0_alone", "sequential", 0, false),
      split_merge("sequential_2_alone", "sequential", 2, false),
      split_merge("random_0_alone", "random", 0, false),
      split_merge("random_2_alone", "random", 2, false),
      neighbors("neighbors_0_alone", 0),
      neighbors("neighbors_1_alone", 1),
      guided("tree_guided", 2, 1, 1, 1, 2),
      guided("blocks_alone", 3, 0, 0, 0, 0),
      guided("guided_splits_alone", 0, 2, 0, 0, 0),
      guided("guided_splits_1_alone", 0, 2, 1, 0, 0),
      guided("multiway_and_rows", 0, 0, 0, 2, 1),
      {"auto", "nrmm", {"split-merge-moves=1", "neighbor-moves=1", "block-moves=2", "guided-split-moves=1"}},
      {"auto_adapting", "nrmm", {"move-share=30"}}};
}

/// The data-parallel sampler in blocks of a few rows: one pair at a time, many pairs whose launches leave
/// rows out, and no scans between launch and proposal.
inline std::vector<Variant> data_parallel_variants() {
  const auto variant = [](const std::string& name, int pairs, int scans, int rows, int block) {
    return Variant{name,
                   "nrmm",
                   {"sampler=\"data-parallel\"", "pair-moves=" + std::to_string(pairs),
                    "launch-scans=" + std::to_string(scans), "launch-rows=" + std::to_string(rows),
                    "block-size=" + std::to_string(block)}};
  };
  return {variant("one_pair", 1, 1, 0, 2), variant("many_pairs", 6, 2, 3, 4),
          variant("no_scans", 3, 0, 0, 100)};
}

}  // namespace coppice::test
