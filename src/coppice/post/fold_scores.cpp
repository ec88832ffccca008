#include "coppice/post/fold_scores.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "coppice/base/error.hpp"

namespace coppice {

MeanAndError mean_over_folds(const FoldScores& scores, std::size_t figure) {
  std::vector<double> values;
  for (const FoldScores::Fold& fold : scores.folds)
    if (const double value = fold.figures[figure]; !std::isnan(value)) values.push_back(value);
  if (values.empty()) return {};
  // A cell that was held impossible makes its fold infinite, and so the mean: that is what happened.
  for (const double value : values)
    if (std::isinf(value)) return {value, kMissing};
  const double count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0.0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, values.size() > 1 ? std::sqrt(squares / (count - 1.0) / count) : kMissing};
}

std::size_t infinite_folds(const FoldScores& scores, std::size_t figure) {
  return static_cast<std::size_t>(
      std::count_if(scores.folds.begin(), scores.folds.end(),
                    [&](const FoldScores::Fold& fold) { return std::isinf(fold.figures[figure]); }));
}

std::size_t Crossvalidation::figure(std::string_view key) const {
  const auto found =
      std::find_if(figures.begin(), figures.end(), [&](const FoldFigure& f) { return f.key == key; });
  if (found == figures.end()) fail(ErrorCode::bug, "there is no figure '{}'", key);
  return static_cast<std::size_t>(found - figures.begin());
}

void Crossvalidation::add_fold(std::vector<FoldScores::Fold> results) {
  for (std::size_t place = 0; place < results.size(); ++place)
    models[place].folds.push_back(std::move(results[place]));
}

}  // namespace coppice
