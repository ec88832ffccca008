// The variational fit of bnmc, step by step: sweeps (or stochastic steps) of the mixture from several starts,
// then the linear experts, eight labels at a time; first on all rows, then without each fold, which is
// predicted and on which scores are calibrated. Three files define it: inference.cpp goes from step to step,
// inference_storage.cpp writes and reads the state, inference_update.cpp takes in rows, features and labels
// that come after a fit.
#pragma once

#include "coppice/base/math.hpp"
#include "coppice/model/bnmc/label_experts.hpp"
#include "coppice/model/bnmc/learned.hpp"

namespace coppice::bnmc {

class Fit final : public Inference {
 public:
  explicit Fit(const Problem& problem);

  void use_threads(std::size_t threads) override { threads_ = threads; }
  void init(const StreamName& name) override;
  void step(const StreamName&) override;
  bool finished() const override { return progress_.stage > options_.folds; }
  void rebuild() override {}

  double log_joint() const override;
  double log_joint_from_scratch() const override;
  void labels(std::span<Label> labels) const override;
  void traces(std::span<double> values) const override;
  std::vector<MoveStatistics> moves() const override { return {}; }

  /// What the classifier needs; a fit that is stopped early has its best statistics so far and no
  /// calibration.
  std::string payload() const override;
  std::vector<LabelPrediction> held_out_predictions() const override;
  std::string save() const override;
  void load(std::string_view bytes) override;

  void load_first(std::string_view bytes, std::size_t rows) override;
  void insert(std::size_t count, const StreamName&) override;

  void draw_prior(const StreamName&) override { fail_to_simulate(); }
  void draw_data(const StreamName&, Rows&) override { fail_to_simulate(); }

  static constexpr std::size_t kTopicPasses = 40;

 private:
  struct Progress {
    std::uint64_t stage = 0;  // 0: all rows; f: without fold f
    std::uint64_t restart = 0, sweep = 0, doublings = 0, label = 0;
    double best_elbo = kMinusInfinity;
    bool experts = false;
    bool padding[7] = {};  // so that every byte of a saved state is known
  };

  [[noreturn]] static void fail_to_simulate() {
    fail(ErrorCode::configuration, "bnmc cannot be simulated from: it learns labels, it does not draw them");
  }

  std::size_t rows() const { return rows_.features.rows(); }
  std::size_t labels() const { return rows_.labels.columns; }
  StreamName name() const { return {seed_, progress_.stage, 0}; }

  void set_mixture();
  void set_design() { experts_.set_design(rows_.features, topics_.get(), threads_); }
  void set_folds();
  void set_stage_rows();
  /// Of the mixture alone, in the units that it measures features by.
  double elbo_from_scratch() const;
  /// What these rows add to the bound in the units of the data.
  double log_jacobian(std::span<const std::uint32_t> of_rows) const;
  const MixtureStatistics& current() const;
  Responsibilities responsibilities_of_all() const;
  /// Mean log density of the features of rows held out: of this fold so far, or of all when the fit is done.
  double held_out_density() const;

  void start();
  /// The rows that a start is made of: all of this stage, or some for stochastic steps.
  std::vector<std::uint32_t> start_rows(Stream& stream) const;
  /// Sweeps begin with these responsibilities of the given rows.
  void start_with(std::span<const std::uint32_t> first, const Responsibilities& r);
  void sweep();
  void stochastic_step();
  /// Rows with labels over those of the part; 0 if it has none.
  double share_of_labeled(std::span<const std::uint32_t> part) const;
  void end_start();
  void double_truncation();
  void begin_experts(std::span<const std::uint32_t> seen, const Responsibilities& r);
  void fit_experts();
  void end_stage();
  void predict_fold();

  /// Throws Error{bad_data} for a state that another version wrote.
  void put_units(ByteWriter& out) const;

  /// Begins with what another fit learned of the first rows, features and labels.
  void take(const Fit& old);
  void begin_experts_of_update();

  Problem problem_;
  Options options_;
  LabeledRows rows_;
  std::size_t threads_ = 1;
  LabelExperts experts_;
  std::size_t clusters_;
  std::unique_ptr<Mixture> mixture_;
  Units units_;
  MixtureRows items_;
  std::unique_ptr<Topics> topics_;  // none if the inputs have none
  SparseRows counts_;               // what topics are learned from

  std::uint64_t seed_ = 0;
  Progress progress_;
  std::size_t passes_ = 0;  // over the rows, for topics
  bool is_update_ = false;
  std::size_t inserted_ = 0;  // rows that an update has taken in so far
  double elbo_ = kMinusInfinity;
  MixtureStatistics statistics_;  // of the start that is on its way
  Learned best_, final_;          // of this stage; of all rows
  Calibration calibration_;
  std::vector<RowParts> held_out_;  // rows as predicted without their fold
  std::vector<std::uint32_t> all_rows_, which_, fold_of_;
};

std::vector<TraceInfo> traces(const ParameterValues& parameters);
std::unique_ptr<Inference> make_inference(const Problem& problem);
std::size_t max_steps(const Problem& problem);
std::size_t chain_bytes(const Problem& problem);

}  // namespace coppice::bnmc
