#include "coppice/app/known_labels.hpp"

namespace coppice::app {

Labels known_labels(const Column& column) {
  Labels labels;
  for (const double value : column.values)
    labels.push_back(is_missing(value) ? kMissingTruth : static_cast<Label>(value));
  return labels;
}

nlohmann::ordered_json to_json(const Scores& scores) {
  return {{"f_measure", scores.f_measure},
          {"pairwise_f", scores.pairwise_f},
          {"ari", scores.ari},
          {"nmi", scores.nmi},
          {"vi", scores.vi},
          {"purity", scores.purity},
          {"homogeneity", scores.homogeneity},
          {"completeness", scores.completeness},
          {"rows", scores.rows},
          {"classes", scores.classes},
          {"clusters", scores.clusters}};
}

}  // namespace coppice::app
