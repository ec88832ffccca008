#include "coppice/post/unusual_rows.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"
#include "coppice/base/parallel.hpp"
#include "coppice/data/transform.hpp"
#include "coppice/model/left_out.hpp"
#include "coppice/model/registry.hpp"
#include "coppice/post/cell_grid.hpp"
#include "coppice/post/density_units.hpp"
#include "coppice/post/draw_batches.hpp"
#include "coppice/post/units.hpp"

namespace coppice {
namespace {

constexpr std::size_t kMostJudgingDraws = 200;
constexpr std::size_t kLeastJudgingDraws = 20;
/// Rows whose density is computed in a few seconds.
constexpr std::size_t kCellEvaluations = 4'000'000;
/// Rows whose cells say what is typical of the columns.
constexpr std::size_t kReferenceRows = 200;
constexpr std::size_t kCellNodes = 96;
/// Cells that are this much less likely than is typical of their column are responsible for a row.
constexpr double kLeastDeficit = 1.0;

/// The predictor as one that leaves out training rows; those of greedy models do not.
const LeaveOneOut& leave_one_out_of(const Predictor& predictor) {
  if (const auto* known = dynamic_cast<const LeaveOneOut*>(&predictor)) return *known;
  std::vector<std::string> names;
  for (const ModelEntry& entry : all_models())
    if (entry.method == Method::mcmc) names.push_back(entry.name);
  fail(ErrorCode::configuration,
       "this model does not judge its own rows by the others, because its tree was fitted to all of them; "
       "give "
       "new rows in a table, or fit one of these models: {}",
       fmt::join(names, ", "));
}

/// One row with some of its cells changed or missing.
struct Question {
  std::size_t row = 0;
  std::vector<double> variants;  // rows one after the other; the first one is the row itself
};

/// Answers questions about rows of the fit, or about new rows, with log densities for each draw.
class Judge {
 public:
  Judge(const SavedRun& run, const Rows& rows, bool is_left_out, std::size_t most, std::size_t threads)
      : run_(run), rows_(rows), is_left_out_(is_left_out), most_(most), threads_(threads) {}

  /// result[q][v] = log of the average density of variant v of question q over the draws: over those of the
  /// posterior without the row, if it is left out.
  std::vector<std::vector<double>> answer(std::span<const Question> questions) {
    std::vector<std::vector<LogMean>> sums(questions.size());
    std::vector<LogMean> totals(questions.size());
    std::vector<std::vector<std::vector<double>>> of_draw;
    for_each_batch(run_, most_, threads_, [&](std::span<const TakenDraw> batch) {
      of_draw.assign(batch.size(), {});
      for (std::vector<std::vector<double>>& of_questions : of_draw) of_questions.resize(questions.size());
      parallel_for(batch.size() * questions.size(), threads_, [&](std::size_t task) {
        const std::size_t q = task % questions.size();
        of_draw[task / questions.size()][q] =
            densities(*batch[task / questions.size()].predictor, questions[q]);
      });
      for (const std::vector<std::vector<double>>& of_questions : of_draw)
        for (std::size_t q = 0; q < questions.size(); ++q) {
          const std::vector<double>& values = of_questions[q];
          sums[q].resize(values.size() - 1);
          // The last one is what the draw's weight is: 1 / p(row), or what a row without cells has.
          for (std::size_t v = 0; v + 1 < values.size(); ++v)
            sums[q][v].add(is_left_out_ ? values[v] + values.back() : values[v]);
          totals[q].add(values.back());
        }
    });
    std::vector<std::vector<double>> result(questions.size());
    for (std::size_t q = 0; q < questions.size(); ++q)
      for (const LogMean& sum : sums[q]) result[q].push_back(sum.value() - totals[q].value());
    return result;
  }

  /// The row with each of its present cells missing in turn, after the row itself.
  Question about_cells(std::size_t row) const {
    Question question{row, {rows_[row], rows_[row] + rows_.width}};
    for (std::size_t cell = 0; cell < rows_.width; ++cell) {
      if (is_missing(rows_[row][cell])) continue;
      question.variants.insert(question.variants.end(), rows_[row], rows_[row] + rows_.width);
      question.variants[question.variants.size() - rows_.width + cell] = kMissing;
    }
    return question;
  }
  /// The row with every value of a grid in one of its cells, after the row itself.
  Question about_values(std::size_t row, std::size_t cell, const CellGrid& grid) const {
    Question question{row, {rows_[row], rows_[row] + rows_.width}};
    for (const double value : grid.values) {
      question.variants.insert(question.variants.end(), rows_[row], rows_[row] + rows_.width);
      question.variants[question.variants.size() - rows_.width + cell] = value;
    }
    return question;
  }

 private:
  /// A sum of exponentials that comes term by term.
  struct LogMean {
    double log_sum = kMinusInfinity;
    void add(double term) { log_sum = log_add_exp(log_sum, term); }
    double value() const { return log_sum; }
  };

  std::vector<double> densities(const Predictor& predictor, const Question& question) const {
    const std::size_t count = question.variants.size() / rows_.width;
    std::vector<double> values(count + 1);
    if (is_left_out_) {
      leave_one_out_of(predictor).log_densities_without(question.row, question.variants,
                                                        std::span(values).first(count));
      values.back() = -values.front();
      return values;
    }
    std::vector<double> weights(predictor.clusters(1) + 1);
    for (std::size_t v = 0; v < count; ++v) {
      predictor.log_weights(question.variants.data() + v * rows_.width, 1, weights);
      values[v] = log_sum_exp(weights);
    }
    const std::vector<double> empty(rows_.width, kMissing);
    predictor.log_weights(empty.data(), 1, weights);
    values.back() = log_sum_exp(weights);
    return values;
  }

  const SavedRun& run_;
  const Rows& rows_;
  bool is_left_out_;
  std::size_t most_, threads_;
};

/// log p(cell | other cells of the row), by cell; NaN where it is missing.
std::vector<double> conditionals(const Rows& rows, std::size_t row, const std::vector<double>& answers) {
  std::vector<double> result(rows.width, kMissing);
  std::size_t next = 1;
  for (std::size_t cell = 0; cell < rows.width; ++cell)
    if (!is_missing(rows[row][cell])) result[cell] = answers.front() - answers[next++];
  return result;
}

std::size_t draws_for(std::size_t rows, std::size_t most_draws) {
  if (most_draws > 0) return most_draws;
  return std::clamp(kCellEvaluations / std::max<std::size_t>(1, rows), kLeastJudgingDraws, kMostJudgingDraws);
}

/// `rows` are those of the table, encoded.
UnusualRows judge_rows(const SavedRun& run, const Table& table, const Rows& rows, bool is_left_out,
                       const UnusualOptions& options) {
  need_gaps(run, "the search for unusual cells");
  const std::size_t most = draws_for(rows.size(), options.most_draws);
  UnusualRows result;
  result.draws = evenly_spaced_draws(run, most);
  if (rows.size() == 0) return result;
  Judge judge(run, rows, is_left_out, most, options.threads);

  // All rows, and of some of them the cells.
  const std::size_t references = std::min(rows.size(), kReferenceRows);
  std::vector<bool> is_reference(rows.size(), false);
  for (std::size_t k = 0; k < references; ++k) is_reference[k * rows.size() / references] = true;
  std::vector<Question> questions;
  for (std::size_t row = 0; row < rows.size(); ++row)
    questions.push_back(is_reference[row] ? judge.about_cells(row)
                                          : Question{row, {rows[row], rows[row] + rows.width}});
  const std::vector<std::vector<double>> answers = judge.answer(questions);
  std::vector<double> typical(rows.width, 0.0);
  std::vector<double> known(rows.width, 0.0);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (!is_reference[row]) continue;
    const std::vector<double> own = conditionals(rows, row, answers[row]);
    for (std::size_t cell = 0; cell < rows.width; ++cell) {
      if (!std::isfinite(own[cell])) continue;
      typical[cell] += own[cell];
      known[cell] += 1.0;
    }
  }
  for (std::size_t cell = 0; cell < rows.width; ++cell)
    if (known[cell] > 0.0) typical[cell] /= known[cell];

  std::vector<double> excess(rows.size());
  double mean = 0.0;
  double finite = 0.0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    excess[row] = answers[row].front();
    for (std::size_t cell = 0; cell < rows.width; ++cell)
      if (!is_missing(rows[row][cell])) excess[row] -= typical[cell];
    if (!std::isfinite(excess[row])) continue;
    mean += excess[row];
    finite += 1.0;
  }
  if (finite > 0.0) mean /= finite;
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return excess[a] < excess[b]; });
  if (options.most_rows > 0) order.resize(std::min(order.size(), options.most_rows));

  questions.clear();
  for (const std::size_t row : order) questions.push_back(judge.about_cells(row));
  const std::vector<std::vector<double>> of_cells = judge.answer(questions);
  const DensityUnits units(run);
  const FamilyPlan& plan = run.setup().plan;
  const std::vector<OriginalUnits> scales =
      original_units(transform_from_json(run.contents().transform), run.table());
  std::vector<CellGrid> grids(rows.width);
  questions.clear();
  std::vector<double> alone(rows.width, kMissing);
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::size_t row = order[k];
    UnusualRow entry{row, answers[row].front() + units.log_factor(rows[row]), excess[row] - mean, {}};
    const std::vector<double> own = conditionals(rows, row, of_cells[k]);
    std::vector<std::size_t> cells;
    for (std::size_t cell = 0; cell < rows.width; ++cell)
      if (!is_missing(rows[row][cell]) && !(own[cell] - typical[cell] > -kLeastDeficit))
        cells.push_back(cell);
    std::stable_sort(cells.begin(), cells.end(),
                     [&](std::size_t a, std::size_t b) { return own[a] - typical[a] < own[b] - typical[b]; });
    cells.resize(std::min(cells.size(), options.most_cells));
    for (const std::size_t cell : cells) {
      const std::size_t column = plan.order[cell];
      alone[cell] = rows[row][cell];
      UnusualCell found;
      found.column = column;
      found.value = scales[column].cell(table.columns[column].values[row]);
      found.log_density = own[cell] + units.log_factor(alone.data());
      found.excess = own[cell] - typical[cell];
      alone[cell] = kMissing;
      entry.cells.push_back(std::move(found));
      if (grids[cell].values.empty()) grids[cell] = make_cell_grid(run, cell, kCellNodes);
      questions.push_back(judge.about_values(row, cell, grids[cell]));
    }
    result.rows.push_back(std::move(entry));
  }
  const std::vector<std::vector<double>> of_values = judge.answer(questions);
  std::size_t next = 0;
  for (UnusualRow& entry : result.rows)
    for (UnusualCell& found : entry.cells) {
      const std::size_t cell = cell_of_column(run, found.column);
      std::vector<double> masses(of_values[next].begin() + 1, of_values[next].end());
      for (std::size_t v = 0; v < masses.size(); ++v) masses[v] += grids[cell].log_widths[v];
      found.expected = summarize_grid(run, cell, grids[cell], masses);
      found.expected.row = entry.row;
      ++next;
    }
  return result;
}

}  // namespace

UnusualRows unusual_rows(const SavedRun& run, const UnusualOptions& options) {
  return judge_rows(run, run.table(), run.setup().rows, true, options);
}

UnusualRows unusual_rows(const SavedRun& run, const Table& rows, const UnusualOptions& options) {
  return judge_rows(run, rows, encode(run.setup().plan, rows), false, options);
}

PointwiseDensities pointwise_densities(const SavedRun& run, std::size_t most_draws, std::size_t threads) {
  const Rows& rows = run.setup().rows;
  const DensityUnits units(run);
  PointwiseDensities result{rows.size(), {}};
  for_each_batch(run, most_draws, threads, [&](std::span<const TakenDraw> batch) {
    const std::size_t begin = result.values.size();
    result.values.resize(begin + batch.size() * rows.size());
    parallel_for(batch.size() * rows.size(), threads, [&](std::size_t task) {
      const std::size_t row = task % rows.size();
      const LeaveOneOut& judge = leave_one_out_of(*batch[task / rows.size()].predictor);
      double& value = result.values[begin + task];
      judge.log_densities_without(row, {rows[row], rows.width}, {&value, 1});
      value += units.log_factor(rows[row]);
    });
  });
  return result;
}

}  // namespace coppice
