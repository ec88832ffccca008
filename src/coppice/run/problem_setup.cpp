#include "coppice/run/problem_setup.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "coppice/base/distinct_rows.hpp"
#include "coppice/data/row_weights.hpp"
#include "coppice/family/spread_ties.hpp"
#include "coppice/family/tied_copies.hpp"
#include "coppice/model/expected_clusters.hpp"
#include "coppice/model/parameter_rows.hpp"
#include "coppice/model/registry.hpp"
#include "coppice/run/choose_prior_weight.hpp"
#include "coppice/run/choose_within_fraction.hpp"
#include "coppice/run/until_trusted.hpp"

namespace coppice {

namespace {

std::string family_for(const ModelEntry& model, const std::string& family, const Table& table) {
  if (model.family.empty() || family != "auto") return family;
  // The family's own message would name another family, which this model does not take.
  const FamilyEntry entry = family_by_name(model.family);
  for (const Column& column : table.columns) {
    if (std::find(entry.kinds.begin(), entry.kinds.end(), column.kind) == entry.kinds.end())
      fail(ErrorCode::configuration,
           "the model {} cannot work with the {} column '{}': --drop {}, or use another model", model.name,
           kind_name(column.kind), column.name, column.name);
    if (!entry.missing_allowed && column.has_missing())
      fail(ErrorCode::configuration,
           "the model {} needs complete rows, but column '{}' has missing cells: --drop {}, or use another "
           "model",
           model.name, column.name, column.name);
  }
  return model.family;
}

/// Users number columns as the table has them, models as the families hold them.
Settings in_order_of_cells(Settings given, const std::vector<std::size_t>& order) {
  const auto setting = given.find(kColumnPriority);
  if (setting == given.end() || setting->second.numbers.size() != order.size()) return given;
  const std::vector<double> by_table = setting->second.numbers;
  for (std::size_t cell = 0; cell < order.size(); ++cell)
    setting->second.numbers[cell] = by_table[order[cell]];
  return given;
}

/// What was given, under present names, over what the run was made with.
Settings parameters_of(const ModelEntry& model, const RunContents& contents, const RunConfig& config) {
  Settings parameters =
      contents.effective ? with_present_names(model.parameters, contents.effective->parameters) : Settings();
  for (const auto& [name, value] : with_present_names(model.parameters, config.parameters)) {
    // What else is learned because of --expect-clusters is not among what was given.
    if (name == "learn" && parameters.contains(name) && parameters.contains(kExpectClusters)) continue;
    parameters.insert_or_assign(name, value);
  }
  return with_expected_clusters(model, std::move(parameters), contents.rows());
}

ChainAbilities abilities_of(const ModelEntry& model, const RunContents& contents, const RunConfig& config) {
  if (!model.adapts_family()) return {};
  ChainAbilities abilities =
      model.abilities_with(ParameterValues(model.parameters, parameters_of(model, contents, config)));
  // Copies of a row lie at one point: a learned scale of real columns would shrink to nothing.
  abilities.learns_hyper &= config.hyper == kLearnedHyper && !contents.has_weights();
  return abilities;
}

/// Throws Error{configuration} if rows have weights that the model does not take.
void check_weights_allowed(const ModelEntry& model, const RunContents& contents, const RunConfig& config) {
  if (!contents.has_weights()) return;
  if (!model.takes_weights())
    fail(ErrorCode::configuration, "the model {} takes no row weights; {} do", model.name,
         fmt::join(models_that(&ModelEntry::takes_weights), ", "));
  const ParameterValues values(model.parameters, parameters_of(model, contents, config));
  if (const std::string why = model.refuses_weights(values); !why.empty())
    fail(ErrorCode::configuration, "the model {} {}", model.name, why);
  if (values.has(kExpectClusters))
    fail(ErrorCode::configuration,
         "--{} is about rows that are seated one by one, not about rows with weights: give --{}-prior",
         kExpectClusters, model.row_concentration);
}

/// Copies of a row would each have cells of their own where they are missing.
void check_complete_rows(const FamilyPlan& plan, const Table& table) {
  for (std::size_t place = 0; place < plan.order.size(); ++place) {
    const Column& column = table.columns[plan.order[place]];
    if (plan.family->must_fill(place) && column.has_missing())
      fail(ErrorCode::configuration,
           "rows with weights must be complete where columns depend on each other, but column '{}' has "
           "missing cells: --family {}, or --drop it",
           column.name, independent_family_like(plan.family_of(place)).name);
  }
}

std::vector<std::uint64_t> all_of(const Table& table) {
  std::vector<std::uint64_t> rows(table.rows());
  std::iota(rows.begin(), rows.end(), std::uint64_t{0});
  return rows;
}

Table rows_of(const Table& table, const std::vector<std::uint64_t>& rows) {
  Table sample;
  for (const Column& column : table.columns) {
    Column part{column.name, column.kind, {}, column.levels};
    part.values.reserve(rows.size());
    for (const std::uint64_t row : rows) part.values.push_back(column.values[row]);
    sample.columns.push_back(std::move(part));
  }
  for (const std::uint64_t row : rows) sample.row_ids.push_back(table.row_ids[row]);
  return sample;
}

std::uint64_t number_of(const TablePart& part, std::size_t row) {
  return part.numbers.empty() ? part.first + row : part.numbers[row];
}

/// Beside the streams of scores, which begin at site 0.
std::vector<std::uint64_t> draw_sample(std::size_t rows, std::size_t most, std::uint64_t site) {
  Stream stream({1, 0, 0}, Purpose::scores, site);
  return draw_distinct_rows(rows, std::min(rows, most), stream);
}

}  // namespace

std::vector<std::uint64_t> answer_rows(std::size_t rows, std::size_t most) {
  return draw_sample(rows, most, 1);
}

std::vector<std::uint64_t> planning_rows(std::size_t rows) {
  constexpr std::size_t kMost = 100'000;
  return draw_sample(rows, kMost, 2);
}

void check_family(const ModelEntry& model, const FamilyPlan& plan) {
  if (!model.family.empty() && (plan.blocks.size() != 1 || plan.blocks[0].family != model.family))
    fail(ErrorCode::configuration, "the model {} works only with the family {}, not with {}", model.name,
         model.family, plan.description());
}

std::unique_ptr<ProblemSetup> set_up_problem(const RunContents& contents) {
  return set_up_problem(contents, contents.config);
}

std::unique_ptr<ProblemSetup> set_up_problem(const RunContents& contents, const RunConfig& config) {
  const Table& table = contents.table;
  auto setup = std::make_unique<ProblemSetup>();
  setup->model = &model_by_name(config.model);
  setup->model->check_given(with_present_names(setup->model->parameters, config.parameters));
  const ChainAbilities chains = abilities_of(*setup->model, contents, config);
  check_weights_allowed(*setup->model, contents, config);
  // The scale of a column is that of all rows that weights stand for.
  const Table repeated = contents.has_weights() ? repeat_rows(table, contents.copies()) : Table();
  const Table& counted = contents.has_weights() ? repeated : table;
  const std::size_t rows = contents.has_weights() ? counted.rows() : contents.rows();
  const auto plan_for = [&](const Table& sample) {
    return plan_family(sample, contents.codebook, family_for(*setup->model, config.family, sample),
                       config.family_settings, setup->model->independent_columns, chains, rows);
  };
  if (contents.effective && !contents.effective->blocks.empty()) {
    setup->plan = rebuild_plan(counted, contents.effective->blocks, chains, rows);
  } else if (chains.in_blocks) {
    // The same plan, wherever the rows are: all who work on the table see this sample of it.
    const Table sample = rows_of(table, table.rows() == rows ? planning_rows(rows) : all_of(table));
    setup->plan = plan_for(sample);
    find_spreads(setup->plan, sample);
    setup->plan = rebuild_plan(table, setup->plan.blocks, chains, rows);
  } else {
    setup->plan = plan_for(counted);
  }
  check_family(*setup->model, setup->plan);
  setup->plan.has_copies = contents.has_weights();
  setup->rows = encode(setup->plan, table, contents.copies());
  if (!setup->plan.blocks.front().spreads.empty())
    spread_rows(
        setup->plan, table, [&](std::size_t row) { return number_of(contents.part, row); }, setup->rows);
  else
    spread_ties(setup->plan, table, setup->rows);
  if (setup->plan.has_copies) {
    check_complete_rows(setup->plan, table);
    setup->tied_copies = std::make_unique<TiedCopies>(setup->plan.family->clone());
  }
  setup->problem = {
      setup->tied_copies ? setup->tied_copies.get() : setup->plan.family.get(), &setup->rows,
      ParameterValues(setup->model->parameters,
                      in_order_of_cells(parameters_of(*setup->model, contents, config), setup->plan.order))};
  setup->problem.part = contents.part;
  const bool learns = setup->model->learns_labels();
  if (learns && contents.labels.columns.empty())
    fail(ErrorCode::configuration,
         "the model {} learns labels: name their columns with --labels, or a file of them with --labels-file",
         config.model);
  if (!learns && !contents.labels.columns.empty())
    fail(ErrorCode::configuration,
         "the model {} learns no labels; --labels and --labels-file belong to classifiers", config.model);
  if (learns) {
    setup->labeled = labeled_rows(table, contents.labels);
    setup->problem.labeled = &setup->labeled;
  }
  for (const std::size_t column : setup->plan.order) {
    const Column& source = table.columns[column];
    setup->problem.category_levels.push_back(source.kind == Kind::category ? source.levels.size() : 0);
  }
  setup->levels = setup->model->levels(setup->problem.parameters);
  setup->traces = trace_names(*setup->model, setup->problem);
  return setup;
}

EffectiveConfig effective_config(const RunContents& contents, const ProblemSetup& setup) {
  return {ParameterValues(setup.model->parameters, parameters_of(*setup.model, contents, contents.config))
              .settings(),
          setup.plan.blocks};
}

bool resolve_settings(RunContents& contents, std::size_t threads, std::unique_ptr<ProblemSetup>& setup) {
  RunConfig& config = contents.config;
  config.notes.clear();
  const std::atomic<bool>* stop = setup->problem.stop;
  const auto set_up_again = [&] {
    setup = set_up_problem(contents);
    setup->problem.stop = stop;
  };
  const auto bound_under = [&](const RunConfig& trial) {
    const std::unique_ptr<ProblemSetup> tried = set_up_problem(contents, trial);
    tried->problem.stop = stop;
    return tried->model->evidence_bound(tried->problem);
  };
  const bool has_share = choose_within_fraction(contents, threads, bound_under);
  const bool has_weight = choose_prior_weight(contents, bound_under);
  const bool has_chosen = has_share || has_weight;
  if (has_chosen) set_up_again();
  if (contents.has_weights())
    config.notes.push_back(
        fmt::format("row weights '{}': {} rows count as {:.0f}; the copies of a row share a cluster",
                    contents.weights.columns.front().name, contents.table.rows(), setup->rows.copies()));
  if (std::string note = expected_clusters_note(*setup->model, setup->problem.parameters, contents.rows());
      !note.empty())
    config.notes.push_back(std::move(note));
  if (!setup->model->resolves_settings()) return has_chosen;
  Resolution resolution = setup->model->resolve(
      setup->problem, with_present_names(setup->model->parameters, config.parameters), config.seed, threads);
  config.notes.insert(config.notes.end(), resolution.notes.begin(), resolution.notes.end());
  if (resolution.settings.empty()) return has_chosen;
  for (auto& [name, value] : resolution.settings) config.parameters.insert_or_assign(name, std::move(value));
  set_up_again();
  return true;
}

void settle_run_length(RunConfig& config, const ProblemSetup& setup) {
  if (!setup.model->runs_once()) {
    if (config.is_until_trusted())
      config.set_length(first_length(length_limits(setup.problem.table_rows(), setup.levels)));
    return;
  }
  config.fix_length();
  config.chains = 1;
  config.warmup = 0;
  config.draws = 1;
  config.thin = setup.model->max_steps(setup.problem);
}

BlockLimits block_limits(const ProblemSetup& setup) {
  // A state is what a chain holds, or less. The estimate of that may be far too low, never by so much.
  constexpr std::size_t kRoom = 64;
  constexpr std::size_t kLeastState = std::size_t{16} << 20;
  return {.traces = setup.traces.size(),
          .labels = setup.levels * setup.rows.size(),
          .state = kLeastState + kRoom * setup.model->chain_bytes(setup.problem)};
}

std::size_t estimate_bytes(const ProblemSetup& setup, const RunConfig& config, const Table& table) {
  const std::size_t cells = table.rows() * table.columns.size() * sizeof(double);
  const std::size_t names = table.rows() * sizeof(std::string);
  // Its name, how it is interpreted and why, what its family is made of: while the run file is made, several
  // times.
  constexpr std::size_t kBytesOfColumn = 12'000;
  const std::size_t columns = table.columns.size() * kBytesOfColumn;
  const std::size_t rows = setup.rows.cells.size() * sizeof(double);
  // The scale of a column is that of all rows that weights stand for, which are repeated to find it.
  const std::size_t repeated = setup.rows.has_copies
                                   ? static_cast<std::size_t>(setup.rows.copies()) *
                                         (table.columns.size() * sizeof(double) + sizeof(std::string))
                                   : 0;
  const std::size_t most_draws = sweeps_per_block(table.rows());
  const std::size_t kept_draws = config.is_until_trusted() ? most_draws : std::min(config.draws, most_draws);
  const std::size_t block = kept_draws * table.rows() * setup.levels * sizeof(Label);
  // The program with its libraries.
  constexpr std::size_t kProgram = 18'000'000;
  // The table is read and written before there are chains, and they need its rows alone: then it is freed.
  const std::size_t while_set_up = cells + repeated + rows;
  const std::size_t while_written = 3 * cells + rows;
  // One block of draws at a time is encoded and compressed.
  const std::size_t while_drawn =
      rows + config.chains * (setup.model->chain_bytes(setup.problem) + block) + 2 * block;
  return kProgram + names + columns + std::max({while_set_up, while_written, while_drawn});
}

}  // namespace coppice
