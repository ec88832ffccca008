// coppice score: how well the clusters agree with labels that are known.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "coppice/app/answering.hpp"
#include "coppice/app/arguments.hpp"
#include "coppice/app/classify.hpp"
#include "coppice/app/hierarchy_text.hpp"
#include "coppice/app/text_table.hpp"
#include "coppice/base/counted.hpp"
#include "coppice/base/error.hpp"
#include "coppice/out/answer_json.hpp"
#include "coppice/out/ascii_tree.hpp"
#include "coppice/out/hierarchy_json.hpp"
#include "coppice/post/cluster_names.hpp"
#include "coppice/post/cross_table.hpp"
#include "coppice/post/known_labels.hpp"
#include "coppice/post/row_order.hpp"

namespace coppice::app {
namespace {

using nlohmann::ordered_json;

/// The column of FILE:COL, in the order of the run's rows: matched by row name if the run has names, else by
/// position.
Column truth_from_file(const SavedRun& run, const std::string& file, const std::string& name) {
  ReadOptions options;
  options.truth = {name};
  options.labels_only = true;
  options.id = run.config().id;
  const Dataset data = read_dataset(file, options);
  const Column& found = data.truth.columns.at(0);
  const std::vector<std::string>& ids = run.table().row_ids;
  if (found.values.size() < ids.size())
    fail(ErrorCode::bad_data, "{}: {} rows of labels for the {} rows of the run", file, found.values.size(),
         ids.size());
  Column ordered{found.name, found.kind, {}, found.levels};
  for (const std::size_t place : places_of_rows(ids, data.truth.row_ids, file))
    ordered.values.push_back(found.values[place]);
  return ordered;
}

Column truth_column(const SavedRun& run, const std::string& truth) {
  if (const Column* column = run.contents().truth.find(truth)) return *column;
  if (const std::size_t colon = truth.rfind(':'); colon != std::string::npos)
    return truth_from_file(run, truth.substr(0, colon), truth.substr(colon + 1));
  std::vector<std::string> known;
  for (const Column& column : run.contents().truth.columns) known.push_back(column.name);
  fail(ErrorCode::configuration,
       "the run has no truth column '{}' ({}); use FILE:COLUMN for labels in another file", truth,
       known.empty() ? "it was fitted without --truth" : fmt::format("it has {}", fmt::join(known, ", ")));
}

/// Places of the largest numbers, ascending.
std::vector<std::size_t> largest(const std::vector<std::size_t>& sizes, std::size_t most) {
  std::vector<std::size_t> places(sizes.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::stable_sort(places.begin(), places.end(),
                   [&](std::size_t a, std::size_t b) { return sizes[a] > sizes[b]; });
  places.resize(std::min(places.size(), most));
  std::sort(places.begin(), places.end());
  return places;
}

/// Rows of these clusters by class, and those without a class: a line for one cluster, or for several
/// together.
struct CrossLine {
  std::string name;
  std::vector<std::size_t> counts;
  std::size_t unknown = 0;
};

void add_cluster(CrossLine& line, const CrossTable& table, std::size_t cluster) {
  line.counts.resize(table.classes.size());
  for (std::size_t c = 0; c < line.counts.size(); ++c) line.counts[c] += table.counts[cluster][c];
  line.unknown += table.unknown[cluster];
}

/// Clusters against classes; of many the largest, so that lines stay readable. Unassigned rows share a line.
std::string cross_table_text(const SavedRun& run, std::size_t level, const Consensus& estimate,
                             const std::vector<bool>& unassigned, const CrossTable& table,
                             const std::string& truth, const Context& context) {
  constexpr std::size_t kMostClusters = 40;
  constexpr std::size_t kMostClasses = 12;
  constexpr std::size_t kNameWidth = 34;
  const std::vector<std::size_t> classes = largest(table.class_sizes(), kMostClasses);
  const std::vector<bool> alone = clusters_of_rows(estimate, unassigned);
  const std::vector<ClusterName> names = name_level(run, level, estimate.labels);
  std::vector<std::size_t> sizes = cluster_sizes(estimate.labels);
  CrossLine together;
  together.name = "unassigned";
  for (std::size_t cluster = 0; cluster < sizes.size(); ++cluster) {
    if (!alone[cluster]) continue;
    add_cluster(together, table, cluster);
    sizes[cluster] = 0;
  }
  const auto shown = sizes.size() - static_cast<std::size_t>(std::count(sizes.begin(), sizes.end(), 0));
  std::vector<CrossLine> rows;
  for (const std::size_t cluster : largest(sizes, std::min(shown, kMostClusters))) {
    const std::string number = cluster_number(run, {level, static_cast<Label>(cluster)});
    CrossLine& line = rows.emplace_back();
    line.name = fmt::format("{} {}", number, names[cluster].name);
    add_cluster(line, table, cluster);
  }
  if (!together.counts.empty()) rows.push_back(std::move(together));
  const bool has_unknown =
      std::any_of(table.unknown.begin(), table.unknown.end(), [](std::size_t n) { return n > 0; });
  const bool has_more = classes.size() < table.classes.size();
  std::vector<std::string> heads{fmt::format("rows by cluster and {}", fit_to_width(truth, 16))};
  for (const std::size_t c : classes) heads.push_back(fit_to_width(table.classes[c], 16));
  if (has_more) heads.push_back(fmt::format("{} more", table.classes.size() - classes.size()));
  if (has_unknown) heads.emplace_back("unknown");
  std::vector<std::vector<std::string>> lines{heads};
  for (const CrossLine& row : rows) {
    std::vector<std::string> line{fit_to_width(row.name, kNameWidth)};
    const auto add_count = [&line](std::size_t count) {
      line.push_back(count == 0 ? "." : fmt::format("{}", count));
    };
    std::size_t rest = std::accumulate(row.counts.begin(), row.counts.end(), std::size_t{0});
    for (const std::size_t c : classes) {
      add_count(row.counts[c]);
      rest -= row.counts[c];
    }
    if (has_more) add_count(rest);
    if (has_unknown) add_count(row.unknown);
    lines.push_back(std::move(line));
  }
  TextTable aligned(std::vector<std::size_t>(heads.size()));
  for (std::vector<std::string>& line : lines) aligned.add(std::move(line));
  std::string text = "\n" + aligned.text(context);
  if (shown > kMostClusters)
    text += fmt::format("and {} (--json has all)\n", counted(shown - kMostClusters, "smaller cluster"));
  return text;
}

struct ScoreArguments {
  std::string path, data, labels_file;
  std::vector<std::string> truth;
  PlacementFlags selecting;
};

int score_run(const ScoreArguments& arguments, const Context& context) {
  const Analysis analysis = open_run(arguments.path, context);
  if (analysis.is_classifier() && (!arguments.truth.empty() || !arguments.selecting.select.empty()))
    context.note("note: labels are scored all together; --truth, --loss and --select belong to clusterings");
  if (analysis.is_classifier()) return score_labels(analysis, arguments.data, arguments.labels_file, context);
  if (!arguments.data.empty() || !arguments.labels_file.empty())
    fail(ErrorCode::usage,
         "the run learned no labels: known groups are named by --truth COLUMN or FILE:COLUMN");
  const EstimateRequest request = arguments.selecting.request();
  std::vector<std::string> truths = arguments.truth;
  const SavedRun& run = analysis.run();
  if (truths.empty())
    for (const Column& column : run.contents().truth.columns) truths.push_back(column.name);
  if (truths.empty()) fail(ErrorCode::usage, "name the known labels: --truth COLUMN, or --truth FILE:COLUMN");
  ordered_json answer = ordered_json::array();
  std::string text = caveat_line(analysis, context);
  for (const std::string& truth : truths) {
    const Column column = truth_column(run, truth);
    const Labels known = known_labels(column);
    std::string tables;
    bool has_unassigned = false;
    ordered_json levels = ordered_json::array();
    text += context.bold(fmt::format("{:<24}{:>6}{:>10}{:>8}{:>8}{:>8}{:>8}{:>16}\n",
                                     fmt::format("against {}", truth), "level", "clusters", "F", "ARI", "NMI",
                                     "VI", "ARI of draws"));
    for (std::size_t level = 1; level <= run.levels(); ++level) {
      const Consensus& estimate = analysis.consensus(level, request);
      const Scores scores = score(known, estimate.labels);
      const LabelMatrix draws = run.labels(level, 100'000'000);
      double mean = 0.0;
      double squares = 0.0;
      for (std::size_t draw = 0; draw < draws.draws(); ++draw) {
        const double ari = adjusted_rand_index(known, draws[draw]);
        mean += ari;
        squares += ari * ari;
      }
      const double count = static_cast<double>(draws.draws());
      mean /= count;
      const double sd = std::sqrt(std::max(0.0, squares / count - mean * mean));
      const std::vector<bool> unassigned = arguments.selecting.unassigned(estimate);
      std::size_t alone = 0;  // of the rows whose label is known, which the scores are about
      for (std::size_t row = 0; row < unassigned.size(); ++row)
        alone += unassigned[row] && known[row] >= 0 ? 1 : 0;
      has_unassigned = has_unassigned || alone > 0;
      ordered_json entry{{"level", level}};
      entry.update(to_json(scores));
      entry["clusters"] = scores.clusters - alone;
      entry["unassigned"] = alone;
      entry["draws_ari_mean"] = mean;
      entry["draws_ari_sd"] = sd;
      const CrossTable table = cross_table(column, estimate.labels);
      entry["table"] = to_json(table);
      tables += cross_table_text(run, level, estimate, unassigned, table, truth, context);
      levels.push_back(entry);
      text +=
          fmt::format("{:<24}{:>6}{:>10}{:>8.3f}{:>8.3f}{:>8.3f}{:>8.3f}{:>9.3f} ± {:.3f}\n", "", level,
                      scores.clusters - alone, scores.f_measure, scores.ari, scores.nmi, scores.vi, mean, sd);
    }
    answer.push_back({{"truth", truth}, {"levels", levels}});
    if (has_unassigned)
      text += context.dim(
          "Unassigned rows are not counted as clusters; every score takes each as a group of its own.\n");
    text += tables;
  }
  ordered_json scores{{"model", run.model().name},
                      {"verdict", analysis.verdict().sentence},
                      {"trusted", analysis.verdict().trusted},
                      {"scores", answer}};
  if (run.levels() > 1) {
    const QualityReport quality =
        quality_report(analysis, analysis.hierarchy(arguments.selecting.selection()));
    scores["quality"] = quality_json(quality);
    text += "\n" + quality_text(quality, context);
  }
  add_exactness(analysis, scores);
  if (context.json)
    write_json("", scores);
  else
    write_text("", text);
  return 0;
}

}  // namespace

void add_score(CLI::App& application, Context& context) {
  CLI::App* command =
      application.add_subcommand("score", "agreement with known labels: F-measure, ARI, NMI, VI");
  auto arguments = std::make_shared<ScoreArguments>();
  command->add_option("run", arguments->path, "run file")->required();
  command->add_option("data", arguments->data, "rows with known labels, to score a classifier by");
  command->add_option("--labels-file", arguments->labels_file, "file of their labels, if not in the data");
  command
      ->add_option("--truth", arguments->truth,
                   "truth column of the run, or FILE:COLUMN [all truth columns of the run]")
      ->allow_extra_args(false);
  arguments->selecting.add_to(*command);
  command->callback(
      [=, &context] { context.run = [=, &context] { return score_run(*arguments, context); }; });
}

}  // namespace coppice::app
