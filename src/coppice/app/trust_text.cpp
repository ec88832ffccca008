#include "coppice/app/trust_text.hpp"

#include <cmath>

#include "coppice/app/answering.hpp"
#include "coppice/app/text_table.hpp"
#include "coppice/data/text.hpp"

namespace coppice::app {
namespace {

constexpr std::size_t kMostChains = 8;   // side by side in a table
constexpr std::size_t kMostChecks = 20;  // lines of the table of checks

std::string percent(double share) { return fmt::format("{:.0f} %", 100.0 * share); }

/// How often the pairs that differ most are together in each chain.
std::string pair_table(const SavedRun& run, const ChainAgreement& agreement, const Context& context) {
  if (agreement.pairs.empty()) return {};
  const std::size_t chains = std::min(kMostChains, agreement.pairs.front().shares.size());
  std::vector<std::size_t> widths{24};
  std::vector<std::string> head{agreement.of_columns ? "share a view in" : "are together in"};
  for (std::size_t chain = 0; chain < chains; ++chain) {
    widths.push_back(9);
    head.push_back(fmt::format("chain {}", chain + 1));
  }
  TextTable table(std::move(widths));
  table.add(std::move(head));
  for (const PairByChain& pair : agreement.pairs) {
    const auto name = [&](std::size_t member) {
      return text::display(member_name(run, agreement.of_columns, member), 24);
    };
    std::vector<std::string> cells{fmt::format("{} and {}", name(pair.first), name(pair.second))};
    for (std::size_t chain = 0; chain < chains; ++chain) cells.push_back(percent(pair.shares[chain]));
    table.add(std::move(cells));
  }
  return table.text(context);
}

}  // namespace

std::string trust_text(const Analysis& analysis, const Trust& trust, const Context& context) {
  std::string text;
  if (!trust.fit.sentence.empty()) text += trust.fit.sentence + "\n";
  for (const SeparateModes& found : trust.modes) text += found.sentence + "\n";
  if (!trust.cause.empty()) {
    text += "\n" + trust.cause + "\n" + pair_table(analysis.run(), trust.agreement, context);
    text += fmt::format("Safe to use: {}.\n", fmt::join(trust.safe, "; "));
  }
  const std::vector<std::string>& remedies = analysis.verdict().remedies;
  if (remedies.size() > 1) {
    text += "What to do, the most promising first:\n";
    for (std::size_t i = 0; i < remedies.size(); ++i) text += fmt::format("  {}. {}\n", i + 1, remedies[i]);
  }
  return text;
}

std::string partition_trace_table(const Analysis& analysis, const Context& context) {
  if (analysis.partition_diagnostics().empty()) return {};
  TextTable table({34, 10, 10, 8, 10, 10});
  table.add({"who is with whom", "mean", "sd", "R-hat", "bulk ESS", "tail ESS"});
  for (const PartitionDiagnostic& entry : analysis.partition_diagnostics()) {
    const TraceSummary& trace = entry.summary;
    table.add({trace.name, short_number(trace.mean), short_number(trace.sd), rhat_text(trace.rhat),
               short_number(std::floor(trace.ess_bulk)), short_number(std::floor(trace.ess_tail))});
  }
  std::string text =
      table.text(context) + context.dim(
                                "distance: variation of information to a draw that was chosen as reference, "
                                "in nats; co-clustering: 1 in draws where both are together.\n");
  const SavedRun& run = analysis.run();
  for (const PartitionDraws& draws : analysis.partition_draws())
    if (!draws.of_columns && draws.members.size() < run.rows()) {
      text += context.dim(
          fmt::format("{} evenly spaced rows stand for all {}.\n", draws.members.size(), run.rows()));
      break;
    }
  return text;
}

std::string fit_table(const FitReport& fit, const Context& context) {
  if (fit.checks.empty()) return {};
  TextTable table({24, 12, 11});
  table.add({"fit of", "tail prob.", "misplaced"});
  std::vector<std::string> bars{"  low to high"};
  for (const FitCheck& check : fit.checks) {
    if (bars.size() > kMostChecks) break;
    table.add({text::display(check.name, 30), fmt::format("{:.2g}", check.tail_probability),
               check.of_column ? percent(check.misplaced) : "-"});
    std::vector<std::size_t> counts;
    for (const double share : check.places)
      counts.push_back(static_cast<std::size_t>(std::lround(1e4 * share)));
    bars.push_back("  " + bars_of(counts));
  }
  std::string text;
  std::size_t line = 0;
  for (const char symbol : table.text(context)) {
    if (symbol == '\n') text += bars[line++];
    text += symbol;
  }
  if (fit.checks.size() > kMostChecks)
    text += fmt::format("and {} more, which fit better (--json has all)\n", fit.checks.size() - kMostChecks);
  return text +
         context.dim(fmt::format(
             "Places of {} rows' cells among draws from the model (draw {} of chain {}): even bars if the "
             "model is true; the tail probability is then uniform.\n",
             fit.rows, fit.draw + 1, fit.chain + 1));
}

}  // namespace coppice::app
