#include "coppice/post/coclustering.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "coppice/base/error.hpp"
#include "coppice/base/parallel.hpp"
#include "coppice/post/vector_width.hpp"
#include "coppice/shape/contingency.hpp"

namespace coppice {

namespace {

constexpr std::size_t kRowsAtOnce = kVectorBytes == 64 ? 4 : 2;  // as many as the registers hold
constexpr std::size_t kTileBytes = 256;  // columns of a tile times the bytes of a label

// Labels of some draws in tiles of neighboring rows: tile t holds, draw after draw, the labels of its rows.
template <typename Lane>
struct Tiles {
  static constexpr std::size_t kWidth = kTileBytes / sizeof(Lane);
  std::size_t draws = 0;
  std::vector<Lane> labels;
  const Lane* tile(std::size_t t) const { return labels.data() + t * draws * kWidth; }
};

template <typename Lane>
Tiles<Lane> make_tiles(const LabelMatrix& draws, std::span<const Labels> compact,
                       std::span<const std::size_t> chosen) {
  constexpr std::size_t kWidth = Tiles<Lane>::kWidth;
  Tiles<Lane> tiles;
  tiles.draws = chosen.size();
  const std::size_t count = (draws.rows + kWidth - 1) / kWidth;
  tiles.labels.assign(count * chosen.size() * kWidth, Lane{0});
  for (std::size_t d = 0; d < chosen.size(); ++d) {
    const auto labels = compact.empty() ? draws[chosen[d]] : std::span<const Label>(compact[chosen[d]]);
    for (std::size_t i = 0; i < draws.rows; ++i) {
      tiles.labels[((i / kWidth) * chosen.size() + d) * kWidth + i % kWidth] = static_cast<Lane>(labels[i]);
    }
  }
  return tiles;
}

// Adds to counts[r * kWidth + j] the number of draws in which row `first + r` of the left tile equals row j
// of the right.
template <typename Lane>
void count_tile(const Lane* left, std::size_t first, const Lane* right, std::size_t draws,
                std::uint32_t* counts) {
  typedef Lane Vector __attribute__((vector_size(kVectorBytes)));
  constexpr std::size_t kWidth = Tiles<Lane>::kWidth;
  constexpr std::size_t kLanes = kVectorBytes / sizeof(Lane);
  constexpr std::size_t kVectors = kTileBytes / kVectorBytes;
  constexpr std::size_t kFlush = std::numeric_limits<Lane>::max();
  for (std::size_t begin = 0; begin < draws;) {
    const std::size_t end = draws - begin > kFlush ? begin + kFlush : draws;
    Vector partial[kRowsAtOnce][kVectors] = {};
    for (std::size_t d = begin; d < end; ++d) {
      Vector row[kVectors];
      std::memcpy(row, right + d * kWidth, kTileBytes);
      for (std::size_t r = 0; r < kRowsAtOnce; ++r) {
        const Vector wanted = Vector{} + left[d * kWidth + first + r];
        // A comparison gives all ones, which is minus one, where the labels are equal.
        for (std::size_t v = 0; v < kVectors; ++v)
          partial[r][v] -= reinterpret_cast<Vector>(row[v] == wanted);
      }
    }
    for (std::size_t r = 0; r < kRowsAtOnce; ++r) {
      for (std::size_t v = 0; v < kVectors; ++v) {
        for (std::size_t l = 0; l < kLanes; ++l) counts[r * kWidth + v * kLanes + l] += partial[r][v][l];
      }
    }
    begin = end;
  }
}

// Counts the upper triangle, tile by tile, and hands each finished strip of it to store(row, first_column,
// counts).
template <typename Store>
void count_pairs(const LabelMatrix& draws, std::size_t threads, const Store& store) {
  const std::size_t n = draws.rows;
  std::vector<std::size_t> narrow;
  std::vector<std::size_t> middle;
  std::vector<std::size_t> wide;
  std::vector<Labels> compact;
  Label largest = -1;
  for (const Label label : draws.values) largest = std::max(largest, label);
  const bool as_given =
      largest < 256 &&
      std::none_of(draws.values.begin(), draws.values.end(), [](Label label) { return label < 0; });
  if (!as_given) compact.resize(draws.draws());
  for (std::size_t d = 0; d < draws.draws(); ++d) {
    std::size_t clusters = 0;
    if (!as_given) {
      compact[d].resize(n);
      clusters = compact_labels(draws[d], compact[d]);
    }
    (clusters <= 256 ? narrow : clusters <= 65536 ? middle : wide).push_back(d);
  }
  const auto narrow_tiles = make_tiles<std::uint8_t>(draws, compact, narrow);
  const auto middle_tiles = make_tiles<std::uint16_t>(draws, compact, middle);
  const auto wide_tiles = make_tiles<std::uint32_t>(draws, compact, wide);
  constexpr std::size_t kStrip = Tiles<std::uint8_t>::kWidth;
  const std::size_t strips = (n + kStrip - 1) / kStrip;

  const auto count_strip = [&]<typename Lane>(const Tiles<Lane>& tiles, std::size_t i, std::size_t j,
                                              std::uint32_t* counts) {
    if (tiles.draws == 0) return;
    constexpr std::size_t kWidth = Tiles<Lane>::kWidth;
    std::array<std::uint32_t, kRowsAtOnce * kWidth> part;
    for (std::size_t t = j / kWidth; t * kWidth < std::min(j + kStrip, n); ++t) {
      part.fill(0);
      count_tile(tiles.tile(i / kWidth), i % kWidth, tiles.tile(t), tiles.draws, part.data());
      for (std::size_t r = 0; r < kRowsAtOnce; ++r) {
        for (std::size_t c = 0; c < kWidth; ++c)
          counts[r * kStrip + t * kWidth - j + c] += part[r * kWidth + c];
      }
    }
  };
  parallel_for(strips * strips, threads, [&](std::size_t pair) {
    const std::size_t row_strip = pair / strips;
    const std::size_t column_strip = pair % strips;
    if (column_strip < row_strip) return;
    const std::size_t j = column_strip * kStrip;
    std::array<std::uint32_t, kRowsAtOnce * kStrip> counts;
    for (std::size_t i = row_strip * kStrip; i < std::min((row_strip + 1) * kStrip, n); i += kRowsAtOnce) {
      counts.fill(0);
      count_strip(narrow_tiles, i, j, counts.data());
      count_strip(middle_tiles, i, j, counts.data());
      count_strip(wide_tiles, i, j, counts.data());
      for (std::size_t r = 0; r < kRowsAtOnce && i + r < n; ++r) {
        store(i + r, j, std::span<const std::uint32_t>(counts.data() + r * kStrip, std::min(kStrip, n - j)));
      }
    }
  });
}

// Mirrors the upper triangle into the lower one, in squares that fit a cache.
template <typename Value>
void mirror(std::vector<Value>& matrix, std::size_t n) {
  constexpr std::size_t kSquare = 32;
  for (std::size_t i = 0; i < n; i += kSquare) {
    for (std::size_t j = 0; j <= i; j += kSquare) {
      for (std::size_t r = i; r < std::min(i + kSquare, n); ++r) {
        for (std::size_t c = j; c < std::min(j + kSquare, r); ++c) matrix[r * n + c] = matrix[c * n + r];
      }
    }
  }
}

void check_draws(const LabelMatrix& draws) {
  if (draws.draws() == 0) fail(ErrorCode::usage, "coclustering: there are no draws");
}

}  // namespace

std::vector<std::uint32_t> coclustering_counts(const LabelMatrix& draws, std::size_t threads) {
  check_draws(draws);
  const std::size_t n = draws.rows;
  std::vector<std::uint32_t> matrix(n * n);
  count_pairs(draws, threads, [&](std::size_t i, std::size_t j, std::span<const std::uint32_t> counts) {
    std::copy(counts.begin(), counts.end(), matrix.begin() + static_cast<std::ptrdiff_t>(i * n + j));
  });
  mirror(matrix, n);
  return matrix;
}

std::vector<double> coclustering(const LabelMatrix& draws, std::size_t threads) {
  check_draws(draws);
  const std::size_t n = draws.rows;
  std::vector<double> matrix(n * n);
  const auto total = static_cast<double>(draws.draws());
  count_pairs(draws, threads, [&](std::size_t i, std::size_t j, std::span<const std::uint32_t> counts) {
    for (std::size_t c = 0; c < counts.size(); ++c)
      matrix[i * n + j + c] = static_cast<double>(counts[c]) / total;
  });
  mirror(matrix, n);
  return matrix;
}

std::vector<float> coclustering_packed(const LabelMatrix& draws, std::size_t threads) {
  check_draws(draws);
  const std::size_t n = draws.rows;
  std::vector<float> packed(n * (n - 1) / 2);
  const auto total = static_cast<double>(draws.draws());
  count_pairs(draws, threads, [&](std::size_t i, std::size_t j, std::span<const std::uint32_t> counts) {
    for (std::size_t c = i < j ? 0 : i + 1 - j; c < counts.size(); ++c) {
      packed[i * (2 * n - i - 1) / 2 + j + c - i - 1] =
          static_cast<float>(static_cast<double>(counts[c]) / total);
    }
  });
  return packed;
}

double pairwise_uncertainty(const LabelMatrix& draws, std::size_t threads) {
  const std::vector<float> packed = coclustering_packed(draws, threads);
  double sum = 0.0;
  for (const float share : packed)
    sum += 4.0 * static_cast<double>(share) * (1.0 - static_cast<double>(share));
  return packed.empty() ? 0.0 : sum / static_cast<double>(packed.size());
}

}  // namespace coppice
