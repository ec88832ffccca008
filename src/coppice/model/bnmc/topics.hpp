// What rows of counts are blended of: topics, which are distributions over the features, and the share that a
// row has of each, by the variational inference of latent Dirichlet allocation. The mixture gives a row one
// cluster; a row that is about several things at once has a share of each, and shares are inputs of the
// linear experts. Learned from features alone: rows without labels count, and rows held out for calibration
// tell nothing of their labels.
#pragma once

#include <span>

#include "coppice/base/aligned.hpp"
#include "coppice/base/byte_stream.hpp"
#include "coppice/base/rng.hpp"
#include "coppice/data/labeled_rows.hpp"

namespace coppice::bnmc {

class Topics {
 public:
  /// The prior, a pseudo-count of each feature in each topic, is only looked at by fits.
  Topics(std::size_t topics, std::size_t columns, double prior = 0.1);
  /// A tenth of what a topic has of a feature on average, from 0.1 to 1: less would let topics be torn in
  /// two, more would blur those of few rows.
  static double usual_prior(const SparseRows& rows, std::size_t topics);

  std::size_t size() const { return topics_; }

  /// Seeds by k-means++ over the rows, smoothed by the average row. Values are positive.
  void start(const SparseRows& rows, Stream& stream);
  /// One pass over all rows: their shares, then the topics. The threads do not change a bit.
  void pass(const SparseRows& rows, std::size_t threads);
  /// The expected shares of one row, size() of them, under the topics as they are.
  void shares(std::span<const std::uint32_t> columns, std::span<const double> values,
              std::span<double> out) const;

  /// What was learned of the first columns; the others are new.
  void take(const Topics& fewer_columns);

  /// Topics alone, or with the rows' shares that the next pass begins with.
  void put(ByteWriter& out, bool with_rows) const;
  void get(ByteReader& in, bool with_rows, std::size_t rows);

 private:
  /// exp E[log p(column | topic)], columns x stride.
  void set_expectations();
  /// `steps` rounds of a row's Dirichlet weights; exp E[log share] of the last round stays in `scale`.
  void blend(std::span<const std::uint32_t> columns, std::span<const double> values, std::size_t steps,
             double* weights, double* scale) const;

  std::size_t topics_, columns_, stride_;
  double prior_;
  AlignedVector table_;     // Dirichlet weights of the topics, columns x stride
  AlignedVector expected_;  // follows from the table
  AlignedVector rows_;      // Dirichlet weights of the rows' shares, rows x stride; empty but for fits
};

}  // namespace coppice::bnmc
