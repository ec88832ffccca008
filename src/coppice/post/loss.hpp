// The losses by which a partition or a tree is chosen to stand for the draws; consensus.hpp defines them.
#pragma once

namespace coppice {

enum class Loss { vi, binder };

}  // namespace coppice
