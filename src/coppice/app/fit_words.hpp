// coppice fit with words left out: which model, and where to write.
#pragma once

#include <string>

namespace coppice::app {

struct FitWords {
  std::string model, data, output;
  std::string why_model = {};  // a sentence for the user, if the model was chosen here
};

/// Completes what was typed: with one word that is not a model it is the table, and the model is chosen; the
/// run is named after the table. Throws Error{usage} with the command to type instead.
FitWords complete_fit_words(FitWords typed, bool has_labels);

}  // namespace coppice::app
