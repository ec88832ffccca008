// What a fit keeps: for the classifier, and to go on from bit for bit.
#include "coppice/model/bnmc/inference.hpp"

namespace coppice::bnmc {

std::string Fit::payload() const {
  ByteWriter out;
  put_format(out);
  out.put(static_cast<std::uint64_t>(clusters_));
  Learned learned = progress_.stage == 0 ? best_ : final_;
  if (learned.statistics.counts.empty()) learned.statistics = statistics_;
  if (learned.experts.size() != labels()) learned.experts.clear();
  if (learned.cardinality.empty())
    learn_rates(rows_, all_rows_, *mixture_, responsibilities_of_all(), learned);
  put_units(out);
  learned.put(out, clusters_, labels());
  calibration_.put(out);
  if (topics_ != nullptr) topics_->put(out, false);
  return out.take();
}

std::string Fit::save() const {
  ByteWriter out;
  put_format(out);
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
    learned->put(out, clusters_, labels());
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

void Fit::load(std::string_view bytes) {
  ByteReader in(bytes);
  check_format(in);
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
    learned->get(in, *mixture_, labels(), experts_.inputs().size());
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
    fail(ErrorCode::bad_data, "the run file is damaged: the fit is in an unknown stage");
  if (!finished()) set_stage_rows();
}

void Fit::put_units(ByteWriter& out) const {
  out.put(units_.origin.data(), units_.origin.size());
  out.put(units_.scale.data(), units_.scale.size());
}

}  // namespace coppice::bnmc
