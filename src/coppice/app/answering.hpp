// What the commands that answer questions about a run share: opening it, flags that are spelled alike
// everywhere, and how a text begins.
#pragma once

#include <string>

#include "coppice/app/context.hpp"
#include "coppice/post/analysis.hpp"

namespace coppice::app {

/// Opens the run; notes on stderr if it is not complete, or if not all rows are shown.
Analysis open_run(const std::string& path, const Context& context, ShownRows shown = ShownRows::sample);

/// --loss and --select, spelled alike everywhere: what makes a partition or a hierarchy the one to report.
struct SelectionFlags {
  std::string loss = "vi";
  std::string select;

  void add_to(CLI::App& command);
  Selection selection() const { return selection_from_name(select.empty() ? loss : select); }
};
/// --cost-ratio and --clusters beside them: of the commands whose answer is about the partition itself.
struct EstimateFlags : SelectionFlags {
  double cost_ratio = 1.0;
  std::size_t clusters = 0;

  void add_to(CLI::App& command);
  EstimateRequest request() const;
};
/// --assign-all too: of the commands that show which rows are in which cluster.
struct PlacementFlags : EstimateFlags {
  bool assign_all = false;

  void add_to(CLI::App& command);
  /// Which rows of the estimate are shown as unassigned; none with --assign-all.
  std::vector<bool> unassigned(const Consensus& estimate) const;
};
/// The --view option: which view's tree over the rows is meant.
void add_view_option(CLI::App& command, std::size_t& view);
/// The --level option; `otherwise` is what its absence means.
void add_level_option(CLI::App& command, std::size_t& level, const std::string& otherwise = "1");

/// Why the draws are not those of a posterior as the first line of a text, or nothing.
std::string caveat_line(const Analysis& analysis, const Context& context);
/// The head of a text: the caveat if there is one, then the verdict.
std::string verdict_lines(const Analysis& analysis, const Context& context);
/// The caveat on stderr, for answers that have no room for it.
void note_caveat(const Analysis& analysis, const Context& context);

/// A number as printed: three significant digits, or a dash for NaN.
std::string short_number(double value);

}  // namespace coppice::app
