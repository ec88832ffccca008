#include "coppice/model/bnmc/inference.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "coppice/base/lanes.hpp"
#include "coppice/base/parallel.hpp"
#include "coppice/model/bnmc/start.hpp"
#include "coppice/model/trace_table.hpp"

namespace coppice::bnmc {
namespace {

constexpr std::size_t kLabelsOfAStep = 8 * kExpertsAtOnce;
constexpr std::size_t kMostStartRows = 2000;                   // that stochastic fits begin with
constexpr std::uint64_t kTopicsSite = std::uint64_t{1} << 40;  // no start of the mixture has this number

/// What is measured for the traces of the fit.
struct Figures {
  double elbo;
  std::span<const double> counts;  // of the clusters
  double total;
  double held_out;
};

const TraceTable<Figures>& trace_table() {
  static const TraceTable<Figures> table(
      {{"log_joint", "lower bound on the log evidence of features and labels (ELBO)",
        [](const Figures& f) { return f.elbo; }},
       {"clusters", "clusters that hold at least half a row",
        [](const Figures& f) {
          return static_cast<double>(
              std::count_if(f.counts.begin(), f.counts.end(), [](double count) { return count >= 0.5; }));
        }},
       {"entropy", "entropy of the cluster sizes, in nats",
        [](const Figures& f) { return partition_entropy(f.counts, f.total); }},
       {"largest_share", "share of the rows in the largest cluster",
        [](const Figures& f) {
          return f.total > 0.0 ? *std::max_element(f.counts.begin(), f.counts.end()) / f.total : 0.0;
        }},
       {"held_out", "mean log density of the features of held-out rows",
        [](const Figures& f) { return f.held_out; }}});
  return table;
}

}  // namespace

Fit::Fit(const Problem& problem)
    : problem_(problem),
      options_(problem.parameters),
      rows_(rows_as_known(labeled_of(problem), options_)),
      experts_(rows_, options_),
      clusters_(options_.clusters) {
  set_mixture();
  if (has_topics(rows_, options_)) {
    counts_ = present_rows(rows_.features);
    topics_ = std::make_unique<Topics>(options_.topics, rows_.features.columns,
                                       Topics::usual_prior(counts_, options_.topics));
  } else {
    set_design();
  }
}

void Fit::init(const StreamName& name) {
  seed_ = name.seed;
  progress_ = {};
  elbo_ = kMinusInfinity;
  statistics_ = mixture_->no_statistics();
  best_ = Learned();
  final_ = Learned();
  calibration_.thresholds.assign(labels(), options_.threshold);
  calibration_.coefficients.clear();
  set_folds();
  held_out_.assign(options_.folds == 0 ? 0 : rows(), {});
  is_update_ = false;
  passes_ = 0;
  if (topics_ != nullptr) {
    Stream stream(name, Purpose::initialize, kTopicsSite);
    topics_->start(counts_, stream);
  }
  start();
}

void Fit::step(const StreamName&) {
  if (finished()) return;
  if (topics_ != nullptr && passes_ < kTopicPasses) {
    topics_->pass(counts_, threads_);
    if (++passes_ == kTopicPasses) set_design();
    return;
  }
  if (progress_.experts) return fit_experts();
  options_.minibatch == 0 || options_.minibatch >= which_.size() ? sweep() : stochastic_step();
}

double Fit::log_jacobian(std::span<const std::uint32_t> of_rows) const {
  double total = 0.0;
  for (const std::uint32_t row : of_rows)
    total +=
        mixture_->features().log_jacobian(items_.features.columns_of(row), items_.features.values_of(row));
  return total;
}

double Fit::log_joint() const {
  double total = elbo_ + log_jacobian(finished() ? all_rows_ : which_);
  for (const Expert& expert : (progress_.stage == 0 ? best_ : final_).experts) total += expert.elbo;
  return std::isfinite(total) ? total : 0.0;
}

double Fit::log_joint_from_scratch() const { return elbo_from_scratch() + log_jacobian(all_rows_); }

double Fit::elbo_from_scratch() const {
  const MixtureStatistics& statistics = current();
  return mixture_->local_update(items_, all_rows_, statistics, threads_).log_normalizer -
         mixture_->divergence(statistics);
}

void Fit::labels(std::span<Label> labels) const {
  const Responsibilities r = responsibilities_of_all();
  for (std::size_t row = 0; row < rows(); ++row) {
    const double* of_row = r.data() + row * mixture_->stride();
    labels[row] = static_cast<Label>(std::max_element(of_row, of_row + clusters_) - of_row);
  }
  Labels canonical(labels.begin(), labels.end());
  canonicalize(canonical);
  std::copy(canonical.begin(), canonical.end(), labels.begin());
}

void Fit::traces(std::span<double> values) const {
  const AlignedVector& counts = current().counts;
  const double total = std::accumulate(counts.begin(), counts.end(), 0.0);
  trace_table().write({log_joint(), {counts.data(), clusters_}, total, held_out_density()}, values);
}

void Fit::set_mixture() {
  mixture_ = std::make_unique<Mixture>(make_mixture(rows_, options_, clusters_, units_));
  units_ = {mixture_->features().prior().origin, mixture_->features().prior().scale};
  items_ = mixture_->encode(rows_);
}

void Fit::begin_experts(std::span<const std::uint32_t> seen, const Responsibilities& r) {
  best_.clusters = clusters_;
  learn_rates(rows_, seen, *mixture_, r, best_);
  progress_.experts = true;
  progress_.label = 0;
  best_.experts.clear();
}

std::vector<LabelPrediction> Fit::held_out_predictions() const {
  std::vector<LabelPrediction> predictions(finished() && !is_update_ ? held_out_.size() : 0);
  for (std::size_t row = 0; row < predictions.size(); ++row)
    if (!held_out_[row].mixture.empty())
      predictions[row] = prediction_of(held_out_[row], final_, options_, calibration_);
  return predictions;
}

double Fit::held_out_density() const {
  constexpr std::size_t kMost = 200;
  double total = 0.0;
  double count = 0.0;
  if (progress_.stage == 0) return kMissing;
  if (finished()) {
    for (const RowParts& parts : held_out_) {
      if (parts.mixture.empty()) continue;
      total += parts.log_density;
      count += 1.0;
    }
    return count > 0.0 ? total / count : kMissing;
  }
  Learned now;
  now.statistics = best_.statistics.counts.empty() ? statistics_ : best_.statistics;
  now.cardinality.assign(clusters_, 0.0);
  const Scorer scorer(*mixture_, now, options_);
  for (std::size_t row = 0; row < rows() && count < kMost; ++row) {
    if (fold_of_[row] != progress_.stage) continue;
    total += scorer(items_.features, experts_.rows_of_inputs(), row).log_density;
    count += 1.0;
  }
  return count > 0.0 ? total / count : kMissing;
}

void Fit::set_folds() {
  all_rows_.resize(rows());
  std::iota(all_rows_.begin(), all_rows_.end(), 0u);
  std::vector<std::uint32_t> order = all_rows_;
  Stream stream({seed_, 0, 0}, Purpose::hold_out);
  shuffle(stream, order);
  fold_of_.assign(rows(), 0);
  for (std::size_t i = 0; options_.folds != 0 && i < order.size(); ++i)
    fold_of_[order[i]] = static_cast<std::uint32_t>(1 + i % options_.folds);
  set_stage_rows();
}

void Fit::set_stage_rows() {
  which_.clear();
  for (const std::uint32_t row : all_rows_)
    if (progress_.stage == 0 || fold_of_[row] != progress_.stage) which_.push_back(row);
  if (which_.empty())
    fail(ErrorCode::configuration, "--calibration {} of {} rows leave none to learn from", options_.folds,
         rows());
}

const MixtureStatistics& Fit::current() const {
  if (progress_.stage > 0) return final_.statistics;
  return best_.statistics.counts.empty() ? statistics_ : best_.statistics;
}

Responsibilities Fit::responsibilities_of_all() const {
  Responsibilities r(rows() * mixture_->stride());
  mixture_->local_update(items_, all_rows_, current(), threads_, &r);
  return r;
}

void Fit::start() {
  progress_.sweep = 0;
  elbo_ = kMinusInfinity;
  if (progress_.stage > 0) {
    // The clusters of all rows are a good start for most of the rows: a fold continues from there.
    statistics_ = mixture_->local_update(items_, which_, final_.statistics, threads_).statistics;
    return;
  }
  Stream stream(name(), Purpose::initialize, progress_.restart + 1000 * progress_.doublings);
  const std::vector<std::uint32_t> first = start_rows(stream);
  start_with(first, start_from_seeds(items_, first, *mixture_, stream));
}

std::vector<std::uint32_t> Fit::start_rows(Stream& stream) const {
  std::vector<std::uint32_t> first = which_;
  const bool stochastic = options_.minibatch != 0 && options_.minibatch < which_.size();
  if (stochastic && first.size() > kMostStartRows) {
    shuffle(stream, first);
    first.resize(kMostStartRows);
  }
  return first;
}

void Fit::start_with(std::span<const std::uint32_t> first, const Responsibilities& r) {
  statistics_ = mixture_->collect(items_, first, r);
  mixture_->scale(statistics_, static_cast<double>(which_.size()) / static_cast<double>(first.size()));
}

void Fit::sweep() {
  Mixture::Local local = mixture_->local_update(items_, which_, statistics_, threads_);
  const double elbo = local.log_normalizer - mixture_->divergence(statistics_);
  const bool converged = std::abs(elbo - elbo_) < options_.tolerance * std::abs(elbo);
  statistics_ = std::move(local.statistics);
  mixture_->reorder(statistics_);
  elbo_ = elbo;
  if (converged || ++progress_.sweep >= options_.sweeps) end_start();
}

void Fit::stochastic_step() {
  const std::size_t batches = (which_.size() + options_.minibatch - 1) / options_.minibatch;
  const std::size_t epoch = progress_.sweep / batches;
  const std::size_t batch = progress_.sweep % batches;
  std::vector<std::uint32_t> order = which_;
  Stream stream(name(), Purpose::scan_order, epoch + 1'000'000 * progress_.restart);
  shuffle(stream, order);
  const std::size_t begin = batch * options_.minibatch;
  const std::span<const std::uint32_t> part(order.data() + begin,
                                            std::min(options_.minibatch, order.size() - begin));
  const Mixture::Minibatch update = mixture_->minibatch_update(items_, part, statistics_, threads_);
  const double rate = std::pow(static_cast<double>(++progress_.sweep) + options_.delay, -options_.forgetting);
  const double factor = static_cast<double>(which_.size()) / static_cast<double>(part.size());
  const double label_factor = options_.scales_by_labeled ? share_of_labeled(part) : factor;
  mixture_->blend(statistics_, update, rate, factor, label_factor);
  if (batch + 1 < batches) return;
  elbo_ = mixture_->local_update(items_, which_, statistics_, threads_).log_normalizer -
          mixture_->divergence(statistics_);
  if (epoch + 1 == options_.epochs) end_start();
}

double Fit::share_of_labeled(std::span<const std::uint32_t> part) const {
  const auto labeled = [&](std::span<const std::uint32_t> rows) {
    return static_cast<double>(
        std::count_if(rows.begin(), rows.end(), [&](std::uint32_t row) { return items_.labeled[row] != 0; }));
  };
  const double here = labeled(part);
  return here > 0.0 ? labeled(which_) / here : 0.0;
}

void Fit::end_start() {
  if (elbo_ > progress_.best_elbo) {
    progress_.best_elbo = elbo_;
    best_.statistics = statistics_;
  }
  // More clusters go on from those of the best start.
  if (progress_.stage == 0 && progress_.doublings == 0 && ++progress_.restart < options_.restarts)
    return start();
  if (best_.statistics.counts.empty())
    fail(ErrorCode::configuration,
         "no initialization gave a finite bound; the priors are too extreme for floating-point numbers");
  elbo_ = progress_.best_elbo;
  const double last = best_.statistics.counts[clusters_ - 1];
  if (options_.grow && progress_.stage == 0 && progress_.doublings < kMostDoublings &&
      clusters_ < which_.size() && last > 0.01 * static_cast<double>(which_.size()))
    return double_truncation();
  Responsibilities r(rows() * mixture_->stride(), 0.0);
  mixture_->local_update(items_, which_, best_.statistics, threads_, &r);
  begin_experts(which_, r);
}

void Fit::double_truncation() {
  ++progress_.doublings;
  Stream stream(name(), Purpose::initialize, 1000 * progress_.doublings);
  const std::vector<std::uint32_t> first = start_rows(stream);
  const std::unique_ptr<Mixture> before = std::move(mixture_);
  Responsibilities r(rows() * before->stride(), 0.0);
  before->local_update(items_, first, best_.statistics, threads_, &r);
  clusters_ *= 2;
  set_mixture();
  progress_.restart = 0;
  progress_.sweep = 0;
  progress_.best_elbo = kMinusInfinity;
  elbo_ = kMinusInfinity;
  best_ = Learned();
  start_with(first, start_with_more_clusters(items_, first, *before, r, *mixture_, stream));
}

void Fit::fit_experts() {
  if (!options_.has_expert) return end_stage();
  const std::size_t end = std::min(labels(), progress_.label + kLabelsOfAStep);
  best_.experts.resize(end);
  experts_.fit(which_, progress_.label, end, name(), threads_, final_.experts, best_);
  progress_.label = end;
  if (end == labels()) end_stage();
}

void Fit::end_stage() {
  if (progress_.stage == 0)
    final_ = std::move(best_);
  else
    predict_fold();
  best_ = Learned();
  const std::uint64_t doublings = progress_.doublings;
  // An update keeps the calibration of the fit before it.
  const std::uint64_t next = is_update_ ? options_.folds + 1 : progress_.stage + 1;
  progress_ = {};
  progress_.stage = next;
  progress_.doublings = doublings;
  if (!finished()) {
    set_stage_rows();
    start();
    return;
  }
  if (options_.folds != 0 && !is_update_)
    calibration_ = calibrate(rows_, held_out_, final_, options_, threads_);
  elbo_ = elbo_from_scratch();
}

void Fit::predict_fold() {
  const Scorer scorer(*mixture_, best_, options_);
  parallel_for(rows(), threads_, [&](std::size_t row) {
    if (fold_of_[row] != progress_.stage) return;
    held_out_[row] = scorer(items_.features, experts_.rows_of_inputs(), row);
  });
}

std::vector<TraceInfo> traces(const ParameterValues&) { return trace_table().list(); }

std::unique_ptr<Inference> make_inference(const Problem& problem) { return std::make_unique<Fit>(problem); }

std::size_t max_steps(const Problem& problem) {
  const Options options(problem.parameters);
  const LabeledRows& rows = labeled_of(problem);
  const std::size_t batches = options.minibatch == 0 ? 1 : rows.features.rows() / options.minibatch + 1;
  // Rows that fit into one minibatch, of a fold perhaps, are swept over.
  const std::size_t of_start =
      options.minibatch == 0 ? options.sweeps : std::max(options.sweeps, batches * options.epochs);
  const std::size_t starts = options.restarts * (options.grow ? kMostDoublings + 1 : 1);
  const std::size_t passes = has_topics(rows, options) ? Fit::kTopicPasses : 0;
  return passes + (options.folds + 1) * (starts * of_start + rows.labels.columns / kLabelsOfAStep + 2);
}

std::size_t chain_bytes(const Problem& problem) {
  const Options options(problem.parameters);
  const LabeledRows& rows = labeled_of(problem);
  const std::size_t items = rows.features.value.size() + rows.labels.value.size();
  const std::size_t tables =
      (2 * rows.features.columns + 2 * rows.labels.columns) * (options.clusters + kLanes);
  const std::size_t parts = options.folds == 0 ? 0 : 2 * rows.features.rows() * rows.labels.columns;
  const std::size_t weights = 4 * rows.labels.columns * (rows.features.columns + 1);
  const std::size_t topics = has_topics(rows, options) ? options.topics : 0;
  const std::size_t shares = topics * (2 * rows.features.rows() + 10 * rows.features.columns);
  // Rows as they are and as the mixture takes them; inputs by rows and columns in two precisions, of a fold
  // too.
  return (24 + 2 * 32) * items + 8 * (14 * tables + parts + weights + shares);
}

}  // namespace coppice::bnmc
