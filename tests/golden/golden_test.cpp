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
      {"rbhmc gaussian", 0x4a5f7dc779c8e860ULL},
      {"rbhmc gaussian-diagonal", 0x048fda751f5a12e8ULL},
      {"rbhmc bernoulli", 0x500a1cc28fdd785fULL},
      {"rbhmc_common gaussian", 0x2c4e1166e22aaca6ULL},
      {"rbhmc_common gaussian-diagonal", 0xfee2c71981b61593ULL},
      {"rbhmc_common bernoulli", 0x02aab0baf673b79dULL},
      {"rbhmc_learn_concentrations_true gaussian", 0xd3b16bfc67427476ULL},
      {"rbhmc_learn_concentrations_true gaussian-diagonal", 0x6d2e3d2c086b46b1ULL},
      {"rbhmc_learn_concentrations_true bernoulli", 0xb237d49536d92b5fULL},
      {"rbhmc_intercept_true gaussian", 0xe863155fed7432eeULL},
      {"rbhmc_intercept_true gaussian-diagonal", 0x5f67f2908bc813adULL},
      {"rbhmc_intercept_true bernoulli", 0x0c18678d4660bc61ULL},
      {"rbhmc_regularizer_hinge gaussian", 0x3629de9034ecc00bULL},
      {"rbhmc_regularizer_hinge gaussian-diagonal", 0x4a9c6d56b3f8b158ULL},
      {"rbhmc_regularizer_hinge bernoulli", 0xbbabfe0dcf63ce0fULL},
      {"rbhmc_regularizer_own gaussian", 0xe025b7ecaedb2310ULL},
      {"rbhmc_regularizer_own gaussian-diagonal", 0xd58942c06be3ca44ULL},
      {"rbhmc_regularizer_own bernoulli", 0xb7dafcbd6e0b7f2fULL},
      {"rbhmc_regularizer_paper gaussian", 0xea261de72d173a74ULL},
      {"rbhmc_regularizer_paper gaussian-diagonal", 0xe46f1225d75f9840ULL},
      {"rbhmc_regularizer_paper bernoulli", 0xb960d953dbceca3dULL},
      {"rbhmc_path_update_gibbs gaussian", 0x7356ca5076757555ULL},
      {"rbhmc_path_update_gibbs gaussian-diagonal", 0xce1d6b2d851e42edULL},
      {"rbhmc_path_update_gibbs bernoulli", 0xe4f7dc75bc874582ULL},
      {"rbhmc_path_update_prior gaussian", 0x65ab714aa76e0884ULL},
      {"rbhmc_path_update_prior gaussian-diagonal", 0x68d529ec09ddd120ULL},
      {"rbhmc_path_update_prior bernoulli", 0xdd4a70094ec9666aULL},
      {"rbhmc_informed_false gaussian", 0xfb1ad3d85003959dULL},
      {"rbhmc_informed_false gaussian-diagonal", 0x2609819c676dde1aULL},
      {"rbhmc_informed_false bernoulli", 0x16e7db1e92049c9bULL},
      {"rbhmc_discriminant_update_gauss gaussian", 0xb69652cb722bc181ULL},
      {"rbhmc_discriminant_update_gauss gaussian-diagonal", 0xd76daf38a2da191bULL},
      {"rbhmc_discriminant_update_gauss bernoulli", 0xa20ffe55bcaeb303ULL},
      {"rbhmc_leaf_weights_drawn gaussian", 0x950bb548d0888d1dULL},
      {"rbhmc_leaf_weights_drawn gaussian-diagonal", 0x250341b4cc7bb76cULL},
      {"rbhmc_leaf_weights_drawn bernoulli", 0xf015c8734786a1e0ULL},
      {"rbhmc_theta_drawn gaussian", 0xb0cada7c7fa8ba9fULL},
      {"rbhmc_theta_drawn gaussian-diagonal", 0x62b1204ea8b8f894ULL},
      {"rbhmc_theta_drawn bernoulli", 0xbde9fe8022940583ULL},
      {"rbhmc_init_single_path gaussian", 0x76be8242cacafee2ULL},
      {"rbhmc_init_single_path gaussian-diagonal", 0x45f0b687e1a78391ULL},
      {"rbhmc_init_single_path bernoulli", 0x6d33186028a828f5ULL},
      {"rbhmc_init_each_alone gaussian", 0xc6d90331f678ec42ULL},
      {"rbhmc_init_each_alone gaussian-diagonal", 0x3cceb560ff453934ULL},
      {"rbhmc_init_each_alone bernoulli", 0x1e25cef9b9d97ebaULL},
      {"rbhmc_init_prior gaussian", 0xd4edec92d2104c8bULL},
      {"rbhmc_init_prior gaussian-diagonal", 0x3b811f6850a15159ULL},
      {"rbhmc_init_prior bernoulli", 0xb15d3950f74a7226ULL},
      {"rbhmc_init_dispersed gaussian", 0x2c4e1166e22aaca6ULL},
      {"rbhmc_init_dispersed gaussian-diagonal", 0xfee2c71981b61593ULL},
      {"rbhmc_init_dispersed bernoulli", 0x02aab0baf673b79dULL},
      {"rbhmc_replicas gaussian", 0x7eb9628b1a0dfd64ULL},
      {"rbhmc_replicas gaussian-diagonal", 0xf4129951264b75b3ULL},
      {"rbhmc_replicas bernoulli", 0x4025a620bf3aff1aULL},
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
