// coppice simulate and coppice selfcheck: data from a model's prior, and a proof on this machine that a
// sampler draws from the posterior it says.
#include <cmath>
#include <map>
#include <optional>

#include "coppice/app/arguments.hpp"
#include "coppice/app/table_answer.hpp"
#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"
#include "coppice/data/bananas.hpp"
#include "coppice/family/plan.hpp"
#include "coppice/family/registry.hpp"
#include "coppice/model/expected_clusters.hpp"
#include "coppice/model/registry.hpp"
#include "coppice/out/csv.hpp"
#include "coppice/post/hierarchy.hpp"
#include "coppice/run/config.hpp"
#include "coppice/run/problem_setup.hpp"

namespace coppice::app {
namespace {

struct SimulateArguments {
  std::string model, output, truth, views;
  std::optional<std::string> given_family;
  std::optional<std::size_t> given_rows, given_columns;
  std::optional<double> radius, noise;
  std::uint64_t seed = 1;
  std::vector<std::string> set;
  ParameterFlags parameters;

  /// Without a choice one of reals, which models that divide the columns need to be independent.
  std::string family() const {
    if (given_family) return *given_family;
    return model != "bananas" && model_by_name(model).independent_columns
               ? automatic_family(Kind::real, false).name
               : "gaussian";
  }
  std::size_t rows() const { return given_rows.value_or(200); }
  std::size_t columns() const { return given_columns.value_or(2); }
};

/// A table whose columns have the scale that the families' defaults refer to.
Table prototype(const SimulateArguments& arguments) {
  Table table;
  const Kind kind =
      arguments.family() == "auto" ? Kind::real : family_by_name(arguments.family()).kinds.front();
  for (std::size_t row = 0; row < arguments.rows(); ++row)
    table.row_ids.push_back(fmt::format("{}", row + 1));
  for (std::size_t j = 0; j < arguments.columns(); ++j) {
    Column column{fmt::format("x{}", j + 1), kind, {}, {}};
    if (column.kind == Kind::category) column.levels = {"a", "b", "c"};
    for (std::size_t row = 0; row < arguments.rows(); ++row) {
      const bool even = row % 2 == 0;
      column.values.push_back(column.kind == Kind::real    ? (even ? -1.0 : 1.0)
                              : column.kind == Kind::count ? (even ? 0.0 : 10.0)
                                                           : (even ? 0.0 : 1.0));
    }
    table.columns.push_back(std::move(column));
  }
  return table;
}

/// What was drawn, apart from the data: labels of the rows at every level, and the views of a model that has
/// them.
struct Drawn {
  Labels labels;
  Views views = {};
};

Column numbers_column(std::string name, std::span<const Label> labels, Label first) {
  Column column{std::move(name), Kind::count, {}, {}};
  for (const Label label : labels) column.values.push_back(static_cast<double>(label + first));
  return column;
}

/// The view of each column; they count from 1.
void write_views(const std::string& path, const Table& table, const Views& views, const Context& context) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  std::string text;
  CsvWriter writer(&text);
  writer.protect_texts(context.csv_safe);
  writer.cell("column").cell("view").end_row();
  for (std::size_t j = 0; j < table.columns.size(); ++j) {
    const std::size_t view = static_cast<std::size_t>(views.columns[j]) + 1;
    list.push_back({{"column", table.columns[j].name}, {"view", view}});
    writer.cell(table.columns[j].name).cell(view).end_row();
  }
  writer.close();
  context.json ? write_json(path, list) : write_output(path, text);
}

/// The table, and what was drawn if it is asked for.
void write_simulation(const SimulateArguments& arguments, const Table& table, const Drawn& drawn,
                      const Context& context) {
  write_table_answer(arguments.output, table, context);
  if (!arguments.views.empty()) write_views(arguments.views, table, drawn.views, context);
  if (arguments.truth.empty()) return;
  const Labels& labels = drawn.labels;
  const std::size_t levels = labels.size() / table.rows();
  Table truth;
  truth.row_ids = table.row_ids;
  for (std::size_t level = 1; level <= levels; ++level) {
    const auto part = level_of(labels, table.rows(), level);
    truth.columns.push_back(numbers_column(levels == 1 ? "cluster" : fmt::format("level{}", level), part, 0));
  }
  for (std::size_t view = 0; view < drawn.views.count(); ++view)
    truth.columns.push_back(numbers_column(fmt::format("view{}", view + 1), drawn.views.rows[view], 0));
  write_table_answer(arguments.truth, truth, context);
}

int simulate_bananas(const SimulateArguments& arguments, const Context& context) {
  arguments.parameters.check_all_known({}, "bananas");
  if (!arguments.views.empty()) fail(ErrorCode::usage, "--views-out: bananas have no views");
  if (!arguments.set.empty() || arguments.given_family || arguments.given_columns)
    fail(ErrorCode::usage, "bananas have two columns and no family: leave out --columns, --family and --set");
  Bananas bananas;
  bananas.rows = arguments.given_rows.value_or(bananas.rows);
  bananas.radius = arguments.radius.value_or(bananas.radius);
  bananas.noise = arguments.noise.value_or(bananas.noise);
  Stream stream({arguments.seed, 0, 0}, Purpose::prior_data);
  const Table table = bananas.draw(stream);
  Drawn drawn;
  for (std::size_t row = 0; row < bananas.rows; ++row)
    drawn.labels.push_back(static_cast<Label>(bananas.arc(row)));
  write_simulation(arguments, table, drawn, context);
  return 0;
}

int simulate(const SimulateArguments& arguments, const Context& context) {
  if (arguments.model == "bananas") return simulate_bananas(arguments, context);
  const ModelEntry& model = model_by_name(arguments.model);
  if (arguments.radius || arguments.noise)
    fail(ErrorCode::usage, "--radius and --noise belong to bananas, not to the model {}", model.name);
  if (!arguments.views.empty() && !model.draws_views())
    fail(ErrorCode::usage, "--views-out: the model {} does not draw views; these do: {}", model.name,
         fmt::join(models_that(&ModelEntry::draws_views), ", "));
  const std::vector<Parameter>* tables[] = {&model.parameters};
  arguments.parameters.check_all_known(tables, model.name);
  Settings settings;
  for (const std::string& assignment : arguments.set) parse_assignment(assignment, settings);
  const Table like = prototype(arguments);
  const FamilyPlan plan = plan_family(like, {}, arguments.family(), settings);
  check_family(model, plan);
  Rows rows = encode(plan, like);
  const Settings given = arguments.parameters.values(model.parameters);
  check_expected_clusters(given, model.row_concentration);
  const Problem problem{
      plan.family.get(), &rows,
      ParameterValues(model.parameters, with_expected_clusters(model, given, arguments.rows()))};
  const std::unique_ptr<Inference> inference = model.make_inference(problem);
  const StreamName name{arguments.seed, 0, 0};
  inference->draw_prior(name);
  inference->draw_data(name, rows);
  Drawn drawn{Labels(model.levels(problem.parameters) * arguments.rows())};
  const Labels& labels = drawn.labels;
  inference->labels(drawn.labels);
  if (model.draws_views()) {
    const Views by_cell = model.views(problem, inference->payload());
    drawn.views = by_cell;
    for (std::size_t cell = 0; cell < plan.order.size(); ++cell)
      drawn.views.columns[plan.order[cell]] = by_cell.columns[cell];
  }
  write_simulation(arguments, decode(plan, rows, like), drawn, context);
  for (std::size_t level = 1; level <= labels.size() / arguments.rows(); ++level) {
    const auto begin = labels.begin() + static_cast<std::ptrdiff_t>((level - 1) * arguments.rows());
    const Label last = *std::max_element(begin, begin + static_cast<std::ptrdiff_t>(arguments.rows()));
    context.detail(fmt::format("level {}: {} clusters", level, last + 1));
  }
  return 0;
}

/// Frequencies of all 52 partitions of five rows against their exact posterior, for one sampler.
double worst_deviation(const std::string& sampler_name) {
  Table table;
  table.columns = {{"x", Kind::real, {-1.0, -0.8, 0.1, 1.0, 1.3}, {}},
                   {"y", Kind::real, {0.2, -0.1, 0.4, 2.0, 1.8}, {}}};
  table.row_ids = {"1", "2", "3", "4", "5"};
  const FamilyPlan plan = plan_family(table, {}, "gaussian", {});
  const Rows rows = encode(plan, table);
  const ModelEntry& model = model_by_name("nrmm");
  Settings settings{{"alpha", Setting::number(1.0)},
                    {"sampler", {Setting::Shape::text, {}, 0, sampler_name}}};
  const Problem problem{plan.family.get(), &rows, ParameterValues(model.parameters, settings)};

  std::map<std::string, double> exact;
  std::vector<double> logs;
  std::vector<double> stats(plan.family->stats_size());
  for_each_partition(5, [&](std::span<const Label> labels, std::size_t clusters) {
    double log_weight = 0.0;
    for (std::size_t c = 0; c < clusters; ++c) {
      plan.family->clear(stats.data());
      for (std::size_t row = 0; row < 5; ++row)
        if (labels[row] == static_cast<Label>(c)) plan.family->add(stats.data(), rows[row]);
      log_weight += log_gamma(count_of(stats.data())) + plan.family->log_marginal(stats.data());
    }
    exact[partition_key(labels)] = log_weight;
    logs.push_back(log_weight);
  });
  const double total = log_sum_exp(logs);

  constexpr std::size_t kSweeps = 100'000;
  const std::unique_ptr<Inference> inference = model.make_inference(problem);
  inference->init({1, 0, 0});
  std::map<std::string, double> seen;
  Labels labels(5);
  for (std::size_t sweep = 1; sweep <= kSweeps; ++sweep) {
    inference->step({1, 0, sweep});
    inference->labels(labels);
    seen[partition_key(labels)] += 1.0 / kSweeps;
  }
  double worst = 0.0;
  for (const auto& [key, log_weight] : exact)
    worst = std::max(worst, std::abs(seen[key] - std::exp(log_weight - total)));
  return worst;
}

int selfcheck(const Context& context) {
  // Autocorrelation at most trebles the standard error of a frequency, sqrt(p (1 - p) / sweeps) <= 0.0016.
  constexpr double kLimit = 0.012;
  bool good = true;
  nlohmann::ordered_json answer = nlohmann::ordered_json::array();
  for (const char* sampler : {"gibbs", "split-merge", "tree-guided", "auto"}) {
    const double worst = worst_deviation(sampler);
    good = good && worst < kLimit;
    answer.push_back(
        {{"sampler", sampler}, {"worst_deviation", worst}, {"limit", kLimit}, {"passed", worst < kLimit}});
    if (!context.json)
      write_output("", fmt::format("{}  nrmm {}: all 52 partitions of 5 rows within {:.4f} of their exact "
                                   "probability (limit {})\n",
                                   worst < kLimit ? "ok  " : "FAIL", sampler, worst, kLimit));
  }
  if (context.json) write_json("", answer);
  return good ? 0 : static_cast<int>(ErrorCode::bug);
}

}  // namespace

void add_simulate(CLI::App& application, Context& context) {
  CLI::App* command =
      application.add_subcommand("simulate", "draw clusters and data from a model's prior, or two bananas");
  auto arguments = std::make_shared<SimulateArguments>();
  command->add_option("model", arguments->model, "model, or bananas")->required();
  command->add_option("--n", arguments->given_rows, "rows [200; bananas: 400]")
      ->check(CLI::Range(1, 100'000'000));
  command->add_option("--columns", arguments->given_columns, "columns [2]")->check(CLI::Range(1, 100'000));
  std::vector<std::string> independent;
  for (const ModelEntry& model : all_models())
    if (model.independent_columns && !model.learns_labels()) independent.push_back(model.name);
  command->add_option("--family", arguments->given_family,
                      fmt::format("family of the columns [gaussian; {}: {}]", fmt::join(independent, ", "),
                                  automatic_family(Kind::real, false).name));
  command->add_option("--set", arguments->set, "hyper-parameter NAME=VALUE")->allow_extra_args(false);
  command->add_option("--radius", arguments->radius, "bananas: radius of the arcs [5]")
      ->check(CLI::PositiveNumber);
  command->add_option("--noise", arguments->noise, "bananas: standard deviation around the arcs [0.3]")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--seed", arguments->seed, "seed [1]")->check(CLI::NonNegativeNumber);
  command->add_option("-o,--output", arguments->output, "CSV file to write; with --json: JSON [stdout]");
  command->add_option("--truth-out", arguments->truth, "CSV file for the clusters drawn; with --json: JSON");
  command->add_option(
      "--views-out", arguments->views,
      fmt::format(
          "CSV file for the views drawn ({}): the view of each column; the clusters of each view are in "
          "--truth-out",
          fmt::join(models_that(&ModelEntry::draws_views), ", ")));
  for (const ModelEntry& model : all_models())
    if (context.shows_flags_of(model.name))
      arguments->parameters.add_to(*command, model.parameters, "Model " + model.name);
  command->callback([=, &context] { context.run = [=, &context] { return simulate(*arguments, context); }; });
}

void add_selfcheck(CLI::App& application, Context& context) {
  CLI::App* command =
      application.add_subcommand("selfcheck", "check the samplers against full enumeration on this machine");
  command->callback([&context] { context.run = [&context] { return selfcheck(context); }; });
}

}  // namespace coppice::app
