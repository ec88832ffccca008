#include "coppice/model/crosscat/inference.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>

#include "coppice/base/byte_stream.hpp"
#include "coppice/base/error.hpp"
#include "coppice/model/crosscat/state.hpp"
#include "coppice/model/drawn_clusters.hpp"
#include "coppice/model/drawn_views.hpp"
#include "coppice/model/state_header.hpp"
#include "coppice/model/tempering.hpp"

namespace coppice::crosscat {
namespace {

constexpr StateHeader kStateHeader("crca", 6);
/// With learned hyper-parameters before the views.
constexpr StateHeader kLearnedStateHeader("crca", 7);
/// Indices of streams: every replica has a range of its own, larger than any number of views.
constexpr std::uint64_t kStreamsOfReplica = std::uint64_t{1} << 32;

/// In the first sweeps every column is offered new views, and views split and merge in each of them:
/// chains that find too few of them early rarely find the others later.
constexpr std::uint64_t kEarlySweeps = 100;
/// After these there is a move of views in one of so many sweeps: it takes about as long as the rest of a
/// sweep.
constexpr std::uint64_t kSweepsToViewMoves = 5;

/// What is measured for the traces of a draw.
struct Figures : ViewFigures {
  Figures(double log_joint, const Views& views, const Concentrations& alpha)
      : ViewFigures(views), log_joint(log_joint), alpha(alpha) {}
  double log_joint;
  Concentrations alpha;
};

TraceTable<Figures> trace_table(const ParameterValues& parameters) {
  auto rows = view_traces<Figures>("log joint density of views, clusters, learned concentrations and data");
  if (parameters.has("learn")) {
    rows.push_back({"alpha_rows", "concentration of the row clusters of every view",
                    [](const Figures& f) { return f.alpha.rows; }});
    rows.push_back(
        {"alpha_columns", "concentration of the views", [](const Figures& f) { return f.alpha.columns; }});
  }
  return TraceTable<Figures>(std::move(rows));
}

class CrossSampler final : public Inference {
 public:
  explicit CrossSampler(const Problem& problem)
      : options_(problem.parameters),
        family_(problem.family),
        rows_(problem.rows),
        relatives_(*family_, *rows_, options_.alpha_rows.start(), problem.stop),
        ladder_(options_.temperatures),
        traces_(trace_table(problem.parameters)) {
    for (std::size_t r = 0; r < ladder_.size(); ++r) {
      columns_.push_back(std::make_unique<Columns>(*family_, *rows_, problem.stop));
      replicas_.emplace_back(*columns_.back(), options_, ladder_.power(r), problem.stop);
    }
    begin_single();
  }

  void use_threads(std::size_t threads) override {
    for (State& replica : replicas_) replica.use_threads(threads);
  }

  void init(const StreamName& name) override {
    ladder_.clear_counts();
    std::vector<double> first(hyper_size());
    family_->get_hyper(first.data());
    for (std::size_t r = 0; r < replicas_.size(); ++r) {
      replicas_[r].set_hyper(first);
      Stream stream(name, Purpose::initialize, r);
      replicas_[r].draw_prior(stream);
    }
    if (options_.starts_single) begin_single();
    for (State& replica : replicas_) replica.set_counts({});
  }

  void step(const StreamName& name) override {
    const bool is_early = name.sweep <= kEarlySweeps;
    for (std::size_t r = 0; r < replicas_.size(); ++r) {
      State& state = replicas_[r];
      for (std::size_t i = 0; i < options_.column_sweeps; ++i) {
        Stream stream(name, Purpose::structure, r * kStreamsOfReplica + i);
        state.column_sweep(stream, is_early ? 1.0 : options_.new_view_share);
      }
      if (is_early || name.sweep % kSweepsToViewMoves == 0) {
        Stream stream(name, Purpose::guided_split_merge, r);
        state.move_views(stream, options_.view_moves, name, relatives_);
      }
      // Repeated scans and moves must not use the same numbers again.
      std::uint64_t index = r * kStreamsOfReplica;
      for (std::size_t i = 0; i < options_.row_sweeps; ++i, index += rows_->data_width())
        state.row_sweep(name, index);
      index = r * kStreamsOfReplica;
      const std::size_t moves = options_.split_merge_moves_in_each(state.count());
      for (std::size_t i = 0; i < moves; ++i, index += rows_->data_width()) state.split_merge(name, index);
      if (options_.learns()) {
        Stream stream(name, Purpose::concentration, r);
        state.update_concentrations(stream);
      }
      state.update_hyper(name, r * kStreamsOfReplica);
    }
    ladder_.exchange(
        name,
        [&](std::size_t r) {
          return (ladder_.power(r) - ladder_.power(r + 1)) *
                 (replicas_[r + 1].log_tempered() - replicas_[r].log_tempered());
        },
        [&](std::size_t r) { replicas_[r].exchange(replicas_[r + 1]); });
  }

  void rebuild() override {
    for (State& replica : replicas_) replica.rebuild();
  }

  double log_joint() const override { return cold().log_joint(); }
  double log_joint_from_scratch() const override {
    Columns columns(*family_, *rows_);
    State fresh(columns, options_, 1.0);
    fresh.set_hyper(cold().hyper());
    fresh.set_concentrations(cold().concentrations());
    fresh.set(cold().views());
    return fresh.log_joint();
  }

  void labels(std::span<Label> labels) const override {
    const Views views = cold().views();
    const Labels& rows = views.rows[views.largest()];
    std::copy(rows.begin(), rows.end(), labels.begin());
  }

  void traces(std::span<double> values) const override {
    traces_.write({log_joint(), cold().views(), cold().concentrations()}, values);
  }

  std::vector<MoveStatistics> moves() const override {
    const MoveCounts counts = cold().counts();
    std::vector<MoveStatistics> list;
    const auto put = [&](bool used, const char* name, const MoveCount& count) {
      if (used) list.push_back({name, count.proposed, count.accepted});
    };
    put(options_.column_sweeps != 0, "column", counts.columns);
    put(options_.view_moves != 0, "view_split", counts.view_splits);
    put(options_.view_moves != 0, "view_merge", counts.view_merges);
    put(options_.view_moves != 0, "view_division", counts.view_divisions);
    put(options_.row_sweeps != 0, "row", counts.rows);
    put(options_.split_merge_moves != 0, "split", counts.splits);
    put(options_.split_merge_moves != 0, "merge", counts.merges);
    ladder_.add_moves(list);
    return list;
  }

  std::string payload() const override {
    ByteWriter writer;
    cold().views().save(writer);
    writer.put(cold().hyper().data(), hyper_size());
    return writer.take();
  }

  std::string save() const override {
    ByteWriter writer;
    header().write(writer);
    for (const State& replica : replicas_) writer.put(replica.counts());
    for (const State& replica : replicas_) writer.put(replica.concentrations());
    ladder_.save(writer);
    for (const State& replica : replicas_) writer.put(replica.hyper().data(), hyper_size());
    for (const State& replica : replicas_) replica.views().save(writer);
    return writer.take();
  }

  void load(std::string_view bytes) override {
    ByteReader reader(bytes);
    header().check(reader);
    std::vector<MoveCounts> counts(replicas_.size());
    reader.get(counts.data(), counts.size());
    std::vector<Concentrations> concentrations(replicas_.size());
    reader.get(concentrations.data(), concentrations.size());
    for (const Concentrations& values : concentrations)
      for (const double value : {values.rows, values.columns}) check_concentration(value);
    TemperingLadder ladder = ladder_;
    ladder.load(reader);
    std::vector<double> hyper(replicas_.size() * hyper_size());
    reader.get(hyper.data(), hyper.size());
    std::vector<Views> views;
    for (std::size_t r = 0; r < replicas_.size(); ++r)
      views.push_back(Views::load(reader, rows_->data_width(), rows_->size()));
    reader.end();
    ladder_ = ladder;
    for (std::size_t r = 0; r < replicas_.size(); ++r) {
      replicas_[r].set_hyper(std::span(hyper).subspan(r * hyper_size(), hyper_size()));
      replicas_[r].set_concentrations(concentrations[r]);
      replicas_[r].set(views[r]);
      replicas_[r].set_counts(counts[r]);
    }
  }

  void draw_prior(const StreamName& name) override {
    refuse_copies(*rows_);
    for (std::size_t r = 0; r < replicas_.size(); ++r) {
      Stream hyper(name, Purpose::prior_hyper, r);
      replicas_[r].draw_hyper_prior(hyper);
      Stream stream(name, Purpose::prior_shape, r);
      replicas_[r].draw_prior(stream);
    }
  }

  void draw_data(const StreamName& name, Rows& rows) override {
    Stream stream(name, Purpose::prior_data);
    draw_cells(
        cold().views(), [&](std::size_t column) -> const Family& { return columns_.front()->family(column); },
        stream, rows);
    for (const std::unique_ptr<Columns>& columns : columns_) columns->data_changed();
    relatives_.data_changed();
    rebuild();
  }

 private:
  const State& cold() const { return replicas_.front(); }
  std::size_t hyper_size() const { return cold().hyper().size(); }
  const StateHeader& header() const { return hyper_size() != 0 ? kLearnedStateHeader : kStateHeader; }
  void begin_single() {
    for (State& replica : replicas_)
      replica.set({Labels(rows_->data_width(), 0), {Labels(rows_->size(), 0)}});
  }

  Options options_;
  const Family* family_;  // from which learning begins
  const Rows* rows_;
  std::vector<std::unique_ptr<Columns>> columns_;  // of each replica
  Relatives relatives_;
  TemperingLadder ladder_;
  std::vector<State> replicas_;
  TraceTable<Figures> traces_;
};

}  // namespace

std::vector<TraceInfo> traces(const ParameterValues& parameters) { return trace_table(parameters).list(); }

std::unique_ptr<Inference> make_inference(const Problem& problem) {
  return std::make_unique<CrossSampler>(problem);
}

std::size_t chain_bytes(const Problem& problem) {
  const Options options(problem.parameters);
  const Family& family = *problem.family;
  const std::size_t rows = problem.rows->size();
  const std::size_t columns = problem.rows->data_width();
  // A column by itself: the family of its cell, and its cells with the log density of each and room for those
  // of a cluster.
  constexpr std::size_t kObjectsOfColumn = 1000;
  constexpr std::size_t kRowsOfColumn = 3;
  const std::size_t of_columns =
      2 * family.bytes() + columns * (kObjectsOfColumn + kRowsOfColumn * rows * sizeof(double));
  // As many views as the prior expects, one that ended, and one that is offered.
  const double alpha = options.alpha_columns.start();
  const double expected_views = 3.0 + alpha * std::log1p(static_cast<double>(columns) / alpha);
  // In the first sweep columns open more, before they find those that they share: up to 45 in tables of 1,000
  // to 20,000 columns. Each has room for all columns, and stays as a spare one.
  constexpr double kOpenedAtFirst = 7.0;
  const auto views = static_cast<std::size_t>(expected_views + kOpenedAtFirst);
  // Many columns tell nearly all rows apart, but only in the view that has most of them.
  const std::size_t most_slots = std::min(2 * rows / 3, columns / 16);
  const std::size_t of_views =
      View::bytes(family, rows, most_slots) + (views - 1) * View::bytes(family, rows, 1);
  // Tables are a column's own as soon as it learns, and each view that it has been in has a copy: in a long
  // run about half of those that last.
  const auto copies_of_tables = static_cast<std::size_t>(1.0 + 0.5 * expected_views);
  const std::size_t of_replica = of_columns + copies_of_tables * family.table_bytes() + of_views;
  return options.temperatures.size() * of_replica + of_columns + Relatives::bytes(columns);
}

Views views_of(const Problem& problem, std::string_view payload) {
  ByteReader reader(payload);
  Views views = Views::load(reader, problem.rows->data_width(), problem.rows->size());
  reader.take(problem.family->hyper_size() * sizeof(double));
  reader.end();
  return views;
}

std::vector<double> hyper_of(const Problem& problem, std::string_view payload) {
  ByteReader reader(payload);
  Views::load(reader, problem.rows->data_width(), problem.rows->size());
  std::vector<double> values(problem.family->hyper_size());
  reader.get(values.data(), values.size());
  return values;
}

}  // namespace coppice::crosscat
