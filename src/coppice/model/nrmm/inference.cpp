#include "coppice/model/nrmm/inference.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "coppice/base/byte_stream.hpp"
#include "coppice/base/error.hpp"
#include "coppice/base/stop.hpp"
#include "coppice/cluster/clusters.hpp"
#include "coppice/cluster/filled_rows.hpp"
#include "coppice/cluster/gibbs_sweep.hpp"
#include "coppice/cluster/split_merge.hpp"
#include "coppice/model/drawn_clusters.hpp"
#include "coppice/model/learned_payload.hpp"
#include "coppice/model/nrmm/block_gibbs.hpp"
#include "coppice/model/nrmm/data_parallel_inference.hpp"
#include "coppice/model/nrmm/growing_guide.hpp"
#include "coppice/model/nrmm/guide.hpp"
#include "coppice/model/nrmm/guided_split_merge.hpp"
#include "coppice/model/nrmm/mixture_traces.hpp"
#include "coppice/model/nrmm/move_numbers.hpp"
#include "coppice/model/nrmm/multiway.hpp"
#include "coppice/model/nrmm/neighbor_moves.hpp"
#include "coppice/model/nrmm/options.hpp"
#include "coppice/model/nrmm/process.hpp"
#include "coppice/model/nrmm/published.hpp"
#include "coppice/model/prior_counts.hpp"
#include "coppice/model/state_header.hpp"
#include "coppice/prior/cluster_count.hpp"

namespace coppice::nrmm {
namespace {

constexpr StateHeader kStateHeader("nrmm", 4);
/// With learned hyper-parameters and filled cells before the labels.
constexpr StateHeader kLearnedStateHeader("nrmm", 5);

/// With at least this many columns, guides of learned families are built as if columns were independent.
constexpr std::size_t kWideRows = 8;

/// Passes over the filled cells of a starting state: they begin at the columns' origins.
constexpr std::size_t kFirstPasses = 3;

/// Rows of its bucket that are updated around a row that comes in.
constexpr std::size_t kNeighbors = 4;

/// The chain's guide: a function of the data, the seed and the chain, so that it need not be stored.
Guide chain_guide(const ParameterValues& parameters, const Family& initial, const Rows& observed,
                  const StreamName& name, const std::atomic<bool>* stop) {
  // Under a learned prior, which is there for many columns too, trees of joint factors would take longer than
  // the sweeps. Fixed priors keep the trees they had.
  const bool wide = initial.hyper_size() != 0 && initial.width() >= kWideRows;
  const std::unique_ptr<Family> faster = wide ? initial.with_independent_cells() : nullptr;
  const Family& family = faster ? *faster : initial;
  const FilledRows filled(family, observed);
  const Rows& rows = filled.rows();
  const std::unique_ptr<Process> fixed = make_process(parameters, rows.size());
  Stream stream({name.seed, name.chain, 0}, Purpose::guide);
  return build_guide(family, rows, rows.size(), fixed->law(), Options(parameters, rows.size()).guide, stream,
                     stop);
}

class MixtureSampler final : public Inference, public PriorCounts {
 public:
  explicit MixtureSampler(const Problem& problem)
      : parameters_(problem.parameters),
        stop_(problem.stop),
        rows_(problem.rows->size()),
        options_(problem.parameters, rows_),
        initial_family_(problem.family),
        own_family_(problem.family->hyper_size() != 0 ? problem.family->clone() : nullptr),
        family_(own_family_ ? *own_family_ : *problem.family),
        hyper_(family_.hyper_size()),
        filled_(family_, *problem.rows),
        process_(make_process(problem.parameters, rows_, problem.rows->copies())),
        clusters_(family_, filled_.rows(), process_->law().log_join_table()),
        split_merge_(family_, filled_.rows(), process_->law(), options_.split_merge),
        neighbors_(family_, filled_.rows(), process_->law(), options_.neighbor_scans),
        blocks_(family_, filled_.rows(), process_->law()),
        guided_(family_, filled_.rows(), process_->law(), options_.guided_split_scans),
        multiway_(family_, filled_.rows(), process_->law()),
        numbers_(options_),
        log_marginal_alone_(rows_),
        traces_(trace_table(problem.parameters)) {
    if (options_.published)
      published_.emplace(family_, filled_.rows(), process_->law(), options_.published_moves,
                         options_.published_depth);
    if (filled_.any()) gibbs_.fill_in(&filled_);
    gibbs_.stop_at(stop_);
    data_changed();
  }

  void init(const StreamName& name) override {
    guide_.reset();
    numbers_.reset();
    if (own_family_) {
      initial_family_->get_hyper(hyper_.data());
      own_family_->set_hyper(hyper_.data());
    }
    filled_.reset();
    data_changed();
    switch (options_.start) {
      case Start::sequential:
        gibbs_.allocate(clusters_, name, log_marginal_alone_, process_->law().log_open());
        gibbs_.set_count({});
        break;
      case Start::guide:
        clusters_.assign(guide(name).clusters);
        break;
      case Start::single:
        clusters_.assign(Labels(rows_, 0));
        break;
    }
    for (std::size_t pass = 0; filled_.any() && pass < kFirstPasses; ++pass)
      filled_.redraw(clusters_, {name.seed ^ (pass + 1), name.chain, name.sweep});
    rebuild();
    if (published_) published_->start(clusters_);
  }

  void step(const StreamName& name) override {
    if (published_) {
      published_->step(clusters_, log_marginal_alone_, name);
      update_process(name);
      published_->prior_changed();
      return;
    }
    const auto repeat = [&](std::size_t times, Purpose purpose, auto&& move) {
      for (std::size_t i = 0; i < times; ++i) {
        throw_if_stopped(stop_);
        Stream stream(name, purpose, i);
        move(stream);
      }
    };
    const std::size_t early = early_factor(name.sweep);
    const bool is_measured = MoveNumbers::is_measured(name.sweep);
    // As many as there are in a sweep of their kind, and what that costs.
    const auto repeat_kind = [&](GroupMove kind, Purpose purpose, const auto& moves, auto&& move) {
      const std::uint64_t times = numbers_.in_sweep(kind) * early;
      const Work before = moves.work();
      repeat(times, purpose, move);
      if (is_measured) numbers_.add(kind, times, moves.work() - before);
    };
    repeat(options_.split_merge_moves * early, Purpose::split_merge,
           [&](Stream& stream) { split_merge_.step(clusters_, rows_, stream); });
    repeat_kind(GroupMove::neighbor, Purpose::neighbors, neighbors_,
                [&](Stream& stream) { neighbors_.step(clusters_, stream); });
    if (options_.is_guided()) {
      const RowTree& tree = guide(name).tree;
      repeat_kind(GroupMove::block, Purpose::blocks, blocks_,
                  [&](Stream& stream) { blocks_.step(clusters_, tree, stream); });
      repeat_kind(GroupMove::guided, Purpose::guided_split_merge, guided_,
                  [&](Stream& stream) { guided_.step(clusters_, tree, stream); });
      repeat(options_.multiway_moves, Purpose::multiway,
             [&](Stream& stream) { multiway_.step(clusters_, tree, stream); });
    }
    const MoveCount before = gibbs_.count();
    if (options_.scans_at(name.sweep))
      gibbs_.step(clusters_, name, log_marginal_alone_, process_->law().log_open());
    else {
      gibbs_.step_some(clusters_, name, log_marginal_alone_, process_->law().log_open(),
                       options_.row_updates);
      filled_.redraw(clusters_, name);
    }
    if (is_measured)
      numbers_.add_scan((gibbs_.count().proposed - before.proposed) * (clusters_.weights_size() / kLanes) +
                        2 * kWorkOfChange * (gibbs_.count().accepted - before.accepted));
    numbers_.end_sweep(name.sweep);
    update_process(name);
    update_hyper(name);
  }

  void rebuild() override {
    if (own_family_) {
      // What follows from the values must be what a loaded state will have, to the last bit.
      family_.get_hyper(hyper_.data());
      own_family_->set_hyper(hyper_.data());
    }
    clusters_.rebuild();
    if (own_family_) update_log_marginal_alone();
  }

  double log_joint() const override {
    return process_->log_prior(clusters_.sizes()) + clusters_.log_marginal() + family_.log_hyper_prior();
  }

  double log_joint_from_scratch() const override {
    Clusters fresh(clusters_.family(), clusters_.data(), process_->law().log_join_table());
    fresh.assign(clusters_.labels());
    return process_->log_prior(fresh.sizes()) + fresh.log_marginal() + family_.log_hyper_prior();
  }

  void labels(std::span<Label> labels) const override {
    std::copy(clusters_.labels().begin(), clusters_.labels().end(), labels.begin());
    canonicalize(labels);
  }

  void traces(std::span<double> values) const override {
    traces_.write({log_joint(), clusters_.sizes(), static_cast<double>(rows_), *process_}, values);
    family_.hyper_traces(values.data() + traces_.size());
  }

  std::string payload() const override {
    std::vector<double> hyper(hyper_.size());
    std::vector<double> cells(filled_.cells_size());
    family_.get_hyper(hyper.data());
    filled_.get_cells(cells.data());
    return write_learned(hyper, cells);
  }

  std::vector<MoveStatistics> moves() const override {
    std::vector<MoveStatistics> list;
    const auto add = [&](bool used, const char* name, const MoveCount& count) {
      if (used) list.push_back({name, count.proposed, count.accepted});
    };
    if (published_) {
      add(options_.published_moves != 0, "published_split", published_->splits());
      add(options_.published_moves != 0, "published_merge", published_->merges());
      add(true, "published_row", published_->row_updates());
      return list;
    }
    add(options_.scan_every != 0 || options_.row_updates != 0, "gibbs", gibbs_.count());
    add(options_.split_merge_moves != 0, "split", split_merge_.splits());
    add(options_.split_merge_moves != 0, "merge", split_merge_.merges());
    add(options_.neighbor_moves != 0, "neighbor_split", neighbors_.splits());
    add(options_.neighbor_moves != 0, "neighbor_merge", neighbors_.merges());
    add(options_.neighbor_moves != 0, "neighbor_division", neighbors_.divisions());
    add(options_.block_moves != 0, "block", blocks_.count());
    add(options_.guided_split_moves != 0, "guided_split", guided_.split_merge().splits());
    add(options_.guided_split_moves != 0, "guided_merge", guided_.split_merge().merges());
    add(options_.multiway_moves != 0, "multiway_split", multiway_.splits());
    add(options_.multiway_moves != 0, "multiway_merge", multiway_.merges());
    return list;
  }

  std::string save() const override {
    ByteWriter writer;
    header().write(writer);
    writer.put(process_->state());
    const MoveCounts counts{gibbs_.count(),
                            split_merge_.splits(),
                            split_merge_.merges(),
                            blocks_.count(),
                            guided_.split_merge().splits(),
                            guided_.split_merge().merges(),
                            multiway_.splits(),
                            multiway_.merges(),
                            neighbors_.splits(),
                            neighbors_.merges(),
                            neighbors_.divisions()};
    writer.put(counts);
    writer.put(numbers_.state());
    if (keeps_learned()) save_learned(writer);
    if (published_) published_->save(writer);
    writer.put(clusters_.labels().data(), rows_);
    return writer.take();
  }

  void load(std::string_view bytes) override {
    ByteReader reader(bytes);
    header().check(reader);
    const auto state = reader.get<ProcessState>();
    const auto counts = reader.get<MoveCounts>();
    const auto numbers = reader.get<MoveNumbers::State>();
    if (keeps_learned()) load_learned(reader, rows_);
    // Labels come last; what is before them are the trees.
    const std::size_t labels_size = rows_ * sizeof(Label);
    ByteReader trees(reader.take(reader.left() - std::min(reader.left(), labels_size)));
    if (!published_) trees.end();
    Labels labels(rows_);
    reader.get(labels.data(), rows_);
    check_labels(labels);
    process_->set_state(state);
    gibbs_.set_count(counts[0]);
    split_merge_.set_counts(counts[1], counts[2]);
    blocks_.set_count(counts[3]);
    guided_.split_merge().set_counts(counts[4], counts[5]);
    multiway_.set_counts(counts[6], counts[7]);
    numbers_.set_state(numbers);
    neighbors_.set_counts(counts[8], counts[9], counts[10]);
    clusters_.assign(labels);
    guide_.reset();  // that of the chain that is loaded may be another
    if (published_) {
      published_->load(trees, clusters_);
      trees.end();
    }
  }

  void load_first(std::string_view bytes, std::size_t rows) override {
    ByteReader reader(bytes);
    header().check(reader);
    const auto state = reader.get<ProcessState>();
    reader.take(sizeof(MoveCounts) + sizeof(MoveNumbers::State));
    numbers_.reset();
    if (keeps_learned()) load_learned(reader, rows);
    // Counts of moves and published trees are those of another run.
    const std::size_t labels_size = rows * sizeof(Label);
    reader.take(reader.left() - std::min(reader.left(), labels_size));
    Labels labels(rows);
    reader.get(labels.data(), rows);
    check_labels(labels);
    process_->set_state(state);
    labels.resize(rows_, Clusters::kUnassigned);
    clusters_.assign(labels);
    inside_ = next_sigma_ = rows;
    guide_.reset();
    growing_.reset();
  }

  void insert(std::size_t count, const StreamName& name) override {
    const ProductPartition& law = process_->law();
    if (!growing_) {
      Stream stream({name.seed, name.chain, 0}, Purpose::guide);
      guide_rows_ = FilledRows(*initial_family_, filled_.observed());
      growing_.emplace(*initial_family_, guide_rows_->rows(), inside_, stream);
    }
    for (; count > 0 && inside_ < rows_; --count) {
      const auto row = static_cast<std::uint32_t>(inside_++);
      Stream stream({name.seed, name.chain, row}, Purpose::insertion);
      const auto update = [&](std::uint32_t which) {
        const double uniform = draw_uniform(stream);
        gibbs_.update(clusters_, which, uniform, law.log_open() + log_marginal_alone_[which], stream);
      };
      const std::span<const std::uint32_t> bucket = growing_->insert(row, stream);
      update(row);
      for (std::size_t i = 0; i < kNeighbors; ++i) update(bucket[draw_index(stream, bucket.size())]);
      blocks_.step(clusters_, row, bucket, stream);
      // The update of sigma costs O(N): it waits until the rows are two per cent more.
      const bool all = inside_ >= next_sigma_;
      if (all) next_sigma_ = inside_ + std::max<std::size_t>(100, inside_ / 50);
      if (process_->update(stream, clusters_.sizes(), all)) clusters_.refresh_weights();
    }
    if (inside_ < rows_) return;
    growing_.reset();
    guide_rows_.reset();
    rebuild();
    if (published_) published_->start(clusters_);
    gibbs_.set_count({});
    blocks_.set_count({});
  }

  void draw_prior(const StreamName& name) override {
    refuse_copies(filled_.rows());
    Stream stream(name, Purpose::prior_shape);
    Labels labels(rows_);
    process_->draw(stream, labels);
    if (own_family_) {
      Stream hyper(name, Purpose::prior_hyper);
      own_family_->draw_hyper_prior(hyper);
      data_changed();
    }
    clusters_.assign(labels);
    if (published_) published_->start(clusters_);
  }

  std::size_t draw_prior_count(Stream& stream) const override { return process_->draw_count(stream, rows_); }

  void draw_data(const StreamName& name, Rows& rows) override {
    Stream stream(name, Purpose::prior_data);
    draw_clusters(clusters_.family(), clusters_.labels(), clusters_.sizes().size(), stream, rows);
    // Cells that were missing are missing again; what was drawn for them is part of the state.
    filled_.adopt(rows);
    for (const FilledRows::Cell& cell : filled_.cells()) rows[cell.row][cell.column] = kMissing;
    data_changed();
    rebuild();
    if (published_) published_->start(clusters_);
  }

 private:
  using MoveCounts = std::array<MoveCount, 11>;

  void update_process(const StreamName& name) {
    Stream stream(name, Purpose::concentration);
    if (process_->update(stream, clusters_.sizes())) clusters_.refresh_weights();
  }

  void update_hyper(const StreamName& name) {
    if (!own_family_) return;
    occupied_.clear();
    for (std::size_t slot = 0; slot < clusters_.sizes().size(); ++slot)
      if (clusters_.sizes()[slot] != 0) occupied_.push_back(clusters_.stats(static_cast<Label>(slot)));
    family_.get_hyper(hyper_.data());
    Stream stream(name, Purpose::hyper);
    own_family_->update_hyper(occupied_, stream);
    clusters_.rebase(hyper_.data());
    update_log_marginal_alone();
  }

  bool keeps_learned() const { return own_family_ || filled_.any(); }
  const StateHeader& header() const { return keeps_learned() ? kLearnedStateHeader : kStateHeader; }

  /// Filled cells are measured from origins, which are those of the data.
  void save_learned(ByteWriter& writer) const {
    std::vector<double> numbers(hyper_.size());
    family_.get_hyper(numbers.data());
    writer.put(static_cast<std::uint64_t>(numbers.size()));
    writer.put(numbers.data(), numbers.size());
    writer.put(static_cast<std::uint64_t>(filled_.cells_size()));
    for (std::size_t j = 0; j < family_.width(); ++j) writer.put(family_.origin(j));
    numbers.resize(filled_.cells_size());
    filled_.get_cells(numbers.data());
    writer.put(numbers.data(), numbers.size());
  }

  /// Of a state of the first `rows` rows. Their origins may have been others: then the cells are moved.
  void load_learned(ByteReader& reader, std::size_t rows) {
    const auto read_count = [&](std::size_t expected, const char* what) {
      if (const auto count = reader.get<std::uint64_t>(); count != expected)
        fail(ErrorCode::bad_data, "checkpoint has {} {}, not {}", count, what, expected);
    };
    read_count(hyper_.size(), "learned values");
    reader.get(hyper_.data(), hyper_.size());
    const std::span<const FilledRows::Cell> cells = filled_.cells();
    std::vector<double> values(static_cast<std::size_t>(
        std::find_if(cells.begin(), cells.end(), [&](const auto& cell) { return cell.row >= rows; }) -
        cells.begin()));
    read_count(values.size(), "filled cells");
    std::vector<double> origins(family_.width());
    reader.get(origins.data(), origins.size());
    reader.get(values.data(), values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!std::isfinite(values[i]))
        fail(ErrorCode::bad_data, "checkpoint has a filled cell that is not a number");
      const double origin = family_.origin(cells[i].column);
      if (origins[cells[i].column] != origin) values[i] += origins[cells[i].column] - origin;
    }
    if (own_family_) own_family_->set_hyper(hyper_.data());
    filled_.reset();
    filled_.set_cells(values);
    update_log_marginal_alone();
  }

  void check_labels(const Labels& labels) const {
    for (const Label label : labels)
      if (label < 0 || static_cast<std::size_t>(label) >= labels.size())
        fail(ErrorCode::bad_data, "checkpoint has the label {} for {} rows", label, labels.size());
  }

  const Guide& guide(const StreamName& name) {
    if (!guide_) guide_ = chain_guide(parameters_, *initial_family_, filled_.observed(), name, stop_);
    return *guide_;
  }

  void data_changed() {
    guide_.reset();
    update_log_marginal_alone();
  }
  void update_log_marginal_alone() {
    family_.log_marginals_alone(filled_.observed().cells.data(), rows_, log_marginal_alone_.data());
  }

  ParameterValues parameters_;
  const std::atomic<bool>* stop_;
  std::size_t rows_;
  Options options_;
  const Family* initial_family_;        // from which learning begins, and guides are made
  std::unique_ptr<Family> own_family_;  // if hyper-parameters are learned
  const Family& family_;                // the one that is in use
  std::vector<double> hyper_;           // before an update
  std::vector<const double*> occupied_;
  FilledRows filled_;
  std::unique_ptr<Process> process_;
  Clusters clusters_;
  GibbsSweep gibbs_;
  SplitMerge split_merge_;
  NeighborMoves neighbors_;
  BlockGibbs blocks_;
  GuidedSplitMerge guided_;
  Multiway multiway_;
  MoveNumbers numbers_;
  std::optional<PublishedMoves> published_;
  std::vector<double> log_marginal_alone_;
  TraceTable<Figures> traces_;
  std::optional<Guide> guide_;
  // While rows come in: how many are inside, and the guide that grows with them.
  std::size_t inside_ = 0;
  std::size_t next_sigma_ = 0;
  std::optional<GrowingGuide> growing_;
  std::optional<FilledRows> guide_rows_;  // of the growing guide, which must not depend on the state
};

std::unique_ptr<Inference> make_mixture_sampler(const Problem& problem) {
  return std::make_unique<MixtureSampler>(problem);
}

}  // namespace

std::vector<TraceInfo> traces(const ParameterValues& parameters) { return trace_table(parameters).list(); }

std::unique_ptr<Inference> make_inference(const Problem& problem) {
  const Options options(problem.parameters, problem.rows->size());
  if (options.is_data_parallel) return make_data_parallel(problem, make_mixture_sampler);
  return make_mixture_sampler(problem);
}

RowTree guide_of_chain(const Problem& problem, const StreamName& name) {
  if (!Options(problem.parameters, problem.rows->size()).is_guided())
    fail(ErrorCode::configuration, "--sampler {} has no guide tree; --sampler tree-guided or auto has one",
         problem.parameters.choice("sampler"));
  return chain_guide(problem.parameters, *problem.family, *problem.rows, name, problem.stop).tree;
}

namespace {

/// Lists double as they grow. What a process with a discount expects has no simple form: 256 slots are far
/// more than most data ask for.
std::size_t expected_slots(const Problem& problem) {
  constexpr std::size_t kLeast = 16;
  constexpr std::size_t kWithDiscount = 256;
  const std::size_t rows = problem.rows->size();
  const std::optional<Concentration> seating = row_seating(problem.parameters);
  if (!seating) return std::min(rows, kWithDiscount);
  const ClusterCountMoments moments = seating->is_learned() ? cluster_count_moments(seating->prior(), rows)
                                                            : cluster_count_moments(seating->start(), rows);
  return std::min(rows, kLeast + 2 * static_cast<std::size_t>(moments.mean));
}

}  // namespace

std::size_t chain_bytes(const Problem& problem) {
  // Labels, marginals of single rows, two tables by size, scratch lists of rows.
  const std::size_t rows = problem.rows->size();
  const Options options(problem.parameters, rows);
  if (options.is_data_parallel) return data_parallel_bytes(problem);
  return Clusters::bytes(*problem.family, rows, expected_slots(problem)) +
         rows * (3 * sizeof(double) + 10 * sizeof(std::uint32_t)) +
         (options.needs_guide() ? RowTree::bytes(rows) : 0) +
         (options.multiway_moves != 0 ? Multiway::bytes(*problem.family, rows) : 0) +
         (options.published ? PublishedMoves::bytes(*problem.family, rows) : 0);
}

}  // namespace coppice::nrmm
