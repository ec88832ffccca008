// Writes a run with its predictions, or opens one that another build of this program has written. A build in
// which a default is different must predict the same from the run as it is, and something else from a copy
// that does not say what it was made with: else the changed default would decide nothing, and the comparison
// nothing either.
//
//   defaults_mutant write KIND FILE
//   defaults_mutant read KIND FILE agrees|disagrees      (agrees: also the copy without the configuration)
#include <sqlite3.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "coppice/data/read.hpp"
#include "coppice/post/predict.hpp"
#include "coppice/run/fit_service.hpp"

namespace coppice::test {
namespace {

std::string table_of(const std::string& kind) {
  std::string csv = kind == "joint" ? "x,y\n" : "x,word,count\n";
  for (int row = 0; row < 40; ++row) {
    const double x = row % 2 * 6 + row % 5 * 0.31 + row % 7 * 0.17;
    const std::string first = row == 11 && kind != "joint" ? "" : fmt::format("{}", x);  // a missing cell
    csv += kind == "joint" ? fmt::format("{},{}\n", first, 0.5 * x + row % 3 * 0.4)
                           : fmt::format("{},{},{}\n", first, row % 3 == 0 ? "a" : "b", row % 6);
  }
  return csv;
}

void write_run(const std::string& kind, const std::string& path) {
  FitRequest request;
  request.model = kind == "views" ? "bhcc" : "nrmm";
  request.hyper = kFixedHyper;  // defaults decide only what is not learned
  request.data = read_dataset_bytes(table_of(kind), kind + ".csv", {});
  if (kind != "views")
    request.run_length = {
        {"chains", Setting::number(1)}, {"warmup", Setting::number(30)}, {"draws", Setting::number(40)}};
  request.output = path;
  request.running.threads = 1;
  if (Fit::begin(request).run() != FitEnd::finished) throw std::runtime_error("the fit was stopped");
}

std::vector<double> predictions(const std::string& path) {
  const SavedRun run(path);
  const Labels one_group(run.rows(), 0);
  std::vector<double> values;
  for (const Prediction& row : predict(run, encode(run.setup().plan, run.table()), one_group, {.threads = 1}))
    values.insert(values.end(), {row.log_density, row.new_probability});
  return values;
}

void write_values(const std::string& path, const std::vector<double>& values) {
  std::ofstream stream(path, std::ios::binary);
  stream.write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(double)));
}

std::vector<double> read_values(const std::string& path) {
  std::vector<double> values(std::filesystem::file_size(path) / sizeof(double));
  std::ifstream stream(path, std::ios::binary);
  stream.read(reinterpret_cast<char*>(values.data()),
              static_cast<std::streamsize>(values.size() * sizeof(double)));
  if (!stream || values.empty()) throw std::runtime_error("no predictions in " + path);
  return values;
}

/// A copy that looks like a run of a version that did not keep what it was made with.
std::string copy_without_configuration(const std::string& path, const std::string& reader) {
  const std::string copy = path + "." + reader;
  std::filesystem::copy_file(path, copy, std::filesystem::copy_options::overwrite_existing);
  sqlite3* handle = nullptr;
  const bool done = sqlite3_open(copy.c_str(), &handle) == SQLITE_OK &&
                    sqlite3_exec(handle, "DELETE FROM meta WHERE key = 'effective'", nullptr, nullptr,
                                 nullptr) == SQLITE_OK &&
                    sqlite3_changes(handle) == 1;
  sqlite3_close(handle);
  if (!done) throw std::runtime_error("the run does not say what it was made with");
  return copy;
}

int run(int argc, char** argv) {
  const std::string kind = argv[2];
  const std::string path = argv[3];
  if (std::strcmp(argv[1], "write") == 0) {
    std::filesystem::remove(path);
    write_run(kind, path);
    write_values(path + ".predictions", predictions(path));
    return 0;
  }
  if (argc != 5) return 2;
  const bool bare_agrees = std::strcmp(argv[4], "agrees") == 0;
  const std::vector<double> expected = read_values(path + ".predictions");
  const bool same = predictions(path) == expected;
  const std::string bare =
      copy_without_configuration(path, std::filesystem::path(argv[0]).filename().string());
  const bool bare_same = predictions(bare) == expected;
  std::printf("%s: the run %s; without what it was made with it %s\n", kind.c_str(),
              same ? "predicts the same" : "predicts something else", bare_same ? "does too" : "does not");
  return same && bare_same == bare_agrees ? 0 : 1;
}

}  // namespace
}  // namespace coppice::test

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  try {
    return coppice::test::run(argc, argv);
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 2;
  }
}
