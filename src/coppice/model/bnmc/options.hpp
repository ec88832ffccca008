// The settings of bnmc, and what follows from them and the data: priors of the blocks, inputs of the experts.
#pragma once

#include "coppice/base/parameter.hpp"
#include "coppice/model/bnmc/expert.hpp"
#include "coppice/model/bnmc/mixture.hpp"
#include "coppice/model/bnmc/topics.hpp"
#include "coppice/model/model.hpp"

namespace coppice::bnmc {

std::vector<Parameter> parameter_table();
/// Throws Error{configuration} for settings that exclude each other.
void check_given(const Settings& given);

enum class Combine { product, mixture, linear, logit, stack };
enum class Aim { micro, macro, hamming, fixed };
/// Which labels of a row are chosen: those that reach their threshold, the same or else the best one, or as
/// many of the best as the row is to have.
enum class Choice { threshold, at_least_one, top };

struct Options {
  explicit Options(const ParameterValues& parameters);

  std::size_t clusters, minibatch, epochs, restarts, sweeps, folds, least_positives, topics;
  std::size_t top;  // labels of a row with Choice::top; 0: as many as are expected of it
  double keep, alpha, forgetting, delay, tolerance, feature_weight, label_weight, feature_prior, label_prior;
  bool grow, scales_by_labeled, has_expert, unobserved_is_missing, is_variational;
  std::string features, covariance, inputs;
  Likelihood label_model;
  ExpertOptions expert;
  Combine combine;
  Choice choice;
  Aim aim;
  double threshold;
};

inline constexpr std::size_t kMostDoublings = 10;

/// Throws Error{configuration} if the problem has no labels.
const LabeledRows& labeled_of(const Problem& problem);

/// Rows with such labels.
LabeledRows rows_as_known(const LabeledRows& rows, const Options& options);

/// Warnings about labels that all rows have or none has, and what they mean for the answers.
std::vector<std::string> warnings_of(const SparseRows& labels, const Options& options);

/// The mixture for this many clusters; normal features are measured in the given units, or those of the rows.
struct Units {
  std::vector<double> origin, scale;
};
Mixture make_mixture(const LabeledRows& rows, const Options& options, std::size_t clusters,
                     const Units& units = {});

/// Whether experts get shares of topics: only counts and bits are blended of anything.
bool has_topics(const LabeledRows& rows, const Options& options);
/// Whether they get the features themselves.
bool has_features(const LabeledRows& rows, const Options& options);

/// How features become inputs of the linear experts: counts as log(1 + x), then counts and reals divided by
/// their standard deviation, bits as they are; centered if covariances are full. The intercept is input 0;
/// the row's shares of topics come last.
class Inputs {
 public:
  Inputs(const LabeledRows& rows, const Options& options);
  /// Whether the experts keep full covariances.
  bool is_full() const { return full_; }
  std::size_t size() const { return 1 + (has_features_ ? scale_.size() : 0) + topics_; }
  /// `topics` is only looked at if there are any among the inputs.
  SparseRows transform(const SparseRows& features, const Topics* topics, std::size_t threads) const;
  Eigen::VectorXd prior_variance() const;

 private:
  bool full_;
  bool has_features_ = true;
  std::size_t topics_ = 0;
  std::vector<char> is_count_;
  std::vector<double> mean_, shift_, scale_;  // of the transformed columns
  std::vector<std::uint32_t> centered_;       // columns that have a shift
};

}  // namespace coppice::bnmc
