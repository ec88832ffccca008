// coppice report: one HTML file that shows a run, without a network.
#include "coppice/app/answering.hpp"
#include "coppice/app/progress.hpp"
#include "coppice/out/report_assets.hpp"
#include "coppice/out/report_data.hpp"
#include "coppice/out/run_page.hpp"

namespace coppice::app {
namespace {

struct ReportArguments {
  std::string path, output;
  SelectionFlags selecting;
};

int write_report(const ReportArguments& arguments, const Context& context) {
  const Analysis analysis = open_run(arguments.path, context);
  if (context.json) {
    write_json(arguments.output, report_data(analysis, arguments.selecting.selection()));
    return 0;
  }
  const std::string page = run_page(report_assets(), analysis, arguments.selecting.selection());
  write_output(arguments.output, page);
  if (!arguments.output.empty() && arguments.output != "-")
    context.note(fmt::format("{}: {}; open it in a browser", arguments.output, size_words(page.size())));
  return 0;
}

}  // namespace

void add_report(CLI::App& application, Context& context) {
  CLI::App* command =
      application.add_subcommand("report", "one HTML file to look at and to share; needs no network");
  auto arguments = std::make_shared<ReportArguments>();
  command->add_option("run", arguments->path, "run file")->required();
  command->add_option("-o,--output", arguments->output, "file to write; - is stdout")->required();
  arguments->selecting.add_to(*command);
  command->callback(
      [=, &context] { context.run = [=, &context] { return write_report(*arguments, context); }; });
}

}  // namespace coppice::app
