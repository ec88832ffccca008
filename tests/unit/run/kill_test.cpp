// kill -9 at random moments: the file opens each time, holds a prefix of what the uninterrupted run drew, and
// after resuming equals it byte for byte. Twenty kills; COPPICE_TEST_KILLS=200 for the long run.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>

#include "support/small_run.hpp"

namespace coppice::test {
namespace {

std::size_t kills() {
  const char* text = std::getenv("COPPICE_TEST_KILLS");
  return text == nullptr || *text == '\0' ? 20 : static_cast<std::size_t>(std::strtoul(text, nullptr, 10));
}

/// A child that runs the fit until it ends or is killed. One thread: a forked child must not start a thread
/// pool that its parent has already used.
pid_t start_child(const std::string& path, bool create, const RunContents& contents) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  try {
    if (create) RunFile::create(path, contents);
    resume(path, {.threads = 1});
    ::_exit(0);
  } catch (...) {
    ::_exit(1);
  }
}

TEST(Kill, UntilTrustedEndsWhereItWouldHave) {
  const ScratchFolder folder;
  RunContents contents = small_contents("nrmm", {}, 30, 2, 0, 1);
  contents.config.until = kUntilTrusted;
  settle_run_length(contents.config, *set_up_problem(contents));
  const std::string whole = folder.file("whole.coppice");
  ASSERT_EQ(::waitpid(start_child(whole, true, contents), nullptr, 0) > 0, true);
  ASSERT_EQ(RunFile::open(whole, RunFile::Access::read).config().end, kEndTrusted);

  Stream stream({2, 0, 0}, Purpose::test);
  const std::string path = folder.file("killed.coppice");
  std::size_t killed = 0;
  for (double patience = 0.02;; patience *= 1.1) {  // killed too soon each time, it would never get anywhere
    const pid_t child = start_child(path, !std::filesystem::exists(path), contents);
    ::usleep(static_cast<useconds_t>(draw_uniform(stream) * patience * 1e6));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << "the child failed on its own";
    if (!WIFSIGNALED(status)) break;
    ASSERT_LT(++killed, 1000u);
  }
  EXPECT_GT(killed, 0u);
  EXPECT_EQ(draws_at(path), draws_at(whole));
  EXPECT_EQ(RunFile::open(path, RunFile::Access::read).config().length(),
            RunFile::open(whole, RunFile::Access::read).config().length());
}

TEST(Kill, AtAnyMomentLeavesAPrefixAndResumesIdentically) {
  const ScratchFolder folder;
  const RunContents contents = small_contents("nrmm", {}, 30, 2, 100, 10'000);
  const std::string whole_path = folder.file("whole.coppice");
  RunFile::create(whole_path, contents);
  resume(whole_path, {.threads = 1});
  const std::vector<ChainDraws> whole = draws_at(whole_path);

  Stream stream({1, 0, 0}, Purpose::test);
  const std::string path = folder.file("killed.coppice");
  std::size_t killed = 0;
  std::size_t rounds = 0;
  std::vector<ChainDraws> before(2);
  while (killed < kills() && ++rounds < 100 * kills()) {
    const bool create = !std::filesystem::exists(path);
    if (create) before.assign(2, {});
    const pid_t child = start_child(path, create, contents);
    // Around the commits, which come every half second while they are quick, and sometimes while the file is
    // being made or opened.
    const double delay = draw_uniform(stream) * (rounds % 4 == 0 ? 0.02 : 1.3);
    ::usleep(static_cast<useconds_t>(delay * 1e6));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << "the child failed on its own";
    killed += WIFSIGNALED(status) ? 1 : 0;
    if (!std::filesystem::exists(path))
      continue;  // killed before the file appeared: it appears whole or not at all
    const std::vector<ChainDraws> found = draws_at(path);
    for (std::size_t chain = 0; chain < 2; ++chain) {
      ASSERT_TRUE(found[chain].is_prefix_of(whole[chain])) << "after " << killed << " kills";
      ASSERT_GE(found[chain].count, before[chain].count) << "committed draws were lost";
    }
    before = found;
    if (found == whole) std::filesystem::remove(path);
  }
  EXPECT_GE(killed, kills());
  if (std::filesystem::exists(path)) {
    EXPECT_EQ(resume(path, {.threads = 1}), FitEnd::finished);
    EXPECT_EQ(draws_at(path), whole);
    EXPECT_FALSE(std::filesystem::exists(path + "-wal"));
  }
}

}  // namespace
}  // namespace coppice::test
