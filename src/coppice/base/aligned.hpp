// A growing array of doubles aligned for Lanes: rows, caches of cluster caches, weights.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace coppice {

template <typename T>
struct LaneAllocator {
  using value_type = T;
  static constexpr std::align_val_t kAlignment{64};
  LaneAllocator() = default;
  template <typename U>
  LaneAllocator(const LaneAllocator<U>&) {}
  T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), kAlignment)); }
  void deallocate(T* pointer, std::size_t) { ::operator delete(pointer, kAlignment); }
  template <typename U>
  bool operator==(const LaneAllocator<U>&) const {
    return true;
  }
};

using AlignedVector = std::vector<double, LaneAllocator<double>>;

}  // namespace coppice
