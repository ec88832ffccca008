#include "coppice/post/profile.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "coppice/base/error.hpp"
#include "coppice/data/transform.hpp"
#include "coppice/post/cell_mixture.hpp"
#include "coppice/post/interval.hpp"
#include "coppice/post/learned_values.hpp"
#include "coppice/post/least_values.hpp"
#include "coppice/post/trait_words.hpp"
#include "coppice/post/units.hpp"
#include "coppice/run/plan_without_chain.hpp"

namespace coppice {
namespace {

constexpr std::size_t kMostExemplars = 5;
constexpr std::size_t kLeastNameTraits = 2;
constexpr std::size_t kMostNameTraits = 3;
constexpr double kNameShare =
    0.25;                           // of the strongest divergence: a third trait is worth naming from here on
constexpr double kElsewhere = 0.5;  // standard deviations of the others between the means
constexpr double kLeastDivergence = 0.01;  // nats; below it a column is the same inside and outside

/// Rows of each cluster, ascending.
using Groups = std::span<const std::vector<std::uint32_t>>;

/// Statistics of all clusters, and of the rows of all other clusters.
class ClusterStatistics {
 public:
  ClusterStatistics(const Family& family, const Rows& rows, const Groups& members)
      : family_(family), inside_(members.size() * family.stats_size()), outside_(inside_.size()) {
    const std::size_t clusters = members.size();
    for (std::size_t c = 0; c < clusters; ++c) {
      family_.clear(inside(c));
      family_.clear(outside(c));
      for (const std::uint32_t i : members[c]) family_.add(inside(c), rows[i]);
    }
    // Everything before a cluster, then everything after it: two merges each instead of one for every other
    // cluster.
    std::vector<double> sum(family_.stats_size());
    family_.clear(sum.data());
    for (std::size_t c = 0; c < clusters; ++c) {
      family_.merge(outside(c), sum.data());
      family_.merge(sum.data(), inside(c));
    }
    family_.clear(sum.data());
    for (std::size_t c = clusters; c-- > 0;) {
      family_.merge(outside(c), sum.data());
      family_.merge(sum.data(), inside(c));
    }
  }

  double* inside(std::size_t c) { return inside_.data() + c * family_.stats_size(); }
  double* outside(std::size_t c) { return outside_.data() + c * family_.stats_size(); }

 private:
  const Family& family_;
  std::vector<double> inside_, outside_;
};

double divergence_of_levels(const std::vector<double>& p, const std::vector<double>& q) {
  double sum = 0.0;
  for (std::size_t l = 0; l < p.size(); ++l) sum += (p[l] - q[l]) * (std::log(p[l]) - std::log(q[l]));
  return 0.5 * sum;
}

/// The part of the means and the part of the variances, which add up.
struct NormalDivergence {
  double means = 0.0;
  double variances = 0.0;
};

NormalDivergence divergence_of_normals(double mean_p, double variance_p, double mean_q, double variance_q) {
  // A predictive without variance says nothing about spread.
  if (!std::isfinite(variance_p)) variance_p = variance_q;
  if (!std::isfinite(variance_q)) variance_q = variance_p;
  if (!std::isfinite(variance_p)) return {};
  const double d = mean_p - mean_q;
  return {0.25 * d * d * (1.0 / variance_p + 1.0 / variance_q),
          0.25 * (variance_p / variance_q + variance_q / variance_p - 2.0)};
}

const FamilyEntry& family_of(const FamilyPlan& plan, std::size_t column) {
  for (const FamilyPlan::Block& block : plan.blocks)
    if (std::find(block.columns.begin(), block.columns.end(), column) != block.columns.end())
      return family_by_name(block.family);
  fail(ErrorCode::bug, "no family models column {}", column + 1);
}

/// How one column is modeled, and how its numbers are given back.
struct ColumnModel {
  const FamilyEntry* entry;
  const Family* family;
  std::size_t place;  // encoded cell
  Encoding encoding;
  OriginalUnits units;
  double least;  // number, in the units of the table

  double location(double number) const { return units.location(encoding.decode(number)); }
  double spread(double variance) const { return encoding.log ? kMissing : units.spread(std::sqrt(variance)); }

  /// Of all numbers that the rows of the statistics predict, spike included.
  Range range(const double* stats, const CellPredictive& predictive) const {
    const NumberComponent component(predictive);
    const MixturePart whole{0, 1.0};
    const CellMixture mixture({&component, 1}, {&whole, 1}, encoding, least);
    if (!entry->is_discrete())
      return {units.location(mixture.quantile(kIntervalTail)),
              units.location(mixture.quantile(1.0 - kIntervalTail))};
    Range range;
    double sum = 0.0;
    constexpr double kMostValues = 2000.0;
    for (double x = 0.0; !entry->joint && x < kMostValues && is_missing(range.high); ++x) {
      sum += std::exp(family->cell_log_predictive(stats, place, encoding.encode(x)));
      if (is_missing(range.low) && sum >= kIntervalTail) range.low = x;
      if (sum >= 1.0 - kIntervalTail) range.high = x;
    }
    // Beyond, and where cells have no probabilities of their own, by mean and variance.
    const auto whole_number = [&](double p) { return std::max(0.0, std::ceil(mixture.quantile(p) - 0.5)); };
    if (is_missing(range.low)) range.low = whole_number(kIntervalTail);
    if (is_missing(range.high)) range.high = std::max(range.low, whole_number(1.0 - kIntervalTail));
    return range;
  }
};

/// What the two predictives of one column differ in; inside and outside in the data's units.
Trait make_trait(const Column& column, const ColumnModel& model, const double* inside_stats,
                 const double* outside_stats) {
  const CellPredictive inside = model.family->predict_cell(inside_stats, model.place);
  const CellPredictive outside = model.family->predict_cell(outside_stats, model.place);
  const FamilyEntry& family = *model.entry;
  Trait trait;
  trait.column = column.name;
  trait.kind = column.kind;
  trait.inside = model.location(inside.mean);
  trait.outside = model.location(outside.mean);
  trait.inside_sd = model.spread(inside.variance);
  trait.outside_sd = model.spread(outside.variance);
  trait.inside_probabilities = inside.probabilities;
  trait.outside_probabilities = outside.probabilities;
  if (inside.probabilities.empty()) {
    trait.inside_range = model.range(inside_stats, inside);
    trait.outside_range = model.range(outside_stats, outside);
  }
  bool by_spread = false;
  if (!inside.probabilities.empty()) {
    trait.divergence = divergence_of_levels(inside.probabilities, outside.probabilities);
  } else if (family.rate_like) {
    trait.divergence = 0.5 * (inside.mean - outside.mean) * (std::log(inside.mean) - std::log(outside.mean));
  } else {
    const NormalDivergence parts =
        divergence_of_normals(inside.mean, inside.variance, outside.mean, outside.variance);
    trait.divergence = parts.means + parts.variances;
    // A tight cluster is less varied than all others together in any column; where it lies says more.
    const bool is_elsewhere =
        std::abs(inside.mean - outside.mean) >= kElsewhere * std::sqrt(outside.variance);
    by_spread = parts.variances > parts.means && !is_elsewhere;
  }
  if (model.encoding.spike) {
    trait.inside_spike = inside.spike;
    trait.outside_spike = outside.spike;
    const double of_spike =
        divergence_of_levels({1.0 - inside.spike, inside.spike}, {1.0 - outside.spike, outside.spike});
    const double of_numbers = trait.divergence * (1.0 - 0.5 * (inside.spike + outside.spike));
    trait.divergence = of_spike + of_numbers;
    if (of_spike > of_numbers) {
      put_spike_into_words(trait, model.units.location(*model.encoding.spike));
      return trait;
    }
  }
  put_into_words(trait, column, by_spread);
  return trait;
}

/// How many cells of each column are present in each cluster: present[cluster][column of the table].
std::vector<std::vector<std::size_t>> count_present(const Table& table, const Groups& members) {
  std::vector<std::vector<std::size_t>> present(members.size(),
                                                std::vector<std::size_t>(table.columns.size()));
  for (std::size_t j = 0; j < table.columns.size(); ++j)
    for (std::size_t c = 0; c < members.size(); ++c)
      for (const std::uint32_t i : members[c])
        if (!is_missing(table.columns[j].values[i])) ++present[c][j];
  return present;
}

/// Log density of each row under its cluster's other rows. A missing cell counts like the average present
/// cell of its column, lest a blank make a row look typical or odd. NaN for a row of missing cells alone.
std::vector<double> typicality(const Family& family, const Rows& rows, std::span<const std::uint32_t> members,
                               const double* stats) {
  struct Gap {
    std::size_t column;
    double sum = 0.0, count = 0.0;  // log densities of the present cells
  };
  std::vector<Gap> gaps;
  for (std::size_t j = 0; j < rows.data_width(); ++j)
    if (std::any_of(members.begin(), members.end(), [&](std::uint32_t i) { return is_missing(rows[i][j]); }))
      gaps.push_back({j});
  std::vector<double> scores;
  std::vector<double> others(family.stats_size());
  std::vector<double> single_cell(rows.width, kMissing);
  std::vector<double> one_copy(rows.width, 1.0);
  for (const std::uint32_t i : members) {
    std::copy(stats, stats + family.stats_size(), others.begin());
    if (!family.remove(others.data(), rows[i])) {
      family.clear(others.data());
      for (const std::uint32_t other : members)
        if (other != i) family.add(others.data(), rows[other]);
    }
    const bool blank = std::all_of(rows[i], rows[i] + rows.data_width(), is_missing);
    std::copy_n(rows[i], rows.data_width(), one_copy.begin());
    scores.push_back(blank ? kMissing : family.log_predictive(others.data(), one_copy.data()));
    for (Gap& gap : gaps) {
      if (is_missing(rows[i][gap.column])) continue;
      single_cell[gap.column] = rows[i][gap.column];
      gap.sum += family.log_predictive(others.data(), single_cell.data());
      gap.count += 1.0;
      single_cell[gap.column] = kMissing;
    }
  }
  for (std::size_t k = 0; k < members.size(); ++k)
    for (const Gap& gap : gaps)
      if (is_missing(rows[members[k]][gap.column]) && gap.count > 0.0) scores[k] += gap.sum / gap.count;
  return scores;
}

void choose_examples(ClusterProfile& profile, std::span<const std::uint32_t> members,
                     std::span<const double> scores) {
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < members.size(); ++k)
    if (!is_missing(scores[k])) order.push_back(k);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  const std::size_t exemplars = std::min(kMostExemplars, (order.size() + 1) / 2);
  const std::size_t outliers = std::min(kMostExemplars, order.size() - exemplars);
  for (std::size_t k = 0; k < exemplars; ++k) profile.exemplars.push_back(members[order[k]]);
  for (std::size_t k = 0; k < outliers; ++k) profile.outliers.push_back(members[order[order.size() - 1 - k]]);
}

std::string name_of(const ClusterProfile& profile, std::size_t traits) {
  std::string name;
  for (std::size_t k = 0; k < std::min(traits, profile.traits.size()); ++k)
    name += (k == 0 ? "" : ", ") + profile.traits[k].short_words;
  return name;
}

std::size_t name_length(const ClusterProfile& profile) {
  std::size_t length = 0;
  while (length < std::min(kMostNameTraits, profile.traits.size()) &&
         profile.traits[length].divergence >= kLeastDivergence &&
         (length < kLeastNameTraits ||
          profile.traits[length].divergence >= kNameShare * profile.traits[0].divergence))
    ++length;
  return length;
}

/// Names by the strongest traits; clusters that would share a name get further traits, as long as there are
/// any.
void name_clusters(std::vector<ClusterProfile>& profiles) {
  for (ClusterProfile& profile : profiles) {
    const std::size_t length = name_length(profile);
    profile.name = length > 0             ? name_of(profile, length)
                   : profiles.size() == 1 ? "all rows"
                                          : "no distinguishing column";
  }
  for (std::size_t traits = kLeastNameTraits + 1; traits <= 2 * kMostNameTraits; ++traits) {
    std::vector<bool> shared(profiles.size());
    for (std::size_t a = 0; a < profiles.size(); ++a)
      for (std::size_t b = a + 1; b < profiles.size(); ++b)
        if (profiles[a].name == profiles[b].name) shared[a] = shared[b] = true;
    for (std::size_t a = 0; a < profiles.size(); ++a)
      if (shared[a] && name_length(profiles[a]) > 0) profiles[a].name = name_of(profiles[a], traits);
  }
}

void check_sizes(const SavedRun& run, std::span<const Label> consensus,
                 std::span<const double> row_confidence) {
  if (consensus.size() != run.rows())
    fail(ErrorCode::usage, "there are {} consensus labels for {} rows", consensus.size(), run.rows());
  if (!row_confidence.empty() && row_confidence.size() != run.rows())
    fail(ErrorCode::usage, "there are {} confidences for {} rows", row_confidence.size(), run.rows());
  for (const Label label : consensus)
    if (label < 0) fail(ErrorCode::usage, "consensus label {} is negative; clusters count from 0", label);
}

double mean_confidence(std::span<const std::uint32_t> members, std::span<const double> row_confidence) {
  if (row_confidence.empty()) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0.0;
  for (const std::uint32_t i : members) sum += row_confidence[i];
  return sum / static_cast<double>(members.size());
}

bool has_variation(const Column& column, const Groups& members) {
  double first = kMissing;
  for (const std::vector<std::uint32_t>& rows : members)
    for (const std::uint32_t i : rows) {
      const double value = column.values[i];
      if (is_missing(value)) continue;
      if (is_missing(first)) first = value;
      if (value != first) return true;
    }
  return false;
}

std::vector<ClusterProfile> make_profiles(const SavedRun& run, const Groups& members,
                                          std::span<const double> row_confidence, bool with_examples,
                                          std::size_t most_traits) {
  const Table& table = run.table();
  const std::optional<FamilyPlan> apart = plan_without_chain(run.setup(), table);
  const FamilyPlan& plan = apart ? *apart : run.setup().plan;
  const Rows rows_apart = apart ? encode(*apart, table, run.contents().copies()) : Rows();
  const Rows& rows = apart ? rows_apart : run.setup().rows;
  const std::unique_ptr<Family> family = family_as_learned(run, plan);
  ClusterStatistics statistics(*family, rows, members);
  const std::vector<std::vector<std::size_t>> present = count_present(table, members);
  std::vector<std::size_t> present_in_all(table.columns.size());
  for (const std::vector<std::size_t>& counts : present)
    for (std::size_t j = 0; j < counts.size(); ++j) present_in_all[j] += counts[j];
  const std::vector<OriginalUnits> units =
      original_units(transform_from_json(run.contents().transform), table);
  const std::vector<double> least = least_values(run);
  std::vector<ColumnModel> models(table.columns.size());
  for (std::size_t place = 0; place < plan.order.size(); ++place) {
    const std::size_t j = plan.order[place];
    models[j] = {&family_of(plan, j), family.get(), place, plan.encodings[place], units[j], least[j]};
  }
  std::vector<bool> varies;
  for (std::size_t j = 0; j < table.columns.size(); ++j) {
    varies.push_back(has_variation(table.columns[j], members));
  }

  std::vector<ClusterProfile> profiles;
  for (std::size_t c = 0; c < members.size(); ++c) {
    if (members[c].empty()) continue;
    ClusterProfile profile;
    profile.cluster = static_cast<Label>(c);
    profile.size = members[c].size();
    profile.confidence = mean_confidence(members[c], row_confidence);
    for (std::size_t place = 0; place < plan.order.size(); ++place) {
      const std::size_t j = plan.order[place];
      // In a column that is the same everywhere, clusters differ only by how much the prior pulls at them.
      if (!varies[j]) continue;
      if (present[c][j] == 0 || present[c][j] == present_in_all[j]) continue;
      profile.traits.push_back(
          make_trait(table.columns[j], models[j], statistics.inside(c), statistics.outside(c)));
    }
    std::stable_sort(profile.traits.begin(), profile.traits.end(),
                     [](const Trait& a, const Trait& b) { return a.divergence > b.divergence; });
    if (with_examples)
      choose_examples(profile, members[c], typicality(*family, rows, members[c], statistics.inside(c)));
    profiles.push_back(std::move(profile));
  }
  name_clusters(profiles);
  for (ClusterProfile& profile : profiles) profile.words = profile.name;
  if (most_traits > 0)
    for (ClusterProfile& profile : profiles)
      profile.traits.resize(std::min(profile.traits.size(), most_traits));
  return profiles;
}

}  // namespace

std::vector<ClusterProfile> profile_clusters(const SavedRun& run, std::span<const Label> consensus,
                                             std::span<const double> row_confidence,
                                             std::size_t most_traits) {
  check_sizes(run, consensus, row_confidence);
  std::vector<std::vector<std::uint32_t>> members;
  for (std::size_t i = 0; i < consensus.size(); ++i) {
    const auto cluster = static_cast<std::size_t>(consensus[i]);
    if (cluster >= members.size()) members.resize(cluster + 1);
    members[cluster].push_back(static_cast<std::uint32_t>(i));
  }
  return make_profiles(run, members, row_confidence, true, most_traits);
}

std::vector<ClusterProfile> profile_groups(const SavedRun& run,
                                           std::span<const std::vector<std::uint32_t>> groups,
                                           std::size_t most_traits) {
  return make_profiles(run, groups, {}, false, most_traits);
}

std::string join_traits(const ClusterProfile& profile) {
  std::string text;
  for (const Trait& trait : profile.traits) text += (text.empty() ? "" : ", ") + trait.short_words;
  return text;
}

}  // namespace coppice
