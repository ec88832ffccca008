#include "coppice/model/nhcm/predictor.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"
#include "coppice/cluster/predictive_cache.hpp"
#include "coppice/model/learned_payload.hpp"
#include "coppice/model/left_out.hpp"
#include "coppice/model/nhcm/evidence.hpp"
#include "coppice/model/nhcm/inference.hpp"
#include "coppice/model/nhcm/options.hpp"
#include "coppice/model/stats_predictor.hpp"
#include "coppice/model/trace_table.hpp"
#include "coppice/prior/two_level_crp.hpp"

namespace coppice::nhcm {
namespace {

/// New rows are single ones, whatever copies those of the table have.
Problem of_single_rows(Problem problem) {
  problem.family = &gaussian_of(problem);
  return problem;
}

class NestedGaussianPredictor final : public StatsPredictor, public LeaveOneOut {
 public:
  explicit NestedGaussianPredictor(const Problem& problem)
      : StatsPredictor(of_single_rows(problem)),
        family_(&dynamic_cast<const Gaussian&>(family())),
        rows_(problem.rows),
        options_(problem.parameters),
        evidence_(*family_, options_.spread, static_cast<std::size_t>(rows_->copies())),
        prior_(options_.nesting, options_.alpha_clusters.start(), options_.alpha_subclusters.start(),
               static_cast<std::size_t>(rows_->copies())) {
    const std::vector<TraceInfo> traces = nhcm::traces(problem.parameters);
    spread_ = trace_place(traces, "spread");
    alpha_clusters_ = trace_place(traces, "alpha_clusters");
    alpha_subclusters_ = trace_place(traces, "alpha_subclusters");
  }

  void set_draw(std::span<const Label> labels, std::span<const double> traces,
                std::string_view payload) override {
    set_hyper(read_learned(payload, family_->hyper_size(), 0).hyper);
    if (family_->hyper_size() != 0) evidence_.adopt(*family_);
    const std::size_t rows = rows_->size();
    const std::span<const Label> clusters = labels.first(rows);
    const std::span<const Label> subs = labels.subspan(rows, rows);
    sub_of_.assign(subs.begin(), subs.end());
    evidence_.set_spread(traces[spread_]);
    prior_.set(traces[alpha_clusters_], traces[alpha_subclusters_]);
    sub_count_ = static_cast<std::size_t>(*std::max_element(subs.begin(), subs.end())) + 1;
    cluster_count_ = static_cast<std::size_t>(*std::max_element(clusters.begin(), clusters.end())) + 1;
    cluster_of_.assign(sub_count_, -1);
    const std::size_t moments_size = evidence_.moments().size();
    moments_.assign(sub_count_ * moments_size, 0.0);
    counts_.assign(cluster_count_ + 1, {});
    for (std::size_t row = 0; row < rows; ++row) {
      const auto sub = static_cast<std::size_t>(subs[row]);
      const auto cluster = static_cast<std::size_t>(clusters[row]);
      if (cluster_of_[sub] == -1) {
        cluster_of_[sub] = clusters[row];
        ++counts_[cluster].subclusters;
      }
      if (cluster_of_[sub] != clusters[row])
        fail(ErrorCode::bad_data, "the run file is damaged: sub-cluster {} of a draw is in two clusters",
             sub);
      counts_[cluster].rows += static_cast<std::uint32_t>(rows_->copies_of(row));
      evidence_.moments().add(moments_.data() + sub * moments_size, (*rows_)[row], rows_->copies_of(row));
    }
    for (const Label parent : cluster_of_)
      if (parent == -1) fail(ErrorCode::bad_data, "the run file is damaged: a draw has an empty sub-cluster");
    for (std::size_t cluster = 0; cluster < cluster_count_; ++cluster)
      if (counts_[cluster].rows == 0)
        fail(ErrorCode::bad_data, "the run file is damaged: a draw has an empty cluster");
    // Places: the sub-clusters, a new one in each cluster, a new cluster.
    stats_.resize((sub_count_ + cluster_count_ + 1) * family_->stats_size());
    for (std::size_t cluster = 0; cluster <= cluster_count_; ++cluster)
      locate(cluster, [this](std::size_t sub) { return moments_of(sub); }, stats_);
    weigh_places(counts_, {sub_count_, 0}, log_prior_);
    cache_.fill(*family_, log_prior_.size(), [this](std::size_t place) { return stats(place); });
  }

  std::size_t clusters(std::size_t level) const override { return level == 1 ? cluster_count_ : sub_count_; }

  void log_weights(const double* row, std::size_t level, std::span<double> out) const override {
    std::fill(out.begin(), out.end(), kMinusInfinity);
    AlignedVector log_predictive;
    cache_.log_predictives(row, log_predictive);
    const auto add = [&](std::size_t to, std::size_t place) {
      out[to] = log_add_exp(out[to], log_prior_[place] + log_predictive[place]);
    };
    for (std::size_t sub = 0; sub < sub_count_; ++sub)
      add(level == 1 ? static_cast<std::size_t>(cluster_of_[sub]) : sub, sub);
    for (std::size_t cluster = 0; cluster <= cluster_count_; ++cluster)
      add(level == 1 ? cluster : sub_count_, sub_count_ + cluster);
  }

  void log_densities_without(std::size_t row, std::span<const double> variants,
                             std::span<double> out) const override {
    const auto sub = static_cast<std::size_t>(sub_of_[row]);
    const auto cluster = static_cast<std::size_t>(cluster_of_[sub]);
    const double* all = moments_of(sub);
    std::vector<double> others(all, all + evidence_.moments().size());
    // All copies of a row leave together.
    const auto copies = static_cast<std::uint32_t>(rows_->copies_of(row));
    evidence_.moments().remove(others.data(), (*rows_)[row], copies);
    const bool is_alone = ScatterMoments::weight(others.data()) < 0.5;
    std::vector<TwoLevelCrp::Cluster> counts = counts_;
    counts[cluster].rows -= copies;
    if (is_alone) counts[cluster].subclusters -= 1;
    std::vector<double> log_prior;
    weigh_places(counts, {sub, copies}, log_prior);
    // What changes beside the priors: the places of the row's own cluster.
    std::vector<double> stats(stats_.size());
    const auto moments_without = [&](std::size_t other) -> const double* {
      if (other != sub) return moments_of(other);
      return is_alone ? nullptr : others.data();
    };
    locate(cluster, moments_without, stats);
    std::vector<std::size_t> places;
    for (std::size_t other = 0; other < sub_count_; ++other)
      if (static_cast<std::size_t>(cluster_of_[other]) == cluster && moments_without(other) != nullptr)
        places.push_back(other);
    places.push_back(sub_count_ + cluster);
    PredictiveCache own;
    own.fill(*family_, places.size(),
             [&](std::size_t place) { return stats.data() + places[place] * family_->stats_size(); });
    AlignedVector log_predictive, own_predictive;
    std::vector<double> terms(log_prior.size());
    for (std::size_t k = 0; k < out.size(); ++k) {
      const double* variant = variants.data() + k * rows_->width;
      cache_.log_predictives(variant, log_predictive);
      own.log_predictives(variant, own_predictive);
      for (std::size_t place = 0; place < places.size(); ++place)
        log_predictive[places[place]] = own_predictive[place];
      for (std::size_t place = 0; place < terms.size(); ++place)
        terms[place] = log_prior[place] + log_predictive[place];
      out[k] = log_sum_exp(terms);
    }
  }

  void cell_components(std::size_t row, std::size_t, std::vector<CellComponent>& out) const override {
    out.assign(1, {static_cast<std::size_t>(sub_of_[row]), 1.0});
  }
  std::size_t component_count() const override { return sub_count_; }
  const double* stats(std::size_t place) const override {
    return stats_.data() + place * family_->stats_size();
  }

 private:
  const double* moments_of(std::size_t sub) const {
    return moments_.data() + sub * evidence_.moments().size();
  }

  /// Writes the statistics of a cluster's places, given the moments of its sub-clusters (null: none).
  template <typename MomentsOf>
  void locate(std::size_t cluster, MomentsOf&& moments, std::vector<double>& stats) const {
    const std::size_t size = family_->stats_size();
    std::vector<double> cluster_stats(evidence_.cluster_size());
    std::vector<double> factor(evidence_.factor_size());
    std::vector<double> center(evidence_.dimension());
    evidence_.clear(cluster_stats.data());
    const auto is_inside = [&](std::size_t sub) {
      return static_cast<std::size_t>(cluster_of_[sub]) == cluster && moments(sub) != nullptr;
    };
    for (std::size_t sub = 0; sub < sub_count_; ++sub)
      if (is_inside(sub)) evidence_.take_in(cluster_stats.data(), moments(sub));
    evidence_.factorize(cluster_stats.data(), factor.data());
    const auto put = [&](std::size_t place, const double* sub) {
      const double strength = evidence_.locate(cluster_stats.data(), sub, center.data());
      family_->set_posterior(stats.data() + place * size, Evidence::rows(cluster_stats.data()), strength,
                             center.data(), factor.data());
    };
    for (std::size_t sub = 0; sub < sub_count_; ++sub)
      if (is_inside(sub)) put(sub, moments(sub));
    put(sub_count_ + cluster, nullptr);
  }

  /// What a sub-cluster (sub_count_: none) has lost; it is not there if these are all of its rows.
  struct Lost {
    std::size_t sub;
    std::uint32_t rows;
  };

  /// Log weights of the places for one row more, which sum to one.
  void weigh_places(const std::vector<TwoLevelCrp::Cluster>& counts, const Lost& lost,
                    std::vector<double>& log_prior) const {
    const auto size_of = [&](std::size_t sub) {
      const auto size = static_cast<std::uint32_t>(ScatterMoments::weight(moments_of(sub)));
      return sub == lost.sub ? size - lost.rows : size;
    };
    const bool is_gone = lost.sub < sub_count_ && size_of(lost.sub) == 0;
    double rows = 0.0;
    for (const TwoLevelCrp::Cluster& cluster : counts) rows += static_cast<double>(cluster.rows);
    const double rate = options_.nesting == TwoLevelCrp::Nesting::global ? prior_.alpha_subclusters()
                                                                         : prior_.alpha_clusters();
    const double log_total = std::log(rows + rate);
    const double shift = prior_.log_open_shift(sub_count_ - (is_gone ? 1 : 0)) - log_total;
    log_prior.assign(sub_count_ + cluster_count_ + 1, kMinusInfinity);
    for (std::size_t sub = 0; sub < sub_count_; ++sub) {
      const std::uint32_t left = size_of(sub);
      if (left > 0)
        log_prior[sub] =
            prior_.log_join(left, counts[static_cast<std::size_t>(cluster_of_[sub])]) - log_total;
    }
    for (std::size_t cluster = 0; cluster <= cluster_count_; ++cluster)
      if (counts[cluster].rows > 0 || cluster == cluster_count_)
        log_prior[sub_count_ + cluster] = prior_.log_open(counts[cluster]) + shift;
  }

  const Gaussian* family_;
  const Rows* rows_;
  Options options_;
  Evidence evidence_;
  TwoLevelCrp prior_;
  std::size_t spread_ = 0, alpha_clusters_ = 0, alpha_subclusters_ = 0;  // places of their traces
  Labels sub_of_, cluster_of_;
  std::vector<double> moments_;               // of the sub-clusters
  std::vector<TwoLevelCrp::Cluster> counts_;  // the last one is empty
  std::size_t sub_count_ = 0, cluster_count_ = 0;
  std::vector<double> stats_, log_prior_;
  PredictiveCache cache_;
};

}  // namespace

std::unique_ptr<Predictor> make_predictor(const Problem& problem) {
  return std::make_unique<NestedGaussianPredictor>(problem);
}

}  // namespace coppice::nhcm
