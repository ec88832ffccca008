#include "coppice/model/bnmc/start.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace coppice::bnmc {

Responsibilities start_from_seeds(const MixtureRows& rows, std::span<const std::uint32_t> which,
                                  const Mixture& mixture, Stream& stream) {
  const Block& block = mixture.features();
  // Only values: squares and missing cells are no coordinates.
  const std::size_t columns = block.prior().columns;
  const bool counts = block.prior().likelihood == Likelihood::multinomial;
  const auto for_each_value = [&](std::uint32_t row, auto&& visit) {
    const auto slots = rows.features.columns_of(row);
    const auto values = rows.features.values_of(row);
    double length = 0.0;
    for (const double value : values) length += value;
    const double scale = counts && length > 0.0 ? 1.0 / length : 1.0;
    for (std::size_t i = 0; i < slots.size() && slots[i] < columns; ++i) visit(slots[i], scale * values[i]);
  };
  std::vector<double> size(which.size(), 0.0);
  for (std::size_t i = 0; i < which.size(); ++i)
    for_each_value(which[i], [&](std::uint32_t, double x) { size[i] += x * x; });

  std::vector<double> nearest(which.size(), std::numeric_limits<double>::infinity());
  std::vector<std::size_t> seed_of(which.size(), 0);
  std::vector<double> seed(columns);
  std::size_t chosen = draw_index(stream, which.size());
  const std::size_t seeds = std::min(mixture.clusters(), which.size());
  for (std::size_t k = 0; k < seeds; ++k) {
    std::fill(seed.begin(), seed.end(), 0.0);
    for_each_value(which[chosen], [&](std::uint32_t d, double x) { seed[d] = x; });
    double total = 0.0;
    for (std::size_t i = 0; i < which.size(); ++i) {
      double product = 0.0;
      for_each_value(which[i], [&](std::uint32_t d, double x) { product += x * seed[d]; });
      const double distance = std::max(0.0, size[i] + size[chosen] - 2.0 * product);
      if (distance < nearest[i]) {
        nearest[i] = distance;
        seed_of[i] = k;
      }
      total += nearest[i];
    }
    if (!(total > 0.0)) break;  // every row has a seed like itself
    chosen = draw_categorical(stream, nearest);
  }
  Responsibilities r(rows.size() * mixture.stride(), 0.0);
  const double others = mixture.clusters() > 1 ? 0.1 / static_cast<double>(mixture.clusters() - 1) : 0.0;
  for (std::size_t i = 0; i < which.size(); ++i) {
    double* row = r.data() + which[i] * mixture.stride();
    std::fill(row, row + mixture.clusters(), others);
    row[seed_of[i]] = mixture.clusters() > 1 ? 0.9 : 1.0;
  }
  return r;
}

Responsibilities start_with_more_clusters(const MixtureRows& rows, std::span<const std::uint32_t> which,
                                          const Mixture& before, const Responsibilities& old,
                                          const Mixture& mixture, Stream& stream) {
  constexpr double kNewShare = 0.1;
  const std::size_t clusters = before.clusters();
  const Responsibilities seeded = start_from_seeds(rows, which, before, stream);
  Responsibilities r(rows.size() * mixture.stride(), 0.0);
  for (const std::uint32_t row : which)
    for (std::size_t k = 0; k < clusters; ++k) {
      const std::size_t from = row * before.stride() + k;
      const std::size_t to = row * mixture.stride() + k;
      r[to] = (1.0 - kNewShare) * old[from];
      r[to + clusters] = kNewShare * seeded[from];
    }
  return r;
}

}  // namespace coppice::bnmc
