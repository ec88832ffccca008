// coppice sample: new rows as the fitted model draws them.
#include "coppice/app/answering.hpp"
#include "coppice/app/classify.hpp"
#include "coppice/app/table_answer.hpp"
#include "coppice/post/sample_rows.hpp"

namespace coppice::app {

void add_sample(CLI::App& application, Context& context) {
  struct Arguments {
    std::string path, output;
    std::size_t rows = 100, threads = 0;
    std::uint64_t seed = 1;
  };
  CLI::App* command =
      application.add_subcommand("sample", "new rows drawn from the fitted model (posterior predictive)");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("run", arguments->path, "run file")->required();
  command->add_option("--n", arguments->rows, "rows to draw [100]")->check(CLI::Range(1, 10'000'000));
  command->add_option("--seed", arguments->seed, "seed [1]")->check(CLI::NonNegativeNumber);
  command->add_option("--threads", arguments->threads, "threads; 0: all cores [0]")
      ->check(CLI::Range(0, 4096));
  command->add_option("-o,--output", arguments->output, "CSV file to write; with --json: JSON [stdout]");
  command->callback([=, &context] {
    context.run = [=, &context] {
      const Analysis analysis = open_run(arguments->path, context, ShownRows::all);
      refuse_classifier(analysis, "new rows");
      note_caveat(analysis, context);
      write_table_answer(arguments->output,
                         sample_rows(analysis.run(), arguments->rows, arguments->seed, arguments->threads),
                         context);
      return 0;
    };
  });
}

}  // namespace coppice::app
