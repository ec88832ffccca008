// The product of several families over disjoint columns of a row; itself a family. A mixed table is one of
// these, with a block for the real columns, one for the categories, and so on.
#pragma once

#include <memory>
#include <vector>

#include "coppice/family/family.hpp"
#include "coppice/family/row_batches.hpp"

namespace coppice {

class RowFamily final : public Family, public RowBatches {
 public:
  explicit RowFamily(std::vector<std::unique_ptr<Family>> blocks);

  std::string_view name() const override { return "row"; }
  std::size_t width() const override { return width_; }
  std::size_t stats_size() const override { return stats_size_; }
  std::size_t theta_size() const override { return theta_size_; }
  std::size_t cache_size() const override { return cache_size_; }
  double origin(std::size_t column) const override;

  void clear(double* stats) const override;
  void add(double* stats, const double* row) const override;
  bool remove(double* stats, const double* row) const override;
  void add_copies(double* stats, const double* row, double copies) const override;
  bool remove_copies(double* stats, const double* row, double copies) const override;
  double log_marginal_with(const double* stats, const double* row, double copies) const override;
  double log_marginal_without(const double* stats, const double* row, double copies) const override;
  void merge(double* stats, const double* other) const override;
  double log_marginal(const double* stats) const override;
  double log_predictive(const double* stats, const double* row) const override;
  void draw_theta(const double* stats, Stream& stream, double* theta) const override;
  void draw(const double* theta, Stream& stream, double* row) const override;
  double log_likelihood(const double* theta, const double* row) const override;
  std::unique_ptr<Likelihoods> likelihoods(std::span<const double> thetas) const override;
  void add_rows(double* stats, const double* rows, std::size_t stride,
                std::span<const std::uint32_t> which) const override;
  void draw_missing_given(const double* theta, Stream& stream, double* row) const override;
  void fill_cache(const double* stats, double* cache) const override;
  void add_log_predictive(const double* row, const double* cache, std::size_t stride, std::size_t chunks,
                          const OwnCluster& own, double* out) const override;
  CellPredictive predict_cell(const double* stats, std::size_t column) const override;
  double cell_log_predictive(const double* stats, std::size_t column, double value) const override;
  std::size_t union_size() const override { return union_size_; }
  void fill_union(const double* stats, double* cache) const override;
  void add_log_marginals(const double* one, const double* cache, std::size_t stride, std::size_t chunks,
                         double* out) const override;
  std::size_t single_size() const override { return single_size_; }
  std::size_t single_words() const override { return single_words_; }
  void fill_single(const double* one, double* values) const override;
  void set_single(const double* stats, std::size_t place, std::uint64_t* words) const override;
  void add_log_marginals_of_singles(const double* one, const double* values, const std::uint64_t* words,
                                    const double* cache, std::size_t stride, unsigned chunks,
                                    double* out) const override;
  std::unique_ptr<Family> of_cells(std::span<const std::size_t> cells) const override;
  bool restrict_to(std::span<const std::size_t> cells) override;
  CellPredictive predict_cell_given(const double* stats, const double* row,
                                    std::size_t column) const override;
  double cell_log_predictive_given(const double* stats, const double* row, std::size_t column,
                                   double value) const override;
  bool must_fill(std::size_t column) const override;
  void draw_missing(const double* stats, Stream& stream, double* row) const override;
  void add_log_predictive_of_present(const double* row, const double* cache, std::size_t stride,
                                     std::size_t chunks, double* out) const override;
  void log_marginals_alone(const double* rows, std::size_t count, double* out) const override;
  std::unique_ptr<Family> clone() const override;
  std::size_t bytes() const override;
  std::size_t table_bytes() const override;
  std::size_t hyper_size() const override { return hyper_size_; }
  void get_hyper(double* values) const override;
  void set_hyper(const double* values) override;
  void set_cell_hyper(std::size_t cell, const double* values) override;
  std::vector<std::string> hyper_names() const override;
  double log_hyper_prior() const override;
  void draw_hyper_prior(Stream& stream) override;
  void update_hyper_at_power(std::span<const double* const> clusters, Stream& stream, double power) override;
  void rebase(double* stats, const double* before) const override;
  std::unique_ptr<Family> with_independent_cells() const override;
  std::vector<std::string> hyper_trace_names() const override;
  void hyper_traces(double* values) const override;

 private:
  struct Block {
    std::unique_ptr<Family> family;
    std::size_t column, stats, theta, cache, joint, single, words, hyper;  // where its part begins
  };
  const Block& block_of(std::size_t column) const;

  std::vector<Block> blocks_;
  std::vector<std::size_t> local_;       // cells of a block, in restrict_to
  std::vector<const double*> of_block_;  // statistics of a block, in update_hyper
  std::size_t width_ = 0, stats_size_ = 1, theta_size_ = 0, cache_size_ = 0, union_size_ = 0,
              single_size_ = 0, single_words_ = 0, hyper_size_ = 0;
};

}  // namespace coppice
