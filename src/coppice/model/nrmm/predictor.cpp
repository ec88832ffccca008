#include "coppice/model/nrmm/predictor.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "coppice/cluster/filled_rows.hpp"
#include "coppice/cluster/new_column.hpp"
#include "coppice/cluster/predictive_cache.hpp"
#include "coppice/model/learned_draw.hpp"
#include "coppice/model/learned_payload.hpp"
#include "coppice/model/left_out.hpp"
#include "coppice/model/member_draws.hpp"
#include "coppice/model/new_cells.hpp"
#include "coppice/model/nrmm/inference.hpp"
#include "coppice/model/nrmm/process.hpp"
#include "coppice/model/pair_densities.hpp"
#include "coppice/model/trace_table.hpp"

namespace coppice::nrmm {
namespace {

/// Components are the clusters, a new cluster, and behind these rows with cells that depend on the others:
/// the filled cells of the training rows, and new rows in one cluster each.
class MixturePredictor final : public Predictor,
                               public NewCells,
                               public LeaveOneOut,
                               public PairDensities,
                               public MemberDraws,
                               public LearnedDraw {
 public:
  explicit MixturePredictor(const Problem& problem)
      : is_ngg_(is_ngg(problem.parameters)),
        own_family_(problem.family->hyper_size() != 0 ? problem.family->clone() : nullptr),
        family_(own_family_ ? own_family_.get() : problem.family),
        filled_(*family_, *problem.rows),
        empty_(family_->stats_size()) {
    family_->clear(empty_.data());
    const std::vector<TraceInfo> traces = nrmm::traces(problem.parameters);
    alpha_ = trace_place(traces, "alpha");
    if (!is_ngg_) return;
    sigma_ = trace_place(traces, "sigma");
    log_u_ = trace_place(traces, "log_u");
  }

  void set_draw(std::span<const Label> labels, std::span<const double> traces,
                std::string_view payload) override {
    const LearnedPayload values = read_learned(payload, family_->hyper_size(), filled_.cells_size());
    if (own_family_) own_family_->set_hyper(values.hyper.data());
    filled_.set_cells(values.cells);
    family_->clear(empty_.data());
    new_rows_.clear();
    labels_.assign(labels.begin(), labels.end());
    alpha_value_ = traces[alpha_];
    const auto after = [&](double rows) {
      return is_ngg_ ? NextRow(traces[alpha_], traces[sigma_], traces[log_u_], static_cast<std::size_t>(rows))
                     : NextRow(traces[alpha_], rows);
    };
    next_row_ = after(filled_.rows().copies());
    last_row_ = after(std::max(1.0, filled_.rows().copies() - 1.0));
    clusters_ = 0;
    for (const Label label : labels) clusters_ = std::max(clusters_, static_cast<std::size_t>(label) + 1);
    stats_.resize(clusters_ * family_->stats_size());
    for (std::size_t cluster = 0; cluster < clusters_; ++cluster) family_->clear(stats_of(cluster));
    for (std::size_t row = 0; row < labels.size(); ++row)
      family_->add(stats_of(static_cast<std::size_t>(labels[row])), filled_.rows()[row]);
    log_prior_.clear();
    for (std::size_t cluster = 0; cluster < clusters_; ++cluster)
      log_prior_.push_back(next_row_->log_join(count_of(stats(cluster))));
    log_prior_.push_back(next_row_->log_open());
    cache_.fill(*family_, clusters_ + 1, [this](std::size_t cluster) { return stats(cluster); });
  }

  std::vector<double> learned_values() const override {
    std::vector<double> values(family_->hyper_size());
    family_->get_hyper(values.data());
    return values;
  }

  std::size_t clusters(std::size_t) const override { return clusters_; }
  void cell_components(std::size_t row, std::size_t cell, std::vector<CellComponent>& out) const override {
    out.assign(1, {static_cast<std::size_t>(labels_[row]), 1.0});
    const std::size_t place = filled_.place_of(row, cell);
    if (place < filled_.cells_size()) out.front().component = clusters_ + 1 + place;
  }
  std::size_t component_count() const override {
    return clusters_ + 1 + filled_.cells_size() + new_rows_.size();
  }
  CellPredictive predict_cell(std::size_t component, std::size_t cell) const override {
    if (component <= clusters_) return family_->predict_cell(stats(component), cell);
    std::vector<double> others;
    const Context context = context_of(component, others);
    return family_->predict_cell_given(context.stats, context.row, cell);
  }
  double log_cell(std::size_t component, std::size_t cell, double value) const override {
    if (component <= clusters_) return family_->cell_log_predictive(stats(component), cell, value);
    std::vector<double> others;
    const Context context = context_of(component, others);
    return family_->cell_log_predictive_given(context.stats, context.row, cell, value);
  }

  void log_densities_without(std::size_t row, std::span<const double> variants,
                             std::span<double> out) const override {
    const auto own = static_cast<std::size_t>(labels_[row]);
    std::vector<double> others;
    filled_.stats_without(row, labels_, stats(own), others);
    PredictiveCache own_cache;
    own_cache.fill(*family_, 1, [&](std::size_t) { return others.data(); });
    const Rows& rows = filled_.rows();
    const double copies = rows.copies_of(row);
    // All copies of a row leave together.
    const NextRow last =
        rows.has_copies ? NextRow(alpha_value_, std::max(1.0, rows.copies() - copies)) : *last_row_;
    const bool is_alone = count_of(stats(own)) < copies + 0.5;
    std::vector<double> weights;
    for (std::size_t cluster = 0; cluster < clusters_; ++cluster)
      weights.push_back(cluster != own ? last.log_join(count_of(stats(cluster)))
                        : is_alone     ? kMinusInfinity
                                       : last.log_join(count_of(others.data())));
    // The only row there is opens a cluster for certain.
    weights.push_back(labels_.size() == 1 ? 0.0 : last.log_open());
    AlignedVector log_predictive, own_predictive;
    std::vector<double> terms(clusters_ + 1);
    for (std::size_t k = 0; k < out.size(); ++k) {
      const double* variant = variants.data() + k * family_->width();
      cache_.log_predictives(variant, log_predictive);
      own_cache.log_predictives(variant, own_predictive);
      log_predictive[own] = own_predictive[0];
      for (std::size_t cluster = 0; cluster <= clusters_; ++cluster)
        terms[cluster] = weights[cluster] + log_predictive[cluster];
      out[k] = log_sum_exp(terms);
    }
  }

  bool pair_densities(const CellValues& a, const CellValues& b, std::span<double> out) const override {
    const auto is_joint = [&](std::size_t cell) { return family_->of_cells({&cell, 1}) == nullptr; };
    if (is_joint(a.cell) && is_joint(b.cell)) return false;
    std::vector<double> row(family_->width(), kMissing);
    AlignedVector log_predictive;
    const auto densities_of = [&](const CellValues& cell) {
      std::vector<double> logs;
      for (const double value : cell.values) {
        row[cell.cell] = value;
        cache_.log_predictives(row.data(), log_predictive);
        logs.insert(logs.end(), log_predictive.begin(),
                    log_predictive.begin() + static_cast<std::ptrdiff_t>(clusters_ + 1));
      }
      row[cell.cell] = kMissing;
      return logs;
    };
    std::vector<double> of_a = densities_of(a);
    std::vector<double> of_b = densities_of(b);
    mix_pairs(log_prior_, of_a, of_b, out);
    return true;
  }

  void draw_members(std::size_t cluster, std::size_t count, Stream& stream, double* rows) const override {
    draw_members_of(*family_, stats(cluster), count, stream, rows);
  }

  /// Not for several threads at once: rows that are asked for become components.
  double condition_cells(const double* row, std::span<const std::size_t> cells,
                         std::vector<std::vector<CellComponent>>& mixtures) const override {
    std::vector<double> log_joint(clusters_ + 1);
    log_weights(row, 1, log_joint);
    std::vector<CellComponent> mixture;
    const double log_density = make_mixture(log_joint, 0, mixture);
    mixtures.assign(cells.size(), mixture);
    std::vector<CellComponent> given;  // the same clusters, given what the row has
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (!family_->must_fill(cells[i])) continue;
      for (std::size_t part = given.size(); part < mixture.size(); ++part) {
        given.push_back({component_count(), mixture[part].weight});
        new_rows_.push_back({stats(mixture[part].component), row});
      }
      mixtures[i] = given;
    }
    return log_density;
  }
  NewColumn new_column(const Family& family, const Rows& column) const override {
    return {log_marginal_of_clusters(family, column, labels_), kMinusInfinity};
  }
  void draw_row(Stream& stream, double* row) const override {
    std::vector<double> log_shares = log_prior_;
    // Where rows have copies, predictives have the factor of the seats that these have beside the rows.
    if (filled_.rows().has_copies)
      for (std::size_t cluster = 0; cluster < clusters_; ++cluster)
        log_shares[cluster] = next_row_->log_join(count_of(stats(cluster) + 1));
    draw_member(*family_, stats(draw_from_logs(stream, log_shares)), stream, row);
  }

  void log_weights(const double* row, std::size_t, std::span<double> out) const override {
    AlignedVector log_predictive;
    weigh_clusters(row, log_predictive, out.data());
  }
  void log_weights_of_rows(std::span<const double> rows, std::size_t width, std::size_t, std::size_t stride,
                           std::span<double> out) const override {
    AlignedVector log_predictive;
    for (std::size_t i = 0; i * width < rows.size(); ++i)
      weigh_clusters(rows.data() + i * width, log_predictive, out.data() + i * stride);
  }

 private:
  /// A row with present cells, and the statistics of a cluster without it.
  struct Context {
    const double* stats;
    const double* row;
  };

  const double* stats(std::size_t cluster) const {
    return cluster == clusters_ ? empty_.data() : stats_.data() + cluster * family_->stats_size();
  }
  double* stats_of(std::size_t cluster) { return stats_.data() + cluster * family_->stats_size(); }

  /// Log weights of the clusters and of a new one, with room for log predictives.
  void weigh_clusters(const double* row, AlignedVector& log_predictive, double* out) const {
    cache_.log_predictives(row, log_predictive);
    for (std::size_t cluster = 0; cluster <= clusters_; ++cluster)
      out[cluster] = log_prior_[cluster] + log_predictive[cluster];
  }

  /// `others` has room for the statistics of a training row's cluster without the row.
  Context context_of(std::size_t component, std::vector<double>& others) const {
    const std::size_t place = component - clusters_ - 1;
    if (place >= filled_.cells_size()) return new_rows_[place - filled_.cells_size()];
    const std::size_t row = filled_.cells()[place].row;
    filled_.stats_without(row, labels_, stats(static_cast<std::size_t>(labels_[row])), others);
    return {others.data(), filled_.observed()[row]};
  }

  bool is_ngg_;
  std::size_t alpha_ = 0, sigma_ = 0, log_u_ = 0;  // places of their traces
  std::unique_ptr<Family> own_family_;             // if hyper-parameters are learned: with those of the draw
  const Family* family_;                           // the one that is in use
  FilledRows filled_;
  std::vector<double> empty_;
  Labels labels_;
  std::optional<NextRow> next_row_, last_row_;  // after all rows, and after all but one
  double alpha_value_ = 0.0;                    // of the draw
  std::size_t clusters_ = 0;
  std::vector<double> stats_, log_prior_;  // of the clusters; the priors have a new one at the end
  PredictiveCache cache_;
  mutable std::vector<Context> new_rows_;
};

}  // namespace

std::unique_ptr<Predictor> make_predictor(const Problem& problem) {
  return std::make_unique<MixturePredictor>(problem);
}

}  // namespace coppice::nrmm
