#include "coppice/run/file_parts.hpp"

#include <algorithm>
#include <cstring>
#include <map>

#include "coppice/base/error.hpp"
#include "coppice/model/registry.hpp"

namespace coppice {
namespace {

constexpr std::size_t kMostBlocksOfPart = 16;
constexpr std::size_t kPartsOfWorker = 4;

}  // namespace

std::optional<TableFiles> files_of_run(const std::string& path) {
  const RunFile run = RunFile::open(path, RunFile::Access::read);
  return run.has_meta("source") ? TableFiles::of_run(run.meta("source")) : std::nullopt;
}

FileParts::FileParts(TableFiles files, const RunContents& contents, std::size_t workers)
    : files_(std::move(files)),
      description_(describe_problem(contents)),
      reader_(files_, contents.input_codebook) {
  const ParameterValues values(model_by_name(contents.config.model).parameters,
                               contents.effective->parameters);
  const std::size_t block_size = values.integer("block-size");
  const std::size_t blocks = (files_.rows() + block_size - 1) / block_size;
  std::size_t of_part = 1;
  while (of_part < kMostBlocksOfPart && blocks / (2 * of_part) >= kPartsOfWorker * workers) of_part *= 2;
  rows_of_part_ = of_part * block_size;
  parts_.resize((blocks + of_part - 1) / of_part);
}

std::unique_ptr<PartOfTable> FileParts::read(std::size_t part) {
  const std::uint64_t begin = part * rows_of_part_;
  return std::make_unique<PartOfTable>(
      description_, reader_.read(begin, std::min<std::uint64_t>(begin + rows_of_part_, files_.rows())),
      begin);
}

void FileParts::load(std::size_t begin, std::size_t end) {
  const std::lock_guard lock(mutex_);
  for (std::size_t part = begin; part < end; ++part)
    if (!parts_[part]) parts_[part] = read(part);
  reader_.forget();
}

BlockAnswer FileParts::ask(std::size_t part, std::string_view message, std::uint64_t slot) {
  {
    const std::lock_guard lock(mutex_);
    if (!parts_[part]) parts_[part] = read(part);
  }
  return parts_[part]->ask(message, slot, 1);
}

void FileParts::visit_labels(std::string_view question, std::size_t threads,
                             const std::function<void(std::span<const Label>)>& visit) {
  std::map<std::int64_t, Label> canonical;
  for (std::size_t part = 0; part < size(); ++part) {
    Labels labels;
    for (const double answered : read(part)->ask(question, 0, threads))
      labels.push_back(
          canonical.emplace(static_cast<std::int64_t>(answered), static_cast<Label>(canonical.size()))
              .first->second);
    visit(labels);
  }
}

std::string FileQuestion::message(std::uint64_t slot, std::string_view message) {
  std::string bytes(sizeof slot, '\0');
  std::memcpy(bytes.data(), &slot, sizeof slot);
  return bytes.append(message);
}

void FileQuestion::receive(std::string_view message) {
  parts_->check_files();
  std::memcpy(&slot_, message.data(), sizeof slot_);
  message_ = message.substr(sizeof slot_);
}

void FileQuestion::merge(BlockAnswer&, const BlockAnswer&) {
  fail(ErrorCode::bug, "answers of parts are merged by the driver");
}

void FileEngine::begin(const RunContents& contents) {
  parts_.emplace(files_, contents, workers());
  const auto [first, last] = inner_->own_blocks(parts_->size());
  parts_->load(first, last);
}

std::uint64_t FileEngine::slot_of(const BlockTask& task) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find(tasks_.begin(), tasks_.end(), &task);
  if (found == tasks_.end()) tasks_.push_back(&task);
  return static_cast<std::uint64_t>(std::find(tasks_.begin(), tasks_.end(), &task) - tasks_.begin());
}

std::vector<BlockAnswer> FileEngine::ask(BlockTask& task, std::size_t, std::string_view message) {
  task.receive(message);
  parts_->check_files();  // here an error ends the processes in order
  FileQuestion question(*parts_);
  return inner_->ask(question, parts_->size(), FileQuestion::message(slot_of(task), message));
}

}  // namespace coppice
