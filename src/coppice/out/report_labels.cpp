// The data of the page of a run that learned labels: how well rows held out were predicted, what the clusters
// are, and every row with its labels. What the page does with them is in web/src/labels.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "coppice/base/extremes.hpp"
#include "coppice/out/answer_json.hpp"
#include "coppice/out/base64.hpp"
#include "coppice/out/report_parts.hpp"
#include "coppice/post/label_answers.hpp"

namespace coppice {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostLabeledRows = 20'000;  // shown one by one; of more rows evenly spaced ones
constexpr std::size_t kMostLabelCells = 2'500'000;
constexpr std::size_t kMostColumnsOfARow = 40;  // shown with each row: the most distinguishing ones
constexpr std::size_t kMostCooccurring = 100;   // labels of the matrix: the most frequent ones
constexpr std::size_t kMostTraits = 12;         // of a cluster
constexpr std::size_t kBins = 10;
constexpr double kLeastClusterShare = 0.005;  // cluster probabilities below it are left out

class LabelCollector {
 public:
  explicit LabelCollector(const Analysis& analysis)
      : analysis_(analysis),
        run_(analysis.run()),
        labels_(run_.contents().labels.columns),
        classifier_(classifier_of(run_)),
        patterns_(used_patterns(run_, *classifier_)),
        predictions_(held_out_labels(run_)),
        is_held_out_(!predictions_.empty()) {
    own_ = coppice::predict_labels(run_, run_.table(), 0);
    if (!is_held_out_) predictions_ = own_;
    choose_rows();
    choose_columns();
  }

  ordered_json collect() const {
    ordered_json head = report_head(analysis_);
    head["greedy"] = false;
    head["labels"] = labels_.size();
    return {
        {"format", 1},
        {"head", head},
        {"columns", report_columns(run_, columns_, std::vector<double>(run_.table().columns.size(), 0.0))},
        {"rows", report_rows(run_, shown_)},
        {"cells", report_cells(run_, shown_, columns_)},
        {"labels", labels()},
        {"reproduce", report_reproduce(run_)}};
  }

 private:
  void choose_rows() {
    const std::size_t rows = run_.rows();
    const std::size_t most = std::clamp<std::size_t>(
        kMostLabelCells / std::max<std::size_t>(1, labels_.size()), 1, kMostLabeledRows);
    for (std::size_t k = 0; k < std::min(rows, most); ++k)
      shown_.push_back(static_cast<std::uint32_t>(rows <= most ? k : k * rows / most));
  }

  /// Those that tell most of any cluster.
  void choose_columns() {
    std::vector<double> strength(run_.table().columns.size(), 0.0);
    for (const NumberedPattern& entry : patterns_) {
      const std::vector<double> values = distinctiveness(entry.pattern, run_.table());
      for (std::size_t d = 0; d < strength.size(); ++d)
        strength[d] = std::max(strength[d], entry.pattern.weight * values[d]);
    }
    columns_ = largest(strength, kMostColumnsOfARow);
  }

  ordered_json labels() const {
    const LabeledPredictions all = with_truth(run_.contents().labels, predictions_);
    std::vector<std::string> names;
    for (const Column& label : labels_) names.push_back(label.name);
    const std::size_t depths[] = {1, 3, 5};
    ordered_json answer{{"names", names},
                        {"held_out", is_held_out_},
                        {"stacked", has_thresholds_on_probabilities()},
                        {"rule", rule()},
                        {"label_model", label_model()},
                        {"thresholds", rounded(classifier_->thresholds())},
                        {"scores", to_json(label_scores(all, depths))},
                        {"by_label", by_label(all)},
                        {"reliability", reliability_json(all, std::nullopt)}};
    answer["reliability_by_label"] = ordered_json::array();
    for (std::size_t c = 0; c < labels_.size(); ++c)
      answer["reliability_by_label"].push_back(reliability_json(all, c));
    answer["cooccurrence"] = cooccurrence();
    answer["patterns"] = patterns();
    answer.update(row_arrays());
    return answer;
  }

  /// Scores are probabilities where they are learned from rows held out; only then thresholds are too.
  bool has_thresholds_on_probabilities() const {
    const auto same = [](const LabelPrediction& p) { return p.scores == p.probabilities; };
    return std::all_of(predictions_.begin(), predictions_.end(), same);
  }

  std::string label_model() const {
    const ParameterValues& parameters = run_.setup().problem.parameters;
    return parameters.has("label-model") ? parameters.choice("label-model") : "bernoulli";
  }

  /// Which labels are predicted, in a sentence.
  std::string rule() const {
    const std::string what = has_thresholds_on_probabilities() ? "probability" : "score";
    const ParameterValues& parameters = run_.setup().problem.parameters;
    const bool is_word = parameters.has("threshold") && parameters.is_word("threshold");
    const std::string word = is_word ? parameters.choice("threshold") : "";
    if (word == "top-k")
      return parameters.integer("top") == 0
                 ? fmt::format(
                       "For every row, the labels with the highest {} are predicted, as many as are "
                       "expected.",
                       what)
                 : fmt::format("For every row, {} with the highest {} predicted.",
                               parameters.integer("top") == 1
                                   ? "the label"
                                   : fmt::format("the {} labels", parameters.integer("top")),
                               what + (parameters.integer("top") == 1 ? " is" : " are"));
    return fmt::format("A label is predicted where its {} reaches the threshold{}.", what,
                       word == "at-least-one" ? ", and the best label of a row if none does" : "");
  }

  static std::vector<double> rounded(const std::vector<double>& values) {
    std::vector<double> result;
    for (const double value : values) result.push_back(brief(value));
    return result;
  }

  static ordered_json by_label(const LabeledPredictions& all) {
    ordered_json list = ordered_json::array();
    for (const SingleLabelScores& label : scores_by_label(all))
      list.push_back({{"known", label.known},
                      {"positives", label.positives},
                      {"chosen", label.chosen},
                      {"hits", label.hits},
                      {"precision", share(label.precision())},
                      {"recall", share(label.recall())},
                      {"f1", share(label.f1())},
                      {"mean_probability", share(label.mean_probability)},
                      {"log_loss", brief(label.log_loss)}});
    return list;
  }

  static ordered_json reliability_json(const LabeledPredictions& all, std::optional<std::size_t> label) {
    const std::vector<ReliabilityBin> bins = reliability(all, kBins, label);
    ordered_json list = ordered_json::array();
    for (const ReliabilityBin& bin : bins)
      list.push_back({bin.cells, brief(bin.mean_probability), brief(bin.share_true)});
    return {{"error", brief(calibration_error(bins))}, {"bins", list}};
  }

  /// How many rows have both of two labels (and on the diagonal: one), for the most frequent ones.
  ordered_json cooccurrence() const {
    std::vector<double> frequency;
    for (const Column& label : labels_)
      frequency.push_back(static_cast<double>(std::count(label.values.begin(), label.values.end(), 1.0)));
    const std::vector<std::size_t> which = largest(frequency, kMostCooccurring);
    std::vector<std::size_t> counts(which.size() * which.size(), 0);
    std::vector<std::size_t> here;
    for (std::size_t row = 0; row < run_.rows(); ++row) {
      here.clear();
      for (std::size_t i = 0; i < which.size(); ++i)
        if (labels_[which[i]].values[row] == 1.0) here.push_back(i);
      for (const std::size_t a : here)
        for (const std::size_t b : here) ++counts[a * which.size() + b];
    }
    return {{"labels", which}, {"counts", counts}};
  }

  ordered_json patterns() const {
    ordered_json list = ordered_json::array();
    std::vector<std::size_t> sizes(patterns_.empty() ? 0 : own_.front().clusters.size(), 0);
    for (const LabelPrediction& row : own_) ++sizes[first_maximum(row.clusters.data(), row.clusters.size())];
    for (const auto& [cluster, pattern] : patterns_) {
      ordered_json features = ordered_json::array();
      for (const std::size_t d : largest(distinctiveness(pattern, run_.table()), kMostTraits))
        features.push_back({{"column", run_.table().columns[d].name},
                            {"value", brief(pattern.features[d])},
                            {"log_ratio", brief(pattern.log_ratios[d])}});
      list.push_back({{"cluster", cluster},
                      {"weight", share(pattern.weight)},
                      {"rows", sizes[cluster]},
                      {"labels", rounded(pattern.labels)},
                      {"features", features}});
    }
    return list;
  }

  /// Probability (of 65535), and whether it was known (1: has it not, 2: has it) and chosen (4 more), of
  /// every label of the rows shown.
  ordered_json row_arrays() const {
    std::vector<std::uint16_t> probabilities;
    std::vector<std::uint8_t> states;
    std::vector<float> densities;
    ordered_json clusters = ordered_json::array();
    for (const std::uint32_t row : shown_) {
      const LabelPrediction& p = predictions_[row].scores.empty() ? own_[row] : predictions_[row];
      for (std::size_t c = 0; c < labels_.size(); ++c) {
        probabilities.push_back(
            static_cast<std::uint16_t>(std::lround(std::clamp(p.probabilities[c], 0.0, 1.0) * 65535.0)));
        const double truth = labels_[c].values[row];
        states.push_back(static_cast<std::uint8_t>((is_missing(truth) ? 0
                                                    : truth == 0.0    ? 1
                                                                      : 2) +
                                                   (p.chosen[c] ? 4 : 0)));
      }
      densities.push_back(static_cast<float>(p.log_density));
      ordered_json parts = ordered_json::array();
      for (std::size_t k = 0; k < own_[row].clusters.size(); ++k)
        if (own_[row].clusters[k] >= kLeastClusterShare) {
          parts.push_back(k);
          parts.push_back(share(own_[row].clusters[k]));
        }
      clusters.push_back(std::move(parts));
    }
    return {{"probabilities", base64_of(std::span<const std::uint16_t>(probabilities))},
            {"states", base64_of(std::span<const std::uint8_t>(states))},
            {"densities", base64_of(std::span<const float>(densities))},
            {"clusters", clusters}};
  }

  const Analysis& analysis_;
  const SavedRun& run_;
  const std::vector<Column>& labels_;
  const std::unique_ptr<Classifier> classifier_;
  const std::vector<NumberedPattern> patterns_;
  std::vector<LabelPrediction> predictions_;  // held out, if the run keeps such
  std::vector<LabelPrediction> own_;          // by the fit of all rows
  const bool is_held_out_;
  std::vector<std::uint32_t> shown_;  // rows of the table
  std::vector<std::size_t> columns_;  // of the table, the most distinguishing first
};

}  // namespace

ordered_json label_report_data(const Analysis& analysis) { return LabelCollector(analysis).collect(); }

}  // namespace coppice
