// The draws of a few small runs, as a hash of their labels: an accidental change of the random numbers, of
// the order in which they are used or of a weight is noticed here before a user finds that a seed no longer
// gives the same clusters.
//
// When a change is meant, run this program, copy the lines it prints under "actual" over the table below, and
// say in the commit why the draws changed. Labels only: the last digits of scores may differ between
// compilers, labels do not for data this small.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>

#include "coppice/family/plan.hpp"
#include "support/variants.hpp"

namespace coppice::test {
namespace {

const std::map<std::string, std::uint64_t>& expected_hashes() {
  static const std::map<std::string, std::uint64_t> hashes{
      {"nrmm gaussian", 0x47832c2ce6ca917aULL},
      {"nrmm gaussian-diagonal", 0x8ff0bf0aebe1948fULL},
      {"nrmm bernoulli", 0x89cf4ec41b1b6c52ULL},
      {"nrmm_sampler_gibbs gaussian", 0x45004b13501c6f4aULL},
      {"nrmm_sampler_gibbs gaussian-diagonal", 0x198cb564fa1a5bcfULL},
      {"nrmm_sampler_gibbs bernoulli", 0x311e86c8361df0a2ULL},
      {"nrmm_split_merge_launch_random gaussian", 0xc874245ad62f9bafULL},
      {"nrmm_split_merge_launch_random gaussian-diagonal", 0x1d285f356d27f3eaULL},
      {"nrmm_split_merge_launch_random bernoulli", 0x6a752fa0f80db431ULL},
      {"nrmm_gibbs_scan_false gaussian", 0xd6209f0db073a1b4ULL},
      {"nrmm_gibbs_scan_false gaussian-diagonal", 0xc8792cd4e375456cULL},
      {"nrmm_gibbs_scan_false bernoulli", 0x8b9501c0382f3118ULL},
  };
  return hashes;
}

constexpr std::size_t kRows = 20;

/// Data that do not depend on any generator.
Table golden_table(Kind kind) {
  Table table;
  for (std::size_t row = 0; row < kRows; ++row) table.row_ids.push_back(std::to_string(row));
  for (std::size_t j = 0; j < 3; ++j) {
    Column column{std::string(1, static_cast<char>('a' + j)), kind, {}, {}};
    for (std::size_t row = 0; row < kRows; ++row) {
      const double value = static_cast<double>((row * 37 + j * 11) % 23) / 8.0 + (row % 3 == 0 ? 4.0 : 0.0);
      column.values.push_back(kind == Kind::binary ? (value > 2.5 ? 1.0 : 0.0) : value);
    }
    table.columns.push_back(column);
  }
  return table;
}

/// FNV-1a.
std::uint64_t hash_labels(std::uint64_t hash, std::span<const Label> labels) {
  for (const Label label : labels) hash = (hash ^ static_cast<std::uint64_t>(label)) * 0x100000001b3ULL;
  return hash;
}

TEST(Golden, LabelsOfSmallRuns) {
  std::string actual;
  bool same = true;
  for (const Variant& variant : all_variants())
    for (const char* family : {"gaussian", "gaussian-diagonal", "bernoulli"}) {
      const Table table = golden_table(std::string(family) == "bernoulli" ? Kind::binary : Kind::real);
      const FamilyPlan plan = plan_family(table, {}, family, {});
      const Rows rows = encode(plan, table);
      const ModelEntry& model = model_by_name(variant.model);
      SamplerChain chain(model, *plan.family, rows, settings_from(variant.settings));
      Labels labels(model.levels(ParameterValues(model.parameters, settings_from(variant.settings))) * kRows);
      std::uint64_t hash = 0xcbf29ce484222325ULL;
      chain.init({1, 0, 0});
      for (std::size_t sweep = 1; sweep <= 50; ++sweep) {
        chain.step({1, 0, sweep});
        chain.shape(labels);
        hash = hash_labels(hash, labels);
      }
      const std::string name = variant.name + " " + family;
      char line[200];
      std::snprintf(line, sizeof line, "      {\"%s\", 0x%016llxULL},\n", name.c_str(),
                    static_cast<unsigned long long>(hash));
      actual += line;
      const auto found = expected_hashes().find(name);
      same = same && found != expected_hashes().end() && found->second == hash;
    }
  EXPECT_TRUE(same) << "actual:\n" << actual;
}

}  // namespace
}  // namespace coppice::test
