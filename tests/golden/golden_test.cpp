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
      {"nrmm gaussian", 0x7d08e1330da6b9c6ULL},
      {"nrmm gaussian-diagonal", 0xd1cef01490b34acfULL},
      {"nrmm bernoulli", 0x0c35fedba96c48f4ULL},
      {"nrmm_process_ngg gaussian", 0x44916801d0b58ab1ULL},
      {"nrmm_process_ngg gaussian-diagonal", 0x28a1531602a2bb3fULL},
      {"nrmm_process_ngg bernoulli", 0x68fe5a2927975991ULL},
      {"nrmm_sampler_gibbs gaussian", 0x45004b13501c6f4aULL},
      {"nrmm_sampler_gibbs gaussian-diagonal", 0x198cb564fa1a5bcfULL},
      {"nrmm_sampler_gibbs bernoulli", 0x311e86c8361df0a2ULL},
      {"nrmm_sampler_split_merge gaussian", 0x47832c2ce6ca917aULL},
      {"nrmm_sampler_split_merge gaussian-diagonal", 0x8ff0bf0aebe1948fULL},
      {"nrmm_sampler_split_merge bernoulli", 0x89cf4ec41b1b6c52ULL},
      {"nrmm_sampler_tree_guided gaussian", 0x2db3bf9294bc02d6ULL},
      {"nrmm_sampler_tree_guided gaussian-diagonal", 0xacb024c9e48ee2a0ULL},
      {"nrmm_sampler_tree_guided bernoulli", 0x5b2fe61212d37c31ULL},
      {"nrmm_sampler_data_parallel gaussian", 0xd942ae266756cc98ULL},
      {"nrmm_sampler_data_parallel gaussian-diagonal", 0xeea7f0a3f8c95ef8ULL},
      {"nrmm_sampler_data_parallel bernoulli", 0x0412f3a75e7725f0ULL},
      {"nrmm_sampler_tree_guided_published gaussian", 0xf3a3a31a27516a4cULL},
      {"nrmm_sampler_tree_guided_published gaussian-diagonal", 0x1c1d1c3680e1d454ULL},
      {"nrmm_sampler_tree_guided_published bernoulli", 0x26136ef9b69a8f4aULL},
      {"nrmm_split_merge_launch_random gaussian", 0x556deed3eac8becbULL},
      {"nrmm_split_merge_launch_random gaussian-diagonal", 0x7c6f716917fa0a4dULL},
      {"nrmm_split_merge_launch_random bernoulli", 0xdcf6b3b728652678ULL},
      {"nrmm_guide_bisect gaussian", 0xff53a4499d1693d2ULL},
      {"nrmm_guide_bisect gaussian-diagonal", 0xf221236e97936a0bULL},
      {"nrmm_guide_bisect bernoulli", 0xde1d7b6a68e209b1ULL},
      {"nrmm_guide_ibhc gaussian", 0x433138e47e30d947ULL},
      {"nrmm_guide_ibhc gaussian-diagonal", 0x378f122b169ceb00ULL},
      {"nrmm_guide_ibhc bernoulli", 0x92de812f0e1403afULL},
      {"nrmm_init_sequential gaussian", 0xfd51fbafa91c8ac8ULL},
      {"nrmm_init_sequential gaussian-diagonal", 0x6e40ff397d06e43dULL},
      {"nrmm_init_sequential bernoulli", 0x435227a56eecd0b9ULL},
      {"nrmm_init_guide gaussian", 0x7d08e1330da6b9c6ULL},
      {"nrmm_init_guide gaussian-diagonal", 0xd1cef01490b34acfULL},
      {"nrmm_init_guide bernoulli", 0x0c35fedba96c48f4ULL},
      {"nrmm_init_single gaussian", 0xfe8c15fa7668ccbbULL},
      {"nrmm_init_single gaussian-diagonal", 0xf221236e97936a0bULL},
      {"nrmm_init_single bernoulli", 0xde1d7b6a68e209b1ULL},
      {"rbhmc gaussian", 0x083a54f7a9138e88ULL},
      {"rbhmc gaussian-diagonal", 0x4d5068a4e7eb9925ULL},
      {"rbhmc bernoulli", 0x10e50a09da6375daULL},
      {"rbhmc_common gaussian", 0x57436fb33c783852ULL},
      {"rbhmc_common gaussian-diagonal", 0xd0342c566edcb1ceULL},
      {"rbhmc_common bernoulli", 0x18ea4ac0adab8467ULL},
      {"rbhmc_learn_concentrations_true gaussian", 0xc6bc899d42917aadULL},
      {"rbhmc_learn_concentrations_true gaussian-diagonal", 0xe8881543886beb4aULL},
      {"rbhmc_learn_concentrations_true bernoulli", 0x0eace8365c9a2380ULL},
      {"rbhmc_learn_alpha gaussian", 0x97377bdc568c9fd9ULL},
      {"rbhmc_learn_alpha gaussian-diagonal", 0xa8d24c7bbba3ad97ULL},
      {"rbhmc_learn_alpha bernoulli", 0xcae4d8d09c159feeULL},
      {"rbhmc_learn_gamma gaussian", 0xf6fb253721d20d68ULL},
      {"rbhmc_learn_gamma gaussian-diagonal", 0x266f81515108d9f7ULL},
      {"rbhmc_learn_gamma bernoulli", 0x6ec6c103d71c42bdULL},
      {"rbhmc_learn_gamma0 gaussian", 0x9cb52d8ba520957eULL},
      {"rbhmc_learn_gamma0 gaussian-diagonal", 0x5e1d4bd4e1ec4b21ULL},
      {"rbhmc_learn_gamma0 bernoulli", 0x1e91f2b82f2ab710ULL},
      {"rbhmc_learn_discriminant_sd gaussian", 0x563eed994cf82cdeULL},
      {"rbhmc_learn_discriminant_sd gaussian-diagonal", 0xdab200f637075609ULL},
      {"rbhmc_learn_discriminant_sd bernoulli", 0xe2cb7bf755347e77ULL},
      {"rbhmc_intercept_true gaussian", 0xe9a661d413428a61ULL},
      {"rbhmc_intercept_true gaussian-diagonal", 0x6210d6bb49a53bafULL},
      {"rbhmc_intercept_true bernoulli", 0xbe0076fa63199de9ULL},
      {"rbhmc_regularizer_centered gaussian", 0x06d4462a690924ebULL},
      {"rbhmc_regularizer_centered gaussian-diagonal", 0xf458f3e1d44b8ce9ULL},
      {"rbhmc_regularizer_centered bernoulli", 0x2545214f80297121ULL},
      {"rbhmc_regularizer_own gaussian", 0x9f5f56d326f0c665ULL},
      {"rbhmc_regularizer_own gaussian-diagonal", 0x51368d28476033fdULL},
      {"rbhmc_regularizer_own bernoulli", 0x6eaade36d170509bULL},
      {"rbhmc_regularizer_paper gaussian", 0xea261de72d173a74ULL},
      {"rbhmc_regularizer_paper gaussian-diagonal", 0xe46f1225d75f9840ULL},
      {"rbhmc_regularizer_paper bernoulli", 0xb960d953dbceca3dULL},
      {"rbhmc_regularizer_infomax gaussian", 0xb3c14fc9edec3f83ULL},
      {"rbhmc_regularizer_infomax gaussian-diagonal", 0x38f7ebf5edd39a21ULL},
      {"rbhmc_regularizer_infomax bernoulli", 0x6ea3a84bfb6a7cdaULL},
      {"rbhmc_regularizer_evidence gaussian", 0x70b4f78274d03e7fULL},
      {"rbhmc_regularizer_evidence gaussian-diagonal", 0x52158df3d3405419ULL},
      {"rbhmc_regularizer_evidence bernoulli", 0x29f635512e98b629ULL},
      {"rbhmc_path_update_gibbs gaussian", 0x0670dbdb2fc592c8ULL},
      {"rbhmc_path_update_gibbs gaussian-diagonal", 0x210d2e2381141913ULL},
      {"rbhmc_path_update_gibbs bernoulli", 0xd48085a1d0252b33ULL},
      {"rbhmc_path_update_prior gaussian", 0x549a2b84cc1ee3d8ULL},
      {"rbhmc_path_update_prior gaussian-diagonal", 0x0d491c400e174740ULL},
      {"rbhmc_path_update_prior bernoulli", 0x992e2ee09165ebcdULL},
      {"rbhmc_informed_false gaussian", 0xdc40404d54f45e94ULL},
      {"rbhmc_informed_false gaussian-diagonal", 0x55e3dae7f6cb1a55ULL},
      {"rbhmc_informed_false bernoulli", 0xce289bbb98a44aeeULL},
      {"rbhmc_discriminant_update_gauss gaussian", 0xfea6dfad09f36cb2ULL},
      {"rbhmc_discriminant_update_gauss gaussian-diagonal", 0x8c99eb31cb0b1575ULL},
      {"rbhmc_discriminant_update_gauss bernoulli", 0x76eb7537e3fade1eULL},
      {"rbhmc_leaf_weights_drawn gaussian", 0xd2077ea41e077bf3ULL},
      {"rbhmc_leaf_weights_drawn gaussian-diagonal", 0x1e35b831df2fc658ULL},
      {"rbhmc_leaf_weights_drawn bernoulli", 0xb385602539e679e8ULL},
      {"rbhmc_theta_drawn gaussian", 0x0ad1d4ed4e1b4f84ULL},
      {"rbhmc_theta_drawn gaussian-diagonal", 0xbc32dc3d8d0cc5d7ULL},
      {"rbhmc_theta_drawn bernoulli", 0xc1a5f200ce54b0fcULL},
      {"rbhmc_init_single_path gaussian", 0x3d9ffde96d280de4ULL},
      {"rbhmc_init_single_path gaussian-diagonal", 0xe249fd3592f2f66fULL},
      {"rbhmc_init_single_path bernoulli", 0x6ee8b83af94b2465ULL},
      {"rbhmc_init_each_alone gaussian", 0x189ce339bd123566ULL},
      {"rbhmc_init_each_alone gaussian-diagonal", 0x5f4ef11f082353f1ULL},
      {"rbhmc_init_each_alone bernoulli", 0x0c5468bb95b155bbULL},
      {"rbhmc_init_prior gaussian", 0xaf91922de13c62feULL},
      {"rbhmc_init_prior gaussian-diagonal", 0x9010964c86c6589bULL},
      {"rbhmc_init_prior bernoulli", 0x0adb4bae1121bcd9ULL},
      {"rbhmc_init_dispersed gaussian", 0x57436fb33c783852ULL},
      {"rbhmc_init_dispersed gaussian-diagonal", 0xd0342c566edcb1ceULL},
      {"rbhmc_init_dispersed bernoulli", 0x18ea4ac0adab8467ULL},
      {"rbhmc_replicas gaussian", 0x99e6796a9731f52dULL},
      {"rbhmc_replicas gaussian-diagonal", 0x1a75f927c4f504d4ULL},
      {"rbhmc_replicas bernoulli", 0x1982053ddd8a5acdULL},
      {"nhcm gaussian", 0x26722d5dea010bbbULL},
      {"nhcm_nesting_nested gaussian", 0x78ededf6c790bf93ULL},
      {"nhcm_learn_alpha_clusters gaussian", 0x57ffe7563cfbe9daULL},
      {"nhcm_learn_alpha_subclusters gaussian", 0x6187f360be0fb159ULL},
      {"nhcm_learn_spread gaussian", 0x69503ff564283016ULL},
      {"nhcm_sampler_published gaussian", 0x09785065afc9495bULL},
      {"nhcm_interleave_true gaussian", 0xc8e458cad74806ffULL},
      {"nhcm_init_single gaussian", 0xda022497e6bb84f2ULL},
      {"bhc gaussian", 0x1fbb97b2e0cc92d2ULL},
      {"bhc gaussian-diagonal", 0xb8ae57c202f55718ULL},
      {"bhc bernoulli", 0xb7df34f098ad9d7bULL},
      {"bhc_randomized_true gaussian", 0x4e439b83e638fa3dULL},
      {"bhc_randomized_true gaussian-diagonal", 0xecf26168c0413891ULL},
      {"bhc_randomized_true bernoulli", 0x816f0187bc48afd5ULL},
      {"bhc_clusters_map gaussian", 0x1fbb97b2e0cc92d2ULL},
      {"bhc_clusters_map gaussian-diagonal", 0xb8ae57c202f55718ULL},
      {"bhc_clusters_map bernoulli", 0xb7df34f098ad9d7bULL},
      {"bhc_pair_scores_keep gaussian", 0x1fbb97b2e0cc92d2ULL},
      {"bhc_pair_scores_keep gaussian-diagonal", 0xb8ae57c202f55718ULL},
      {"bhc_pair_scores_keep bernoulli", 0xb7df34f098ad9d7bULL},
      {"bhc_pair_scores_recompute gaussian", 0x1fbb97b2e0cc92d2ULL},
      {"bhc_pair_scores_recompute gaussian-diagonal", 0xb8ae57c202f55718ULL},
      {"bhc_pair_scores_recompute bernoulli", 0xb7df34f098ad9d7bULL},
      {"bhcc gaussian-diagonal", 0xe2022e1936fa61d9ULL},
      {"bhcc bernoulli", 0xe525deb50fab4bb5ULL},
      {"bhcc_inner_full gaussian-diagonal", 0xe2022e1936fa61d9ULL},
      {"bhcc_inner_full bernoulli", 0xe525deb50fab4bb5ULL},
      {"bhcc_inner_reuse gaussian-diagonal", 0x05f22778d90c7cbdULL},
      {"bhcc_inner_reuse bernoulli", 0xad9f87aaa6664a1aULL},
      {"bhcc_randomized_true gaussian-diagonal", 0x78a70f2e1c108093ULL},
      {"bhcc_randomized_true bernoulli", 0x91adc98deb82743aULL},
      {"bhcc_filter_published gaussian-diagonal", 0x78a70f2e1c108093ULL},
      {"bhcc_filter_published bernoulli", 0x91adc98deb82743aULL},
      {"bhcc_consolidate_off gaussian-diagonal", 0x78a70f2e1c108093ULL},
      {"bhcc_consolidate_off bernoulli", 0x91adc98deb82743aULL},
      {"bhcc_clusters_map gaussian-diagonal", 0xe2022e1936fa61d9ULL},
      {"bhcc_clusters_map bernoulli", 0xe525deb50fab4bb5ULL},
      {"crosscat gaussian-diagonal", 0x8e00bf9e2a292e92ULL},
      {"crosscat bernoulli", 0x11e7e81616a220fcULL},
      {"crosscat_learn_alpha_rows gaussian-diagonal", 0x74a66307b8e9610fULL},
      {"crosscat_learn_alpha_rows bernoulli", 0x142049a9181781e0ULL},
      {"crosscat_learn_alpha_columns gaussian-diagonal", 0x8e00bf9e2a292e92ULL},
      {"crosscat_learn_alpha_columns bernoulli", 0x436c934a37093597ULL},
      {"crosscat_auxiliary_prior gaussian-diagonal", 0x0d0f2f6b4758f47dULL},
      {"crosscat_auxiliary_prior bernoulli", 0xdb1728b7f5b9cbefULL},
      {"crosscat_split_merge_launch_random gaussian-diagonal", 0x2ce11f0d0a075ee5ULL},
      {"crosscat_split_merge_launch_random bernoulli", 0xa4d06f454dca8406ULL},
      {"crosscat_init_single gaussian-diagonal", 0x8e00bf9e2a292e92ULL},
      {"crosscat_init_single bernoulli", 0xd043065463c0fd8fULL},
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
      if (!works_with(variant, family)) continue;
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
        chain.labels(labels);
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
