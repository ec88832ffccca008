// Rows of counts (words of a document) with one Dirichlet prior: x ~ Multinomial(T, p), p ~ Dirichlet(c_1,
// ..., c_D). log m = sum log multinomial coefficients + log Gamma(C) - log Gamma(C + S) + sum_j [log
// Gamma(c_j + s_j)
// - log Gamma(c_j)], s_j the column sums, S their total, C = sum_j c_j.
#pragma once

#include <vector>

#include "coppice/family/family.hpp"
#include "coppice/family/inputs.hpp"
#include "coppice/family/row_batches.hpp"

namespace coppice {

class Multinomial final : public Family, public RowBatches {
 public:
  explicit Multinomial(std::vector<double> concentration);

  std::string_view name() const override { return "multinomial"; }
  std::size_t width() const override { return concentration_.size(); }
  std::size_t stats_size() const override {
    return 3 + width();
  }  // rows, log coefficients, total, column sums
  std::size_t theta_size() const override { return width(); }
  std::size_t cache_size() const override { return 2 + width(); }
  double origin(std::size_t) const override { return 0.0; }

  void clear(double* stats) const override;
  void add(double* stats, const double* row) const override;
  bool remove(double* stats, const double* row) const override;
  void add_copies(double* stats, const double* row, double copies) const override;
  bool remove_copies(double* stats, const double* row, double copies) const override;
  void merge(double* stats, const double* other) const override;
  double log_marginal(const double* stats) const override;
  double log_predictive(const double* stats, const double* row) const override;
  void draw_theta(const double* stats, Stream& stream, double* theta) const override;
  void draw(const double* theta, Stream& stream, double* row) const override;
  double log_likelihood(const double* theta, const double* row) const override;
  void fill_cache(const double* stats, double* cache) const override;
  void add_log_predictive(const double* row, const double* cache, std::size_t stride, std::size_t chunks,
                          const OwnCluster& own, double* out) const override;
  CellPredictive predict_cell(const double* stats, std::size_t column) const override;
  std::unique_ptr<Family> clone() const override { return std::make_unique<Multinomial>(*this); }
  std::unique_ptr<Likelihoods> likelihoods(std::span<const double> thetas) const override;
  void add_rows(double* stats, const double* rows, std::size_t stride,
                std::span<const std::uint32_t> which) const override;

 private:
  void change(double* stats, const double* row, double sign) const;
  struct Tokens;
  /// Sum over the tokens' words of log Gamma(weight + count) - log Gamma(weight), the weights taken without
  /// `times` the row itself.
  double log_rising_product(const double* stats, const double* row, const Tokens& tokens, double times) const;
  std::vector<double> concentration_;
  double total_;
  double least_;             // concentration
  double row_total_ = 20.0;  // tokens in a simulated row
};

FamilyEntry multinomial_entry();

}  // namespace coppice
