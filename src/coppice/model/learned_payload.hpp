// What a draw keeps beside labels and traces: the learned hyper-parameters, and the values of cells that were
// filled in. Nothing if there are neither.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace coppice {

struct LearnedPayload {
  std::vector<double> hyper, cells;
};

/// Many numbers are kept with the seven digits of a float.
std::string write_learned(std::span<const double> hyper, std::span<const double> cells);
/// Throws Error{bad_data} if the bytes hold not just as many numbers.
LearnedPayload read_learned(std::string_view bytes, std::size_t hyper_size, std::size_t cells_size);

}  // namespace coppice
