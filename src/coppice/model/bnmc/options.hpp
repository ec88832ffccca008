// The settings of bnmc, and what follows from them and the data: priors of the blocks, inputs of the experts.
#pragma once

#include "coppice/base/parameter.hpp"
#include "coppice/model/bnmc/expert.hpp"
#include "coppice/model/bnmc/mixture.hpp"
#include "coppice/model/model.hpp"

namespace coppice::bnmc {

std::vector<Parameter> parameter_table();
/// Throws Error{configuration} for settings that exclude each other.
void check_given(const Settings& given);

enum class Combine { product, mixture, linear, logit, stack };
enum class Aim { micro, macro, hamming, fixed };

struct Options {
  explicit Options(const ParameterValues& parameters);

  std::size_t clusters, minibatch, epochs, restarts, sweeps, folds, least_positives;
  double alpha, forgetting, delay, tolerance, feature_weight, label_weight, feature_prior, label_prior;
  bool grow, scales_by_labelled, has_expert, unobserved_is_missing;
  std::string features, covariance;
  Likelihood label_model;
  ExpertOptions expert;
  Combine combine;
  Aim aim;
  double threshold;
};

/// The rows as they are learned: with --unobserved missing no label is known to be absent.
LabelledRows rows_as_known(const LabelledRows& rows, const Options& options);

/// The mixture for so many clusters.
Mixture make_mixture(const LabelledRows& rows, const Options& options, std::size_t clusters);

/// How features become inputs of the linear experts: counts as log(1 + x), then counts and reals divided by
/// their standard deviation, bits as they are; centred if covariances are full. The intercept is input 0.
class Inputs {
 public:
  Inputs(const LabelledRows& rows, const Options& options);
  /// Whether the experts keep full covariances.
  bool is_full() const { return full_; }
  std::size_t size() const { return scale_.size() + 1; }
  SparseRows transform(const SparseRows& features) const;
  Eigen::VectorXd prior_variance() const;

 private:
  bool full_;
  std::vector<char> is_count_;
  std::vector<double> mean_, shift_, scale_;  // of the transformed columns
};

}  // namespace coppice::bnmc
