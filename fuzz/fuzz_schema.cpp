// A run file whose schema and blobs were changed, with all checksums of SQLite intact: it is read, or
// refused with a code of ours, and nothing in its schema is ever run. A line of the input is a statement of
// SQL, or =TABLE.COLUMN followed by the content of a blob, which is put into an intact frame.
#include <sqlite3.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "coppice/base/error.hpp"
#include "coppice/data/transform.hpp"
#include "coppice/data/zstd_frame.hpp"
#include "coppice/run/fit.hpp"
#include "coppice/run/saved_run.hpp"

namespace {

using namespace coppice;

struct Scratch {
  std::string folder =
      (std::filesystem::temp_directory_path() / ("coppice-fuzz-schema-" + std::to_string(::getpid())))
          .string();
  std::string good = folder + "/good.coppice";
  std::string path = folder + "/changed.coppice";

  Scratch() {
    std::filesystem::create_directories(folder);
    RunContents contents;
    contents.config.model = "nrmm";
    contents.config.chains = 2;
    contents.config.warmup = 1;
    contents.config.draws = 120;
    contents.table.row_ids = {"1", "2", "3", "4", "5", "6"};
    contents.table.columns = {{"x", Kind::real, {-1.0, -0.8, 0.1, 1.0, 1.3, 2.0}, {}}};
    contents.codebook.columns.push_back({"x", Kind::real, {}, "", {}});
    contents.input_codebook = contents.codebook;
    contents.truth.row_ids = contents.table.row_ids;
    contents.transform = to_json(Transform());
    const std::unique_ptr<ProblemSetup> setup = set_up_problem(contents);
    contents.effective = effective_config(contents, *setup);
    RunFile file = RunFile::create(good, contents, true);
    continue_run(file, *setup, {.threads = 1});
    file.finish();
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
};

/// Statements that never end are as good as any other.
int give_up(void* steps) { return ++*static_cast<int*>(steps) > 50 ? 1 : 0; }

void change(sqlite3* database, std::string_view line) {
  if (!line.starts_with('=')) {
    sqlite3_exec(database, std::string(line).c_str(), nullptr, nullptr, nullptr);
    return;
  }
  const std::size_t dot = line.find('.');
  const std::size_t end = line.find(' ');
  if (dot == std::string_view::npos || end == std::string_view::npos || dot > end) return;
  const std::string sql = "UPDATE \"" + std::string(line.substr(1, dot - 1)) + "\" SET \"" +
                          std::string(line.substr(dot + 1, end - dot - 1)) + "\" = ?";
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) return;
  const std::string blob = compress(line.substr(end + 1));
  sqlite3_bind_blob(statement, 1, blob.data(), static_cast<int>(blob.size()), SQLITE_TRANSIENT);
  sqlite3_step(statement);
  sqlite3_finalize(statement);
}

template <typename Action>
void expect_value_or_error(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::bug) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Scratch scratch;
  std::filesystem::copy_file(scratch.good, scratch.path, std::filesystem::copy_options::overwrite_existing);
  sqlite3* database = nullptr;
  if (sqlite3_open(scratch.path.c_str(), &database) != SQLITE_OK) std::abort();
  int steps = 0;
  sqlite3_progress_handler(database, 1000, give_up, &steps);
  sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    change(database, rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  sqlite3_close(database);
  expect_value_or_error([&] {
    const SavedRun run(scratch.path);
    run.for_each_draw(0, [](const SavedDraw&) {});
  });
  expect_value_or_error([&] {
    RunFile file = RunFile::open(scratch.path, RunFile::Access::write);
    const std::size_t before = file.draws_of(0);
    const ChainStatus status = file.status(0);
    file.commit({}, {}, std::vector<ChainStatus>{status});
    if (file.draws_of(0) != before) std::abort();  // something of the schema was run
    file.finish();
  });
  std::error_code ignored;
  for (const char* suffix : {"-wal", "-shm", "-journal", "-lock"})
    std::filesystem::remove(scratch.path + suffix, ignored);
  return 0;
}
