// How often a move was proposed, and how often it changed something.
#pragma once

#include <cstdint>

namespace coppice {

struct MoveCount {
  std::uint64_t proposed = 0;
  std::uint64_t accepted = 0;
};

}  // namespace coppice
