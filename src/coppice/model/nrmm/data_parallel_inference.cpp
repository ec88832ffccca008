#include "coppice/model/nrmm/data_parallel_inference.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_set>

#include "coppice/base/byte_stream.hpp"
#include "coppice/base/distinct_rows.hpp"
#include "coppice/base/error.hpp"
#include "coppice/base/stop.hpp"
#include "coppice/cluster/filled_rows.hpp"
#include "coppice/model/drawn_clusters.hpp"
#include "coppice/model/learned_payload.hpp"
#include "coppice/model/nrmm/data_parallel.hpp"
#include "coppice/model/nrmm/data_parallel_blocks.hpp"
#include "coppice/model/nrmm/mixture_traces.hpp"
#include "coppice/model/nrmm/options.hpp"
#include "coppice/model/nrmm/process.hpp"
#include "coppice/model/parameter_draws.hpp"
#include "coppice/model/prior_counts.hpp"
#include "coppice/model/state_header.hpp"

namespace coppice::nrmm {
namespace {

constexpr StateHeader kDataParallelStateHeader("nrdp", 1);
constexpr StateHeader kDrawHeader("nrdd", 1);

/// A chain begins with a fit of so many rows by another sampler, of so many sweeps.
constexpr std::size_t kStartRows = 10'000;
constexpr std::uint64_t kStartSweeps = 50;

/// Terms of clusters of at most so many rows are tabled: the memory of the driver does not grow with the
/// rows.
constexpr std::size_t kMostTabled = 131'072;

class DataParallelSampler final : public Inference,
                                  public ParameterDraws,
                                  public UsesEngine,
                                  public PriorCounts {
 public:
  DataParallelSampler(const Problem& problem, std::unique_ptr<Inference> (*make_start)(const Problem&))
      : problem_(problem),
        make_start_(make_start),
        rows_(problem.table_rows()),
        options_(problem.parameters, rows_),
        own_family_(problem.family->hyper_size() != 0 ? problem.family->clone() : nullptr),
        family_(own_family_ ? *own_family_ : *problem.family),
        hyper_(family_.hyper_size()),
        filled_(family_, *problem.rows),
        process_(make_process(problem.parameters, std::min(rows_, kMostTabled))),
        blocks_(family_, own_family_.get(), filled_, options_.data_parallel.block_size, problem.part),
        sampler_(family_, process_->law(), blocks_, rows_, options_.data_parallel),
        traces_(trace_table(problem.parameters)) {}

  void use_threads(std::size_t threads) override { threads_ = ThreadEngine(threads); }
  BlockTask& task() override { return blocks_; }
  void use_engine(Engine& engine) override { engine_ = &engine; }

  void init(const StreamName& name) override {
    problem_.family->get_hyper(hyper_.data());
    filled_.reset();
    sampler_.set_counts({}, {});
    Assignment assignment = start(name);
    if (own_family_) own_family_->set_hyper(hyper_.data());
    sampler_.set_assignment(engine(), std::move(assignment), after(name));
  }

  void step(const StreamName& name) override {
    sampler_.split_merge(engine(), name, options_.data_parallel.pairs * early_factor(name.sweep));
    Stream stream(name, Purpose::concentration);
    process_->update(stream, sampler_.sizes());
    update_hyper(name);
    sampler_.assign(engine(), name);
  }

  /// The state already is a function of what is saved.
  void rebuild() override {}

  double log_joint() const override {
    return process_->log_prior(sampler_.sizes()) + sampler_.log_marginal() + family_.log_hyper_prior();
  }

  double log_joint_from_scratch() const override {
    const std::size_t clusters = sampler_.sizes().size();
    const std::size_t size = family_.stats_size();
    std::vector<double> stats(clusters * size);
    std::vector<std::uint32_t> sizes(clusters, 0);
    for (std::size_t k = 0; k < clusters; ++k) family_.clear(stats.data() + k * size);
    for (std::size_t row = 0; row < rows_; ++row) {
      const auto label = static_cast<std::size_t>(blocks_.labels()[row]);
      family_.add(stats.data() + label * size, filled_.rows()[row]);
      ++sizes[label];
    }
    double total = process_->log_prior(sizes) + family_.log_hyper_prior();
    for (std::size_t k = 0; k < clusters; ++k) total += family_.log_marginal(stats.data() + k * size);
    return total;
  }

  void labels(std::span<Label> labels) const override {
    std::copy(blocks_.labels().begin(), blocks_.labels().end(), labels.begin());
    canonicalize(labels);
  }

  void traces(std::span<double> values) const override {
    traces_.write({log_joint(), sampler_.sizes(), static_cast<double>(rows_), *process_}, values);
    family_.hyper_traces(values.data() + traces_.size());
  }

  std::string payload() const override {
    std::vector<double> hyper(hyper_.size());
    std::vector<double> cells(filled_.cells_size());
    family_.get_hyper(hyper.data());
    filled_.get_cells(cells.data());
    return write_learned(hyper, cells);
  }

  std::string parameters() const override {
    ByteWriter writer;
    kDrawHeader.write(writer);
    put_labels(writer);
    return writer.take();
  }

  void take_parameters(std::string_view bytes) override {
    ByteReader reader(bytes);
    kDrawHeader.check(reader);
    take_labels(reader, [] {});
  }

  std::string label_question(std::string_view bytes) const override {
    ByteReader reader(bytes);
    kDrawHeader.check(reader);
    std::vector<double> hyper(hyper_.size());
    reader.get(hyper.data(), hyper.size());
    if (reader.get<std::uint64_t>() != 0) fail(ErrorCode::bug, "the labels of this draw are kept with it");
    Assignment assignment = decode_assignment(reader.take(reader.left()));
    check(assignment);
    return label_message(std::move(assignment), std::move(hyper)).encode();
  }

  std::vector<MoveStatistics> moves() const override {
    return {{"split", sampler_.splits().proposed, sampler_.splits().accepted},
            {"merge", sampler_.merges().proposed, sampler_.merges().accepted}};
  }

  std::string save() const override {
    ByteWriter writer;
    kDataParallelStateHeader.write(writer);
    writer.put(process_->state());
    writer.put(std::array{sampler_.splits(), sampler_.merges()});
    put_labels(writer);
    return writer.take();
  }

  void load(std::string_view bytes) override {
    ByteReader reader(bytes);
    kDataParallelStateHeader.check(reader);
    const auto state = reader.get<ProcessState>();
    const auto counts = reader.get<std::array<MoveCount, 2>>();
    take_labels(reader, [&] {
      process_->set_state(state);
      sampler_.set_counts(counts[0], counts[1]);
    });
  }

  void load_first(std::string_view, std::size_t) override {
    fail(ErrorCode::configuration, "a run of --sampler data-parallel takes no new rows; fit all rows again");
  }

  std::size_t draw_prior_count(Stream& stream) const override { return process_->draw_count(stream, rows_); }

  void draw_prior(const StreamName& name) override {
    Stream stream(name, Purpose::prior_shape);
    Labels labels(rows_);
    process_->draw(stream, labels);
    if (own_family_) {
      Stream hyper(name, Purpose::prior_hyper);
      own_family_->draw_hyper_prior(hyper);
    }
    keep(labels, name);
  }

  void draw_data(const StreamName& name, Rows& rows) override {
    Stream stream(name, Purpose::prior_data);
    const Labels labels(blocks_.labels().begin(), blocks_.labels().end());
    draw_clusters(family_, labels, sampler_.sizes().size(), stream, rows);
    // Cells that were missing are missing again; what was drawn for them is part of the state.
    filled_.adopt(rows);
    for (const FilledRows::Cell& cell : filled_.cells()) rows[cell.row][cell.column] = kMissing;
    keep(labels, name);
  }

 private:
  static StreamName after(const StreamName& name) { return {name.seed, name.chain, name.sweep + 1}; }
  static BlockMessage label_message(Assignment assignment, std::vector<double> hyper) {
    BlockMessage message;
    message.question = Question::labels;
    message.hyper = std::move(hyper);
    message.assignment = std::move(assignment);
    return message;
  }

  /// Whether only some rows are here, for answers about them.
  bool is_sample() const { return !problem_.part.numbers.empty(); }
  Engine& engine() {
    if (is_sample() && engine_ == &threads_)
      fail(ErrorCode::configuration,
           "most rows of this run's table are not in its file: continue it from Python with resume(X=...), "
           "and a Dask client that reads them");
    return *engine_;
  }

  void keep(Labels labels, const StreamName& name) {
    canonicalize(labels);
    blocks_.keep_labels(labels);
    sampler_.keep_labels(engine(), after(name));
  }

  /// Hyper-parameters, and that from which labels and filled cells follow.
  void put_labels(ByteWriter& writer) const {
    std::vector<double> numbers(hyper_.size());
    family_.get_hyper(numbers.data());
    writer.put(numbers.data(), numbers.size());
    writer.put(static_cast<std::uint64_t>(sampler_.labels_are_kept()));
    if (sampler_.labels_are_kept()) {
      numbers.resize(filled_.cells_size());
      filled_.get_cells(numbers.data());
      writer.put(numbers.data(), numbers.size());
      writer.put(blocks_.labels().data(), rows_);
    } else {
      const std::string assignment = encode_assignment(sampler_.assignment());
      writer.put(assignment.data(), assignment.size());
    }
  }

  /// Calls adopt() once everything was found in order, before anything changes.
  template <typename Adopt>
  void take_labels(ByteReader& reader, Adopt&& adopt) {
    std::vector<double> hyper(hyper_.size());
    reader.get(hyper.data(), hyper.size());
    const auto take_hyper = [&] {
      adopt();
      if (own_family_) own_family_->set_hyper(hyper.data());
      filled_.reset();
    };
    const bool labels_are_kept = reader.get<std::uint64_t>() != 0;
    if (labels_are_kept) {
      std::vector<double> cells(filled_.cells_size());
      reader.get(cells.data(), cells.size());
      Labels labels(rows_);
      reader.get(labels.data(), rows_);
      reader.end();
      for (const Label label : labels)
        if (label < 0 || static_cast<std::size_t>(label) >= rows_)
          fail(ErrorCode::bad_data, "checkpoint has the label {} for {} rows", label, rows_);
      canonicalize(labels);
      take_hyper();
      filled_.set_cells(cells);
      blocks_.keep_labels(labels);
      sampler_.keep_labels(engine(), {});
    } else {
      Assignment assignment = decode_assignment(reader.take(reader.left()));
      check(assignment);
      take_hyper();
      if (is_sample() && engine_ == &threads_) {
        // Labels of the rows that are here; no answer is about the others.
        blocks_.receive(label_message(std::move(assignment), std::move(hyper)).encode());
        blocks_.answer(0);
        return;
      }
      const StreamName next = after(assignment.name);
      sampler_.set_assignment(engine(), std::move(assignment), next);
    }
  }

  void check(const Assignment& assignment) const {
    const std::size_t clusters = assignment.clusters.size();
    if (clusters == 0 || clusters > rows_ ||
        assignment.clusters.thetas.size() != clusters * family_.theta_size())
      fail(ErrorCode::bad_data, "checkpoint has {} parameters of {} clusters for {} rows",
           assignment.clusters.thetas.size(), clusters, rows_);
    std::unordered_set<std::uint64_t> anchors;
    for (const std::uint64_t row : assignment.anchor_rows)
      if (row >= rows_ || !anchors.insert(row).second)
        fail(ErrorCode::bad_data, "checkpoint has the anchor {} for {} rows", row, rows_);
    for (const std::vector<double>* values : {&assignment.clusters.log_weights, &assignment.clusters.thetas})
      for (const double value : *values)
        if (!std::isfinite(value))
          fail(ErrorCode::bad_data, "checkpoint has a parameter that is not a number");
  }

  void update_hyper(const StreamName& name) {
    if (!own_family_) return;
    std::vector<const double*> clusters;
    for (std::size_t k = 0; k < sampler_.sizes().size(); ++k) clusters.push_back(sampler_.stats(k));
    family_.get_hyper(hyper_.data());
    Stream stream(name, Purpose::hyper);
    own_family_->update_hyper(clusters, stream);
    sampler_.rebase(hyper_.data());
    // What follows from the values must be what a loaded state will have, to the last bit.
    family_.get_hyper(hyper_.data());
    own_family_->set_hyper(hyper_.data());
  }

  /// Clusters of some of the rows, which another sampler has found; leaves in hyper_ what it has learned.
  Assignment start(const StreamName& name) {
    Stream stream(name, data_parallel_purpose::start);
    const std::vector<std::uint64_t> chosen = draw_distinct_rows(rows_, std::min(rows_, kStartRows), stream);
    Rows rows;
    rows.width = family_.width();
    BlockMessage question;
    question.question = Question::cells;
    question.hyper = hyper_;
    question.rows = chosen;
    for (const BlockAnswer& cells : engine().ask(blocks_, sampler_.blocks(), question.encode()))
      rows.cells.insert(rows.cells.end(), cells.begin(), cells.end());
    Settings settings = problem_.parameters.settings();
    settings.insert_or_assign("sampler", Setting{Setting::Shape::text, {}, 0, "auto"});
    const bool is_found = problem_.parameters.choice("init") == "auto";
    Problem part{problem_.family, &rows, ParameterValues(parameter_table(), settings)};
    part.stop = problem_.stop;
    const std::unique_ptr<Inference> found = make_start_(part);
    const std::uint64_t seed = ~name.seed;  // the chain's sweeps must not use the same streams again
    found->init({seed, name.chain, 0});
    for (std::uint64_t sweep = 1; is_found && sweep <= kStartSweeps; ++sweep) {
      throw_if_stopped(problem_.stop);
      found->step({seed, name.chain, sweep});
    }
    Labels labels(rows.size());
    found->labels(labels);
    FilledRows filled(*problem_.family, rows);
    const LearnedPayload payload = read_learned(found->payload(), hyper_.size(), filled.cells_size());
    filled.set_cells(payload.cells);
    hyper_ = payload.hyper;
    std::unique_ptr<Family> learned = own_family_ ? problem_.family->clone() : nullptr;
    if (learned) learned->set_hyper(hyper_.data());
    const Family& family = learned ? *learned : *problem_.family;

    Assignment assignment;
    assignment.name = name;
    std::vector<double> stats;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const auto label = static_cast<std::size_t>(labels[i]);
      if (label == assignment.anchor_rows.size()) {
        assignment.anchor_rows.push_back(chosen[i]);
        stats.resize(stats.size() + family.stats_size());
        family.clear(stats.data() + stats.size() - family.stats_size());
      }
      family.add(stats.data() + label * family.stats_size(), filled.rows()[i]);
    }
    assignment.anchor_keys.assign(assignment.anchor_rows.size(), 0.0);
    assignment.clusters = DataParallel::draw_clusters(family, process_->law().discount(), stats, name,
                                                      data_parallel_purpose::cluster);
    return assignment;
  }

  Problem problem_;
  std::unique_ptr<Inference> (*make_start_)(const Problem&);
  std::size_t rows_;
  Options options_;
  std::unique_ptr<Family> own_family_;  // if hyper-parameters are learned
  const Family& family_;                // the one that is in use
  std::vector<double> hyper_;           // before an update
  FilledRows filled_;
  std::unique_ptr<Process> process_;
  ThreadEngine threads_;
  Engine* engine_ = &threads_;
  DataParallelBlocks blocks_;
  DataParallel sampler_;
  TraceTable<Figures> traces_;
};

}  // namespace

std::unique_ptr<Inference> make_data_parallel(const Problem& problem,
                                              std::unique_ptr<Inference> (*make_start)(const Problem&)) {
  return std::make_unique<DataParallelSampler>(problem, make_start);
}

std::size_t data_parallel_bytes(const Problem& problem) {
  // Labels, lists of rows in split-merge moves, keys, two tables by size; 256 clusters are far more than most
  // data ask for.
  const std::size_t rows = problem.rows->size();
  const Family& family = *problem.family;
  return rows * (sizeof(Label) + 4 * sizeof(std::uint32_t) + 3 * sizeof(double)) +
         std::min<std::size_t>(rows, 256) * (family.stats_size() + family.theta_size()) * sizeof(double);
}

}  // namespace coppice::nrmm
