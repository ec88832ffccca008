#include "coppice/prior/crp.hpp"

#include <cmath>

#include "coppice/base/math.hpp"

namespace coppice {

Crp::Crp(double alpha, std::size_t rows) : ProductPartition(rows) { set_alpha(alpha); }

void Crp::set_alpha(double alpha) {
  alpha_ = alpha;
  set_log_open(std::log(alpha));
}

double Crp::log_partition(std::span<const std::uint32_t> sizes) const {
  const auto [total, rows] = log_kappas(sizes);
  return total + log_gamma(alpha_) - log_gamma(alpha_ + static_cast<double>(rows));
}

void Crp::draw_partition(Stream& stream, std::span<Label> labels) const {
  std::vector<double> weights{alpha_};  // the last one opens a cluster
  for (Label& label : labels) {
    const std::size_t drawn = draw_categorical(stream, weights);
    label = static_cast<Label>(drawn);
    if (drawn + 1 == weights.size()) {
      weights.back() = 1.0;
      weights.push_back(alpha_);
    } else {
      weights[drawn] += 1.0;
    }
  }
}

}  // namespace coppice
