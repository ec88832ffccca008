// coppice views: which columns belong together, and the clusters of the rows that each group of columns sees.
#include "coppice/post/views.hpp"

#include <algorithm>

#include "coppice/app/answering.hpp"
#include "coppice/app/views_text.hpp"
#include "coppice/out/ascii_tree.hpp"
#include "coppice/out/views_json.hpp"
#include "coppice/post/profile.hpp"

namespace coppice::app {
namespace {

using nlohmann::ordered_json;

int views(const std::string& path, const SelectionFlags& selecting, const Context& context) {
  const Analysis analysis = open_run(path, context);
  const SavedRun& run = analysis.run();
  const ReportedViews report = report_views(run, loss_of(selecting.selection()));
  if (context.json) {
    ordered_json answer{{"model", run.model().name},
                        {"verdict", analysis.verdict().sentence},
                        {"trusted", analysis.verdict().trusted}};
    answer["views"] = views_json(run, report);
    // Of a wide table the matrix would be most of the answer: coppice export --what columns gives it.
    answer["coassignment"] = report.coassignment.empty() ? ordered_json() : ordered_json::array();
    for (std::size_t a = 0; a * report.columns < report.coassignment.size(); ++a)
      answer["coassignment"].push_back(std::vector<double>(
          report.coassignment.begin() + static_cast<std::ptrdiff_t>(a * report.columns),
          report.coassignment.begin() + static_cast<std::ptrdiff_t>((a + 1) * report.columns)));
    write_json("", answer);
    return 0;
  }
  std::string text = context.bold(analysis.verdict().sentence) + "\n\n" + views_text(run, report, context);
  const std::vector<std::string>& ids = run.table().row_ids;
  for (std::size_t v = 0; v < report.views.size(); ++v) {
    const ReportedView& view = report.views[v];
    text += "\n" + context.bold(fmt::format(
                       "View {}: {}\n", v + 1,
                       fit_to_width(fmt::format("{}", fmt::join(column_names(run, view), ", ")), 100)));
    for (const ClusterProfile& profile : profile_view(run, view, 3)) {
      std::string members;
      for (std::size_t row = 0, named = 0; row < ids.size() && named < 40; ++row)
        if (view.rows.labels[row] == profile.cluster) members += (named++ == 0 ? "" : ", ") + ids[row];
      text += fmt::format("{:>7} {:>6} rows {:>4.0f} %  {}\n", profile.cluster, profile.size,
                          100.0 * profile.confidence, fit_to_width(join_traits(profile), 80));
      text += context.dim(fmt::format("{:>26}{}\n", "", fit_to_width(members, 80)));
    }
  }
  write_text("", text);
  return 0;
}

}  // namespace

std::string views_text(const SavedRun& run, const ReportedViews& report, const Context& context) {
  std::string text = fmt::format("Reported views: {}.\n", report.views.size());
  text += context.bold(fmt::format("{:>4}{:>9}{:>10}{:>10}  {}\n", "view", "columns", "cohesion", "clusters",
                                   "which columns"));
  for (std::size_t v = 0; v < report.views.size(); ++v) {
    const ReportedView& view = report.views[v];
    text += fmt::format("{:>4}{:>9}{:>8.0f} %{:>10}  {}\n", v + 1, view.columns.size(), 100.0 * view.cohesion,
                        view.rows.clusters,
                        fit_to_width(fmt::format("{}", fmt::join(column_names(run, view), ", ")), 68));
  }
  return text + context.dim(
                    "cohesion: mean probability that two columns of the view are in one view. clusters: of "
                    "the rows, in this view.\n");
}

void add_views(CLI::App& application, Context& context) {
  CLI::App* command =
      application.add_subcommand("views", "which columns belong together, and the row clusters of each view");
  auto path = std::make_shared<std::string>();
  auto selecting = std::make_shared<SelectionFlags>();
  command->add_option("run", *path, "run file")->required();
  selecting->add_to(*command);
  command->callback(
      [=, &context] { context.run = [=, &context] { return views(*path, *selecting, context); }; });
}

}  // namespace coppice::app
