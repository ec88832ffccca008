// Decimal text to double, the inner loop of the CSV reader. Digits are taken eight at a time, and the end of
// a number is found without a loop where the machine allows, since mispredicted loops would cost more than
// the arithmetic. The result is always the double nearest to the text.
#pragma once

#include <array>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <system_error>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace coppice::text {

inline constexpr std::array<double, 23> kPowersOfTen = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                        1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                        1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
inline constexpr std::array<std::uint64_t, 20> kWholePowersOfTen = [] {
  std::array<std::uint64_t, 20> powers{1};
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}();

/// mantissa / 10^decimals rounded once to nearest-even; mantissa > 0, decimals <= 19. Both are shifted to
/// fill 64 bits, so the integer quotient has at least 62; a remainder only matters as "a little more", which
/// its lowest bit records before the one rounding to 53 bits.
inline double nearest_quotient(std::uint64_t mantissa, std::size_t decimals) {
  __extension__ using Wide = unsigned __int128;
  const std::uint64_t divisor = kWholePowersOfTen[decimals];
  const int mantissa_shift = std::countl_zero(mantissa);
  const int divisor_shift = std::countl_zero(divisor);
  const std::uint64_t high = (mantissa << mantissa_shift) >> 1;
  const std::uint64_t low = (mantissa << mantissa_shift) << 63;
  const std::uint64_t scaled_divisor = divisor << divisor_shift;
  const Wide numerator = static_cast<Wide>(high) << 64 | low;
  std::uint64_t quotient = static_cast<std::uint64_t>(numerator / scaled_divisor);
  const std::uint64_t remainder =
      static_cast<std::uint64_t>(numerator - static_cast<Wide>(quotient) * scaled_divisor);
  quotient |= remainder != 0 ? 1 : 0;
  // quotient = mantissa * 2^(mantissa_shift + 63) / (divisor * 2^divisor_shift)
  const int exponent = divisor_shift - mantissa_shift - 63;
  const double scale = std::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent) << 52);
  return static_cast<double>(quotient) * scale;
}

/// The value of `count` digits, 1 to 8; eight bytes must be readable.
[[gnu::always_inline]] inline std::uint64_t digits_value(const char* at, std::size_t count) {
  std::uint64_t bytes;
  std::memcpy(&bytes, at, 8);
  // First digit in the lowest byte; the shift puts zeros in front of it and drops what follows the last.
  bytes = (bytes ^ 0x3030303030303030u) << (64 - 8 * count);
  bytes = (bytes * (10 * 256 + 1)) >> 8 & 0x00ff00ff00ff00ffu;
  bytes = (bytes * (100 * 65536 + 1)) >> 16 & 0x0000ffff0000ffffu;
  return (bytes * (10000 * (std::uint64_t{1} << 32) + 1)) >> 32;
}

inline double decimal_value(std::uint64_t mantissa, std::size_t decimals) {
  constexpr std::uint64_t kExact = std::uint64_t{1} << 53;
  // Both operands are exact doubles, so that one division rounds once.
  if (mantissa <= kExact) return static_cast<double>(mantissa) / kPowersOfTen[decimals];
  return nearest_quotient(mantissa, decimals);
}

/// Without a branch: signs are as good as random.
inline double with_sign(double magnitude, bool negative) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(magnitude) | static_cast<std::uint64_t>(negative)
                                                                             << 63);
}

/// Reads a number at the start of [begin, end) and returns where it stops, or nullptr if this quick way
/// cannot tell (no number, a plus sign, out of range, a word).
inline const char* scan_number(const char* begin, const char* end, double& value) {
  const char* at = begin;
  const bool negative = at != end && *at == '-';
  if (negative) ++at;
  std::uint64_t mantissa = 0;
  const auto take_digits = [&] {
    const char* first = at;
    for (; at != end; ++at) {
      const unsigned digit = static_cast<unsigned>(static_cast<unsigned char>(*at)) - '0';
      if (digit > 9) break;
      mantissa = mantissa * 10 + digit;
    }
    return static_cast<std::size_t>(at - first);
  };
  std::size_t digits = take_digits();
  std::size_t decimals = 0;
  if (at != end && *at == '.') {
    ++at;
    decimals = take_digits();
    digits += decimals;
  }
  if (digits == 0) return nullptr;
  const bool exponent = at != end && (*at == 'e' || *at == 'E');
  // Up to 19 digits fit 64 bits; more may have wrapped around.
  if (!exponent && digits <= 19) {
    value = with_sign(decimal_value(mantissa, decimals), negative);
    return at;
  }
  const std::from_chars_result result = std::from_chars(begin, end, value);
  return result.ec == std::errc() ? result.ptr : nullptr;
}

/// floor(2^127 / (10^k shifted to fill 64 bits)); unused for k = 0, where it would not fit.
inline constexpr std::array<std::uint64_t, 20> kReciprocals = [] {
  __extension__ using Wide = unsigned __int128;
  std::array<std::uint64_t, 20> reciprocals{};
  for (std::size_t i = 1; i < reciprocals.size(); ++i)
    reciprocals[i] = static_cast<std::uint64_t>(
        (static_cast<Wide>(1) << 127) / (kWholePowersOfTen[i] << std::countl_zero(kWholePowersOfTen[i])));
  return reciprocals;
}();

/// The same as nearest_quotient by one multiplication; false in the few cases where its error could change
/// the rounding. 1 <= decimals <= 19, mantissa > 0.
[[gnu::always_inline]] inline bool quick_quotient(std::uint64_t mantissa, std::size_t decimals,
                                                  double& value) {
  __extension__ using Wide = unsigned __int128;
  const int mantissa_shift = std::countl_zero(mantissa);
  const int divisor_shift = std::countl_zero(kWholePowersOfTen[decimals]);
  const Wide product = static_cast<Wide>(mantissa << mantissa_shift) * kReciprocals[decimals];
  // The true quotient lies less than 2 above the upper half of the product, so less than 2 above half of
  // that.
  const auto quotient = static_cast<std::int64_t>(static_cast<std::uint64_t>(product >> 64) >> 1);
  const double below = static_cast<double>(quotient);
  const double above = static_cast<double>(quotient + 2);
  const int exponent = divisor_shift - mantissa_shift - 62;
  value = below * std::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent) << 52);
  return below == above;
}

inline constexpr std::ptrdiff_t kReadAhead = 40;

/// Which of 32 bytes are no digits, and which are points.
[[gnu::always_inline]] inline void classify(const char* at, std::uint32_t& others, std::uint32_t& points) {
#if defined(__AVX2__)
  const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
  const __m256i digits = _mm256_sub_epi8(bytes, _mm256_set1_epi8('0'));
  const __m256i is_digit = _mm256_cmpeq_epi8(_mm256_min_epu8(digits, _mm256_set1_epi8(9)), digits);
  others = ~static_cast<std::uint32_t>(_mm256_movemask_epi8(is_digit));
  points = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('.'))));
#elif defined(__SSE2__)
  others = 0;
  points = 0;
  for (int half = 0; half < 2; ++half) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + 16 * half));
    const __m128i digits = _mm_sub_epi8(bytes, _mm_set1_epi8('0'));
    const __m128i is_digit = _mm_cmpeq_epi8(_mm_min_epu8(digits, _mm_set1_epi8(9)), digits);
    others |= (static_cast<std::uint32_t>(_mm_movemask_epi8(is_digit)) ^ 0xffffu) << (16 * half);
    points |= static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('.'))))
              << (16 * half);
  }
#else
  others = 0;
  points = 0;
  for (unsigned i = 0; i < 32; ++i) {
    if (at[i] < '0' || at[i] > '9') others |= std::uint32_t{1} << i;
    if (at[i] == '.') points |= std::uint32_t{1} << i;
  }
#endif
}

/// The value of `whole` digits and, behind a point, `decimals` more; 19 in all.
inline std::uint64_t portable_digits(const char* at, std::size_t whole, std::size_t decimals) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < whole; ++i) value = value * 10 + static_cast<std::uint64_t>(at[i] - '0');
  for (std::size_t i = 0; i < decimals; ++i)
    value = value * 10 + static_cast<std::uint64_t>(at[whole + 1 + i] - '0');
  return value;
}

#if defined(__SSSE3__)
/// For a number of `length` <= 16 characters with its point at `point` (== length: none): the order of bytes
/// that puts its digits, without the point, at the end of 16 bytes of zeros.
struct Alignments {
  alignas(16) std::array<std::array<std::uint8_t, 16>, 17 * 17> order{};
  constexpr Alignments() {
    for (std::size_t length = 0; length <= 16; ++length) {
      for (std::size_t point = 0; point <= 16; ++point) {
        std::array<std::uint8_t, 16>& bytes = order[length * 17 + point];
        std::size_t to = 16;
        for (std::size_t from = length; from-- > 0;)
          if (from != point) bytes[--to] = static_cast<std::uint8_t>(from);
        while (to > 0) bytes[--to] = 0x80;
      }
    }
  }
};
inline constexpr Alignments kAlignments;

/// The value of the sixteen digits that are the bytes of a register.
[[gnu::always_inline]] inline std::uint64_t sixteen_digits(__m128i digits) {
  const __m128i pairs = _mm_maddubs_epi16(digits, _mm_set1_epi16(1 << 8 | 10));  // 10, 1, 10, 1, ...
  const __m128i fours = _mm_madd_epi16(pairs, _mm_set1_epi32(1 << 16 | 100));
  const __m128i eights = _mm_madd_epi16(_mm_packs_epi32(fours, fours), _mm_set1_epi32(1 << 16 | 10000));
  const auto both = static_cast<std::uint64_t>(_mm_cvtsi128_si64(eights));
  return (both & 0xffffffffu) * kWholePowersOfTen[8] + (both >> 32);
}

/// The digits of the `length` <= 16 characters at `at`, of which the one at `point` is left out.
[[gnu::always_inline]] inline std::uint64_t value_around_point(const char* at, std::size_t length,
                                                               std::size_t point) {
  const __m128i digits =
      _mm_sub_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)), _mm_set1_epi8('0'));
  const __m128i order =
      _mm_load_si128(reinterpret_cast<const __m128i*>(kAlignments.order[length * 17 + point].data()));
  return sixteen_digits(_mm_shuffle_epi8(digits, order));
}
#endif

/// Reads [begin, stop), of which kReadAhead bytes from `begin` must be readable, if it is a short plain
/// number: digits, perhaps a point and decimals, 19 digits in all, and at least eight decimals if there are
/// more than 16 characters. It makes no calls, so that a loop around it keeps its constants, and has no
/// branch that depends on how many of the digits are decimals, which in a file of all digits is like a coin.
[[gnu::always_inline]] inline bool read_short_number(const char* begin, const char* stop, double& value) {
  const bool negative = *begin == '-';
  const char* const at = begin + (negative ? 1 : 0);
  const auto length = static_cast<std::size_t>(stop - at);
  if (length - 1 > 19) return false;
  std::uint32_t others;
  std::uint32_t points;
  classify(at, others, points);
  const std::uint32_t inside = (std::uint32_t{1} << length) - 1;
  others &= inside;
  points &= inside;
  const auto whole = static_cast<std::size_t>(std::countr_zero(others | std::uint32_t{1} << length));
  const std::size_t decimals = length - whole - (points != 0 ? 1 : 0);
  if (others != points || (others & (others - 1)) != 0) return false;
  double magnitude;
  // By the number of characters, which hardly varies in a file, rather than by their value, which no
  // processor can guess.
  if (length <= 16) {
    if (whole + decimals == 0) return false;
#if defined(__SSSE3__)
    const std::uint64_t mantissa = value_around_point(at, length, whole);
#else
    const std::uint64_t mantissa = portable_digits(at, whole, decimals);
#endif
    // Sixteen digits without a point may exceed 2^53, and then the conversion rounds, once and rightly.
    magnitude = static_cast<double>(static_cast<std::int64_t>(mantissa)) / kPowersOfTen[decimals];
  } else {
    // The last eight are decimals, so that the point, if there is one, is among the others.
    if (whole == 0 || decimals < 8 || points == 0) return false;
#if defined(__SSSE3__)
    const std::uint64_t mantissa =
        value_around_point(at, length - 8, whole) * kWholePowersOfTen[8] + digits_value(stop - 8, 8);
#else
    const std::uint64_t mantissa = portable_digits(at, whole, decimals);
#endif
    if (mantissa == 0 || !quick_quotient(mantissa, decimals, magnitude)) return false;
  }
  value = with_sign(magnitude, negative);
  return true;
}

}  // namespace coppice::text
