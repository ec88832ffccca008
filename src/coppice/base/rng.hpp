// Named random streams. A stream is identified by (seed, chain, sweep, site): the same name always gives the
// same numbers, whichever thread asks and however many other streams were used before. Philox4x64-10
// (Random123) turns the name and a counter into bits; there is no generator state to save in a checkpoint.
#pragma once

#include <Random123/philox.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace coppice {

/// What a random number is for. The numeric values are part of what makes a run reproducible: append only.
enum class Purpose : std::uint64_t {
  initialize = 1,
  gibbs = 2,
  split_merge = 3,
  concentration = 4,
  prior_shape = 5,
  prior_data = 6,
  scan_order = 7,
  test = 8,
  path = 9,
  weights = 10,
  structure = 11,
  discriminants = 12,
  new_discriminants = 13,
  theta = 14,
  scores = 15,
  tempering = 16,
  hold_out = 17,
  guide = 18,
  blocks = 19,
  guided_split_merge = 20,
  multiway = 21,
  published = 22,
  insertion = 23,
  hyper = 24,
  missing = 25,
  prior_hyper = 26,
  ties = 27,
  neighbors = 28,
};

/// Identifies a stream, together with its purpose: the same name gives the same numbers.
struct StreamName {
  std::uint64_t seed = 1;   // of the run
  std::uint64_t chain = 0;  // counts from 0
  std::uint64_t sweep = 0;  // counts from 0; 0 is the initial state
};

/// A counter-based stream of random bits; a UniformRandomBitGenerator of the standard library.
class Stream {
 public:
  using result_type = std::uint64_t;  // as the standard library requires it

  /// The stream of this name and purpose; `site` distinguishes rows, moves or nodes within a sweep.
  Stream(const StreamName& name, Purpose purpose, std::uint64_t site = 0)
      : key_{{name.seed, name.chain}}, counter_{{0, site, name.sweep, static_cast<std::uint64_t>(purpose)}} {}

  /// The smallest number that the stream can give.
  static constexpr result_type min() { return 0; }
  /// The largest number that the stream can give.
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }

  /// The next 64 random bits.
  result_type operator()() {
    if (used_ == 4) {
      block_ = r123::Philox4x64()(counter_, key_);
      ++counter_[0];
      used_ = 0;
    }
    return block_[used_++];
  }

 private:
  r123::Philox4x64::key_type key_;
  r123::Philox4x64::ctr_type counter_;
  r123::Philox4x64::ctr_type block_{};
  unsigned used_ = 4;
};

/// 52 random bits as a number in the open interval (0, 1); with 53 the largest would round to 1.
inline double to_unit_interval(std::uint64_t bits) {
  return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52;
}

/// Uniform in (0, 1).
inline double draw_uniform(Stream& stream) { return to_unit_interval(stream()); }

/// A uniform integer in [0, count), without bias; count > 0.
std::uint64_t draw_index(Stream& stream, std::uint64_t count);
/// A standard normal draw.
double draw_normal(Stream& stream);
/// A Gamma draw with the given shape and rate 1.
double draw_gamma(Stream& stream, double shape);
/// Log of a Gamma(shape, rate 1) variable; does not underflow for tiny shapes.
double draw_log_gamma(Stream& stream, double shape);
/// Both parts of a Beta(a, b) draw, so that neither loses digits; shapes of zero are allowed (all mass goes
/// to the other part, to the second if both are zero).
struct BetaDraw {
  double first = 0.0;   // the Beta(a, b) variable
  double second = 1.0;  // one minus it
};
/// Draws both parts of a Beta(a, b) variable.
BetaDraw draw_beta_parts(Stream& stream, double a, double b);
/// A Beta(a, b) draw.
double draw_beta(Stream& stream, double a, double b);
/// Log of a Beta(a, b) variable, a and b > 0.
double draw_log_beta(Stream& stream, double a, double b);
/// Generalized inverse Gaussian with density proportional to x^(-1/2) exp(-(x + b^2 / x) / 2), b >= 0: mean
/// b + 1, variance b + 2. No reciprocals and no cancellation: correct for b = 0 and for b = 1e300.
double draw_gig_half(Stream& stream, double b);
/// A Poisson draw with the given mean.
std::uint64_t draw_poisson(Stream& stream, double mean);
/// A binomial draw.
std::uint64_t draw_binomial(Stream& stream, std::uint64_t trials, double probability);
/// Fills `out` with a Dirichlet draw; `concentration` has the same size. Shapes of zero are allowed; if all
/// are so small that no part is left, one of them takes everything, with probabilities proportional to them
/// (the last one if all are zero).
void draw_dirichlet(Stream& stream, std::span<const double> concentration, std::span<double> out);
/// An index drawn with probability proportional to weights (not all zero).
std::size_t draw_categorical(Stream& stream, std::span<const double> weights);
/// An index drawn with probability proportional to exp(log_weights[i]), which are overwritten. Some may be
/// minus infinity, but not all.
std::size_t draw_from_logs(Stream& stream, std::span<double> log_weights);
/// Uniformly random order of the given items, in place.
void shuffle(Stream& stream, std::span<std::uint32_t> items);

}  // namespace coppice
