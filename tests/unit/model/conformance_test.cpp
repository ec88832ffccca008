// What every model must keep, whatever it draws: over the list of models, every choice and flag of their
// parameter tables, and every family. The kept score equals the score from scratch after every step, labels
// are canonical, a saved and loaded sampler continues as if uninterrupted, degenerate data do no harm.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "coppice/base/error.hpp"
#include "coppice/model/new_cells.hpp"
#include "laws/law_case.hpp"
#include "support/variants.hpp"

namespace coppice::test {
namespace {

/// A model, in one of its variants, on data.
struct Fitted {
  Fitted(const Variant& variant, const Family& family, const Rows& rows)
      : model(model_by_name(variant.model)),
        problem{&family, &rows, ParameterValues(model.parameters, settings_from(variant.settings))},
        sampler(model.make_inference(problem)) {}

  std::size_t levels() const { return model.levels(problem.parameters); }
  Labels labels() const {
    Labels labels(levels() * problem.rows->size());
    sampler->labels(labels);
    return labels;
  }
  std::vector<double> traces() const {
    std::vector<double> values(model.traces(problem.parameters).size());
    sampler->traces(values);
    return values;
  }

  const ModelEntry& model;
  Problem problem;
  std::unique_ptr<Inference> sampler;
};

std::vector<LawCase> cases_of(const Variant& variant) {
  std::vector<LawCase> cases = law_cases();
  std::erase_if(cases, [&](const LawCase& law_case) {
    return !works_with(variant, Fixture(law_case, 1, 20).family());
  });
  return cases;
}

void expect_consistent(const Fitted& fitted) {
  const double kept = fitted.sampler->log_joint();
  const double scratch = fitted.sampler->log_joint_from_scratch();
  ASSERT_TRUE(std::isfinite(scratch));
  ASSERT_NEAR(kept, scratch, relative(1e-8, scratch));
  const Labels labels = fitted.labels();
  const std::size_t rows = fitted.problem.rows->size();
  for (std::size_t level = 0; level < fitted.levels(); ++level) {
    const auto begin = labels.begin() + static_cast<std::ptrdiff_t>(level * rows);
    const Labels one(begin, begin + static_cast<std::ptrdiff_t>(rows));
    Labels canonical = one;
    canonicalize(canonical);
    ASSERT_EQ(one, canonical);
    if (level == 0) continue;
    // A finer level splits clusters of the coarser one and never joins rows of two.
    std::map<Label, Label> parent;
    for (std::size_t row = 0; row < rows; ++row) {
      const Label coarse = labels[(level - 1) * rows + row];
      ASSERT_EQ(parent.try_emplace(one[row], coarse).first->second, coarse);
    }
  }
  for (const double value : fitted.traces()) ASSERT_TRUE(std::isfinite(value));
  const std::unique_ptr<Predictor> predictor = fitted.model.make_predictor(fitted.problem);
  ASSERT_EQ(dynamic_cast<const NewCells*>(predictor.get()) != nullptr, fitted.model.has_new_cells());
}

class Conformance : public ::testing::TestWithParam<Variant> {};

TEST_P(Conformance, KeptScoreIsTheScoreFromScratch) {
  for (const LawCase& law_case : cases_of(GetParam())) {
    SCOPED_TRACE(law_case.name);
    const Fixture fixture(law_case, 1, 24);
    Fitted fitted(GetParam(), fixture.family(), fixture.rows);
    fitted.sampler->init({1, 0, 0});
    ASSERT_NO_FATAL_FAILURE(expect_consistent(fitted));
    for (std::size_t sweep = 1; sweep <= 40; ++sweep) {
      fitted.sampler->step({1, 0, sweep});
      ASSERT_NO_FATAL_FAILURE(expect_consistent(fitted)) << "after sweep " << sweep;
    }
  }
}

TEST_P(Conformance, SaveAndLoadGoOnIdentically) {
  for (const LawCase& law_case : cases_of(GetParam())) {
    SCOPED_TRACE(law_case.name);
    const Fixture fixture(law_case, 2, 20);
    Fitted first(GetParam(), fixture.family(), fixture.rows);
    first.sampler->init({2, 0, 0});
    for (std::size_t sweep = 1; sweep <= 7; ++sweep) first.sampler->step({2, 0, sweep});
    first.sampler->rebuild();
    const std::string state = first.sampler->save();
    Fitted second(GetParam(), fixture.family(), fixture.rows);
    second.sampler->init({99, 3, 0});  // whatever it held before must not matter
    second.sampler->load(state);
    EXPECT_EQ(second.sampler->save(), state);
    for (std::size_t sweep = 8; sweep <= 20; ++sweep) {
      first.sampler->step({2, 0, sweep});
      second.sampler->step({2, 0, sweep});
      ASSERT_EQ(first.labels(), second.labels()) << "sweep " << sweep;
      ASSERT_EQ(first.traces(), second.traces()) << "sweep " << sweep;
    }
    const auto moves_first = first.sampler->moves();
    const auto moves_second = second.sampler->moves();
    ASSERT_EQ(moves_first.size(), moves_second.size());
    for (std::size_t i = 0; i < moves_first.size(); ++i) {
      EXPECT_EQ(moves_first[i].proposed, moves_second[i].proposed);
      EXPECT_EQ(moves_first[i].accepted, moves_second[i].accepted);
      EXPECT_LE(moves_first[i].accepted, moves_first[i].proposed);
    }
  }
}

TEST_P(Conformance, RebuildTwiceIsRebuildOnce) {
  const Fixture fixture(cases_of(GetParam()).front(), 3, 30);
  Fitted fitted(GetParam(), fixture.family(), fixture.rows);
  fitted.sampler->init({3, 0, 0});
  for (std::size_t sweep = 1; sweep <= 10; ++sweep) {
    fitted.sampler->step({3, 0, sweep});
    const Labels before = fitted.labels();
    fitted.sampler->rebuild();
    EXPECT_EQ(fitted.labels(), before);
    const std::string state = fitted.sampler->save();
    const std::vector<double> traces = fitted.traces();
    fitted.sampler->rebuild();
    EXPECT_EQ(fitted.sampler->save(), state);
    EXPECT_EQ(fitted.traces(), traces);
  }
}

TEST_P(Conformance, DamagedCheckpointsAreRefused) {
  const Fixture fixture(cases_of(GetParam()).front(), 3, 12);
  Fitted fitted(GetParam(), fixture.family(), fixture.rows);
  fitted.sampler->init({3, 0, 0});
  const std::string state = fitted.sampler->save();
  const auto expect_refused = [&](const std::string& bytes, const std::string& what) {
    try {
      fitted.sampler->load(bytes);
      ADD_FAILURE() << what << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_data) << what;
    }
  };
  expect_refused("", "an empty checkpoint");
  expect_refused(state.substr(0, state.size() - 1), "a short checkpoint");
  expect_refused(state + "x", "a long checkpoint");
  std::string wrong = state;
  wrong.replace(wrong.size() - 4, 4, "\xff\xff\xff\x7f");
  expect_refused(wrong, "a label out of range");
}

TEST_P(Conformance, SameNameSameDraws) {
  const Fixture fixture(cases_of(GetParam()).front(), 4, 25);
  std::set<std::vector<double>> different;
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    Fitted first(GetParam(), fixture.family(), fixture.rows);
    Fitted second(GetParam(), fixture.family(), fixture.rows);
    for (Fitted* fitted : {&first, &second}) {
      fitted->sampler->init({seed, 1, 0});
      for (std::size_t sweep = 1; sweep <= 5; ++sweep) fitted->sampler->step({seed, 1, sweep});
    }
    EXPECT_EQ(first.labels(), second.labels());
    EXPECT_EQ(first.traces(), second.traces());
    different.insert(first.traces());
  }
  if (!model_by_name(GetParam().model).runs_once()) {
    EXPECT_GT(different.size(), 1u) << "the seed does nothing";
  }
}

TEST_P(Conformance, PriorAndDataDrawsAreTakenIn) {
  Fixture fixture(cases_of(GetParam()).front(), 5, 15);
  Fitted fitted(GetParam(), fixture.family(), fixture.rows);
  for (std::uint64_t i = 0; i < 20; ++i) {
    fitted.sampler->draw_prior({5, 0, i});
    const Labels drawn = fitted.labels();
    fitted.sampler->draw_data({5, 0, i}, fixture.rows);
    EXPECT_EQ(fitted.labels(), drawn) << "new data must not change the shape";
    ASSERT_NO_FATAL_FAILURE(expect_consistent(fitted));
    fitted.sampler->step({5, 0, i});
    ASSERT_NO_FATAL_FAILURE(expect_consistent(fitted));
  }
}

struct Degenerate {
  std::string name;
  std::string family;
  Kind kind;
  std::size_t columns;
  std::vector<double> cells;  // row by row
};

std::vector<Degenerate> degenerate_tables() {
  return {
      {"one row", "gaussian-diagonal", Kind::real, 2, {1.5, -2.0}},
      {"one row, full covariance", "gaussian", Kind::real, 2, {1.5, -2.0}},
      {"one binary row", "bernoulli", Kind::binary, 3, {0, 1, 0}},
      {"two rows", "gaussian", Kind::real, 1, {1.0, 4.0}},
      {"two equal rows", "gaussian-diagonal", Kind::real, 1, {1.0, 1.0}},
      {"identical rows", "gaussian", Kind::real, 2, {3, 4, 3, 4, 3, 4, 3, 4, 3, 4, 3, 4}},
      {"identical rows, diagonal", "gaussian-diagonal", Kind::real, 2, {3, 4, 3, 4, 3, 4, 3, 4}},
      {"a constant column", "gaussian", Kind::real, 2, {7, 1, 7, 2, 7, 3, 7, -4, 7, 5}},
      {"a constant column, diagonal", "gaussian-diagonal", Kind::real, 2, {7, 1, 7, 2, 7, 3, 7, -4, 7, 5}},
      {"zeros only", "bernoulli", Kind::binary, 2, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
      {"zeros only, counts", "poisson", Kind::count, 2, {0, 0, 0, 0, 0, 0, 0, 0}},
      {"zeros only, words", "multinomial", Kind::count, 2, {0, 0, 0, 0, 0, 0, 0, 0}},
      {"a column without a cell",
       "gaussian-diagonal",
       Kind::real,
       2,
       {1, kMissing, 2, kMissing, 5, kMissing, 6, kMissing}},
      {"far out", "gaussian", Kind::real, 1, {0, 0.1, -0.1, 0.2, 1e9}},
      {"tiny unit", "gaussian-diagonal", Kind::real, 1, {1e-12, 2e-12, 9e-12, 1e-11}}};
}

TEST_P(Conformance, DegenerateData) {
  for (const Degenerate& degenerate : degenerate_tables()) {
    if (!works_with(GetParam(), degenerate.family)) continue;
    SCOPED_TRACE(degenerate.name);
    Table table;
    const std::size_t rows = degenerate.cells.size() / degenerate.columns;
    for (std::size_t i = 0; i < rows; ++i) table.row_ids.push_back(std::to_string(i));
    for (std::size_t j = 0; j < degenerate.columns; ++j) {
      Column column{std::string(1, static_cast<char>('a' + j)), degenerate.kind, {}, {}};
      for (std::size_t i = 0; i < rows; ++i)
        column.values.push_back(degenerate.cells[i * degenerate.columns + j]);
      table.columns.push_back(column);
    }
    const FamilyPlan plan = plan_family(table, {}, degenerate.family, {});
    const Rows encoded = encode(plan, table);
    Fitted fitted(GetParam(), *plan.family, encoded);
    fitted.sampler->init({6, 0, 0});
    for (std::size_t sweep = 1; sweep <= 200; ++sweep) {
      ASSERT_NO_FATAL_FAILURE(expect_consistent(fitted)) << "before sweep " << sweep;
      fitted.sampler->step({6, 0, sweep});
    }
    if (rows == 1) {
      EXPECT_EQ(fitted.labels()[0], 0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Conformance, ::testing::ValuesIn(all_variants()),
                         [](const ::testing::TestParamInfo<Variant>& info) { return info.param.name; });

}  // namespace
}  // namespace coppice::test
