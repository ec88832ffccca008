#include "coppice/family/family.hpp"

#include <algorithm>

#include "coppice/base/error.hpp"
#include "coppice/family/cell_column.hpp"

namespace coppice {

double Family::log_marginal_with(const double* stats, const double* row, double copies) const {
  std::vector<double> changed(stats, stats + stats_size());
  add_copies(changed.data(), row, copies);
  return log_marginal(changed.data());
}

double Family::log_marginal_without(const double* stats, const double* row, double copies) const {
  std::vector<double> changed(stats, stats + stats_size());
  // What rounding has spoilt is still the best guess: whoever changes the statistics rebuilds them.
  static_cast<void>(remove_copies(changed.data(), row, copies));
  return log_marginal(changed.data());
}

void Family::fill_union(const double* stats, double* cache) const {
  for (std::size_t j = 0; j < stats_size(); ++j) cache[j * kLanes] = stats[j];
}

void Family::add_log_marginals(const double* one, const double* cache, std::size_t stride, std::size_t chunks,
                               double* out) const {
  const std::size_t size = stats_size();
  std::vector<double> left(size);
  std::vector<double> right(size);
  for (std::size_t slot = 0; slot < chunks * kLanes; ++slot) {
    const double* other = cache + slot / kLanes * stride + slot % kLanes;
    for (std::size_t j = 0; j < size; ++j) {
      left[j] = one[j * kLanes];
      right[j] = other[j * kLanes];
    }
    // Merging rounds differently in the other direction.
    if (right < left) left.swap(right);
    merge(left.data(), right.data());
    out[slot] += log_marginal(left.data());
  }
}

void Family::log_marginals_upwards(const double* items, std::size_t count, std::span<const MadeNode> nodes,
                                   const double* none, double* made, double* values, double* out) const {
  const std::size_t size = stats_size();
  const auto stats_of = [&](std::uint32_t node) {
    return node < count ? items + node * size : made + (node - count) * size;
  };
  const std::size_t stride = union_size() * kLanes;
  for (std::size_t begin = 0; begin < nodes.size(); begin += kLanes) {
    const std::size_t used = std::min(kLanes, nodes.size() - begin);
    for (std::size_t value = 0; value < stride; ++value) values[value] = none[value / kLanes * kLanes];
    for (std::size_t lane = 0; lane < used; ++lane) {
      const MadeNode& node = nodes[begin + lane];
      double* stats = made + (begin + lane) * size;
      if (node.block.empty()) {
        std::copy_n(stats_of(node.left), size, stats);
        merge(stats, stats_of(node.right));
      } else {
        clear(stats);
        for (const std::uint32_t item : node.block) merge(stats, stats_of(item));
      }
      fill_union(stats, values + lane);
    }
    double sums[kLanes] = {};
    add_log_marginals(none, values, stride, 1, sums);
    std::copy_n(sums, used, out + begin);
  }
}

void Family::fill_single(const double*, double*) const {}

void Family::set_single(const double*, std::size_t, std::uint64_t*) const {}

void Family::add_log_marginals_of_singles(const double* one, const double*, const std::uint64_t*,
                                          const double* cache, std::size_t stride, unsigned chunks,
                                          double* out) const {
  for (std::size_t chunk = 0; chunk < kLanes; ++chunk)
    if ((chunks >> chunk & 1U) != 0)
      add_log_marginals(one, cache + chunk * stride, stride, 1, out + chunk * kLanes);
}

double Family::cell_log_predictive(const double*, std::size_t, double) const {
  fail(ErrorCode::bug, "the family {} does not accept missing cells", name());
}

CellPredictive Family::predict_cell_given(const double* stats, const double*, std::size_t column) const {
  return predict_cell(stats, column);
}

double Family::cell_log_predictive_given(const double* stats, const double*, std::size_t column,
                                         double value) const {
  return cell_log_predictive(stats, column, value);
}

void Family::draw_missing(const double*, Stream&, double*) const {}

void Family::add_log_predictive_of_present(const double* row, const double* cache, std::size_t stride,
                                           std::size_t chunks, double* out) const {
  add_log_predictive(row, cache, stride, chunks, {}, out);
}

void Family::log_marginals_alone(const double* rows, std::size_t count, double* out) const {
  std::vector<double> empty(stats_size());
  clear(empty.data());
  for (std::size_t i = 0; i < count; ++i) out[i] = log_predictive(empty.data(), rows + i * width());
}

void Family::get_hyper(double*) const {}

void Family::set_hyper(const double*) {}

std::vector<std::string> Family::hyper_names() const { return {}; }

void Family::draw_hyper_prior(Stream&) {}

void Family::set_cell_hyper(std::size_t, const double*) {
  fail(ErrorCode::bug, "the family {} learns nothing of single cells", name());
}

void Family::update_hyper_at_power(std::span<const double* const>, Stream&, double) {}

void Family::rebase(double*, const double*) const {}

std::vector<std::string> Family::hyper_trace_names() const { return {}; }

void Family::hyper_traces(double*) const {}

std::unique_ptr<Family> Family::of_cells(std::span<const std::size_t>) const { return nullptr; }

bool Family::restrict_to(std::span<const std::size_t>) { return false; }

std::unique_ptr<CellColumn> Family::make_column(std::span<const double>, std::span<const double>) const {
  return nullptr;
}

}  // namespace coppice
