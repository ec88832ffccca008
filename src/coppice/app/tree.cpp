// coppice tree: the hierarchy in a terminal or for other programs. A flat model has no tree of its own; what
// is drawn for it is the average-linkage tree of how rarely two rows share a cluster (height 0: always
// together, 1: never).
#include "coppice/app/analysis.hpp"
#include "coppice/app/run_tree.hpp"
#include "coppice/base/error.hpp"
#include "coppice/out/ascii_tree.hpp"
#include "coppice/out/csv.hpp"
#include "coppice/out/dot.hpp"
#include "coppice/out/newick.hpp"

namespace coppice::app {
namespace {

struct TreeArguments {
  std::string path, format = "ascii", output;
  std::size_t level = 1;
  std::size_t width = 100;
  double collapse = -1.0;
  std::size_t lines = 60;
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

std::string linkage_csv(const Linkage& tree) {
  std::string text;
  CsvWriter writer(&text);
  writer.cell("left").cell("right").cell("height").cell("size").end_row();
  for (const Merge& merge : tree.merges)
    writer.cell(merge.left).cell(merge.right).cell(merge.height).cell(merge.size).end_row();
  writer.close();
  return text;
}

int tree(const TreeArguments& arguments, const Context& context) {
  const Analysis analysis(arguments.path, context);
  const Linkage linkage = run_tree(analysis.run(), arguments.level);
  const std::vector<std::string>& names = analysis.run().table().row_ids;
  const std::string format = context.json ? "json" : arguments.format;
  if (format == "json") {
    write_json(arguments.output, tree_json(linkage, names));
    return 0;
  }
  std::string text;
  if (format == "newick") text = to_newick(linkage, names);
  if (format == "linkage") text = linkage_csv(linkage);
  if (format == "dot") text = to_dot(linkage, names);
  if (format == "ascii") {
    AsciiTreeOptions options;
    options.width = arguments.width;
    options.collapse_at = arguments.collapse;
    options.max_lines = arguments.lines;
    text = "Height: the share of draws in which two rows are apart (0: always together, 1: never).\n" +
           ascii_tree(linkage, names, options);
  }
  write_output(arguments.output, text);
  return 0;
}

}  // namespace

Linkage run_tree(const SavedRun& run, std::size_t level) {
  constexpr std::size_t kMostRows = 10'000;
  if (run.rows() > kMostRows)
    fail(ErrorCode::configuration,
         "a tree of co-clustering needs a matrix of rows x rows, and {} rows are more than {}: export "
         "labels, or fit fewer rows",
         run.rows(), kMostRows);
  return coclustering_tree(coclustering(run.labels(level), 0), run.rows());
}

void add_tree(CLI::App& application, Context& context) {
  CLI::App* command = application.add_subcommand("tree", "the hierarchy of the rows");
  auto arguments = std::make_shared<TreeArguments>();
  command->add_option("run", arguments->path, "run file")->required();
  command->add_option("--format", arguments->format, "ascii, newick, linkage, dot or json [ascii]")
      ->check(CLI::IsMember({"ascii", "newick", "linkage", "dot", "json"}));
  command->add_option("-o,--output", arguments->output, "file to write [stdout]");
  command->add_option("--width", arguments->width, "columns of the ascii tree [100]")
      ->check(CLI::Range(40, 1000));
  command->add_option("--collapse", arguments->collapse, "draw merges up to this height as one line");
  command->add_option("--lines", arguments->lines,
                      "collapse until the ascii tree has at most so many lines, 0: never [60]");
  add_level_option(*command, arguments->level);
  command->callback([=, &context] { context.run = [=, &context] { return tree(*arguments, context); }; });
}

}  // namespace coppice::app
