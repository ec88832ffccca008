// Clusters of sub-clusters against full enumeration: the reference cases, every move alone from exact draws,
// sweeps in every mix, and the published sampler, whose wrong law is known.
#include <gtest/gtest.h>

#include "coppice/model/nhcm/published.hpp"
#include "support/nhcm_problem.hpp"
#include "support/reference_case.hpp"

namespace coppice::test {
namespace {

Eigen::MatrixXd matrix_from(const nlohmann::json& rows) {
  Eigen::MatrixXd matrix(static_cast<Eigen::Index>(rows.size()),
                         static_cast<Eigen::Index>(rows.at(0).size()));
  for (Eigen::Index i = 0; i < matrix.rows(); ++i)
    for (Eigen::Index j = 0; j < matrix.cols(); ++j)
      matrix(i, j) = rows.at(static_cast<std::size_t>(i)).at(static_cast<std::size_t>(j));
  return matrix;
}

NhcmModel model_from(const nlohmann::json& input) {
  NhcmModel model;
  model.rows = matrix_from(input.at("X"));
  model.prior_mean = matrix_from(nlohmann::json::array({input.at("mu0")})).row(0).transpose();
  model.scale = matrix_from(input.at("Sigma0"));
  model.mean_strength = input.at("k0");
  model.dof = input.at("v0");
  model.spread = input.at("q");
  model.alpha_clusters = input.at("alpha0");
  model.alpha_subclusters = input.at("alpha1");
  model.nested = input.at("prior") == "A";
  return model;
}

/// The rows of a list of sub-clusters, as the cases write them, sorted.
using Members = std::vector<std::vector<std::size_t>>;

Members members_of(const nhcm::State& state, std::span<const Label> subs) {
  Members members;
  for (const Label sub : subs) {
    members.emplace_back();
    for (std::size_t row = 0; row < state.rows(); ++row)
      if (state.sub_of(row) == sub) members.back().push_back(row);
  }
  std::sort(members.begin(), members.end());
  return members;
}

class NhcmReference : public ::testing::TestWithParam<std::string> {};

TEST_P(NhcmReference, StatesConditionalsAndPosterior) {
  const nlohmann::json reference = read_reference(GetParam());
  const NhcmProblem problem(model_from(reference.at("input")));
  const NhcmPosterior exact(problem.model);
  EXPECT_NEAR(exact.prior_mass(), reference.at("prior_total_mass").get<double>(), 1e-9);
  EXPECT_EQ(exact.size(), reference.at("n_nested_partitions").get<std::size_t>());
  EXPECT_NEAR(exact.log_evidence(), reference.at("log_marginal_likelihood").get<double>(), 1e-9);
  for (const auto& [key, probability] :
       reference.at("nested_partitions").get<std::vector<std::pair<std::string, double>>>()) {
    const std::size_t bar = key.find('|');
    NhcmShape shape;
    for (const char digit : key.substr(0, bar)) shape.subclusters.push_back(digit - '0');
    for (const char digit : key.substr(bar + 1)) shape.parents.push_back(digit - '0');
    EXPECT_NEAR(exact.probability(exact.index(shape)), probability, 1e-9) << key;
  }
  for (std::size_t k = 1; k <= exact.rows(); ++k) {
    const auto truth = [&](const char* name) { return reference.at(name).value(std::to_string(k), 0.0); };
    EXPECT_NEAR(exact.sum([&](const NhcmShape& shape) { return shape.sub_count() == k; }),
                truth("subcluster_count_distribution"), 1e-9);
    EXPECT_NEAR(exact.sum([&](const NhcmShape& shape) { return shape.cluster_count() == k; }),
                truth("cluster_count_distribution"), 1e-9);
  }

  // The stored state, and what the kept statistics say of it.
  const nlohmann::json& stored = reference.at("state");
  const NhcmShape shape{stored.at("sub").get<Labels>(), stored.at("clu").get<Labels>()};
  const TwoLevelCrp prior = problem.prior();
  nhcm::State state(problem.family, problem.rows, prior, problem.model.spread);
  const Labels both = labels_of(shape);
  const std::size_t rows = exact.rows();
  state.assign({both.data(), rows}, {both.data() + rows, rows});
  const double log_p = prior.log_probability(state.sizes(), state.counts());
  EXPECT_NEAR(log_p, stored.at("log_prior").get<double>(), 1e-9);
  EXPECT_NEAR(log_p + state.log_marginal(), stored.at("log_joint").get<double>(), 1e-9);
  const auto marginals = stored.at("cluster_log_marginals").get<std::vector<double>>();
  for (std::size_t cluster = 0; cluster < marginals.size(); ++cluster)
    EXPECT_NEAR(state.log_marginal(static_cast<Label>(cluster + 1)), marginals[cluster], 1e-9);

  // A row's options, by the rows of the sub-cluster or of the whole cluster.
  const nlohmann::json& of_row = reference.at("point_conditional");
  const std::size_t row = of_row.at("point");
  AlignedVector weights(state.options());
  state.log_conditional(row, weights.data());
  const double total = log_sum_exp(weights);
  state.take_out(row);
  std::size_t found = 0;
  for (std::size_t option = 0; option < weights.size(); ++option) {
    if (weights[option] == kMinusInfinity) continue;
    const auto slot = static_cast<Label>(option);
    const bool opens = state.is_opening(slot);
    const Members members =
        opens ? members_of(state, state.subs_of(state.cluster_of(slot))) : members_of(state, {{slot}});
    for (const nlohmann::json& entry : of_row.at("options")) {
      const std::string kind = entry.at("kind");
      Members expected = entry.at("members").get<Members>();
      std::sort(expected.begin(), expected.end());
      if ((kind == "sub") == opens || expected != members) continue;
      EXPECT_NEAR(std::exp(weights[option] - total), entry.at("prob").get<double>(), 1e-9) << kind;
      ++found;
    }
  }
  EXPECT_EQ(found, of_row.at("options").size());
  state.assign({both.data(), rows}, {both.data() + rows, rows});

  const nlohmann::json& of_sub = reference.at("subcluster_conditional");
  const auto label = of_sub.at("subcluster").get<Label>();
  const auto at = std::find(shape.subclusters.begin(), shape.subclusters.end(), label);
  const Label sub = state.sub_of(static_cast<std::size_t>(at - shape.subclusters.begin()));
  std::vector<double> targets(state.counts().size());
  state.log_conditional_of_sub(sub, targets);
  const double target_total = log_sum_exp(targets);
  found = 0;
  for (std::size_t slot = 0; slot < targets.size(); ++slot) {
    if (targets[slot] == kMinusInfinity) continue;
    Labels subs(state.subs_of(static_cast<Label>(slot)).begin(),
                state.subs_of(static_cast<Label>(slot)).end());
    std::erase(subs, sub);
    for (const nlohmann::json& entry : of_sub.at("options")) {
      Members expected = entry.at("cluster").get<Members>();
      std::sort(expected.begin(), expected.end());
      if (expected != members_of(state, subs)) continue;
      EXPECT_NEAR(std::exp(targets[slot] - target_total), entry.at("prob").get<double>(), 1e-9);
      ++found;
    }
  }
  EXPECT_EQ(found, of_sub.at("options").size());
}

INSTANTIATE_TEST_SUITE_P(Cases, NhcmReference, ::testing::ValuesIn(reference_cases("nhcm_")), CaseOfFile());

TEST_P(NhcmReference, ChainsAgreeWithIt) {
  const nlohmann::json reference = read_reference(GetParam());
  const NhcmProblem problem(model_from(reference.at("input")));
  const NhcmPosterior exact(problem.model);
  for (const std::uint64_t seed : test_seeds()) {
    const Agreement agreement = compare_nhcm_chain(problem, exact, {}, seed, scaled(100'000), true);
    EXPECT_TRUE(agreement.holds()) << "seed " << seed << ": " << agreement;
  }
}

/// A move alone, from exact draws: what comes out must have the same law.
class NhcmMoves : public ::testing::TestWithParam<std::tuple<const char*, bool>> {};

TEST_P(NhcmMoves, LeaveThePosterior) {
  const auto& [move, nested] = GetParam();
  const NhcmProblem problem(small_nhcm_model(5, 2, nested));
  const NhcmPosterior exact(problem.model);
  for (const std::uint64_t seed : test_seeds()) {
    const NhcmStep step = compare_nhcm_move(problem, exact, move, seed, scaled(200'000));
    EXPECT_TRUE(step.agreement.holds()) << "seed " << seed << ": " << step.agreement;
    EXPECT_GT(step.changed, 0.01) << "the move does next to nothing";
  }
}

INSTANTIATE_TEST_SUITE_P(Moves, NhcmMoves,
                         ::testing::Combine(::testing::Values("row", "subcluster", "subcluster_split_merge",
                                                              "cluster_split_merge"),
                                            ::testing::Bool()),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) +
                                  (std::get<1>(info.param) ? "_nested" : "_global");
                         });

struct Mix {
  const char* name;
  std::vector<std::string> settings;
  bool rebuilt = false;
};

class NhcmChains : public ::testing::TestWithParam<std::tuple<Mix, bool>> {};

TEST_P(NhcmChains, AgreeWithTheEnumeration) {
  const auto& [mix, nested] = GetParam();
  const NhcmProblem problem(small_nhcm_model(6, 2, nested, 3));
  const NhcmPosterior exact(problem.model);
  for (const std::uint64_t seed : test_seeds()) {
    const Agreement agreement =
        compare_nhcm_chain(problem, exact, mix.settings, seed, scaled(200'000), mix.rebuilt);
    EXPECT_TRUE(agreement.holds()) << "seed " << seed << ": " << agreement;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Mixes, NhcmChains,
    ::testing::Combine(::testing::Values(Mix{"gibbs", {"subcluster-moves=0", "cluster-moves=0"}},
                                         Mix{"interleaved",
                                             {"subcluster-moves=0", "cluster-moves=0", "interleave=true"}},
                                         Mix{"everything", {"subcluster-moves=2", "cluster-moves=2"}},
                                         Mix{"rebuilt", {"subcluster-moves=1", "cluster-moves=1"}, true}),
                       ::testing::Bool()),
    [](const auto& info) {
      return std::string(std::get<0>(info.param).name) + (std::get<1>(info.param) ? "_nested" : "_global");
    });

/// The published sampler as a random scan has a stationary law of its own, computed exactly from its 60 x 60
/// matrix of transition probabilities; the posterior has other numbers of clusters.
TEST(NhcmPublished, HasTheWrongLawItIsKnownToHave) {
  NhcmModel model;
  model.rows.resize(4, 2);
  model.rows << 0.0, 0.0, 0.6, 0.2, 1.8, 1.1, 2.6, 0.9;
  model.prior_mean = model.rows.colwise().mean().transpose();
  model.scale = Eigen::MatrixXd::Identity(2, 2);
  const NhcmProblem problem(model);
  const NhcmPosterior exact(model);
  const double published[] = {0.3957, 0.5107, 0.0900, 0.0036};
  const double right[] = {0.5034, 0.4332, 0.0615, 0.0018};
  const TwoLevelCrp prior = problem.prior();
  for (const std::uint64_t seed : test_seeds()) {
    nhcm::State state(problem.family, problem.rows, prior, model.spread);
    const Labels together(4, 0);
    state.assign(together, together);
    nhcm::PublishedUpdates updates;
    const std::size_t draws = scaled(400'000);
    Visits visits(5, draws);
    for (std::size_t i = 0; i < draws; ++i) {
      Stream stream({seed, 0, i}, Purpose::test);
      updates.update(state, prior, draw_index(stream, 4), stream);
      visits.add(state.clusters());
    }
    Agreement with_published;
    Agreement with_posterior;
    for (std::size_t k = 1; k <= 4; ++k) {
      const auto event = [&](std::size_t seen) { return seen == k; };
      const double truth = exact.sum([&](const NhcmShape& shape) { return shape.cluster_count() == k; });
      EXPECT_NEAR(truth, right[k - 1], 6e-5);
      // The stored figures have four digits.
      Estimate seen = visits.estimate([&](std::size_t i) { return event(i) ? 1.0 : 0.0; });
      seen.error = std::hypot(seen.error, 3e-5);
      with_published.check("clusters = " + std::to_string(k), seen, published[k - 1]);
      with_posterior.check("clusters = " + std::to_string(k), seen, truth);
    }
    EXPECT_TRUE(with_published.holds()) << with_published;
    EXPECT_GT(with_posterior.worst, 20.0) << with_posterior;
  }
}

}  // namespace
}  // namespace coppice::test
