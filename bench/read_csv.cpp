// Reads one data file and prints the processor seconds it took and the size of the table, for
// bench/read_csv.py.
#include <fmt/format.h>

#include <cstdio>
#include <ctime>

#include "coppice/base/error.hpp"
#include "coppice/data/read.hpp"

int main(int argument_count, char** arguments) {
  if (argument_count != 2) {
    fmt::print(stderr, "usage: {} FILE\n", arguments[0]);
    return 2;
  }
  try {
    const std::clock_t start = std::clock();
    const coppice::Dataset data = coppice::read_dataset(arguments[1], {});
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    fmt::print("{:.4f} {} {}\n", seconds, data.table.rows(), data.table.columns.size());
  } catch (const coppice::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(error.code());
  }
}
