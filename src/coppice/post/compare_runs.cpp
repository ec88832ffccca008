#include "coppice/post/compare_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "coppice/base/error.hpp"
#include "coppice/post/coclustering.hpp"
#include "coppice/post/scores.hpp"
#include "coppice/run/merge_runs.hpp"

namespace coppice {
namespace {

/// Up to this R-hat traces of two runs mix like chains of one.
constexpr double kSameRhat = 1.05;
constexpr double kSameCoclustering = 0.05;
constexpr std::size_t kMostMatrixRows = 5000;

double mean_coclustering_difference(const SavedRun& a, const SavedRun& b, std::size_t level) {
  const std::vector<double> left = coclustering(a.labels(level), 0);
  const std::vector<double> right = coclustering(b.labels(level), 0);
  double total = 0.0;
  double pairs = 0.0;
  for (std::size_t i = 0; i < a.rows(); ++i)
    for (std::size_t j = i + 1; j < a.rows(); ++j) {
      // Pairs that neither run ever puts together say nothing about agreement.
      const double p = left[i * a.rows() + j];
      const double q = right[i * a.rows() + j];
      if (p == 0.0 && q == 0.0) continue;
      total += std::abs(p - q);
      pairs += 1.0;
    }
  return pairs == 0.0 ? 0.0 : total / pairs;
}

/// Traces of the partitions mean the same whatever else a run has drawn; densities and concentrations do not.
bool is_of_partitions(std::string_view trace) {
  return trace.starts_with("clusters") || trace.starts_with("entropy") || trace == "largest_share";
}

/// The places of a trace in both runs, and whether it must agree.
struct TracePair {
  std::size_t first = 0;
  std::size_t second = 0;
  bool decides = true;
};

std::vector<TracePair> common_traces(const Analysis& a, const Analysis& b) {
  const bool all_decide = a.run().trace_names() == b.run().trace_names();
  std::vector<TracePair> pairs;
  for (std::size_t i = 0; i < a.traces().size(); ++i)
    for (std::size_t j = 0; j < b.traces().size(); ++j)
      if (a.traces()[i].name == b.traces()[j].name)
        pairs.push_back({i, j, all_decide || is_of_partitions(a.traces()[i].name)});
  return pairs;
}

/// Of the chains of both runs together, as long as the shorter ones.
double rhat_across(const SavedRun& a, const SavedRun& b, const TracePair& pair) {
  // A density with u in it and one without have nothing to agree on.
  if (!pair.decides) return std::numeric_limits<double>::quiet_NaN();
  const auto draws = static_cast<std::ptrdiff_t>(std::min(a.draws_per_chain(), b.draws_per_chain()));
  std::vector<std::vector<double>> chains;
  for (const std::vector<double>& chain : a.traces()[pair.first])
    chains.emplace_back(chain.begin(), chain.begin() + draws);
  for (const std::vector<double>& chain : b.traces()[pair.second])
    chains.emplace_back(chain.begin(), chain.begin() + draws);
  return rhat(chains);
}

/// Why two runs differ if one of them does not even agree with itself; empty if both do.
std::string disagreement_within(const Analysis& a, const Analysis& b, const std::vector<TracePair>& pairs) {
  for (const Analysis* run : {&a, &b})
    for (const TracePair& pair : pairs) {
      const TraceSummary& trace = run->traces()[run == &a ? pair.first : pair.second];
      if (pair.decides && trace.rhat > kSameRhat)
        return fmt::format(
            "The two runs do not agree yet: the chains of {} do not agree among themselves "
            "(R-hat of {} is {:.3f}); run longer, then compare.",
            run->run().file().path(), trace.name, trace.rhat);
    }
  return {};
}

LevelComparison compare_level(const Analysis& a, const Analysis& b, std::size_t level) {
  const Consensus left = a.consensus(level, Selection::kVi);
  const Consensus right = b.consensus(level, Selection::kVi);
  LevelComparison answer{level,
                         left.clusters,
                         right.clusters,
                         adjusted_rand_index(left.labels, right.labels),
                         variation_of_information(left.labels, right.labels),
                         {}};
  if (a.run().rows() <= kMostMatrixRows)
    answer.coclustering_difference = mean_coclustering_difference(a.run(), b.run(), level);
  return answer;
}

}  // namespace

RunComparison compare_runs(const Analysis& first, const Analysis& second) {
  for (const Analysis* run : {&first, &second}) refuse_classifier(*run, "draws to compare");
  const SavedRun& a = first.run();
  const SavedRun& b = second.run();
  require_same_question(a, b);
  if (a.levels() != b.levels())
    fail(ErrorCode::configuration, "{} has {} levels and {} has {}: their levels do not correspond",
         a.file().path(), a.levels(), b.file().path(), b.levels());
  RunComparison answer;
  double worst = 1.0;
  const std::vector<TracePair> pairs = common_traces(first, second);
  for (const TracePair& pair : pairs) {
    const TraceSummary& left = first.traces()[pair.first];
    answer.traces.push_back(
        {left.name, left.mean, second.traces()[pair.second].mean, rhat_across(a, b, pair)});
    if (!std::isnan(answer.traces.back().rhat)) worst = std::max(worst, answer.traces.back().rhat);
  }
  answer.same = worst <= kSameRhat;
  for (std::size_t level = 1; level <= a.levels(); ++level) {
    answer.levels.push_back(compare_level(first, second, level));
    if (answer.levels.back().coclustering_difference.value_or(0.0) > kSameCoclustering) answer.same = false;
  }
  if (answer.same) {
    answer.verdict = fmt::format("The two runs agree (R-hat across runs {:.3f} at most).", worst);
    return answer;
  }
  answer.verdict = disagreement_within(first, second, pairs);
  if (answer.verdict.empty())
    answer.verdict = fmt::format(
        "The two runs do not agree (R-hat across runs up to {:.3f}; {} or a mean "
        "co-clustering difference of {} is too much).",
        worst, kSameRhat, kSameCoclustering);
  return answer;
}

}  // namespace coppice
