#include "coppice/post/binned_coclustering.hpp"

#include <algorithm>

#include "coppice/base/error.hpp"
#include "coppice/base/parallel.hpp"
#include "coppice/shape/contingency.hpp"

namespace coppice {
namespace {

constexpr std::size_t kParts = 8;  // of the draws, each with sums of its own; sums of integers are exact

/// Adds the number of ordered pairs of rows in one cluster to sums[bin of one][bin of the other].
class PairSums {
 public:
  PairSums(std::span<const std::uint32_t> bin_of_row, std::size_t bins)
      : bins_(bins), sums_(bins * bins), labels_(bin_of_row.size()) {
    for (const std::uint32_t bin : bin_of_row) bin_of_row_.push_back(static_cast<Label>(bin));
  }

  void add(std::span<const Label> draw) {
    const std::size_t clusters = compact_labels(draw, labels_);
    std::size_t cluster = 0;
    counter_.for_each_cell(labels_, clusters, bin_of_row_, bins_,
                           [&](std::size_t c, std::size_t bin, std::size_t count) {
                             if (c != cluster) finish_cluster();
                             cluster = c;
                             cells_.push_back({bin, count});
                           });
    finish_cluster();
  }

  const std::vector<std::uint64_t>& sums() const { return sums_; }

 private:
  struct Cell {
    std::size_t bin, count;
  };

  void finish_cluster() {
    for (const Cell& a : cells_)
      for (const Cell& b : cells_) sums_[a.bin * bins_ + b.bin] += a.count * b.count;
    cells_.clear();
  }

  std::size_t bins_;
  std::vector<std::uint64_t> sums_;
  Labels labels_, bin_of_row_;
  PairCounter counter_;
  std::vector<Cell> cells_;
};

}  // namespace

std::vector<double> binned_coclustering(const LabelMatrix& draws, std::span<const std::uint32_t> bin_of_row,
                                        std::size_t bins, std::size_t threads) {
  if (draws.draws() == 0) fail(ErrorCode::usage, "coclustering: there are no draws");
  if (bin_of_row.size() != draws.rows)
    fail(ErrorCode::usage, "coclustering: {} bins of rows for {} rows", bin_of_row.size(), draws.rows);
  std::vector<std::uint64_t> sizes(bins);
  for (const std::uint32_t bin : bin_of_row) {
    if (bin >= bins) fail(ErrorCode::usage, "coclustering: bin {} of {}", bin, bins);
    ++sizes[bin];
  }
  const std::size_t parts = std::min(kParts, draws.draws());
  std::vector<PairSums> sums(parts, PairSums(bin_of_row, bins));
  parallel_for(parts, threads, [&](std::size_t part) {
    for (std::size_t draw = part; draw < draws.draws(); draw += parts) sums[part].add(draws[draw]);
  });
  std::vector<double> matrix(bins * bins);
  for (std::size_t a = 0; a < bins; ++a) {
    for (std::size_t b = 0; b < bins; ++b) {
      std::uint64_t together = 0;
      for (const PairSums& part : sums) together += part.sums()[a * bins + b];
      std::uint64_t pairs = sizes[a] * sizes[b] * draws.draws();
      if (a == b) {  // a row does not form a pair with itself
        together -= sizes[a] * draws.draws();
        pairs -= sizes[a] * draws.draws();
      }
      matrix[a * bins + b] = pairs == 0 ? 1.0 : static_cast<double>(together) / static_cast<double>(pairs);
    }
  }
  return matrix;
}

}  // namespace coppice
