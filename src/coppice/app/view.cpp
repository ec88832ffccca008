// coppice view: the report of a run that may still be drawing, served to a browser on this machine. The page
// polls the progress and reloads itself whenever the number of draws has grown by a tenth.
#include <algorithm>

#include "coppice/app/answering.hpp"
#include "coppice/app/interrupt.hpp"
#include "coppice/app/loopback_server.hpp"
#include "coppice/base/error.hpp"
#include "coppice/model/registry.hpp"
#include "coppice/out/report_assets.hpp"
#include "coppice/out/run_page.hpp"

namespace coppice::app {
namespace {

struct ViewArguments {
  std::string path;
  SelectionFlags selecting;
};

struct Progress {
  std::size_t draws = 0;   // of every chain
  std::size_t done = 0;    // the same, or steps where draws do not tell: of one state, or until trusted
  std::size_t wanted = 0;  // to be done
};

Progress progress_of(const std::string& path) {
  const RunFile file = RunFile::open(path, RunFile::Access::read);
  const RunConfig config = file.config();
  Progress progress{static_cast<std::size_t>(-1), 0, config.draws};
  for (std::size_t chain = 0; chain < config.chains; ++chain)
    progress.draws = std::min(progress.draws, file.draws_of(chain));
  progress.done = progress.draws;
  if (!model_by_name(config.model).runs_once() && !config.is_until_trusted()) return progress;
  progress.done = file.status(0).sweeps;
  progress.wanted = config.end.empty() ? config.total_sweeps() : progress.done;
  return progress;
}

/// Pages of a run; the last one is kept as long as the run has done no more.
class Pages {
 public:
  Pages(std::string path, Selection selection) : path_(std::move(path)), selection_(selection) {}

  HttpAnswer answer(std::string_view path) {
    try {
      if (path == "status") return {200, "application/json", status()};
      if (path.empty()) return {200, "text/html; charset=utf-8", page()};
    } catch (const std::exception& error) {
      return {500, "text/plain; charset=utf-8", fmt::format("coppice: {}\n", error.what())};
    }
    return {404, "text/plain; charset=utf-8", "there is nothing here\n"};
  }

 private:
  std::string status() const {
    const Progress progress = progress_of(path_);
    return nlohmann::json{{"done", progress.done}, {"wanted", progress.wanted}}.dump();
  }

  const std::string& page() {
    const Progress progress = progress_of(path_);
    if (!page_.empty() && progress.done == done_) return page_;
    if (progress.draws == 0) {
      const nlohmann::json data{
          {"waiting", "Not every chain has draws yet. This page shows them as they arrive."}};
      page_ = report_page(report_assets(), "Coppice", data.dump(), {.live = true});
    } else {
      page_ = run_page(report_assets(), Analysis(path_), selection_, {.live = true});
    }
    done_ = progress.done;
    return page_;
  }

  std::string path_;
  Selection selection_;
  std::string page_;
  std::size_t done_ = 0;
};

int view(const ViewArguments& arguments, const Context& context) {
  progress_of(arguments.path);  // refuses a file that is not a run before a browser is opened
  Pages pages(arguments.path, arguments.selecting.selection());
  LoopbackServer server([&](std::string_view path) { return pages.answer(path); });
  const InterruptGuard interrupt;
  const std::atomic<bool>& stop = *interrupt.flag();
  write_output("", server.address() + "\n");
  context.note("open this address in a browser on this machine; Ctrl-C ends it");
  server.serve(stop);
  return 0;
}

}  // namespace

void add_view(CLI::App& application, Context& context) {
  CLI::App* command = application.add_subcommand(
      "view", "the report in a browser on this machine, also of a run that is still drawing");
  auto arguments = std::make_shared<ViewArguments>();
  command->add_option("run", arguments->path, "run file")->required();
  arguments->selecting.add_to(*command);
  command->callback([=, &context] { context.run = [=, &context] { return view(*arguments, context); }; });
}

}  // namespace coppice::app
