// coppice export: what was drawn (labels, traces, draws) and the table itself.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "coppice/app/exporting.hpp"
#include "coppice/base/error.hpp"
#include "coppice/out/inference_data.hpp"
#include "coppice/run/file_parts.hpp"

namespace coppice::app {
namespace {

using nlohmann::ordered_json;

bool is_folder(const std::string& output) {
  return output.ends_with('/') || (!output.empty() && std::filesystem::is_directory(output));
}

/// Labels of rows, one after the other as they come: to one file or, if the output is a folder, to one for
/// each block of rows.
class LabelFiles {
 public:
  /// Without names rows are numbered from 1 on.
  LabelFiles(const ExportArguments& arguments, const std::vector<std::string>* names)
      : arguments_(arguments), names_(names), in_shards_(is_folder(arguments.output)) {
    if (in_shards_) std::filesystem::create_directories(arguments.output);
  }

  void add(std::span<const Label> labels) {
    for (const Label label : labels) {
      waiting_.push_back(label);
      if (in_shards_ && waiting_.size() == kRowsOfShard) write();
    }
  }
  void close() {
    if (!waiting_.empty() || written_ == 0) write();
  }

 private:
  static constexpr std::size_t kRowsOfShard = 65'536;

  void write() {
    ExportArguments shard = arguments_;
    if (in_shards_)
      shard.output = (std::filesystem::path(arguments_.output) /
                      fmt::format("labels-{:05}.{}", written_ / kRowsOfShard, arguments_.to))
                         .string();
    if (arguments_.to == "npy") {
      write_array<std::int32_t>(shard, waiting_, {waiting_.size()});
    } else {
      const std::unique_ptr<CsvWriter> writer = csv_to(shard);
      writer->cell("row").cell("cluster").end_row();
      for (std::size_t i = 0; i < waiting_.size(); ++i)
        writer->cell(names_ != nullptr ? (*names_)[written_ + i] : std::to_string(written_ + i + 1))
            .cell(waiting_[i])
            .end_row();
      writer->close();
    }
    written_ += waiting_.size();
    waiting_.clear();
  }

  const ExportArguments& arguments_;
  const std::vector<std::string>* names_;
  bool in_shards_;
  std::vector<std::int32_t> waiting_;
  std::size_t written_ = 0;
};

void export_labels_of_draw(const ExportArguments& arguments, const SavedRun& run) {
  if (arguments.to == "json")
    fail(ErrorCode::usage, "--draw: labels of one draw can be written as csv or npy, not as json");
  const std::size_t level = arguments.level == 0 ? run.levels() : arguments.level;
  run.check_level(level);
  if (run.is_in_parts()) {
    const std::optional<TableFiles> files = TableFiles::of_run(run.contents().source);
    if (!files)
      fail(ErrorCode::configuration,
           "the rows of this run are not in its file: labels of all rows come from Python, where the data "
           "are: "
           "write_labels()");
    const std::string question = run.label_question(arguments.chain, *arguments.draw);
    LabelFiles output(arguments, nullptr);
    FileParts(*files, run.contents(), 1).visit_labels(question, 0, [&](std::span<const Label> labels) {
      output.add(labels);
    });
    return output.close();
  }
  run.visit_draw(arguments.chain, *arguments.draw, [&](const SavedDraw& saved) {
    LabelFiles output(arguments, &run.table().row_ids);
    output.add(saved.labels.subspan((level - 1) * run.rows(), run.rows()));
    output.close();
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
