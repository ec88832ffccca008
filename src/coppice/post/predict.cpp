#include "coppice/post/predict.hpp"

#include <algorithm>
#include <cmath>

#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"
#include "coppice/base/parallel.hpp"
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
struct Overlap {
  struct Cell {
    std::size_t group;
    double count;
  };
  std::vector<Cell> cells;
  std::vector<std::size_t> begin;  // of each cluster's cells; one more than clusters
  std::vector<double> size;        // of each cluster

  std::span<const Cell> of(std::size_t cluster) const {
    return std::span(cells).subspan(begin[cluster], begin[cluster + 1] - begin[cluster]);
  }
};

Overlap make_overlap(std::span<const Label> labels, std::size_t clusters, std::span<const Label> consensus,
                     std::size_t groups) {
  Overlap overlap;
  overlap.begin.assign(clusters + 1, 0);
  overlap.size.assign(clusters, 0.0);
  PairCounter counter;
  counter.for_each_cell(labels, clusters, consensus, groups,
                        [&](std::size_t cluster, std::size_t group, std::size_t n) {
                          overlap.cells.push_back({group, static_cast<double>(n)});
                          overlap.begin[cluster + 1] = overlap.cells.size();
                          overlap.size[cluster] += static_cast<double>(n);
                        });
  for (std::size_t cluster = 0; cluster < clusters; ++cluster)
    overlap.begin[cluster + 1] = std::max(overlap.begin[cluster + 1], overlap.begin[cluster]);
  return overlap;
}

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
/// proportional to the sum over draws of p(row, group | draw).
struct RowSums {
  RunningLogSum density;

  /// Adds a draw that gives the row this log density; what an earlier draw's weight must be multiplied by,
  /// and the weight of this one.
  struct Weights {
    double earlier;
    double own;
  };
  Weights add(double log_density) {
    const double before = density.largest;
    density.add(log_density);
    return {before == kMinusInfinity ? 0.0 : std::exp(before - density.largest),
            std::exp(log_density - density.largest)};
  }
};

/// One row under one draw.
void add_draw(const Predictor& predictor, std::size_t level, const Overlap& overlap, const double* row,
              std::span<double> weights, Prediction& prediction, RowSums& sums) {
  const std::size_t clusters = predictor.clusters(level);
  predictor.log_weights(row, level, weights);
  const double largest = *std::max_element(weights.begin(), weights.end());
  if (!(largest > kMinusInfinity)) return;
  double total = 0.0;
  for (double& value : weights) total += value = std::exp(value - largest);
  const RowSums::Weights weight = sums.add(largest + std::log(total));
  if (weight.earlier != 1.0) {
    for (double& p : prediction.probabilities) p *= weight.earlier;
    prediction.new_probability *= weight.earlier;
  }
  for (std::size_t cluster = 0; cluster < clusters; ++cluster) {
    const double share = weight.own * weights[cluster] / (total * overlap.size[cluster]);
    for (const Overlap::Cell& cell : overlap.of(cluster))
      prediction.probabilities[cell.group] += share * cell.count;
  }
  prediction.new_probability += weight.own * weights[clusters] / total;
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
  prediction.log_density = sums.density.value() - log_draws;
  prediction.entropy = entropy_of(prediction.probabilities, prediction.new_probability);
  const auto best = std::max_element(prediction.probabilities.begin(), prediction.probabilities.end());
  if (*best >= prediction.new_probability)
    prediction.cluster = static_cast<Label>(best - prediction.probabilities.begin());
}

/// One training row under one draw.
void add_membership(const Overlap& overlap, std::size_t cluster, bool all_of_its_group, Membership& row) {
  const auto own = static_cast<std::size_t>(row.cluster);
  const double others = overlap.size[cluster] - 1.0;
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
      overlaps[d] = make_overlap(batch[d].labels.subspan((options.level - 1) * run.rows(), run.rows()),
                                 batch[d].predictor->clusters(options.level), consensus, groups);
    });
    parallel_for(chunks, options.threads, [&](std::size_t chunk) {
      std::vector<double> weights;
      const std::size_t end = std::min(rows.size(), (chunk + 1) * kRowsOfChunk);
      for (std::size_t d = 0; d < batch.size(); ++d) {
        weights.resize(batch[d].predictor->clusters(options.level) + 1);
        for (std::size_t i = chunk * kRowsOfChunk; i < end; ++i)
          add_draw(*batch[d].predictor, options.level, overlaps[d], rows[i], weights, predictions[i],
                   sums[i]);
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
    const Overlap overlap = make_overlap(labels, clusters, consensus, groups);
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
