#include "coppice/model/nrmm/gibbs.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "coppice/cluster/draw_weights.hpp"

namespace coppice::nrmm {

void GibbsSweep::update(Clusters& clusters, std::size_t row, double uniform, double log_new) {
  if (weights_.size() < clusters.weights_size() + kLanes) weights_.resize(2 * clusters.weights_size() + kLanes);
  const std::size_t count = clusters.weights_size();
  double* weights = weights_.data();
  clusters.log_conditional(row, weights);
  double open = log_new;
  const double total = exponentiate(weights, count, open);
  const std::size_t chosen = pick(weights, count, uniform * (total + open));
  const Label before = clusters.label(row);
  if (chosen == count)
    clusters.move_to_new(row);
  else
    clusters.move(row, static_cast<Label>(chosen));
  moved_ += before != clusters.label(row);
  ++visited_;
}

void GibbsSweep::step(Clusters& clusters, const StreamName& name, std::span<const double> log_marginal_alone,
                      double log_open) {
  // Four rows share one block of the generator: row 4b + r uses word r of block b.
  Stream stream(name, Purpose::gibbs);
  for (std::size_t row = 0; row < rows_; ++row)
    update(clusters, row, draw_uniform(stream), log_open + log_marginal_alone[row]);
}

void GibbsSweep::allocate(Clusters& clusters, const StreamName& name, std::span<const double> log_marginal_alone,
                          double log_open) {
  std::vector<std::uint32_t> order(rows_);
  std::iota(order.begin(), order.end(), 0U);
  Stream shuffling(name, Purpose::scan_order);
  shuffle(shuffling, order);
  const Labels nobody(rows_, Clusters::kUnassigned);
  clusters.assign(nobody);
  Stream stream(name, Purpose::initialize);
  for (const std::uint32_t row : order) update(clusters, row, draw_uniform(stream), log_open + log_marginal_alone[row]);
}

}  // namespace coppice::nrmm
