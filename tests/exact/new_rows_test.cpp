// Rows that predictors draw: each pattern of a binary row as often as its density says.
#include <gtest/gtest.h>

#include "coppice/model/new_cells.hpp"
#include "coppice/model/registry.hpp"
#include "laws/law_case.hpp"
#include "support/bhc_law.hpp"
#include "support/chains.hpp"

namespace coppice::test {
namespace {

class NewRows : public ::testing::TestWithParam<const char*> {};

TEST_P(NewRows, AreDrawnFromTheirDensity) {
  const Fixture fixture(
      {"binary", "bernoulli", std::vector<CaseColumn>(4, {Kind::binary}), {"a=0.3", "b=0.4"}, 0.1}, 3, 7);
  const ModelEntry& model = model_by_name(GetParam());
  const Problem problem{&fixture.family(), &fixture.rows, ParameterValues(model.parameters, {})};
  const std::unique_ptr<Inference> sampler = model.make_inference(problem);
  sampler->init({4, 0, 0});
  for (std::size_t step = 1; step <= 40 && !sampler->finished(); ++step) sampler->step({4, 0, step});
  sampler->rebuild();
  Labels labels(fixture.rows.size());
  std::vector<double> traces(model.traces(problem.parameters).size());
  sampler->labels(labels);
  sampler->traces(traces);
  const std::unique_ptr<Predictor> predictor = model.make_predictor(problem);
  predictor->set_draw(labels, traces, sampler->payload());
  constexpr std::size_t kDraws = 40'000;
  std::vector<double> counts(16, 0.0);
  for (std::size_t draw = 0; draw < kDraws; ++draw) {
    Stream stream({1, 0, draw}, Purpose::prior_data);
    double row[4];
    new_cells_of(*predictor).draw_row(stream, row);
    std::size_t pattern = 0;
    for (std::size_t cell = 0; cell < 4; ++cell) pattern |= row[cell] != 0.0 ? std::size_t{1} << cell : 0;
    counts[pattern] += 1.0;
  }
  for (std::size_t pattern = 0; pattern < counts.size(); ++pattern) {
    double row[4];
    for (std::size_t cell = 0; cell < 4; ++cell) row[cell] = static_cast<double>(pattern >> cell & 1);
    const double p = std::exp(log_density(*predictor, row));
    // 64 comparisons: 4.5 errors are passed by chance once in 2,000 seeds.
    const double error = std::sqrt(p * (1.0 - p) / kDraws);
    EXPECT_NEAR(counts[pattern] / kDraws, p, 4.5 * error) << "pattern " << pattern;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, NewRows, ::testing::Values("bhc", "bhcc", "crosscat", "nrmm"));

}  // namespace
}  // namespace coppice::test
