// A run opened by an answering command, with the answers most commands need: trace summaries, verdict,
// consensus.
#pragma once

#include <string>
#include <vector>

#include "coppice/app/context.hpp"
#include "coppice/post/consensus.hpp"
#include "coppice/post/diagnostics.hpp"
#include "coppice/post/verdict.hpp"
#include "coppice/run/saved_run.hpp"

namespace coppice::app {

class Analysis {
 public:
  /// Opens the run; throws Error{bad_data} if it has no draws yet. Notes on stderr if it is not complete.
  Analysis(const std::string& path, const Context& context);

  const SavedRun& run() const { return run_; }
  const std::vector<TraceSummary>& traces() const { return traces_; }
  const Verdict& verdict() const { return verdict_; }
  /// Consensus partition of a level; rows above the option's limit use a subset of draws.
  Consensus consensus(std::size_t level, Loss loss) const;
  /// Posterior mean of the number of clusters at each level.
  std::vector<double> mean_clusters() const;
  double seconds() const;

 private:
  SavedRun run_;
  std::vector<TraceSummary> traces_;
  Verdict verdict_;
};

/// "vi" or "binder".
Loss loss_from_name(const std::string& name);
/// The --loss and --level options, spelt alike everywhere.
void add_loss_option(CLI::App& command, std::string& loss);
void add_level_option(CLI::App& command, std::size_t& level);

nlohmann::ordered_json to_json(const TraceSummary& trace);
/// A number for people: three significant digits, or a dash for NaN.
std::string short_number(double value);

}  // namespace coppice::app
