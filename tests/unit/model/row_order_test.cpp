// The posterior does not know the order of the rows: co-clustering of a table and of the same table with its
// rows permuted agree within Monte Carlo error, for every model of the list.
#include <gtest/gtest.h>

#include <numeric>

#include "laws/law_case.hpp"
#include "support/variants.hpp"

namespace coppice::test {
namespace {

constexpr std::size_t kOrderedRows = 8;
constexpr std::size_t kSweeps = 4'000;

/// together[a * kOrderedRows + b][draw], in the order of the original rows, at the finest level.
std::vector<std::vector<double>> run(const Variant& variant, const Family& family, const Rows& rows,
                                     const std::vector<std::uint32_t>& original, std::uint64_t chain) {
  const ModelEntry& model = model_by_name(variant.model);
  const Problem problem{&family, &rows, ParameterValues(model.parameters, settings_from(variant.settings))};
  const std::unique_ptr<Inference> sampler = model.make_inference(problem);
  std::vector<std::vector<double>> together(kOrderedRows * kOrderedRows);
  const std::size_t levels = model.levels(problem.parameters);
  Labels labels(levels * kOrderedRows);
  sampler->init({1, chain, 0});
  const std::size_t sweeps = scaled(kSweeps);
  for (std::size_t sweep = 1; sweep <= 200 + sweeps; ++sweep) {
    sampler->step({1, chain, sweep});
    if (sweep <= 200) continue;
    sampler->labels(labels);
    const Label* finest = labels.data() + (levels - 1) * kOrderedRows;
    for (std::size_t a = 0; a < kOrderedRows; ++a)
      for (std::size_t b = 0; b < a; ++b) {
        const std::size_t row = std::max(original[a], original[b]);
        const std::size_t other = std::min(original[a], original[b]);
        together[row * kOrderedRows + other].push_back(finest[a] == finest[b] ? 1.0 : 0.0);
      }
  }
  return together;
}

class RowOrder : public ::testing::TestWithParam<Variant> {};

TEST_P(RowOrder, DoesNotMatter) {
  for (const char* name : {"gaussian_2", "mixed"}) {
    for (const LawCase& law_case : narrow_cases()) {
      if (law_case.name != name) continue;
      const Fixture fixture(law_case, 1, kOrderedRows);
      if (!works_with(GetParam(), fixture.family())) continue;
      std::vector<std::uint32_t> original(kOrderedRows);
      std::iota(original.begin(), original.end(), 0U);
      const auto as_given = run(GetParam(), fixture.family(), fixture.rows, original, 0);
      Stream stream({1, 0, 0}, Purpose::test);
      shuffle(stream, original);
      Rows permuted = fixture.rows;
      for (std::size_t row = 0; row < kOrderedRows; ++row)
        std::copy_n(fixture.rows[original[row]], permuted.width, permuted[row]);
      const auto shuffled = run(GetParam(), fixture.family(), permuted, original, 1);
      Agreement agreement;
      for (std::size_t pair = 0; pair < as_given.size(); ++pair) {
        if (as_given[pair].empty()) continue;
        const Estimate a = batch_estimate(as_given[pair]);
        const Estimate b = batch_estimate(shuffled[pair]);
        agreement.check(
            "rows " + std::to_string(pair / kOrderedRows) + ", " + std::to_string(pair % kOrderedRows),
            {b.mean, std::hypot(a.error, b.error)}, a.mean);
      }
      EXPECT_TRUE(agreement.holds()) << name << ": " << agreement;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, RowOrder, ::testing::ValuesIn(sampler_variants()),
                         [](const ::testing::TestParamInfo<Variant>& info) { return info.param.name; });

}  // namespace
}  // namespace coppice::test
