#include "coppice/app/hierarchy_text.hpp"

#include "coppice/app/answering.hpp"
#include "coppice/app/text_table.hpp"
#include "coppice/out/ascii_hierarchy.hpp"

namespace coppice::app {

std::string hierarchy_text(const RunHierarchy& hierarchy, const SavedRun& run, const HierarchyView& view,
                           const Context& context) {
  AsciiHierarchyOptions options;
  options.width = view.width;
  options.max_lines = view.lines;
  options.heading = [&](std::string_view text) { return context.bold(text); };
  options.quiet = [&](std::string_view text) { return context.dim(text); };
  std::string text = selection_sentence(hierarchy.selected);
  if (hierarchy.shown.nodes.size() == 1)
    text += "It has no branches: the draws agree on none, or have none.\n";
  text += "\n" + ascii_hierarchy(view.full ? hierarchy.full : hierarchy.shown, hierarchy.captions,
                                 run.table().row_ids, options);
  return text + "\n" +
         context.dim(
             "Each node: its number (level.cluster), its name or what distinguishes it from all other rows. "
             "support: posterior\nsupport, the share of draws in which exactly these rows are a cluster of "
             "that level; overlap: mean Jaccard\noverlap with the most similar cluster there.\n");
}

std::string quality_text(const QualityReport& report, const Context& context) {
  TextTable table({16, 8, 8, 8, 15, 16, 8});
  table.add({"distances", "nodes", "leaves", "AID", "AID, 2+ rows", "AID, collapsed", "AOD"});
  const auto line = [&](const char* name, const auto& d, double leaves) {
    table.add({name, short_number(static_cast<double>(d.nodes)), short_number(leaves), short_number(d.aid),
               short_number(d.aid_ge2), short_number(d.collapsed), short_number(d.aod)});
  };
  line("this hierarchy", report.selected.all, static_cast<double>(report.selected.collapsed_leaves));
  line("mean of draws", report.draws.all, report.draws.collapsed_leaves);
  std::string text = table.text(context);
  text += context.dim(fmt::format(
      "Squared distances between rows as modeled (missing cells: the mean of their column), AID within "
      "nodes,\nAOD between siblings. {} draws, {:.0f} % of them without a branch.\n",
      report.draws.draws, 100.0 * report.draws.single_path_share));
  return text;
}

}  // namespace coppice::app
