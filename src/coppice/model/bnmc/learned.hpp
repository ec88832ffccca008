// What a fit has learned from some rows, and what it says of others: the parts that scores are made of.
#pragma once

#include <optional>
#include <string>

#include "coppice/base/byte_stream.hpp"
#include "coppice/model/bnmc/expert.hpp"
#include "coppice/model/bnmc/mixture.hpp"
#include "coppice/model/bnmc/options.hpp"

namespace coppice::bnmc {

struct Learned {
  std::size_t clusters = 0;
  MixtureStatistics statistics;
  std::vector<double> cardinality;  // expected number of labels of a row, by cluster
  std::vector<double> base_rates;   // of the labels
  std::vector<Expert> experts;      // of the labels; none if there are no experts

  /// Rates that do not exist yet are written as zeros, for this many clusters and labels.
  void put(ByteWriter& out, std::size_t clusters, std::size_t labels) const;
  /// Throws Error{bad_data} if it does not fit the mixture and the experts' inputs.
  void get(ByteReader& in, const Mixture& mixture, std::size_t labels, std::size_t inputs);
};
/// What a fit keeps begins with the version of its form, which is also that of what the weights of experts
/// mean. check_format throws Error{bad_data} for another.
void put_format(ByteWriter& out);
void check_format(ByteReader& in);
/// Of normal features: origins, then scales.
Units get_units(ByteReader& in, std::size_t columns);
void put_statistics(ByteWriter& out, const MixtureStatistics& statistics);
void get_statistics(ByteReader& in, const Mixture& mixture, MixtureStatistics& statistics);

/// Base rates and cardinalities from the rows that were learned from.
void learn_rates(const LabeledRows& rows, std::span<const std::uint32_t> which, const Mixture& mixture,
                 const Responsibilities& responsibilities, Learned& learned);

/// What the experts say of one row.
struct RowParts {
  std::vector<double> clusters;  // probabilities given the features, and the known labels if there are any
  double log_density = 0.0;      // of the features
  double cardinality = 0.0;
  std::vector<double> mixture;  // psi_bar of each label
  std::vector<double> linear;   // sigma_bar of each label
};

class Scorer {
 public:
  /// Mixture and learned outlive it.
  Scorer(const Mixture& mixture, const Learned& learned, const Options& options);
  /// Items of the features block, and inputs of the experts (unused if there are none). Items of the labels
  /// block, if there are any, are labels that are known of the row.
  RowParts operator()(const SparseRows& items, const SparseRows& inputs, std::size_t row,
                      const SparseRows* known = nullptr) const;

 private:
  const Mixture& mixture_;
  const Learned& learned_;
  std::vector<double> log_weights_;
  BlockPredictive predictive_, label_predictive_;
  // What a local update adds up instead, if clusters are to be shared as there.
  std::vector<double> expected_log_weights_;
  std::optional<BlockExpectation> expected_, label_expected_;
  std::vector<double> label_means_;  // clusters x labels
};

/// From parts to scores, probabilities and choices.
struct Calibration {
  std::vector<double> thresholds;    // of each label
  std::vector<double> coefficients;  // intercept and slopes of the evidence; empty: not calibrated

  void put(ByteWriter& out) const;
  void get(ByteReader& in, std::size_t labels);
};

/// Scores of a row's labels in the units of thresholds.
std::vector<double> scores_of(const RowParts& parts, const Learned& learned, const Options& options,
                              const Calibration& calibration);
/// Probabilities of a row's labels.
std::vector<double> probabilities_of(const RowParts& parts, const Learned& learned, const Options& options,
                                     const Calibration& calibration);
/// All that a row's parts say. `known` has 0, 1 or NaN for each label, or is empty: a label that is known has
/// that probability and score, and is chosen if it is there.
LabelPrediction prediction_of(RowParts parts, const Learned& learned, const Options& options,
                              const Calibration& calibration, std::span<const double> known = {});
/// Learns slopes, then thresholds, from rows that were predicted by what was not learned from them.
Calibration calibrate(const LabeledRows& rows, std::span<const RowParts> parts, const Learned& learned,
                      const Options& options, std::size_t threads = 1);

}  // namespace coppice::bnmc
