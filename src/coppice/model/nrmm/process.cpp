#include "coppice/model/nrmm/process.hpp"

#include <cmath>

#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"
#include "coppice/model/parameter_rows.hpp"
#include "coppice/prior/crp.hpp"
#include "coppice/prior/ngg.hpp"

namespace coppice::nrmm {
namespace {

struct Total {
  std::size_t rows = 0, clusters = 0;
};

Total total_of(std::span<const std::uint32_t> sizes) {
  Total total;
  for (const std::uint32_t size : sizes) {
    total.rows += size;
    total.clusters += size != 0;
  }
  return total;
}

/// alpha as both processes have it: given, or learned from the mean of its prior.
Concentration alpha_of(const ParameterValues& parameters) {
  if (parameters.has("alpha")) return Concentration(parameters.real("alpha"));
  const GammaPrior prior = gamma_prior_of(parameters, "alpha-prior");
  return {prior.shape / prior.rate, prior};
}

class DirichletProcess final : public Process {
 public:
  DirichletProcess(const ParameterValues& parameters, std::size_t rows, double copies)
      : alpha_(alpha_of(parameters)),
        crp_(alpha_.start(), rows),
        more_copies_(copies - static_cast<double>(rows)) {}

  const ProductPartition& law() const override { return crp_; }
  ProcessState state() const override { return {crp_.alpha(), 0.0, 0.0}; }
  void set_state(const ProcessState& state) override {
    check_concentration(state.alpha);
    crp_.set_alpha(state.alpha);
  }
  double log_prior(std::span<const std::uint32_t> sizes) const override {
    double total = crp_.log_partition(sizes) + alpha_.log_prior(crp_.alpha());
    if (more_copies_ > 0.0) {
      // The seats of copies are in the marginals of their clusters.
      const double rows = crp_.alpha() + static_cast<double>(total_of(sizes).rows);
      total += log_gamma(rows) - log_gamma(rows + more_copies_);
    }
    return total;
  }
  bool update(Stream& stream, std::span<const std::uint32_t> sizes, bool) override {
    if (!alpha_.is_learned()) return false;
    const Total total = total_of(sizes);
    crp_.set_alpha(update_concentration(stream, alpha_.prior(), crp_.alpha(), total.clusters,
                                        total.rows + static_cast<std::size_t>(more_copies_)));
    return false;
  }
  void draw(Stream& stream, std::span<Label> labels) override {
    crp_.set_alpha(alpha_.draw_prior(stream));
    crp_.draw_partition(stream, labels);
  }
  std::size_t draw_count(Stream& stream, std::size_t rows) const override {
    const double alpha = alpha_.draw_prior(stream);
    std::size_t count = 0;
    for (std::size_t row = 0; row < rows; ++row)
      count += draw_uniform(stream) * (alpha + static_cast<double>(row)) < alpha ? 1 : 0;
    return count;
  }

 private:
  Concentration alpha_;
  Crp crp_;
  double more_copies_;  // of all rows, than there are rows
};

/// sigma: given, or learned from the mean of its prior.
struct Discount {
  explicit Discount(const ParameterValues& parameters)
      : is_learned(!parameters.has("sigma")),
        prior{parameters.numbers("sigma-prior").at(0), parameters.numbers("sigma-prior").at(1)},
        start(is_learned ? prior.a / (prior.a + prior.b) : parameters.real("sigma")) {}

  double draw_prior(Stream& stream) const { return is_learned ? prior.draw(stream) : start; }

  bool is_learned;
  BetaPrior prior;
  double start;
};

class GeneralizedGammaProcess final : public Process {
 public:
  GeneralizedGammaProcess(const ParameterValues& parameters, std::size_t rows)
      : alpha_(alpha_of(parameters)), sigma_(parameters), ngg_(alpha_.start(), sigma_.start, rows) {}

  const ProductPartition& law() const override { return ngg_; }
  ProcessState state() const override { return {ngg_.alpha(), ngg_.sigma(), ngg_.log_t()}; }
  void set_state(const ProcessState& state) override {
    check_concentration(state.alpha);
    if (!(state.sigma > 0.0 && state.sigma < 1.0 && std::isfinite(state.log_t)))
      fail(ErrorCode::bad_data, "checkpoint has sigma = {} and log t = {}", state.sigma, state.log_t);
    ngg_.set(state.alpha, state.sigma, state.log_t);
  }
  double log_prior(std::span<const std::uint32_t> sizes) const override {
    return ngg_.log_partition_and_u(sizes) + alpha_.log_prior(ngg_.alpha()) +
           (sigma_.is_learned ? sigma_.prior.log_density(ngg_.sigma()) : 0.0);
  }
  bool update(Stream& stream, std::span<const std::uint32_t> sizes, bool all) override {
    const Total total = total_of(sizes);
    ngg_.update_auxiliary(stream, total.rows, total.clusters);
    if (alpha_.is_learned()) ngg_.update_alpha(stream, alpha_.prior(), total.clusters);
    const bool sigma_changes = sigma_.is_learned && all;
    if (sigma_changes) ngg_.update_sigma(stream, sigma_.prior, sizes);
    // Twice: u, alpha and sigma depend on each other more than on anything else.
    ngg_.update_auxiliary(stream, total.rows, total.clusters);
    return sigma_changes;
  }
  void draw(Stream& stream, std::span<Label> labels) override {
    const double alpha = alpha_.draw_prior(stream);
    ngg_.set(alpha, sigma_.draw_prior(stream), -std::log(alpha));
    ngg_.draw_partition(stream, labels);
  }
  std::size_t draw_count(Stream& stream, std::size_t rows) const override {
    const double alpha = alpha_.draw_prior(stream);
    return draw_ngg_cluster_count(stream, alpha, sigma_.draw_prior(stream), rows);
  }
  double log_u() const override { return ngg_.log_u(); }

 private:
  Concentration alpha_;
  Discount sigma_;
  Ngg ngg_;
};

}  // namespace

bool is_ngg(const ParameterValues& parameters) { return parameters.choice("process") == "ngg"; }

std::optional<Concentration> row_seating(const ParameterValues& parameters) {
  if (is_ngg(parameters)) return std::nullopt;
  return alpha_of(parameters);
}

std::unique_ptr<Process> make_process(const ParameterValues& parameters, std::size_t rows, double copies) {
  if (is_ngg(parameters)) return std::make_unique<GeneralizedGammaProcess>(parameters, rows);
  return std::make_unique<DirichletProcess>(parameters, rows, copies);
}

NextRow::NextRow(double alpha, double rows) {
  log_scale_ = -std::log(rows + alpha);
  log_open_ = log_scale_ + std::log(alpha);
}

NextRow::NextRow(double alpha, double sigma, double log_u, std::size_t rows) : sigma_(sigma) {
  // u / (N (1 + u)) times the weights: the density of u for N + 1 rows against that for N.
  const auto n = static_cast<double>(rows);
  const double log1p_u = log1p_exp(log_u);
  log_scale_ = log_u - log1p_u - std::log(n);
  log_open_ = log_scale_ + std::log(alpha) + std::log(sigma_) + sigma_ * log1p_u;
}

double NextRow::log_join(double size) const { return log_scale_ + std::log(size - sigma_); }

}  // namespace coppice::nrmm
