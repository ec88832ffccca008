// The linear experts of all labels over one set of rows: which labels get one, their inputs, and the fit of
// some of the labels from some of the rows.
#pragma once

#include "coppice/model/bnmc/learned.hpp"

namespace coppice::bnmc {

class LabelExperts {
 public:
  /// Both outlive it.
  LabelExperts(const LabelledRows& rows, const Options& options);

  const Inputs& inputs() const { return inputs_; }
  /// Inputs of all rows; empty until the design is set.
  const SparseRows& rows_of_inputs() const { return design_.rows; }
  void set_design(const SparseRows& features, const Topics* topics, std::size_t threads);

  /// Fits the labels in [from, to) to the given rows, into learned.experts, which has room for them.
  void fit(std::span<const std::uint32_t> which, std::size_t from, std::size_t to, const StreamName& name,
           std::size_t threads, Learned& learned) const;

 private:
  void fit_together(std::span<const std::uint32_t> which, std::size_t from, std::size_t to,
                    const StreamName& name, Learned& learned) const;
  Expert fit_one(std::span<const std::uint32_t> which, const std::vector<double>& answers,
                 const Eigen::VectorXd& variance, Stream& stream) const;

  const LabelledRows& rows_;
  const Options& options_;
  Inputs inputs_;
  SparseDesign design_;
  Eigen::MatrixXd dense_;  // the inputs, if covariances are full
};

}  // namespace coppice::bnmc
