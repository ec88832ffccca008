#include "coppice/post/predict.hpp"

#include <algorithm>
#include <cmath>

#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"
#include "coppice/base/parallel.hpp"
#include "coppice/cluster/draw_weights.hpp"
#include "coppice/post/density_units.hpp"
#include "coppice/post/draw_batches.hpp"
#include "coppice/shape/contingency.hpp"

namespace coppice {
namespace {

/// Training cells whose statistics are rebuilt in a few seconds, and the draws that are used whatever it
/// takes.
constexpr std::size_t kCellBudget = 500'000'000;
constexpr std::size_t kLeastPredictingDraws = 100;
constexpr std::size_t kRowsOfChunk = 32;
constexpr std::size_t kTrainingRowsOfChunk = 1024;

std::size_t count_consensus_clusters(std::span<const Label> consensus, std::size_t rows) {
  if (consensus.size() != rows)
    fail(ErrorCode::usage, "there are {} consensus labels for {} rows", consensus.size(), rows);
  Label largest = -1;
  for (const Label label : consensus) {
    if (label < 0) fail(ErrorCode::usage, "consensus label {} is negative; clusters count from 0", label);
    largest = std::max(largest, label);
  }
  return static_cast<std::size_t>(largest) + 1;
}

/// The cells of a draw's clusters against the groups, cluster after cluster.
class Overlap {
 public:
  struct Cell {
    std::size_t group;
    double count;
    double share = 0.0;  // of the cluster
  };

  Overlap() = default;
  /// Every row counts once.
  Overlap(std::span<const Label> labels, std::size_t clusters, std::span<const Label> consensus,
          std::size_t groups)
      : begin_(clusters + 1, 0) {
    PairCounter counter;
    counter.for_each_cell(labels, clusters, consensus, groups,
                          [&](std::size_t cluster, std::size_t group, std::size_t n) {
                            cells_.push_back({group, static_cast<double>(n)});
                            begin_[cluster + 1] = cells_.size();
                          });
    for (std::size_t cluster = 0; cluster < clusters; ++cluster)
      begin_[cluster + 1] = std::max(begin_[cluster + 1], begin_[cluster]);
    find_shares();
  }

  /// Every row counts as its copies.
  void count_copies(std::span<const Label> labels, std::span<const Label> consensus, const Rows& rows) {
    for (Cell& cell : cells_) cell.count = 0.0;
    for (std::size_t row = 0; row < labels.size(); ++row) {
      const std::span<Cell> cells = cells_of(static_cast<std::size_t>(labels[row]));
      const auto group = static_cast<std::size_t>(consensus[row]);
      std::ranges::lower_bound(cells, group, {}, &Cell::group)->count += rows.copies_of(row);
    }
    find_shares();
  }

  std::span<const Cell> of(std::size_t cluster) const {
    return std::span(cells_).subspan(begin_[cluster], begin_[cluster + 1] - begin_[cluster]);
  }
  double size(std::size_t cluster) const { return size_[cluster]; }

 private:
  std::span<Cell> cells_of(std::size_t cluster) {
    return std::span(cells_).subspan(begin_[cluster], begin_[cluster + 1] - begin_[cluster]);
  }
  void find_shares() {
    size_.assign(begin_.size() - 1, 0.0);
    for (std::size_t cluster = 0; cluster < size_.size(); ++cluster) {
      for (const Cell& cell : of(cluster)) size_[cluster] += cell.count;
      for (Cell& cell : cells_of(cluster)) cell.share = cell.count / size_[cluster];
    }
  }

  std::vector<Cell> cells_;         // those of a cluster by ascending group
  std::vector<std::size_t> begin_;  // of each cluster's cells; one more than clusters
  std::vector<double> size_;        // of each cluster
};

/// log of a sum of exponentials that comes term by term.
struct RunningLogSum {
  double largest = kMinusInfinity;
  double sum = 0.0;  // of exp(term - largest)

  void add(double term) {
    if (term == kMinusInfinity) return;
    if (term > largest) {
      sum = sum * std::exp(largest - term) + 1.0;
      largest = term;
    } else {
      sum += std::exp(term - largest);
    }
  }
  double value() const { return sum > 0.0 ? largest + std::log(sum) : kMinusInfinity; }
};

/// Most families judge a row by its present cells.
void check_rows(const SavedRun& run, const Rows& rows) {
  if (rows.size() == 0) return;
  if (rows.width != run.setup().rows.width)
    fail(ErrorCode::usage, "the new rows have {} cells, the rows of the run {}", rows.width,
         run.setup().rows.width);
  std::size_t place = 0;
  for (const FamilyPlan::Block& block : run.setup().plan.blocks) {
    const bool must_be_complete = !family_by_name(block.family).gaps_in_new_rows;
    for (const std::size_t column : block.columns) {
      for (std::size_t i = 0; must_be_complete && i < rows.size(); ++i)
        if (is_missing(rows[i][place]))
          fail(ErrorCode::bad_data, "new row {}: column '{}' is missing, but family {} needs complete rows",
               i + 1, run.table().columns[column].name, block.family);
      ++place;
    }
  }
}

/// A row's sums over draws, each draw weighted by the density that it gives the row: p(group | row) is
/// proportional to the sum over draws of p(row, group | draw). Densities are relative to a reference, the
/// largest weight of a cluster so far.
struct RowSums {
  double log_reference = kMinusInfinity;
  double density = 0.0;

  /// Adds a draw under which the weights of clusters sum to this: what earlier draws must be multiplied by,
  /// and its own weights.
  struct Factors {
    double earlier;
    double own;
  };
  Factors add(const RelativeSum& draw) {
    Factors factors{1.0, 1.0};
    if (draw.log_largest > log_reference) {
      factors.earlier = std::exp(log_reference - draw.log_largest);
      log_reference = draw.log_largest;
    } else {
      factors.own = std::exp(draw.log_largest - log_reference);
    }
    density = density * factors.earlier + draw.sum * factors.own;
    return factors;
  }
  double log_density() const { return density > 0.0 ? log_reference + std::log(density) : kMinusInfinity; }
};

/// One row under one draw; `weights` are the log weights of the clusters, of a new one, and pads of minus
/// infinity.
void add_draw(const Overlap& overlap, std::size_t clusters, std::span<double> weights, Prediction& prediction,
              RowSums& sums) {
  const RelativeSum draw = exponentiate(weights.data(), weights.size());
  if (!(draw.log_largest > kMinusInfinity)) return;
  const RowSums::Factors factors = sums.add(draw);
  if (factors.earlier != 1.0) {
    for (double& p : prediction.probabilities) p *= factors.earlier;
    prediction.new_probability *= factors.earlier;
  }
  for (std::size_t cluster = 0; cluster < clusters; ++cluster) {
    const double weight = factors.own * weights[cluster];
    for (const Overlap::Cell& cell : overlap.of(cluster))
      prediction.probabilities[cell.group] += weight * cell.share;
  }
  prediction.new_probability += factors.own * weights[clusters];
}

/// The log of what the draws' weights of clusters sum to. One for each draw, except where the weights are
/// those of a process whose latent variable was drawn (ngg): there they average to one. Dividing by what they
/// sum to makes every density integrate to one. They are measured by a row that every cluster gives
/// probability one: without cells, or, of families that need complete rows, without counts.
class WeightsOfDraws {
 public:
  explicit WeightsOfDraws(const SavedRun& run) {
    for (const FamilyPlan::Block& block : run.setup().plan.blocks)
      empty_row_.insert(empty_row_.end(), block.columns.size(),
                        family_by_name(block.family).gaps_in_new_rows ? kMissing : 0.0);
    empty_row_.resize(run.setup().rows.width, kMissing);  // of weighted rows also the number of copies
  }
  void add(const Predictor& predictor, std::size_t level) {
    weights_.resize(predictor.clusters(level) + 1);
    predictor.log_weights(empty_row_.data(), level, weights_);
    sum_.add(log_sum_exp(weights_));
  }
  double log_total() const { return sum_.value(); }

 private:
  std::vector<double> empty_row_, weights_;
  RunningLogSum sum_;
};

void finish(Prediction& prediction, const RowSums& sums, double log_draws) {
  double total = prediction.new_probability;
  for (const double p : prediction.probabilities) total += p;
  // A row that has density zero in every draw belongs to none of the groups.
  if (total > 0.0) {
    for (double& p : prediction.probabilities) p = std::min(p / total, 1.0);
    prediction.new_probability = std::min(prediction.new_probability / total, 1.0);
  } else {
    prediction.new_probability = 1.0;
  }
  prediction.log_density = sums.log_density() - log_draws;
  prediction.entropy = entropy_of(prediction.probabilities, prediction.new_probability);
  const auto best = std::max_element(prediction.probabilities.begin(), prediction.probabilities.end());
  if (*best >= prediction.new_probability)
    prediction.cluster = static_cast<Label>(best - prediction.probabilities.begin());
}

/// One training row under one draw.
void add_membership(const Overlap& overlap, std::size_t cluster, bool all_of_its_group, Membership& row) {
  const auto own = static_cast<std::size_t>(row.cluster);
  const double others = overlap.size(cluster) - 1.0;
  if (others == 0.0) {
    (all_of_its_group ? row.probabilities[own] : row.alone) += 1.0;
    return;
  }
  for (const Overlap::Cell& cell : overlap.of(cluster))
    row.probabilities[cell.group] += (cell.count - (cell.group == own ? 1.0 : 0.0)) / others;
}

}  // namespace

double entropy_of(std::span<const double> probabilities, double rest) {
  const auto term = [](double p) { return p > 0.0 ? -p * std::log(p) : 0.0; };
  double entropy = term(rest);
  for (const double p : probabilities) entropy += term(p);
  return std::max(entropy, 0.0);
}

std::size_t draws_for_prediction(const SavedRun& run, std::size_t most_draws) {
  if (most_draws == 0) {
    const std::size_t cells = std::max<std::size_t>(1, run.rows() * run.setup().rows.width);
    most_draws = std::max(kLeastPredictingDraws, kCellBudget / cells);
  }
  return evenly_spaced_draws(run, most_draws);
}

std::vector<Prediction> predict(const SavedRun& run, const Rows& rows, std::span<const Label> consensus,
                                const PredictOptions& options) {
  const std::size_t groups = count_consensus_clusters(consensus, run.rows());
  check_rows(run, rows);
  std::vector<Prediction> predictions(rows.size());
  for (Prediction& prediction : predictions) prediction.probabilities.assign(groups, 0.0);
  std::vector<RowSums> sums(rows.size());
  WeightsOfDraws all_draws(run);
  const std::size_t chunks = (rows.size() + kRowsOfChunk - 1) / kRowsOfChunk;
  const std::size_t most = draws_for_prediction(run, options.most_draws);
  for_each_batch(run, most, options.threads, [&](std::span<const TakenDraw> batch) {
    for (const TakenDraw& draw : batch) all_draws.add(*draw.predictor, options.level);
    std::vector<Overlap> overlaps(batch.size());
    parallel_for(batch.size(), options.threads, [&](std::size_t d) {
      const auto labels = batch[d].labels.subspan((options.level - 1) * run.rows(), run.rows());
      overlaps[d] = Overlap(labels, batch[d].predictor->clusters(options.level), consensus, groups);
      if (run.setup().rows.has_copies) overlaps[d].count_copies(labels, consensus, run.setup().rows);
    });
    parallel_for(chunks, options.threads, [&](std::size_t chunk) {
      AlignedVector weights;
      const std::size_t begin = chunk * kRowsOfChunk;
      const std::size_t count = std::min(rows.size() - begin, kRowsOfChunk);
      for (std::size_t d = 0; d < batch.size(); ++d) {
        const std::size_t clusters = batch[d].predictor->clusters(options.level);
        const std::size_t stride = (clusters + kLanes) / kLanes * kLanes;
        weights.assign(count * stride, kMinusInfinity);
        batch[d].predictor->log_weights_of_rows({rows[begin], count * rows.width}, rows.width, options.level,
                                                stride, weights);
        for (std::size_t i = 0; i < count; ++i)
          add_draw(overlaps[d], clusters, std::span(weights).subspan(i * stride, stride),
                   predictions[begin + i], sums[begin + i]);
      }
    });
  });
  const DensityUnits units(run);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    finish(predictions[i], sums[i], all_draws.log_total());
    predictions[i].log_density += units.log_factor(rows[i]);
  }
  return predictions;
}

void follow_paths(std::span<std::vector<Prediction>> levels, std::span<const Labels> consensus) {
  for (std::size_t l = 1; l < levels.size(); ++l) {
    std::vector<Label> parent(count_consensus_clusters(consensus[l], consensus[l].size()));
    for (std::size_t i = 0; i < consensus[l].size(); ++i)
      parent[static_cast<std::size_t>(consensus[l][i])] = consensus[l - 1][i];
    for (std::size_t row = 0; row < levels[l].size(); ++row) {
      Prediction& p = levels[l][row];
      const Label above = levels[l - 1][row].cluster;
      p.cluster = kNewCluster;
      double best = p.new_probability;
      for (std::size_t c = 0; above != kNewCluster && c < parent.size(); ++c)
        if (parent[c] == above && p.probabilities[c] >= best) {
          best = p.probabilities[c];
          p.cluster = static_cast<Label>(c);
        }
    }
  }
}

std::vector<Membership> membership(const LabelMatrix& draws, std::span<const Label> consensus,
                                   std::size_t threads) {
  if (draws.draws() == 0) fail(ErrorCode::usage, "membership: there are no draws");
  const std::size_t n = draws.rows;
  const std::size_t groups = count_consensus_clusters(consensus, n);
  std::vector<std::size_t> group_sizes(groups, 0);
  for (const Label label : consensus) ++group_sizes[static_cast<std::size_t>(label)];
  std::vector<Membership> result(n);
  for (std::size_t i = 0; i < n; ++i) {
    result[i].cluster = consensus[i];
    result[i].probabilities.assign(groups, 0.0);
  }
  Labels labels(n);
  for (std::size_t d = 0; d < draws.draws(); ++d) {
    const std::size_t clusters = compact_labels(draws[d], labels);
    const Overlap overlap(labels, clusters, consensus, groups);
    parallel_for((n + kTrainingRowsOfChunk - 1) / kTrainingRowsOfChunk, threads, [&](std::size_t chunk) {
      const std::size_t end = std::min(n, (chunk + 1) * kTrainingRowsOfChunk);
      for (std::size_t i = chunk * kTrainingRowsOfChunk; i < end; ++i)
        add_membership(overlap, static_cast<std::size_t>(labels[i]),
                       group_sizes[static_cast<std::size_t>(consensus[i])] == 1, result[i]);
    });
  }
  const auto total = static_cast<double>(draws.draws());
  for (Membership& row : result) {
    for (double& p : row.probabilities) p /= total;
    row.alone /= total;
    row.entropy = entropy_of(row.probabilities, row.alone);
  }
  return result;
}

std::vector<AmbiguousRow> most_ambiguous(std::span<const Membership> rows, std::size_t most) {
  // Certain rows may miss a probability of one by rounding.
  constexpr double kNoDoubt = 1e-9;
  std::vector<AmbiguousRow> list;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Membership& row = rows[i];
    if (row.entropy <= kNoDoubt) continue;
    const auto own = static_cast<std::size_t>(row.cluster);
    AmbiguousRow entry{i, row.cluster, row.probabilities[own], kNewCluster, 0.0, row.entropy};
    for (std::size_t g = 0; g < row.probabilities.size(); ++g) {
      if (g == own || row.probabilities[g] <= entry.rival_probability) continue;
      entry.rival = static_cast<Label>(g);
      entry.rival_probability = row.probabilities[g];
    }
    if (row.alone > entry.rival_probability) {
      entry.rival = kNewCluster;
      entry.rival_probability = row.alone;
    }
    list.push_back(entry);
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const AmbiguousRow& a, const AmbiguousRow& b) { return a.entropy > b.entropy; });
  list.resize(std::min(list.size(), most));
  return list;
}

}  // namespace coppice
