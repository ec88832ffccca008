#include "coppice/post/consensus.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "coppice/base/error.hpp"
#include "coppice/post/coclustering.hpp"
#include "coppice/post/descent.hpp"
#include "coppice/post/draw_bound.hpp"
#include "coppice/post/draw_set.hpp"
#include "coppice/post/linkage.hpp"
#include "coppice/shape/contingency.hpp"

namespace coppice {

namespace {

constexpr std::size_t kScreenedDraws = 128;  // candidates compared with kReferenceDraws of the draws
constexpr std::size_t kReferenceDraws = 16;
constexpr std::size_t kExactDraws = 4;     // the best of them, compared with all draws
constexpr double kScreenWork = 1e8;        // labels read in screening
constexpr double kDescentWork = 1.5e10;    // table cells read in all descents together; about ten seconds
constexpr double kMoreStartsWork = 2.5e8;  // no further start once this much is used
constexpr double kSmallWork = 2e6;  // as long as no more was used, further starts cost nothing anyone notices
constexpr double kBoundWork = 8e9;  // row pairs read to exclude draws by their lower bound
// A draw whose loss to that many representative draws is so many standard errors above that of the best
// partition is not compared with all of them, which would take time in proportion to the square of the number
// of draws. The errors are those of the difference: what is far from one partition is often far from both.
constexpr std::size_t kSampleSizes[] = {32, 128, 512, 1024, 2048, 4096};
constexpr double kStandardErrors = 6.0;
constexpr std::size_t kSmallSamples = 2;  // the first of these, which exclude faster than the lower bound
// With more draws starts are improved on so many of them, evenly spaced, and only the best one on all.
constexpr std::size_t kManyDraws = 8192;
constexpr std::size_t kDrawsOfStarts = 2048;
constexpr std::size_t kTableCells = 12'000'000;  // of a descent and of the linkage cuts: 150 MB at most

struct Candidate {
  Labels labels;
  std::size_t clusters = 0;
  double loss = 0.0;
};

Candidate make_candidate(Labels labels, ExpectedLoss& loss) {
  Candidate candidate{std::move(labels), 0, 0.0};
  candidate.clusters = canonicalize(candidate.labels);
  candidate.loss = loss(candidate.labels, candidate.clusters);
  return candidate;
}

/// Draws at evenly spaced quantiles of the weights, each with how often it was met: their average estimates
/// that over all draws without bias, however unequal the weights are.
class RepresentativeDraws {
 public:
  RepresentativeDraws(const DrawSet& draws, std::size_t count)
      : count_(static_cast<double>(count)),
        left_out_(1.0 - count_ / static_cast<double>(draws.draws_used())) {
    double mass = 0.0;
    std::size_t t = 0;
    for (std::size_t d = 0; d < draws.size() && t < count; ++d) {
      mass += draws.weight(d);
      std::size_t times = 0;
      while (t < count && (static_cast<double>(t) + 0.5) / count_ <= mass + 1e-12) {
        ++times;
        ++t;
      }
      if (times > 0) chosen_.push_back({d, static_cast<double>(times)});
    }
  }

  /// Sets the partition with which others are compared.
  void compare_with(const ComparedPartition& found, ExpectedLoss& loss) {
    for (Chosen& draw : chosen_) draw.loss_of_found = loss.to_draw(found, draw.d);
  }
  /// Whether the expected loss of a partition is surely above that of the found one.
  bool is_above(const ComparedPartition& partition, ExpectedLoss& loss) const {
    double sum = 0.0;
    double squares = 0.0;
    for (const Chosen& draw : chosen_) {
      const double more = loss.to_draw(partition, draw.d) - draw.loss_of_found;
      sum += draw.times * more;
      squares += draw.times * more * more;
    }
    const double mean = sum / count_;
    const double variance = std::max(squares / count_ - mean * mean, 0.0);
    return mean > kStandardErrors * std::sqrt(left_out_ * variance / count_);
  }

 private:
  struct Chosen {
    std::size_t d;
    double times;
    double loss_of_found = 0.0;
  };
  double count_;
  double left_out_;  // fraction of all draws: a mean over nearly all of them is nearly certain
  std::vector<Chosen> chosen_;
};

class Search {
 public:
  Search(const LabelMatrix& given, const DrawSet& draws, const ConsensusOptions& options)
      : given_(given),
        draws_(draws),
        options_(options),
        loss_(draws, options.loss, options.join_cost),
        descent_(loss_, options.max_clusters, kTableCells) {}

  Consensus run() {
    add_candidate(Labels(draws_.rows(), 0));
    result_.best_linkage_loss = std::numeric_limits<double>::quiet_NaN();
    result_.best_draw_loss = std::numeric_limits<double>::infinity();
    if (draws_.rows() <= options_.matrix_rows) {
      counts_ = coclustering_counts(given_, options_.threads);
      add_linkage_cuts();
    }
    add_screened_draws();
    descend();
    check_excluded_draws();
    finish();
    return std::move(result_);
  }

 private:
  bool is_allowed(std::size_t clusters) const {
    return options_.max_clusters == 0 || clusters <= options_.max_clusters;
  }

  void add_candidate(Labels labels) { candidates_.push_back(make_candidate(std::move(labels), loss_)); }

  void add_linkage_cuts() {
    const std::size_t n = draws_.rows();
    std::vector<float> dissimilarity(n * n);
    const double scale = 1.0 / static_cast<double>(given_.draws());
    std::transform(counts_.begin(), counts_.end(), dissimilarity.begin(), [&](std::uint32_t count) {
      return static_cast<float>(1.0 - static_cast<double>(count) * scale);
    });
    const Linkage tree = average_linkage(std::move(dissimilarity), n);
    const std::size_t room = std::max<std::size_t>(kTableCells / draws_.all_clusters(), 1);
    // Under the VI, many more clusters than the draws have never pay; under Binder's loss, lone rows often
    // do.
    const std::size_t plausible =
        options_.loss == Loss::binder ? n : std::max({2 * draws_.most_clusters(), n / 8, std::size_t{64}});
    const std::size_t finest =
        std::min({n, room, plausible, options_.max_clusters == 0 ? n : options_.max_clusters});
    const std::vector<double> cut_losses = losses_of_cuts(tree, finest, loss_);
    std::vector<std::size_t> order(finest);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return cut_losses[a] < cut_losses[b]; });
    const bool is_small = static_cast<double>(n * draws_.size() * finest) < kSmallWork;
    const std::size_t kept = is_small ? std::min<std::size_t>(finest, 16) : std::min<std::size_t>(finest, 2);
    for (std::size_t c = 0; c < kept; ++c) add_candidate(cut_into(tree, order[c] + 1));
    result_.best_linkage_loss = cut_losses[order[0]];
  }

  void add_screened_draws() {
    const std::size_t references = std::min(kReferenceDraws, draws_.size());
    const auto affordable =
        static_cast<std::size_t>(kScreenWork / static_cast<double>(references * draws_.rows())) + kExactDraws;
    const std::size_t screened = std::min({kScreenedDraws, affordable, draws_.size()});
    std::vector<std::pair<double, std::size_t>> ranking;
    for (std::size_t t = 0; t < screened; ++t) {
      const std::size_t d = spaced(t, screened, draws_.size());
      if (!is_allowed(draws_.clusters(d))) continue;
      const ComparedPartition draw = loss_.prepare(draws_[d], draws_.clusters(d));
      double sum = 0.0;
      for (std::size_t r = 0; r < references; ++r) {
        sum += loss_.to_draw(draw, spaced(r, references, draws_.size()));
      }
      ranking.emplace_back(sum, d);
    }
    std::sort(ranking.begin(), ranking.end());
    const bool is_small = static_cast<double>(draws_.rows() * draws_.size() * screened) < kSmallWork;
    const std::size_t kept = is_small ? ranking.size() : std::min(kExactDraws, ranking.size());
    for (std::size_t c = 0; c < kept; ++c) {
      const auto labels = draws_[ranking[c].second];
      add_candidate(Labels(labels.begin(), labels.end()));
      result_.best_draw_loss = std::min(result_.best_draw_loss, candidates_.back().loss);
    }
  }

  void improve(Candidate candidate, Descent& descent) {
    candidate.clusters = descent.improve(candidate.labels, options_.sweeps, work_);
    candidate.loss = loss_(candidate.labels, candidate.clusters);
    if (best_.labels.empty() || candidate.loss < best_.loss) best_ = std::move(candidate);
  }

  void descend() {
    std::stable_sort(candidates_.begin(), candidates_.end(),
                     [](const Candidate& a, const Candidate& b) { return a.loss < b.loss; });
    best_ = candidates_.front();
    if (draws_.size() > kManyDraws) {
      const DrawSet some(given_, kDrawsOfStarts);
      ExpectedLoss loss(some, options_.loss);
      Descent descent(loss, options_.max_clusters, kTableCells);
      descend(descent);
      improve(best_, descent_);
    } else {
      descend(descent_);
    }
    candidates_.clear();
  }

  void descend(Descent& descent) {
    for (std::size_t c = 0; c < candidates_.size() && work_ > 0.0; ++c) {
      const double used = kDescentWork - work_;
      if (used > kMoreStartsWork || (c >= options_.descents && used > kSmallWork)) break;
      if (c > 0 && candidates_[c].labels == candidates_[c - 1].labels) continue;
      improve(candidates_[c], descent);
    }
  }

  // No draw may be better than the answer. Those that a lower bound does not exclude are evaluated.
  void check_excluded_draws() {
    const auto n = static_cast<double>(draws_.rows());
    if (counts_.empty() || draws_.draws_used() != given_.draws() || given_.draws() > 65535) return;
    if (options_.join_cost != 1.0) return;  // the bound is that of equal costs
    if (n > 65534.0 || n * n * static_cast<double>(draws_.size()) > kBoundWork) return;
    const Candidate found = best_;
    std::vector<RepresentativeDraws> samples;
    for (const std::size_t size : kSampleSizes)
      if (4 * draws_.size() > 5 * size) samples.emplace_back(draws_, size);
    const auto compare_with_best = [&] {
      const ComparedPartition best = loss_.prepare(best_.labels, best_.clusters);
      for (RepresentativeDraws& sample : samples) sample.compare_with(best, loss_);
    };
    compare_with_best();
    const std::span<const RepresentativeDraws> all_samples(samples);
    const auto small_samples = all_samples.first(std::min(kSmallSamples, samples.size()));
    const auto large_samples = all_samples.subspan(small_samples.size());
    const auto is_excluded = [&](std::size_t d, std::span<const RepresentativeDraws> by) {
      const ComparedPartition draw = loss_.prepare(draws_[d], draws_.clusters(d));
      return std::any_of(by.begin(), by.end(),
                         [&](const RepresentativeDraws& sample) { return sample.is_above(draw, loss_); });
    };
    std::vector<std::size_t> candidates;
    for (std::size_t d = 0; d < draws_.size(); ++d)
      if (is_allowed(draws_.clusters(d)) && !is_excluded(d, small_samples)) candidates.push_back(d);
    for (const std::size_t d :
         draws_below_bound(draws_, counts_, given_.draws(), options_.loss, found.labels, found.clusters,
                           found.loss * (1.0 - 1e-9) - 1e-12, std::move(candidates))) {
      const auto labels = draws_[d];
      if (is_excluded(d, large_samples)) continue;
      if (loss_(labels, draws_.clusters(d), best_.loss) >= best_.loss) continue;
      Candidate candidate = make_candidate(Labels(labels.begin(), labels.end()), loss_);
      result_.best_draw_loss = std::min(result_.best_draw_loss, candidate.loss);
      improve(std::move(candidate), descent_);
      compare_with_best();
    }
  }

  void finish();

  const LabelMatrix& given_;
  const DrawSet& draws_;
  const ConsensusOptions& options_;
  ExpectedLoss loss_;
  Descent descent_;
  double work_ = kDescentWork;
  std::vector<std::uint32_t> counts_;
  std::vector<Candidate> candidates_;
  Candidate best_;
  Consensus result_;
};

/// Fills in the answer for its labels and clusters; leaves the expected loss and those of candidates alone.
void describe(const DrawSet& draws, ExpectedLoss& loss, double credibility, Consensus& result) {
  const std::size_t n = draws.rows();
  result.draws_used = draws.draws_used();

  std::vector<std::size_t> sizes(result.clusters, 0);
  for (const Label label : result.labels) ++sizes[static_cast<std::size_t>(label)];
  const ComparedPartition answer = loss.prepare(result.labels, result.clusters);
  result.row_confidence.assign(n, 0.0);
  std::vector<std::pair<double, double>> distances;  // loss, weight
  PairCounter counter;
  std::vector<std::uint32_t> overlap(n);
  std::vector<std::size_t> draw_sizes;
  for (std::size_t d = 0; d < draws.size(); ++d) {
    distances.emplace_back(loss.to_draw(answer, d), draws.weight(d));
    const auto draw = draws[d];
    counter.overlaps(result.labels, result.clusters, draw, draws.clusters(d), overlap);
    draw_sizes.assign(draws.clusters(d), 0);
    for (const Label label : draw) ++draw_sizes[static_cast<std::size_t>(label)];
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t size = sizes[static_cast<std::size_t>(result.labels[i])];
      const bool alone_in_draw = draw_sizes[static_cast<std::size_t>(draw[i])] == 1;
      const double together = size == 1 ? (alone_in_draw ? 1.0 : 0.0)
                                        : static_cast<double>(overlap[i] - 1) / static_cast<double>(size - 1);
      result.row_confidence[i] += draws.weight(d) * together;
    }
  }
  std::sort(distances.begin(), distances.end());
  double mass = 0.0;
  for (const auto& [distance, weight] : distances) {
    result.ball_radius = distance;
    mass += weight;
    if (mass >= credibility - 1e-12) break;
  }
}

void Search::finish() {
  result_.expected_loss = best_.loss;
  result_.clusters = best_.clusters;
  result_.labels = std::move(best_.labels);
  describe(draws_, loss_, options_.credibility, result_);
}

void check_options(const ConsensusOptions& options) {
  if (!(options.credibility > 0.0 && options.credibility <= 1.0)) {
    fail(ErrorCode::usage, "consensus: a credibility of {} is not in (0, 1]", options.credibility);
  }
  if (!(options.join_cost > 0.0 && options.join_cost < 2.0))
    fail(ErrorCode::usage, "consensus: a cost of joining of {} is not in (0, 2)", options.join_cost);
}

}  // namespace

std::vector<bool> unassigned_rows(const Consensus& estimate) {
  const std::vector<std::size_t> sizes = cluster_sizes(estimate.labels);
  std::vector<bool> unassigned(estimate.labels.size(), false);
  if (estimate.clusters < 2) return unassigned;
  for (std::size_t row = 0; row < unassigned.size(); ++row)
    unassigned[row] =
        sizes[static_cast<std::size_t>(estimate.labels[row])] == 1 && estimate.row_confidence[row] < 0.5;
  return unassigned;
}

std::vector<bool> clusters_of_rows(const Consensus& estimate, const std::vector<bool>& rows) {
  std::vector<bool> clusters(estimate.clusters, false);
  for (std::size_t row = 0; row < rows.size(); ++row)
    if (rows[row]) clusters[static_cast<std::size_t>(estimate.labels[row])] = true;
  return clusters;
}

Consensus consensus(const LabelMatrix& draws, const ConsensusOptions& options) {
  if (draws.rows == 0 || draws.draws() == 0) fail(ErrorCode::usage, "consensus: there are no draws");
  check_options(options);
  const DrawSet set(draws, std::max<std::size_t>(options.label_budget / draws.rows, 1));
  return Search(draws, set, options).run();
}

Consensus assess(const LabelMatrix& draws, Labels labels, const ConsensusOptions& options) {
  if (draws.rows == 0 || draws.draws() == 0) fail(ErrorCode::usage, "consensus: there are no draws");
  if (labels.size() != draws.rows)
    fail(ErrorCode::usage, "consensus: {} labels for {} rows", labels.size(), draws.rows);
  check_options(options);
  const DrawSet set(draws, std::max<std::size_t>(options.label_budget / draws.rows, 1));
  ExpectedLoss loss(set, options.loss, options.join_cost);
  Consensus result;
  result.best_draw_loss = result.best_linkage_loss = std::numeric_limits<double>::quiet_NaN();
  result.labels = std::move(labels);
  result.clusters = canonicalize(result.labels);
  result.expected_loss = loss(result.labels, result.clusters);
  describe(set, loss, options.credibility, result);
  return result;
}

std::vector<double> losses(const LabelMatrix& draws, std::span<const Label> labels, Loss loss) {
  if (labels.size() != draws.rows) {
    fail(ErrorCode::usage, "expected_loss: {} labels for {} rows", labels.size(), draws.rows);
  }
  Labels own(labels.size());
  Labels other(labels.size());
  const std::size_t clusters = compact_labels(labels, own);
  const std::vector<double> terms = loss_terms(loss, draws.rows);
  const auto sum_of_sizes = [&](std::span<const Label> compact, std::size_t count) {
    std::vector<std::size_t> sizes(count, 0);
    for (const Label label : compact) ++sizes[static_cast<std::size_t>(label)];
    double sum = 0.0;
    for (const std::size_t size : sizes) sum += terms[size];
    return sum;
  };
  const double own_sum = sum_of_sizes(own, clusters);
  PairCounter counter;
  std::vector<double> result(draws.draws());
  for (std::size_t d = 0; d < draws.draws(); ++d) {
    const std::size_t other_clusters = compact_labels(draws[d], other);
    const double overlap = counter.sum_over_cells(own, clusters, other, other_clusters, terms);
    result[d] = std::max(own_sum + sum_of_sizes(other, other_clusters) - 2.0 * overlap, 0.0);
  }
  return result;
}

double expected_loss(const LabelMatrix& draws, std::span<const Label> labels, Loss loss) {
  if (draws.draws() == 0) fail(ErrorCode::usage, "expected_loss: there are no draws");
  const std::vector<double> all = losses(draws, labels, loss);
  return std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
}

}  // namespace coppice
