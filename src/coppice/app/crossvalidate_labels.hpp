// The part of coppice crossvalidate that is about labels: rows are held out, and classifiers predict their
// labels. Beside the models that learn labels there are the baselines they are measured against.
#pragma once

#include <atomic>
#include <span>
#include <string>

#include "coppice/app/context.hpp"
#include "coppice/base/setting.hpp"
#include "coppice/data/read.hpp"
#include "coppice/model/model.hpp"

namespace coppice::app {

struct LabelContender {
  std::string name;          // as the user wrote it
  const ModelEntry* model;   // nullptr for a baseline
  Settings parameters = {};  // of the model
  const LabelBaseline* baseline = nullptr;
};

struct LabelFolds {
  std::size_t folds = 10;
  std::size_t most_folds = 0;  // 0: all
  std::uint64_t seed = 1;
  std::size_t threads = 0;
  std::string output;
};

/// Fold after fold, until `stop` is true.
int crossvalidate_labels(const Dataset& data, std::span<const LabelContender> contenders,
                         const LabelFolds& options, const std::atomic<bool>* stop, const Context& context);

}  // namespace coppice::app
