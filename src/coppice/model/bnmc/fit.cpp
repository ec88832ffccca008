#include "coppice/model/bnmc/fit.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "coppice/base/lanes.hpp"
#include "coppice/base/math.hpp"
#include "coppice/base/parallel.hpp"
#include "coppice/model/bnmc/learned.hpp"
#include "coppice/model/bnmc/start.hpp"

namespace coppice::bnmc {
namespace {

constexpr std::size_t kLabelsOfAStep = 4 * kLanes;
constexpr std::size_t kMostStartRows = 2000;  // that stochastic fits begin with
constexpr std::size_t kTopicPasses = 60;
constexpr std::size_t kUpdateRounds = 5;
constexpr std::uint64_t kTopicsSite = std::uint64_t{1} << 40;  // no start of the mixture has this number

/// The rows, features and labels that come first.
LabelledRows first_of(const LabelledRows& rows, std::size_t count, std::size_t features, std::size_t labels) {
  const auto cut = [&](const SparseRows& from, std::size_t columns) {
    SparseRows result;
    result.columns = columns;
    for (std::size_t row = 0; row < count; ++row) {
      const auto which = from.columns_of(row);
      for (std::size_t i = 0; i < which.size() && which[i] < columns; ++i) {
        result.column.push_back(which[i]);
        result.value.push_back(from.values_of(row)[i]);
      }
      result.start.push_back(result.column.size());
    }
    return result;
  };
  LabelledRows result{cut(rows.features, features), rows.kinds, cut(rows.labels, labels)};
  result.kinds.resize(features);
  return result;
}

/// Statistics of fewer columns, in the table of more: the rows so far have zeros in the new ones, or nothing.
void widen(const Block& narrow, const BlockStatistics& from, const Block& wide, const AlignedVector& counts,
           const SparseRows& rows, BlockStatistics& to) {
  const std::size_t old_columns = narrow.prior().columns;
  const std::size_t columns = wide.prior().columns;
  const std::size_t stride = wide.stride();
  const std::size_t kinds = old_columns == 0 ? 0 : narrow.slots() / old_columns;
  for (std::size_t kind = 0; kind < kinds; ++kind)
    for (std::size_t d = 0; d < old_columns; ++d)
      for (std::size_t k = 0; k < stride; ++k)
        to.table[(kind * columns + d) * stride + k] =
            from.scale * from.table[(kind * old_columns + d) * stride + k];
  to.totals = from.totals;
  to.scale = 1.0;
  if (wide.is_local() || rows.rows() == 0) return;
  const auto first = rows.columns_of(0);
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (first[i] < old_columns || !is_missing(rows.values_of(0)[i])) continue;
    const std::size_t slot = (wide.slots() / columns - 1) * columns + first[i];
    for (std::size_t k = 0; k < stride; ++k) to.table[slot * stride + k] = wide.prior().weight * counts[k];
  }
}

class Fit final : public Sampler {
 public:
  explicit Fit(const Problem& problem)
      : problem_(problem),
        options_(problem.parameters),
        rows_(rows_as_known(labelled_of(problem), options_)),
        inputs_(rows_, options_),
        clusters_(options_.clusters) {
    set_mixture();
    if (has_topics(rows_, options_)) {
      topics_ = std::make_unique<Topics>(options_.topics, rows_.features.columns);
      counts_ = present_rows(rows_.features);
    } else {
      set_design();
    }
  }

  void use_threads(std::size_t threads) override { threads_ = threads; }

  void init(const StreamName& name) override {
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

  void step(const StreamName&) override {
    if (finished()) return;
    if (topics_ != nullptr && passes_ < kTopicPasses) {
      topics_->pass(counts_, threads_);
      if (++passes_ == kTopicPasses) set_design();
      return;
    }
    if (progress_.experts) return fit_experts();
    options_.minibatch == 0 || options_.minibatch >= which_.size() ? sweep() : stochastic_step();
  }

  bool finished() const override { return progress_.stage > options_.folds; }
  void rebuild() override {}

  double log_joint() const override {
    double total = elbo_;
    for (const Expert& expert : (progress_.stage == 0 ? best_ : final_).experts) total += expert.elbo;
    return std::isfinite(total) ? total : 0.0;
  }
  double log_joint_from_scratch() const override {
    const MixtureStatistics& statistics = current();
    std::vector<std::uint32_t> all(rows());
    std::iota(all.begin(), all.end(), 0u);
    return mixture_->local_update(items_, all, statistics, threads_).log_normaliser -
           mixture_->divergence(statistics);
  }

  void shape(std::span<Label> labels) const override {
    const Responsibilities r = responsibilities_of_all();
    for (std::size_t row = 0; row < rows(); ++row) {
      const double* of_row = r.data() + row * mixture_->stride();
      labels[row] = static_cast<Label>(std::max_element(of_row, of_row + clusters_) - of_row);
    }
    Labels canonical(labels.begin(), labels.end());
    canonicalize(canonical);
    std::copy(canonical.begin(), canonical.end(), labels.begin());
  }

  void traces(std::span<double> values) const override {
    const AlignedVector& counts = current().counts;
    double total = 0.0;
    for (const double count : counts) total += count;
    double used = 0.0;
    double entropy = 0.0;
    double largest = 0.0;
    for (std::size_t k = 0; k < clusters_; ++k) {
      const double share = total > 0.0 ? counts[k] / total : 0.0;
      used += counts[k] >= 0.5 ? 1.0 : 0.0;
      if (share > 0.0) entropy -= share * std::log(share);
      largest = std::max(largest, share);
    }
    const double all[] = {log_joint(), used, entropy, largest, held_out_density()};
    std::copy(std::begin(all), std::end(all), values.begin());
  }
  std::vector<MoveStatistics> moves() const override { return {}; }

  /// What the classifier needs; a fit that is stopped early has its best statistics so far and no
  /// calibration.
  std::string details() const override {
    ByteWriter out;
    out.put(static_cast<std::uint64_t>(clusters_));
    Learned learned = progress_.stage == 0 ? best_ : final_;
    if (learned.statistics.counts.empty()) learned.statistics = statistics_;
    if (learned.experts.size() != labels()) learned.experts.clear();
    if (learned.cardinality.empty())
      learn_rates(rows_, all_rows_, *mixture_, responsibilities_of_all(), learned);
    put_units(out);
    learned.put(out);
    calibration_.put(out);
    if (topics_ != nullptr) topics_->put(out, false);
    return out.take();
  }

  std::vector<LabelPrediction> held_out_predictions() const override {
    std::vector<LabelPrediction> predictions(finished() && !is_update_ ? held_out_.size() : 0);
    for (std::size_t row = 0; row < predictions.size(); ++row)
      if (!held_out_[row].mixture.empty())
        predictions[row] = prediction_of(held_out_[row], final_, options_, calibration_);
    return predictions;
  }

  std::string save() const override {
    ByteWriter out;
    for (const std::size_t size : {clusters_, rows_.features.columns, labels()})
      out.put(static_cast<std::uint64_t>(size));
    put_units(out);
    out.put(seed_);
    out.put(progress_);
    out.put(static_cast<std::uint64_t>(passes_));
    out.put(is_update_);
    if (topics_ != nullptr) topics_->put(out, passes_ < kTopicPasses);
    out.put(elbo_);
    put_statistics(out, statistics_);
    for (const Learned* learned : {&best_, &final_}) {
      const bool is_there = !learned->statistics.counts.empty();
      out.put(is_there);
      if (!is_there) continue;
      const bool has_rates = !learned->cardinality.empty();
      out.put(has_rates);
      Learned copy = *learned;
      copy.cardinality.resize(clusters_);
      copy.base_rates.resize(labels());
      copy.put(out);
    }
    calibration_.put(out);
    for (const RowParts& parts : held_out_) {
      out.put(!parts.mixture.empty());
      if (parts.mixture.empty()) continue;
      out.put(parts.cardinality);
      out.put(parts.log_density);
      out.put(parts.mixture.data(), labels());
      out.put(parts.linear.data(), labels());
    }
    return out.take();
  }

  void load(std::string_view bytes) override {
    ByteReader in(bytes);
    clusters_ = in.get<std::uint64_t>();
    if (clusters_ < 1 || clusters_ > options_.clusters << kMostDoublings)
      fail(ErrorCode::bad_data, "the run file is damaged: it has {} clusters", clusters_);
    if (in.get<std::uint64_t>() != rows_.features.columns || in.get<std::uint64_t>() != labels())
      fail(ErrorCode::bad_data, "the run file is damaged: the fit has other columns than the data");
    units_ = get_units(in, rows_.features.columns);
    set_mixture();
    seed_ = in.get<std::uint64_t>();
    progress_ = in.get<Progress>();
    passes_ = in.get<std::uint64_t>();
    is_update_ = in.get<bool>();
    if (topics_ != nullptr) {
      topics_->get(in, passes_ < kTopicPasses, rows());
      if (passes_ >= kTopicPasses) set_design();
    }
    elbo_ = in.get<double>();
    get_statistics(in, *mixture_, statistics_);
    for (Learned* learned : {&best_, &final_}) {
      *learned = Learned();
      if (!in.get<bool>()) continue;
      const bool has_rates = in.get<bool>();
      learned->get(in, *mixture_, labels(), inputs_.size());
      if (has_rates) continue;
      learned->cardinality.clear();
      learned->base_rates.clear();
    }
    calibration_.get(in, labels());
    set_folds();
    held_out_.assign(options_.folds == 0 ? 0 : rows(), {});
    for (RowParts& parts : held_out_) {
      if (!in.get<bool>()) continue;
      parts.cardinality = in.get<double>();
      parts.log_density = in.get<double>();
      parts.mixture.resize(labels());
      parts.linear.resize(labels());
      in.get(parts.mixture.data(), labels());
      in.get(parts.linear.data(), labels());
    }
    in.end();
    if (progress_.stage > options_.folds + 1 || progress_.label > labels())
      fail(ErrorCode::bad_data, "the run file is damaged: the fit is nowhere");
    if (!finished()) set_stage_rows();
  }

  void load_first(std::string_view bytes, std::size_t rows) override {
    ByteReader in(bytes);
    clusters_ = in.get<std::uint64_t>();
    const auto features = in.get<std::uint64_t>();
    const auto old_labels = in.get<std::uint64_t>();
    if (rows > this->rows() || features > rows_.features.columns || old_labels > labels())
      fail(ErrorCode::bad_data, "the run file is damaged: the fit has other columns than the data");
    const LabelledRows first = first_of(labelled_of(problem_), rows, features, old_labels);
    Problem before = problem_;
    before.labelled = &first;
    Fit old(before);
    old.load(bytes);
    if (old.final_.statistics.counts.empty())
      fail(ErrorCode::configuration, "the fit is not finished; go on with it first: coppice resume");
    take(old);
  }

  void insert(std::size_t count, const StreamName&) override {
    std::vector<std::uint32_t> batch(count);
    std::iota(batch.begin(), batch.end(), static_cast<std::uint32_t>(inserted_));
    const MixtureStatistics before = statistics_;
    MixtureStatistics added = mixture_->local_update(items_, batch, statistics_, threads_).statistics;
    for (std::size_t round = 0; round < kUpdateRounds; ++round) {
      statistics_ = before;
      mixture_->add(statistics_, added);
      added = mixture_->local_update(items_, batch, statistics_, threads_).statistics;
    }
    statistics_ = before;
    mixture_->scale(statistics_, options_.keep);
    mixture_->add(statistics_, added);
    inserted_ += count;
    begin_experts_of_update();
  }

  void draw_prior(const StreamName&) override { fail_to_simulate(); }
  void draw_data(const StreamName&, Rows&) override { fail_to_simulate(); }

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

  void set_mixture() {
    mixture_ = std::make_unique<Mixture>(make_mixture(rows_, options_, clusters_, units_));
    units_ = {mixture_->features().prior().origin, mixture_->features().prior().scale};
    items_ = mixture_->encode(rows_);
  }

  void put_units(ByteWriter& out) const {
    out.put(units_.origin.data(), units_.origin.size());
    out.put(units_.scale.data(), units_.scale.size());
  }

  void set_design() {
    if (!options_.has_expert) return;
    design_.rows = inputs_.transform(rows_.features, topics_.get(), threads_);
    if (!inputs_.is_full()) {
      design_.columns = transpose(design_.rows);
      return;
    }
    dense_ =
        Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(rows()), static_cast<Eigen::Index>(inputs_.size()));
    for (std::size_t row = 0; row < rows(); ++row) {
      const auto which = design_.rows.columns_of(row);
      for (std::size_t i = 0; i < which.size(); ++i)
        dense_(static_cast<Eigen::Index>(row), which[i]) = design_.rows.values_of(row)[i];
    }
  }

  /// Begins with what another fit learned of the first rows, features and labels.
  void take(const Fit& old) {
    units_ = old.units_;
    Units all;
    const Mixture measured = make_mixture(rows_, options_, clusters_);
    if (measured.features().prior().likelihood != old.mixture_->features().prior().likelihood)
      fail(ErrorCode::configuration,
           "with the new columns the features are no longer all counts or all bits, as they are in the run; "
           "fit it again with all of the rows");
    all = {measured.features().prior().origin, measured.features().prior().scale};
    std::copy(all.origin.begin() + static_cast<std::ptrdiff_t>(units_.origin.size()), all.origin.end(),
              std::back_inserter(units_.origin));
    std::copy(all.scale.begin() + static_cast<std::ptrdiff_t>(units_.scale.size()), all.scale.end(),
              std::back_inserter(units_.scale));
    set_mixture();
    const MixtureStatistics& from = old.final_.statistics;
    statistics_ = mixture_->no_statistics();
    statistics_.counts = from.counts;
    widen(old.mixture_->features(), from.features, mixture_->features(), from.counts, rows_.features,
          statistics_.features);
    widen(old.mixture_->labels(), from.labels, mixture_->labels(), from.counts, rows_.labels,
          statistics_.labels);
    seed_ = old.seed_;
    inserted_ = old.rows();
    is_update_ = true;
    passes_ = kTopicPasses;
    if (topics_ != nullptr) {
      topics_->take(*old.topics_);
      set_design();
    }
    // Thresholds and slopes were found on rows held out; what new labels need is what the others do.
    calibration_ = old.calibration_;
    const std::vector<double>& known = calibration_.thresholds;
    const double usual = std::accumulate(known.begin(), known.end(), 0.0) / static_cast<double>(known.size());
    calibration_.thresholds.resize(labels(), usual);
    set_folds();
    held_out_.assign(options_.folds == 0 ? 0 : rows(), {});
    begin_experts_of_update();
  }

  void begin_experts_of_update() {
    progress_ = {};
    best_ = Learned();
    best_.statistics = statistics_;
    const std::vector<std::uint32_t> seen(all_rows_.begin(),
                                          all_rows_.begin() + static_cast<std::ptrdiff_t>(inserted_));
    Responsibilities r(rows() * mixture_->stride(), 0.0);
    elbo_ = mixture_->local_update(items_, seen, statistics_, threads_, &r).log_normaliser -
            mixture_->divergence(statistics_);
    begin_experts(seen, r);
  }

  void begin_experts(std::span<const std::uint32_t> seen, const Responsibilities& r) {
    best_.clusters = clusters_;
    learn_rates(rows_, seen, *mixture_, r, best_);
    progress_.experts = true;
    progress_.label = 0;
    best_.experts.clear();
  }

  /// Mean log density of the features of rows held out: of this fold so far, or of all when the fit is done.
  double held_out_density() const {
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
    const Scorer scorer(*mixture_, now);
    for (std::size_t row = 0; row < rows() && count < kMost; ++row) {
      if (fold_of_[row] != progress_.stage) continue;
      total += scorer(items_.features, design_.rows, row).log_density;
      count += 1.0;
    }
    return count > 0.0 ? total / count : kMissing;
  }

  void set_folds() {
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

  void set_stage_rows() {
    which_.clear();
    for (const std::uint32_t row : all_rows_)
      if (progress_.stage == 0 || fold_of_[row] != progress_.stage) which_.push_back(row);
    if (which_.empty())
      fail(ErrorCode::configuration, "--calibration {} of {} rows leave none to learn from", options_.folds,
           rows());
  }

  const MixtureStatistics& current() const {
    if (progress_.stage > 0) return final_.statistics;
    return best_.statistics.counts.empty() ? statistics_ : best_.statistics;
  }

  Responsibilities responsibilities_of_all() const {
    Responsibilities r(rows() * mixture_->stride());
    mixture_->local_update(items_, all_rows_, current(), threads_, &r);
    return r;
  }

  void start() {
    progress_.sweep = 0;
    elbo_ = kMinusInfinity;
    Stream stream(name(), Purpose::initialize, progress_.restart + 1000 * progress_.doublings);
    std::vector<std::uint32_t> first = which_;
    const bool stochastic = options_.minibatch != 0 && options_.minibatch < which_.size();
    if (stochastic && first.size() > kMostStartRows) {
      shuffle(stream, first);
      first.resize(kMostStartRows);
    }
    statistics_ = mixture_->collect(items_, first, start_from_seeds(items_, first, *mixture_, stream));
    if (first.size() == which_.size()) return;
    MixtureStatistics all = mixture_->no_statistics();
    const double factor = static_cast<double>(which_.size()) / static_cast<double>(first.size());
    mixture_->blend(all, statistics_, items_, first, 1.0, factor, factor);
    statistics_ = std::move(all);
  }

  void sweep() {
    Mixture::Local local = mixture_->local_update(items_, which_, statistics_, threads_);
    const double elbo = local.log_normaliser - mixture_->divergence(statistics_);
    const bool converged = std::abs(elbo - elbo_) < options_.tolerance * std::abs(elbo);
    statistics_ = std::move(local.statistics);
    mixture_->reorder(statistics_);
    elbo_ = elbo;
    if (converged || ++progress_.sweep >= options_.sweeps) end_start();
  }

  void stochastic_step() {
    const std::size_t batches = (which_.size() + options_.minibatch - 1) / options_.minibatch;
    const std::size_t epoch = progress_.sweep / batches;
    const std::size_t batch = progress_.sweep % batches;
    std::vector<std::uint32_t> order = which_;
    Stream stream(name(), Purpose::scan_order, epoch + 1'000'000 * progress_.restart);
    shuffle(stream, order);
    const std::size_t begin = batch * options_.minibatch;
    const std::span<const std::uint32_t> part(order.data() + begin,
                                              std::min(options_.minibatch, order.size() - begin));
    const Mixture::Local local = mixture_->local_update(items_, part, statistics_, threads_);
    const double rate =
        std::pow(static_cast<double>(++progress_.sweep) + options_.delay, -options_.forgetting);
    const double factor = static_cast<double>(which_.size()) / static_cast<double>(part.size());
    const double label_factor = options_.scales_by_labelled ? share_of_labelled(part) : factor;
    mixture_->blend(statistics_, local.statistics, items_, part, rate, factor, label_factor);
    if (batch + 1 < batches) return;
    elbo_ = mixture_->local_update(items_, which_, statistics_, threads_).log_normaliser -
            mixture_->divergence(statistics_);
    if (epoch + 1 == options_.epochs) end_start();
  }

  /// Rows with labels over those of the part; 0 if it has none.
  double share_of_labelled(std::span<const std::uint32_t> part) const {
    const auto labelled = [&](std::span<const std::uint32_t> rows) {
      return static_cast<double>(std::count_if(rows.begin(), rows.end(),
                                               [&](std::uint32_t row) { return items_.labelled[row] != 0; }));
    };
    const double here = labelled(part);
    return here > 0.0 ? labelled(which_) / here : 0.0;
  }

  void end_start() {
    if (elbo_ > progress_.best_elbo) {
      progress_.best_elbo = elbo_;
      best_.statistics = statistics_;
    }
    if (++progress_.restart < options_.restarts) return start();
    elbo_ = progress_.best_elbo;
    const double last = best_.statistics.counts[clusters_ - 1];
    if (options_.grow && progress_.stage == 0 && progress_.doublings < kMostDoublings &&
        clusters_ < which_.size() && last > 0.01 * static_cast<double>(which_.size()))
      return double_truncation();
    Responsibilities r(rows() * mixture_->stride(), 0.0);
    mixture_->local_update(items_, which_, best_.statistics, threads_, &r);
    begin_experts(which_, r);
  }

  void double_truncation() {
    clusters_ *= 2;
    set_mixture();
    ++progress_.doublings;
    progress_.restart = 0;
    progress_.best_elbo = kMinusInfinity;
    best_ = Learned();
    start();
  }

  void fit_experts() {
    if (!options_.has_expert) return end_stage();
    const std::size_t end = std::min(labels(), progress_.label + kLabelsOfAStep);
    const std::size_t width = inputs_.is_full() ? 1 : kLanes;
    const std::size_t begin = progress_.label;
    best_.experts.resize(end);
    parallel_for((end - begin + width - 1) / width, threads_, [&](std::size_t part) {
      const std::size_t from = begin + part * width;
      fit_labels(from, std::min(end, from + width));
    });
    progress_.label = end;
    if (end == labels()) end_stage();
  }

  void fit_labels(std::size_t from, std::size_t to) {
    std::vector<std::vector<double>> answers(to - from, std::vector<double>(which_.size(), 0.0));
    for (std::size_t i = 0; i < which_.size(); ++i) {
      const auto columns = rows_.labels.columns_of(which_[i]);
      const auto values = rows_.labels.values_of(which_[i]);
      for (auto at = std::lower_bound(columns.begin(), columns.end(), from); at != columns.end() && *at < to;
           ++at)
        answers[*at - from][i] = values[static_cast<std::size_t>(at - columns.begin())];
    }
    std::vector<std::vector<double>> fitted;
    std::vector<std::size_t> fitted_labels;
    for (std::size_t c = from; c < to; ++c) {
      double positive = 0.0;
      double known = 0.0;
      for (const double y : answers[c - from]) {
        positive += is_missing(y) ? 0.0 : y;
        known += is_missing(y) ? 0.0 : 1.0;
      }
      const auto least = static_cast<double>(options_.least_positives);
      Expert& expert = best_.experts[c];
      expert.base_rate = best_.base_rates[c];
      expert.is_constant = positive < least || known - positive < least;
      if (expert.is_constant) continue;
      fitted_labels.push_back(c);
      fitted.push_back(std::move(answers[c - from]));
    }
    if (fitted.empty()) return;
    const Eigen::VectorXd variance = inputs_.prior_variance();
    std::vector<Expert> experts;
    if (inputs_.is_full()) {
      experts.push_back(fit_one(fitted.front(), variance, fitted_labels.front()));
    } else {
      experts = fit_diagonal(design_, which_, fitted, variance, options_.expert);
    }
    for (std::size_t i = 0; i < experts.size(); ++i) {
      experts[i].base_rate = best_.base_rates[fitted_labels[i]];
      experts[i].elbos.clear();
      best_.experts[fitted_labels[i]] = std::move(experts[i]);
    }
  }

  Expert fit_one(const std::vector<double>& answers, const Eigen::VectorXd& variance,
                 std::size_t label) const {
    std::vector<Eigen::Index> known;
    for (std::size_t i = 0; i < which_.size(); ++i)
      if (!is_missing(answers[i])) known.push_back(static_cast<Eigen::Index>(i));
    Eigen::MatrixXd x(static_cast<Eigen::Index>(known.size()), dense_.cols());
    Eigen::VectorXd y(x.rows());
    for (std::size_t i = 0; i < known.size(); ++i) {
      const auto at = static_cast<std::size_t>(known[i]);
      x.row(static_cast<Eigen::Index>(i)) = dense_.row(which_[at]);
      y[static_cast<Eigen::Index>(i)] = answers[at];
    }
    Stream stream(name(), Purpose::theta, label);
    return fit_full(x, y, Eigen::VectorXd::Zero(dense_.cols()), variance, options_.expert, stream);
  }

  void end_stage() {
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
    if (options_.folds != 0 && !is_update_) calibration_ = calibrate(rows_, held_out_, final_, options_);
    elbo_ = log_joint_from_scratch();
  }

  void predict_fold() {
    const Scorer scorer(*mixture_, best_);
    parallel_for(rows(), threads_, [&](std::size_t row) {
      if (fold_of_[row] != progress_.stage) return;
      held_out_[row] = scorer(items_.features, design_.rows, row);
    });
  }

  Problem problem_;
  Options options_;
  LabelledRows rows_;
  std::size_t threads_ = 1;
  Inputs inputs_;
  std::size_t clusters_;
  std::unique_ptr<Mixture> mixture_;
  Units units_;
  MixtureRows items_;
  std::unique_ptr<Topics> topics_;  // none if the inputs have none
  SparseRows counts_;               // what topics are learned from
  SparseDesign design_;
  Eigen::MatrixXd dense_;  // the inputs, if covariances are full

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

}  // namespace

std::unique_ptr<Sampler> make_sampler(const Problem& problem) { return std::make_unique<Fit>(problem); }

std::size_t steps(const Problem& problem) {
  const Options options(problem.parameters);
  const LabelledRows& rows = labelled_of(problem);
  const std::size_t batches = options.minibatch == 0 ? 1 : rows.features.rows() / options.minibatch + 1;
  const std::size_t of_start = options.minibatch == 0 ? options.sweeps : batches * options.epochs;
  const std::size_t starts = options.restarts * (options.grow ? kMostDoublings + 1 : 1);
  const std::size_t passes = has_topics(rows, options) ? kTopicPasses : 0;
  return passes + (options.folds + 1) * (starts * of_start + rows.labels.columns / kLabelsOfAStep + 2);
}

std::size_t chain_bytes(const Problem& problem) {
  const Options options(problem.parameters);
  const LabelledRows& rows = labelled_of(problem);
  const std::size_t items = rows.features.value.size() + rows.labels.value.size();
  const std::size_t tables =
      (2 * rows.features.columns + 2 * rows.labels.columns) * (options.clusters + kLanes);
  const std::size_t parts = options.folds == 0 ? 0 : 2 * rows.features.rows() * rows.labels.columns;
  const std::size_t weights = 4 * rows.labels.columns * (rows.features.columns + 1);
  const std::size_t topics = has_topics(rows, options) ? options.topics : 0;
  const std::size_t shares = topics * (2 * rows.features.rows() + 10 * rows.features.columns);
  return 48 * items + 8 * (14 * tables + parts + weights + shares);
}

}  // namespace coppice::bnmc
