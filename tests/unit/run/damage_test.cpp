// Damaged run files. Cut anywhere, or with any one bit changed, a run either is refused (bad data, cannot
// read) or gives back exactly what was stored: never a crash, never other draws.
#include <gtest/gtest.h>

#include "coppice/base/error.hpp"
#include "support/small_run.hpp"

namespace coppice::test {
namespace {

class Damage : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string path = folder_.file("good.coppice");
    RunFile::create(path, small_contents("nrmm", {}, 15, 2, 20, 230));
    resume(path, {.threads = 1});
    bytes_ = read_bytes(path);
    original_ = everything(path);
  }

  /// Whether the bytes are refused; anything but a refusal must give the original back.
  bool refused(const std::string& bytes, const std::string& what) {
    const std::string path = folder_.file("damaged.coppice");
    std::filesystem::remove(path);
    write_bytes(path, bytes);
    bool refused = false;
    try {
      EXPECT_TRUE(everything(path) == original_) << what << ": other contents came back";
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == ErrorCode::bad_data || error.code() == ErrorCode::cannot_read)
          << what << ": code " << static_cast<int>(error.code()) << ", " << error.what();
      refused = true;
    } catch (const std::exception& error) {
      ADD_FAILURE() << what << ": " << error.what();
    }
    // What a reader refuses, a resumption must not take up either; and what it takes up must end in the same
    // draws.
    try {
      const SavedRun run(path);
      EXPECT_EQ(run.draws_per_chain(), 230u) << what;
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): a damaged file may be refused
    } catch (const std::exception& error) {
      ADD_FAILURE() << what << ", opened for questions: " << error.what();
    }
    return refused;
  }

  ScratchFolder folder_;
  std::string bytes_, original_;
};

TEST_F(Damage, Truncated) {
  std::vector<std::size_t> lengths{0, 1, 15, 16, 50, 99, 100, 511, 512, 4095, 4096, 4097, bytes_.size() - 1};
  for (std::size_t length = 1; length < 40; ++length) lengths.push_back(bytes_.size() * length / 40);
  for (const std::size_t length : lengths)
    EXPECT_TRUE(
        refused(bytes_.substr(0, length), fmt::format("cut to {} of {} bytes", length, bytes_.size())));
}

TEST_F(Damage, OneBit) {
  Stream stream({1, 0, 0}, Purpose::test);
  std::size_t noticed = 0;
  constexpr std::size_t kFlips = 500;
  for (std::size_t flip = 0; flip < kFlips; ++flip) {
    const auto at = static_cast<std::size_t>(draw_index(stream, bytes_.size()));
    const auto bit = static_cast<unsigned>(draw_index(stream, 8));
    std::string damaged = bytes_;
    damaged[at] = static_cast<char>(static_cast<unsigned char>(damaged[at]) ^ (1U << bit));
    noticed += refused(damaged, fmt::format("bit {} of byte {}", bit, at)) ? 1 : 0;
  }
  // The rest of a page behind its last record is free; flips there change nothing.
  EXPECT_GT(noticed, kFlips / 4);
}

TEST_F(Damage, OneBitOfEveryByteOfTheFirstPageAndPageHeads) {
  for (std::size_t at = 0; at < bytes_.size(); ++at) {
    if (at >= 200 && at % 4096 >= 24) continue;
    std::string damaged = bytes_;
    damaged[at] = static_cast<char>(static_cast<unsigned char>(damaged[at]) ^ (1U << at % 8));
    refused(damaged, fmt::format("bit {} of byte {}", at % 8, at));
  }
}

TEST_F(Damage, ZeroedAndSwappedPages) {
  for (std::size_t page = 0; page + 1 < bytes_.size() / 4096; ++page) {
    std::string zeroed = bytes_;
    zeroed.replace(page * 4096, 4096, std::string(4096, '\0'));
    refused(zeroed, fmt::format("page {} zeroed", page));
    std::string swapped = bytes_;
    swapped.replace(page * 4096, 4096, bytes_.substr((page + 1) * 4096, 4096));
    swapped.replace((page + 1) * 4096, 4096, bytes_.substr(page * 4096, 4096));
    refused(swapped, fmt::format("pages {} and {} swapped", page, page + 1));
  }
}

TEST(DamagedLog, GivesAPrefix) {
  const ScratchFolder folder;
  const RunContents contents = small_contents("nrmm", {}, 15, 1, 0, 600);
  RunFile::create(folder.file("whole.coppice"), contents);
  resume(folder.file("whole.coppice"), {.threads = 1});
  const std::vector<ChainDraws> whole = draws_at(folder.file("whole.coppice"));
  // A run in the middle, with its log beside it, as a crash leaves it.
  const std::string path = folder.file("live.coppice");
  RunFile live = RunFile::create(path, contents);
  const auto setup = set_up(live);
  for (std::size_t draws = 100; draws <= 600; draws += 100) {
    live.set_draws(draws);
    continue_run(live, *setup, {.threads = 1});
  }
  const std::string main = read_bytes(path);
  const std::string log = read_bytes(path + "-wal");
  ASSERT_FALSE(log.empty());
  Stream stream({2, 0, 0}, Purpose::test);
  for (int i = 0; i < 60; ++i) {
    const std::string copy = folder.file(fmt::format("copy-{}.coppice", i));
    write_bytes(copy, main);
    std::string damaged = log;
    const auto at = static_cast<std::size_t>(draw_index(stream, log.size()));
    if (i % 2 == 0)
      damaged.resize(at);
    else
      damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    write_bytes(copy + "-wal", damaged);
    try {
      const std::vector<ChainDraws> found = draws_at(copy);
      ASSERT_EQ(found.size(), 1u);
      EXPECT_TRUE(found[0].is_prefix_of(whole[0])) << "log damaged at byte " << at;
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == ErrorCode::bad_data || error.code() == ErrorCode::cannot_read)
          << error.what();
    }
  }
}

}  // namespace
}  // namespace coppice::test
