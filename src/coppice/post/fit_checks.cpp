#include "coppice/post/fit_checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "coppice/base/special_functions.hpp"
#include "coppice/data/text.hpp"
#include "coppice/model/member_draws.hpp"
#include "coppice/prior/cluster_count.hpp"
#include "coppice/shape/spaced.hpp"

namespace coppice {
namespace {

constexpr std::size_t kPlaces = 20;                 // one more than the replicates of a cell
constexpr std::size_t kMostCheckedCells = 400'000;  // placed in all columns together
constexpr std::size_t kLeastCheckedRows = 200;
constexpr std::size_t kShownPlaces = 10;
constexpr double kLeastExpected = 5.0;

/// A chain of its own, so that none of the fit's numbers is used twice, and a sweep named by the draw's log
/// joint, so that other data meet other numbers.
StreamName stream_name(const SavedRun& run, const SavedDraw& draw) {
  return {run.config().seed, run.config().chains, std::bit_cast<std::uint64_t>(draw.traces.front())};
}

/// The places of the cells of each column (in the order of the encoded cells).
class Placing {
 public:
  Placing(const SavedRun& run, const StreamName& name, const std::vector<std::size_t>& rows)
      : run_(run), name_(name), rows_(rows), width_(run.setup().rows.width), counts_(width_) {
    for (std::vector<std::size_t>& column : counts_) column.assign(kPlaces, 0);
  }

  void place(const Predictor& predictor, const MemberDraws& members) {
    // Components in ascending order, rows in ascending order within them.
    std::map<std::size_t, std::vector<std::pair<std::size_t, std::size_t>>> cells;  // row, cell
    std::vector<CellComponent> mixture;
    const Rows& data = run_.setup().rows;
    for (const std::size_t row : rows_)
      for (std::size_t cell = 0; cell < width_; ++cell) {
        if (is_missing(data[row][cell])) continue;
        predictor.cell_components(row, cell, mixture);
        cells[mixture.front().component].emplace_back(row, cell);
      }
    for (const auto& [component, of_component] : cells) place_component(component, of_component, members);
  }

  const std::vector<std::size_t>& counts(std::size_t cell) const { return counts_[cell]; }

 private:
  void place_component(std::size_t component, const std::vector<std::pair<std::size_t, std::size_t>>& cells,
                       const MemberDraws& members) {
    Stream stream(name_, Purpose::theta, component);
    std::size_t rows = 0;
    for (std::size_t i = 0; i < cells.size(); ++i)
      if (i == 0 || cells[i].first != cells[i - 1].first) ++rows;
    std::vector<double> drawn(rows * (kPlaces - 1) * width_);
    members.draw_members(component, rows * (kPlaces - 1), stream, drawn.data());
    const double* replicates = drawn.data();
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const auto [row, cell] = cells[i];
      if (i > 0 && row != cells[i - 1].first) replicates += (kPlaces - 1) * width_;
      const double value = run_.setup().rows[row][cell];
      std::size_t below = 0, equal = 0;
      for (std::size_t r = 0; r + 1 < kPlaces; ++r) {
        const double replicate = replicates[r * width_ + cell];
        if (replicate < value) ++below;
        if (replicate == value) ++equal;
      }
      ++counts_[cell][below + draw_index(stream, equal + 1)];
    }
  }

  const SavedRun& run_;
  StreamName name_;
  const std::vector<std::size_t>& rows_;
  std::size_t width_;
  std::vector<std::vector<std::size_t>> counts_;
};

std::vector<std::size_t> join(const std::vector<std::size_t>& counts, std::size_t bins) {
  std::vector<std::size_t> joined(bins, 0);
  for (std::size_t i = 0; i < counts.size(); ++i) joined[i * bins / counts.size()] += counts[i];
  return joined;
}

/// What is wrong, by the outer and inner places and by the two sides.
std::string pattern_of(const std::vector<double>& places) {
  const double sides = places[0] + places[1] + places[8] + places[9];  // 0.4 if the model fits
  double low = 0.0;
  for (std::size_t i = 0; i < kShownPlaces / 2; ++i) low += places[i];
  const double ends = places[0] + places[9];
  if (std::abs(low - 0.5) > std::abs(sides - 0.4))
    return low > 0.5 ? "values are lower than the model's" : "values are higher than the model's";
  if (sides < 0.4 && ends > 0.2)
    return "most values are nearer the middle and some farther out than the model's";
  return sides > 0.4 ? "values are farther from the middle of their clusters than the model's"
                     : "values are nearer the middle of their clusters than the model's";
}

FitCheck check_column(const SavedRun& run, std::size_t cell, const std::vector<std::size_t>& counts) {
  FitCheck check;
  check.column = run.setup().plan.order[cell];
  check.name = run.table().columns[check.column].name;
  for (const std::size_t count : counts) check.cells += count;
  check.tail_probability = uniformity(counts);
  const auto total = static_cast<double>(std::max<std::size_t>(check.cells, 1));
  for (const std::size_t count : join(counts, kShownPlaces))
    check.places.push_back(static_cast<double>(count) / total);
  // Half the sum of differences, less what chance alone makes it on average.
  double apart = 0.0;
  for (const double share : check.places) apart += 0.5 * std::abs(share - 0.1);
  const double by_chance = 0.5 * kShownPlaces * std::sqrt(2.0 / 3.14159265358979 * 0.09 / total);
  check.misplaced = std::max(0.0, apart - by_chance);
  return check;
}

/// Of models in which one Chinese restaurant process seats the rows.
void check_cluster_count(const SavedRun& run, const SavedDraw& draw, std::vector<FitCheck>& checks) {
  const ModelEntry& model = run.model();
  if (model.has_views()) return;
  const std::optional<Concentration> seating = model.row_seating(run.setup().problem.parameters);
  if (!seating) return;
  double alpha = seating->start();
  std::string trace = model.row_concentration;
  std::replace(trace.begin(), trace.end(), '-', '_');
  const auto& names = run.trace_names();
  const auto at = std::find(names.begin(), names.end(), trace);
  if (at != names.end())
    alpha = draw.traces[static_cast<std::size_t>(at - names.begin())];
  else if (seating->is_learned())
    return;
  const auto labels = draw.labels.first(run.rows());
  const std::size_t clusters = static_cast<std::size_t>(*std::max_element(labels.begin(), labels.end())) + 1;
  const std::vector<double> law = cluster_count_distribution(Concentration(alpha), run.rows(), clusters + 1);
  Stream stream(stream_name(run, draw), Purpose::scores);
  double below = 0.0;
  for (std::size_t k = 0; k + 1 < clusters; ++k) below += law[k];
  const double place = below + draw_uniform(stream) * law[clusters - 1];
  FitCheck check;
  check.name = "number of clusters";
  check.of_column = false;
  check.cells = 1;
  check.tail_probability = std::clamp(2.0 * std::min(place, 1.0 - place), 0.0, 1.0);
  check.pattern = place < 0.5 ? "fewer clusters than the prior's" : "more clusters than the prior's";
  checks.push_back(std::move(check));
}

void conclude(FitReport& report) {
  const double limit = kFitError / static_cast<double>(report.checks.size());
  std::vector<std::string> wrong;
  for (FitCheck& check : report.checks) {
    if (check.tail_probability >= limit) {
      check.pattern.clear();
      continue;
    }
    if (check.of_column) check.pattern = pattern_of(check.places);
    wrong.push_back(check.of_column
                        ? fmt::format("{} ({}; {:.0f} % of its cells are misplaced)",
                                      text::display(check.name, 30), check.pattern, 100.0 * check.misplaced)
                        : fmt::format("the number of clusters ({})", check.pattern));
  }
  report.fits = wrong.empty();
  if (report.fits) {
    report.sentence =
        fmt::format("It fits: {} posterior predictive checks show no misfit (least tail probability {:.2g}).",
                    report.checks.size(), report.checks.front().tail_probability);
    return;
  }
  constexpr std::size_t kNamed = 3;
  const std::size_t named = std::min(kNamed, wrong.size());
  report.sentence = fmt::format(
      "It does not fit: the model does not reproduce {}{} (tail probability {:.1g}).",
      fmt::join(wrong.begin(), wrong.begin() + static_cast<std::ptrdiff_t>(named), ", "),
      wrong.size() > named ? fmt::format(" and {} more columns", wrong.size() - named) : std::string(),
      report.checks.front().tail_probability);
}

}  // namespace

double uniformity(const std::vector<std::size_t>& counts) {
  double total = 0.0;
  for (const std::size_t count : counts) total += static_cast<double>(count);
  std::size_t bins = counts.size();
  while (bins > 1 && (counts.size() % bins != 0 || total / static_cast<double>(bins) < kLeastExpected))
    --bins;
  if (bins < 2) return 1.0;
  const double expected = total / static_cast<double>(bins);
  double statistic = 0.0;
  for (const std::size_t count : join(counts, bins))
    statistic += (static_cast<double>(count) - expected) * (static_cast<double>(count) - expected) / expected;
  return chi_squared_tail(static_cast<double>(bins - 1), statistic);
}

FitReport check_fit(const SavedRun& run, std::size_t most_rows) {
  FitReport report;
  // Of a sample of the rows the clusters' statistics are not at hand.
  if (run.model().runs_once() || run.draws_per_chain() == 0 || run.rows() != run.all_rows()) return report;
  // What is drawn are single rows, not equal ones.
  if (run.contents().has_weights()) return report;
  const std::unique_ptr<Predictor> predictor = run.model().make_predictor(run.setup().problem);
  const auto* members = dynamic_cast<const MemberDraws*>(predictor.get());
  if (members == nullptr) return report;
  const std::size_t width = std::max<std::size_t>(run.setup().rows.width, 1);
  const std::vector<std::size_t> rows =
      spaced_members(run.rows(), std::min(most_rows, std::max(kMostCheckedCells / width, kLeastCheckedRows)));
  report.rows = rows.size();
  report.draw = run.draws_per_chain() - 1;
  run.for_each_draw(0, [&](const SavedDraw& draw) {
    if (draw.chain != report.chain || draw.draw != report.draw) return;
    predictor->set_draw(draw.labels, draw.traces, draw.payload);
    Placing placing(run, stream_name(run, draw), rows);
    placing.place(*predictor, *members);
    for (std::size_t cell = 0; cell < run.setup().rows.width; ++cell)
      report.checks.push_back(check_column(run, cell, placing.counts(cell)));
    check_cluster_count(run, draw, report.checks);
  });
  if (report.checks.empty()) return report;
  std::stable_sort(report.checks.begin(), report.checks.end(), [](const FitCheck& a, const FitCheck& b) {
    return a.tail_probability < b.tail_probability;
  });
  conclude(report);
  return report;
}

}  // namespace coppice
