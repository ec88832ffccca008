// The log density per row of n rows under the normal with their moments is, but for a constant,
//   -(1/2) log|R| - sum of log sd - sum over log columns of the mean logarithm,
// R being the correlations. Flipping the scale of one column changes its standard deviation, the mean
// logarithm, and the share of its variance that the others leave: 1 / (R^-1)_jj before, and 1 - r' S r after,
// with r its new correlations and S the inverse of R without the column, which follows from R^-1.
#include "coppice/data/kinds/scales.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "coppice/data/kinds/unit_column.hpp"

namespace coppice {
namespace {

/// Keeps inverses finite; far below the share of variance that makes a column collinear.
constexpr double kRidge = 1e-9;
/// Less than this is a tie, in which the log scale stays.
constexpr double kTie = 1e-7;

/// What the logarithm gains in log density per row if the column is seen alone.
double gain_alone(const std::vector<double>& values) {
  double count = 0.0;
  double mean = 0.0, square = 0.0, log_mean = 0.0, log_square = 0.0;
  for (const double value : values) {
    if (is_missing(value)) continue;
    ++count;
    const double from = value - mean;
    mean += from / count;
    square += from * (value - mean);
    const double log_from = std::log(value) - log_mean;
    log_mean += log_from / count;
    log_square += log_from * (std::log(value) - log_mean);
  }
  return 0.5 * std::log(square / log_square) - log_mean;
}

struct Candidate {
  std::size_t column;    // in the table
  Eigen::Index at;       // among the real columns
  Eigen::Index logs_at;  // of its logarithms, behind the columns
  double gain;           // alone
};

class Scales {
 public:
  Scales(Eigen::MatrixXd correlations, Eigen::Index columns, std::vector<Candidate> candidates)
      : all_(std::move(correlations)), columns_(columns), candidates_(std::move(candidates)) {}

  /// Steepest ascent from one scale for all candidates; the log density up to a constant.
  double climb(bool from_logs, std::vector<bool>& logs) const {
    logs.assign(candidates_.size(), from_logs);
    Eigen::MatrixXd chosen;
    // Each flip raises the density, so that it ends; rounding must not make it endless.
    for (std::size_t flips = 0; flips <= 4 * candidates_.size(); ++flips) {
      select(logs, chosen);
      const Eigen::MatrixXd inverse =
          chosen.llt().solve(Eigen::MatrixXd::Identity(chosen.rows(), chosen.cols()));
      std::size_t best = candidates_.size();
      double best_gain = kTie;
      for (std::size_t c = 0; c < candidates_.size(); ++c)
        if (const double gain = gain_of_flip(c, logs, inverse); gain > best_gain) {
          best = c;
          best_gain = gain;
        }
      if (best == candidates_.size()) break;
      logs[best] = !logs[best];
    }
    select(logs, chosen);
    const Eigen::MatrixXd factor = chosen.llt().matrixL();
    double total = -factor.diagonal().array().log().sum();
    for (std::size_t c = 0; c < candidates_.size(); ++c)
      if (logs[c]) total += candidates_[c].gain;
    return total;
  }

 private:
  std::vector<Eigen::Index> places(const std::vector<bool>& logs) const {
    std::vector<Eigen::Index> list(static_cast<std::size_t>(columns_));
    for (Eigen::Index j = 0; j < columns_; ++j) list[static_cast<std::size_t>(j)] = j;
    for (std::size_t c = 0; c < candidates_.size(); ++c)
      if (logs[c]) list[static_cast<std::size_t>(candidates_[c].at)] = candidates_[c].logs_at;
    return list;
  }
  void select(const std::vector<bool>& logs, Eigen::MatrixXd& chosen) const {
    const std::vector<Eigen::Index> list = places(logs);
    chosen = all_(list, list);
    chosen.diagonal().array() += kRidge;
  }
  double gain_of_flip(std::size_t c, const std::vector<bool>& logs, const Eigen::MatrixXd& inverse) const {
    const Candidate& candidate = candidates_[c];
    const Eigen::Index other = logs[c] ? candidate.at : candidate.logs_at;
    Eigen::VectorXd r = all_(places(logs), other);
    r[candidate.at] = 0.0;
    const double own = inverse(candidate.at, candidate.at);
    const double across = inverse.col(candidate.at).dot(r);
    const double explained = r.dot(inverse * r) - across * across / own;
    const double left = std::max(1.0 + kRidge - explained, kRidge);
    return -0.5 * std::log(own * left) + (logs[c] ? -candidate.gain : candidate.gain);
  }

  Eigen::MatrixXd all_;  // correlations of all columns as they are, and of the candidates' logarithms
  Eigen::Index columns_;
  std::vector<Candidate> candidates_;
};

}  // namespace

std::vector<std::size_t> find_better_without_log(std::span<const Column> columns,
                                                 std::span<const ColumnSpec> specs, const KindRules& rules) {
  if (columns.empty()) return {};
  const std::size_t rows = columns[0].values.size();
  const std::size_t wanted = std::max(kSampleRows, 8 * rules.collinear_columns);
  std::vector<Eigen::VectorXd> vectors, logarithms;
  std::vector<Candidate> candidates;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    if (columns[j].kind != Kind::real || specs[j].hurdle) continue;
    const bool is_log = specs[j].transform == "log";
    const bool is_open = is_log && specs[j].inferred;
    Eigen::VectorXd as_it_is = unit_column(columns[j].values, wanted, is_log && !is_open);
    if (as_it_is.size() == 0) continue;
    if (is_open) {
      candidates.push_back({j, static_cast<Eigen::Index>(vectors.size()), 0, gain_alone(columns[j].values)});
      logarithms.push_back(unit_column(columns[j].values, wanted, true));
    }
    vectors.push_back(std::move(as_it_is));
  }
  const std::size_t count = vectors.size();
  if (candidates.empty() || count < 2 || count > rules.collinear_columns || rows < 2 * count + 20) return {};
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    if (logarithms[c].size() == 0) return {};
    candidates[c].logs_at = static_cast<Eigen::Index>(vectors.size());
    vectors.push_back(std::move(logarithms[c]));
  }
  Eigen::MatrixXd all(vectors[0].size(), static_cast<Eigen::Index>(vectors.size()));
  for (std::size_t j = 0; j < vectors.size(); ++j) all.col(static_cast<Eigen::Index>(j)) = vectors[j];
  const Scales scales(all.transpose() * all, static_cast<Eigen::Index>(count), candidates);
  std::vector<bool> logs, from_raw;
  const double density = scales.climb(true, logs);
  if (scales.climb(false, from_raw) > density + kTie) logs = from_raw;
  std::vector<std::size_t> better;
  for (std::size_t c = 0; c < candidates.size(); ++c)
    if (!logs[c]) better.push_back(candidates[c].column);
  return better;
}

}  // namespace coppice
