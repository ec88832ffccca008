// The bytes of one vector register of the machine we compile for. GCC and Clang accept wider vectors
// everywhere, but comparisons are slow where a wider one must be taken apart.
#pragma once

#include <cstddef>

namespace coppice {

#if defined(__AVX512BW__)
inline constexpr std::size_t kVectorBytes = 64;
#elif defined(__AVX2__)
inline constexpr std::size_t kVectorBytes = 32;
#else
inline constexpr std::size_t kVectorBytes = 16;
#endif

}  // namespace coppice
