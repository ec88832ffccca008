#include "coppice/run/saved_run.hpp"

#include <algorithm>

#include "coppice/base/error.hpp"
#include "coppice/data/load.hpp"
#include "coppice/data/read.hpp"
#include "coppice/data/transform.hpp"

namespace coppice {

SavedRun::SavedRun(const std::string& path) : SavedRun(RunFile::open(path, RunFile::Access::read)) {}

SavedRun::SavedRun(RunFile file) : file_(std::move(file)), contents_(file_.contents()) {
  setup_ = set_up_problem(contents_);
  const std::size_t width = trace_names().size();
  const std::size_t chains = config().chains;
  traces_.assign(width, std::vector<std::vector<double>>(chains));
  draws_ = static_cast<std::size_t>(-1);
  for (std::size_t chain = 0; chain < chains; ++chain) {
    std::size_t count = 0;
    file_.for_each_block(chain, false, [&](const DrawBlock& block) {
      if (block.traces.size() != block.count * width)
        fail(ErrorCode::bad_data, "{}: the run file is damaged: its traces do not fit the model",
             file_.path());
      for (std::size_t draw = 0; draw < block.count; ++draw)
        for (std::size_t trace = 0; trace < width; ++trace)
          traces_[trace][chain].push_back(block.traces[draw * width + trace]);
      count += block.count;
    });
    draws_ = std::min(draws_, count);
    longest_ = std::max(longest_, count);
  }
  for (auto& trace : traces_)
    for (auto& chain : trace) chain.resize(draws_);
  // The draw of a fit that runs once is there from the beginning.
  complete_ =
      draws_ == config().draws && (!model().runs_once() || file_.status(0).sweeps >= config().total_sweeps());
}

void SavedRun::for_each_draw(std::size_t most, const std::function<void(const SavedDraw&)>& visit) const {
  const std::size_t chains = config().chains;
  const std::size_t width = trace_names().size();
  const std::size_t labels = levels() * rows();
  const std::size_t per_chain =
      most == 0 ? draws_ : std::min(draws_, std::max<std::size_t>(1, most / chains));
  for (std::size_t chain = 0; chain < chains; ++chain) {
    std::size_t next = 0;  // the index among the kept ones
    file_.for_each_block(chain, true, [&](const DrawBlock& block) {
      // Labels become indices without further checks.
      const auto fits = [&](Label label) { return label >= 0 && static_cast<std::size_t>(label) < rows(); };
      if (block.labels.size() != block.count * labels ||
          !std::all_of(block.labels.begin(), block.labels.end(), fits))
        fail(ErrorCode::bad_data, "{}: the run file is damaged: its labels do not fit the data",
             file_.path());
      for (std::size_t i = 0; i < block.count; ++i) {
        const std::size_t draw = block.first + i;
        if (next >= per_chain || draw != next * draws_ / per_chain) continue;
        ++next;
        visit({chain,
               draw,
               {block.labels.data() + i * labels, labels},
               {block.traces.data() + i * width, width},
               block.payload.empty() ? std::string_view() : std::string_view(block.payload[i])});
      }
    });
  }
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
