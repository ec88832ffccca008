// coppice summary: can the run be trusted, what does it say.
#include <algorithm>
#include <cmath>

#include "coppice/app/answering.hpp"
#include "coppice/app/classify.hpp"
#include "coppice/app/hierarchy_text.hpp"
#include "coppice/app/progress.hpp"
#include "coppice/app/text_table.hpp"
#include "coppice/app/trust_text.hpp"
#include "coppice/app/views_text.hpp"
#include "coppice/base/counted.hpp"
#include "coppice/base/error.hpp"
#include "coppice/cluster/tree_posterior.hpp"
#include "coppice/data/text.hpp"
#include "coppice/out/answer_json.hpp"
#include "coppice/out/ascii_tree.hpp"
#include "coppice/out/hierarchy_json.hpp"
#include "coppice/out/trust_json.hpp"
#include "coppice/out/views_json.hpp"
#include "coppice/post/cluster_names.hpp"
#include "coppice/post/coclustering.hpp"

namespace coppice::app {
namespace {

using nlohmann::ordered_json;

ordered_json counts_json(const std::vector<ClusterCounts>& counts) {
  ordered_json list = ordered_json::array();
  for (const ClusterCounts& level : counts) list.push_back(to_json(level));
  return list;
}

std::string join_names(const std::vector<std::string>& names, std::size_t width) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return fit_to_width(text, width);
}

ordered_json bound_json(const Analysis& analysis, const BallBound& bound) {
  ordered_json answer{{"clusters", bound.clusters}, {"distance", bound.distance}};
  constexpr std::size_t kMostRows = 2000;  // whose labels are given
  if (analysis.run().rows() <= kMostRows) answer["labels"] = bound.labels;
  return answer;
}

ordered_json consensus_json(const Analysis& analysis, const Consensus& estimate, std::size_t level,
                            const std::vector<ClusterProfile>& profiles, const std::vector<bool>& unassigned,
                            const std::optional<BallBounds>& bounds) {
  ordered_json clusters = ordered_json::array();
  const std::vector<bool> left_out = clusters_of_rows(estimate, unassigned);
  ordered_json alone = ordered_json::array();
  for (std::size_t row = 0; row < unassigned.size(); ++row)
    if (unassigned[row]) alone.push_back(analysis.run().table().row_ids[row]);
  for (const ClusterProfile& profile : profiles) {
    if (left_out[static_cast<std::size_t>(profile.cluster)]) continue;
    ordered_json members = ordered_json::array();
    for (std::size_t row = 0; row < estimate.labels.size(); ++row)
      if (estimate.labels[row] == profile.cluster) members.push_back(analysis.run().table().row_ids[row]);
    clusters.push_back({{"cluster", profile.cluster},
                        {"size", profile.size},
                        {"confidence", profile.confidence},
                        {"name", profile.name},
                        {"described_as", profile.words},
                        {"rows", members}});
  }
  ordered_json answer{{"level", level},
                      {"clusters", estimate.clusters - alone.size()},
                      {"expected_loss", estimate.expected_loss},
                      {"ball_radius", estimate.ball_radius}};
  if (bounds)
    answer["ball"] = {{"upper", bound_json(analysis, bounds->upper)},
                      {"lower", bound_json(analysis, bounds->lower)},
                      {"horizontal", bound_json(analysis, bounds->horizontal)}};
  answer["unassigned"] = alone;
  answer["groups"] = clusters;
  return answer;
}

/// "Gentoo: flipper_length higher" if the cluster has been named.
std::string title_of(const ClusterProfile& profile) {
  return profile.name == profile.words ? profile.words : fmt::format("{}: {}", profile.name, profile.words);
}

void print_clusters(const Analysis& analysis, const Consensus& estimate,
                    const std::vector<ClusterProfile>& profiles, const std::vector<bool>& unassigned,
                    const Context& context, std::string& text) {
  const std::vector<bool> left_out = clusters_of_rows(estimate, unassigned);
  text += context.bold(fmt::format("{:>7} {:>6} {:>10}  {}\n", "cluster", "rows", "confidence",
                                   "what makes it different / members"));
  for (const ClusterProfile& profile : profiles) {
    if (left_out[static_cast<std::size_t>(profile.cluster)]) continue;
    std::vector<std::string> members;
    for (std::size_t row = 0; row < estimate.labels.size() && members.size() < 40; ++row)
      if (estimate.labels[row] == profile.cluster) members.push_back(analysis.run().table().row_ids[row]);
    text += fmt::format("{:>7} {:>6} {:>8.0f} %  {}\n", profile.cluster, profile.size,
                        100.0 * profile.confidence, fit_to_width(title_of(profile), 90));
    text += context.dim(fmt::format("{:>28}{}\n", "", join_names(members, 90)));
  }
  std::vector<std::string> alone;
  for (std::size_t row = 0; row < unassigned.size(); ++row)
    if (unassigned[row]) alone.push_back(analysis.run().table().row_ids[row]);
  if (alone.empty()) return;
  text += fmt::format("{:>7} {:>6} {:>10}  {}\n", "-", alone.size(), "",
                      "unassigned: no cluster takes them in most draws");
  text += context.dim(fmt::format("{:>28}{}\n", "", join_names(alone, 90)));
}

/// The extremes of the credible ball in a sentence.
std::string ball_text(const BallBounds& bounds) {
  return fmt::format("In this ball: {} to {} clusters; the farthest draw has {} and is {:.3f} away.\n",
                     bounds.upper.clusters, bounds.lower.clusters, bounds.horizontal.clusters,
                     bounds.horizontal.distance);
}

std::string weight_words(const SavedRun& run) {
  if (!run.contents().has_weights()) return {};
  return fmt::format(" of weight {:.0f} in all ('{}')", run.setup().rows.copies(),
                     run.contents().weights.columns.front().name);
}

/// A row of weight w counts as w of them.
double rows_stood_for(const SavedRun& run) {
  return run.contents().has_weights() ? run.setup().rows.copies() : static_cast<double>(run.rows());
}

std::string head_text(const Analysis& analysis, const Trust& trust, const Context& context) {
  const SavedRun& run = analysis.run();
  const std::string how =
      analysis.is_greedy() || analysis.is_classifier()
          ? fmt::format("One fit, seed {}, in {}.", run.config().seed, duration_words(analysis.seconds()))
          : fmt::format("{} of {} after {}, seed {}, in {}.", counted(run.config().chains, "chain"),
                        counted(run.draws_per_chain(), "draw"), counted(run.config().warmup, "warm-up sweep"),
                        run.config().seed, duration_words(analysis.seconds()));
  return verdict_lines(analysis, context) + trust_text(analysis, trust, context) + "\n" +
         fmt::format("{} on {}: {}{}, {} ({}).\n{}\n", run.model().name, run.config().data,
                     counted(run.all_rows(), "row"), weight_words(run),
                     counted(run.table().columns.size(), "column"), run.setup().plan.description(), how) +
         (run.sample_note().empty() ? "" : fmt::format("Here {}.\n", run.sample_note()));
}

/// Blocks are nodes without children, with their rows or columns.
ordered_json merges_json(const Dendrogram& tree, const char* items = "rows") {
  ordered_json merges = ordered_json::array();
  for (auto node = static_cast<Dendrogram::Node>(tree.items()); node < tree.nodes(); ++node) {
    if (tree.is_block(node)) {
      const auto members = tree.block_items(node);
      merges.push_back({{"node", node},
                        {items, std::vector<std::uint32_t>(members.begin(), members.end())},
                        {"size", tree.size(node)}});
      continue;
    }
    merges.push_back({{"node", node},
                      {"left", tree.left(node)},
                      {"right", tree.right(node)},
                      {"size", tree.size(node)},
                      {"log_odds", tree.log_odds(node)}});
  }
  return merges;
}

/// The tree of a greedy model, and the clusters of its cut.
void summarize_tree(const Analysis& analysis, const Context& context, std::string& text,
                    ordered_json& answer) {
  const SavedRun& run = analysis.run();
  const double bound = run.traces().front().front().front();
  const TreePosterior posterior(analysis.row_tree());
  const Consensus estimate = analysis.consensus(1, Selection::kVi);
  const std::vector<ClusterProfile> profiles = profile_level(run, 1, estimate, 3);
  answer["lower_bound"] = bound;
  answer["expected_clusters"] = posterior.expected_clusters();
  answer["trees"] = analysis.row_tree().roots().size();
  answer["merges"] = merges_json(analysis.row_tree());
  const std::vector<bool> none(run.rows(), false);
  answer["consensus"].push_back(consensus_json(analysis, estimate, 1, profiles, none, std::nullopt));
  text += fmt::format(
      "\nLower bound on the log evidence: {:.3f} nats ({:.4f} per row).\nFlat clusters of the tree: {}; "
      "{:.1f} on average over the partitions that cutting it can give.\n\n",
      bound, bound / rows_stood_for(run), estimate.clusters, posterior.expected_clusters());
  print_clusters(analysis, estimate, profiles, none, context, text);
}

/// A tree over columns: its views, and the row clusters of the largest.
void summarize_cross_tree(const Analysis& analysis, const Context& context, std::string& text,
                          ordered_json& answer) {
  const SavedRun& run = analysis.run();
  const double bound = run.traces().front().front().front();
  const Dendrogram& columns = analysis.cross_tree().columns;
  const TreePosterior posterior(columns);
  const ReportedViews report = report_views(run, Loss::vi);
  const Consensus estimate = analysis.consensus(1, Selection::kVi);
  const std::vector<ClusterProfile> profiles = profile_level(run, 1, estimate, 3);
  answer["lower_bound"] = bound;
  answer["expected_views"] = posterior.expected_clusters();
  answer["trees"] = columns.roots().size();
  answer["merges"] = merges_json(columns, "columns");
  answer["views"] = views_json(run, report);
  const std::vector<bool> none(run.rows(), false);
  answer["consensus"].push_back(consensus_json(analysis, estimate, 1, profiles, none, std::nullopt));
  text += fmt::format(
      "\nLower bound on the log evidence: {:.3f} nats ({:.4f} per cell).\nViews of the tree: {}; {:.1f} on "
      "average over the partitions that cutting it can give.\n\n",
      bound, bound / (rows_stood_for(run) * static_cast<double>(columns.items())), report.views.size(),
      posterior.expected_clusters());
  text += views_text(run, report, context);
  text +=
      fmt::format("\nRow clusters of the view with the most columns; for the others: coppice views {}.\n\n",
                  run.file().path());
  print_clusters(analysis, estimate, profiles, none, context, text);
}

/// One character for every number of clusters that either law has nine times in ten, or for a few numbers.
std::string count_bars(const CountLaw& law, const ClusterCounts& counts) {
  constexpr std::size_t kMostBars = 40;
  const std::size_t low = std::min(counts.prior.low, counts.posterior.low);
  const std::size_t numbers = std::max(counts.prior.high, counts.posterior.high) - low + 1;
  const std::size_t width = (numbers + kMostBars - 1) / kMostBars;
  std::vector<std::size_t> bars((numbers + width - 1) / width, 0);
  for (std::size_t i = 0; i < numbers && low - 1 + i < law.shares.size(); ++i)
    bars[i / width] += static_cast<std::size_t>(std::lround(1e6 * law.shares[low - 1 + i]));
  while (bars.size() > 1 && bars.back() == 0) bars.pop_back();
  return bars_of(bars);
}

/// Prior and posterior of the number of clusters, one below the other.
std::string counts_text(const ClusterCounts& counts, const Context& context) {
  const std::size_t low = std::min(counts.prior.low, counts.posterior.low);
  const std::size_t high = std::max(counts.prior.high, counts.posterior.high);
  std::string text = context.bold(
      fmt::format("{:<11}{:>7}{:>8}{:>14}  {} to {}\n", "clusters", "mean", "sd", "in 90 %", low, high));
  const auto add = [&](const char* name, const CountLaw& law) {
    text += fmt::format("{:<11}{:>7.1f}{:>8.1f}{:>14}  {}\n", name, law.mean, law.sd,
                        fmt::format("{} to {}", law.low, law.high), count_bars(law, counts));
  };
  add("prior", counts.prior);
  add("posterior", counts.posterior);
  if (counts.prior_dominates)
    text += counts.warning() + " Give --expect-clusters or a prior that you can defend.\n";
  return text;
}

/// How strongly each column separates the clusters; of many columns the first ones.
std::string separation_text(const std::vector<ColumnSeparation>& columns, const Context& context) {
  constexpr std::size_t kMostLines = 20;
  if (columns.empty()) return {};
  TextTable table({16, 10, 12, 10, 10, 10});
  table.add({"column", "kind", "modeled as", "overall", "within", "between"});
  for (const ColumnSeparation& column : columns) {
    if (&column - columns.data() == kMostLines) break;
    table.add({text::display(column.name, 30), std::string(kind_name(column.kind)),
               column.family + (column.is_log ? ", log" : ""), short_number(column.overall),
               short_number(column.within), fmt::format("{:.0f} %", 100.0 * column.between)});
  }
  std::string text = "\nWhat the model learned about each column:\n" + table.text(context);
  if (columns.size() > kMostLines)
    text += fmt::format("and {} more columns, which separate the clusters less (--json has all)\n",
                        columns.size() - kMostLines);
  return text + context.dim(
                    "overall, within a cluster: standard deviations in the units of the data; of categories "
                    "how often two "
                    "rows differ.\nbetween: the share of the column's variance that is between clusters (0: "
                    "it does not "
                    "separate them).\n");
}

/// Where the levels of category columns are expected, a line for each column; of many the first ones.
std::string levels_text(const std::vector<LearnedValue>& values) {
  constexpr std::size_t kMostLines = 12;
  constexpr std::size_t kMostLevels = 4;
  std::string text;
  std::size_t lines = 0;
  for (auto from = values.begin(); from != values.end();) {
    const auto end = std::find_if(from, values.end(), [&](const LearnedValue& value) {
      return value.level.empty() || value.column != from->column;
    });
    if (from == end) {
      ++from;
      continue;
    }
    std::vector<LearnedValue> levels(from, end);
    from = end;
    if (++lines > kMostLines) continue;
    std::stable_sort(levels.begin(), levels.end(),
                     [](const LearnedValue& a, const LearnedValue& b) { return a.mean > b.mean; });
    text += fmt::format("{}: ", text::display(levels.front().column, 30));
    for (std::size_t l = 0; l < std::min(levels.size(), kMostLevels); ++l)
      text += fmt::format("{}{} {:.0f} %", l == 0 ? "" : ", ", text::display(levels[l].level, 20),
                          100.0 * levels[l].mean);
    if (levels.size() > kMostLevels) text += fmt::format(", {} more", levels.size() - kMostLevels);
    text += '\n';
  }
  if (lines > kMostLines) text += fmt::format("and {} more columns (--json has all)\n", lines - kMostLines);
  return text.empty() ? text : "\nExpected frequencies of levels in a cluster:\n" + text;
}

/// The hyper-parameters of each column; of many columns the first ones.
std::string learned_text(const std::vector<LearnedValue>& values, const Context& context) {
  constexpr std::size_t kMostLines = 24;
  if (values.empty()) return {};
  TextTable table({16, 18, 20, 10, 10, 10});
  table.add({"column", "family", "hyper-parameter", "mean", "5 %", "95 %"});
  std::size_t lines = 0;
  for (const LearnedValue& value : values) {
    if (!value.level.empty() || ++lines > kMostLines) continue;
    table.add({value.column.empty() ? "all together" : text::display(value.column, 30),
               value.family + (value.is_log ? ", log" : ""), value.parameter, short_number(value.mean),
               short_number(value.q05), short_number(value.q95)});
  }
  std::string text =
      "\nLearned hyper-parameters, mean and 90 % interval of the draws:\n" + table.text(context);
  if (lines > kMostLines) text += fmt::format("and {} more (--json has all)\n", lines - kMostLines);
  text += context.dim(
      "prior_mean: where clusters are expected. cluster_sd: how wide a cluster is expected to "
      "be. Both in the units of the data,\nor on the log scale. The others: coppice families.\n");
  return text + levels_text(values);
}

/// The one level of a flat model.
void summarize_flat(const Analysis& analysis, const PlacementFlags& selecting, const Context& context,
                    std::string& text, ordered_json& answer) {
  const SavedRun& run = analysis.run();
  if (run.model().has_views()) {
    const ReportedViews report = report_views(run, loss_of(selecting.selection()));
    answer["views"] = views_json(run, report);
    text += "\n" + views_text(run, report, context);
    text +=
        fmt::format("\nRow clusters of the view with the most columns; for the others: coppice views {}.\n",
                    run.file().path());
  }
  const EstimateRequest request = selecting.request();
  const Consensus& estimate = analysis.consensus(1, request);
  const std::vector<bool> unassigned = selecting.unassigned(estimate);
  const std::optional<BallBounds> bounds = analysis.ball_bounds(1, request);
  const std::vector<ClusterProfile> profiles = profile_level(run, 1, estimate, 3);
  const std::vector<ClusterCounts> counts = cluster_counts(analysis);
  answer["consensus"].push_back(consensus_json(analysis, estimate, 1, profiles, unassigned, bounds));
  answer["cluster_counts"] = counts_json(counts);
  text += fmt::format("\nClusters: {:.1f} on average.", analysis.mean_clusters().front());
  if (const TraceSummary* trace = analysis.clusters_trace(1))
    text += fmt::format(" Nine draws in ten have {:.0f} to {:.0f}.", trace->q05, trace->q95);
  text += "\n\n";
  if (!counts.front().prior.shares.empty()) text += counts_text(counts.front(), context) + "\n";
  const auto alone = static_cast<std::size_t>(std::count(unassigned.begin(), unassigned.end(), true));
  text += partition_sentence(estimate, request, alone) + "\n" + (bounds ? ball_text(*bounds) : "") + "\n";
  print_clusters(analysis, estimate, profiles, unassigned, context, text);
  const std::vector<ColumnSeparation> columns = column_separation(analysis);
  for (const ColumnSeparation& column : columns) answer["column_separation"].push_back(to_json(column));
  text += separation_text(columns, context);
}

/// All levels of a hierarchy at a glance, the tree to report, and how tight its nodes are.
void summarize_hierarchy(const Analysis& analysis, const PlacementFlags& selecting, const Context& context,
                         std::string& text, ordered_json& answer) {
  const Selection selection = selecting.selection();
  constexpr std::size_t kMostPairRows = 5000;  // above this many rows the uncertainty of pairs is left out
  const SavedRun& run = analysis.run();
  const RunHierarchy hierarchy = run_hierarchy(analysis, selection);
  const std::vector<double> means = analysis.mean_clusters();
  const std::vector<ClusterCounts> counts = cluster_counts(analysis);
  answer["cluster_counts"] = counts_json(counts);
  text += "\n" + context.bold(fmt::format("{:>5}{:>10}{:>12}{:>12}{:>10}{:>12}{:>11}\n", "level", "clusters",
                                          "in 90 %", "prior 90 %", "reported", "largest", "uncertain"));
  answer["pairwise_uncertainty"] = ordered_json::array();
  for (std::size_t level = 1; level <= run.levels(); ++level) {
    const Consensus& estimate = analysis.consensus(level, selecting.request());
    answer["consensus"].push_back(
        consensus_json(analysis, estimate, level, profile_level(run, level, estimate, 3),
                       selecting.unassigned(estimate), analysis.ball_bounds(level, selecting.request())));
    const double uncertainty = run.rows() <= kMostPairRows
                                   ? pairwise_uncertainty(analysis.tree_draws().levels[level - 1], 0)
                                   : std::nan("");
    answer["pairwise_uncertainty"].push_back(uncertainty);
    const TraceSummary* trace = analysis.clusters_trace(level);
    const std::vector<std::size_t> sizes = cluster_sizes(estimate.labels);
    const std::size_t largest = *std::max_element(sizes.begin(), sizes.end());
    const CountLaw& prior = counts[level - 1].prior;
    text += fmt::format("{:>5}{:>10.1f}{:>12}{:>12}{:>10}{:>12}{:>11}\n", level, means[level - 1],
                        trace == nullptr ? "-" : fmt::format("{:.0f} to {:.0f}", trace->q05, trace->q95),
                        fmt::format("{} to {}", prior.low, prior.high), estimate.clusters,
                        counted(largest, "row"), short_number(uncertainty));
  }
  text += context.dim(
      "clusters: mean of the draws, and a 90 % interval, beside that of the prior alone. uncertain: pairwise "
      "uncertainty, the mean over "
      "pairs of rows of "
      "4 p (1 - p),\nwhere p is how often they share a cluster (0: every pair is certain).\n");
  for (const ClusterCounts& level : counts)
    if (level.prior_dominates) text += fmt::format("Level {}: {}\n", level.level, level.warning());
  HierarchyView view;
  view.lines = 40;
  text += "\n" + hierarchy_text(hierarchy, run, view, context);
  const QualityReport quality = quality_report(analysis, hierarchy.selected);
  text += "\n" + quality_text(quality, context);
  answer["hierarchy"] = hierarchy_json(hierarchy, run, false);
  answer["quality"] = quality_json(quality);
}

int summary(const std::string& path, const PlacementFlags& selecting, const Context& context) {
  const Analysis analysis = open_run(path, context);
  const SavedRun& run = analysis.run();
  if (!selecting.request().is_plain()) {
    refuse_classifier(analysis, "partition");
    analysis.consensus(1, selecting.request());  // refused where there is none of that kind
  }
  ordered_json answer = head_json(analysis);
  answer["clusters"] = analysis.mean_clusters();
  answer["consensus"] = ordered_json::array();
  const Trust trust = trust_of(analysis);
  answer.update(trust_json(analysis, trust));
  std::string text = head_text(analysis, trust, context);
  if (analysis.is_classifier()) {
    answer["labels"] = run.contents().labels.columns.size();
    answer["lower_bound"] = run.traces().front().front().front();
    answer["patterns"] = patterns_json(run, 3);
    text += "\n" + patterns_text(run, 3, context);
  } else if (analysis.has_column_tree())
    summarize_cross_tree(analysis, context, text, answer);
  else if (analysis.is_greedy())
    summarize_tree(analysis, context, text, answer);
  else if (run.levels() == 1)
    summarize_flat(analysis, selecting, context, text, answer);
  else
    summarize_hierarchy(analysis, selecting, context, text, answer);
  if (!analysis.is_classifier()) text += learned_text(learned_values(run), context);
  if (context.json) {
    answer["learned"] = learned_values_json(run);
    answer["traces"] = ordered_json::array();
    for (const TraceSummary& trace : analysis.traces()) answer["traces"].push_back(to_json(trace));
    answer["partition_traces"] = partition_traces_json(analysis);
    answer["moves"] = moves_json(run);
    answer["seconds"] = analysis.seconds();
    answer["data"] = run.config().data;
    answer["data_digest"] = run.contents().data_digest;
    answer["family"] = run.setup().plan.description();
    answer["version"] = run.file().meta("coppice_version");
    write_json("", answer);
  } else {
    write_text("", text);
  }
  return 0;
}

}  // namespace

void add_summary(CLI::App& application, Context& context) {
  CLI::App* command =
      application.add_subcommand("summary", "whether the run can be trusted, and what it says");
  auto path = std::make_shared<std::string>();
  auto selecting = std::make_shared<PlacementFlags>();
  command->add_option("run", *path, "run file")->required();
  selecting->add_to(*command);
  command->callback(
      [=, &context] { context.run = [=, &context] { return summary(*path, *selecting, context); }; });
}

}  // namespace coppice::app
