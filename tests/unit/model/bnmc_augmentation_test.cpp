// The laws of the experts' augmentations against numbers of other programs: moments, transform and
// distribution function of Polya-Gamma draws, and the identities that make both likelihoods mixtures of
// normal ones.
#include <gtest/gtest.h>

#include <cmath>

#include "coppice/base/polya_gamma.hpp"
#include "support/reference_files.hpp"

namespace coppice::bnmc {
namespace {

using test::read_reference;

constexpr std::size_t kDraws = 100'000;

class BnmcPolyaGamma : public ::testing::TestWithParam<std::string> {};

TEST_P(BnmcPolyaGamma, MomentsTransformAndDraws) {
  const nlohmann::json reference = read_reference(GetParam());
  std::uint64_t site = 0;
  for (const nlohmann::json& law : reference.at("result").at("pg")) {
    const double c = law.at("c");
    EXPECT_NEAR(polya_gamma_mean(c), law.at("mean").get<double>(), 1e-14);
    EXPECT_NEAR(polya_gamma_variance(c), law.at("var").get<double>(), 1e-14);
    for (const auto& [s, value] : law.at("laplace").items())
      EXPECT_NEAR(polya_gamma_laplace(c, std::stod(s)), value.at("closed").get<double>(), 1e-13);
    Stream stream({31, 0, 0}, Purpose::test, ++site);
    std::vector<double> draws(kDraws);
    for (double& x : draws) x = draw_polya_gamma(stream, c);
    for (const auto& [at, value] : law.at("cdf").items()) {
      const double point = std::stod(at);
      const double expected = value.get<double>();
      const auto below = static_cast<double>(
          std::count_if(draws.begin(), draws.end(), [&](double x) { return x <= point; }));
      const double error = std::sqrt(expected * (1.0 - expected) / static_cast<double>(kDraws));
      EXPECT_NEAR(below / static_cast<double>(kDraws), expected, 4.0 * error) << c << " " << at;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, BnmcPolyaGamma, ::testing::ValuesIn(test::reference_cases("bnmc_pg")),
                         test::CaseOfFile());

class BnmcIdentities : public ::testing::TestWithParam<std::string> {};

TEST_P(BnmcIdentities, MakeMixturesOfNormals) {
  const nlohmann::json reference = read_reference(GetParam());
  for (const nlohmann::json& point : reference.at("result").at("logistic")) {
    const double psi = point.at("psi");
    const double kappa = point.at("y").get<double>() - 0.5;
    EXPECT_NEAR(0.5 * std::exp(kappa * psi) * polya_gamma_laplace(0.0, 0.5 * psi * psi),
                point.at("closed").get<double>(), 1e-13);
  }
  // Given u, 1 / lambda is inverse Gaussian with mean 1 / |u|.
  std::uint64_t site = 0;
  for (const nlohmann::json& point : reference.at("result").at("hinge")) {
    const double u = point.at("u");
    Stream stream({32, 0, 0}, Purpose::test, ++site);
    double sum = 0.0;
    double squares = 0.0;
    for (std::size_t i = 0; i < kDraws; ++i) {
      const double lambda = 1.0 / draw_inverse_gaussian(stream, 1.0 / std::abs(u));
      sum += lambda;
      squares += lambda * lambda;
    }
    const double n = static_cast<double>(kDraws);
    const double error = std::sqrt((squares / n - sum * sum / n / n) / n);
    EXPECT_NEAR(sum / n, point.at("mean_lambda_closed").get<double>(), 4.0 * error) << u;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, BnmcIdentities, ::testing::ValuesIn(test::reference_cases("bnmc_identities")),
                         test::CaseOfFile());

}  // namespace
}  // namespace coppice::bnmc
