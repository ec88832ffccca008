// A run whose rows are in several files: blocks of them are read where they are asked for. Every process
// reads those it answers for.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coppice/base/engine.hpp"
#include "coppice/data/table_files.hpp"
#include "coppice/run/saved_run.hpp"
#include "coppice/run/table_parts.hpp"

namespace coppice {

/// The files with the rows of a run; nothing if they are in the run itself, or were read by another program.
std::optional<TableFiles> files_of_run(const std::string& path);

/// Blocks of rows, grouped into parts of 2^m so that every worker has some.
class FileParts {
 public:
  FileParts(TableFiles files, const RunContents& contents, std::size_t workers);

  std::size_t size() const { return parts_.size(); }
  /// Reads parts [begin, end) unless that has been done.
  void load(std::size_t begin, std::size_t end);
  /// Throws if a file whose rows are in use has changed or is gone.
  void check_files() const { reader_.check(); }
  /// The merged answers of the blocks of a part, which is read if need be.
  BlockAnswer ask(std::size_t part, std::string_view message, std::uint64_t slot);
  /// Labels of all rows, part after part, as blocks answer to SavedRun::label_question; nothing is kept.
  void visit_labels(std::string_view question, std::size_t threads,
                    const std::function<void(std::span<const Label>)>& visit);

 private:
  std::unique_ptr<PartOfTable> read(std::size_t part);

  TableFiles files_;
  std::string description_;
  std::size_t rows_of_part_ = 0;
  FileReader reader_;
  std::mutex mutex_;  // of what follows, and of the reader
  std::vector<std::unique_ptr<PartOfTable>> parts_;
};

/// One question to parts: what an engine asks instead of the blocks. Its message begins with the number of
/// the chain.
class FileQuestion final : public BlockTask {
 public:
  explicit FileQuestion(FileParts& parts) : parts_(&parts) {}
  static std::string message(std::uint64_t slot, std::string_view message);

  void receive(std::string_view message) override;
  BlockAnswer answer(std::size_t part) override { return parts_->ask(part, message_, slot_); }
  void merge(BlockAnswer&, const BlockAnswer&) override;

 private:
  FileParts* parts_;
  std::uint64_t slot_ = 0;
  std::string message_;
};

/// Brings the questions of chains to the parts that the workers of another engine have.
class FileEngine final : public Engine {
 public:
  FileEngine(TableFiles files, Engine& inner) : files_(std::move(files)), inner_(&inner) {}

  /// Before the first question: the problem of the run. Reads the rows that this process answers for.
  void begin(const RunContents& contents);
  std::vector<BlockAnswer> ask(BlockTask& task, std::size_t blocks, std::string_view message) override;
  std::size_t workers() const override { return inner_->workers(); }

 private:
  std::uint64_t slot_of(const BlockTask& task);

  TableFiles files_;
  Engine* inner_;
  std::optional<FileParts> parts_;
  std::mutex mutex_;
  std::vector<const BlockTask*> tasks_;
};

}  // namespace coppice
