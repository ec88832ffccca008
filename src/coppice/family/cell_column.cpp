#include "coppice/family/cell_column.hpp"

#include <algorithm>

namespace coppice {

RowSets::RowSets(std::size_t rows) : words_((rows + 63) / 64) {
  constexpr std::size_t kUsual = 32;  // more clusters than this allocate when they come
  bits_.reserve(kUsual * words_);
  first_.reserve(kUsual + 1);
  members_.resize(rows);
}

void RowSets::assign(std::span<const std::int32_t> labels) {
  std::size_t clusters = 0;
  for (const std::int32_t label : labels) clusters = std::max(clusters, static_cast<std::size_t>(label) + 1);
  bits_.assign(clusters * words_, 0);
  first_.assign(clusters + 1, 0);
  for (std::size_t row = 0; row < labels.size(); ++row) {
    const auto cluster = static_cast<std::size_t>(labels[row]);
    bits_[cluster * words_ + row / 64] |= std::uint64_t{1} << (row % 64);
    ++first_[cluster + 1];
  }
  for (std::size_t c = 0; c < clusters; ++c) first_[c + 1] += first_[c];
  for (std::size_t row = 0; row < labels.size(); ++row)
    members_[first_[static_cast<std::size_t>(labels[row])]++] = static_cast<std::uint32_t>(row);
  // Filling has moved every beginning to its end.
  for (std::size_t c = clusters; c > 0; --c) first_[c] = first_[c - 1];
  first_[0] = 0;
}

}  // namespace coppice
