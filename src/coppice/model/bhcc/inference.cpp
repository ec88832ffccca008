#include "coppice/model/bhcc/inference.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "coppice/base/byte_stream.hpp"
#include "coppice/base/error.hpp"
#include "coppice/base/parallel.hpp"
#include "coppice/cluster/best_pairs.hpp"
#include "coppice/family/registry.hpp"
#include "coppice/model/bhcc/column_division.hpp"
#include "coppice/model/bhcc/column_forest.hpp"
#include "coppice/model/bhcc/column_merging.hpp"
#include "coppice/model/drawn_clusters.hpp"
#include "coppice/model/drawn_views.hpp"
#include "coppice/model/state_header.hpp"

namespace coppice::bhcc {
namespace {

constexpr StateHeader kStateHeader("bhcc", 1);
/// Columns that get their trees in one step; not a function of the threads.
constexpr std::size_t kColumnsOfStep = 32;
/// With more views than these consolidation would cost more than the fit.
constexpr std::size_t kMostViewsConsolidated = 256;
/// Columns by which hyper-parameters are chosen.
constexpr std::size_t kMostColumnsOfBound = 64;

Options options_of(const Problem& problem) {
  return {problem.parameters, problem.rows->size(), problem.rows->data_width()};
}

/// What is measured for the traces of a draw.
struct Figures : ViewFigures {
  Figures(double log_joint, const Views& views, std::size_t trees)
      : ViewFigures(views), log_joint(log_joint), trees(static_cast<double>(trees)) {}
  double log_joint, trees;
};

const TraceTable<Figures>& trace_table() {
  static const TraceTable<Figures> table = [] {
    auto rows = view_traces<Figures>("lower bound on the log evidence of the data");
    rows.push_back({"trees", "trees over the columns; 1 when the fit is finished",
                    [](const Figures& f) { return f.trees; }});
    return TraceTable<Figures>(std::move(rows));
  }();
  return table;
}

class CrossFit final : public Inference {
 public:
  CrossFit(const Problem& problem, const Options& options)
      : options_(options),
        table_(*problem.family, *problem.rows, "bhcc"),
        trees_(table_, options_),
        forest_(trees_),
        division_(trees_, forest_, options_.division) {}

  void init(const StreamName& name) override {
    trees_.set_name({name.seed, name.chain, 0});
    forest_ = ColumnForest(trees_);
    merging_.reset();
    planted_ = 0;
    phase_ = Phase::plant;
  }

  void step(const StreamName&) override {
    switch (phase_) {
      case Phase::plant:
        plant();
        break;
      case Phase::merge:
        if (!merging_->finished()) merging_->step();
        if (merging_->finished()) phase_ = Phase::done;
        break;
      case Phase::divide:
        division_.step();
        if (division_.finished()) phase_ = options_.consolidates ? Phase::consolidate : Phase::done;
        break;
      case Phase::consolidate:
        consolidate();
        phase_ = Phase::done;
        break;
      case Phase::done:
        break;
    }
  }

  bool finished() const override { return phase_ == Phase::done; }
  void use_threads(std::size_t threads) override { trees_.set_threads(threads); }

  /// Everything is a function of the trees' shapes alone: nothing drifts.
  void rebuild() override {}

  double log_joint() const override { return forest_.log_bound(); }
  double log_joint_from_scratch() const override { return forest_.log_bound_from_scratch(); }

  void labels(std::span<Label> labels) const override {
    const Views views = current_views();
    const Labels& rows = views.rows[views.largest()];
    std::copy(rows.begin(), rows.end(), labels.begin());
  }

  void traces(std::span<double> values) const override {
    trace_table().write({log_joint(), current_views(), forest_.dendrogram().roots().size()}, values);
  }

  std::vector<MoveStatistics> moves() const override { return {}; }

  std::string payload() const override {
    ByteWriter writer;
    forest_.cross_tree().save(writer);
    return writer.take();
  }

  std::string save() const override {
    ByteWriter writer;
    kStateHeader.write(writer);
    writer.put(trees_.name().seed);
    writer.put(trees_.name().chain);
    writer.put(static_cast<std::uint64_t>(phase_));
    forest_.save(writer);
    writer.put(static_cast<std::uint64_t>(planted_));
    if (phase_ == Phase::merge) writer.put(static_cast<std::uint64_t>(merging_->prepared()));
    if (phase_ == Phase::divide) division_.save(writer);
    return writer.take();
  }

  void load(std::string_view bytes) override {
    ByteReader reader(bytes);
    kStateHeader.check(reader);
    const auto seed = reader.get<std::uint64_t>();
    trees_.set_name({seed, reader.get<std::uint64_t>(), 0});
    const auto phase = reader.get<std::uint64_t>();
    if (phase > static_cast<std::uint64_t>(Phase::done)) refuse();
    forest_.load(reader);
    const auto planted = reader.get<std::uint64_t>();
    if (planted > table_.count()) refuse();
    planted_ = planted;
    phase_ = static_cast<Phase>(phase);
    merging_.reset();
    if (phase_ == Phase::plant &&
        (planted_ == table_.count() || forest_.dendrogram().nodes() != table_.count()))
      refuse();
    if (phase_ == Phase::merge) {
      const auto prepared = reader.get<std::uint64_t>();
      reader.end();
      start_merging();
      while (merging_->prepared() < prepared) {
        const std::size_t before = merging_->prepared();
        if (merging_->finished() || merging_->step() != Agglomeration::kNone) refuse();
        if (merging_->prepared() == before) refuse();
      }
      return;
    }
    if (phase_ == Phase::divide) division_.load(reader);
    reader.end();
  }

  void draw_prior(const StreamName& name) override {
    refuse_copies(table_.table());
    Stream stream(name, Purpose::prior_shape);
    const Crp row_prior(options_.alpha_rows, table_.rows());
    convert_to(draw_views(forest_.prior(), table_.count(), row_prior, table_.rows(), stream));
  }

  void draw_data(const StreamName& name, Rows& rows) override {
    const Views views = current_views();
    Stream stream(name, Purpose::prior_data);
    draw_cells(
        views, [&](std::size_t column) -> const Family& { return table_.family(column); }, stream, rows);
    table_.data_changed();
    convert_to(views);
  }

 private:
  enum class Phase : std::uint64_t { plant, merge, divide, consolidate, done };

  [[noreturn]] static void refuse() {
    fail(ErrorCode::bad_data, "the run file is damaged: impossible work is left");
  }

  Views current_views() const { return options_.views_of(forest_.cross_tree()); }

  void plant() {
    const std::size_t count = std::min(kColumnsOfStep, table_.count() - planted_);
    std::vector<ViewTree> views(count);
    parallel_for(count, trees_.threads(), [&](std::size_t i) {
      const std::size_t alone[] = {planted_ + i};
      views[i] = trees_.grow(alone);
    });
    for (std::size_t i = 0; i < count; ++i) forest_.set_leaf(planted_ + i, std::move(views[i]));
    planted_ += count;
    if (planted_ < table_.count()) return;
    if (options_.randomized) {
      division_.start();
      phase_ = Phase::divide;
    } else {
      start_merging();
    }
  }

  void start_merging() {
    merging_.emplace(trees_, forest_, forest_.dendrogram().roots());
    phase_ = merging_->finished() ? Phase::done : Phase::merge;
  }

  /// The views that were found as leaves of a tree of their own; kept if its bound is larger.
  void consolidate() {
    const Labels labels = options_.clusters_of(TreePosterior(forest_.dendrogram()));
    const std::vector<ColumnForest::Node> nodes = nodes_of_views(forest_.dendrogram(), labels);
    if (nodes.size() < 2 || nodes.size() > kMostViewsConsolidated) return;
    ColumnForest other = ColumnForest::of_leaves(forest_);
    std::vector<ColumnForest::Node> leaves;
    for (const ColumnForest::Node node : nodes) {
      const std::vector<std::size_t> columns = forest_.columns_of(node);
      leaves.push_back(
          other.block(std::vector<std::uint32_t>(columns.begin(), columns.end()), forest_.view(node)));
    }
    ColumnMerging(trees_, other, leaves).run();
    if (other.log_bound() > forest_.log_bound()) forest_ = std::move(other);
  }

  /// The forest whose only views and clusters these are; what is left to do is to merge it.
  void convert_to(const Views& views) {
    merging_.reset();
    forest_.convert_to(views);
    planted_ = table_.count();
    start_merging();
  }

  Options options_;
  TableColumns table_;
  ViewTrees trees_;
  ColumnForest forest_;
  ColumnDivision division_;
  std::optional<ColumnMerging> merging_;
  std::size_t planted_ = 0;
  Phase phase_ = Phase::plant;
};

/// Evenly spaced columns; those whose family leaves the share open come first.
std::vector<std::size_t> columns_of_bound(const Family& family, std::size_t columns) {
  std::vector<std::size_t> real, others;
  for (std::size_t cell = 0; cell < columns; ++cell) {
    const std::size_t alone[] = {cell};
    const std::unique_ptr<Family> own = family.of_cells(alone);
    const bool has_share = own != nullptr && family_by_name(own->name()).has_parameter("within_fraction");
    (has_share ? real : others).push_back(cell);
  }
  std::vector<std::size_t> chosen;
  const auto take = [&](const std::vector<std::size_t>& from, std::size_t most) {
    const std::size_t count = std::min(most, from.size());
    for (std::size_t i = 0; i < count; ++i) chosen.push_back(from[i * from.size() / count]);
  };
  take(real, kMostColumnsOfBound);
  take(others, kMostColumnsOfBound - chosen.size());
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace

std::vector<TraceInfo> traces(const ParameterValues&) { return trace_table().list(); }

std::unique_ptr<Inference> make_inference(const Problem& problem) {
  return make_inference(problem, options_of(problem));
}

std::unique_ptr<Inference> make_inference(const Problem& problem, const Options& options) {
  return std::make_unique<CrossFit>(problem, options);
}

std::size_t chain_bytes(const Problem& problem) {
  const Options options = options_of(problem);
  const std::size_t rows = problem.rows->size();
  const std::size_t columns = problem.rows->data_width();
  constexpr std::size_t kBytesOfTreeNode = 32;
  const std::size_t trees = 2 * columns * 2 * rows * kBytesOfTreeNode;
  const std::size_t merged = options.randomized ? options.division.threshold : columns;
  return TableColumns::bytes(*problem.family, rows) + trees + BestPairs::bytes(merged, true) +
         (options.reuses_trees ? reuse_bytes(options, merged, rows) : 0) +
         2 * rows * problem.family->stats_size() * sizeof(double);
}

std::size_t max_steps(const Problem& problem) {
  // Trees of columns, shapes, pairs and merges; or a division, two sides and a merge for each node.
  return 4 * problem.rows->data_width() + 4;
}

double evidence_bound(const Problem& problem) {
  const std::vector<std::size_t> cells = columns_of_bound(*problem.family, problem.rows->data_width());
  const std::unique_ptr<Family> family = family_of_cells(*problem.family, *problem.rows, cells);
  if (family == nullptr) return 0.0;  // the fit itself will say what is wrong
  const Rows rows = cells_of_rows(*problem.rows, cells);
  Options options = options_of(problem);
  options.randomized = options.divides_rows = false;
  options.reuses_trees = true;
  const std::unique_ptr<Inference> fit = make_inference({family.get(), &rows, problem.parameters}, options);
  fit->init({1, 0, 0});
  while (!fit->finished()) fit->step({1, 0, 0});
  return fit->log_joint();
}

CrossTree column_tree(const Problem& problem, std::string_view payload) {
  ByteReader reader(payload);
  CrossTree tree = CrossTree::load(reader, problem.rows->data_width(), problem.rows->size());
  reader.end();
  return tree;
}

Views views_of(const Problem& problem, std::string_view payload) {
  return options_of(problem).views_of(column_tree(problem, payload));
}

Dendrogram row_tree(const Problem& problem, std::string_view payload) {
  const CrossTree tree = column_tree(problem, payload);
  const Views views = options_of(problem).views_of(tree);
  return *tree.rows[nodes_of_views(tree.columns, views.columns)[views.largest()]];
}

}  // namespace coppice::bhcc
