#include "coppice/data/kinds/decide.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "coppice/data/kinds/few_values.hpp"
#include "coppice/data/kinds/measure.hpp"
#include "coppice/data/kinds/sentinel.hpp"
#include "coppice/data/text.hpp"

namespace coppice {
namespace {

/// Rows that a column is judged by at first, and rows that are enough for the figures of a long one.
constexpr std::size_t kFirstLook = 128;
constexpr std::size_t kEnoughRows = 4096;

/// The words of a name: parts between signs and where a capital follows a small letter, in lower case.
std::vector<std::string> words_of_name(std::string_view name) {
  std::vector<std::string> words(1);
  char before = '\0';
  for (const char c : name) {
    const bool upper = c >= 'A' && c <= 'Z';
    const bool letter = upper || (c >= 'a' && c <= 'z');
    if (!letter || (upper && before >= 'a' && before <= 'z')) words.emplace_back();
    if (letter) words.back() += upper ? static_cast<char>(c - 'A' + 'a') : c;
    before = c;
  }
  return words;
}

template <std::size_t N>
bool has_word(std::string_view name, const std::array<std::string_view, N>& list) {
  for (const std::string& word : words_of_name(name))
    if (std::find(list.begin(), list.end(), word) != list.end()) return true;
  return false;
}

bool is_code_name(std::string_view name) {
  constexpr std::array<std::string_view, 8> kCodes = {"zip", "zipcode", "postal", "postcode",
                                                      "plz", "fips",    "isbn",   "ssn"};
  return has_word(name, kCodes);
}

bool is_time_name(std::string_view name) {
  constexpr std::array<std::string_view, 9> kTimes = {"year", "date", "time",      "day",  "month",
                                                      "week", "hour", "timestamp", "epoch"};
  return has_word(name, kTimes);
}

bool is_dated(const NumberColumn& column) { return column.unit.find("since") != std::string_view::npos; }

/// A name such as id or customer_id, whose numbers name something even if they repeat. An index may be an
/// amount.
bool names_something(std::string_view name) {
  constexpr std::array<std::string_view, 4> kNames = {"id", "ids", "identifier", "uuid"};
  return has_word(name, kNames);
}

/// Numbers that only name the rows, or what the rows are about.
std::string identifier_reason(const NumberColumn& column, const Measure& m, const KindRules& rules) {
  if (is_dated(column)) return {};
  const bool enough_rows = m.present >= rules.identifier_values;
  const bool all_differ = m.present == column.values.size() &&
                          (m.distinct == m.present || (m.distinct == Measure::kMostCounted && m.increasing));
  const bool code = m.whole && m.least >= 0.0 && m.distinct > rules.count_values;
  if (code && column.leading_zeros && column.unit.empty())
    return "digits with leading zeros, so codes rather than numbers";
  if (code && m.digits >= 3 && is_code_name(column.name)) return "codes by its name";
  if (column.names_rows && m.whole && m.least >= 0.0 &&
      (all_differ || (m.distinct == Measure::kMostCounted && m.present == column.values.size())))
    return "whole numbers that all differ, where row names are written";
  if (code && m.distinct < m.present && names_something(column.name))
    return "whole numbers, and an identifier by its name";
  if (!m.whole || !all_differ || !enough_rows) return {};
  if (is_identifier_name(column.name)) return "whole numbers that all differ, and an identifier by its name";
  // Numbers one to n in any order; a series of years is a measurement of time.
  const double range = m.greatest - m.least + 1.0;
  if (!is_time_name(column.name) && static_cast<double>(m.present) == range)
    return fmt::format("whole numbers from {} to {}, each once", m.least, m.greatest);
  return {};
}

double poisson_or_wider_zero(const Measure& m) {
  const double excess = m.deviation * m.deviation - m.mean;
  if (excess <= 0.0) return std::exp(-m.mean);
  const double size = m.mean * m.mean / excess;
  return std::exp(-size * std::log1p(m.mean / size));
}

bool is_spike(const Measure& m, const KindRules& rules) {
  return m.distinct > rules.category_values &&
         static_cast<double>(m.common_count) >= rules.spike_share * static_cast<double>(m.present) &&
         static_cast<double>(m.common_count) >= rules.spike_ratio * static_cast<double>(m.next_count);
}

std::string spike_reason(const Measure& m) {
  return fmt::format("; {:.0f} % of the cells are exactly {}",
                     100.0 * static_cast<double>(m.common_count) / static_cast<double>(m.present),
                     short_number(m.common));
}

Decision decide_count(const Measure& m, const KindRules& rules) {
  Decision decision;
  decision.kind = Kind::count;
  decision.reason =
      fmt::format("whole numbers from {} to {}, mean {}", m.least, m.greatest, short_number(m.mean));
  const double ratio = m.deviation * m.deviation / m.mean;
  const double error = std::sqrt(2.0 / static_cast<double>(std::max<std::size_t>(m.present, 2) - 1));
  if (ratio - 1.0 > rules.dispersion_errors * error) {
    decision.family = rules.overdispersed_family;
    decision.reason += fmt::format("; variance {} times the mean", short_number(ratio));
  }
  // Many zeros are what a wide count family expects; only what it cannot explain is a spike.
  const double explained = poisson_or_wider_zero(m);
  const double zeros = static_cast<double>(m.common_count) / static_cast<double>(m.present);
  if (is_spike(m, rules) && m.common == 0.0 && zeros - explained >= rules.spike_share) {
    decision.hurdle = 0.0;
    decision.reason += spike_reason(m);
  }
  if (m.distinct <= 2 * rules.category_values)
    decision.ambiguous =
        fmt::format("a count of {} values; kind = \"category\" if they are codes", m.distinct);
  return decision;
}

/// What is true of measurements beside their kind: scale, spike, rounding.
void describe_real(const NumberColumn& column, std::span<const double> cells, const Measure& all,
                   const KindRules& rules, Decision& decision) {
  Measure rest = all;
  if (is_spike(all, rules)) {
    decision.hurdle = all.common;
    decision.reason += spike_reason(all);
    rest = measure(cells, &all.common);
  }
  const double fall = std::abs(rest.skewness) - std::abs(rest.log_skewness);
  if (!is_dated(column) && rest.skewness > rules.log_skewness && fall > rules.log_gain) {
    decision.transform = "log";
    decision.reason +=
        fmt::format("; right-skewed ({:.1f}, on the log scale {:.1f})", rest.skewness, rest.log_skewness);
  }
  const bool repeats = rest.distinct < Measure::kMostCounted && 10 * rest.distinct <= 9 * rest.present;
  if (rest.gap > 0.0 && rest.deviation > 0.0 && rest.deviation < rules.rounded_gaps * rest.gap &&
      (rest.on_grid || repeats)) {
    decision.resolution = rest.gap;
    decision.reason += fmt::format("; rounded to {}", short_number(rest.gap));
  }
}

bool is_small_set(const Measure& m, const KindRules& rules) {
  return m.distinct <= rules.category_values &&
         static_cast<double>(m.present) >= rules.category_repeats * static_cast<double>(m.distinct);
}

/// Answers on a scale from 1 to k, all of which occur, are not counts: 0 never occurs.
bool is_scale(const Measure& m, const KindRules& rules) {
  return m.whole && m.least == 1.0 && m.greatest >= 3.0 &&
         m.greatest <= static_cast<double>(rules.scale_values) &&
         static_cast<double>(m.distinct) == m.greatest &&
         static_cast<double>(m.present) >= rules.category_repeats * m.greatest;
}

bool is_few(const NumberColumn& column, const Measure& m, const KindRules& rules, double repeats) {
  return m.distinct <= rules.code_values && column.unit.empty() &&
         static_cast<double>(m.present) >= repeats * static_cast<double>(m.distinct);
}

/// Few whole numbers from 0 whose frequencies are not those of counts: legs of animals, scores from 1 to 10.
/// A cluster of them is rarely Poisson, and categories assume nothing.
bool is_coded(const NumberColumn& column, std::span<const double> cells, const Measure& m,
              const KindRules& rules) {
  return m.whole && m.least >= 0.0 && m.mean < rules.count_mean &&
         is_few(column, m, rules, rules.category_repeats) &&
         evidence_against_counts(cells, m) > rules.code_evidence;
}

/// Few numbers with wide gaps between most of them (incomes by bracket, speeds of models on sale): every one
/// of them would be a cluster of measurements.
bool is_bracketed(const NumberColumn& column, std::span<const double> cells, const Measure& m,
                  const KindRules& rules) {
  return is_few(column, m, rules, rules.bracket_repeats) && are_far_apart(cells, m) &&
         evidence_against_measurements(cells, m) > rules.code_evidence;
}

Decision decide_bracketed(const Measure& m) {
  Decision decision;
  decision.kind = Kind::category;
  decision.reason = fmt::format("{} different numbers, most of them far apart, from {:.6g} to {:.6g}",
                                m.distinct, m.least, m.greatest);
  decision.ambiguous = "brackets or settings; kind = \"real\" if they are amounts or other numbers may come";
  return decision;
}

bool is_count(const NumberColumn& column, const Measure& m, const KindRules& rules) {
  const bool repeats = m.distinct < m.present;
  const bool varies = m.deviation * m.deviation >= rules.least_dispersion * m.mean;
  return m.whole && m.least >= 0.0 && m.mean < rules.count_mean && m.distinct <= rules.count_values &&
         repeats && varies && column.unit.empty();
}

Decision decide_coded(const Measure& m, const KindRules& rules) {
  Decision decision;
  decision.kind = Kind::category;
  decision.reason =
      fmt::format("{} different whole numbers from {} to {} that are not distributed like counts", m.distinct,
                  m.least, m.greatest);
  decision.ambiguous =
      "codes or a scale; kind = \"count\" if they count something, \"real\" if steps are alike";
  // Another number between them may come with new rows.
  if (m.greatest - m.least < 2.0 * static_cast<double>(rules.code_values))
    for (double level = m.least; level <= m.greatest; level += 1.0)
      decision.levels.push_back(fmt::format("{}", level));
  return decision;
}

Decision decide_real(const NumberColumn& column, std::span<const double> cells, const Measure& m,
                     const KindRules& rules) {
  Decision decision;
  decision.kind = Kind::real;
  if (is_dated(column))
    decision.reason = fmt::format("dates or times, in {}", column.unit);
  else if (!m.whole)
    decision.reason = "measurements";
  else if (m.least < 0.0)
    decision.reason = "measurements: whole numbers, some negative";
  else if (m.mean >= rules.count_mean)
    decision.reason = fmt::format("measurements: whole numbers, mean {}", short_number(m.mean));
  else if (m.distinct > rules.count_values)
    decision.reason = fmt::format("measurements: {} different whole numbers", m.distinct);
  else
    decision.reason = "measurements: whole numbers that vary less than counts do";
  if (!column.unit.empty() && !is_dated(column)) decision.reason += fmt::format(" in {}", column.unit);
  describe_real(column, cells, m, rules, decision);
  const bool all_differ = m.distinct == m.present && m.present >= rules.identifier_values;
  if (m.whole && all_differ && column.unit.empty() && (m.increasing || m.digits >= 7))
    decision.ambiguous = m.increasing ? "numbers that only rise; --drop or --id if they name the rows"
                                      : "numbers that all differ; --drop or --id if they name the rows";
  if (m.whole && m.least > 999.0 && m.distinct <= rules.count_values && column.unit.empty())
    decision.ambiguous =
        fmt::format("{} different whole numbers; kind = \"category\" if they are codes", m.distinct);
  return decision;
}

/// A column that is measurements without anything to say of them, as a few rows show: no number comes twice,
/// the smallest gap is far below the spread, and no logarithm would help.
bool is_plain_at_first_sight(std::span<const double> values, const KindRules& rules) {
  std::vector<double> cells = sample_of(values, kFirstLook);
  if (cells.size() < kFirstLook / 2) return false;
  bool whole = true;
  double sum = 0.0;
  for (const double x : cells) {
    whole = whole && x == std::floor(x);
    sum += x;
  }
  if (whole) return false;
  std::sort(cells.begin(), cells.end());
  double gap = cells.back() - cells.front();
  for (std::size_t i = 1; i < cells.size(); ++i) gap = std::min(gap, cells[i] - cells[i - 1]);
  const auto count = static_cast<double>(cells.size());
  const double mean = sum / count;
  double second = 0.0;
  double third = 0.0;
  for (const double x : cells) {
    const double d = x - mean;
    second += d * d;
    third += d * d * d;
  }
  const double deviation = std::sqrt(second / count);
  if (!std::isnormal(deviation) || !(gap > 0.0) || deviation < rules.rounded_gaps * gap) return false;
  const double skewness = third / count / (deviation * deviation * deviation);
  return cells.front() <= 0.0 || skewness < rules.log_skewness / 2.0;
}

/// The figures on which the decision rests, and the cells they are of. Those of long columns of many
/// different numbers are of evenly spaced rows, but for the range.
Measure figures_of(std::span<const double> values, std::vector<double>& sample, const KindRules& rules) {
  if (values.size() <= 2 * kEnoughRows) return measure(values);
  sample = sample_of(values, kEnoughRows);
  Measure m = measure(sample);
  const bool may_identify = m.whole && m.distinct == m.present;
  if (m.distinct <= rules.count_values || may_identify) {
    sample.clear();
    return measure(values);
  }
  for (const double value : values) {
    if (is_missing(value)) continue;
    m.whole = m.whole && value == std::floor(value);
    m.least = std::min(m.least, value);
    m.greatest = std::max(m.greatest, value);
  }
  if (m.least <= 0.0) m.log_skewness = kMissing;
  return m;
}

}  // namespace

bool is_identifier_name(std::string_view name) {
  constexpr std::array<std::string_view, 9> kNames = {"id",  "ids",      "index",  "identifier", "uuid",
                                                      "row", "rownames", "rownum", "unnamed"};
  return has_word(name, kNames);
}

std::string short_number(double value) { return fmt::format("{:.4g}", value); }

Decision decide_numbers(const NumberColumn& column, const KindRules& rules) {
  if (column.values.size() > 2 * kFirstLook && is_plain_at_first_sight(column.values, rules)) {
    Decision plain;
    plain.reason = column.unit.empty() ? "measurements" : fmt::format("measurements in {}", column.unit);
    if (is_dated(column)) plain.reason = fmt::format("dates or times, in {}", column.unit);
    plain.sentinel = find_sentinel(column.values);
    return plain;
  }
  std::vector<double> sample;
  const Measure m = figures_of(column.values, sample, rules);
  const std::span<const double> cells = sample.empty() ? column.values : std::span<const double>(sample);
  Decision decision;
  if (m.distinct <= 1) {
    if (m.present >= rules.constant_cells) decision.left_out = "constant";
    decision.reason = fmt::format("every cell is {}", short_number(m.common));
    return decision;
  }
  if (const std::string identifier = identifier_reason(column, m, rules); !identifier.empty()) {
    decision.left_out = "identifier";
    decision.reason = identifier;
    return decision;
  }
  const bool bits = m.distinct == 2 && m.least == 0.0 && m.greatest == 1.0;
  if (bits || (m.distinct == 2 && is_small_set(m, rules) && column.unit.empty())) {
    decision.kind = Kind::binary;
    decision.reason =
        bits ? "only 0 and 1"
             : fmt::format("two values, {} and {}", short_number(m.least), short_number(m.greatest));
  } else if (column.leading_zeros && column.unit.empty() && m.whole && m.distinct <= rules.count_values) {
    decision.kind = Kind::category;
    decision.reason = "digits with leading zeros, so codes rather than numbers";
  } else if (is_small_set(m, rules) && column.unit.empty()) {
    decision.kind = Kind::category;
    decision.reason = fmt::format("only {} different numbers", m.distinct);
    decision.ambiguous = m.whole && m.least >= 0.0
                             ? is_scale(m, rules) ? "a scale from 1; kind = \"real\" if its steps are alike"
                                                  : "codes; kind = \"count\" or \"real\" if they are amounts"
                             : "codes; kind = \"real\" if they are amounts";
  } else if (is_scale(m, rules) && column.unit.empty()) {
    decision.kind = Kind::category;
    decision.reason = fmt::format("a scale from 1 to {}", m.greatest);
    decision.ambiguous = "a scale; kind = \"real\" if its steps are alike, \"count\" if it counts something";
  } else if (is_coded(column, cells, m, rules)) {
    decision = decide_coded(m, rules);
  } else if (is_count(column, m, rules)) {
    decision = decide_count(m, rules);
  } else if (is_bracketed(column, cells, m, rules)) {
    decision = decide_bracketed(m);
  } else {
    decision = decide_real(column, cells, m, rules);
  }
  decision.sentinel = find_sentinel(column.values);
  return decision;
}

Decision decide_texts(const TextColumn& column, const KindRules& rules) {
  Decision decision;
  decision.kind = Kind::category;
  if (column.levels <= 1) {
    if (column.present >= rules.constant_cells) decision.left_out = "constant";
    decision.reason = "every cell is the same text";
  } else if (column.names_rows && column.levels == column.present) {
    decision.left_out = "identifier";
    decision.reason = "texts that all differ, where row names are written";
  } else if (column.boolean || (column.levels == 2 && column.present >= 3 * column.levels)) {
    decision.kind = Kind::binary;
    decision.reason = column.boolean ? "yes or no" : "two texts";
  } else if (column.levels > std::max<std::size_t>(rules.identifier_values, column.present / 2)) {
    decision.left_out = "identifier";
    decision.reason = "nearly every row has its own text";
  } else {
    decision.reason = fmt::format("{} different texts", column.levels);
  }
  return decision;
}

}  // namespace coppice
