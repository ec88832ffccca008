// Rows with weights. A row of weight w, a whole number, is w equal rows that always share a cluster: what is
// computed is p(partition, data) of the table in which every row is repeated w times, given that copies stay
// together. Behind the cells of a row comes its number of copies, and this family adds as many copies to the
// statistics of the family of the cells.
//
// A Chinese restaurant process seats the n rows of a cluster, with N copies, with the weight Gamma(N) in
// place of Gamma(n). Whoever weighs clusters does so by the weight of n rows times the marginal; here the
// marginal has the factor Gamma(N) / Gamma(n), so that samplers and trees need not know of copies. What
// depends on the number of all copies (the law of the concentration, predictions) asks Rows for it.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "coppice/family/family.hpp"
#include "coppice/family/rows.hpp"

namespace coppice {

/// log of Gamma(copies) / Gamma(rows): what the seats of all copies weigh beside those of the rows.
double log_more_seats(double rows, double copies);

class TiedCopies final : public Family {
 public:
  /// The family of the cells without the number of copies.
  explicit TiedCopies(std::unique_ptr<Family> cells);

  /// The family of the cells, for whoever counts copies by itself.
  const Family& cells() const { return *cells_; }

  std::string_view name() const override { return cells_->name(); }
  std::size_t width() const override { return cells_->width() + 1; }
  std::size_t stats_size() const override {
    return kCells + cells_->stats_size();
  }  // rows; copies come first
  std::size_t theta_size() const override { return cells_->theta_size(); }
  std::size_t cache_size() const override { return at_stats_ + stats_size() + 1; }
  double origin(std::size_t column) const override;

  void clear(double* stats) const override;
  void add(double* stats, const double* row) const override;
  bool remove(double* stats, const double* row) const override;
  void add_copies(double* stats, const double* row, double copies) const override;
  bool remove_copies(double* stats, const double* row, double copies) const override;
  void merge(double* stats, const double* other) const override;
  /// With the factor of the seats, as all that follow.
  double log_marginal(const double* stats) const override;
  double log_predictive(const double* stats, const double* row) const override;
  void draw_theta(const double* stats, Stream& stream, double* theta) const override;
  /// One copy.
  void draw(const double* theta, Stream& stream, double* row) const override;
  double log_likelihood(const double* theta, const double* row) const override;
  void fill_cache(const double* stats, double* cache) const override;
  void add_log_predictive(const double* row, const double* cache, std::size_t stride, std::size_t chunks,
                          const OwnCluster& own, double* out) const override;
  CellPredictive predict_cell(const double* stats, std::size_t column) const override;
  double cell_log_predictive(const double* stats, std::size_t column, double value) const override;
  CellPredictive predict_cell_given(const double* stats, const double* row,
                                    std::size_t column) const override;
  double cell_log_predictive_given(const double* stats, const double* row, std::size_t column,
                                   double value) const override;
  bool must_fill(std::size_t column) const override;
  void draw_missing(const double* stats, Stream& stream, double* row) const override;
  /// Only for single copies.
  void add_log_predictive_of_present(const double* row, const double* cache, std::size_t stride,
                                     std::size_t chunks, double* out) const override;

  std::unique_ptr<Family> clone() const override;
  std::size_t bytes() const override { return cells_->bytes(); }
  std::size_t table_bytes() const override { return cells_->table_bytes(); }
  std::size_t hyper_size() const override { return cells_->hyper_size(); }
  void get_hyper(double* values) const override { cells_->get_hyper(values); }
  void set_hyper(const double* values) override { cells_->set_hyper(values); }
  std::vector<std::string> hyper_names() const override { return cells_->hyper_names(); }
  double log_hyper_prior() const override { return cells_->log_hyper_prior(); }
  void draw_hyper_prior(Stream& stream) override { cells_->draw_hyper_prior(stream); }
  void set_cell_hyper(std::size_t cell, const double* values) override {
    cells_->set_cell_hyper(cell, values);
  }
  void rebase(double* stats, const double* before) const override { cells_->rebase(stats + kCells, before); }
  std::unique_ptr<Family> with_independent_cells() const override;
  /// Of single rows: whoever asks for some cells by themselves counts the copies.
  std::unique_ptr<Family> of_cells(std::span<const std::size_t> cells) const override {
    return cells_->of_cells(cells);
  }
  /// Caches hold what the cells that count are worth together, and must be filled again.
  bool restrict_to(std::span<const std::size_t> cells) override { return cells_->restrict_to(cells); }
  std::vector<std::string> hyper_trace_names() const override { return cells_->hyper_trace_names(); }
  void hyper_traces(double* values) const override { cells_->hyper_traces(values); }

 protected:
  void update_hyper_at_power(std::span<const double* const> clusters, Stream& stream, double power) override;

 private:
  static constexpr std::size_t kCells = 1;  // where the statistics of the cells begin: their copies are first
  double copies_of(const double* row) const;
  /// out += the logs of the seats of one more copy.
  void add_seats(const double* cache, std::size_t stride, std::size_t chunks, const OwnCluster& own,
                 double* out) const;

  std::unique_ptr<Family> cells_;
  // A cache is that of the cells, the log of the seat of one more copy, the statistics and their log
  // marginal.
  std::size_t at_seat_, at_stats_;
  std::vector<const double*> of_cells_;  // scratch of update_hyper
};

/// The family of some cells (ascending) of the rows, with their copies if they have them; nullptr if cells
/// depend on each other given the cluster.
std::unique_ptr<Family> family_of_cells(const Family& family, const Rows& rows,
                                        std::span<const std::size_t> cells);

}  // namespace coppice
