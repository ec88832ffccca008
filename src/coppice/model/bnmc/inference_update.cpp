// Rows, features and labels that come after a fit (2.6): what was learned is the prior of what comes.
#include <algorithm>
#include <numeric>

#include "coppice/model/bnmc/inference.hpp"

namespace coppice::bnmc {
namespace {

constexpr std::size_t kUpdateRounds = 5;

/// The rows, features and labels that come first.
LabeledRows first_of(const LabeledRows& rows, std::size_t count, std::size_t features, std::size_t labels) {
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
  LabeledRows result{cut(rows.features, features), rows.kinds, cut(rows.labels, labels)};
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
  const auto set = [&](std::size_t slot, double value) {
    for (std::size_t k = 0; k < stride; ++k)
      to.table[slot * stride + k] = wide.prior().weight * counts[k] * value;
  };
  std::vector<bool> is_unknown(columns, false);
  const auto first = rows.columns_of(0);
  for (std::size_t i = 0; i < first.size(); ++i)
    if (is_missing(rows.values_of(0)[i])) is_unknown[first[i]] = true;
  for (std::size_t d = old_columns; d < columns; ++d) {
    if (is_unknown[d]) {
      set((wide.slots() / columns - 1) * columns + d, 1.0);
    } else if (wide.prior().likelihood == Likelihood::gaussian) {
      const double zero = -wide.prior().origin[d] / wide.prior().scale[d];  // as it is measured
      set(d, zero);
      set(columns + d, zero * zero);
    }
  }
}

}  // namespace

void Fit::load_first(std::string_view bytes, std::size_t rows) {
  ByteReader in(bytes);
  check_format(in);
  clusters_ = in.get<std::uint64_t>();
  const auto features = in.get<std::uint64_t>();
  const auto old_labels = in.get<std::uint64_t>();
  if (rows > this->rows() || features > rows_.features.columns || old_labels > labels())
    fail(ErrorCode::bad_data, "the run file is damaged: the fit has other columns than the data");
  const LabeledRows first = first_of(labeled_of(problem_), rows, features, old_labels);
  Problem before = problem_;
  before.labeled = &first;
  Fit old(before);
  old.load(bytes);
  if (old.final_.statistics.counts.empty())
    fail(ErrorCode::configuration, "the fit is not finished; finish it first: coppice resume");
  take(old);
}

void Fit::insert(std::size_t count, const StreamName&) {
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
  if (inserted_ == rows()) begin_experts_of_update();
}

void Fit::take(const Fit& old) {
  units_ = old.units_;
  Units all;
  const Mixture measured = make_mixture(rows_, options_, clusters_);
  if (measured.features().prior().likelihood != old.mixture_->features().prior().likelihood)
    fail(ErrorCode::configuration,
         "with the new columns the features are no longer all counts or all binary, as they are in the run; "
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
  if (inserted_ == rows()) begin_experts_of_update();
}

void Fit::begin_experts_of_update() {
  progress_ = {};
  best_ = Learned();
  best_.statistics = statistics_;
  const std::vector<std::uint32_t> seen(all_rows_.begin(),
                                        all_rows_.begin() + static_cast<std::ptrdiff_t>(inserted_));
  Responsibilities r(rows() * mixture_->stride(), 0.0);
  elbo_ = mixture_->local_update(items_, seen, statistics_, threads_, &r).log_normalizer -
          mixture_->divergence(statistics_);
  begin_experts(seen, r);
}

}  // namespace coppice::bnmc
