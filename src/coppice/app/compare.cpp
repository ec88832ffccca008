// coppice merge and coppice compare: two runs of the same data side by side.
#include <array>
#include <cmath>

#include "coppice/app/answering.hpp"
#include "coppice/app/text_table.hpp"
#include "coppice/base/counted.hpp"
#include "coppice/out/answer_json.hpp"
#include "coppice/post/compare_runs.hpp"
#include "coppice/run/merge_runs.hpp"

namespace coppice::app {
namespace {

using nlohmann::ordered_json;

int merge(const std::array<std::string, 2>& paths, const std::string& output, const Context& context) {
  const MergedRun merged = merge_runs(paths, output);
  context.note(fmt::format("wrote {}: {} of {}", output, counted(merged.chains, "chain"),
                           counted(merged.draws, "draw")));
  return 0;
}

ordered_json to_json(const RunComparison& comparison) {
  ordered_json traces = ordered_json::array();
  for (const TraceComparison& trace : comparison.traces)
    traces.push_back({{"name", trace.name},
                      {"first", trace.first_mean},
                      {"second", trace.second_mean},
                      {"rhat", trace.rhat}});
  ordered_json levels = ordered_json::array();
  for (const LevelComparison& level : comparison.levels) {
    levels.push_back({{"level", level.level},
                      {"ari", level.ari},
                      {"vi", level.vi},
                      {"clusters", {level.first_clusters, level.second_clusters}}});
    if (level.coclustering_difference)
      levels.back()["coclustering_difference"] = *level.coclustering_difference;
  }
  return {{"same", comparison.same}, {"verdict", comparison.verdict}, {"traces", traces}, {"levels", levels}};
}

std::string comparison_text(const RunComparison& comparison, const Context& context) {
  std::string text = context.bold(comparison.verdict) + "\n\n";
  for (const LevelComparison& level : comparison.levels) {
    text += fmt::format("Level {}: consensus of {} and {} clusters, ARI {:.3f}, VI {:.3f}", level.level,
                        level.first_clusters, level.second_clusters, level.ari, level.vi);
    if (level.coclustering_difference)
      text += fmt::format(", mean difference of co-clustering {:.3f}", *level.coclustering_difference);
    text += ".\n";
  }
  TextTable table({15, 12, 12, 10});
  table.add({"trace", "first", "second", "R-hat"});
  for (const TraceComparison& trace : comparison.traces)
    table.add({trace.name, short_number(trace.first_mean), short_number(trace.second_mean),
               std::isnan(trace.rhat) ? "-" : fmt::format("{:.3f}", trace.rhat)});
  return text + "\n" + table.text(context);
}

int compare(const std::array<std::string, 2>& paths, const Context& context) {
  const Analysis first = open_run(paths[0], context);
  const Analysis second = open_run(paths[1], context);
  const RunComparison comparison = compare_runs(first, second);
  const Analysis& inexact = first.inexactness_note().empty() ? second : first;
  if (context.json) {
    ordered_json answer = to_json(comparison);
    add_exactness(inexact, answer);
    write_json("", answer);
  } else {
    write_text("", caveat_line(inexact, context) + comparison_text(comparison, context));
  }
  return comparison.same ? 0 : 1;
}

}  // namespace

void add_merge(CLI::App& application, Context& context) {
  struct Arguments {
    std::array<std::string, 2> paths;
    std::string output;
  };
  CLI::App* command =
      application.add_subcommand("merge", "put the chains of two runs with different seeds into one run");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("first", arguments->paths[0], "run file")->required();
  command->add_option("second", arguments->paths[1], "run file")->required();
  command->add_option("-o,--output", arguments->output, "run file to write")->required();
  command->callback([=, &context] {
    context.run = [=, &context] { return merge(arguments->paths, arguments->output, context); };
  });
}

void add_compare(CLI::App& application, Context& context) {
  CLI::App* command = application.add_subcommand("compare", "do two runs agree? exit code 1 if not");
  auto paths = std::make_shared<std::array<std::string, 2>>();
  command->add_option("first", (*paths)[0], "run file")->required();
  command->add_option("second", (*paths)[1], "run file")->required();
  command->callback([=, &context] { context.run = [=, &context] { return compare(*paths, context); }; });
}

}  // namespace coppice::app
