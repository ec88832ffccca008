#include "coppice/family/multinomial.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"

namespace coppice {
namespace {

double row_sum(const double* row, std::size_t width) { return std::accumulate(row, row + width, 0.0); }

/// Counts of words are small; their factorials are looked up.
constexpr std::size_t kKnownFactorials = 256;
const std::array<double, kKnownFactorials>& known_log_factorials() {
  static const std::array<double, kKnownFactorials> table = [] {
    std::array<double, kKnownFactorials> values{};
    for (std::size_t i = 0; i < kKnownFactorials; ++i) values[i] = log_factorial(static_cast<double>(i));
    return values;
  }();
  return table;
}
double log_factorial_of_count(const std::array<double, kKnownFactorials>& known, double n) {
  return n < static_cast<double>(kKnownFactorials) ? known[static_cast<std::size_t>(n)] : log_factorial(n);
}

double log_coefficient(const double* row, std::size_t width) {
  const auto& known = known_log_factorials();
  double total = 0.0;
  double result = 0.0;
  for (std::size_t j = 0; j < width; ++j) {
    total += row[j];
    if (row[j] > 1.0) result -= log_factorial_of_count(known, row[j]);
  }
  return result + log_factorial_of_count(known, total);
}

/// Counts up to this are multiplied out; a rising factorial of more steps takes log-gamma.
constexpr std::size_t kMultipliedOut = 16;

/// How many factors between `low` and `high` can be multiplied without leaving the range of a double.
std::size_t factors_before_log(double low, double high) {
  const int bits = std::max({1, std::ilogb(high) + 1, -std::ilogb(low) + 1});
  return static_cast<std::size_t>(std::max(1, 1000 / bits));
}

/// A part of a row's words, with room for one more. Most cells are empty, in no order that a processor could
/// foresee: gathering does not branch on them.
struct Words {
  static constexpr std::size_t kMost = 128;
  std::uint32_t list[kMost + 1];
  std::size_t count = 0;

  /// Takes words from cell `next` on, as many as there is room for; returns the first cell not looked at.
  std::size_t gather(const double* row, std::size_t next, std::size_t width) {
    count = 0;
    for (; next < width && count < kMost; ++next) {
      list[count] = static_cast<std::uint32_t>(next);
      count += row[next] > 0.0 ? 1 : 0;
    }
    return next;
  }
};

}  // namespace

/// A part of a row's words: what the rising factorials of their weights multiply, weight + step for each
/// token, and the words with too many tokens for that. Most words come once or twice, so tokens are written
/// four at a time.
struct Multinomial::Tokens {
  static constexpr std::size_t kWords = Words::kMost;
  static constexpr std::size_t kAtOnce = 4;
  std::uint32_t word[kWords * kMultipliedOut + kAtOnce];
  double step[kWords * kMultipliedOut + kAtOnce];
  std::size_t count = 0;
  std::uint32_t frequent[kWords];
  std::size_t frequent_count = 0;
  double total = 0.0;            // tokens of all words that were gathered so far
  double log_coefficient = 0.0;  // without the factorial of the total

  /// As Words::gather.
  std::size_t gather(const double* row, std::size_t next, std::size_t width) {
    const auto& known = known_log_factorials();
    Words words;
    next = words.gather(row, next, width);
    count = frequent_count = 0;
    for (std::size_t i = 0; i < words.count; ++i) {
      const std::uint32_t j = words.list[i];
      total += row[j];
      log_coefficient -= log_factorial_of_count(known, row[j]);
      const auto times = static_cast<std::size_t>(row[j]);
      if (times > kMultipliedOut) {
        frequent[frequent_count++] = j;
        continue;
      }
      for (std::size_t first = 0; first < times; first += kAtOnce)
        for (std::size_t k = 0; k < kAtOnce; ++k) {
          word[count + first + k] = j;
          step[count + first + k] = static_cast<double>(first + k);
        }
      count += times;
    }
    return next;
  }
};

Multinomial::Multinomial(std::vector<double> concentration)
    : concentration_(std::move(concentration)),
      total_(std::accumulate(concentration_.begin(), concentration_.end(), 0.0)),
      least_(*std::min_element(concentration_.begin(), concentration_.end())) {}

void Multinomial::clear(double* stats) const { std::fill_n(stats, stats_size(), 0.0); }

void Multinomial::change(double* stats, const double* row, double sign) const {
  stats[0] += sign;
  stats[1] += sign * log_coefficient(row, width());
  stats[2] += sign * row_sum(row, width());
  for (std::size_t j = 0; j < width(); ++j) stats[3 + j] += sign * row[j];
}

void Multinomial::add(double* stats, const double* row) const { change(stats, row, 1.0); }

bool Multinomial::remove(double* stats, const double* row) const {
  change(stats, row, -1.0);
  return true;
}

void Multinomial::add_copies(double* stats, const double* row, double copies) const {
  change(stats, row, copies);
}

bool Multinomial::remove_copies(double* stats, const double* row, double copies) const {
  change(stats, row, -copies);
  return true;
}

void Multinomial::merge(double* stats, const double* other) const {
  for (std::size_t i = 0; i < stats_size(); ++i) stats[i] += other[i];
}

double Multinomial::log_marginal(const double* stats) const {
  double result = stats[1] + log_gamma(total_) - log_gamma(total_ + stats[2]);
  for (std::size_t j = 0; j < width(); ++j)
    if (stats[3 + j] != 0.0)
      result += log_gamma(concentration_[j] + stats[3 + j]) - log_gamma(concentration_[j]);
  return result;
}

double Multinomial::log_predictive(const double* stats, const double* row) const {
  const double before = total_ + stats[2];
  double words = 0.0;
  Tokens tokens;
  for (std::size_t next = 0; next < width();) {
    next = tokens.gather(row, next, width());
    words += log_rising_product(stats, row, tokens, 0.0);
  }
  return log_coefficient(row, width()) + log_gamma(before) - log_gamma(before + row_sum(row, width())) +
         words;
}

double Multinomial::log_rising_product(const double* stats, const double* row, const Tokens& tokens,
                                       double times) const {
  const auto weight = [&](std::uint32_t j) { return concentration_[j] + (stats[3 + j] - times * row[j]); };
  const std::size_t most = factors_before_log(least_, total_ + stats[2] + kMultipliedOut);
  double result = 0.0;
  for (std::size_t begin = 0; begin < tokens.count; begin += most) {
    const std::size_t end = std::min(begin + most, tokens.count);
    double product = 1.0;
    for (std::size_t i = begin; i < end; ++i) product *= weight(tokens.word[i]) + tokens.step[i];
    result += std::log(product);
  }
  for (std::size_t i = 0; i < tokens.frequent_count; ++i) {
    const std::uint32_t j = tokens.frequent[i];
    result += log_gamma(weight(j) + row[j]) - log_gamma(weight(j));
  }
  return result;
}

void Multinomial::draw_theta(const double* stats, Stream& stream, double* theta) const {
  std::vector<double> posterior(concentration_);
  for (std::size_t j = 0; j < width(); ++j) posterior[j] += stats[3 + j];
  draw_dirichlet(stream, posterior, {theta, width()});
}

void Multinomial::draw(const double* theta, Stream& stream, double* row) const {
  std::fill_n(row, width(), 0.0);
  for (double token = 0.0; token < row_total_; token += 1.0)
    row[draw_categorical(stream, {theta, width()})] += 1.0;
}

double Multinomial::log_likelihood(const double* theta, const double* row) const {
  const auto& known = known_log_factorials();
  double coefficient = 0.0;
  double total = 0.0;
  double result = 0.0;
  Words words;
  for (std::size_t next = 0; next < width();) {
    next = words.gather(row, next, width());
    for (std::size_t i = 0; i < words.count; ++i) {
      const std::uint32_t j = words.list[i];
      total += row[j];
      coefficient -= log_factorial_of_count(known, row[j]);
      result += row[j] * std::log(theta[j]);
    }
  }
  return result + coefficient + log_factorial_of_count(known, total);
}

namespace {

/// Words that no row of a group of lanes has are skipped.
class WordLikelihoods final : public Likelihoods {
 public:
  WordLikelihoods(std::span<const double> thetas, std::size_t width)
      : width_(width), clusters_(thetas.size() / width), log_thetas_(thetas.size()) {
    for (std::size_t k = 0; k < clusters_; ++k)
      for (std::size_t j = 0; j < width; ++j)
        log_thetas_[j * clusters_ + k] = bounded_log(std::log(thetas[k * width + j]));
  }

  void add(const double* columns, std::size_t count, double* out) override {
    for (std::size_t j = 0; j < width_; ++j)
      for (std::size_t row = 0; row < count; row += kLanes) {
        const Lanes x = load_lanes(columns + j * kTileRows + row);
        const LanesInt is_used = x != 0.0;
        if (!any(is_used)) continue;
        double* sums = out + row;
        for (std::size_t k = 0; k < clusters_; ++k, sums += kTileRows)
          store_lanes(sums, load_lanes(sums) + x * log_thetas_[j * clusters_ + k]);
      }
  }

 private:
  std::size_t width_, clusters_;
  std::vector<double> log_thetas_;  // by word
};

}  // namespace

std::unique_ptr<Likelihoods> Multinomial::likelihoods(std::span<const double> thetas) const {
  return std::make_unique<WordLikelihoods>(thetas, width());
}

void Multinomial::add_rows(double* stats, const double* rows, std::size_t stride,
                           std::span<const std::uint32_t> which) const {
  for (const std::uint32_t row : which) add(stats, rows + row * stride);
}

void Multinomial::fill_cache(const double* stats, double* cache) const {
  const double total = total_ + stats[2];
  cache[0] = total;
  cache[kLanes] = log_gamma(total);
  for (std::size_t j = 0; j < width(); ++j) cache[(2 + j) * kLanes] = concentration_[j] + stats[3 + j];
}

void Multinomial::add_log_predictive(const double* row, const double* cache, std::size_t stride,
                                     std::size_t chunks, const OwnCluster& own, double* out) const {
  const double own_before = own.stats != nullptr ? out[own.slot] : 0.0;
  double own_words = 0.0;
  // The row's tokens are gathered once for all clusters; a rising factorial is a product, and many tokens
  // share one logarithm.
  Tokens tokens;
  for (std::size_t next = 0; next < width();) {
    next = tokens.gather(row, next, width());
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
      const double* caches = cache + chunk * stride;
      const double* weights = caches + 2 * kLanes;
      const std::size_t most = factors_before_log(least_, maximum(load_lanes(caches)) + kMultipliedOut);
      Lanes result{};
      for (std::size_t begin = 0; begin < tokens.count; begin += most) {
        const std::size_t end = std::min(begin + most, tokens.count);
        Lanes product = broadcast(1.0);
        for (std::size_t i = begin; i < end; ++i)
          product *= load_lanes(weights + tokens.word[i] * kLanes) + tokens.step[i];
        result += coppice::log(product);
      }
      for (std::size_t i = 0; i < tokens.frequent_count; ++i) {
        const std::uint32_t j = tokens.frequent[i];
        const Lanes weight = load_lanes(weights + j * kLanes);
        result += coppice::log_gamma(weight + row[j]) - coppice::log_gamma(weight);
      }
      store_lanes(out + chunk * kLanes, load_lanes(out + chunk * kLanes) + result);
    }
    if (own.stats != nullptr) own_words += log_rising_product(own.stats, row, tokens, 1.0);
  }
  const double total = tokens.total;
  const double coefficient = tokens.log_coefficient + log_factorial_of_count(known_log_factorials(), total);
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
    const double* caches = cache + chunk * stride;
    const Lanes totals = load_lanes(caches);
    store_lanes(out + chunk * kLanes, load_lanes(out + chunk * kLanes) + coefficient +
                                          load_lanes(caches + kLanes) - coppice::log_gamma(totals + total));
  }
  if (own.stats == nullptr) return;
  const double all = total_ + own.stats[2];
  out[own.slot] = own_before + coefficient + own_words + log_gamma(all - total) - log_gamma(all);
}

CellPredictive Multinomial::predict_cell(const double* stats, std::size_t column) const {
  // Of a row as long as the cluster's average row.
  const double tokens = stats[0] > 0.0 ? stats[2] / stats[0] : row_total_;
  const double weight = concentration_[column] + stats[3 + column];
  const double total = total_ + stats[2];
  const double p = weight / total;
  return {tokens * p, tokens * p * (1.0 - p) * (total + tokens) / (total + 1.0), {}};
}

FamilyEntry multinomial_entry() {
  return {.name = "multinomial",
          .summary = "all count columns together as one vector of counts (words); Dirichlet prior",
          .kinds = {Kind::count, Kind::binary},
          .missing_allowed = false,
          .parameters = {{"concentration",
                          Parameter::Type::numbers,
                          "0.5",
                          "prior weight of every column, or one number for each",
                          0.0,
                          1e300,
                          true,
                          {},
                          0}},
          .make = [](const FamilyInputs& inputs) -> std::unique_ptr<Family> {
            const std::vector<double> half(inputs.columns.size(), 0.5);
            return std::make_unique<Multinomial>(inputs.per_column_values("concentration", half, 0.0));
          },
          .support = Support::counts,
          .joint = true,
          .gaps_in_new_rows = false,
          .rate_like = true};
}

}  // namespace coppice
