// Says in the list of tests whether the outside reference cases were read.
#include <gtest/gtest.h>

#include "support/source_folder.hpp"

namespace coppice::test {
namespace {

TEST(OutsideReferenceCases, AreReadToo) {
  const std::filesystem::path folder = outside_reference_folder();
  if (!std::filesystem::is_directory(folder))
    GTEST_SKIP() << "no folder " << folder.string() << ": only the cases of tests/reference were read";
  EXPECT_FALSE(std::filesystem::is_empty(folder));
}

}  // namespace
}  // namespace coppice::test
