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
      {"nrmm gaussian", 0xd1cae9386b6a8de7ULL},
      {"nrmm gaussian-diagonal", 0xbb26634ece740398ULL},
      {"nrmm bernoulli", 0x43ab851ddd0f4155ULL},
      {"nrmm_process_ngg gaussian", 0xd52ab468f7c9fb3eULL},
      {"nrmm_process_ngg gaussian-diagonal", 0x8aace15a5262c65fULL},
      {"nrmm_process_ngg bernoulli", 0x9fb3086f74f04eeeULL},
      {"nrmm_sampler_gibbs gaussian", 0x45004b13501c6f4aULL},
      {"nrmm_sampler_gibbs gaussian-diagonal", 0x198cb564fa1a5bcfULL},
      {"nrmm_sampler_gibbs bernoulli", 0x311e86c8361df0a2ULL},
      {"nrmm_sampler_split_merge gaussian", 0x47832c2ce6ca917aULL},
      {"nrmm_sampler_split_merge gaussian-diagonal", 0x8ff0bf0aebe1948fULL},
      {"nrmm_sampler_split_merge bernoulli", 0x89cf4ec41b1b6c52ULL},
      {"nrmm_sampler_tree_guided gaussian", 0x2db3bf9294bc02d6ULL},
      {"nrmm_sampler_tree_guided gaussian-diagonal", 0xacb024c9e48ee2a0ULL},
      {"nrmm_sampler_tree_guided bernoulli", 0x5b2fe61212d37c31ULL},
      {"nrmm_sampler_data_parallel gaussian", 0x516c475f0a5bd043ULL},
      {"nrmm_sampler_data_parallel gaussian-diagonal", 0xeea7f0a3f8c95ef8ULL},
      {"nrmm_sampler_data_parallel bernoulli", 0x17c84f59157ded71ULL},
      {"nrmm_sampler_tree_guided_published gaussian", 0xf3a3a31a27516a4cULL},
      {"nrmm_sampler_tree_guided_published gaussian-diagonal", 0x1c1d1c3680e1d454ULL},
      {"nrmm_sampler_tree_guided_published bernoulli", 0x26136ef9b69a8f4aULL},
      {"nrmm_split_merge_launch_random gaussian", 0xb06046ce4c6cf219ULL},
      {"nrmm_split_merge_launch_random gaussian-diagonal", 0x7b39235db8c771eeULL},
      {"nrmm_split_merge_launch_random bernoulli", 0xe39091556db8d502ULL},
      {"nrmm_guide_bisect gaussian", 0x3abb561a471f7e1cULL},
      {"nrmm_guide_bisect gaussian-diagonal", 0xd5d34bbebb923377ULL},
      {"nrmm_guide_bisect bernoulli", 0x343a153a248b9cf7ULL},
      {"nrmm_guide_ibhc gaussian", 0x3eda7ce0ca0e4a8cULL},
      {"nrmm_guide_ibhc gaussian-diagonal", 0x7426a72c0d950c70ULL},
      {"nrmm_guide_ibhc bernoulli", 0x2f4e2623b15c66f4ULL},
      {"nrmm_init_sequential gaussian", 0x91ec2978682c4f09ULL},
      {"nrmm_init_sequential gaussian-diagonal", 0x027548b33e1f3cc6ULL},
      {"nrmm_init_sequential bernoulli", 0xcb39d826f8c99bc9ULL},
      {"nrmm_init_guide gaussian", 0xd1cae9386b6a8de7ULL},
      {"nrmm_init_guide gaussian-diagonal", 0xbb26634ece740398ULL},
      {"nrmm_init_guide bernoulli", 0x43ab851ddd0f4155ULL},
      {"nrmm_init_single gaussian", 0xcb326815a938f525ULL},
      {"nrmm_init_single gaussian-diagonal", 0xd5d34bbebb923377ULL},
      {"nrmm_init_single bernoulli", 0x343a153a248b9cf7ULL},
      {"rbhmc gaussian", 0x6c63aac6ac11d9bbULL},
      {"rbhmc gaussian-diagonal", 0xdebc4c536c0019c9ULL},
      {"rbhmc bernoulli", 0xbb96b2bc650748ebULL},
      {"rbhmc_common gaussian", 0x3b1b175a65bc2698ULL},
      {"rbhmc_common gaussian-diagonal", 0x45c0da5c6ffae42cULL},
      {"rbhmc_common bernoulli", 0x766a528616bacd75ULL},
      {"rbhmc_learn_concentrations_true gaussian", 0x94b017ab21dff557ULL},
      {"rbhmc_learn_concentrations_true gaussian-diagonal", 0x64ed196a0f62b6ddULL},
      {"rbhmc_learn_concentrations_true bernoulli", 0x4d46af01ce07dcf4ULL},
      {"rbhmc_learn_alpha gaussian", 0xa468182de7b092f5ULL},
      {"rbhmc_learn_alpha gaussian-diagonal", 0x26221ce5780aa7e4ULL},
      {"rbhmc_learn_alpha bernoulli", 0xfc34b684da5ed584ULL},
      {"rbhmc_learn_gamma gaussian", 0xe2e8952249bba66dULL},
      {"rbhmc_learn_gamma gaussian-diagonal", 0x4395ed1d7bc18402ULL},
      {"rbhmc_learn_gamma bernoulli", 0x201707150a6fbffbULL},
      {"rbhmc_learn_gamma0 gaussian", 0x5292b8d7dc70c729ULL},
      {"rbhmc_learn_gamma0 gaussian-diagonal", 0x13260818fd06f36eULL},
      {"rbhmc_learn_gamma0 bernoulli", 0xa1ba7486ec725421ULL},
      {"rbhmc_learn_discriminant_sd gaussian", 0xf17684291519b1a2ULL},
      {"rbhmc_learn_discriminant_sd gaussian-diagonal", 0x81bea6b1a71bf157ULL},
      {"rbhmc_learn_discriminant_sd bernoulli", 0x4aeb6ca637786a31ULL},
      {"rbhmc_intercept_true gaussian", 0xf9b33276842ce1e8ULL},
      {"rbhmc_intercept_true gaussian-diagonal", 0xeebc3f281609facbULL},
      {"rbhmc_intercept_true bernoulli", 0xdad22c62f6a7fae0ULL},
      {"rbhmc_regularizer_centered gaussian", 0xf0d01a8876ba27a3ULL},
      {"rbhmc_regularizer_centered gaussian-diagonal", 0xdec2cd5d81d5fe31ULL},
      {"rbhmc_regularizer_centered bernoulli", 0x403b4aba2ce34646ULL},
      {"rbhmc_regularizer_own gaussian", 0xbbf11ff3630b087dULL},
      {"rbhmc_regularizer_own gaussian-diagonal", 0x90779061e8fc78eeULL},
      {"rbhmc_regularizer_own bernoulli", 0xa371d1a31fc6fd0fULL},
      {"rbhmc_regularizer_paper gaussian", 0xea261de72d173a74ULL},
      {"rbhmc_regularizer_paper gaussian-diagonal", 0xe46f1225d75f9840ULL},
      {"rbhmc_regularizer_paper bernoulli", 0xb960d953dbceca3dULL},
      {"rbhmc_regularizer_infomax gaussian", 0x7768cb80903f08daULL},
      {"rbhmc_regularizer_infomax gaussian-diagonal", 0xa69d8c7f3947e964ULL},
      {"rbhmc_regularizer_infomax bernoulli", 0xd6345b78e4c3b1edULL},
      {"rbhmc_path_update_gibbs gaussian", 0xaaf75a2d7df4999dULL},
      {"rbhmc_path_update_gibbs gaussian-diagonal", 0x23bd03ca9c182786ULL},
      {"rbhmc_path_update_gibbs bernoulli", 0x5b4657b62ca571b8ULL},
      {"rbhmc_path_update_prior gaussian", 0xddb2447016d99c54ULL},
      {"rbhmc_path_update_prior gaussian-diagonal", 0xd97c11c21efc643eULL},
      {"rbhmc_path_update_prior bernoulli", 0x8fa48bed92792164ULL},
      {"rbhmc_informed_false gaussian", 0x485d646ada23e7f0ULL},
      {"rbhmc_informed_false gaussian-diagonal", 0xb2173305eb2a9904ULL},
      {"rbhmc_informed_false bernoulli", 0xabf9d51eae13dab6ULL},
      {"rbhmc_discriminant_update_gauss gaussian", 0x91fc103de609d027ULL},
      {"rbhmc_discriminant_update_gauss gaussian-diagonal", 0xcc9d51c0b3c7bbd5ULL},
      {"rbhmc_discriminant_update_gauss bernoulli", 0x70b50cb576a85e71ULL},
      {"rbhmc_leaf_weights_drawn gaussian", 0x5da916eee9e8d5b1ULL},
      {"rbhmc_leaf_weights_drawn gaussian-diagonal", 0x3b8698434536579dULL},
      {"rbhmc_leaf_weights_drawn bernoulli", 0x12727a7779302533ULL},
      {"rbhmc_theta_drawn gaussian", 0x5ac0a43b9cb813e5ULL},
      {"rbhmc_theta_drawn gaussian-diagonal", 0x0e8bb48d4421e856ULL},
      {"rbhmc_theta_drawn bernoulli", 0x8a0c8cc1671377c3ULL},
      {"rbhmc_init_single_path gaussian", 0x0e9154a5da464b85ULL},
      {"rbhmc_init_single_path gaussian-diagonal", 0x56e0bf104bbc2138ULL},
      {"rbhmc_init_single_path bernoulli", 0x6c2708f4ca0327d9ULL},
      {"rbhmc_init_each_alone gaussian", 0x96a5def6e0feec7eULL},
      {"rbhmc_init_each_alone gaussian-diagonal", 0x1bba07b160a25709ULL},
      {"rbhmc_init_each_alone bernoulli", 0xfbc3b80c5c5d80f2ULL},
      {"rbhmc_init_prior gaussian", 0x5a027c62439f879eULL},
      {"rbhmc_init_prior gaussian-diagonal", 0x8df8073477eac1d5ULL},
      {"rbhmc_init_prior bernoulli", 0x94670f9749fd11bdULL},
      {"rbhmc_init_dispersed gaussian", 0x3b1b175a65bc2698ULL},
      {"rbhmc_init_dispersed gaussian-diagonal", 0x45c0da5c6ffae42cULL},
      {"rbhmc_init_dispersed bernoulli", 0x766a528616bacd75ULL},
      {"rbhmc_replicas gaussian", 0x27e3639943c8982dULL},
      {"rbhmc_replicas gaussian-diagonal", 0x8986564dca638657ULL},
      {"rbhmc_replicas bernoulli", 0xaca374a989c6bff4ULL},
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
      {"crosscat gaussian-diagonal", 0xea550c80649b7c6eULL},
      {"crosscat bernoulli", 0xb5dadf7c7a5700a8ULL},
      {"crosscat_learn_alpha_rows gaussian-diagonal", 0x419dd208d4a85364ULL},
      {"crosscat_learn_alpha_rows bernoulli", 0xa40b9c0c4c37d2f8ULL},
      {"crosscat_learn_alpha_columns gaussian-diagonal", 0xea550c80649b7c6eULL},
      {"crosscat_learn_alpha_columns bernoulli", 0xb5dadf7c7a5700a8ULL},
      {"crosscat_auxiliary_prior gaussian-diagonal", 0xe11c275a2d0b5d34ULL},
      {"crosscat_auxiliary_prior bernoulli", 0xb5dadf7c7a5700a8ULL},
      {"crosscat_split_merge_launch_random gaussian-diagonal", 0x64826ed0715703acULL},
      {"crosscat_split_merge_launch_random bernoulli", 0x2ba9fceef8bba6edULL},
      {"crosscat_init_single gaussian-diagonal", 0xea550c80649b7c6eULL},
      {"crosscat_init_single bernoulli", 0xb5dadf7c7a5700a8ULL},
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
