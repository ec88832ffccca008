#include "coppice/post/label_scores.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "coppice/base/error.hpp"

namespace coppice {
namespace {

double fraction_of(double part, double whole) { return whole > 0.0 ? part / whole : 0.0; }

/// Of a probability that may be rounded to nothing.
double log_of(double probability) { return std::log(std::max(probability, 1e-15)); }

struct Cell {
  double score;
  bool is_true;
  std::size_t label;
};

/// The ranking measures of one row; `cells` are those whose truth is known.
void add_ranking(std::span<const Cell> cells, LabelScores& sums) {
  double positives = 0.0;
  for (const Cell& cell : cells) positives += cell.is_true ? 1.0 : 0.0;
  const double negatives = static_cast<double>(cells.size()) - positives;
  if (positives == 0.0 || negatives == 0.0) sums.lrap += 1.0;
  double wrong = 0.0;
  double precision = 0.0;
  double deepest = 0.0;
  for (const Cell& cell : cells) {
    if (!cell.is_true) continue;
    double above = 0.0;  // at least as high, itself included
    double true_above = 0.0;
    for (const Cell& other : cells) {
      if (other.score < cell.score) continue;
      above += 1.0;
      true_above += other.is_true ? 1.0 : 0.0;
    }
    wrong += above - true_above;
    precision += true_above / above;
    deepest = std::max(deepest, above);
  }
  sums.coverage += deepest;
  if (positives == 0.0 || negatives == 0.0) return;
  sums.ranking_loss += wrong / (positives * negatives);
  sums.lrap += precision / positives;
}

}  // namespace

std::vector<SingleLabelScores> scores_by_label(const LabeledPredictions& p) {
  std::vector<SingleLabelScores> result(p.labels);
  for (std::size_t at = 0; at < p.truth.size(); ++at) {
    if (std::isnan(p.truth[at])) continue;
    SingleLabelScores& label = result[at % p.labels];
    const bool is_true = p.truth[at] != 0.0;
    label.known += 1.0;
    label.positives += is_true ? 1.0 : 0.0;
    label.chosen += p.chosen[at] ? 1.0 : 0.0;
    label.hits += is_true && p.chosen[at] ? 1.0 : 0.0;
    label.mean_probability += p.probabilities[at];
    label.log_loss -= log_of(is_true ? p.probabilities[at] : 1.0 - p.probabilities[at]);
  }
  for (SingleLabelScores& label : result) {
    label.mean_probability = fraction_of(label.mean_probability, label.known);
    label.log_loss = fraction_of(label.log_loss, label.known);
  }
  return result;
}

std::vector<ReliabilityBin> reliability(const LabeledPredictions& p, std::size_t bins,
                                        std::optional<std::size_t> label) {
  std::vector<ReliabilityBin> result(bins);
  for (std::size_t at = 0; at < p.truth.size(); ++at) {
    if (std::isnan(p.truth[at]) || (label && at % p.labels != *label)) continue;
    const double place = std::clamp(p.probabilities[at], 0.0, 1.0) * static_cast<double>(bins);
    ReliabilityBin& bin = result[std::min(bins - 1, static_cast<std::size_t>(place))];
    bin.cells += 1.0;
    bin.mean_probability += p.probabilities[at];
    bin.share_true += p.truth[at] != 0.0 ? 1.0 : 0.0;
  }
  for (ReliabilityBin& bin : result) {
    bin.mean_probability = fraction_of(bin.mean_probability, bin.cells);
    bin.share_true = fraction_of(bin.share_true, bin.cells);
  }
  return result;
}

double calibration_error(std::span<const ReliabilityBin> bins) {
  double cells = 0.0;
  double distance = 0.0;
  for (const ReliabilityBin& bin : bins) {
    cells += bin.cells;
    distance += bin.cells * std::abs(bin.mean_probability - bin.share_true);
  }
  return fraction_of(distance, cells);
}

LabelScores label_scores(const LabeledPredictions& p, std::span<const std::size_t> precision_at) {
  const std::size_t rows = p.rows();
  const std::size_t cells = rows * p.labels;
  if (p.scores.size() != cells || p.probabilities.size() != cells || p.chosen.size() != cells)
    fail(ErrorCode::usage, "label_scores: predictions and truth differ in size");
  LabelScores result;
  result.rows = rows;
  result.labels = p.labels;
  for (const std::size_t k : precision_at) result.precision_at.emplace_back(k, 0.0);
  std::vector<double> hit(p.labels, 0.0);
  std::vector<double> either(p.labels, 0.0);  // true + chosen
  double known = 0.0;
  std::vector<Cell> row_cells;
  for (std::size_t row = 0; row < rows; ++row) {
    row_cells.clear();
    double row_hit = 0.0;
    double row_either = 0.0;
    bool is_right = true;
    for (std::size_t c = 0; c < p.labels; ++c) {
      const std::size_t at = row * p.labels + c;
      if (std::isnan(p.truth[at])) continue;
      const bool is_true = p.truth[at] != 0.0;
      const bool chosen = p.chosen[at];
      row_cells.push_back({p.scores[at], is_true, c});
      known += 1.0;
      is_right = is_right && is_true == chosen;
      result.hamming_loss += is_true == chosen ? 0.0 : 1.0;
      hit[c] += is_true && chosen ? 1.0 : 0.0;
      either[c] += (is_true ? 1.0 : 0.0) + (chosen ? 1.0 : 0.0);
      row_hit += is_true && chosen ? 1.0 : 0.0;
      row_either += (is_true ? 1.0 : 0.0) + (chosen ? 1.0 : 0.0);
      result.log_loss -= log_of(is_true ? p.probabilities[at] : 1.0 - p.probabilities[at]);
    }
    result.subset_accuracy += is_right ? 1.0 : 0.0;
    result.example_f1 += fraction_of(2.0 * row_hit, row_either);
    result.example_jaccard += fraction_of(row_hit, row_either - row_hit);
    add_ranking(row_cells, result);
    std::stable_sort(row_cells.begin(), row_cells.end(),
                     [](const Cell& a, const Cell& b) { return a.score > b.score; });
    for (auto& [k, sum] : result.precision_at)
      for (std::size_t i = 0; i < std::min(k, row_cells.size()); ++i)
        sum += (row_cells[i].is_true ? 1.0 : 0.0) / static_cast<double>(k);
  }
  const auto count = static_cast<double>(std::max<std::size_t>(rows, 1));
  result.hamming_loss = fraction_of(result.hamming_loss, known);
  result.log_loss = fraction_of(result.log_loss, known);
  for (double* mean : {&result.subset_accuracy, &result.example_f1, &result.example_jaccard,
                       &result.ranking_loss, &result.lrap, &result.coverage})
    *mean /= count;
  for (auto& [k, sum] : result.precision_at) sum /= count;
  const double all_hit = std::accumulate(hit.begin(), hit.end(), 0.0);
  const double all_either = std::accumulate(either.begin(), either.end(), 0.0);
  result.micro_f1 = fraction_of(2.0 * all_hit, all_either);
  for (std::size_t c = 0; c < p.labels; ++c) result.macro_f1 += fraction_of(2.0 * hit[c], either[c]);
  result.macro_f1 = fraction_of(result.macro_f1, static_cast<double>(p.labels));
  return result;
}

std::vector<std::pair<std::string, double>> named_measures(const LabelScores& scores) {
  std::vector<std::pair<std::string, double>> measures{
      {"micro_f1", scores.micro_f1},         {"macro_f1", scores.macro_f1},
      {"example_f1", scores.example_f1},     {"example_jaccard", scores.example_jaccard},
      {"hamming_loss", scores.hamming_loss}, {"subset_accuracy", scores.subset_accuracy},
      {"ranking_loss", scores.ranking_loss}, {"lrap", scores.lrap},
      {"coverage", scores.coverage},         {"log_loss", scores.log_loss}};
  for (const auto& [k, value] : scores.precision_at)
    measures.emplace_back("precision_at_" + std::to_string(k), value);
  return measures;
}

}  // namespace coppice
