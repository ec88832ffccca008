#include "coppice/run/stored_draws.hpp"

#include <algorithm>

#include "coppice/base/error.hpp"

namespace coppice {

RowSample answer_sample(const RunFile& file, const ProblemSetup& setup) {
  RowSample sample;
  const ParameterValues& parameters = setup.problem.parameters;
  const Rows& all = *setup.problem.rows;
  if (!parameters.has("answer-rows") || !file.keeps_parameters()) return sample;
  const std::size_t most = parameters.integer("answer-rows");
  if (most == 0 || all.size() <= most) return sample;
  sample.numbers = answer_rows(all.size(), most);
  sample.all_rows = all.size();
  sample.rows.width = all.width;
  sample.rows.has_copies = all.has_copies;
  for (const std::uint64_t row : sample.numbers)
    sample.rows.cells.insert(sample.rows.cells.end(), all[row], all[row] + all.width);
  return sample;
}

StoredDraws::StoredDraws(const RunFile& file, const ProblemSetup& setup, const RowSample& sample,
                         std::size_t first)
    : file_(&file),
      setup_(&setup),
      sample_(&sample),
      first_(first),
      rows_(sample.is_all() ? setup.problem.rows->size() : sample.numbers.size()),
      chains_(file.config().chains),
      draws_(static_cast<std::size_t>(-1)) {
  for (std::size_t chain = 0; chain < chains_; ++chain) draws_ = std::min(draws_, file.draws_of(chain));
  draws_ -= std::min(draws_, first);
}

ParameterDraws& StoredDraws::maker() const {
  if (!maker_) {
    Problem problem = setup_->problem;
    if (!sample_->is_all()) {
      problem.part = {sample_->all_rows, 0, sample_->numbers};
      problem.rows = &sample_->rows;
    }
    maker_ = setup_->model->make_inference(problem);
    maker_->use_threads(0);
  }
  auto* draws = dynamic_cast<ParameterDraws*>(maker_.get());
  if (draws == nullptr)
    fail(ErrorCode::bad_data, "{}: the run file is damaged: its labels do not fit the data", file_->path());
  return *draws;
}

void StoredDraws::for_each(std::size_t most, const std::function<void(const SavedDraw&)>& visit_draw) const {
  const std::size_t per_chain =
      most == 0 ? draws_ : std::min(draws_, std::max<std::size_t>(1, most / chains_));
  for (std::size_t chain = 0; chain < chains_; ++chain) {
    std::size_t next = 0;  // the index among the kept ones
    const auto is_wanted = [&](std::size_t draw) {
      if (next >= per_chain || draw != next * draws_ / per_chain) return false;
      ++next;
      return true;
    };
    visit(chain, is_wanted, visit_draw);
  }
}

void StoredDraws::visit(std::size_t chain, const std::function<bool(std::size_t draw)>& is_wanted,
                        const std::function<void(const SavedDraw&)>& visit) const {
  const std::size_t width = setup_->traces.size();
  const std::size_t labels = levels() * rows();
  Labels made(rows());
  std::string payload;
  file_->for_each_block(chain, true, [&](const DrawBlock& block) {
    const bool has_parameters = block.labels.empty() && block.payload.size() == block.count;
    // Labels become indices without further checks.
    const auto fits = [&](Label label) { return label >= 0 && static_cast<std::size_t>(label) < rows(); };
    if (!has_parameters && (block.labels.size() != block.count * labels ||
                            !std::all_of(block.labels.begin(), block.labels.end(), fits)))
      fail(ErrorCode::bad_data, "{}: the run file is damaged: its labels do not fit the data", file_->path());
    for (std::size_t i = 0; i < block.count; ++i) {
      if (block.first + i < first_ || !is_wanted(block.first + i - first_)) continue;
      const std::size_t draw = block.first + i - first_;
      const std::span<const double> traces(block.traces.data() + i * width, width);
      if (has_parameters) {
        maker().take_parameters(block.payload[i]);
        maker_->labels(made);
        payload = maker_->payload();
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

}  // namespace coppice
