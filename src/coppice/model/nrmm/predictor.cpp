#include "coppice/model/nrmm/predictor.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "coppice/cluster/new_column.hpp"
#include "coppice/model/new_cells.hpp"
#include "coppice/model/nrmm/inference.hpp"
#include "coppice/model/nrmm/process.hpp"
#include "coppice/model/stats_predictor.hpp"
#include "coppice/model/trace_table.hpp"

namespace coppice::nrmm {
namespace {

class MixturePredictor final : public StatsPredictor, public NewCells {
 public:
  explicit MixturePredictor(const Problem& problem)
      : StatsPredictor(problem),
        is_ngg_(is_ngg(problem.parameters)),
        family_(problem.family),
        rows_(problem.rows),
        empty_(problem.family->stats_size()) {
    family_->clear(empty_.data());
    const std::vector<TraceInfo> traces = nrmm::traces(problem.parameters);
    alpha_ = trace_place(traces, "alpha");
    if (!is_ngg_) return;
    sigma_ = trace_place(traces, "sigma");
    log_u_ = trace_place(traces, "log_u");
  }

  void set_draw(std::span<const Label> labels, std::span<const double> traces, std::string_view) override {
    labels_.assign(labels.begin(), labels.end());
    next_row_ = is_ngg_ ? NextRow(traces[alpha_], traces[sigma_], traces[log_u_], rows_->size())
                        : NextRow(traces[alpha_], rows_->size());
    clusters_ = 0;
    for (const Label label : labels) clusters_ = std::max(clusters_, static_cast<std::size_t>(label) + 1);
    stats_.resize(clusters_ * family_->stats_size());
    for (std::size_t cluster = 0; cluster < clusters_; ++cluster) family_->clear(stats_of(cluster));
    for (std::size_t row = 0; row < labels.size(); ++row)
      family_->add(stats_of(static_cast<std::size_t>(labels[row])), (*rows_)[row]);
  }

  std::size_t clusters(std::size_t) const override { return clusters_; }
  void cell_components(std::size_t row, std::size_t, std::vector<CellComponent>& out) const override {
    out.assign(1, {static_cast<std::size_t>(labels_[row]), 1.0});
  }
  /// The last one is a new cluster.
  std::size_t component_count() const override { return clusters_ + 1; }
  double condition_cells(const double* row, std::span<const std::size_t> cells,
                         std::vector<std::vector<CellComponent>>& mixtures) const override {
    std::vector<double> log_joint(clusters_ + 1);
    log_weights(row, 1, log_joint);
    mixtures.resize(1);
    const double log_density = make_mixture(log_joint, 0, mixtures.front());
    mixtures.resize(cells.size(), mixtures.front());
    return log_density;
  }
  NewColumn new_column(const Family& family, const Rows& column) const override {
    return {log_marginal_of_clusters(family, column, labels_), kMinusInfinity};
  }
  void draw_row(Stream& stream, double* row) const override {
    std::vector<double> log_shares;
    for (std::size_t cluster = 0; cluster < clusters_; ++cluster)
      log_shares.push_back(next_row_->log_join(count_of(stats(cluster))));
    log_shares.push_back(next_row_->log_open());
    draw_member(*family_, stats(draw_from_logs(stream, log_shares)), stream, row);
  }

  void log_weights(const double* row, std::size_t, std::span<double> out) const override {
    for (std::size_t cluster = 0; cluster < clusters_; ++cluster)
      out[cluster] =
          next_row_->log_join(count_of(stats(cluster))) + family_->log_predictive(stats(cluster), row);
    out[clusters_] = next_row_->log_open() + family_->log_predictive(empty_.data(), row);
  }

  const double* stats(std::size_t cluster) const override {
    return cluster == clusters_ ? empty_.data() : stats_.data() + cluster * family_->stats_size();
  }

 private:
  double* stats_of(std::size_t cluster) { return stats_.data() + cluster * family_->stats_size(); }

  bool is_ngg_;
  std::size_t alpha_ = 0, sigma_ = 0, log_u_ = 0;  // places of their traces
  const Family* family_;
  const Rows* rows_;
  std::vector<double> empty_;
  Labels labels_;
  std::optional<NextRow> next_row_;
  std::size_t clusters_ = 0;
  std::vector<double> stats_;
};

}  // namespace

std::unique_ptr<Predictor> make_predictor(const Problem& problem) {
  return std::make_unique<MixturePredictor>(problem);
}

}  // namespace coppice::nrmm
