// Runs of format 1, in which draws have no payload, are read and resumed.
#include <gtest/gtest.h>

#include <atomic>

#include "support/small_run.hpp"
#include "support/sqlite.hpp"

namespace coppice::test {
namespace {

constexpr std::size_t kOldDraws = 130;

/// A finished run and a copy of it as format 1 would have been.
class FormatOne : public ::testing::Test {
 protected:
  void SetUp() override {
    RunFile::create(now_, small_contents("nrmm", {}, 9, 2, 10, kOldDraws));
    ASSERT_EQ(resume(now_, {.threads = 1}), FitEnd::finished);
    std::filesystem::copy_file(now_, old_);
    execute_sql(old_, "ALTER TABLE draws DROP COLUMN details; PRAGMA user_version = 1");
  }
  static std::int64_t format_of(const std::string& path) {
    return Database(path, Database::Mode::read).integer("PRAGMA user_version");
  }
  static std::vector<ChainDraws> extended(const std::string& path) {
    RunFile::open(path, RunFile::Access::write).set_draws(2 * kOldDraws);
    EXPECT_EQ(resume(path, {.threads = 1}), FitEnd::finished);
    return draws_at(path);
  }

  ScratchFolder folder_;
  std::string now_ = folder_.file("now.coppice");
  std::string old_ = folder_.file("old.coppice");
};

TEST_F(FormatOne, IsReadAndLeftAsItIs) {
  EXPECT_EQ(everything(old_), everything(now_));
  EXPECT_EQ(format_of(old_), 1);
}

TEST_F(FormatOne, IsResumedToTheSameDraws) {
  const std::vector<ChainDraws> expected = extended(now_);
  ASSERT_EQ(expected.front().count, 2 * kOldDraws);
  EXPECT_EQ(extended(old_), expected);
  EXPECT_EQ(format_of(old_), kRunFormat);
}

TEST_F(FormatOne, OfAnInterruptedRunIsResumedToTheSameDraws) {
  const std::string stopped = folder_.file("stopped.coppice");
  RunFile::create(stopped, small_contents("nrmm", {}, 9, 2, 10, kOldDraws));
  std::atomic<bool> stop{true};
  ASSERT_EQ(resume(stopped, {.threads = 1, .stop = &stop}), FitEnd::interrupted);
  execute_sql(stopped, "ALTER TABLE draws DROP COLUMN details; PRAGMA user_version = 1");
  ASSERT_EQ(resume(stopped, {.threads = 1}), FitEnd::finished);
  EXPECT_EQ(draws_at(stopped), draws_at(now_));
}

}  // namespace
}  // namespace coppice::test
