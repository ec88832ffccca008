// Where the cells of the next stretch of a CSV end. Finding all ends first, 64 bytes at a time, frees the
// parsing of one cell from waiting for the length of the one before it, which is what would otherwise limit
// its speed.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace coppice {

class CsvIndex {
 public:
  CsvIndex(const char* end, char delimiter) : end_(end), delimiter_(delimiter), stops_(kWindow + 2 * kStep) {}

  /// At least `cells` marks (delimiters, line ends, quotes, the end of the content) from `at` on, as offsets
  /// from base(), or nullptr if they do not lie in one window. `at` must not move backwards.
  const std::uint32_t* marks(const char* at, std::size_t cells) {
    const auto enough = [&] {
      while (first_ < size_ && base_ + stops_[first_] < at) ++first_;
      return size_ - first_ >= cells;
    };
    if (enough()) return stops_.data() + first_;
    if (at == refused_) return nullptr;
    fill(at);
    if (enough()) return stops_.data() + first_;
    refused_ = at;
    return nullptr;
  }
  const char* base() const { return base_; }

 private:
  static constexpr std::size_t kWindow = std::size_t{1} << 17;
  static constexpr std::size_t kStep = 64;

  std::uint64_t marks_in_step(const char* at) const {
#if defined(__SSE2__)
    std::uint64_t mask = 0;
    for (std::size_t part = 0; part < 4; ++part) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + 16 * part));
      const __m128i line_ends = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n')),
                                             _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\r')));
      const __m128i others = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')),
                                          _mm_cmpeq_epi8(bytes, _mm_set1_epi8(delimiter_)));
      const auto found = static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(line_ends, others)));
      mask |= static_cast<std::uint64_t>(found) << (16 * part);
    }
    return mask;
#else
    return marks_in(at, kStep);
#endif
  }

  std::uint64_t marks_in(const char* at, std::size_t count) const {
    std::uint64_t mask = 0;
    for (std::size_t i = 0; i < count; ++i)
      if (at[i] == delimiter_ || at[i] == '\n' || at[i] == '\r' || at[i] == '"')
        mask |= std::uint64_t{1} << i;
    return mask;
  }

  void fill(const char* from) {
    base_ = from;
    first_ = 0;
    size_ = 0;
    const std::size_t left = static_cast<std::size_t>(end_ - from);
    const std::size_t length = std::min(kWindow, left);
    for (std::size_t offset = 0; offset < length; offset += kStep) {
      const std::size_t count = std::min(kStep, length - offset);
      std::uint64_t mask = count == kStep ? marks_in_step(from + offset) : marks_in(from + offset, count);
      // Eight at a time whether they are there or not: a loop of unpredictable length would cost more.
      const auto found = static_cast<std::size_t>(std::popcount(mask));
      for (std::size_t done = 0; done < found; done += 8) {
        for (std::size_t i = 0; i < 8; ++i) {
          stops_[size_ + done + i] =
              static_cast<std::uint32_t>(offset + static_cast<std::size_t>(std::countr_zero(mask)));
          mask &= mask - 1;
        }
      }
      size_ += found;
    }
    if (length == left) stops_[size_++] = static_cast<std::uint32_t>(left);
  }

  const char* end_;
  char delimiter_;
  const char* base_ = nullptr;
  const char* refused_ = nullptr;  // where a window was too short, so as not to fill it again
  std::vector<std::uint32_t> stops_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace coppice
