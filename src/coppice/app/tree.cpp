// coppice tree: the hierarchy in a terminal or for other programs. A model of several levels has trees of its
// own, of which one is selected. A flat model has none; what is drawn for it, or for one level of a
// hierarchy, is the average-linkage tree of how rarely two rows share a cluster (height 0: always together,
// 1: never).
#include <fmt/ranges.h>

#include <cmath>

#include "coppice/app/answering.hpp"
#include "coppice/app/classify.hpp"
#include "coppice/app/hierarchy_text.hpp"
#include "coppice/base/error.hpp"
#include "coppice/model/registry.hpp"
#include "coppice/out/answer_json.hpp"
#include "coppice/out/ascii_tree.hpp"
#include "coppice/out/csv.hpp"
#include "coppice/out/dot.hpp"
#include "coppice/out/hierarchy_json.hpp"
#include "coppice/out/newick.hpp"
#include "coppice/post/row_trees.hpp"
#include "coppice/post/run_tree.hpp"

namespace coppice::app {
namespace {

struct TreeArguments {
  std::string path, format = "ascii", output;
  std::size_t level = 0;  // 0: the hierarchy, of flat models their only level
  double collapse = -1.0;
  std::size_t of_view = 0;  // of a model with views, from 1; 0: the one with most columns
  bool columns = false;     // the tree over the columns
  std::size_t guide = 0;    // the chain whose guide tree is wanted, from 1; 0: none
  HierarchyView view;
  SelectionFlags selecting;
};

nlohmann::ordered_json tree_json(const Linkage& tree, const std::vector<std::string>& names) {
  nlohmann::ordered_json merges = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < tree.merges.size(); ++i) {
    const Merge& merge = tree.merges[i];
    merges.push_back({{"node", tree.leaves + i},
                      {"left", merge.left},
                      {"right", merge.right},
                      {"height", merge.height},
                      {"size", merge.size}});
  }
  return {{"leaves", names}, {"merges", merges}, {"order", leaf_order(tree)}};
}

std::string linkage_csv(const Linkage& tree, std::span<const double> log_odds = {}) {
  std::string text;
  CsvWriter writer(&text);
  writer.cell("left").cell("right").cell("height").cell("size");
  if (!log_odds.empty()) writer.cell("log_odds");
  writer.end_row();
  for (std::size_t i = 0; i < tree.merges.size(); ++i) {
    const Merge& merge = tree.merges[i];
    writer.cell(merge.left).cell(merge.right).cell(merge.height).cell(merge.size);
    if (!log_odds.empty()) writer.cell(log_odds[i]);
    writer.end_row();
  }
  writer.close();
  return text;
}

int write_hierarchy(const TreeArguments& arguments, const std::string& format, const Analysis& analysis,
                    const Context& context) {
  const RunHierarchy hierarchy = run_hierarchy(analysis, arguments.selecting.selection());
  const SavedRun& run = analysis.run();
  if (format == "json") {
    nlohmann::ordered_json answer = hierarchy_json(hierarchy, run, arguments.view.full);
    add_exactness(analysis, answer);
    write_json(arguments.output, answer);
    return 0;
  }
  if (format == "ascii") {
    write_text(arguments.output,
               caveat_line(analysis, context) + hierarchy_text(hierarchy, run, arguments.view, context));
    return 0;
  }
  note_caveat(analysis, context);
  const Hierarchy& drawn = arguments.view.full ? hierarchy.full : hierarchy.shown;
  const std::vector<std::string>& names = run.table().row_ids;
  if (format == "dot") {
    write_output(arguments.output, hierarchy_to_dot(drawn, hierarchy.captions, names));
    return 0;
  }
  std::vector<double> support;
  for (const NodeSupport& node : hierarchy.support) support.push_back(node.exact);
  write_output(arguments.output, hierarchy_to_newick(drawn, names, support));
  return 0;
}

Linkage guide_tree(const SavedRun& run, std::size_t chain) {
  if (!run.model().has_guide())
    fail(ErrorCode::configuration, "the model {} has no guide trees", run.model().name);
  if (run.config().merged)
    fail(ErrorCode::configuration, "{}: ask the runs that it was merged from for their guide trees",
         run.file().path());
  if (chain > run.config().chains)
    fail(ErrorCode::usage, "--guide {}: the run has chains 1 to {}", chain, run.config().chains);
  return linkage_of(run.model().guide(run.setup().problem, {run.config().seed, chain - 1, 0}));
}

int write_linkage(const TreeArguments& arguments, const std::string& format, const Analysis& analysis,
                  const Context& context) {
  const Linkage linkage = arguments.guide > 0 ? guide_tree(analysis.run(), arguments.guide)
                                              : run_tree(analysis.run(), arguments.level);
  const std::vector<std::string>& names = analysis.run().table().row_ids;
  if (format == "json") {
    nlohmann::ordered_json answer = tree_json(linkage, names);
    add_exactness(analysis, answer);
    write_json(arguments.output, answer);
    return 0;
  }
  std::string text;
  if (format != "ascii") note_caveat(analysis, context);
  if (format == "newick") text = to_newick(linkage, names);
  if (format == "linkage") text = linkage_csv(linkage);
  if (format == "dot") text = to_dot(linkage, names);
  if (format == "ascii") {
    AsciiTreeOptions options;
    options.width = arguments.view.width;
    options.collapse_at = arguments.collapse;
    options.max_lines = arguments.view.lines;
    text =
        caveat_line(analysis, context) +
        (arguments.guide > 0
             ? fmt::format("The tree that guides the moves of chain {}: built from the data alone, not part "
                           "of the posterior.\nHeight: number of steps to the deepest row.\n",
                           arguments.guide)
             : "Height: the share of draws in which two rows are apart (0: always together, 1: never).\n") +
        ascii_tree(linkage, names, options);
  }
  format == "ascii" ? write_text(arguments.output, text) : write_output(arguments.output, text);
  return 0;
}

nlohmann::ordered_json greedy_tree_json(const TreeLinkage& tree, const std::vector<std::string>& names) {
  nlohmann::ordered_json answer = tree_json(tree.linkage, names);
  for (std::size_t i = 0; i < tree.log_odds.size(); ++i) answer["merges"][i]["log_odds"] = tree.log_odds[i];
  return answer;
}

/// The tree of a greedy model, or its trees one after the other if it was stopped.
int write_greedy_tree(const TreeArguments& arguments, const std::string& format, const Analysis& analysis,
                      const Context& context) {
  const std::vector<std::string> items =
      arguments.columns ? column_names(analysis.run()) : analysis.run().table().row_ids;
  const std::vector<TreeLinkage> trees = tree_linkages(
      arguments.columns ? analysis.cross_tree().columns : analysis.row_tree_of_view(arguments.of_view));
  if (format == "json") {
    nlohmann::ordered_json answer = greedy_tree_json(trees.front(), trees.front().names(items));
    if (trees.size() > 1) {
      answer = {{"trees", nlohmann::ordered_json::array()}};
      for (const TreeLinkage& tree : trees)
        answer["trees"].push_back(greedy_tree_json(tree, tree.names(items)));
    }
    add_exactness(analysis, answer);
    write_json(arguments.output, answer);
    return 0;
  }
  if (format == "linkage" && trees.size() > 1)
    fail(ErrorCode::configuration,
         "the fit is not finished: it has {} trees, but a linkage describes one; continue with: coppice "
         "resume {}",
         trees.size(), arguments.path);
  std::string text;
  if (format == "ascii")
    text = caveat_line(analysis, context) +
           fmt::format("Height: -log of the probability that all {} (0.69: even odds).\n",
                       arguments.columns ? "columns below are one view" : "rows below are one cluster");
  else
    note_caveat(analysis, context);
  for (const TreeLinkage& tree : trees) {
    const std::vector<std::string> names = tree.names(items);
    const std::vector<double> support = tree.probabilities();
    if (format == "newick") text += to_newick(tree.linkage, names, support);
    if (format == "linkage") text += linkage_csv(tree.linkage, tree.log_odds);
    if (format == "dot") text += to_dot(tree.linkage, names, support);
    if (format == "ascii") {
      AsciiTreeOptions options;
      options.width = arguments.view.width;
      options.collapse_at = arguments.collapse;
      options.max_lines = arguments.view.lines;
      text += ascii_tree(tree.linkage, names, options);
    }
  }
  format == "ascii" ? write_text(arguments.output, text) : write_output(arguments.output, text);
  return 0;
}

int tree(const TreeArguments& arguments, const Context& context) {
  const Analysis analysis = open_run(arguments.path, context);
  refuse_classifier(analysis, "tree");
  const std::string format = context.json ? "json" : arguments.format;
  if (arguments.columns && !analysis.has_column_tree())
    fail(ErrorCode::configuration, "--columns: the model {} has no tree over the columns",
         analysis.run().model().name);
  if (arguments.of_view > 0 && !(analysis.is_greedy() && analysis.has_column_tree()))
    fail(ErrorCode::configuration, "--view: the model {} has no trees over the rows of views",
         analysis.run().model().name);
  if (analysis.is_greedy() && arguments.guide == 0) {
    if (arguments.level > 0) analysis.run().check_level(arguments.level);
    return write_greedy_tree(arguments, format, analysis, context);
  }
  const bool one_level = analysis.run().levels() == 1 || arguments.level > 0 || arguments.guide > 0;
  return one_level || format == "linkage" ? write_linkage(arguments, format, analysis, context)
                                          : write_hierarchy(arguments, format, analysis, context);
}

}  // namespace

void add_tree(CLI::App& application, Context& context) {
  CLI::App* command = application.add_subcommand("tree", "the hierarchy of the rows");
  auto arguments = std::make_shared<TreeArguments>();
  command->add_option("run", arguments->path, "run file")->required();
  command->add_option("--format", arguments->format, "ascii, newick, linkage, dot or json [ascii]")
      ->check(CLI::IsMember({"ascii", "newick", "linkage", "dot", "json"}));
  command->add_option("-o,--output", arguments->output, "file to write [stdout]");
  command->add_option("--width", arguments->view.width, "columns of the ascii tree [100]")
      ->check(CLI::Range(40, 1000));
  command->add_option("--collapse", arguments->collapse, "draw merges up to this height as one line");
  command->add_option("--lines", arguments->view.lines,
                      "collapse until the ascii tree has at most N lines, 0: never [60]");
  command->add_flag("--full", arguments->view.full,
                    "draw all levels of a hierarchy, also where none branches");
  command->add_flag("--columns", arguments->columns,
                    fmt::format("the tree over the columns ({})",
                                fmt::join(models_that(&ModelEntry::has_column_tree), ", ")));
  add_view_option(*command, arguments->of_view);
  command->add_option("--guide", arguments->guide,
                      fmt::format("instead: the tree that guided the moves of this chain ({})",
                                  fmt::join(models_that(&ModelEntry::has_guide), ", ")));
  add_level_option(*command, arguments->level, "the whole hierarchy");
  arguments->selecting.add_to(*command);
  command->callback([=, &context] { context.run = [=, &context] { return tree(*arguments, context); }; });
}

}  // namespace coppice::app
