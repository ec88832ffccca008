// What a crossvalidation is asked for: contenders, data, folds and how long each fit runs.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "coppice/base/setting.hpp"
#include "coppice/data/read.hpp"
#include "coppice/model/model.hpp"
#include "coppice/post/fold_scores.hpp"
#include "coppice/run/fit_service.hpp"

namespace coppice {

/// A model with settings of its own, or what models that learn labels are measured against.
struct Contender {
  std::string name;                   // as the user wrote it
  const ModelEntry* model = nullptr;  // nullptr for a baseline
  Settings parameters = {};           // of the model
  const LabelBaseline* baseline = nullptr;
};

/// One model in one fold, as soon as it is known.
struct FoldResult {
  std::size_t fold = 0;          // from 0
  const std::string& contender;  // its name
  const FoldScores::Fold& scores;
};

struct CrossvalidationRequest {
  Dataset data;
  std::vector<Contender> contenders;
  Settings run_length = {};  // as given; kFoldRunLength where it is not
  std::string family = "auto";
  Settings family_settings = {};
  std::string hyper = kLearnedHyper;  // or kFixedHyper
  std::size_t folds = 10;
  std::size_t most_folds = 0;  // only this many folds are used; 0: all
  std::size_t threads = 0;
  const std::atomic<bool>* stop = nullptr;  // folds that are complete by then are kept
  std::function<void(const Crossvalidation&, const FoldResult&)> on_result = {};
  /// Watches a fit; may give none.
  std::function<std::unique_ptr<FitObserver>(const Fit&)> make_observer = {};
};

/// Chains of a fold are shorter than those of a fit: there are many folds, and they are averaged.
inline constexpr std::pair<const char*, double> kFoldRunLength[] = {
    {"chains", 2.0}, {"warmup", 250.0}, {"draws", 250.0}};

}  // namespace coppice
