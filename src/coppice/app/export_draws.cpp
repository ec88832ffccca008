// coppice export: what was drawn (labels, traces, draws) and the table itself.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "coppice/app/exporting.hpp"
#include "coppice/base/error.hpp"
#include "coppice/out/inference_data.hpp"

namespace coppice::app {
namespace {

using nlohmann::ordered_json;

bool is_folder(const std::string& output) {
  return output.ends_with('/') || (!output.empty() && std::filesystem::is_directory(output));
}

/// Labels of one draw: one row of the table after the other, in one file or, if the output is a folder, in
/// one for each block of rows.
void export_labels_of_draw(const ExportArguments& arguments, const SavedRun& run) {
  constexpr std::size_t kRowsOfShard = 65'536;
  if (arguments.to == "json")
    fail(ErrorCode::usage, "--draw: labels of one draw can be written as csv or npy, not as json");
  if (run.is_in_parts())
    fail(ErrorCode::configuration,
         "the rows of this run are not in its file: labels of all rows come from Python, where the data are: "
         "write_labels()");
  const std::size_t level = arguments.level == 0 ? run.levels() : arguments.level;
  run.check_level(level);
  const bool in_shards = is_folder(arguments.output);
  if (in_shards) std::filesystem::create_directories(arguments.output);
  run.visit_draw(arguments.chain, *arguments.draw, [&](const SavedDraw& saved) {
    const std::span<const Label> labels = saved.labels.subspan((level - 1) * run.rows(), run.rows());
    const std::size_t step = in_shards ? kRowsOfShard : std::max<std::size_t>(run.rows(), 1);
    for (std::size_t begin = 0; begin < labels.size(); begin += step) {
      const std::span<const Label> part = labels.subspan(begin, std::min(step, labels.size() - begin));
      ExportArguments shard = arguments;
      if (in_shards)
        shard.output = (std::filesystem::path(arguments.output) /
                        fmt::format("labels-{:05}.{}", begin / step, arguments.to))
                           .string();
      if (arguments.to == "npy") {
        const std::vector<std::int32_t> values(part.begin(), part.end());
        write_array<std::int32_t>(shard, values, {values.size()});
        continue;
      }
      const std::unique_ptr<CsvWriter> writer = csv_to(shard);
      writer->cell("row").cell("cluster").end_row();
      for (std::size_t i = 0; i < part.size(); ++i)
        writer->cell(run.table().row_ids[begin + i]).cell(part[i]).end_row();
      writer->close();
    }
  });
}

}  // namespace

void export_labels(const ExportArguments& arguments, const Analysis& analysis) {
  const SavedRun& run = analysis.run();
  if (arguments.draw) return export_labels_of_draw(arguments, run);
  const std::vector<std::size_t> levels = wanted_levels(arguments, run);
  const std::size_t rows = run.rows();
  if (arguments.to == "csv") {
    const std::unique_ptr<CsvWriter> writer = csv_to(arguments);
    writer->cell("chain").cell("draw").cell("level");
    for (const std::string& id : run.table().row_ids) writer->cell(id);
    writer->end_row();
    run.for_each_draw(0, [&](const SavedDraw& saved) {
      for (const std::size_t level : levels) {
        writer->cell(saved.chain)
            .cell(saved.draw)
            .cell(level)
            .cells(saved.labels.subspan((level - 1) * rows, rows));
        writer->end_row();
      }
    });
    writer->close();
  } else if (arguments.to == "npy") {
    std::vector<std::int32_t> values;
    run.for_each_draw(0, [&](const SavedDraw& saved) {
      for (const std::size_t level : levels)
        values.insert(values.end(), saved.labels.begin() + static_cast<std::ptrdiff_t>((level - 1) * rows),
                      saved.labels.begin() + static_cast<std::ptrdiff_t>(level * rows));
    });
    std::vector<std::size_t> shape{run.config().chains, run.draws_per_chain(), rows};
    if (levels.size() > 1) shape.insert(shape.begin() + 2, levels.size());
    write_array<std::int32_t>(arguments, values, shape);
  } else {
    ordered_json draws = ordered_json::array();
    run.for_each_draw(0, [&](const SavedDraw& saved) {
      for (const std::size_t level : levels) {
        const auto part = saved.labels.subspan((level - 1) * rows, rows);
        draws.push_back({{"chain", saved.chain},
                         {"draw", saved.draw},
                         {"level", level},
                         {"labels", Labels(part.begin(), part.end())}});
      }
    });
    write_json(arguments.output, {{"rows", run.table().row_ids}, {"draws", draws}});
  }
}

void export_trace(const ExportArguments& arguments, const Analysis& analysis) {
  const SavedRun& run = analysis.run();
  const std::vector<std::string>& names = run.trace_names();
  const std::size_t chains = run.config().chains;
  const std::size_t draws = run.draws_per_chain();
  if (arguments.to == "csv") {
    const std::unique_ptr<CsvWriter> writer = csv_to(arguments);
    writer->cell("chain").cell("draw");
    for (const std::string& name : names) writer->cell(name);
    writer->end_row();
    for (std::size_t chain = 0; chain < chains; ++chain)
      for (std::size_t draw = 0; draw < draws; ++draw) {
        writer->cell(chain).cell(draw);
        for (std::size_t trace = 0; trace < names.size(); ++trace)
          writer->cell(run.traces()[trace][chain][draw]);
        writer->end_row();
      }
    writer->close();
  } else if (arguments.to == "npy") {
    std::vector<double> values;
    for (std::size_t chain = 0; chain < chains; ++chain)
      for (std::size_t draw = 0; draw < draws; ++draw)
        for (std::size_t trace = 0; trace < names.size(); ++trace)
          values.push_back(run.traces()[trace][chain][draw]);
    write_array<double>(arguments, values, {chains, draws, names.size()});
  } else {
    ordered_json answer = ordered_json::object();
    for (std::size_t trace = 0; trace < names.size(); ++trace) answer[names[trace]] = run.traces()[trace];
    write_json(arguments.output, answer);
  }
}

void export_draws(const ExportArguments& arguments, const Analysis& analysis) {
  const SavedRun& run = analysis.run();
  if (arguments.to == "netcdf") {
    if (arguments.output.empty() || arguments.output == "-")
      fail(ErrorCode::usage, "--to netcdf needs -o FILE");
    write_inference_data(run, arguments.output);
    return;
  }
  const std::vector<std::size_t> levels = wanted_levels(arguments, run);
  const std::unique_ptr<CsvWriter> writer = csv_to(arguments);
  writer->cell("chain").cell("draw");
  for (const std::string& name : run.trace_names()) writer->cell(name);
  for (const std::size_t level : levels)
    for (const std::string& id : run.table().row_ids)
      writer->cell(levels.size() == 1 ? id : fmt::format("{}:{}", level, id));
  writer->end_row();
  run.for_each_draw(0, [&](const SavedDraw& saved) {
    writer->cell(saved.chain).cell(saved.draw).cells(saved.traces);
    for (const std::size_t level : levels)
      writer->cells(saved.labels.subspan((level - 1) * run.rows(), run.rows()));
    writer->end_row();
  });
  writer->close();
}

void export_data(const ExportArguments& arguments, const Analysis& analysis) {
  const SavedRun& run = analysis.run();
  const Table& table = run.table();
  if (arguments.to == "npy") {
    std::vector<double> values;
    for (std::size_t row = 0; row < table.rows(); ++row)
      for (const Column& column : table.columns) values.push_back(column.values[row]);
    write_array<double>(arguments, values, {table.rows(), table.columns.size()});
    return;
  }
  const std::unique_ptr<CsvWriter> writer = csv_to(arguments);
  write_table(*writer, table);
  writer->close();
}

}  // namespace coppice::app
