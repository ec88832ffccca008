// Draws that are kept as parameters: the labels of all rows follow from them and from the data, so a run of a
// million rows keeps a few kilobytes for a draw.
#pragma once

#include <string>
#include <string_view>

namespace coppice {

/// An Inference may be one of these; its draws are then kept without labels.
class ParameterDraws {
 public:
  virtual ~ParameterDraws() = default;
  /// What is kept of the present state, in place of labels and payload.
  virtual std::string parameters() const = 0;
  /// Takes what parameters() gave: the labels of the inference are then those of that draw. Throws
  /// Error{bad_data} if it does not fit the data.
  virtual void take_parameters(std::string_view bytes) = 0;
  /// A message to which blocks answer with the labels of their rows in that draw.
  virtual std::string label_question(std::string_view bytes) const = 0;
};

}  // namespace coppice
