// One step from the posterior stays in the posterior: partitions are drawn from the enumeration, each is
// given to a sampler, which takes a single step, and the law of the result is compared with the enumeration
// by chi-square. The draws are independent, so nothing about mixing enters: a kernel that is invariant but
// slow passes, one that is wrong does not, however well it mixes. The tail probability of one check
// is 5.7e-7; there are about a hundred.
#include <gtest/gtest.h>

#include "coppice/prior/concentration.hpp"
#include "coppice/prior/crp.hpp"
#include "laws/law_case.hpp"
#include "support/broken_chain.hpp"
#include "support/monte_carlo.hpp"
#include "support/variants.hpp"

namespace coppice::test {
namespace {

constexpr std::size_t kSteps = 40'000;
constexpr double kAlpha = 0.9;

class NrmmOneStep : public ::testing::TestWithParam<Variant> {};

TEST_P(NrmmOneStep, KeepsThePosterior) {
  Settings settings = settings_from(GetParam().settings);
  parse_assignment("alpha=0.9", settings);
  for (const LawCase& law_case : narrow_cases()) {
    SCOPED_TRACE(law_case.name);
    for (const std::uint64_t seed : test_seeds()) {
      const Fixture fixture(law_case, seed, 5);
      const ExactPosterior exact(fixture.family(), fixture.rows, {kAlpha});
      SamplerChain chain(model_by_name(GetParam().model), fixture.family(), fixture.rows, settings);
      chain.init({seed, 0, 0});
      // The labels are the last bytes of a checkpoint; shape() tells whether that is still so.
      const std::string state = chain.sampler().save();
      const std::size_t size = exact.rows() * sizeof(Label);
      std::vector<std::string> states;
      Labels labels(exact.rows());
      for (std::size_t i = 0; i < exact.size(); ++i) {
        states.push_back(state);
        states.back().replace(state.size() - size, size,
                              reinterpret_cast<const char*>(exact.partition(i).data()), size);
        chain.sampler().load(states.back());
        chain.labels(labels);
        ASSERT_EQ(labels, exact.partition(i));
      }
      Stream starts({seed, 0, 0}, Purpose::test);
      std::vector<double> counts(exact.size(), 0.0);
      for (std::size_t i = 1; i <= scaled(kSteps); ++i) {
        chain.sampler().load(states[draw_categorical(starts, exact.probabilities())]);
        chain.step({seed, 0, i});
        chain.labels(labels);
        counts[exact.index(labels)] += 1.0;
      }
      expect_frequencies(counts, exact.probabilities());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Samplers, NrmmOneStep, ::testing::ValuesIn(mixture_variants()),
                         [](const ::testing::TestParamInfo<Variant>& info) { return info.param.name; });

// The update of the concentration on its own: from alpha | K to alpha | K, against the density by quadrature.
TEST(NrmmOneStep, ConcentrationUpdateKeepsItsConditional) {
  constexpr double kShape = 2.0;
  constexpr double kRate = 1.5;
  constexpr std::size_t kRows = 12;
  for (const std::size_t clusters : {1u, 4u, 12u}) {
    std::vector<double> cumulative;
    std::vector<double> grid;
    double total = 0.0;
    constexpr double kStep = 1e-3;
    for (double alpha = kStep / 2; alpha < 40.0; alpha += kStep) {
      total += std::exp(GammaPrior{kShape, kRate}.log_density(alpha) +
                        static_cast<double>(clusters) * std::log(alpha) + log_gamma(alpha) -
                        log_gamma(alpha + kRows));
      cumulative.push_back(total);
      grid.push_back(alpha + kStep / 2);
    }
    const auto cdf = [&](double alpha) {
      const auto place = static_cast<std::size_t>(alpha / kStep);
      if (place >= cumulative.size()) return 1.0;
      const double before = place == 0 ? 0.0 : cumulative[place - 1];
      return (before + (cumulative[place] - before) * (alpha / kStep - static_cast<double>(place))) / total;
    };
    for (const std::uint64_t seed : test_seeds()) {
      Stream stream({seed, clusters, 0}, Purpose::test);
      std::vector<double> values;
      for (std::size_t i = 0; i < scaled(kSteps); ++i) {
        const double wanted = draw_uniform(stream) * total;
        const auto place =
            std::lower_bound(cumulative.begin(), cumulative.end(), wanted) - cumulative.begin();
        const double start = grid[static_cast<std::size_t>(place)] - kStep * draw_uniform(stream);
        values.push_back(update_concentration(stream, {kShape, kRate}, start, clusters, kRows));
      }
      expect_distribution(values, cdf);
    }
  }
}

}  // namespace
}  // namespace coppice::test
