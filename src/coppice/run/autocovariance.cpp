#include "coppice/run/autocovariance.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>
#include <utility>

#include "coppice/base/lanes.hpp"

namespace coppice {

namespace {

constexpr std::ptrdiff_t kDirectLags = 256;  // beyond, a transform of all lags is cheaper than one sum each

/// The transform of arrays of one length, a power of two.
class FourierTransform {
 public:
  explicit FourierTransform(std::size_t length) : roots_(length / 2) {
    for (std::size_t k = 0; k < length / 2; ++k) {
      const double angle = -2.0 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(length);
      roots_[k] = {std::cos(angle), std::sin(angle)};
    }
  }

  void operator()(std::vector<std::complex<double>>& values) const {
    const std::size_t n = values.size();
    for (std::size_t i = 1, j = 0; i < n; ++i) {
      std::size_t bit = n >> 1;
      for (; j & bit; bit >>= 1) j ^= bit;
      j ^= bit;
      if (i < j) std::swap(values[i], values[j]);
    }
    for (std::size_t length = 2; length <= n; length *= 2) {
      const std::size_t stride = n / length;
      for (std::size_t start = 0; start < n; start += length) {
        for (std::size_t k = 0; k < length / 2; ++k) {
          const auto& root = roots_[k * stride];
          const auto odd = values[start + k + length / 2];
          const std::complex<double> turned(odd.real() * root.real() - odd.imag() * root.imag(),
                                            odd.real() * root.imag() + odd.imag() * root.real());
          values[start + k + length / 2] = values[start + k] - turned;
          values[start + k] += turned;
        }
      }
    }
  }

 private:
  std::vector<std::complex<double>> roots_;
};

double sum_of_products(const double* a, const double* b, std::size_t count) {
  const std::size_t whole = count / kLanes * kLanes;
  return std::inner_product(a + whole, a + count, b + whole, dot(a, b, whole));
}

}  // namespace

bool all_equal(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [&](double value) { return value == values.front(); });
}

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

MeanAutocovariance::MeanAutocovariance(ChainBlock block) : block_(std::move(block)) {
  for (std::size_t c = 0; c < block_.chains; ++c) {
    const auto chain = block_.chain(c);
    const double mean = all_equal(chain) ? chain.front() : mean_of(chain);
    for (std::size_t i = 0; i < block_.draws; ++i) block_.values[c * block_.draws + i] -= mean;
  }
}

double MeanAutocovariance::operator()(std::ptrdiff_t lag) {
  if (lag >= kDirectLags && transformed_.empty()) transform();
  if (lag >= kDirectLags) return transformed_[static_cast<std::size_t>(lag)];
  double sum = 0.0;
  for (std::size_t c = 0; c < block_.chains; ++c) {
    const auto chain = block_.chain(c);
    sum += sum_of_products(chain.data() + lag, chain.data(), chain.size() - static_cast<std::size_t>(lag));
  }
  return sum / static_cast<double>(block_.chains * block_.draws);
}

void MeanAutocovariance::transform() {
  std::size_t length = 1;
  while (length < 2 * block_.draws) length *= 2;
  const FourierTransform transform(length);
  std::vector<std::complex<double>> power(length);
  std::vector<std::complex<double>> spectrum;
  // Two chains at a time, as real and imaginary parts: the even part of their power is the sum of both.
  for (std::size_t c = 0; c < block_.chains; c += 2) {
    const auto chain = block_.chain(c);
    spectrum.assign(length, 0.0);
    std::copy(chain.begin(), chain.end(), spectrum.begin());
    if (c + 1 < block_.chains) {
      const auto other = block_.chain(c + 1);
      for (std::size_t i = 0; i < other.size(); ++i) spectrum[i].imag(other[i]);
    }
    transform(spectrum);
    for (std::size_t k = 0; k < length; ++k) power[k] += std::norm(spectrum[k]);
  }
  // The power is real; the real part of its transform is that of its even part, for which forward and inverse
  // differ by the length only.
  transform(power);
  transformed_.resize(block_.draws);
  const double scale = static_cast<double>(length) * static_cast<double>(block_.chains * block_.draws);
  for (std::size_t lag = 0; lag < block_.draws; ++lag) transformed_[lag] = power[lag].real() / scale;
}

}  // namespace coppice
