// The run file: what goes in comes out, an existing file is never replaced, what is not a run is refused with
// a code and a reason, a disk that cannot be written leaves the committed draws readable.
#include "coppice/run/run_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>

#include "coppice/base/error.hpp"
#include "coppice/data/digest.hpp"
#include "coppice/data/table_blob.hpp"
#include "support/small_run.hpp"
#include "support/sqlite.hpp"

namespace coppice::test {
namespace {

RunContents example() { return small_contents("nrmm", {}, 9, 2, 10, 130); }

DrawBlock block_of(std::size_t chain, std::size_t block, std::size_t first, std::size_t count,
                   Label largest = 3) {
  DrawBlock draws{chain, block, first, count, {}, {}};
  for (std::size_t i = 0; i < count * 5; ++i)
    draws.traces.push_back(0.1 * static_cast<double>(i + first) - 3.0);
  for (std::size_t i = 0; i < count * 9; ++i)
    draws.labels.push_back(static_cast<Label>(i % (static_cast<std::size_t>(largest) + 1)));
  if (count != 0) draws.labels.back() = largest;
  return draws;
}

template <typename Action>
void expect_error(ErrorCode code, const std::string& words, Action&& action) {
  try {
    action();
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

TEST(RunFile, ContentsComeBack) {
  const ScratchFolder folder;
  RunContents contents = example();
  contents.config.parameters.emplace("alpha", Setting::number(0.25));
  contents.config.family_settings.emplace("mean_strength", Setting::number(0.5));
  contents.config.drop = {"a", "b \"c\""};
  contents.config.standardize = true;
  RunFile::create(folder.file("a.coppice"), contents);
  const RunContents read = RunFile::open(folder.file("a.coppice"), RunFile::Access::read).contents();
  EXPECT_EQ(to_json(read.config), to_json(contents.config));
  EXPECT_EQ(to_json(config_from_json(to_json(contents.config))), to_json(contents.config));
  EXPECT_EQ(read.config.parameters, contents.config.parameters);
  EXPECT_EQ(read.config.family_settings, contents.config.family_settings);
  EXPECT_EQ(read.codebook, contents.codebook);
  EXPECT_EQ(read.input_codebook, contents.input_codebook);
  EXPECT_EQ(read.transform, contents.transform);
  EXPECT_EQ(read.data_digest, contents.data_digest);
  EXPECT_EQ(serialize(read.table), serialize(contents.table));
  EXPECT_EQ(serialize(read.truth), serialize(contents.truth));
}

TEST(RunFile, CommittedDrawsComeBack) {
  const ScratchFolder folder;
  const std::string path = folder.file("a.coppice");
  {
    RunFile file = RunFile::create(path, example());
    EXPECT_FALSE(file.checkpoint(0).has_value());
    EXPECT_EQ(file.draws_of(0), 0u);
    const std::vector<DrawBlock> blocks{block_of(0, 0, 0, 40), block_of(0, 1, 40, 60, 300),
                                        block_of(1, 0, 0, 7, 70000)};
    const std::vector<Checkpoint> checkpoints{{0, 100, "state"}, {1, 200, std::string("\0x", 2)}};
    file.commit(blocks, checkpoints,
                std::vector<ChainStatus>{{100, 1.5, {{"gibbs", 10, 3}}}, {200, 2.5, {}}});
    // Committing a block again replaces it.
    file.commit(std::vector<DrawBlock>{block_of(0, 1, 40, 61)}, {}, {});
    file.finish();
  }
  EXPECT_FALSE(std::filesystem::exists(path + "-wal"));
  const RunFile file = RunFile::open(path, RunFile::Access::read);
  EXPECT_EQ(file.draws_of(0), 101u);
  EXPECT_EQ(file.draws_of(1), 7u);
  std::vector<DrawBlock> read;
  file.for_each_block(0, true, [&](const DrawBlock& block) { read.push_back(block); });
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].labels, block_of(0, 0, 0, 40).labels);
  EXPECT_EQ(read[1].labels, block_of(0, 1, 40, 61).labels);
  EXPECT_EQ(read[1].traces, block_of(0, 1, 40, 61).traces);
  file.for_each_block(
      1, true, [&](const DrawBlock& block) { EXPECT_EQ(block.labels, block_of(1, 0, 0, 7, 70000).labels); });
  file.for_each_block(1, false, [&](const DrawBlock& block) { EXPECT_TRUE(block.labels.empty()); });
  EXPECT_EQ(file.checkpoint(0)->state, "state");
  EXPECT_EQ(file.checkpoint(1)->state, std::string("\0x", 2));
  EXPECT_EQ(file.checkpoint(1)->sweep, 200u);
  EXPECT_EQ(file.status(0).sweeps, 100u);
  EXPECT_EQ(file.status(0).seconds, 1.5);
  ASSERT_EQ(file.status(0).moves.size(), 1u);
  EXPECT_EQ(file.status(0).moves[0].accepted, 3u);
  EXPECT_EQ(file.status(5).sweeps, 0u);
}

TEST(RunFile, NeverReplacesAFile) {
  const ScratchFolder folder;
  const std::string path = folder.file("a.coppice");
  write_bytes(path, "precious");
  expect_error(ErrorCode::cannot_write, "exists", [&] { RunFile::create(path, example()); });
  EXPECT_EQ(read_bytes(path), "precious");
  std::filesystem::create_symlink("nowhere", folder.file("link.coppice"));
  expect_error(ErrorCode::cannot_write, "exists",
               [&] { RunFile::create(folder.file("link.coppice"), example()); });
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 2)
      << "a temporary file was left";
}

TEST(RunFile, PlacesThatCannotBeWritten) {
  const ScratchFolder folder;
  write_bytes(folder.file("file"), "x");
  for (const std::string& path : {folder.file("no/such/folder/a.coppice"), folder.file("file/a.coppice"),
                                  folder.file(std::string(300, 'n')), std::string("/proc/a.coppice")})
    expect_error(ErrorCode::cannot_write, "", [&] { RunFile::create(path, example()); });
}

TEST(RunFile, ReadOnlyFolder) {
  if (::geteuid() == 0) GTEST_SKIP() << "the superuser may write into any folder";
  const ScratchFolder folder;
  std::filesystem::permissions(folder.path(),
                               std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  expect_error(ErrorCode::cannot_write, "", [&] { RunFile::create(folder.file("a.coppice"), example()); });
  std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
}

TEST(RunFile, ThingsThatAreNotRuns) {
  const ScratchFolder folder;
  expect_error(ErrorCode::cannot_read, "No such file",
               [&] { RunFile::open(folder.file("absent"), RunFile::Access::read); });
  expect_error(ErrorCode::cannot_read, "folder",
               [&] { RunFile::open(folder.path().string(), RunFile::Access::read); });
  expect_error(ErrorCode::cannot_read, "",
               [&] { RunFile::open(folder.file(std::string(300, 'n')), RunFile::Access::read); });
  for (const RunFile::Access access : {RunFile::Access::read, RunFile::Access::write}) {
    write_bytes(folder.file("text"), "a,b,c\n1,2,3\n" + std::string(5000, 'x'));
    expect_error(ErrorCode::bad_data, "not a run", [&] { RunFile::open(folder.file("text"), access); });
    write_bytes(folder.file("empty"), "");
    expect_error(ErrorCode::bad_data, "not a run", [&] { RunFile::open(folder.file("empty"), access); });
    EXPECT_EQ(read_bytes(folder.file("empty")), "");
  }
  execute_sql(folder.file("other.db"), "CREATE TABLE t (a)");
  expect_error(ErrorCode::bad_data, "not a run",
               [&] { RunFile::open(folder.file("other.db"), RunFile::Access::read); });
}

TEST(RunFile, NewerFormat) {
  const ScratchFolder folder;
  const std::string path = folder.file("a.coppice");
  RunFile::create(path, example()).finish();
  execute_sql(path, "PRAGMA user_version = 99");
  for (const RunFile::Access access : {RunFile::Access::read, RunFile::Access::write})
    expect_error(ErrorCode::bad_data, "newer", [&] { RunFile::open(path, access); });
  execute_sql(path, "PRAGMA user_version = 0");
  expect_error(ErrorCode::bad_data, "format 0", [&] { RunFile::open(path, RunFile::Access::read); });
}

TEST(RunFile, LostTablesAndRowsAreNoticed) {
  const ScratchFolder folder;
  const std::string path = folder.file("a.coppice");
  RunFile::create(path, example());
  resume(path, {});
  const std::string good = read_bytes(path);
  for (const char* sql :
       {"DROP TABLE meta", "DELETE FROM meta WHERE key = 'table'", "DROP TABLE draws",
        "UPDATE meta SET value = 'x' WHERE key = 'config'", "DELETE FROM draws WHERE block = 0",
        "UPDATE draws SET block = block + 5 WHERE block = 1", "UPDATE draws SET count = count - 1",
        "UPDATE draws SET labels = traces", "UPDATE checkpoints SET sweep = sweep + 1",
        "UPDATE status SET moves = '[1]'", "UPDATE status SET moves = '[{\"proposed\":\"x\"}]'",
        "UPDATE status SET sweeps = 'x'"}) {
    write_bytes(path, good);
    SCOPED_TRACE(sql);
    execute_sql(path, sql);
    expect_error(ErrorCode::bad_data, "", [&] { everything(path); });
  }
}

TEST(RunFile, StatusThatCannotBe) {
  const ScratchFolder folder;
  const std::string path = folder.file("a.coppice");
  RunFile::create(path, example());
  resume(path, {});
  for (const char* moves :
       {"[1]", "[{}]", "[{\"name\":\"gibbs\",\"proposed\":\"x\",\"accepted\":1}]", "1", "["}) {
    SCOPED_TRACE(moves);
    // With the right checksum, so that the text is what is refused.
    const std::string digest = sha256_hex(fmt::format("0 5 {:a} {}", 1.0, moves));
    execute_sql(
        path, fmt::format(
                  "UPDATE status SET sweeps = 5, seconds = 1.0, moves = '{}', sha256 = '{}' WHERE chain = 0",
                  moves, digest));
    expect_error(ErrorCode::bad_data, "status",
                 [&] { RunFile::open(path, RunFile::Access::read).status(0); });
  }
}

TEST(RunFile, ConfigurationsThatCannotBe) {
  const std::string good = to_json(example().config);
  for (const std::string& text :
       {std::string("{}"), std::string(), std::string("[1]"), good.substr(0, good.size() / 2)})
    expect_error(ErrorCode::bad_data, "", [&] { config_from_json(text); });
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"\"chains\": 2", "\"chains\": 0"},
                                                        {"\"chains\": 2", "\"chains\": 1001"},
                                                        {"\"chains\": 2", "\"chains\": -2"},
                                                        {"\"chains\": 2", "\"chains\": 1e300"},
                                                        {"\"draws\": 130", "\"draws\": -1"},
                                                        {"\"draws\": 130", "\"draws\": 1000000000001"},
                                                        {"\"pca\": 0", "\"pca\": 1e300"},
                                                        {"\"thin\": 1", "\"thin\": 0"},
                                                        {"\"thin\": 1", "\"thin\": \"1\""}}) {
    std::string text = good;
    ASSERT_NE(text.find(from), std::string::npos);
    text.replace(text.find(from), from.size(), to);
    expect_error(ErrorCode::bad_data, "", [&] { config_from_json(text); });
  }
}

TEST(Duration, IsRead) {
  EXPECT_EQ(parse_duration("90"), 90.0);
  EXPECT_EQ(parse_duration("1.5s"), 1.5);
  EXPECT_EQ(parse_duration("15m"), 900.0);
  EXPECT_EQ(parse_duration("2h"), 7200.0);
  EXPECT_EQ(parse_duration("1d"), 86400.0);
  for (const char* text : {"", "h", "-1s", "0", "5x", "1h30", "nan", "inf", "1e400"})
    expect_error(ErrorCode::usage, "duration", [&] { parse_duration(text); });
}

/// Runs the action in a child process whose files may not grow beyond `bytes`; the child exits with what it
/// returns.
template <typename Action>
int in_child_with_full_disk(std::size_t bytes, Action&& action) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, bytes};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::_exit(action());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(FullDisk, IsReportedAndCommittedDrawsAreSafe) {
  const ScratchFolder folder;
  const RunContents contents = small_contents("nrmm", {}, 40, 2, 0, 400);
  const std::string whole_path = folder.file("whole.coppice");
  RunFile::create(whole_path, contents);
  resume(whole_path, {.threads = 1});
  const std::vector<ChainDraws> whole = draws_at(whole_path);
  const std::string path = folder.file("full.coppice");
  // A little room: the file opens, some commits fit, then none does.
  std::size_t failures = 0;
  for (std::size_t room = 0; room < 200'000; room += 20'000) {
    std::filesystem::remove(path);
    std::filesystem::remove(path + "-wal");
    std::filesystem::remove(path + "-shm");
    RunFile::create(path, contents).finish();
    const std::size_t size = std::filesystem::file_size(path);
    const int code = in_child_with_full_disk(std::max<std::size_t>(size, 40'000) + room, [&] {
      try {
        RunFile file = RunFile::open(path, RunFile::Access::write);
        const auto setup = set_up(file);
        for (std::size_t draws = 100; draws <= 400; draws += 100) {  // several commits
          file.set_draws(draws);
          continue_run(file, *setup, {.threads = 1});
        }
        return 0;
      } catch (const Error& error) {
        return static_cast<int>(error.code());
      } catch (...) {
        return 1;
      }
    });
    EXPECT_TRUE(code == 0 || code == static_cast<int>(ErrorCode::cannot_write))
        << code << " with room " << room;
    failures += code != 0;
    const std::vector<ChainDraws> partial = draws_at(path);
    for (std::size_t chain = 0; chain < 2; ++chain) EXPECT_TRUE(partial[chain].is_prefix_of(whole[chain]));
    RunFile::open(path, RunFile::Access::write).set_draws(400);
    EXPECT_EQ(resume(path, {.threads = 1}), FitEnd::finished);
    EXPECT_EQ(draws_at(path), whole);
  }
  EXPECT_GT(failures, 0u) << "no room was ever too small";
  const std::string fresh = folder.file("fresh.coppice");
  EXPECT_EQ(in_child_with_full_disk(4096,
                                    [&] {
                                      try {
                                        RunFile::create(fresh, contents);
                                      } catch (const Error& error) {
                                        return static_cast<int>(error.code());
                                      }
                                      return 0;
                                    }),
            static_cast<int>(ErrorCode::cannot_write));
  EXPECT_FALSE(std::filesystem::exists(fresh));
}

}  // namespace
}  // namespace coppice::test
