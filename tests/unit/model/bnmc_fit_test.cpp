// The classifier as a whole: a saved fit resumes bit for bit from any step, threads change nothing, every way
// to combine the experts learns an easy problem, and degenerate data do no harm.
#include <gtest/gtest.h>

#include <cmath>

#include "coppice/base/error.hpp"
#include "support/chains.hpp"

namespace coppice {
namespace {

/// Two kinds of documents; the first three labels follow the kind, the last one a single word.
LabeledRows documents(std::size_t rows, double missing, std::uint64_t seed) {
  Stream stream({seed, 0, 0}, Purpose::test);
  Table features;
  Table labels;
  for (int d = 0; d < 6; ++d) features.columns.push_back({fmt::format("w{}", d), Kind::count, {}, {}});
  for (int c = 0; c < 4; ++c) labels.columns.push_back({fmt::format("l{}", c), Kind::binary, {}, {}});
  for (std::size_t i = 0; i < rows; ++i) {
    features.row_ids.push_back(fmt::format("{}", i));
    labels.row_ids.push_back(fmt::format("{}", i));
    const bool kind = i % 2 == 0;
    for (std::size_t d = 0; d < 6; ++d)
      features.columns[d].values.push_back(
          static_cast<double>(draw_poisson(stream, kind == (d < 3) ? 4.0 : 0.5)));
    for (std::size_t c = 0; c < 4; ++c) {
      const double p =
          c < 3 ? (kind == (c < 2) ? 0.95 : 0.05) : (features.columns[5].values[i] > 2.0 ? 0.95 : 0.05);
      const double y = draw_uniform(stream) < p ? 1.0 : 0.0;
      labels.columns[c].values.push_back(draw_uniform(stream) < missing ? kMissing : y);
    }
  }
  return labeled_rows(features, labels);
}

struct Fitting {
  Fitting(const LabeledRows& rows, const std::vector<std::string>& settings, std::size_t threads = 1) {
    std::vector<std::string> all{"truncation=8", "restarts=2"};
    all.insert(all.end(), settings.begin(), settings.end());
    problem.labeled = &rows;
    problem.parameters = ParameterValues(entry.parameters, test::settings_from(all));
    sampler = entry.make_inference(problem);
    sampler->use_threads(threads);
  }
  std::size_t finish(std::size_t step = 0) {
    while (!sampler->finished()) sampler->step({3, 0, ++step});
    return step;
  }
  const ModelEntry& entry = model_by_name("bnmc");
  Problem problem;
  std::unique_ptr<Inference> sampler;
};

TEST(BnmcFit, GoesOnBitForBitFromAnyStep) {
  const LabeledRows rows = documents(40, 0.1, 1);
  for (const std::vector<std::string>& settings : {std::vector<std::string>{},
                                                   {"minibatch=16", "epochs=2", "combine=\"stack\""},
                                                   {"grow=true", "truncation=2", "restarts=1"},
                                                   {"covariance=\"diagonal\"", "calibration=2"}}) {
    Fitting whole(rows, settings);
    whole.sampler->init({3, 0, 0});
    std::vector<std::string> states{whole.sampler->save()};
    std::size_t step = 0;
    while (!whole.sampler->finished()) {
      whole.sampler->step({3, 0, ++step});
      states.push_back(whole.sampler->save());
    }
    EXPECT_LE(step, whole.entry.max_steps(whole.problem));
    for (std::size_t at = 0; at < states.size(); at += 1 + states.size() / 9) {
      Fitting other(rows, settings, 2);
      other.sampler->load(states[at]);
      ASSERT_EQ(other.sampler->save(), states[at]);
      EXPECT_EQ(other.finish(at), step);
      EXPECT_EQ(other.sampler->payload(), whole.sampler->payload()) << "from step " << at;
    }
  }
}

TEST(BnmcFit, LearnsAnEasyProblemInEveryWay) {
  const LabeledRows rows = documents(150, 0.1, 2);
  const LabeledRows fresh = documents(100, 0.0, 3);
  for (const std::vector<std::string>& settings :
       {std::vector<std::string>{},
        {"combine=\"mixture\""},
        {"combine=\"product\"", "inputs=\"features\""},
        {"combine=\"linear\"", "expert=\"svm\""},
        {"combine=\"logit\"", "label-model=\"bernoulli\""},
        {"combine=\"stack\"", "expert-method=\"map\""},
        {"combine=\"stack\"", "features=\"gaussian\"", "covariance=\"diagonal\"", "inputs=\"features\""},
        {"inputs=\"both\"", "topics=4"},
        {"expert-method=\"gibbs\"", "label-model=\"bernoulli\"", "calibration=0", "combine=\"logit\""},
        {"expert-method=\"svi\"", "minibatch=32", "label-scale=\"labeled\""},
        {"threshold=\"at-least-one\""},
        {"cluster-posterior=\"variational\""},
        {"expert=\"none\"", "threshold=\"macro\"", "grow=true", "truncation=2"}}) {
    SCOPED_TRACE(settings.empty() ? "defaults" : settings.front());
    Fitting run(rows, settings);
    run.sampler->init({3, 0, 0});
    run.finish();
    const auto classifier = run.entry.make_classifier(run.problem, run.sampler->payload());
    double right = 0.0;
    for (std::size_t row = 0; row < fresh.features.rows(); ++row) {
      const LabelPrediction prediction = classifier->predict(fresh.features, row);
      std::vector<bool> truth(4, false);
      for (const std::uint32_t label : fresh.labels.columns_of(row)) truth[label] = true;
      for (std::size_t c = 0; c < 3; ++c) right += prediction.chosen[c] == truth[c] ? 1.0 / 300.0 : 0.0;
      double total = 0.0;
      for (const double p : prediction.clusters) total += p;
      EXPECT_NEAR(total, 1.0, 1e-9);
      for (const double p : prediction.probabilities) EXPECT_TRUE(p >= 0.0 && p <= 1.0) << p;
    }
    // The labels follow the kind in 95 of 100 rows.
    EXPECT_GT(right, 0.85);
  }
}

/// The first rows, without the features and labels that come last.
LabeledRows beginning(const LabeledRows& rows, std::size_t count, std::size_t features, std::size_t labels) {
  LabeledRows result;
  const auto cut = [&](const SparseRows& from, std::size_t columns, SparseRows& to) {
    to.columns = columns;
    for (std::size_t row = 0; row < count; ++row) {
      for (std::size_t i = 0; i < from.columns_of(row).size(); ++i) {
        if (from.columns_of(row)[i] >= columns) continue;
        to.column.push_back(from.columns_of(row)[i]);
        to.value.push_back(from.values_of(row)[i]);
      }
      to.start.push_back(to.column.size());
    }
  };
  cut(rows.features, features, result.features);
  cut(rows.labels, labels, result.labels);
  result.kinds.assign(features, Kind::count);
  return result;
}

TEST(BnmcFit, UpdatesTakeInRowsLabelsAndFeatures) {
  LabeledRows all = documents(300, 0.0, 11);
  // The first rows lack the last label and the last word.
  LabeledRows known = beginning(all, 300, 6, 4);
  known.features = {};
  known.labels = {};
  known.features.columns = 6;
  known.labels.columns = 4;
  for (std::size_t row = 0; row < 300; ++row) {
    for (std::size_t i = 0; i < all.features.columns_of(row).size(); ++i) {
      if (row < 200 && all.features.columns_of(row)[i] == 5) continue;
      known.features.column.push_back(all.features.columns_of(row)[i]);
      known.features.value.push_back(all.features.values_of(row)[i]);
    }
    known.features.start.push_back(known.features.column.size());
    for (std::size_t i = 0; i < all.labels.columns_of(row).size(); ++i) {
      if (row < 200 && all.labels.columns_of(row)[i] == 3) continue;
      known.labels.column.push_back(all.labels.columns_of(row)[i]);
      known.labels.value.push_back(all.labels.values_of(row)[i]);
    }
    if (row < 200) {
      known.labels.column.push_back(3);
      known.labels.value.push_back(kMissing);
    }
    known.labels.start.push_back(known.labels.column.size());
  }
  for (const std::vector<std::string>& settings :
       {std::vector<std::string>{}, {"label-model=\"bernoulli\"", "inputs=\"features\""}}) {
    const LabeledRows first = beginning(known, 200, 5, 3);
    Fitting old(first, settings);
    old.sampler->init({3, 0, 0});
    old.finish();
    Fitting grown(known, settings);
    grown.sampler->load_first(old.sampler->save(), 200);
    grown.sampler->insert(60, {3, 0, 0});
    grown.sampler->insert(40, {3, 0, 0});
    // A sampler saved after the last row continues exactly as the original.
    Fitting resumed(known, settings);
    resumed.sampler->load(grown.sampler->save());
    grown.finish();
    resumed.finish();
    EXPECT_EQ(resumed.sampler->payload(), grown.sampler->payload());
    const LabeledRows fresh = documents(200, 0.0, 12);
    const auto classifier = grown.entry.make_classifier(grown.problem, grown.sampler->payload());
    double right = 0.0;
    double new_right = 0.0;
    for (std::size_t row = 0; row < 200; ++row) {
      const LabelPrediction prediction = classifier->predict(fresh.features, row);
      std::vector<bool> truth(4, false);
      for (const std::uint32_t label : fresh.labels.columns_of(row)) truth[label] = true;
      for (std::size_t c = 0; c < 3; ++c) right += prediction.chosen[c] == truth[c] ? 1.0 / 600.0 : 0.0;
      new_right += prediction.chosen[3] == truth[3] ? 1.0 / 200.0 : 0.0;
    }
    EXPECT_GT(right, 0.85);
    EXPECT_GT(new_right, 0.7);
  }
}

TEST(BnmcFit, OldRowsHaveZerosInNewColumnsOfNumbers) {
  Stream stream({14, 0, 0}, Purpose::test);
  Table features, labels;
  features.columns = {{"x", Kind::real, {}, {}}, {"y", Kind::real, {}, {}}};
  labels.columns = {{"l", Kind::binary, {}, {}}};
  for (std::size_t i = 0; i < 200; ++i) {
    features.row_ids.push_back(fmt::format("{}", i));
    labels.row_ids.push_back(features.row_ids.back());
    features.columns[0].values.push_back(draw_normal(stream));
    features.columns[1].values.push_back(i < 100 ? 0.0 : 10.0 + draw_normal(stream));
    labels.columns[0].values.push_back(i % 2 == 0 ? 1.0 : 0.0);
  }
  const LabeledRows all = labeled_rows(features, labels);
  LabeledRows first = beginning(all, 100, 1, 1);
  first.kinds.assign(1, Kind::real);
  Fitting old(first, {});
  old.sampler->init({3, 0, 0});
  old.finish();
  Fitting grown(all, {});
  grown.sampler->load_first(old.sampler->save(), 100);
  grown.sampler->insert(100, {3, 0, 0});
  grown.finish();
  double mean = 0.0;
  double weight = 0.0;
  for (const LabelPattern& pattern :
       grown.entry.make_classifier(grown.problem, grown.sampler->payload())->patterns()) {
    mean += pattern.weight * pattern.features[1];
    weight += pattern.weight;
  }
  EXPECT_NEAR(mean / weight, 5.0, 0.5);
}

TEST(BnmcFit, OneUpdateOfNothingLearnedIsASweepFromThere) {
  // Statistics of all rows do not depend on the order in which batches of certain rows come in.
  const LabeledRows rows = documents(120, 0.0, 13);
  const LabeledRows first = beginning(rows, 60, 6, 4);
  Fitting old(first, {"inputs=\"features\""});
  old.sampler->init({3, 0, 0});
  old.finish();
  std::vector<std::vector<double>> weights;
  for (const std::size_t batch : {60U, 20U}) {
    Fitting grown(rows, {"inputs=\"features\""});
    grown.sampler->load_first(old.sampler->save(), 60);
    for (std::size_t done = 0; done < 60; done += batch) grown.sampler->insert(batch, {3, 0, 0});
    grown.finish();
    weights.emplace_back();
    for (const LabelPattern& pattern :
         grown.entry.make_classifier(grown.problem, grown.sampler->payload())->patterns())
      weights.back().push_back(pattern.weight);
  }
  for (std::size_t k = 0; k < weights[0].size(); ++k) EXPECT_NEAR(weights[0][k], weights[1][k], 0.02);
}

TEST(BnmcFit, DegenerateDataDoNoHarm) {
  const auto survives = [](const LabeledRows& rows, const std::vector<std::string>& settings) {
    Fitting run(rows, settings);
    run.sampler->init({3, 0, 0});
    run.finish();
    const auto classifier = run.entry.make_classifier(run.problem, run.sampler->payload());
    for (std::size_t row = 0; row < rows.features.rows(); ++row)
      for (const double p : classifier->predict(rows.features, row).probabilities)
        EXPECT_TRUE(std::isfinite(p));
  };
  survives(documents(5, 0.0, 4), {});   // fewer rows than clusters
  survives(documents(30, 1.0, 5), {});  // no label is known
  LabeledRows empty = documents(12, 0.2, 6);
  empty.features.start.assign(13, 0);  // empty documents, all alike
  empty.features.column.clear();
  empty.features.value.clear();
  survives(empty, {});
  survives(documents(30, 0.0, 7), {"unobserved=\"missing\""});
  survives(documents(30, 0.0, 7), {"truncation=1"});
}

/// Six kinds of documents, each with words and a label of its own.
LabeledRows six_kinds(std::size_t rows) {
  Stream stream({21, 0, 0}, Purpose::test);
  Table features;
  Table labels;
  for (int d = 0; d < 12; ++d) features.columns.push_back({fmt::format("w{}", d), Kind::count, {}, {}});
  for (int c = 0; c < 6; ++c) labels.columns.push_back({fmt::format("l{}", c), Kind::binary, {}, {}});
  for (std::size_t i = 0; i < rows; ++i) {
    features.row_ids.push_back(fmt::format("{}", i));
    labels.row_ids.push_back(fmt::format("{}", i));
    for (std::size_t d = 0; d < 12; ++d)
      features.columns[d].values.push_back(
          static_cast<double>(draw_poisson(stream, d / 2 == i % 6 ? 8.0 : 0.2)));
    for (std::size_t c = 0; c < 6; ++c) labels.columns[c].values.push_back(c == i % 6 ? 1.0 : 0.0);
  }
  return labeled_rows(features, labels);
}

TEST(BnmcFit, GrowingGoesOnFromTheClustersThereAre) {
  const LabeledRows rows = six_kinds(240);
  Fitting run(rows, {"truncation=2", "grow=true", "restarts=1", "expert=\"none\"", "calibration=0"});
  run.sampler->init({3, 0, 0});
  double before = 0.0;
  std::size_t doublings = 0;
  bool is_first = false;
  for (std::size_t step = 1; !run.sampler->finished(); ++step) {
    run.sampler->step({3, 0, step});
    const double bound = run.sampler->log_joint();
    if (bound == 0.0) {  // a start has no bound yet
      ++doublings;
      is_first = true;
      continue;
    }
    // The last stick of before is now one that may go on: that costs log(1 + rows) at most, the start's tenth
    // some more.
    if (before != 0.0) {
      const double noise = is_first ? std::log(241.0) + 0.12 * 240.0 : 1e-9 * std::abs(before);
      EXPECT_GT(bound, before - noise);
    }
    is_first = false;
    before = bound;
  }
  EXPECT_GE(doublings, 2u);
  std::vector<double> traces(5);
  run.sampler->traces(traces);
  EXPECT_GE(traces[1], 6.0);
  Fitting wide(rows, {"truncation=8", "restarts=5", "expert=\"none\"", "calibration=0"});
  wide.sampler->init({3, 0, 0});
  wide.finish();
  EXPECT_GT(run.sampler->log_joint(), wide.sampler->log_joint() - 0.01 * std::abs(wide.sampler->log_joint()));
}

TEST(BnmcFit, StatesOfOtherVersionsAreRefused) {
  const LabeledRows rows = documents(20, 0.0, 8);
  Fitting run(rows, {});
  run.sampler->init({3, 0, 0});
  std::string state = run.sampler->save();
  state[0] = static_cast<char>(state[0] + 1);
  for (const bool first : {false, true}) {
    try {
      first ? run.sampler->load_first(state, 10) : run.sampler->load(state);
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_data);
      EXPECT_NE(std::string(error.what()).find("another version"), std::string::npos);
    }
  }
}

TEST(BnmcFit, DamagedStatesAreRefused) {
  const LabeledRows rows = documents(20, 0.0, 8);
  Fitting run(rows, {});
  run.sampler->init({3, 0, 0});
  const std::string state = run.sampler->save();
  EXPECT_THROW(run.sampler->load(state.substr(0, state.size() / 2)), Error);
  EXPECT_THROW(run.sampler->load(state + "x"), Error);
  EXPECT_THROW(run.entry.make_classifier(run.problem, "nothing"), Error);
}

TEST(BnmcFit, SettingsThatExcludeEachOther) {
  const ModelEntry& entry = model_by_name("bnmc");
  for (const std::vector<std::string>& settings : {std::vector<std::string>{"combine=\"logit\""},
                                                   {"calibration=0"},
                                                   {"top=3"},
                                                   {"unobserved=\"missing\"", "combine=\"linear\""},
                                                   {"unobserved=\"missing\"", "label-model=\"bernoulli\""},
                                                   {"top=3", "threshold=\"micro\""},
                                                   {"expert=\"svm\"", "expert-method=\"map\""},
                                                   {"expert=\"none\"", "combine=\"product\""},
                                                   {"combine=\"stack\"", "calibration=0"},
                                                   {"covariance=\"diagonal\"", "expert-method=\"gibbs\""}}) {
    try {
      entry.check_given(test::settings_from(settings));
      FAIL() << settings.front();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::configuration);
    }
  }
}

}  // namespace
}  // namespace coppice
