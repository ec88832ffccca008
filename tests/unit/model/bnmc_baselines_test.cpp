// What classifiers are measured against: rates, regressions, and chains that know which labels come together.
#include <gtest/gtest.h>

#include <cmath>

#include "coppice/model/bnmc/baselines.hpp"

namespace coppice::bnmc {
namespace {

/// The first label follows x; the second is a copy of the first, whatever x; the third is never there.
LabeledRows copies(std::size_t count, std::uint64_t seed) {
  Stream stream({seed, 0, 0}, Purpose::test);
  Table features;
  Table labels;
  features.columns.push_back({"x", Kind::real, {}, {}});
  for (const char* name : {"a", "b", "c"}) labels.columns.push_back({name, Kind::binary, {}, {}});
  for (std::size_t row = 0; row < count; ++row) {
    const double x = draw_normal(stream);
    const double y = draw_uniform(stream) < 1.0 / (1.0 + std::exp(-3.0 * x)) ? 1.0 : 0.0;
    features.columns[0].values.push_back(x);
    for (std::size_t c = 0; c < 3; ++c) labels.columns[c].values.push_back(c == 2 ? 0.0 : y);
    for (Table* table : {&features, &labels}) table->row_ids.push_back(std::to_string(row));
  }
  return labeled_rows(features, labels);
}

TEST(BnmcBaselines, EachKnowsWhatItCan) {
  const LabeledRows rows = copies(300, 1);
  const LabeledRows fresh = copies(300, 2);
  for (const Baseline kind : {Baseline::base_rates, Baseline::one_vs_rest, Baseline::chains}) {
    const std::unique_ptr<Classifier> one = fit_baseline(kind, rows, 3, 1);
    const std::unique_ptr<Classifier> two = fit_baseline(kind, rows, 3, 2);
    double loss = 0.0;
    for (std::size_t row = 0; row < 300; ++row) {
      const LabelPrediction prediction = one->predict(fresh.features, row);
      EXPECT_EQ(prediction.probabilities, two->predict(fresh.features, row).probabilities);
      EXPECT_LT(prediction.probabilities[2], 0.01);
      const double p = prediction.probabilities[0];
      const bool is_there = !fresh.labels.columns_of(row).empty();
      loss -= std::log(is_there ? p : 1.0 - p) / 300.0;
      // Chains may take a copy for the thing itself, but only if it comes first.
      EXPECT_NEAR(p, prediction.probabilities[1], kind == Baseline::chains ? 0.5 : 1e-9);
    }
    if (kind == Baseline::base_rates) {
      EXPECT_NEAR(loss, std::log(2.0), 0.05);
    } else {
      EXPECT_LT(loss, 0.5);
    }
  }
}

TEST(BnmcBaselines, HearAStop) {
  const LabeledRows rows = copies(60, 4);
  const std::atomic<bool> stop = true;
  for (const Baseline kind : {Baseline::one_vs_rest, Baseline::chains}) {
    try {
      fit_baseline(kind, rows, 3, 1, &stop);
      FAIL() << "it did not stop";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::stopped);
    }
  }
}

}  // namespace
}  // namespace coppice::bnmc
