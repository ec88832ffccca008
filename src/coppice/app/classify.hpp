// What the answering commands say of a run that learned labels.
#pragma once

#include <string>

#include "coppice/app/context.hpp"
#include "coppice/post/analysis.hpp"

namespace coppice::app {

/// New rows whose labels are asked for; with `given_labels` the known labels in the data, or in a file
/// of their own, are known.
struct LabelQuestion {
  std::string data, id, labels_file, output;
  bool given_labels = false;
  std::size_t threads = 0;
};
int predict_labels(const Analysis& analysis, const LabelQuestion& question, const Context& context);
/// Scores against the labels in the data, or in a separate file; without data, the rows of the run as
/// fits without them predicted them.
int score_labels(const Analysis& analysis, const std::string& data, const std::string& labels_file,
                 const Context& context);
/// Clusters with their typical features and labels.
std::string patterns_text(const SavedRun& run, std::size_t traits, const Context& context);
nlohmann::ordered_json patterns_json(const SavedRun& run, std::size_t traits);

}  // namespace coppice::app
