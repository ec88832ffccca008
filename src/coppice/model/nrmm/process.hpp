// The random measure of a mixture: the law of the partition with the parameters of that law, which are fixed
// or learned. Moves use law() alone; the state of a chain keeps ProcessState.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coppice/base/parameter.hpp"
#include "coppice/base/rng.hpp"
#include "coppice/prior/concentration.hpp"
#include "coppice/prior/product_partition.hpp"
#include "coppice/shape/partition.hpp"

namespace coppice::nrmm {

struct ProcessState {
  double alpha = 1.0;
  double sigma = 0.0;  // 0: Dirichlet process, which has no t either
  double log_t = 0.0;
};

class Process {
 public:
  virtual ~Process() = default;
  virtual const ProductPartition& law() const = 0;
  virtual ProcessState state() const = 0;
  /// Throws Error{bad_data} for values outside of the process.
  virtual void set_state(const ProcessState& state) = 0;
  /// log p(partition, learned parameters, u), with u as density in u.
  virtual double log_prior(std::span<const std::uint32_t> sizes) const = 0;
  /// Gibbs and slice updates of u and of what is learned. True if the weights of joining have changed.
  /// Without `all`, sigma, whose update costs a pass over all cluster sizes up to N, is left as it is.
  virtual bool update(Stream& stream, std::span<const std::uint32_t> sizes, bool all = true) = 0;
  /// Parameters and partition from the prior.
  virtual void draw(Stream& stream, std::span<Label> labels) = 0;
  /// The number of clusters of that many rows from the prior, with the parameters.
  virtual std::size_t draw_count(Stream& stream, std::size_t rows) const = 0;
  /// Log of the auxiliary variable; the Dirichlet process has none.
  virtual double log_u() const { return 0.0; }
};

/// Begins at the given values or at the means of their priors. Only the Dirichlet process has another number
/// of copies than of rows.
std::unique_ptr<Process> make_process(const ParameterValues& parameters, std::size_t rows, double copies);
inline std::unique_ptr<Process> make_process(const ParameterValues& parameters, std::size_t rows) {
  return make_process(parameters, rows, static_cast<double>(rows));
}
/// The concentration of the Dirichlet process; nothing for another process.
std::optional<Concentration> row_seating(const ParameterValues& parameters);
/// Whether the process is the normalized generalized gamma process, which has a discount and u too.
bool is_ngg(const ParameterValues& parameters);

/// log p of joining a cluster of `size` of `rows` rows, and of opening a cluster, for the next row: the
/// predictive weights given the parameters of the process.
class NextRow {
 public:
  /// Of the Dirichlet process.
  NextRow(double alpha, double rows);
  /// Of the normalized generalized gamma process.
  NextRow(double alpha, double sigma, double log_u, std::size_t rows);
  double log_join(double size) const;
  double log_open() const { return log_open_; }

 private:
  double sigma_ = 0.0, log_scale_ = 0.0, log_open_ = 0.0;
};

}  // namespace coppice::nrmm
