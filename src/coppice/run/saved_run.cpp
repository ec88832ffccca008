#include "coppice/run/saved_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "coppice/base/error.hpp"
#include "coppice/data/load.hpp"
#include "coppice/data/read.hpp"
#include "coppice/data/transform.hpp"

namespace coppice {

SavedRun::SavedRun(const std::string& path, ShownRows shown)
    : SavedRun(RunFile::open(path, RunFile::Access::read), shown) {}

SavedRun::SavedRun(RunFile file, ShownRows shown)
    : file_(std::make_unique<RunFile>(std::move(file))),
      contents_(file_->contents()),
      setup_(set_up_problem(contents_)),
      sample_(std::make_unique<RowSample>()) {
  file_->set_limits(block_limits(*setup_));
  traces_ = file_->traces(trace_names().size());
  draws_ = static_cast<std::size_t>(-1);
  for (std::size_t chain = 0; chain < config().chains; ++chain) {
    const std::size_t count = file_->draws_of(chain);
    draws_ = std::min(draws_, count);
    longest_ = std::max(longest_, count);
  }
  if (config().is_until_trusted()) {
    // What is planned for the next decision was not asked for by anyone.
    complete_ = !config().end.empty();
    contents_.config.draws = draws_;
  } else {
    // The draw of a fit that runs once is there from the beginning.
    complete_ = draws_ == config().draws &&
                (!model().runs_once() || file_->status(0).sweeps >= config().total_sweeps());
  }
  if (const std::string note = sample_note(); !note.empty()) contents_.config.notes.push_back(note);
  if (shown == ShownRows::sample) *sample_ = answer_sample(*file_, *setup_);
  if (!sample_->is_all()) show_sample();
  stored_ = std::make_unique<StoredDraws>(*file_, *setup_, *sample_);
}

namespace {

void keep_rows(Table& table, std::span<const std::uint64_t> rows) {
  const auto keep = [&](auto& values) {
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (rows[i] != i) values[i] = std::move(values[rows[i]]);
    values.resize(rows.size());
  };
  if (!table.row_ids.empty()) keep(table.row_ids);
  for (Column& column : table.columns) keep(column.values);
}

}  // namespace

void SavedRun::show_sample() {
  setup_->rows = sample_->rows;
  keep_rows(contents_.table, sample_->numbers);
  keep_rows(contents_.truth, sample_->numbers);
  contents_.config.notes.push_back(sample_note());
}

std::string SavedRun::sample_note() const {
  if (rows() == all_rows()) return {};
  return fmt::format("answers are about a random sample of {} of the {} rows", rows(), all_rows());
}

std::string SavedRun::label_question(std::size_t chain, std::size_t draw) const {
  check_draw(chain, draw);
  std::string question;
  file_->for_each_block(chain, true, [&](const DrawBlock& block) {
    if (draw >= block.first && draw < block.first + block.payload.size())
      question = stored_->maker().label_question(block.payload[draw - block.first]);
  });
  return question;
}

void SavedRun::check_draw(std::size_t chain, std::size_t draw) const {
  if (chain >= config().chains || draw >= draws_)
    fail(ErrorCode::usage, "the run has chains 0 to {} with draws 0 to {}; there is no draw {} of chain {}",
         config().chains - 1, draws_ - 1, draw, chain);
}

void SavedRun::visit_draw(std::size_t chain, std::size_t draw,
                          const std::function<void(const SavedDraw&)>& visit) const {
  check_draw(chain, draw);
  stored_->visit(chain, [&](std::size_t other) { return other == draw; }, visit);
}

void SavedRun::check_level(std::size_t level) const {
  if (level < 1 || level > levels())
    fail(ErrorCode::usage, "--level {}: the model {} has levels 1 to {}", level, model().name, levels());
}

LabelMatrix SavedRun::labels(std::size_t level, std::size_t most_labels) const {
  check_level(level);
  LabelMatrix matrix;
  matrix.rows = rows();
  const std::size_t most =
      std::max<std::size_t>(most_labels / std::max<std::size_t>(rows(), 1), config().chains);
  matrix.values.reserve(std::min(most, draws_ * config().chains) * rows());
  for_each_draw(most, [&](const SavedDraw& draw) {
    matrix.push_back(draw.labels.subspan((level - 1) * rows(), rows()));
  });
  return matrix;
}

Table SavedRun::read_new_rows(const std::string& path, const std::string& id) const {
  const FileBytes bytes = load_file(path);
  return read_new_rows_bytes(bytes.view(), path == "-" ? "stdin" : path, id);
}

Table SavedRun::read_new_rows_bytes(std::string_view bytes, const std::string& name,
                                    const std::string& id) const {
  return apply(
      transform_from_json(contents_.transform),
      read_like_bytes(bytes, name, contents_.input_codebook, id.empty() ? config().id : id, !id.empty()));
}

}  // namespace coppice
