// coppice rename: names that users give to clusters, kept in the run file.
#include <algorithm>

#include "coppice/app/answering.hpp"
#include "coppice/base/error.hpp"
#include "coppice/data/csv.hpp"
#include "coppice/data/load.hpp"
#include "coppice/out/ascii_tree.hpp"
#include "coppice/post/cluster_names.hpp"
#include "coppice/run/run_file.hpp"

namespace coppice::app {
namespace {

using nlohmann::ordered_json;

struct RenameArguments {
  std::string path, cluster, from;
  std::optional<std::string> name;
  bool remove = false;
  SelectionFlags selecting;
};

/// level,cluster,name; without a level: level 1. What the report saves.
std::vector<Renaming> renamings_of_file(const std::string& path) {
  const FileBytes file = load_file(path);
  const RawTable table = parse_csv(
      file.view(), path, {.header = Header::yes, .expected_names = {"cluster", "name"}}, [](RawTable& raw) {
        for (RawColumn& column : raw.columns) column.want = Want::identity;
      });
  const auto find = [&](std::string_view name) -> const RawColumn* {
    const auto found = std::find_if(table.columns.begin(), table.columns.end(),
                                    [&](const RawColumn& column) { return column.name == name; });
    return found == table.columns.end() ? nullptr : &*found;
  };
  const RawColumn* levels = find("level");
  const RawColumn* clusters = find("cluster");
  const RawColumn* names = find("name");
  if (clusters == nullptr || names == nullptr)
    fail(ErrorCode::bad_data, "{}: names are read from the columns 'cluster' and 'name' (and 'level')", path);
  const auto cell = [](const RawColumn& column, std::size_t row) -> std::string {
    const double place = column.values[row];
    return is_missing(place) ? "" : column.levels[static_cast<std::size_t>(place)];
  };
  std::vector<Renaming> renamings;
  for (std::size_t row = 0; row < table.rows; ++row) {
    const std::string level = levels == nullptr ? "" : cell(*levels, row);
    const std::string number = cell(*clusters, row);
    renamings.push_back({parse_cluster_number(level.empty() ? number : fmt::format("{}.{}", level, number)),
                         cell(*names, row)});
  }
  return renamings;
}

/// Every cluster with its number, its name and what distinguishes it.
int list_names(const Analysis& analysis, Selection selection, const Context& context) {
  const SavedRun& run = analysis.run();
  ordered_json list = ordered_json::array();
  std::string text = context.bold(fmt::format("{:>7} {:>7}  {}\n", "cluster", "rows", "name"));
  for (std::size_t level = 1; level <= run.levels(); ++level) {
    const Consensus estimate = analysis.consensus(level, selection);
    const std::vector<ClusterName> names = name_level(run, level, estimate.labels);
    const std::vector<std::size_t> sizes = cluster_sizes(estimate.labels);
    for (std::size_t cluster = 0; cluster < names.size(); ++cluster) {
      const std::string number = cluster_number(run, {level, static_cast<Label>(cluster)});
      const bool is_given = names[cluster].name != names[cluster].words;
      list.push_back({{"level", level},
                      {"cluster", cluster},
                      {"number", number},
                      {"size", sizes[cluster]},
                      {"name", names[cluster].name},
                      {"described_as", names[cluster].words},
                      {"given", is_given}});
      text += fmt::format("{:>7} {:>7}  {}{}\n", number, sizes[cluster],
                          is_given ? context.bold(names[cluster].name) + ": " : "",
                          fit_to_width(names[cluster].words, 90));
    }
  }
  if (context.json)
    write_json("", {{"clusters", list}});
  else
    write_output("", text);
  return 0;
}

int rename(const RenameArguments& arguments, const Context& context) {
  const Analysis analysis = open_run(arguments.path, context);
  const Selection selection = arguments.selecting.selection();
  refuse_classifier(analysis, "clusters of rows to name");
  std::vector<Renaming> renamings;
  if (!arguments.from.empty()) {
    if (!arguments.cluster.empty())
      fail(ErrorCode::usage, "give either a cluster and its name, or --from FILE");
    renamings = renamings_of_file(arguments.from);
  } else if (!arguments.cluster.empty()) {
    if (arguments.name.has_value() == arguments.remove)
      fail(ErrorCode::usage, "give cluster {} either a name, or --remove, which takes its name away",
           arguments.cluster);
    renamings.push_back({parse_cluster_number(arguments.cluster), arguments.name.value_or("")});
  } else {
    return list_names(analysis, selection, context);
  }
  const std::vector<GivenName> names = rename_clusters(analysis, selection, renamings);
  RunFile file = RunFile::open(arguments.path, RunFile::Access::write);
  file.set_names(names);
  file.finish();
  context.note(fmt::format("{}: {} {} a name", arguments.path, names.size(),
                           names.size() == 1 ? "cluster has" : "clusters have"));
  return 0;
}

}  // namespace

void add_rename(CLI::App& application, Context& context) {
  CLI::App* command = application.add_subcommand(
      "rename", "give clusters names, which are kept in the run file; without one, list numbers and names");
  auto arguments = std::make_shared<RenameArguments>();
  command->add_option("run", arguments->path, "run file")->required();
  command->add_option("cluster", arguments->cluster,
                      "its number, as in summary and report: 3, or 2.3 for cluster 3 of level 2");
  command->add_option("name", arguments->name, "its new name");
  command->add_flag("--remove", arguments->remove, "take its name away");
  command->add_option("--from", arguments->from,
                      "CSV with the columns level, cluster and name, as the report saves it");
  arguments->selecting.add_to(*command);
  command->callback([=, &context] { context.run = [=, &context] { return rename(*arguments, context); }; });
}

}  // namespace coppice::app
