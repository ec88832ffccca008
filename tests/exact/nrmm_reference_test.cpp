// The enumeration itself and the samplers against cases computed elsewhere: log joint of given labels, the
// law of K, co-clustering, the probability of every partition, the posterior means of alpha, sigma and log u.
#include <gtest/gtest.h>

#include "coppice/prior/crp.hpp"
#include "coppice/prior/ngg.hpp"
#include "support/chains.hpp"
#include "support/reference_case.hpp"
#include "support/variants.hpp"

namespace coppice::test {
namespace {

constexpr std::size_t kReferenceSweeps = 40'000;

class NrmmReference : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    reference_ = read_reference(GetParam());
    problem_ = std::make_unique<ReferenceProblem>(reference_.at("input"));
    exact_ = std::make_unique<ExactPosterior>(problem_->family(), problem_->rows, problem_->law);
  }
  nlohmann::json reference_;
  std::unique_ptr<ReferenceProblem> problem_;
  std::unique_ptr<ExactPosterior> exact_;
};

TEST_P(NrmmReference, EnumerationAgrees) {
  const nlohmann::json& reference = reference_;
  EXPECT_NEAR(exact_->log_evidence(), reference.at("log_marginal_likelihood").get<double>(), 1e-9);
  const nlohmann::json& moments = reference.at("posterior_moments");
  for (const auto& [name, mean] : exact_->moments())
    if (moments.contains(name)) {
      EXPECT_NEAR(mean, moments.at(name).get<double>(), 1e-6) << name;
    }
  if (moments.contains("log_u_var")) {
    const double mean = exact_->moments().at("log_u");
    EXPECT_NEAR(exact_->moments().at("log_u squared") - mean * mean, moments.at("log_u_var").get<double>(),
                1e-6);
  }
  EXPECT_EQ(exact_->size(), reference.at("n_partitions").get<std::size_t>());
  for (const auto& entry : reference.at("partitions")) {
    Labels labels;
    for (const char digit : entry.at(0).get<std::string>()) labels.push_back(digit - '0');
    EXPECT_NEAR(exact_->probability(exact_->index(labels)), entry.at(1).get<double>(), 1e-10) << entry;
  }
  for (std::size_t k = 1; k <= exact_->rows(); ++k) {
    double total = 0.0;
    for (std::size_t i = 0; i < exact_->size(); ++i)
      if (exact_->clusters(i) == k) total += exact_->probability(i);
    EXPECT_NEAR(total, reference.at("K_distribution").at(std::to_string(k)).get<double>(), 1e-10);
  }
  for (std::size_t a = 0; a < exact_->rows(); ++a)
    for (std::size_t b = 0; b < exact_->rows(); ++b) {
      double total = 0.0;
      for (std::size_t i = 0; i < exact_->size(); ++i)
        if (exact_->partition(i)[a] == exact_->partition(i)[b]) total += exact_->probability(i);
      EXPECT_NEAR(total, reference.at("coclustering").at(a).at(b).get<double>(), 1e-10);
    }
}

// V(n, K) is what is left of p(partition) without the factors Gamma(n_c - sigma) / Gamma(1 - sigma).
TEST_P(NrmmReference, PriorOfTheNumberOfClusters) {
  const MixtureLaw& law = problem_->law;
  const std::size_t rows = problem_->rows.size();
  const PartitionLaw written_again(law, rows);
  for (const auto& [clusters, log_v] : reference_.at("log_V").items()) {
    std::vector<std::size_t> sizes(std::stoul(clusters), 1);
    sizes.back() = rows - sizes.size() + 1;
    const double sigma = law.sigma.value_or(0.0);
    const double gammas = log_gamma(static_cast<double>(sizes.back()) - sigma) - log_gamma(1.0 - sigma);
    EXPECT_NEAR(written_again.log_probability(sizes) - gammas, log_v.get<double>(), 1e-8);
    if (!law.fixed) continue;  // the classes of the library have alpha as a number
    const std::vector<std::uint32_t> counts(sizes.begin(), sizes.end());
    const double ours = law.ngg ? Ngg(*law.fixed, sigma, rows).log_partition(counts)
                                : Crp(*law.fixed, rows).log_partition(counts);
    EXPECT_NEAR(ours - gammas, log_v.get<double>(), 1e-8);
  }
}

/// Cases in which no parameter is learned: their labels have a log joint that is a number.
class NrmmReferenceLabels : public NrmmReference {};

TEST_P(NrmmReferenceLabels, LogJointOfGivenLabels) {
  const nlohmann::json& given = reference_.at("labels_eval");
  const auto labels = given.at("labels").get<Labels>();
  SamplerChain chain(model_by_name("nrmm"), problem_->family(), problem_->rows, problem_->model_settings);
  chain.init({1, 0, 0});
  // A checkpoint begins with its format, alpha, sigma and log t and ends with the labels.
  std::string state = chain.sampler().save();
  const std::size_t size = labels.size() * sizeof(Label);
  state.replace(state.size() - size, size, reinterpret_cast<const char*>(labels.data()), size);
  if (problem_->law.ngg) {
    const double log_t = std::log(std::expm1(*problem_->law.sigma * std::log1p(given.at("u").get<double>())));
    state.replace(3 * sizeof(double), sizeof log_t, reinterpret_cast<const char*>(&log_t), sizeof log_t);
  }
  chain.sampler().load(state);
  Labels loaded(labels.size());
  chain.labels(loaded);
  ASSERT_EQ(loaded, labels);
  const double expected = given.at(problem_->law.ngg ? "log_joint_at_u" : "log_joint_u_integrated");
  EXPECT_NEAR(chain.sampler().log_joint(), expected, 1e-9);
  EXPECT_NEAR(chain.sampler().log_joint_from_scratch(), expected, 1e-9);
}

TEST_P(NrmmReference, SamplersAgree) {
  for (const Variant& variant : mixture_variants()) {
    Settings settings = settings_from(variant.settings);
    settings.insert(problem_->model_settings.begin(), problem_->model_settings.end());
    for (const std::uint64_t seed : test_seeds()) {
      SamplerChain chain(model_by_name("nrmm"), problem_->family(), problem_->rows, settings);
      const Agreement agreement = compare_chain(*exact_, chain, seed, scaled(kReferenceSweeps));
      EXPECT_TRUE(agreement.holds()) << variant.name << ", seed " << seed << ": " << agreement;
    }
  }
}

std::vector<std::string> mixture_cases() { return reference_cases("nrmm_posterior_", "nrmm_"); }

std::vector<std::string> mixture_cases_with_labels() {
  std::vector<std::string> cases = mixture_cases();
  std::erase_if(cases, [](const std::string& path) {
    std::ifstream in(path);
    return in && !nlohmann::json::parse(in).contains("labels_eval");
  });
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Cases, NrmmReference, ::testing::ValuesIn(mixture_cases()), CaseOfFile());
INSTANTIATE_TEST_SUITE_P(Cases, NrmmReferenceLabels, ::testing::ValuesIn(mixture_cases_with_labels()),
                         CaseOfFile());

}  // namespace
}  // namespace coppice::test
