#include "coppice/model/bhc/inference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "coppice/base/byte_stream.hpp"
#include "coppice/base/error.hpp"
#include "coppice/base/stop.hpp"
#include "coppice/cluster/greedy_merging.hpp"
#include "coppice/cluster/row_forest.hpp"
#include "coppice/model/bhc/options.hpp"
#include "coppice/model/drawn_clusters.hpp"
#include "coppice/model/state_header.hpp"
#include "coppice/model/trace_table.hpp"

namespace coppice::bhc {
namespace {

constexpr StateHeader kStateHeader("bhc", 1);

/// What is measured for the traces of a draw.
struct Figures {
  double log_joint;
  std::vector<std::size_t> sizes;
  double rows;
  std::size_t trees;
};

const TraceTable<Figures>& trace_table() {
  static const TraceTable<Figures> table(
      {{"log_joint", "lower bound on the log evidence of the data",
        [](const Figures& f) { return f.log_joint; }},
       {"clusters", "number of clusters of the cut",
        [](const Figures& f) { return static_cast<double>(f.sizes.size()); }},
       {"entropy", "entropy of the cluster sizes, in nats",
        [](const Figures& f) { return partition_entropy(f.sizes, f.rows); }},
       {"largest_share", "share of the rows in the largest cluster",
        [](const Figures& f) {
          return static_cast<double>(*std::max_element(f.sizes.begin(), f.sizes.end())) / f.rows;
        }},
       {"trees", "trees of the forest; 1 when the fit is finished",
        [](const Figures& f) { return static_cast<double>(f.trees); }}});
  return table;
}

class GreedyFit final : public Inference {
 public:
  explicit GreedyFit(const Problem& problem)
      : options_(problem.parameters, problem.rows->size()),
        forest_(*problem.family, *problem.rows, options_.alpha),
        division_(*problem.family, *problem.rows, forest_.prior(), forest_.trees(), options_.division) {
    begin();
  }

  void init(const StreamName&) override { begin(); }

  void step(const StreamName& name) override {
    if (finished()) return;
    if (!greedy_) {
      division_.step(name, [&](RowForest::Node made) { forest_.record(made); });
      return;
    }
    const RowForest::Node made = greedy_->step();
    if (made != MergeTree::kNone) forest_.record(made);
  }

  bool finished() const override { return greedy_ ? greedy_->finished() : division_.finished(); }

  /// Statistics are functions of the trees' shapes alone: nothing drifts.
  void rebuild() override {}

  double log_joint() const override { return forest_.log_bound(); }

  double log_joint_from_scratch() const override {
    RowForest fresh(forest_.family(), forest_.rows(), options_.alpha);
    fresh.rebuild(forest_.dendrogram());
    return fresh.log_bound();
  }

  void labels(std::span<Label> labels) const override {
    const Labels clusters = options_.clusters_of(TreePosterior(forest_.dendrogram()));
    std::copy(clusters.begin(), clusters.end(), labels.begin());
  }

  void traces(std::span<double> values) const override {
    trace_table().write(
        {log_joint(), cluster_sizes(options_.clusters_of(TreePosterior(forest_.dendrogram()))),
         static_cast<double>(forest_.rows().size()), forest_.dendrogram().roots().size()},
        values);
  }

  std::vector<MoveStatistics> moves() const override { return {}; }

  std::string payload() const override {
    ByteWriter writer;
    forest_.dendrogram().save(writer);
    return writer.take();
  }

  std::string save() const override {
    ByteWriter writer;
    kStateHeader.write(writer);
    forest_.dendrogram().save(writer);
    writer.put(static_cast<std::uint64_t>(greedy_ ? 1 : 0));
    if (greedy_)
      writer.put(static_cast<std::uint64_t>(greedy_->started()));
    else
      division_.save(writer, [&](RowForest::Node node) { return forest_.number_of(node); });
    return writer.take();
  }

  void load(std::string_view bytes) override {
    ByteReader reader(bytes);
    kStateHeader.check(reader);
    const Dendrogram shape = Dendrogram::load(reader, forest_.rows().size());
    const auto is_greedy = reader.get<std::uint64_t>();
    forest_.rebuild(shape);
    if (is_greedy == 1) {
      const auto started = reader.get<std::uint64_t>();
      reader.end();
      start_greedy();
      if (started > shape.roots().size())
        fail(ErrorCode::bad_data, "checkpoint has {} scored trees of {}", started, shape.roots().size());
      while (greedy_->started() < started) greedy_->step();
      return;
    }
    if (!options_.randomized) fail(ErrorCode::bad_data, "checkpoint of a randomized fit, which this is not");
    greedy_.reset();
    division_.load(reader, [&](std::uint32_t number) {
      if (number >= forest_.dendrogram().nodes() || forest_.dendrogram().parent(number) != Dendrogram::kNone)
        fail(ErrorCode::bad_data, "checkpoint refers to tree {}, which does not exist", number);
      return forest_.planted(number);
    });
    reader.end();
  }

  void draw_prior(const StreamName& name) override {
    refuse_copies(forest_.rows());
    Stream stream(name, Purpose::prior_shape);
    Labels labels(forest_.rows().size());
    forest_.prior().draw_partition(stream, labels);
    become_blocks(labels);
  }

  void draw_data(const StreamName& name, Rows& rows) override {
    Labels labels(rows.size());
    this->labels(labels);
    Stream stream(name, Purpose::prior_data);
    draw_clusters(forest_.family(), labels, cluster_sizes(labels).size(), stream, rows);
    become_blocks(labels);
  }

 private:
  void begin() {
    forest_.clear();
    if (options_.randomized) {
      std::vector<std::uint32_t> all(forest_.rows().size());
      std::iota(all.begin(), all.end(), 0U);
      greedy_.reset();
      division_.start(all);
    } else {
      start_greedy();
    }
  }

  void start_greedy() {
    greedy_.emplace(forest_.family(), forest_.prior(), forest_.trees(), forest_.plant(),
                    options_.keeps_scores);
  }

  /// The forest whose only partition these labels are; what is left to do is to merge it.
  void become_blocks(const Labels& labels) {
    std::vector<std::vector<std::uint32_t>> members(cluster_sizes(labels).size());
    for (std::uint32_t row = 0; row < labels.size(); ++row)
      members[static_cast<std::size_t>(labels[row])].push_back(row);
    forest_.clear();
    for (const std::vector<std::uint32_t>& rows : members)
      if (rows.size() > 1) forest_.record(forest_.trees().block(rows));
    start_greedy();
  }

  Options options_;
  RowForest forest_;
  std::optional<GreedyMerging> greedy_;
  RandomizedMerging division_;
};

}  // namespace

std::vector<TraceInfo> traces(const ParameterValues&) { return trace_table().list(); }

std::unique_ptr<Inference> make_inference(const Problem& problem) {
  return std::make_unique<GreedyFit>(problem);
}

std::size_t chain_bytes(const Problem& problem) {
  const std::size_t rows = problem.rows->size();
  const Options options(problem.parameters, rows);
  const std::size_t trees = MergeTree::bytes(*problem.family, 2 * rows);
  return options.randomized ? trees
                            : trees + GreedyMerging::bytes(*problem.family, rows, options.keeps_scores);
}

std::size_t max_steps(const Problem& problem) {
  const Options options(problem.parameters, problem.rows->size());
  // Exact: the pairs of each row, then the merges. Randomized: a division, two sides and a merge for each
  // node.
  return std::max<std::size_t>(1, (options.randomized ? 3 : 2) * problem.rows->size());
}

double evidence_bound(const Problem& problem) {
  const std::unique_ptr<Inference> fit = make_inference(problem);
  while (!fit->finished()) {
    throw_if_stopped(problem.stop);
    fit->step({1, 0, 0});
  }
  return fit->log_joint();
}

Resolution resolve(const Problem& problem, const Settings&, std::uint64_t seed, std::size_t) {
  if (!problem.parameters.is_word("alpha-rows")) return {};
  const std::unique_ptr<Inference> fit = make_inference(problem);
  while (!fit->finished()) {
    throw_if_stopped(problem.stop);
    fit->step({seed, 0, 0});
  }
  RowForest forest(*problem.family, *problem.rows, 1.0);
  forest.rebuild(row_tree(problem, fit->payload()));
  double best = 1.0;
  double best_bound = forest.log_bound();
  for (const double alpha : {0.1, 0.3, 3.0, 10.0}) {
    forest.set_alpha(alpha);
    const double bound = forest.log_bound();
    if (bound > best_bound) {
      best = alpha;
      best_bound = bound;
    }
  }
  Resolution resolution;
  resolution.settings.emplace("alpha-rows", parse_setting(fmt::format("{}", best)));
  resolution.notes.push_back(fmt::format(
      "--alpha-rows {}: among 0.1, 0.3, 1, 3 and 10, it gives the tree for 1 the largest lower bound", best));
  return resolution;
}

Dendrogram row_tree(const Problem& problem, std::string_view payload) {
  ByteReader reader(payload);
  Dendrogram tree = Dendrogram::load(reader, problem.rows->size());
  reader.end();
  return tree;
}

}  // namespace coppice::bhc
