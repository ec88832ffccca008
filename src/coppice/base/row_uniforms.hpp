// One uniform number for each row and purpose, named by the row's number: four rows share a block of Philox,
// so a run of rows costs a quarter of as many streams.
#pragma once

#include <Random123/philox.h>

#include <cstddef>
#include <cstdint>

#include "coppice/base/rng.hpp"

namespace coppice {

/// out[i] = the number in (0, 1) of row first + i.
inline void draw_row_uniforms(const StreamName& name, Purpose purpose, std::uint64_t first, std::size_t count,
                              double* out) {
  const r123::Philox4x64::key_type key{{name.seed, name.chain}};
  r123::Philox4x64::ctr_type counter{{0, 0, name.sweep, static_cast<std::uint64_t>(purpose)}};
  const auto block_of = [&](std::uint64_t row) {
    counter[1] = row / 4;
    return r123::Philox4x64()(counter, key);
  };
  std::size_t i = 0;
  if (first % 4 == 0)
    for (; i + 4 <= count; i += 4) {
      const r123::Philox4x64::ctr_type block = block_of(first + i);
      for (std::size_t word = 0; word < 4; ++word) out[i + word] = to_unit_interval(block[word]);
    }
  while (i < count) {
    const std::uint64_t row = first + i;
    const r123::Philox4x64::ctr_type block = block_of(row);
    for (std::size_t word = row % 4; word < 4 && i < count; ++word, ++i)
      out[i] = to_unit_interval(block[word]);
  }
}

/// That of one row.
inline double draw_row_uniform(const StreamName& name, Purpose purpose, std::uint64_t row) {
  double value;
  draw_row_uniforms(name, purpose, row, 1, &value);
  return value;
}

}  // namespace coppice
