// From the contents of a run to a problem a model can work on: family, encoded rows, checked parameters.
#pragma once

#include <memory>

#include "coppice/family/plan.hpp"
#include "coppice/family/rows.hpp"
#include "coppice/model/model.hpp"
#include "coppice/run/run_file.hpp"

namespace coppice {

struct ProblemSetup {
  const ModelEntry* model = nullptr;
  FamilyPlan plan;
  std::unique_ptr<Family> tied_copies;  // the family of rows with weights; else that of the plan is in use
  Rows rows;
  LabeledRows labeled;  // of models that learn labels
  Problem problem;      // points into plan, tied_copies, rows and labeled
  std::size_t levels = 1;
  std::vector<std::string> traces;

  ProblemSetup() = default;
  ProblemSetup(const ProblemSetup&) = delete;
  ProblemSetup& operator=(const ProblemSetup&) = delete;
};

/// The rows of a table that answers are about if it has more than `most`: the same for all runs, so that
/// answers can be compared.
std::vector<std::uint64_t> answer_rows(std::size_t rows, std::size_t most);
/// The rows from which families and priors of a sampler in blocks are planned.
std::vector<std::uint64_t> planning_rows(std::size_t rows);

/// Throws Error{configuration} if the model does not work with these families.
void check_family(const ModelEntry& model, const FamilyPlan& plan);

/// The problem of a run that is about to begin, or of one that was kept: where the contents say what the run
/// was made with, that holds, and defaults fill in only what they leave open. Throws Error{usage or
/// configuration} if settings, model and data do not fit together.
std::unique_ptr<ProblemSetup> set_up_problem(const RunContents& contents);
/// The same as if the contents had this configuration.
std::unique_ptr<ProblemSetup> set_up_problem(const RunContents& contents, const RunConfig& config);

/// What the problem was made with, for the run that is to keep it.
EffectiveConfig effective_config(const RunContents& contents, const ProblemSetup& setup);

/// A model that runs once has one chain and one draw, after as many steps as it takes; a run until trusted
/// begins with the length after which it is first decided on.
void settle_run_length(RunConfig& config, const ProblemSetup& setup);

/// Fills in what the settings leave to the model, from the data; the setup follows. True if there was
/// anything. Error{stopped} when the problem's `stop` is set meanwhile.
bool resolve_settings(RunContents& contents, std::size_t threads, std::unique_ptr<ProblemSetup>& setup);

/// What blocks and states of the run can hold, from the shape of the problem.
BlockLimits block_limits(const ProblemSetup& setup);

/// Bytes a fit will hold: the table, the encoded rows, the chains and the blocks waiting to be written.
std::size_t estimate_bytes(const ProblemSetup& setup, const RunConfig& config, const Table& table);

}  // namespace coppice
