#include "coppice/model/bnmc/topics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "coppice/base/digamma.hpp"
#include "coppice/base/error.hpp"
#include "coppice/base/lanes.hpp"
#include "coppice/base/parallel.hpp"
#include "coppice/model/bnmc/row_parts.hpp"

namespace coppice::bnmc {
namespace {

constexpr double kSharePrior = 0.1;  // rows are blended of few topics
// A row continues from where the last pass left it.
constexpr std::size_t kRoundsOfAPass = 2;
constexpr std::size_t kRoundsOfANewRow = 30;

}  // namespace

Topics::Topics(std::size_t topics, std::size_t columns, double prior)
    : topics_(topics),
      columns_(columns),
      stride_((topics + kLanes - 1) / kLanes * kLanes),
      prior_(prior),
      table_(columns * stride_, prior) {}

double Topics::usual_prior(const SparseRows& rows, std::size_t topics) {
  double total = 0.0;
  for (const double value : rows.value) total += value;
  return std::clamp(0.1 * total / static_cast<double>(std::max<std::size_t>(1, topics * rows.columns)), 0.1,
                    1.0);
}

void Topics::start(const SparseRows& rows, Stream& stream) {
  const std::size_t count = rows.rows();
  std::vector<double> length(count, 0.0);
  std::vector<double> squares(count, 0.0);
  std::vector<double> average(columns_, 0.0);
  for (std::size_t row = 0; row < count; ++row) {
    const auto columns = rows.columns_of(row);
    const auto values = rows.values_of(row);
    for (const double value : values) length[row] += value;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const double share = values[i] / length[row];
      squares[row] += share * share;
      average[columns[i]] += values[i] / static_cast<double>(count);
    }
  }
  table_.assign(columns_ * stride_, prior_);
  std::vector<double> nearest(count, std::numeric_limits<double>::infinity());
  std::vector<double> seed(columns_);
  std::size_t chosen = draw_index(stream, count);
  for (std::size_t k = 0; k < topics_; ++k) {
    std::fill(seed.begin(), seed.end(), 0.0);
    const auto of_seed = rows.columns_of(chosen);
    for (std::size_t i = 0; i < of_seed.size(); ++i)
      seed[of_seed[i]] = rows.values_of(chosen)[i] / length[chosen];
    for (std::size_t d = 0; d < columns_; ++d)
      table_[d * stride_ + k] += seed[d] * length[chosen] + average[d] * draw_uniform(stream);
    double total = 0.0;
    for (std::size_t row = 0; row < count; ++row) {
      const auto columns = rows.columns_of(row);
      const auto values = rows.values_of(row);
      double product = 0.0;
      for (std::size_t i = 0; i < columns.size(); ++i) product += values[i] * seed[columns[i]];
      const double distance =
          squares[row] + squares[chosen] - (length[row] > 0.0 ? 2.0 * product / length[row] : 0.0);
      nearest[row] = std::max(0.0, std::min(nearest[row], distance));
      total += nearest[row];
    }
    chosen = total > 0.0 ? draw_categorical(stream, nearest) : draw_index(stream, count);
  }
  set_expectations();
  rows_.assign(count * stride_, 0.0);
  for (std::size_t row = 0; row < count; ++row)
    for (std::size_t k = 0; k < topics_; ++k)
      rows_[row * stride_ + k] = kSharePrior + length[row] / static_cast<double>(topics_);
}

void Topics::set_expectations() {
  AlignedVector totals(stride_, 0.0);
  for (std::size_t d = 0; d < columns_; ++d)
    for (std::size_t k = 0; k < stride_; ++k) totals[k] += table_[d * stride_ + k];
  expected_.resize(table_.size());
  for (std::size_t g = 0; g < stride_; g += kLanes) {
    const Lanes total = digamma(load_lanes(totals.data() + g));
    for (std::size_t d = 0; d < columns_; ++d) {
      const std::size_t at = d * stride_ + g;
      store_lanes(expected_.data() + at, exp(digamma(load_lanes(table_.data() + at)) - total));
    }
  }
  // Lanes that only pad a row of the table are no topics.
  for (std::size_t d = 0; d < columns_; ++d)
    std::fill(expected_.begin() + static_cast<std::ptrdiff_t>(d * stride_ + topics_),
              expected_.begin() + static_cast<std::ptrdiff_t>((d + 1) * stride_), 0.0);
}

void Topics::blend(std::span<const std::uint32_t> columns, std::span<const double> values, std::size_t steps,
                   double* weights, double* scale) const {
  for (std::size_t step = 0; step <= steps; ++step) {
    for (std::size_t g = 0; g < stride_; g += kLanes) {
      const Lanes weight = load_lanes(weights + g);
      store_lanes(scale + g, exp(digamma(weight > 1e-8 ? weight : broadcast(1e-8))));
    }
    if (step == steps) return;
    for (std::size_t k = 0; k < stride_; ++k) weights[k] = 0.0;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const double* row = expected_.data() + columns[i] * stride_;
      const double part = values[i] / (dot(row, scale, stride_) + std::numeric_limits<double>::min());
      for (std::size_t g = 0; g < stride_; g += kLanes)
        store_lanes(weights + g, load_lanes(weights + g) + part * load_lanes(row + g));
    }
    for (std::size_t k = 0; k < topics_; ++k) weights[k] = kSharePrior + scale[k] * weights[k];
  }
}

void Topics::pass(const SparseRows& rows, std::size_t threads) {
  const std::size_t count = rows.rows();
  const std::size_t parts = parts_of(count);
  std::vector<AlignedVector> sums(parts);
  parallel_for(parts, threads, [&](std::size_t part) {
    AlignedVector& sum = sums[part];
    sum.assign(table_.size(), 0.0);
    AlignedVector scale(stride_);
    for (std::size_t row = count * part / parts; row < count * (part + 1) / parts; ++row) {
      const auto columns = rows.columns_of(row);
      const auto values = rows.values_of(row);
      blend(columns, values, kRoundsOfAPass, rows_.data() + row * stride_, scale.data());
      for (std::size_t i = 0; i < columns.size(); ++i) {
        const std::size_t at = columns[i] * stride_;
        const double part_of_column = values[i] / (dot(expected_.data() + at, scale.data(), stride_) +
                                                   std::numeric_limits<double>::min());
        for (std::size_t g = 0; g < stride_; g += kLanes)
          store_lanes(sum.data() + at + g,
                      load_lanes(sum.data() + at + g) + part_of_column * load_lanes(scale.data() + g));
      }
    }
  });
  for (std::size_t at = 0; at < table_.size(); ++at) {
    double total = 0.0;
    for (const AlignedVector& sum : sums) total += sum[at];
    table_[at] = prior_ + expected_[at] * total;
  }
  set_expectations();
}

void Topics::shares(std::span<const std::uint32_t> columns, std::span<const double> values,
                    std::span<double> out) const {
  double length = 0.0;
  for (const double value : values) length += value;
  AlignedVector weights(stride_, 0.0);
  AlignedVector scale(stride_);
  std::fill_n(weights.begin(), topics_, kSharePrior + length / static_cast<double>(topics_));
  blend(columns, values, kRoundsOfANewRow, weights.data(), scale.data());
  double total = 0.0;
  for (std::size_t k = 0; k < topics_; ++k) total += weights[k];
  for (std::size_t k = 0; k < topics_; ++k) out[k] = weights[k] / total;
}

void Topics::take(const Topics& fewer_columns) {
  std::copy(fewer_columns.table_.begin(), fewer_columns.table_.end(), table_.begin());
  rows_.clear();
  set_expectations();
}

void Topics::put(ByteWriter& out, bool with_rows) const {
  out.put(static_cast<std::uint64_t>(table_.size()));
  out.put(table_.data(), table_.size());
  if (!with_rows) return;
  out.put(static_cast<std::uint64_t>(rows_.size()));
  out.put(rows_.data(), rows_.size());
}

void Topics::get(ByteReader& in, bool with_rows, std::size_t rows) {
  const auto read = [&](AlignedVector& to, std::size_t size) {
    if (in.get<std::uint64_t>() != size)
      fail(ErrorCode::bad_data, "the run file is damaged: its topics do not fit the data");
    to.resize(size);
    in.get(to.data(), size);
  };
  read(table_, columns_ * stride_);
  if (with_rows)
    read(rows_, rows * stride_);
  else
    rows_.clear();
  set_expectations();
}

}  // namespace coppice::bnmc
