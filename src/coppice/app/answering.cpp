#include "coppice/app/answering.hpp"

#include <cmath>

namespace coppice::app {

Analysis open_run(const std::string& path, const Context& context) {
  Analysis analysis(path);
  if (const std::string note = analysis.incompleteness_note(); !note.empty()) context.note("note: " + note);
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
