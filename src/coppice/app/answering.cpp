#include "coppice/app/answering.hpp"

#include <cmath>
#include <filesystem>

#include "coppice/base/error.hpp"
#include "coppice/data/load.hpp"

namespace coppice::app {

namespace {

/// Tells the one who named a table, or misspelled a run, what to type instead.
void check_is_run(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    const std::string similar = similar_file(path);
    if (!similar.empty()) fail(ErrorCode::cannot_read, "{}: No such file or directory{}", path, similar);
    return;
  }
  if (path.ends_with(".csv") || path.ends_with(".tsv"))
    fail(ErrorCode::bad_data, "{}: this is a table, not a run; fit it first: coppice fit {}", path, path);
}

}  // namespace

Analysis open_run(const std::string& path, const Context& context, ShownRows shown) {
  check_is_run(path);
  Analysis analysis(path, shown);
  if (const std::string note = analysis.incompleteness_note(); !note.empty()) context.note("note: " + note);
  if (const std::string note = analysis.run().sample_note(); !note.empty()) context.note("note: " + note);
  return analysis;
}

void SelectionFlags::add_to(CLI::App& command) {
  CLI::Option* by_loss =
      command.add_option("--loss", loss, "the consensus minimizes the expected loss: vi or binder [vi]")
          ->check(CLI::IsMember({"vi", "binder"}));
  command
      .add_option(
          "--select", select,
          fmt::format(
              "the reported hierarchy: least expected vi or binder, or the draw with the highest {} [vi]",
              fmt::join(selection_names().begin() + 2, selection_names().end(), ", ")))
      ->check(CLI::IsMember(selection_names()))
      ->excludes(by_loss);
}

void EstimateFlags::add_to(CLI::App& command) {
  SelectionFlags::add_to(command);
  command
      .add_option(
          "--cost-ratio", cost_ratio,
          "what joining rows that belong apart costs, beside separating rows that belong together; more "
          "than 1 gives more and smaller clusters (flat models) [1]")
      ->check(CLI::PositiveNumber);
  command
      .add_option("--clusters", clusters,
                  "the best partition with at most this many clusters (flat models) [no limit]")
      ->check(CLI::Range(1, 1'000'000'000));
}

void PlacementFlags::add_to(CLI::App& command) {
  EstimateFlags::add_to(command);
  command.add_flag("--assign-all", assign_all,
                   "show rows that cannot be placed as clusters of their own, not as unassigned");
}

EstimateRequest EstimateFlags::request() const {
  EstimateRequest request(selection());
  request.cost_ratio = cost_ratio;
  request.most_clusters = clusters;
  return request;
}

std::vector<bool> PlacementFlags::unassigned(const Consensus& estimate) const {
  return assign_all ? std::vector<bool>(estimate.labels.size(), false) : unassigned_rows(estimate);
}

void add_view_option(CLI::App& command, std::size_t& view) {
  command.add_option("--view", view, "the rows in this view, as numbered by coppice views [most columns]")
      ->check(CLI::Range(1, 1'000'000));
}

void add_level_option(CLI::App& command, std::size_t& level, const std::string& otherwise) {
  command.add_option("--level", level, fmt::format("level of the hierarchy, 1 = coarsest [{}]", otherwise))
      ->check(CLI::Range(1, 1000));
}

std::string caveat_line(const Analysis& analysis, const Context& context) {
  const std::string sentence = analysis.inexactness_note();
  return sentence.empty() ? sentence : context.bold(sentence) + "\n";
}

std::string verdict_lines(const Analysis& analysis, const Context& context) {
  return caveat_line(analysis, context) + context.bold(analysis.verdict().sentence) + "\n";
}

void note_caveat(const Analysis& analysis, const Context& context) {
  if (const std::string sentence = analysis.inexactness_note(); !sentence.empty())
    context.note("note: " + sentence);
}

std::string short_number(double value) {
  if (std::isnan(value)) return "-";
  if (std::abs(value) >= 1000.0) return fmt::format("{:.0f}", value);
  return fmt::format("{:.3g}", value);
}

}  // namespace coppice::app
