#include "coppice/model/bnmc/predictor.hpp"

#include <cmath>

#include "coppice/model/bnmc/learned.hpp"

namespace coppice::bnmc {
namespace {

class LabelClassifier final : public Classifier {
 public:
  LabelClassifier(const Problem& problem, std::string_view payload)
      : options_(problem.parameters),
        rows_(rows_as_known(labeled_of(problem), options_)),
        inputs_(rows_, options_) {
    ByteReader in(payload);
    check_format(in);
    const auto clusters = in.get<std::uint64_t>();
    if (clusters < 1 || clusters > options_.clusters << kMostDoublings)
      fail(ErrorCode::bad_data, "the run file is damaged: it has {} clusters", clusters);
    const Units units = get_units(in, rows_.features.columns);
    mixture_ = std::make_unique<Mixture>(make_mixture(rows_, options_, clusters, units));
    learned_.get(in, *mixture_, rows_.labels.columns, inputs_.size());
    calibration_.get(in, rows_.labels.columns);
    if (has_topics(rows_, options_)) {
      topics_ = std::make_unique<Topics>(options_.topics, rows_.features.columns);
      topics_->get(in, false, 0);
    }
    in.end();
    scorer_ = std::make_unique<Scorer>(*mixture_, learned_, options_);
  }

  LabelPrediction predict(const SparseRows& features, std::size_t row) const override {
    return prediction_of(parts_of(features, row, nullptr), learned_, options_, calibration_);
  }

  LabelPrediction predict_given(const SparseRows& features, const SparseRows& known,
                                std::size_t row) const override {
    const SparseRows labels = some_rows(known, row);
    std::vector<double> values(labels.columns, 0.0);
    for (std::size_t i = 0; i < labels.column.size(); ++i) values[labels.column[i]] = labels.value[i];
    return prediction_of(parts_of(features, row, &labels), learned_, options_, calibration_, values);
  }

  const std::vector<double>& thresholds() const override { return calibration_.thresholds; }

  std::vector<LabelPattern> patterns() const override {
    const MixtureStatistics& statistics = learned_.statistics;
    const std::vector<double> log_weights = mixture_->log_mean_weights(statistics.counts);
    std::vector<LabelPattern> result(mixture_->clusters());
    std::vector<double> average(mixture_->features().prior().columns, 0.0);
    for (std::size_t k = 0; k < result.size(); ++k) {
      result[k].weight = std::exp(log_weights[k]);
      result[k].features = mixture_->features().means(statistics.counts, statistics.features, k);
      result[k].labels = mixture_->labels().means(statistics.counts, statistics.labels, k);
      for (std::size_t d = 0; d < average.size(); ++d) average[d] += result[k].weight * result[k].features[d];
    }
    const BlockPrior& prior = mixture_->features().prior();
    for (LabelPattern& pattern : result)
      for (std::size_t d = 0; d < average.size(); ++d)
        pattern.log_ratios.push_back(prior.likelihood == Likelihood::gaussian
                                         ? (pattern.features[d] - average[d]) / prior.scale[d]
                                         : std::log(pattern.features[d] / average[d]));
    return result;
  }

 private:
  /// `known` has one row, of labels; or is null.
  RowParts parts_of(const SparseRows& features, std::size_t row, const SparseRows* known) const {
    const SparseRows one = some_rows(features, row);
    const SparseRows items = mixture_->features().encode(one);
    const SparseRows inputs = options_.has_expert ? inputs_.transform(one, topics_.get(), 1) : one;
    if (known == nullptr) return (*scorer_)(items, inputs, 0);
    const SparseRows label_items = mixture_->labels().encode(*known);
    return (*scorer_)(items, inputs, 0, &label_items);
  }

  Options options_;
  LabeledRows rows_;
  Inputs inputs_;
  std::unique_ptr<Mixture> mixture_;
  std::unique_ptr<Topics> topics_;
  Learned learned_;
  Calibration calibration_;
  std::unique_ptr<Scorer> scorer_;
};

}  // namespace

std::unique_ptr<Classifier> make_classifier(const Problem& problem, std::string_view payload) {
  return std::make_unique<LabelClassifier>(problem, payload);
}

}  // namespace coppice::bnmc
