#include "coppice/run/autocovariance.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>
#include <utility>

namespace coppice {

namespace {

constexpr std::ptrdiff_t kDirectLags = 256;  // beyond, a transform of all lags is cheaper than one sum each

void fourier_transform(std::vector<std::complex<double>>& values) {
  const std::size_t n = values.size();  // a power of two
  for (std::size_t i = 1, j = 0; i < n; ++i) {
    std::size_t bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(values[i], values[j]);
  }
  std::vector<std::complex<double>> roots(n / 2);
  for (std::size_t k = 0; k < n / 2; ++k) {
    const double angle = -2.0 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
    roots[k] = {std::cos(angle), std::sin(angle)};
  }
  for (std::size_t length = 2; length <= n; length *= 2) {
    const std::size_t stride = n / length;
    for (std::size_t start = 0; start < n; start += length) {
      for (std::size_t k = 0; k < length / 2; ++k) {
        const auto& root = roots[k * stride];
        const auto odd = values[start + k + length / 2];
        const std::complex<double> turned(odd.real() * root.real() - odd.imag() * root.imag(),
                                          odd.real() * root.imag() + odd.imag() * root.real());
        values[start + k + length / 2] = values[start + k] - turned;
        values[start + k] += turned;
      }
    }
  }
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
    sum += std::inner_product(chain.begin() + lag, chain.end(), chain.begin(), 0.0);
  }
  return sum / static_cast<double>(block_.chains * block_.draws);
}

void MeanAutocovariance::transform() {
  std::size_t length = 1;
  while (length < 2 * block_.draws) length *= 2;
  std::vector<std::complex<double>> power(length);
  std::vector<std::complex<double>> spectrum;
  for (std::size_t c = 0; c < block_.chains; ++c) {
    const auto chain = block_.chain(c);
    spectrum.assign(length, 0.0);
    std::copy(chain.begin(), chain.end(), spectrum.begin());
    fourier_transform(spectrum);
    for (std::size_t k = 0; k < length; ++k) power[k] += std::norm(spectrum[k]);
  }
  fourier_transform(power);  // the power is real and even, so forward and inverse differ by the length only
  transformed_.resize(block_.draws);
  const double scale = static_cast<double>(length) * static_cast<double>(block_.chains * block_.draws);
  for (std::size_t lag = 0; lag < block_.draws; ++lag) transformed_[lag] = power[lag].real() / scale;
}

}  // namespace coppice
