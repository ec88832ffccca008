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

SavedRun::SavedRun(RunFile file, ShownRows shown) : file_(std::move(file)), contents_(file_.contents()) {
  setup_ = set_up_problem(contents_);
  file_.set_limits(block_limits(*setup_));
  traces_ = file_.traces(trace_names().size());
  draws_ = static_cast<std::size_t>(-1);
  for (std::size_t chain = 0; chain < config().chains; ++chain) {
    const std::size_t count = file_.draws_of(chain);
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
                (!model().runs_once() || file_.status(0).sweeps >= config().total_sweeps());
  }
  if (const std::string note = sample_note(); !note.empty()) contents_.config.notes.push_back(note);
  const ParameterValues& parameters = setup_->problem.parameters;
  if (shown == ShownRows::sample && parameters.has("answer-rows") && file_.keeps_parameters())
    if (const std::size_t most = parameters.integer("answer-rows"); most != 0 && rows() > most)
      show_sample(most);
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

void SavedRun::show_sample(std::size_t count) {
  sample_ = answer_rows(rows(), count);
  all_rows_ = std::move(setup_->rows);
  setup_->rows = {all_rows_.width, {}};
  for (const std::uint64_t row : sample_)
    setup_->rows.cells.insert(setup_->rows.cells.end(), all_rows_[row], all_rows_[row] + all_rows_.width);
  keep_rows(contents_.table, sample_);
  keep_rows(contents_.truth, sample_);
  contents_.config.notes.push_back(sample_note());
}

std::string SavedRun::sample_note() const {
  if (rows() == all_rows()) return {};
  return fmt::format("answers are about a random sample of {} of the {} rows", rows(), all_rows());
}

ParameterDraws& SavedRun::maker() const {
  if (!maker_) {
    Problem problem = setup_->problem;
    if (!sample_.empty()) problem.rows = &all_rows_;
    maker_ = model().make_inference(problem);
    maker_->use_threads(0);
  }
  auto* draws = dynamic_cast<ParameterDraws*>(maker_.get());
  if (draws == nullptr)
    fail(ErrorCode::bad_data, "{}: the run file is damaged: its labels do not fit the data", file_.path());
  return *draws;
}

std::string SavedRun::label_question(std::size_t chain, std::size_t draw) const {
  check_draw(chain, draw);
  std::string question;
  file_.for_each_block(chain, true, [&](const DrawBlock& block) {
    if (draw >= block.first && draw < block.first + block.payload.size())
      question = maker().label_question(block.payload[draw - block.first]);
  });
  return question;
}

void SavedRun::make_draw(std::string_view parameters, Labels& labels, std::string& payload) const {
  ParameterDraws& draws = maker();
  draws.take_parameters(parameters);
  labels.resize(sample_.empty() ? rows() : all_rows_.size());
  maker_->labels(labels);
  if (sample_.empty()) {
    payload = maker_->payload();
    return;
  }
  for (std::size_t i = 0; i < sample_.size(); ++i) labels[i] = labels[sample_[i]];
  labels.resize(sample_.size());
  canonicalize(labels);
  payload = draws.payload_of_rows(sample_);
}

void SavedRun::for_each_draw(std::size_t most, const std::function<void(const SavedDraw&)>& visit) const {
  const std::size_t chains = config().chains;
  const std::size_t per_chain =
      most == 0 ? draws_ : std::min(draws_, std::max<std::size_t>(1, most / chains));
  for (std::size_t chain = 0; chain < chains; ++chain) {
    std::size_t next = 0;  // the index among the kept ones
    const auto is_wanted = [&](std::size_t draw) {
      if (next >= per_chain || draw != next * draws_ / per_chain) return false;
      ++next;
      return true;
    };
    visit_draws(chain, is_wanted, visit);
  }
}

void SavedRun::check_draw(std::size_t chain, std::size_t draw) const {
  if (chain >= config().chains || draw >= draws_)
    fail(ErrorCode::usage, "the run has chains 0 to {} with draws 0 to {}; there is no draw {} of chain {}",
         config().chains - 1, draws_ - 1, draw, chain);
}

void SavedRun::visit_draw(std::size_t chain, std::size_t draw,
                          const std::function<void(const SavedDraw&)>& visit) const {
  check_draw(chain, draw);
  visit_draws(chain, [&](std::size_t other) { return other == draw; }, visit);
}

void SavedRun::visit_draws(std::size_t chain, const std::function<bool(std::size_t draw)>& is_wanted,
                           const std::function<void(const SavedDraw&)>& visit) const {
  const std::size_t width = trace_names().size();
  const std::size_t labels = levels() * rows();
  Labels made;
  std::string payload;
  file_.for_each_block(chain, true, [&](const DrawBlock& block) {
    const bool has_parameters = block.labels.empty() && block.payload.size() == block.count;
    // Labels become indices without further checks.
    const auto fits = [&](Label label) { return label >= 0 && static_cast<std::size_t>(label) < rows(); };
    if (!has_parameters && (block.labels.size() != block.count * labels ||
                            !std::all_of(block.labels.begin(), block.labels.end(), fits)))
      fail(ErrorCode::bad_data, "{}: the run file is damaged: its labels do not fit the data", file_.path());
    for (std::size_t i = 0; i < block.count; ++i) {
      const std::size_t draw = block.first + i;
      if (!is_wanted(draw)) continue;
      const std::span<const double> traces(block.traces.data() + i * width, width);
      if (has_parameters) {
        make_draw(block.payload[i], made, payload);
        visit({chain, draw, made, traces, payload});
        continue;
      }
      visit({chain,
             draw,
             {block.labels.data() + i * labels, labels},
             traces,
             block.payload.empty() ? std::string_view() : std::string_view(block.payload[i])});
    }
  });
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
