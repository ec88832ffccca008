// A table in several files, one below the other, that no process needs as a whole: its columns are decided
// from some of the rows, and the rows are read file by file. What was read is known by digest and by the
// file's size and time, so that a file that changes is noticed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coppice/data/dataset.hpp"

namespace coppice {

class TableFiles {
 public:
  /// Reads every file once. Throws Error{cannot_read, bad_data, configuration}; a file whose columns are not
  /// those of the first one is named, as are roles that rows of several files cannot have.
  TableFiles(const std::vector<std::string>& paths, const ReadOptions& options);
  /// The files of a run, from what source() gave; nothing if its rows are elsewhere.
  static std::optional<TableFiles> of_run(std::string_view source);

  /// Rows of all files.
  std::uint64_t rows() const { return begins_.back(); }
  /// Files, numbers of their rows and digests, as JSON; paths are absolute.
  std::string source() const;
  /// Throws Error{bad_data} if the content of a file is not what it was, Error{cannot_read} if it is gone.
  void verify() const;

  /// These rows, ascending, as if there were no others, but that texts have the levels of all rows. Only of
  /// files that were given by path; with the same options.
  Dataset sample(std::span<const std::uint64_t> numbers, const ReadOptions& options) const;
  /// These rows, ascending, with the columns of the fit; their names are their numbers from 1 on.
  Table rows_like(std::span<const std::uint64_t> numbers, const Codebook& fitted) const;

 private:
  friend class FileReader;
  struct File {
    std::string path, digest;
    std::uint64_t rows = 0;
  };
  TableFiles() = default;
  void add(File file);
  /// Numbers of `numbers` that are in a file, counted from its first row.
  std::vector<std::size_t> places_in(std::size_t file, std::span<const std::uint64_t> numbers) const;

  std::vector<File> files_;
  std::vector<std::uint64_t> begins_{0};          // of each file, and the number of all rows
  std::vector<std::vector<std::string>> levels_;  // of the columns of texts
};

/// Reads ranges of rows in ascending order, each file once; remembers how the files looked.
class FileReader {
 public:
  FileReader(const TableFiles& files, Codebook fitted) : files_(&files), fitted_(std::move(fitted)) {}

  /// Rows [begin, end) with the columns of the fit. Throws Error{bad_data} for a file that has changed.
  Table read(std::uint64_t begin, std::uint64_t end);
  /// Gives back the memory of the file that was read last.
  void forget() { held_ = {}; }
  /// Throws Error{bad_data or cannot_read} if a file that was read has another size or time, or is gone.
  void check() const;

 private:
  struct Seen {
    std::size_t file;
    std::uint64_t size;
    std::int64_t time;
  };
  const TableFiles* files_;
  Codebook fitted_;
  std::vector<Seen> seen_;
  std::size_t held_file_ = 0;
  std::optional<Table> held_;
};

}  // namespace coppice
