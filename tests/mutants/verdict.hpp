// What programs that are linked with mutants share: PROGRAM KERNEL agrees|disagrees compares the kernel with
// its law for every seed and ends with 0 if the verdict is the wanted one.
#pragma once

#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

#include "support/sampling_error.hpp"

namespace coppice::test {

/// `compare(kernel, seed)` gives the Agreement.
template <typename Compare>
int judge(int argc, char** argv, Compare&& compare) {
  if (argc != 3) return 2;
  const std::string kernel = argv[1];
  const bool wanted = std::strcmp(argv[2], "agrees") == 0;
  try {
    for (const std::uint64_t seed : test_seeds()) {
      const Agreement agreement = compare(kernel, seed);
      std::printf("%s, seed %llu: %.1f errors off (limit %.1f) at %s\n", kernel.c_str(),
                  static_cast<unsigned long long>(seed), agreement.worst, error_limit(),
                  agreement.where.c_str());
      if (agreement.holds() != wanted) return 1;
    }
    return 0;
  } catch (const std::exception& error) {
    // Not the noticing that is meant: a mistake must be told by its law.
    std::printf("%s\n", error.what());
    return 2;
  }
}

}  // namespace coppice::test
