#include "coppice/post/modes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "coppice/base/error.hpp"
#include "coppice/data/text.hpp"
#include "coppice/post/consensus.hpp"
#include "coppice/shape/spaced.hpp"

namespace coppice {
namespace {

constexpr std::size_t kMostDrawsOfModes = 240;  // whose distances from each other are computed
constexpr std::size_t kMostModes = 5;
constexpr double kLeastSilhouette = 0.5;
constexpr double kLeastWeight = 0.05;
constexpr std::size_t kNamedMembersOfAMode = 4;

/// Evenly spaced draws and the distances between them.
struct Distances {
  std::vector<std::size_t> draws;  // of all chains, one after the other
  LabelMatrix labels;
  std::vector<double> values;

  double operator()(std::size_t a, std::size_t b) const { return values[a * draws.size() + b]; }
};

Distances distances_of(std::span<const LabelMatrix> chains) {
  const std::size_t per_chain = chains.front().draws();
  Distances distances;
  distances.draws = spaced_members(chains.size() * per_chain, kMostDrawsOfModes);
  distances.labels.rows = chains.front().rows;
  for (const std::size_t draw : distances.draws)
    distances.labels.push_back(chains[draw / per_chain][draw % per_chain]);
  for (std::size_t a = 0; a < distances.draws.size(); ++a) {
    const std::vector<double> line = losses(distances.labels, distances.labels[a], Loss::vi);
    distances.values.insert(distances.values.end(), line.begin(), line.end());
  }
  return distances;
}

std::size_t nearest(const Distances& distances, const std::vector<std::size_t>& medoids, std::size_t draw) {
  std::size_t best = 0;
  for (std::size_t k = 1; k < medoids.size(); ++k)
    if (distances(medoids[k], draw) < distances(medoids[best], draw)) best = k;
  return best;
}

double cost_of(const Distances& distances, const std::vector<std::size_t>& medoids) {
  double sum = 0.0;
  for (std::size_t draw = 0; draw < distances.draws.size(); ++draw)
    sum += distances(medoids[nearest(distances, medoids, draw)], draw);
  return sum;
}

/// Partitioning around medoids: greedy, then swaps as long as they help. Deterministic.
std::vector<std::size_t> medoids_of(const Distances& distances, std::size_t count) {
  const std::size_t draws = distances.draws.size();
  std::vector<std::size_t> medoids;
  while (medoids.size() < count) {
    double best = std::numeric_limits<double>::infinity();
    std::size_t chosen = 0;
    for (std::size_t draw = 0; draw < draws; ++draw) {
      medoids.push_back(draw);
      if (const double cost = cost_of(distances, medoids); cost < best) {
        best = cost;
        chosen = draw;
      }
      medoids.pop_back();
    }
    medoids.push_back(chosen);
  }
  double cost = cost_of(distances, medoids);
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (std::size_t k = 0; k < count; ++k)
      for (std::size_t draw = 0; draw < draws; ++draw) {
        std::vector<std::size_t> changed = medoids;
        changed[k] = draw;
        if (const double lower = cost_of(distances, changed); lower < cost - 1e-12) {
          cost = lower;
          medoids = changed;
          has_changed = true;
        }
      }
  }
  return medoids;
}

/// The mean silhouette of the draws of the least coherent mode: beside a mode of equal draws, all the others
/// together are no mode if they are as far from each other as from it.
double silhouette_of(const Distances& distances, const std::vector<std::size_t>& medoids) {
  const std::size_t draws = distances.draws.size();
  std::vector<std::size_t> mode(draws);
  std::vector<double> sizes(medoids.size(), 0.0);
  for (std::size_t draw = 0; draw < draws; ++draw) {
    mode[draw] = nearest(distances, medoids, draw);
    sizes[mode[draw]] += 1.0;
  }
  std::vector<double> sums(medoids.size(), 0.0);
  for (std::size_t a = 0; a < draws; ++a) {
    std::vector<double> means(medoids.size(), 0.0);
    for (std::size_t b = 0; b < draws; ++b) means[mode[b]] += distances(a, b);
    const double own = sizes[mode[a]] > 1.0 ? means[mode[a]] / (sizes[mode[a]] - 1.0) : 0.0;
    double other = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < medoids.size(); ++k)
      if (k != mode[a] && sizes[k] > 0.0) other = std::min(other, means[k] / sizes[k]);
    if (sizes[mode[a]] > 1.0 && std::isfinite(other) && std::max(own, other) > 0.0)
      sums[mode[a]] += (other - own) / std::max(own, other);
  }
  double least = 1.0;
  for (std::size_t k = 0; k < medoids.size(); ++k)
    least = std::min(least, sizes[k] > 0.0 ? sums[k] / sizes[k] : 0.0);
  return least;
}

/// The largest pair of parts that one partition joins and the other keeps apart, by pairs of members.
Modes::Difference difference_of(const Labels& first, const Labels& second) {
  std::map<std::pair<Label, Label>, std::vector<std::size_t>> parts;
  for (std::size_t member = 0; member < first.size(); ++member)
    parts[{first[member], second[member]}].push_back(member);
  const auto first_sizes = cluster_sizes(first);
  const auto second_sizes = cluster_sizes(second);
  Modes::Difference best;
  std::size_t most = 0;
  for (auto a = parts.begin(); a != parts.end(); ++a)
    for (auto b = std::next(a); b != parts.end(); ++b) {
      const bool in_first = a->first.first == b->first.first;
      const bool in_second = a->first.second == b->first.second;
      const std::size_t pairs = a->second.size() * b->second.size();
      if (in_first == in_second || pairs <= most) continue;
      most = pairs;
      best.first_joins = in_first;
      best.one = a->second;
      best.other = b->second;
      const std::size_t whole = in_first ? first_sizes[static_cast<std::size_t>(a->first.first)]
                                         : second_sizes[static_cast<std::size_t>(a->first.second)];
      best.is_whole_cluster = whole == a->second.size() + b->second.size();
    }
  return best;
}

/// Whether any two of these partitions differ in more than a few members: a member that is now here, now
/// there does not make another answer.
bool are_different(const Distances& distances, const std::vector<std::size_t>& medoids) {
  const std::size_t least = std::max<std::size_t>(2, (distances.labels.rows + 49) / 50);
  std::vector<Labels> labels;
  for (const std::size_t medoid : medoids) {
    const auto draw = distances.labels[medoid];
    labels.emplace_back(draw.begin(), draw.end());
    canonicalize(labels.back());
  }
  for (std::size_t a = 0; a < labels.size(); ++a)
    for (std::size_t b = a + 1; b < labels.size(); ++b) {
      const Modes::Difference difference = difference_of(labels[a], labels[b]);
      if (std::min(difference.one.size(), difference.other.size()) < least) return false;
    }
  return true;
}

/// "rows 12 to 40", or the first few by name.
std::string words_for(const SavedRun& run, const PartitionDraws& draws,
                      const std::vector<std::size_t>& members) {
  const auto name = [&](std::size_t member) {
    return text::display(member_name(run, draws.of_columns, draws.members[member]), 24);
  };
  const char* things = draws.of_columns ? "columns" : "rows";
  if (members.size() > 2 && members.back() - members.front() + 1 == members.size())
    return fmt::format("{} {} to {}", things, name(members.front()), name(members.back()));
  std::string text;
  const std::size_t named =
      members.size() <= kNamedMembersOfAMode + 1 ? members.size() : kNamedMembersOfAMode;
  for (std::size_t i = 0; i < named; ++i)
    text += (i == 0 ? "" : i + 1 == members.size() ? " and " : ", ") + name(members[i]);
  if (named < members.size()) text += fmt::format(" and {} more {}", members.size() - named, things);
  return text;
}

std::string difference_words(const SavedRun& run, const PartitionDraws& draws,
                             const Modes::Difference& difference, const std::string& name) {
  if (difference.one.empty()) return fmt::format("A and {} are alike", name);
  const char* group = draws.of_columns ? "view" : "group";
  if (difference.is_whole_cluster) {
    std::vector<std::size_t> all = difference.one;
    all.insert(all.end(), difference.other.begin(), difference.other.end());
    std::sort(all.begin(), all.end());
    return fmt::format("A and {} differ in whether {} are one {} ({}) or two ({})", name,
                       words_for(run, draws, all), group, difference.first_joins ? "A" : name,
                       difference.first_joins ? name : "A");
  }
  return fmt::format("A and {} differ in whether {} are in one {} ({}) with {} or not ({})", name,
                     words_for(run, draws, difference.one), group, difference.first_joins ? "A" : name,
                     words_for(run, draws, difference.other), difference.first_joins ? name : "A");
}

}  // namespace

std::string mode_name(std::size_t index) { return std::string(1, static_cast<char>('A' + index)); }

Modes find_modes(std::span<const LabelMatrix> chains) {
  if (chains.empty() || chains.front().draws() == 0) fail(ErrorCode::usage, "modes: there are no draws");
  const std::size_t per_chain = chains.front().draws();
  const Distances distances = distances_of(chains);
  const std::size_t used = distances.draws.size();

  Modes result;
  std::vector<std::size_t> medoids = medoids_of(distances, 1);
  for (std::size_t count = 2; count <= std::min(kMostModes, used / 2); ++count) {
    const std::vector<std::size_t> tried = medoids_of(distances, count);
    const double silhouette = silhouette_of(distances, tried);
    std::vector<double> weights(count, 0.0);
    for (std::size_t draw = 0; draw < used; ++draw)
      weights[nearest(distances, tried, draw)] += 1.0 / static_cast<double>(used);
    if (silhouette < std::max(kLeastSilhouette, result.silhouette + 0.01)) continue;
    if (*std::min_element(weights.begin(), weights.end()) < kLeastWeight) continue;
    if (!are_different(distances, tried)) continue;
    result.silhouette = silhouette;
    medoids = tried;
  }
  result.modes.resize(medoids.size());
  for (std::size_t k = 0; k < medoids.size(); ++k) {
    Mode& mode = result.modes[k];
    const std::size_t draw = distances.draws[medoids[k]];
    mode.chain = draw / per_chain;
    mode.draw = draw % per_chain;
    const auto labels = distances.labels[medoids[k]];
    mode.labels.assign(labels.begin(), labels.end());
    mode.clusters = canonicalize(mode.labels);
    mode.chain_weights.assign(chains.size(), 0.0);
  }
  std::vector<double> in_chain(chains.size(), 0.0);
  for (std::size_t draw = 0; draw < used; ++draw) in_chain[distances.draws[draw] / per_chain] += 1.0;
  for (std::size_t draw = 0; draw < used; ++draw) {
    const std::size_t k = nearest(distances, medoids, draw);
    const std::size_t chain = distances.draws[draw] / per_chain;
    result.modes[k].weight += 1.0;
    result.modes[k].radius += distances(medoids[k], draw);
    result.modes[k].chain_weights[chain] += 1.0 / in_chain[chain];
  }
  for (Mode& mode : result.modes) {
    mode.radius /= mode.weight;
    mode.weight /= static_cast<double>(used);
  }
  std::stable_sort(result.modes.begin(), result.modes.end(),
                   [](const Mode& a, const Mode& b) { return a.weight > b.weight; });
  for (std::size_t k = 1; k < result.modes.size(); ++k)
    result.differences.push_back(difference_of(result.modes[0].labels, result.modes[k].labels));
  return result;
}

std::string modes_sentence(const SavedRun& run, const PartitionDraws& draws, const Modes& modes) {
  if (modes.modes.size() < 2) return {};
  std::string text = draws.where.empty()
                         ? fmt::format("{} separate answers: ", modes.modes.size())
                         : fmt::format("{} separate answers{}: ", modes.modes.size(), draws.suffix());
  for (std::size_t k = 0; k < modes.modes.size(); ++k)
    text +=
        fmt::format("{}{}: {:.0f} % ({} {})", k == 0 ? "" : ", ", mode_name(k), 100.0 * modes.modes[k].weight,
                    modes.modes[k].clusters, draws.of_columns ? "views" : "clusters");
  for (std::size_t k = 1; k < modes.modes.size(); ++k)
    text += "; " + difference_words(run, draws, modes.differences[k - 1], mode_name(k));
  return text + ".";
}

BallBounds ball_bounds(const LabelMatrix& draws, std::span<const double> distances, double radius) {
  BallBounds bounds;
  bool is_first = true;
  Labels labels(draws.rows);
  for (std::size_t d = 0; d < draws.draws(); ++d) {
    if (distances[d] > radius * (1.0 + 1e-9) + 1e-12) continue;
    labels.assign(draws[d].begin(), draws[d].end());
    const BallBound bound{d, canonicalize(labels), distances[d], labels};
    const auto is_farther = [&](const BallBound& known) { return bound.distance > known.distance; };
    const auto same_or = [&](const BallBound& known, bool is_beyond) {
      return is_first || is_beyond || (bound.clusters == known.clusters && is_farther(known));
    };
    if (same_or(bounds.upper, bound.clusters < bounds.upper.clusters)) bounds.upper = bound;
    if (same_or(bounds.lower, bound.clusters > bounds.lower.clusters)) bounds.lower = bound;
    if (is_first || is_farther(bounds.horizontal)) bounds.horizontal = bound;
    is_first = false;
  }
  if (is_first) fail(ErrorCode::usage, "credible ball: no draw is within {}", radius);
  return bounds;
}

}  // namespace coppice
