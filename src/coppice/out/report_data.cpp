#include "coppice/out/report_data.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "coppice/cluster/tree_posterior.hpp"
#include "coppice/out/answer_json.hpp"
#include "coppice/out/base64.hpp"
#include "coppice/out/report_parts.hpp"
#include "coppice/out/trust_json.hpp"
#include "coppice/post/binned_coclustering.hpp"
#include "coppice/post/cluster_counts.hpp"
#include "coppice/post/known_labels.hpp"
#include "coppice/post/predict.hpp"
#include "coppice/post/report_tree.hpp"
#include "coppice/post/views.hpp"

namespace coppice {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostRows = 20'000;      // shown one by one; of more rows evenly spaced ones
constexpr std::size_t kMostCells = 2'500'000;  // of the heatmap: 13 MB of the file
constexpr std::size_t kMostBins = 400;         // of a side of the co-clustering matrix
constexpr std::size_t kMostTraceValues = 400'000;
constexpr std::size_t kMostAmbiguous = 15;
constexpr std::size_t kLabelBudget = 20'000'000;
constexpr double kLeastShare = 0.005;  // memberships below it are left out

class Collector {
 public:
  Collector(const Analysis& analysis, Selection selection)
      : analysis_(analysis), run_(analysis.run()), tree_(report_tree(analysis, selection)) {
    choose_rows();
    choose_columns();
  }

  ordered_json collect() const {
    return {{"format", 1},
            {"head", head()},
            {"columns", report_columns(run_, columns_, tree_.column_strength)},
            {"rows", report_rows(run_, shown_)},
            {"cells", report_cells(run_, shown_, columns_)},
            {"known", known()},
            {"tree", tree()},
            {"views", views()},
            {"levels", levels()},
            {"separation", column_separation_json(analysis_)},
            {"learned", learned_values_json(run_)},
            {"questions", report_questions(run_, columns_)},
            {"traces", traces()},
            {"trust", trust()},
            {"moves", moves_json(run_)},
            {"reproduce", report_reproduce(run_)}};
  }

 private:
  void choose_rows() {
    const std::size_t rows = run_.rows();
    std::vector<bool> shown(rows, rows <= kMostRows);
    if (rows > kMostRows) {
      for (std::size_t k = 0; k < kMostRows; ++k) shown[k * rows / kMostRows] = true;
      for (const ReportNode& node : tree_.nodes) shown[node.first] = true;
    }
    shown_before_.assign(rows + 1, 0);
    for (std::size_t place = 0; place < rows; ++place) {
      if (shown[place]) shown_.push_back(tree_.order[place]);
      shown_before_[place + 1] = shown_.size();
    }
    place_.assign(rows, kNotShown);
    for (std::size_t place = 0; place < shown_.size(); ++place) place_[shown_[place]] = place;
  }

  void choose_columns() {
    columns_.resize(run_.table().columns.size());
    std::iota(columns_.begin(), columns_.end(), 0U);
    // Two columns are drawn as a plane, whose axes people expect in the order of the table.
    if (columns_.size() > 2)
      std::stable_sort(columns_.begin(), columns_.end(), [&](std::size_t a, std::size_t b) {
        return tree_.column_strength[a] > tree_.column_strength[b];
      });
    columns_.resize(std::min(columns_.size(), std::max<std::size_t>(1, kMostCells / shown_.size())));
  }

  ordered_json head() const {
    ordered_json answer = report_head(analysis_);
    if (analysis_.is_greedy())
      answer["clusters"] = std::vector<double>{TreePosterior(analysis_.row_tree()).expected_clusters()};
    answer["greedy"] = analysis_.is_greedy();
    return answer;
  }

  /// Labels that were known before, and how well each level agrees with them.
  ordered_json known() const {
    ordered_json list = ordered_json::array();
    for (const Column& column : run_.contents().truth.columns) {
      const Labels labels = known_labels(column);
      std::vector<std::int32_t> codes;
      for (const std::uint32_t row : shown_) codes.push_back(labels[row]);
      ordered_json scores = ordered_json::array();
      const bool any = std::any_of(labels.begin(), labels.end(), [](Label l) { return l != kMissingTruth; });
      ordered_json tables = ordered_json::array();
      for (const ReportLevel& level : tree_.levels) {
        if (any) scores.push_back(to_json(score(labels, level.estimate.labels)));
        if (any) tables.push_back(to_json(cross_table(column, level.estimate.labels)));
      }
      list.push_back({{"name", column.name},
                      {"levels", column.levels},
                      {"codes", base64_of(std::span<const std::int32_t>(codes))},
                      {"scores", scores},
                      {"tables", tables}});
    }
    return list;
  }

  ordered_json traits(const std::vector<Trait>& traits) const {
    ordered_json list = ordered_json::array();
    for (const Trait& trait : traits) {
      ordered_json entry = to_json(trait);
      for (const char* number : {"divergence", "inside_sd", "outside_sd"})
        entry[number] = brief(entry[number].get<double>());
      // Five digits of a date's number may be hours.
      const Column* column = analysis_.run().table().find(trait.column);
      if (column == nullptr || !column->dates)
        for (const char* number : {"inside", "outside"}) entry[number] = brief(entry[number].get<double>());
      entry["kind"] = kind_name(trait.kind);
      list.push_back(std::move(entry));
    }
    return list;
  }

  std::vector<std::size_t> places(const std::vector<std::uint32_t>& rows) const {
    std::vector<std::size_t> list;
    for (const std::uint32_t row : rows)
      if (place_[row] != kNotShown) list.push_back(place_[row]);
    return list;
  }

  std::string number_of(const ReportNode& node) const {
    return node.addresses.empty() ? "" : cluster_number(run_, node.addresses.front());
  }

  /// [level, cluster] of each cluster that the node is.
  static ordered_json addresses_json(const ReportNode& node) {
    ordered_json list = ordered_json::array();
    for (const ClusterAddress& address : node.addresses) list.push_back({address.level, address.cluster});
    return list;
  }

  ordered_json tree() const {
    ordered_json nodes = ordered_json::array();
    for (const ReportNode& node : tree_.nodes) {
      ordered_json entry{{"parent", nullptr}};
      if (node.parent != ReportNode::kNoParent) entry["parent"] = node.parent;
      entry.update(ordered_json{{"children", node.children},
                                {"level", node.level},
                                {"last_level", node.last_level},
                                {"size", node.size},
                                {"first", shown_before_[node.first]},
                                {"end", shown_before_[node.first + node.size]},
                                {"height", share(node.height)},
                                {"exact", share(node.exact)},
                                {"sure", share(node.sure)},
                                {"number", number_of(node)},
                                {"addresses", addresses_json(node)},
                                {"name", node.name},
                                {"described_as", node.words},
                                {"against_siblings", traits(node.against_siblings)},
                                {"against_all", traits(node.against_all)},
                                {"exemplars", places(node.exemplars)},
                                {"outliers", places(node.outliers)}});
      nodes.push_back(std::move(entry));
    }
    return {{"hierarchy", tree_.is_hierarchy}, {"sentence", tree_.sentence}, {"nodes", nodes}};
  }

  /// The columns of a view so that those that go together most stand together: each time the one that goes
  /// best with the last.
  static std::vector<std::size_t> beside_each_other(std::vector<std::size_t> columns,
                                                    const ReportedViews& report) {
    if (report.coassignment.empty()) return columns;
    for (std::size_t k = 1; k < columns.size(); ++k) {
      const double* with_last = report.coassignment.data() + columns[k - 1] * report.columns;
      const auto next = columns.begin() + static_cast<std::ptrdiff_t>(k);
      std::iter_swap(next, std::max_element(next, columns.end(), [&](std::size_t a, std::size_t b) {
                       return with_last[a] < with_last[b];
                     }));
    }
    return columns;
  }

  /// The columns of each view and the clusters of the rows it sees; columns that are not shown are left out.
  ordered_json views() const {
    if (!run_.model().has_views()) return nullptr;
    const ReportedViews report = report_views(run_, Loss::vi);
    std::vector<std::size_t> shown_as(run_.table().columns.size(), kNotShown);
    for (std::size_t place = 0; place < columns_.size(); ++place) shown_as[columns_[place]] = place;
    ordered_json list = ordered_json::array();
    std::vector<std::size_t> in_order;  // of the table
    for (const ReportedView& view : report.views) {
      std::vector<std::size_t> places;
      for (const std::size_t column : beside_each_other(view.columns, report)) {
        if (shown_as[column] == kNotShown) continue;
        places.push_back(shown_as[column]);
        in_order.push_back(column);
      }
      if (places.empty()) continue;
      std::vector<std::int32_t> labels;
      for (const std::uint32_t row : shown_) labels.push_back(view.rows.labels[row]);
      list.push_back({{"columns", places},
                      {"cohesion", share(view.cohesion)},
                      {"clusters", view.rows.clusters},
                      {"labels", base64_of(std::span<const std::int32_t>(labels))}});
    }
    const std::size_t side = std::min(in_order.size(), kMostBins);
    std::vector<std::size_t> matrix_columns;
    for (std::size_t k = 0; k < side; ++k) matrix_columns.push_back(in_order[k * in_order.size() / side]);
    std::vector<std::uint16_t> coassignment;
    std::vector<std::size_t> places;
    for (const std::size_t a : matrix_columns) places.push_back(shown_as[a]);
    for (const double together : column_coassignment(run_, matrix_columns))
      coassignment.push_back(static_cast<std::uint16_t>(std::lround(together * 65535.0)));
    return {{"views", list},
            {"matrix_columns", places},
            {"coassignment", base64_of(std::span<const std::uint16_t>(coassignment))}};
  }

  ordered_json memberships(const std::vector<Membership>& rows) const {
    ordered_json list = ordered_json::array();
    for (const std::uint32_t row : shown_) {
      const Membership& entry = rows[row];
      ordered_json parts = ordered_json::array();
      for (std::size_t g = 0; g < entry.probabilities.size(); ++g)
        if (entry.probabilities[g] >= kLeastShare) {
          parts.push_back(g);
          parts.push_back(share(entry.probabilities[g]));
        }
      if (entry.alone >= kLeastShare) {
        parts.push_back(-1);
        parts.push_back(share(entry.alone));
      }
      list.push_back(std::move(parts));
    }
    return list;
  }

  ordered_json ambiguous(const std::vector<Membership>& rows) const {
    ordered_json list = ordered_json::array();
    for (const AmbiguousRow& row : most_ambiguous(rows, kMostAmbiguous)) {
      if (place_[row.row] == kNotShown) continue;
      list.push_back({{"row", place_[row.row]},
                      {"cluster", row.cluster},
                      {"probability", share(row.probability)},
                      {"rival", row.rival},
                      {"rival_probability", share(row.rival_probability)},
                      {"entropy", share(row.entropy)}});
    }
    return list;
  }

  ordered_json coclustering(const LabelMatrix& draws) const {
    const std::size_t bins = std::min(kMostBins, run_.rows());
    std::vector<std::uint32_t> bin_of_row(run_.rows());
    for (std::size_t place = 0; place < run_.rows(); ++place)
      bin_of_row[tree_.order[place]] = static_cast<std::uint32_t>(place * bins / run_.rows());
    std::vector<std::uint16_t> values;
    for (const double probability : binned_coclustering(draws, bin_of_row, bins, 0))
      values.push_back(static_cast<std::uint16_t>(std::lround(probability * 65535.0)));
    return {{"bins", bins}, {"values", base64_of(std::span<const std::uint16_t>(values))}};
  }

  /// [number of clusters, share] where there is any to speak of.
  static ordered_json shares_json(const CountLaw& law) {
    constexpr double kLeast = 1e-5;
    ordered_json list = ordered_json::array();
    for (std::size_t i = 0; i < law.shares.size(); ++i)
      if (law.shares[i] >= kLeast) list.push_back({i + 1, brief(law.shares[i])});
    return list;
  }

  /// [number of clusters, draws].
  static ordered_json draws_json(const CountLaw& law) {
    ordered_json list = ordered_json::array();
    for (std::size_t i = 0; i < law.shares.size(); ++i)
      if (law.shares[i] > 0.0) list.push_back({i + 1, std::lround(law.shares[i] * law.total)});
    return list;
  }

  ordered_json levels() const {
    const std::vector<ClusterCounts> counts = cluster_counts(analysis_);
    ordered_json list = ordered_json::array();
    for (std::size_t l = 0; l < tree_.levels.size(); ++l) {
      const ReportLevel& level = tree_.levels[l];
      const LabelMatrix draws = analysis_.partitions(l + 1, kLabelBudget);
      const std::vector<Membership> rows = membership(draws, level.estimate.labels);
      list.push_back({{"level", l + 1},
                      {"clusters", level.estimate.clusters},
                      {"unassigned", level.unassigned_count()},
                      {"node_of", level.node_of},
                      {"posterior", draws_json(counts[l].posterior)},
                      {"prior", shares_json(counts[l].prior)},
                      {"warning", counts[l].warning()},
                      {"membership", memberships(rows)},
                      {"ambiguous", ambiguous(rows)},
                      {"coclustering", coclustering(draws)}});
    }
    return list;
  }

  /// What is behind the verdict; null for a tree, which has no chains.
  ordered_json trust() const {
    if (analysis_.is_greedy()) return nullptr;
    ordered_json answer = trust_json(analysis_, trust_of(analysis_));
    for (ordered_json& found : answer["modes"]) {  // the page names no rows of theirs
      found.erase("rows");
      found.erase("columns");
      for (ordered_json& mode : found["modes"]) mode.erase("labels");
    }
    answer["partition_traces"] = partition_traces_json(analysis_);
    return answer;
  }

  ordered_json traces() const {
    const std::size_t draws = run_.draws_per_chain();
    const std::size_t values =
        draws * run_.config().chains * std::max<std::size_t>(1, run_.trace_names().size());
    const std::size_t step = (values + kMostTraceValues - 1) / kMostTraceValues;
    ordered_json list = ordered_json::array();
    for (std::size_t trace = 0; trace < run_.trace_names().size(); ++trace) {
      ordered_json entry = to_json(analysis_.traces()[trace]);
      entry["step"] = step;
      entry["values"] = ordered_json::array();
      for (const std::vector<double>& chain : run_.traces()[trace]) {
        ordered_json thinned = ordered_json::array();
        for (std::size_t draw = 0; draw < draws; draw += step) thinned.push_back(brief(chain[draw]));
        entry["values"].push_back(std::move(thinned));
      }
      list.push_back(std::move(entry));
    }
    return list;
  }

  static constexpr std::size_t kNotShown = static_cast<std::size_t>(-1);

  const Analysis& analysis_;
  const SavedRun& run_;
  const ReportTree tree_;
  std::vector<std::uint32_t> shown_;       // rows of the table, in the order of the tree
  std::vector<std::size_t> shown_before_;  // how many of the first rows in that order are shown
  std::vector<std::size_t> place_;         // of each row of the table among the shown
  std::vector<std::size_t> columns_;       // of the table, the most distinguishing first
};

}  // namespace

ordered_json report_data(const Analysis& analysis, Selection selection) {
  if (analysis.is_classifier()) return label_report_data(analysis);
  return Collector(analysis, selection).collect();
}

}  // namespace coppice
