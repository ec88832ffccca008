// The linear experts of all labels over one set of rows: which labels get one, their inputs, and the fit of
// some of the labels from some of the rows.
#pragma once

#include "coppice/model/bnmc/learned.hpp"

namespace coppice::bnmc {

class LabelExperts {
 public:
  /// Both outlive it.
  LabelExperts(const LabeledRows& rows, const Options& options);

  const Inputs& inputs() const { return inputs_; }
  /// Inputs of all rows; empty until the design is set.
  const SparseRows& rows_of_inputs() const { return inputs_of_rows_; }
  void set_design(const SparseRows& features, const Topics* topics, std::size_t threads);

  /// Fits the labels in [from, to) to the given rows, into learned.experts, which has room for them. Experts
  /// of nearly the same rows are a good start, if there are any.
  void fit(std::span<const std::uint32_t> which, std::size_t from, std::size_t to, const StreamName& name,
           std::size_t threads, const std::vector<Expert>& start, Learned& learned) const;

 private:
  void fit_together(const SparseDesign& design, std::span<const std::uint32_t> which, std::size_t from,
                    std::size_t to, const StreamName& name, const std::vector<Expert>& start,
                    Learned& learned) const;
  Expert fit_one(std::span<const std::uint32_t> which, const std::vector<double>& answers,
                 const Eigen::VectorXd& variance, Stream& stream) const;

  const LabeledRows& rows_;
  const Options& options_;
  Inputs inputs_;
  SparseRows inputs_of_rows_;
  SparseDesign design_;    // the inputs, if covariances are diagonal
  Eigen::MatrixXd dense_;  // the inputs, if covariances are full
};

}  // namespace coppice::bnmc
