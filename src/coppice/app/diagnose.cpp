// coppice diagnose: do the chains agree, do they move.
#include <cmath>

#include "coppice/app/answering.hpp"
#include "coppice/app/text_table.hpp"
#include "coppice/app/trust_text.hpp"
#include "coppice/out/answer_json.hpp"
#include "coppice/out/trust_json.hpp"
#include "coppice/post/verdict.hpp"

namespace coppice::app {
namespace {

using nlohmann::ordered_json;

std::string trace_table(const Analysis& analysis, const Context& context) {
  TextTable table({15, 10, 10, 10, 10, 8, 10, 10});
  table.add({"trace", "mean", "sd", "5 %", "95 %", "R-hat", "bulk ESS", "tail ESS"});
  for (const TraceSummary& trace : analysis.traces())
    table.add({trace.name, short_number(trace.mean), short_number(trace.sd), short_number(trace.q05),
               short_number(trace.q95), rhat_text(trace.rhat), short_number(std::floor(trace.ess_bulk)),
               short_number(std::floor(trace.ess_tail))});
  return table.text(context);
}

/// One line for each trace of the model: what it is. Those of learned hyper-parameters say it in their names.
std::string trace_help(const Analysis& analysis, const Context& context) {
  const SavedRun& run = analysis.run();
  std::string text;
  for (const TraceInfo& trace : run.model().traces(run.setup().problem.parameters))
    text += context.dim(fmt::format("{:<15} {}", trace.name, trace.help)) + "\n";
  return text;
}

std::string move_table(const ordered_json& moves, const Context& context) {
  TextTable table({15, 14, 14, 10});
  table.add({"move", "proposed", "accepted", "rate"});
  for (const ordered_json& move : moves)
    table.add({move["name"].get<std::string>(), std::to_string(move["proposed"].get<std::uint64_t>()),
               std::to_string(move["accepted"].get<std::uint64_t>()),
               move["rate"].is_null() || std::isnan(move["rate"].get<double>())
                   ? "-"
                   : fmt::format("{:.2f} %", 100.0 * move["rate"].get<double>())});
  return table.text(context);
}

int diagnose(const std::string& path, bool strict, const Context& context) {
  const Analysis analysis = open_run(path, context);
  const ordered_json moves = moves_json(analysis.run());
  const Trust trust = trust_of(analysis);
  if (context.json) {
    ordered_json answer = head_json(analysis);
    answer.update(trust_json(analysis, trust));
    answer["partition_traces"] = partition_traces_json(analysis);
    answer["traces"] = ordered_json::array();
    for (const TraceSummary& trace : analysis.traces()) answer["traces"].push_back(to_json(trace));
    answer["moves"] = moves;
    answer["seconds"] = analysis.seconds();
    write_json("", answer);
  } else {
    std::string text = verdict_lines(analysis, context) + trust_text(analysis, trust, context) + "\n" +
                       trace_table(analysis, context) + "\n";
    for (const std::string& part : {partition_trace_table(analysis, context), fit_table(trust.fit, context)})
      if (!part.empty()) text += part + "\n";
    write_text("", text + trace_help(analysis, context) + "\n" + move_table(moves, context));
  }
  return strict && !analysis.verdict().trusted ? 1 : 0;
}

}  // namespace

void add_diagnose(CLI::App& application, Context& context) {
  CLI::App* command =
      application.add_subcommand("diagnose", "convergence: R-hat, effective draws, acceptance rates");
  auto path = std::make_shared<std::string>();
  auto strict = std::make_shared<bool>(false);
  command->add_option("run", *path, "run file")->required();
  command->add_flag("--strict", *strict, "exit with 1 if the run cannot be trusted");
  command->callback(
      [=, &context] { context.run = [=, &context] { return diagnose(*path, *strict, context); }; });
}

}  // namespace coppice::app
