// Geweke's joint-distribution test. Shape, concentration and data are drawn in two ways: afresh from prior
// and model each time; and by a chain that alternates one sweep of the sampler given the data with new data
// given the shape. Both have the same law if and only if the sampler leaves the posterior invariant for the
// data the model makes. Compared are thirteen averages (seventeen for the generalized gamma process) for each
// of about seventy pairs of family and sampler, some 950 checks; at |z| < 4 a correct program would show 950
// x 6.3e-5 = 0.06 false alarms for a new seed, and the seed is fixed. When seeds are asked for, the limit is
// the one of sampling_error.hpp: one false alarm in a hundred runs, whatever the number of seeds
// (Bonferroni).
#include <gtest/gtest.h>

#include <functional>

#include "laws/law_case.hpp"
#include "support/broken_chain.hpp"
#include "support/variants.hpp"

namespace coppice::test {
namespace {

constexpr std::size_t kNrmmRows = 8;
constexpr std::size_t kNrmmDraws = 20'000;

double z_limit() { return bonferroni_limit(4.0, 950.0); }

const std::vector<std::string>& functional_names() {
  static const std::vector<std::string> names{"clusters",
                                              "largest cluster",
                                              "singletons",
                                              "log alpha",
                                              "rows 0, 1 together",
                                              "first moment",
                                              "second moment",
                                              "product of rows 0, 1",
                                              "difference of rows 0, 1",
                                              "difference, together",
                                              "first x clusters",
                                              "second x clusters",
                                              "log alpha x clusters",
                                              "sigma",
                                              "log t",
                                              "sigma x clusters",
                                              "log t x clusters"};
  return names;
}

/// Averages that exist whatever the tails of the data: cells enter as x / (scale + |x|), which for binary and
/// category columns is a relabeling of the values.
class Functionals {
 public:
  explicit Functionals(const Rows& rows) : scale_(1e-9), columns_(functional_names().size()) {
    double count = 0.0;
    for (const double cell : rows.cells)
      if (!is_missing(cell)) {
        scale_ += std::abs(cell);
        count += 1.0;
      }
    scale_ /= count;
  }

  void record(const TestChain& chain, const Rows& rows) {
    Labels labels(rows.size());
    chain.labels(labels);
    const std::vector<std::size_t> sizes = cluster_sizes(labels);
    const double clusters = static_cast<double>(sizes.size());
    const std::map<std::string, double> parameters = chain.parameters();
    const double log_alpha = std::log(parameters.at("alpha"));
    const double sigma = parameters.contains("sigma") ? parameters.at("sigma") : 0.0;
    const double log_t =
        parameters.contains("log_u") ? std::log(std::expm1(sigma * log1p_exp(parameters.at("log_u")))) : 0.0;
    double first = 0.0;
    double second = 0.0;
    for (const double cell : rows.cells) {
      first += bounded(cell) / static_cast<double>(rows.cells.size());
      second += bounded(cell) * bounded(cell) / static_cast<double>(rows.cells.size());
    }
    const double x = bounded(rows[0][0]);
    const double y = bounded(rows[1][0]);
    const double together = labels[0] == labels[1] ? 1.0 : 0.0;
    const double values[] = {clusters,
                             static_cast<double>(*std::max_element(sizes.begin(), sizes.end())),
                             static_cast<double>(std::count(sizes.begin(), sizes.end(), 1)),
                             log_alpha,
                             together,
                             first,
                             second,
                             x * y,
                             std::abs(x - y),
                             together * std::abs(x - y),
                             first * clusters,
                             second * clusters,
                             log_alpha * clusters,
                             sigma,
                             log_t,
                             sigma * clusters,
                             log_t * clusters};
    for (std::size_t i = 0; i < columns_.size(); ++i) columns_[i].push_back(values[i]);
  }
  const std::vector<std::vector<double>>& columns() const { return columns_; }

 private:
  double bounded(double cell) const { return cell / (scale_ + std::abs(cell)); }
  double scale_;
  std::vector<std::vector<double>> columns_;
};

/// The worst |z| over all functionals. Both chains write into `rows`, the rows of their problem.
Agreement geweke(const std::function<std::unique_ptr<TestChain>()>& make_chain, Rows& rows,
                 std::uint64_t seed, std::size_t draws) {
  Functionals fresh(rows);
  Functionals successive = fresh;
  const std::unique_ptr<TestChain> prior = make_chain();
  for (std::size_t i = 0; i < draws; ++i) {
    prior->draw_prior({seed, 1, i});
    prior->draw_data({seed, 1, i}, rows);
    fresh.record(*prior, rows);
  }
  const std::unique_ptr<TestChain> chain = make_chain();
  chain->draw_prior({seed, 2, 0});
  chain->draw_data({seed, 2, 0}, rows);
  for (std::size_t i = 1; i <= draws; ++i) {
    chain->step({seed, 2, i});
    chain->draw_data({seed, 2, i}, rows);
    successive.record(*chain, rows);
  }
  Agreement agreement;
  for (std::size_t i = 0; i < functional_names().size(); ++i) {
    const Estimate a = batch_estimate(fresh.columns()[i]);
    const Estimate b = batch_estimate(successive.columns()[i]);
    agreement.check(functional_names()[i], {b.mean, std::hypot(a.error, b.error)}, a.mean);
  }
  return agreement;
}

struct Chosen {
  std::size_t law_case;
  std::size_t variant;
};

/// Redrawn data have no missing cells, so the cases are used without any.
LawCase complete_case(std::size_t index) {
  LawCase law_case = narrow_cases()[index];
  law_case.missing = 0.0;
  return law_case;
}

std::vector<Variant> nrmm_variants() {
  std::vector<Variant> list;
  for (Variant& variant : mixture_variants())
    if (variant.name == "gibbs" || variant.name == "sequential_1_gibbs" || variant.name == "random_2_alone" ||
        variant.name == "tree_guided")
      list.push_back(std::move(variant));
  list.push_back(data_parallel_variants()[1]);
  return list;
}

std::vector<Chosen> all_chosen() {
  std::vector<Chosen> list;
  for (std::size_t law_case = 0; law_case < narrow_cases().size(); ++law_case)
    for (std::size_t variant = 0; variant < nrmm_variants().size(); ++variant)
      list.push_back({law_case, variant});
  return list;
}

void expect_same_law(const Chosen& chosen, const std::vector<std::string>& prior, std::size_t draws) {
  const Variant variant = nrmm_variants()[chosen.variant];
  Settings settings = settings_from(variant.settings);
  for (const std::string& setting : prior) parse_assignment(setting, settings);
  for (const std::uint64_t seed : test_seeds()) {
    Fixture fixture(complete_case(chosen.law_case), seed, kNrmmRows);
    const auto make_chain = [&]() -> std::unique_ptr<TestChain> {
      return std::make_unique<SamplerChain>(model_by_name(variant.model), fixture.family(), fixture.rows,
                                            settings);
    };
    const Agreement agreement = geweke(make_chain, fixture.rows, seed, scaled(draws));
    EXPECT_LT(agreement.worst, z_limit()) << "seed " << seed << ": " << agreement;
  }
}

class NrmmGeweke : public ::testing::TestWithParam<Chosen> {};

TEST_P(NrmmGeweke, BothWaysHaveTheSameLaw) {
  expect_same_law(GetParam(), {"alpha-prior=[2, 1.5]"}, kNrmmDraws);
}

INSTANTIATE_TEST_SUITE_P(Families, NrmmGeweke, ::testing::ValuesIn(all_chosen()),
                         [](const ::testing::TestParamInfo<Chosen>& info) {
                           return narrow_cases()[info.param.law_case].name + "_" +
                                  nrmm_variants()[info.param.variant].name;
                         });

/// What the processes do differently has nothing to do with families: every sampler on three of them.
std::vector<Chosen> ngg_chosen() {
  std::vector<Chosen> list;
  for (std::size_t law_case = 0; law_case < narrow_cases().size(); law_case += 5)
    for (std::size_t variant = 0; variant < nrmm_variants().size(); ++variant)
      list.push_back({law_case, variant});
  return list;
}

class NrmmNggGeweke : public ::testing::TestWithParam<Chosen> {};

TEST_P(NrmmNggGeweke, BothWaysHaveTheSameLaw) {
  expect_same_law(GetParam(), {"process=\"ngg\"", "alpha-prior=[2, 1.5]", "sigma-prior=[2, 3]"},
                  kNrmmDraws / 2);
}

INSTANTIATE_TEST_SUITE_P(Families, NrmmNggGeweke, ::testing::ValuesIn(ngg_chosen()),
                         [](const ::testing::TestParamInfo<Chosen>& info) {
                           return narrow_cases()[info.param.law_case].name + "_" +
                                  nrmm_variants()[info.param.variant].name;
                         });

class NrmmGewekeMistakes : public ::testing::TestWithParam<Mistake> {};

TEST_P(NrmmGewekeMistakes, AreNoticed) {
  const Mistake mistake = GetParam();
  for (const std::uint64_t seed : test_seeds()) {
    Fixture fixture({"mistakes", "gaussian-diagonal", {{Kind::real}, {Kind::real}}}, 1, kNrmmRows);
    const auto make_chain = [&]() -> std::unique_ptr<TestChain> {
      return std::make_unique<BrokenChain>(fixture.family(), fixture.rows, MixtureLaw{std::nullopt, 2.0, 1.5},
                                           mistake);
    };
    // Not scaled down: the power to notice is what is tested. Ten per cent is the hardest and gets more
    // draws.
    const std::size_t draws = mistake == Mistake::new_cluster_10_percent ? 5 * kNrmmDraws : kNrmmDraws;
    const Agreement agreement = geweke(make_chain, fixture.rows, seed, draws);
    EXPECT_EQ(agreement.worst < z_limit(), is_correct(mistake)) << "seed " << seed << ": " << agreement;
    print_mistake(mistake, agreement);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, NrmmGewekeMistakes, ::testing::ValuesIn(all_mistakes()),
                         [](const ::testing::TestParamInfo<Mistake>& info) {
                           return mistake_name(info.param);
                         });

}  // namespace
}  // namespace coppice::test
