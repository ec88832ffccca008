// coppice report: one HTML file that shows a run, without a network.
#include "coppice/app/report.hpp"

#include "coppice/app/progress.hpp"
#include "coppice/app/report_data.hpp"
#include "coppice/base/error.hpp"
#include "coppice/out/report_assets.hpp"

namespace coppice::app {
namespace {

struct ReportArguments {
  std::string path, output;
  SelectionFlags selecting;
};

int write_report(const ReportArguments& arguments, const Context& context) {
  const Analysis analysis(arguments.path, context);
  if (context.json) {
    write_json(arguments.output, report_data(analysis, arguments.selecting.selection()));
    return 0;
  }
  const std::string page = run_page(analysis, arguments.selecting.selection(), {});
  write_output(arguments.output, page);
  if (!arguments.output.empty() && arguments.output != "-")
    context.note(fmt::format("{}: {}; open it in a browser", arguments.output, size_words(page.size())));
  return 0;
}

}  // namespace

std::string run_page(const Analysis& analysis, Selection selection, const ReportOptions& options) {
  const nlohmann::ordered_json data = report_data(analysis, selection);
  const std::string title =
      fmt::format("{}: {} · Coppice", data["head"]["title"].get<std::string>(), analysis.run().model().name);
  return report_page(report_assets(), title,
                     data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), options);
}

void add_report(CLI::App& application, Context& context) {
  CLI::App* command =
      application.add_subcommand("report", "one HTML file to look at and to pass on; needs no network");
  auto arguments = std::make_shared<ReportArguments>();
  command->add_option("run", arguments->path, "run file")->required();
  command->add_option("-o,--output", arguments->output, "file to write; - is stdout")->required();
  arguments->selecting.add_to(*command);
  command->callback(
      [=, &context] { context.run = [=, &context] { return write_report(*arguments, context); }; });
}

}  // namespace coppice::app
