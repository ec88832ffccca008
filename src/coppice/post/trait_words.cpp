#include "coppice/post/trait_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "coppice/data/infer.hpp"

namespace coppice {
namespace {

// From here on a cluster has a trait, or lacks it, as a rule; between them it is only more or less common.
constexpr double kAsARule = 0.75;
constexpr double kMostly = 0.5;
constexpr double kHardlyEver = 0.1;

std::string number(double value, int decimals, bool exponent) {
  std::string text =
      exponent ? fmt::format("{:.{}e}", value, decimals) : fmt::format("{:.{}f}", value, decimals);
  // A rounded -0.0 is 0.
  if (text.front() == '-' && text.find_first_of("123456789") == std::string::npos) text.erase(0, 1);
  return text;
}

/// Both numbers with the same decimals: three digits of the larger one, or as many more as it takes to
/// distinguish them.
std::pair<std::string, std::string> distinguishable(double a, double b) {
  const double larger = std::max(std::abs(a), std::abs(b));
  const int magnitude = larger > 0.0 ? static_cast<int>(std::floor(std::log10(larger))) : 0;
  const bool exponent = magnitude > 6 || magnitude < -4;
  std::pair<std::string, std::string> texts;
  for (int digits = 3; digits <= 15; ++digits) {
    const int decimals = exponent ? digits - 1 : std::max(0, digits - 1 - magnitude);
    texts = {number(a, decimals, exponent), number(b, decimals, exponent)};
    if (texts.first != texts.second || a == b) break;
  }
  return texts;
}

std::string against(double inside, double outside) {
  return fmt::format(" ({} against {})", percent(inside), percent(outside));
}

/// 1 means that the column's name holds: no level texts, or yes/no, true/false and the like.
bool is_flag(const Column& column) {
  return column.levels.size() < 2 || boolean_levels(column.levels).has_value();
}

std::string flag_words(const std::string& name, double inside, double outside) {
  if (inside >= outside) return inside >= kAsARule ? name : name + " more often";
  return inside <= 1.0 - kAsARule ? "no " + name : name + " less often";
}

/// The usual level if the cluster has one that the others lack, otherwise the level that adds most to the
/// divergence.
std::size_t distinguishing_level(const std::vector<double>& inside, const std::vector<double>& outside) {
  const auto mode = static_cast<std::size_t>(std::max_element(inside.begin(), inside.end()) - inside.begin());
  if (inside[mode] >= kMostly && inside[mode] > outside[mode]) return mode;
  std::size_t best = 0;
  double most = -1.0;
  for (std::size_t l = 0; l < inside.size(); ++l) {
    const double part = (inside[l] - outside[l]) * (std::log(inside[l]) - std::log(outside[l]));
    if (part > most) {
      most = part;
      best = l;
    }
  }
  return best;
}

const char* level_adverb(double inside, double outside) {
  if (inside >= outside) return inside >= kMostly ? "mostly" : "more often";
  return inside <= kHardlyEver ? "hardly ever" : "less often";
}

void describe_levels(Trait& trait, const Column& column) {
  if (column.kind == Kind::binary && is_flag(column)) {
    trait.short_words = flag_words(column.name, trait.inside, trait.outside);
    trait.words = trait.short_words + against(trait.inside, trait.outside);
    return;
  }
  const std::size_t level = distinguishing_level(trait.inside_probabilities, trait.outside_probabilities);
  const double inside = trait.inside_probabilities[level];
  const double outside = trait.outside_probabilities[level];
  trait.level = level < column.levels.size() ? column.levels[level] : fmt::format("{}", level);
  if (column.kind == Kind::category) {
    trait.inside = inside;
    trait.outside = outside;
  }
  trait.short_words = fmt::format("{} {} {}", column.name, level_adverb(inside, outside), trait.level);
  trait.words = trait.short_words + against(inside, outside);
}

/// "5 to 80 against 10 to 30", where there is no standard deviation.
std::string ranges(const Trait& trait) {
  const auto [low, outside_low] = distinguishable(trait.inside_range.low, trait.outside_range.low);
  const auto [high, outside_high] = distinguishable(trait.inside_range.high, trait.outside_range.high);
  return fmt::format("{} to {} against {} to {}", low, high, outside_low, outside_high);
}

void describe_numbers(Trait& trait, const Column& column, bool by_spread) {
  if (by_spread && is_missing(trait.inside_sd)) {
    const double inside = trait.inside_range.high / trait.inside_range.low;
    const double outside = trait.outside_range.high / trait.outside_range.low;
    trait.short_words = trait.column + (inside > outside ? " more varied" : " less varied");
    trait.words = fmt::format("{}: {}", trait.short_words, ranges(trait));
    return;
  }
  const double inside = by_spread ? trait.inside_sd : trait.inside;
  const double outside = by_spread ? trait.outside_sd : trait.outside;
  const auto [a, b] = distinguishable(inside, outside);
  if (by_spread) {
    trait.short_words = trait.column + (inside > outside ? " more varied" : " less varied");
    trait.words = fmt::format("{}: sd {} against {}", trait.short_words, a, b);
  } else if (column.dates) {
    trait.short_words = trait.column + (inside >= outside ? " later" : " earlier");
    trait.words = fmt::format("{}: {} against {}", trait.short_words, column.number_text(inside),
                              column.number_text(outside));
  } else {
    trait.short_words = trait.column + (inside >= outside ? " higher" : " lower");
    trait.words = fmt::format("{}: {} against {}", trait.short_words, a, b);
  }
}

}  // namespace

std::string percent(double probability) {
  if (probability > 0.0 && probability < 0.005) return "<1 %";
  if (probability < 1.0 && probability >= 0.995) return ">99 %";
  return fmt::format("{:.0f} %", 100.0 * probability);
}

void put_spike_into_words(Trait& trait, double spike) {
  trait.short_words =
      fmt::format("{} {} {}", trait.column, level_adverb(trait.inside_spike, trait.outside_spike), spike);
  trait.words = trait.short_words + against(trait.inside_spike, trait.outside_spike);
}

void put_into_words(Trait& trait, const Column& column, bool by_spread) {
  if (trait.inside_probabilities.empty())
    describe_numbers(trait, column, by_spread);
  else
    describe_levels(trait, column);
}

}  // namespace coppice
