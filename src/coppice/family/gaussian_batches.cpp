// Batches of Gaussian rows. With W the inverse of the covariance's Cholesky factor, log p(x | mu, S) is
// -|W (x - mu)|^2 / 2 + log|W| and a constant: a product of a triangle with eight rows at a time. Rows with
// missing cells are scored by the marginal of their present ones; a pattern of missing cells has its own W.
// Statistics of many rows are their mean and the scatter about it, taken in two passes.
#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_map>

#include "coppice/base/aligned.hpp"
#include "coppice/base/math.hpp"
#include "coppice/family/gaussian.hpp"
#include "coppice/family/packed_cholesky.hpp"

namespace coppice {
namespace {

/// What a cluster needs for rows of d cells: mu, then W row by row, then log|W|.
std::size_t prepared_size(std::size_t d) { return d + d * (d + 1) / 2 + 1; }

/// `factor` is the packed Cholesky factor of the covariance, by columns.
void prepare(const double* mean, const double* factor, std::size_t d, double* prepared) {
  std::copy_n(mean, d, prepared);
  double* inverse = prepared + d;
  const auto entry = [&](std::size_t i, std::size_t j) { return factor[j * d - j * (j + 1) / 2 + i]; };
  const auto place = [](std::size_t i, std::size_t j) { return i * (i + 1) / 2 + j; };
  double log_determinant = 0.0;
  for (std::size_t i = 0; i < d; ++i) {
    const double reciprocal = 1.0 / entry(i, i);
    log_determinant += std::log(reciprocal);
    for (std::size_t j = 0; j < i; ++j) {
      double sum = 0.0;
      for (std::size_t l = j; l < i; ++l) sum += entry(i, l) * inverse[place(l, j)];
      inverse[place(i, j)] = -sum * reciprocal;
    }
    inverse[place(i, i)] = reciprocal;
  }
  prepared[d + d * (d + 1) / 2] = log_determinant;
}

/// |W (x - mu)|^2 for groups of eight rows side by side.
template <std::size_t D, std::size_t Groups>
inline void squared_lengths(const double* columns, const double* prepared, Lanes* out) {
  Lanes e[D][Groups];
  Lanes total[Groups] = {};
  const double* inverse = prepared + D;
#pragma GCC unroll 16
  for (std::size_t i = 0; i < D; ++i) {
    Lanes z[Groups] = {};
    for (std::size_t g = 0; g < Groups; ++g)
      e[i][g] = load_lanes(columns + i * kTileRows + g * kLanes) - prepared[i];
#pragma GCC unroll 16
    for (std::size_t j = 0; j <= i; ++j, ++inverse)
      for (std::size_t g = 0; g < Groups; ++g) z[g] += *inverse * e[j][g];
    for (std::size_t g = 0; g < Groups; ++g) total[g] += z[g] * z[g];
  }
  for (std::size_t g = 0; g < Groups; ++g) out[g] = total[g];
}

/// The same in any dimension; `room` has that many.
inline Lanes squared_lengths(std::size_t d, const double* columns, const double* prepared, Lanes* room) {
  Lanes total{};
  const double* inverse = prepared + d;
  for (std::size_t i = 0; i < d; ++i) {
    room[i] = load_lanes(columns + i * kTileRows) - prepared[i];
    Lanes z{};
    for (std::size_t j = 0; j <= i; ++j, ++inverse) z += *inverse * room[j];
    total += z * z;
  }
  return total;
}

class GaussianLikelihoods final : public Likelihoods {
 public:
  GaussianLikelihoods(std::span<const double> thetas, std::size_t d)
      : d_(d),
        theta_size_(d + d * (d + 1) / 2),
        thetas_(thetas.begin(), thetas.end()),
        clusters_(thetas.size() / theta_size_),
        prepared_(clusters_ * prepared_size(d)) {
    for (std::size_t k = 0; k < clusters_; ++k)
      prepare(theta(k), theta(k) + d_, d_, prepared_.data() + k * prepared_size(d_));
  }

  void add(const double* columns, std::size_t count, double* out) override {
    switch (d_) {
      case 1:
        return add_fixed<1>(columns, count, out);
      case 2:
        return add_fixed<2>(columns, count, out);
      case 3:
        return add_fixed<3>(columns, count, out);
      case 4:
        return add_fixed<4>(columns, count, out);
      case 5:
        return add_fixed<5>(columns, count, out);
      case 6:
        return add_fixed<6>(columns, count, out);
      case 8:
        return add_fixed<8>(columns, count, out);
      case 10:
        return add_fixed<10>(columns, count, out);
      default:
        break;
    }
    room_.resize(d_ * kLanes);
    auto* room = reinterpret_cast<Lanes*>(room_.data());
    add_groups<1>(columns, count, out, [&](const double* from, const double* prepared, Lanes* result) {
      result[0] = squared_lengths(d_, from, prepared, room);
    });
  }

 private:
  const double* theta(std::size_t k) const { return thetas_.data() + k * theta_size_; }

  template <std::size_t D>
  void add_fixed(const double* columns, std::size_t count, double* out) {
    const std::size_t pairs = count / (2 * kLanes) * (2 * kLanes);
    add_groups<2>(columns, pairs, out, squared_lengths<D, 2>);
    if (pairs < count) add_groups<1>(columns + pairs, count - pairs, out + pairs, squared_lengths<D, 1>);
  }

  template <std::size_t Groups, typename Squares>
  void add_groups(const double* columns, std::size_t count, double* out, Squares&& squares) {
    constexpr std::size_t kStep = Groups * kLanes;
    LanesInt missing{};
    for (std::size_t k = 0; k < clusters_; ++k) {
      const double* prepared = prepared_.data() + k * prepared_size(d_);
      const double constant = prepared[prepared_size(d_) - 1];
      double* sums = out + k * kTileRows;
      for (std::size_t row = 0; row < count; row += kStep) {
        Lanes squared[Groups];
        squares(columns + row, prepared, squared);
        for (std::size_t g = 0; g < Groups; ++g) {
          // A missing cell is not a number, and neither is the distance of its row.
          const LanesInt known = squared[g] == squared[g];
          missing |= ~known;
          double* at = sums + row + g * kLanes;
          store_lanes(at, load_lanes(at) + (known ? constant - 0.5 * squared[g] : Lanes{}));
        }
      }
    }
    if (any(missing)) add_incomplete(columns, count, out);
  }

  void add_incomplete(const double* columns, std::size_t count, double* out) {
    std::string pattern(d_, '\0');
    std::vector<double> x(d_), e(d_);
    for (std::size_t row = 0; row < count; ++row) {
      std::size_t present = 0;
      for (std::size_t j = 0; j < d_; ++j) {
        const double cell = columns[j * kTileRows + row];
        pattern[j] = is_missing(cell) ? '0' : '1';
        if (!is_missing(cell)) x[present++] = cell;
      }
      if (present == d_ || present == 0) continue;
      const std::vector<double>& prepared = of_pattern(pattern, present);
      const double* of_cluster = prepared.data();
      for (std::size_t k = 0; k < clusters_; ++k, of_cluster += prepared_size(present)) {
        const double* inverse = of_cluster + present;
        double total = 0.0;
        for (std::size_t i = 0; i < present; ++i) {
          e[i] = x[i] - of_cluster[i];
          double z = 0.0;
          for (std::size_t j = 0; j <= i; ++j) z += *inverse++ * e[j];
          total += z * z;
        }
        out[k * kTileRows + row] += *inverse - 0.5 * total;
      }
    }
  }

  /// Means and factors of the present cells' covariances.
  const std::vector<double>& of_pattern(const std::string& pattern, std::size_t present) {
    constexpr std::size_t kMostPatterns = 4096;
    if (patterns_.size() >= kMostPatterns && !patterns_.contains(pattern)) patterns_.clear();
    const auto [found, is_new] = patterns_.try_emplace(pattern);
    if (!is_new) return found->second;
    std::vector<std::size_t> cells;
    for (std::size_t j = 0; j < d_; ++j)
      if (pattern[j] == '1') cells.push_back(j);
    std::vector<double>& prepared = found->second;
    prepared.resize(clusters_ * prepared_size(present));
    std::vector<double> mean(present), packed(present * (present + 1) / 2);
    const std::vector<double> least(packed.size(), 0.0);
    for (std::size_t k = 0; k < clusters_; ++k) {
      const double* factor = theta(k) + d_;
      const auto entry = [&](std::size_t i, std::size_t j) { return factor[j * d_ - j * (j + 1) / 2 + i]; };
      double* next = packed.data();
      for (std::size_t b = 0; b < present; ++b) {
        mean[b] = theta(k)[cells[b]];
        for (std::size_t a = b; a < present; ++a) {
          double sum = 0.0;
          for (std::size_t l = 0; l <= cells[b]; ++l) sum += entry(cells[a], l) * entry(cells[b], l);
          *next++ = sum;
        }
      }
      factorize(packed.data(), present, least.data());
      prepare(mean.data(), packed.data(), present, prepared.data() + k * prepared_size(present));
    }
    return prepared;
  }

  std::size_t d_, theta_size_;
  std::vector<double> thetas_;
  std::size_t clusters_;
  std::vector<double> prepared_;
  AlignedVector room_;
  std::unordered_map<std::string, std::vector<double>> patterns_;
};

double sum_of(Lanes values) {
  double total = 0.0;
  for (std::size_t lane = 0; lane < kLanes; ++lane) total += values[lane];
  return total;
}

/// Means of the rows, then the sums of e e' over the rows, a row-major matrix of which the upper triangle has
/// a meaning; e is the distance from the mean.
struct RowMoments {
  const double* rows;
  std::size_t stride;
  std::span<const std::uint32_t> which;
  double* mean;
  double* scatter;

  const double* operator[](std::size_t i) const { return rows + which[i] * stride; }
};

/// A few columns: eight rows side by side, so that a sum does not wait for the one before it.
template <std::size_t D>
void take_moments(const RowMoments& of) {
  const std::size_t count = of.which.size();
  const std::size_t whole = count / kLanes * kLanes;
  const auto gather = [&](std::size_t i, Lanes* cells) {
#pragma GCC unroll 8
    for (std::size_t lane = 0; lane < kLanes; ++lane)
#pragma GCC unroll 8
      for (std::size_t j = 0; j < D; ++j) cells[j][lane] = of[i + lane][j];
  };
  Lanes cells[D];
  Lanes totals[D] = {};
  for (std::size_t i = 0; i < whole; i += kLanes) {
    gather(i, cells);
    for (std::size_t j = 0; j < D; ++j) totals[j] += cells[j];
  }
  for (std::size_t j = 0; j < D; ++j) {
    double total = sum_of(totals[j]);
    for (std::size_t i = whole; i < count; ++i) total += of[i][j];
    of.mean[j] = total / static_cast<double>(count);
  }
  Lanes sums[D][D] = {};
  for (std::size_t i = 0; i < whole; i += kLanes) {
    gather(i, cells);
#pragma GCC unroll 8
    for (std::size_t j = 0; j < D; ++j) cells[j] -= of.mean[j];
#pragma GCC unroll 8
    for (std::size_t a = 0; a < D; ++a)
#pragma GCC unroll 8
      for (std::size_t b = a; b < D; ++b) sums[a][b] += cells[a] * cells[b];
  }
  for (std::size_t a = 0; a < D; ++a)
    for (std::size_t b = a; b < D; ++b) {
      double total = sum_of(sums[a][b]);
      for (std::size_t i = whole; i < count; ++i) total += (of[i][a] - of.mean[a]) * (of[i][b] - of.mean[b]);
      of.scatter[a * D + b] = total;
    }
}

/// Eight columns or more: sums of eight columns at a time; the last eight may overlap those before them.
template <typename Sums>
void take_wide_moments(const RowMoments& of, std::size_t d, Sums&& sums) {
  const std::size_t chunks = (d + kLanes - 1) / kLanes;
  const auto first_of = [&](std::size_t chunk) { return std::min(chunk * kLanes, d - kLanes); };
  constexpr std::size_t kMostChunks = Gaussian::kLargestDimension / kLanes;
  Lanes totals[kMostChunks] = {};
  for (std::size_t i = 0; i < of.which.size(); ++i)
    for (std::size_t c = 0; c < chunks; ++c) totals[c] += load_lanes(of[i] + first_of(c));
  for (std::size_t c = 0; c < chunks; ++c)
    store_lanes(of.mean + first_of(c), totals[c] / static_cast<double>(of.which.size()));
  Lanes e[kMostChunks];
  for (std::size_t i = 0; i < of.which.size(); ++i) {
    const double* row = of[i];
    for (std::size_t c = 0; c < chunks; ++c)
      e[c] = load_lanes(row + first_of(c)) - load_lanes(of.mean + first_of(c));
#pragma GCC unroll 16
    for (std::size_t a = 0; a < d; ++a) {
      const double own = row[a] - of.mean[a];
      for (std::size_t c = a / kLanes; c < chunks; ++c) sums(a, c) += own * e[c];
    }
  }
  // The overlap was counted by two chunks, to the same sums.
  for (std::size_t a = 0; a < d; ++a)
    for (std::size_t c = a / kLanes; c < chunks; ++c)
      store_lanes(of.scatter + a * d + first_of(c), sums(a, c));
}

template <std::size_t D>
void take_fixed_moments(const RowMoments& of) {
  constexpr std::size_t kChunks = (D + kLanes - 1) / kLanes;
  Lanes sums[D][kChunks] = {};
  take_wide_moments(of, D, [&](std::size_t a, std::size_t c) -> Lanes& { return sums[a][c]; });
}

void take_moments(const RowMoments& of, std::size_t d) {
  switch (d) {
    case 1:
      return take_moments<1>(of);
    case 2:
      return take_moments<2>(of);
    case 3:
      return take_moments<3>(of);
    case 4:
      return take_moments<4>(of);
    case 5:
      return take_moments<5>(of);
    case 6:
      return take_moments<6>(of);
    case 7:
      return take_moments<7>(of);
    case 8:
      return take_fixed_moments<8>(of);
    case 10:
      return take_fixed_moments<10>(of);
    default:
      break;
  }
  const std::size_t chunks = (d + kLanes - 1) / kLanes;
  AlignedVector sums(d * chunks * kLanes, 0.0);
  auto* lanes = reinterpret_cast<Lanes*>(sums.data());
  take_wide_moments(of, d, [&](std::size_t a, std::size_t c) -> Lanes& { return lanes[a * chunks + c]; });
}

}  // namespace

std::unique_ptr<Likelihoods> Gaussian::likelihoods(std::span<const double> thetas) const {
  return std::make_unique<GaussianLikelihoods>(thetas, d_);
}

void Gaussian::add_rows(double* stats, const double* rows, std::size_t stride,
                        std::span<const std::uint32_t> which) const {
  if (which.empty()) return;
  const auto n = static_cast<double>(which.size());
  double mean[kLargestDimension];
  std::vector<double> scatter(d_ * d_);
  take_moments({rows, stride, which, mean, scatter.data()}, d_);
  // Lambda = scale + scatter + k0 n / k (mean - shift)(mean - shift)'.
  const double k = k0_ + n;
  std::vector<double> added(stats_size());
  added[0] = n;
  added[kStrength] = k;
  double* factor = added.data() + kMean + d_;
  double* next = factor;
  for (std::size_t j = 0; j < d_; ++j) {
    added[kMean + j] = shift_[j] + (mean[j] - shift_[j]) * (n / k);
    for (std::size_t i = j; i < d_; ++i)
      *next++ = scale_[i * d_ + j] + scatter[j * d_ + i] +
                k0_ * n / k * (mean[i] - shift_[i]) * (mean[j] - shift_[j]);
  }
  factorize(factor, d_, empty_.data() + kMean + d_);
  added[1] = log_determinant(factor, d_);
  merge(stats, added.data());
}

}  // namespace coppice
