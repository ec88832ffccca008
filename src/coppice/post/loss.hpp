// The losses by which a point estimate of a partition or tree is chosen; consensus.hpp defines them.
#pragma once

namespace coppice {

enum class Loss { vi, binder };

}  // namespace coppice
