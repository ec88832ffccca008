#include "coppice/model/rbhmc/inference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "coppice/base/byte_stream.hpp"
#include "coppice/model/rbhmc/replica.hpp"
#include "coppice/model/state_header.hpp"
#include "coppice/model/tempering.hpp"
#include "coppice/model/trace_table.hpp"

namespace coppice::rbhmc {
namespace {

// Versions 1 to 3 did not count moves of blocks.
constexpr StateHeader kStateHeader("rbhm", 4);
/// With learned hyper-parameters behind the concentrations.
constexpr StateHeader kLearnedStateHeader("rbhm", 5);
/// With filled cells behind these.
constexpr StateHeader kFilledStateHeader("rbhm", 6);

/// What is measured for the traces of a draw.
struct Figures {
  double collapsed, complete, hinge, regularizer;
  const State& state;
};

TraceTable<Figures> trace_table(const Options& options) {
  const std::size_t levels = options.levels;
  std::vector<TraceTable<Figures>::Row> rows{
      {"log_joint", "regularized log joint density, component parameters integrated out (rcdll_c)",
       [](const Figures& f) { return f.collapsed - f.regularizer; }},
      {"cdll_c", "log joint density without the regularizer, component parameters integrated out",
       [](const Figures& f) { return f.collapsed; }},
      {"rcdll", "regularized complete-data log likelihood, component parameters drawn",
       [](const Figures& f) { return f.complete - f.regularizer; }},
      {"cdll", "complete-data log likelihood, component parameters drawn",
       [](const Figures& f) { return f.complete; }},
      options.gated()
          ? TraceTable<Figures>::Row{"log_gates",
                                     "sum of the log gates of all rows: nats that the discriminants know "
                                     "about the paths",
                                     [](const Figures& f) { return -2.0 * f.hinge; }}
      : options.by_evidence()
          ? TraceTable<Figures>::Row{"log_bayes_factors",
                                     "sum over splits, each times the power of its level, of the log Bayes "
                                     "factor of a Gaussian for each child against one for all",
                                     [](const Figures& f) { return -2.0 * f.hinge; }}
          : TraceTable<Figures>::Row{"hinge",
                                     "sum of the hinge losses of all rows: how far siblings fall short of "
                                     "the margin",
                                     [](const Figures& f) { return f.hinge; }},
      {"components", "number of components",
       [](const Figures& f) { return static_cast<double>(f.state.components().clusters()); }},
      {"root_remainder", "weight of components not yet used, at the root",
       [](const Figures& f) { return f.state.rest(LevelTree::kRoot); }},
      {"alpha", "concentration of the tree: larger gives more branches",
       [](const Figures& f) { return f.state.alpha(); }},
      {"gamma", "concentration of a node's weights around its parent's",
       [](const Figures& f) { return f.state.gamma(); }},
      {"gamma0", "concentration of the weights at the root: larger gives more components",
       [](const Figures& f) { return f.state.gamma0(); }}};
  if (options.learns_discriminant_sd)
    rows.push_back({"discriminant_sd", "prior standard deviation of the discriminants",
                    [](const Figures& f) { return f.state.margins().sd(); }});
  for (std::size_t level = 1; level <= levels; ++level)
    rows.push_back(
        {fmt::format("clusters_{}", level), fmt::format("number of clusters at level {}", level),
         [level](const Figures& f) { return static_cast<double>(f.state.tree().at_level(level).size()); }});
  for (std::size_t level = 1; level <= levels; ++level)
    rows.push_back({fmt::format("entropy_{}", level),
                    fmt::format("entropy of the cluster sizes at level {}, in nats", level),
                    [level](const Figures& f) {
                      const LevelTree& tree = f.state.tree();
                      std::vector<std::size_t> sizes;
                      for (const NodeId node : tree.at_level(level)) sizes.push_back(tree.size(node));
                      return partition_entropy(sizes, static_cast<double>(tree.rows()));
                    }});
  return TraceTable<Figures>(std::move(rows));
}

class NestedMixtureSampler final : public Inference {
 public:
  explicit NestedMixtureSampler(const Problem& problem)
      : options_(problem.parameters),
        rows_(problem.rows->size()),
        ladder_(options_.temperatures),
        traces_(trace_table(options_)) {
    for (std::size_t r = 0; r < ladder_.size(); ++r) {
      replicas_.push_back(std::make_unique<Replica>(problem, options_));
      replicas_.back()->state().margins().set_penalty(penalty_of(r));
    }
  }

  void init(const StreamName& name) override {
    for (std::size_t r = 0; r < replicas_.size(); ++r) replicas_[r]->init(name_of(name, r));
    ladder_.clear_counts();
    last_ = name;
  }

  void step(const StreamName& name) override {
    for (std::size_t r = 0; r < replicas_.size(); ++r) replicas_[r]->step(name_of(name, r));
    ladder_.exchange(
        name,
        [&](std::size_t r) {
          return 2.0 * (penalty_of(r + 1) - penalty_of(r)) *
                 (replicas_[r + 1]->state().hinge() - replicas_[r]->state().hinge());
        },
        [&](std::size_t r) {
          std::swap(replicas_[r]->state(), replicas_[r + 1]->state());
          for (const std::size_t changed : {r, r + 1}) set_penalty(*replicas_[changed], penalty_of(changed));
        });
    last_ = name;
    from_prior_ = false;
  }

  void rebuild() override {
    for (const std::unique_ptr<Replica>& replica : replicas_) replica->state().rebuild();
  }

  double log_joint() const override { return state().log_collapsed() - regularizer(state().hinge()); }
  double log_joint_from_scratch() const override {
    state().audit();
    return state().log_collapsed_from_scratch() -
           regularizer(state().margins().total_from_scratch(state().tree()));
  }

  void labels(std::span<Label> labels) const override { state().tree().labels(labels); }

  void traces(std::span<double> values) const override {
    Stream stream(last_, Purpose::scores);
    const double hinge = state().hinge();
    traces_.write(
        {state().log_collapsed(), state().draw_log_complete(stream), hinge, regularizer(hinge), state()},
        values);
    state().family().hyper_traces(values.data() + traces_.size());
  }

  std::vector<MoveStatistics> moves() const override {
    std::vector<MoveStatistics> list = replicas_.front()->moves();
    ladder_.add_moves(list);
    return list;
  }

  std::string payload() const override { return state().payload(); }

  std::string save() const override {
    ByteWriter bytes;
    header().write(bytes);
    ladder_.save(bytes);
    for (std::size_t r = 0; r < replicas_.size(); ++r) {
      const std::string one = replicas_[r]->save();
      // The last one takes what is left.
      if (r + 1 < replicas_.size()) bytes.put(static_cast<std::uint64_t>(one.size()));
      bytes.put(one.data(), one.size());
    }
    return bytes.take();
  }

  void load(std::string_view bytes) override {
    ByteReader reader(bytes);
    // States without a header have the chain itself last, and no counts of moves of blocks.
    const bool chain_first = header().check_if_there(reader);
    ladder_.load(reader);
    if (!chain_first) ladder_.reverse_counts();
    for (std::size_t i = 0; i < replicas_.size(); ++i) {
      const std::size_t length = i + 1 < replicas_.size() ? reader.get<std::uint64_t>() : reader.left();
      replicas_[chain_first ? i : replicas_.size() - 1 - i]->load(reader.take(length), chain_first);
    }
    from_prior_ = false;
  }

  void draw_prior(const StreamName& name) override {
    for (std::size_t r = 0; r < replicas_.size(); ++r) replicas_[r]->draw_prior(name_of(name, r));
    last_ = name;
    from_prior_ = true;
  }

  /// After draw_prior: data from the plain mixture. After a step: data given tree, components and
  /// discriminants under the regularized joint law of shape and data, each row by rejection, or under
  /// evidence by a Metropolis step; the parameters are drawn given the data there were.
  void draw_data(const StreamName& name, Rows& rows) override {
    const State& from = state();
    const Family& family = from.components().family();
    const Clusters& components = from.components();
    std::vector<double> empty(family.stats_size());
    family.clear(empty.data());
    Stream stream(name, Purpose::prior_data);
    std::vector<std::vector<double>> thetas(components.sizes().size());
    for (std::size_t slot = 0; slot < thetas.size(); ++slot) {
      thetas[slot].resize(family.theta_size());
      const auto label = static_cast<Label>(slot);
      if (options_.drawn_theta && !from_prior_ && components.size(label) > 0)
        std::copy_n(from.theta(label), family.theta_size(), thetas[slot].data());
      else
        family.draw_theta(from_prior_ ? empty.data() : components.stats(label), stream, thetas[slot].data());
    }
    Margins scorer = from.margins();
    // The feature of a missing cell is a mean over rows: rows would not be independent given the tree.
    if (!from_prior_ && scorer.active() && from.filled().any())
      fail(ErrorCode::bug, "rbhmc: data with missing cells cannot be drawn under a penalty");
    LevelScores scores(options_.levels);
    for (std::size_t row = 0; row < rows_; ++row) {
      const double* theta = thetas[static_cast<std::size_t>(components.label(row))].data();
      if (!from_prior_ && scorer.active() && scorer.by_evidence()) {
        redraw_row(theta, row, stream, rows, scorer);
        continue;
      }
      while (true) {
        family.draw(theta, stream, rows[row]);
        if (from_prior_ || !scorer.active()) break;
        scorer.row_changed(row);
        if (scorer.gated()) {
          const Margins::RowGates gates = scorer.row_gates(row, from.tree());
          if (std::log(draw_uniform(stream)) < scorer.penalty() * (gates.total - gates.bound)) break;
          continue;
        }
        scorer.scores_at(row, from.tree(), from.tree().leaf(row), nullptr, scores);
        // The centered hinge can be negative, down to minus the margin at every level.
        const double least =
            scorer.centered() ? -scorer.margin() * static_cast<double>(options_.levels) : 0.0;
        if (std::log(draw_uniform(stream)) < -2.0 * scorer.penalty() * (scorer.hinge(scores) - least)) break;
      }
    }
    // Cells that were missing are missing again; what was drawn for them is part of the state.
    for (const std::unique_ptr<Replica>& replica : replicas_) replica->state().adopt(rows);
    for (const FilledRows::Cell& cell : from.filled().cells()) rows[cell.row][cell.column] = kMissing;
    for (std::size_t r = replicas_.size(); r-- > 0;) {
      replicas_[r]->state().data_changed();
      // Those that made the data are forgotten: given the data, these have the same law.
      if (options_.drawn_theta && from_prior_) replicas_[r]->state().draw_thetas(stream);
    }
  }

 private:
  const State& state() const { return replicas_.front()->state(); }
  const StateHeader& header() const {
    if (state().filled().any()) return kFilledStateHeader;
    return state().learns_hyper() ? kLearnedStateHeader : kStateHeader;
  }
  double regularizer(double hinge) const { return 2.0 * options_.penalty * hinge; }
  /// Rows of one node share a Gaussian whose parameters are integrated out, so a row depends on the others:
  /// it is proposed from its component and kept as it was if that is refused.
  void redraw_row(const double* theta, std::size_t row, Stream& stream, Rows& rows, Margins& scorer) const {
    const std::vector<double> kept(rows[row], rows[row] + rows.width);
    const double before = scorer.total(state().tree());
    state().components().family().draw(theta, stream, rows[row]);
    const auto rescore = [&] {
      scorer.row_changed(row);
      scorer.refresh_all(state().tree());
    };
    rescore();
    if (std::log(draw_uniform(stream)) < -2.0 * scorer.penalty() * (scorer.total(state().tree()) - before))
      return;
    std::copy(kept.begin(), kept.end(), rows[row]);
    rescore();
  }

  double penalty_of(std::size_t replica) const { return options_.penalty * ladder_.power(replica); }
  static void set_penalty(Replica& replica, double penalty) {
    State& state = replica.state();
    const bool was_active = state.margins().active();
    state.margins().set_penalty(penalty);
    if (!was_active && state.margins().active()) state.margins().refresh_all(state.tree());
  }
  /// Every replica has streams of its own; the chain itself those of its name.
  StreamName name_of(const StreamName& name, std::size_t replica) const {
    return {name.seed, name.chain | (std::uint64_t{replica} << 32), name.sweep};
  }

  Options options_;
  std::size_t rows_;
  TemperingLadder ladder_;
  std::vector<std::unique_ptr<Replica>> replicas_;  // the first one is the chain itself
  TraceTable<Figures> traces_;
  StreamName last_;
  bool from_prior_ = false;
};

}  // namespace

std::unique_ptr<Inference> make_inference(const Problem& problem) {
  return std::make_unique<NestedMixtureSampler>(problem);
}

std::vector<TraceInfo> traces(const ParameterValues& parameters) {
  return trace_table(Options(parameters)).list();
}

std::size_t chain_bytes(const Problem& problem) {
  const std::size_t rows = problem.rows->size();
  const Options options(problem.parameters);
  const Margins margins(problem, options);
  // Scores of every level, features, labels; 256 components and nodes are far more than most data ask for.
  const std::size_t per_row = options.levels * (2 * sizeof(double) + sizeof(NodeId)) +
                              margins.stride() * sizeof(double) + 4 * sizeof(double);
  const std::size_t slots = std::min<std::size_t>(rows, 256);
  return options.temperatures.size() * (rows * per_row + Clusters::bytes(*problem.family, rows, slots) +
                                        3 * slots * slots * sizeof(double));
}

}  // namespace coppice::rbhmc
