// Questions about columns, rows and cells of a run, new rows drawn from it, its missing cells filled in, and
// what there is to know about a table before a fit.
#include <cmath>
#include <nlohmann/json.hpp>

#include "coppice/data/kinds/closer_look.hpp"
#include "coppice/out/ask_json.hpp"
#include "coppice/out/column_json.hpp"
#include "coppice/post/column_dependence.hpp"
#include "coppice/post/conditional.hpp"
#include "coppice/post/row_similarity.hpp"
#include "coppice/post/sample_rows.hpp"
#include "coppice/post/unusual_rows.hpp"
#include "coppice/run/new_run.hpp"
#include "coppice/run/problem_setup.hpp"
#include "run.hpp"

namespace coppice::python {
namespace {

using nlohmann::ordered_json;
using Pairs = std::vector<std::pair<std::string, std::string>>;

std::vector<std::size_t> columns_of(const SavedRun& run, const std::vector<std::string>& names) {
  std::vector<std::size_t> columns;
  for (const std::string& name : names) columns.push_back(column_by_name(run, name));
  return columns;
}

std::string depend(const Run& run, const Pairs& pairs, std::size_t draws, std::size_t threads) {
  return run.ask([&](const Analysis& analysis) {
    refuse_classifier(analysis, "mutual information of columns");
    std::vector<std::pair<std::size_t, std::size_t>> columns;
    for (const auto& [first, second] : pairs)
      columns.emplace_back(column_by_name(analysis.run(), first), column_by_name(analysis.run(), second));
    DependenceOptions options;
    options.most_draws = draws;
    options.threads = threads;
    return dependence_json(analysis.run(), column_dependence(analysis.run(), columns, options)).dump();
  });
}

std::string anomalies(const Run& run, const Frame* frame, std::size_t top, std::size_t draws,
                      std::size_t threads) {
  return run.ask([&](const Analysis& analysis) {
    refuse_classifier(analysis, "unusual rows");
    const SavedRun& saved = analysis.run();
    UnusualOptions options;
    options.most_rows = top;
    options.most_draws = draws;
    options.threads = threads;
    if (frame == nullptr)
      return unusual_rows_json(saved, unusual_rows(saved, options), saved.table().row_ids).dump();
    return unusual_rows_json(saved, unusual_rows(saved, new_rows(saved, *frame), options), frame->row_ids)
        .dump();
  });
}

nb::ndarray<nb::numpy, double> similar(const Run& run, std::size_t row, const std::vector<std::string>& given,
                                       std::size_t level, std::size_t threads) {
  std::vector<double> values = run.ask([&](const Analysis& analysis) {
    refuse_classifier(analysis, "clusters of rows to compare");
    return row_similarity(analysis, row, columns_of(analysis.run(), given), level, threads);
  });
  const std::size_t rows = values.size();
  return to_numpy(std::move(values), {rows});
}

std::string predict_cells(const Run& run, const std::vector<std::string>& columns, const Pairs& given,
                          std::size_t threads) {
  return run.ask([&](const Analysis& analysis) {
    refuse_classifier(analysis, "predictions of cells");
    const SavedRun& saved = analysis.run();
    ordered_json list = ordered_json::array();
    for (const ImputedCell& cell :
         conditional_cells(saved, row_of_known_cells(saved, given), columns_of(saved, columns), threads))
      list.push_back(cell_json(saved, cell));
    return list.dump();
  });
}

/// Columns of a table: cells in the units of the data, levels and dates as texts; None is missing.
nb::list table_columns(const Table& table) {
  nb::list list;
  for (const Column& column : table.columns) {
    nb::list cells;
    for (const double value : column.values) {
      const auto level = static_cast<std::size_t>(is_missing(value) ? 0.0 : std::max(0.0, value));
      if (is_missing(value))
        cells.append(nb::none());
      else if ((column.kind == Kind::binary || column.kind == Kind::category) && level < column.levels.size())
        cells.append(column.levels[level]);
      else if (column.dates)
        cells.append(column.number_text(value));
      else
        cells.append(value);
    }
    list.append(nb::make_tuple(column.name, std::string(kind_name(column.kind)), cells));
  }
  return list;
}

nb::list sample(const Run& run, std::size_t rows, std::uint64_t seed, std::size_t threads) {
  return table_columns(run.ask([&](const Analysis& analysis) {
    refuse_classifier(analysis, "new rows");
    return sample_rows(analysis.run(), rows, seed, threads);
  }));
}

/// chains x draws x rows.
nb::ndarray<nb::numpy, double> log_likelihood(const Run& run, std::size_t threads) {
  PointwiseDensities densities =
      run.ask([&](const Analysis& analysis) { return pointwise_densities(analysis.run(), 0, threads); });
  const SavedRun& saved = run.analysis().run();
  return to_numpy(std::move(densities.values),
                  {saved.config().chains, saved.draws_per_chain(), densities.rows});
}

Dataset read_frame(const Frame& frame, const std::string& codebook) {
  Dataset data = read_memory(frame, {nullptr, codebook, false});
  look_closer(data);
  return data;
}

/// JSON: the columns with their kinds and reasons, and those that are left out.
std::string codebook_of(const Frame& frame, const std::string& codebook) {
  const nb::gil_scoped_release release;
  const Dataset data = read_frame(frame, codebook);
  ordered_json columns = ordered_json::array();
  for (const ColumnSpec& spec : data.codebook.columns) columns.push_back(column_json(spec));
  ordered_json left_out = ordered_json::object();
  for (const ColumnReport& report : data.report)
    if (!report.left_out.empty()) left_out[report.spec.name] = report.left_out;
  return ordered_json{{"columns", columns}, {"left_out", left_out}}.dump();
}

/// JSON: what coppice check says about the table.
std::string check_of(const Frame& frame, const std::string& codebook, const std::string& model) {
  const nb::gil_scoped_release release;
  Dataset data = read_frame(frame, codebook);
  ordered_json answer{{"rows", data.table.rows()}, {"columns", data.table.columns.size()}, {"model", model}};
  RunConfig config;
  config.model = model;
  config.data = "X";
  std::string families;
  std::size_t bytes = 0;
  try {
    const RunContents contents = contents_of(config, data);
    const std::unique_ptr<ProblemSetup> setup = set_up_problem(contents);
    families = setup->plan.description();
    bytes = estimate_bytes(*setup, contents.config, contents.table);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::configuration) throw;
    data.findings.insert(data.findings.begin(),
                         {Severity::warning, "model", {}, error.what(), "use another model"});
  }
  bool fine = true;
  for (const Finding& finding : data.findings) fine = fine && finding.severity == Severity::note;
  answer["families"] = families;
  answer["bytes"] = bytes;
  answer["notes"] = data.notes;
  answer["findings"] = findings_json(data.findings);
  answer["fine"] = fine;
  return answer.dump();
}

}  // namespace

void add_questions(nb::module_& module, nb::class_<Run>& run) {
  using nb::arg;
  run.def("depend", &depend, arg("pairs"), arg("draws"), arg("threads"))
      .def("anomalies", &anomalies, arg("frame").none(), arg("top"), arg("draws"), arg("threads"))
      .def("similar", &similar, arg("row"), arg("given"), arg("level"), arg("threads"))
      .def("predict_cells", &predict_cells, arg("columns"), arg("given"), arg("threads"))
      .def("sample", &sample, arg("rows"), arg("seed"), arg("threads"))
      .def("log_likelihood", &log_likelihood, arg("threads"));
  module.def("codebook", &codebook_of, arg("frame"), arg("codebook"),
             "What the columns are taken for, as JSON.");
  module.def("check", &check_of, arg("frame"), arg("codebook"), arg("model"),
             "What to know about a table before a fit, as JSON.");
}

}  // namespace coppice::python
