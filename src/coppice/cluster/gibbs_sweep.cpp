#include "coppice/cluster/gibbs_sweep.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "coppice/base/math.hpp"
#include "coppice/base/stop.hpp"
#include "coppice/cluster/draw_weights.hpp"

namespace coppice {

double* GibbsSweep::weights_for(const Clusters& clusters, std::size_t& count) {
  // The new cluster takes the first lane behind the slots, which is in a chunk of its own if the slots fill
  // theirs.
  const std::size_t padded = clusters.weights_size();
  count = clusters.sizes().size() < padded ? padded : padded + kLanes;
  if (weights_.size() < count) weights_.resize(2 * count);
  for (std::size_t lane = padded; lane < count; ++lane) weights_[lane] = kMinusInfinity;
  return weights_.data();
}

void GibbsSweep::update(Clusters& clusters, std::size_t row, double uniform, double log_new) {
  throw_if_stopped(stop_);
  const std::size_t slots = clusters.sizes().size();
  std::size_t count = 0;
  double* weights = weights_for(clusters, count);
  clusters.log_conditional(row, weights);
  weights[slots] = log_new;
  if (power_ != 1.0)
    for (std::size_t slot = 0; slot < count; ++slot) weights[slot] *= power_;
  const std::size_t chosen = draw_from_log_weights(weights, count, uniform);
  const Label before = clusters.label(row);
  if (chosen == slots)
    clusters.move_to_new(row);
  else
    clusters.move(row, static_cast<Label>(chosen));
  count_.accepted += before != clusters.label(row);
  ++count_.proposed;
}

void GibbsSweep::update(Clusters& clusters, std::size_t row, double uniform, double log_new,
                        Stream& missing) {
  if (filled_ != nullptr && filled_->is_incomplete(row))
    update_incomplete(clusters, row, uniform, log_new, missing);
  else
    update(clusters, row, uniform, log_new);
}

void GibbsSweep::update_incomplete(Clusters& clusters, std::size_t row, double uniform, double log_new,
                                   Stream& missing) {
  const Label before = clusters.label(row);
  if (before != Clusters::kUnassigned) clusters.take_out(row);
  const std::size_t slots = clusters.sizes().size();
  std::size_t count = 0;
  double* weights = weights_for(clusters, count);
  clusters.log_conditional_of_present(filled_->observed()[row], weights);
  weights[slots] = log_new;
  const std::size_t chosen = draw_from_log_weights(weights, count, uniform);
  if (chosen == slots) {
    filled_->draw(clusters.empty_stats(), row, missing);
    clusters.move_to_new(row);
  } else {
    filled_->draw(clusters.stats(static_cast<Label>(chosen)), row, missing);
    clusters.add(row, static_cast<Label>(chosen));
  }
  count_.accepted += before != clusters.label(row);
  ++count_.proposed;
}

void GibbsSweep::step(Clusters& clusters, const StreamName& name, std::span<const double> log_marginal_alone,
                      double log_open) {
  // Four rows share one block of the generator: row 4b + r uses word r of block b.
  Stream stream(name, Purpose::gibbs);
  for (std::size_t row = 0; row < log_marginal_alone.size(); ++row) {
    Stream missing(name, Purpose::missing, row);
    update(clusters, row, draw_uniform(stream), log_open + log_marginal_alone[row], missing);
  }
}

void GibbsSweep::step_some(Clusters& clusters, const StreamName& name,
                           std::span<const double> log_marginal_alone, double log_open, std::size_t count) {
  Stream stream(name, Purpose::gibbs);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t row = draw_index(stream, log_marginal_alone.size());
    // A row may come twice: its numbers are named by the turn, behind those of the rows.
    Stream missing(name, Purpose::missing, log_marginal_alone.size() + i);
    update(clusters, row, draw_uniform(stream), log_open + log_marginal_alone[row], missing);
  }
}

void GibbsSweep::allocate(Clusters& clusters, const StreamName& name,
                          std::span<const double> log_marginal_alone, double log_open) {
  std::vector<std::uint32_t> order(log_marginal_alone.size());
  std::iota(order.begin(), order.end(), 0U);
  Stream shuffling(name, Purpose::scan_order);
  shuffle(shuffling, order);
  const Labels unassigned(clusters.rows(), Clusters::kUnassigned);
  clusters.assign(unassigned);
  Stream stream(name, Purpose::initialize);
  for (const std::uint32_t row : order) {
    Stream missing(name, Purpose::missing, row);
    update(clusters, row, draw_uniform(stream), log_open + log_marginal_alone[row], missing);
  }
}

}  // namespace coppice
