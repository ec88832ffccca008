// The Polya-Gamma law PG(1, c), whose mixtures turn logistic likelihoods into normal ones (Polson, Scott &
// Windle 2013), and the inverse-Gaussian law it is drawn with.
#pragma once

#include "coppice/base/rng.hpp"

namespace coppice {

/// tanh(c / 2) / (2 c), for any c.
double polya_gamma_mean(double c);
double polya_gamma_variance(double c);
/// E exp(-s x), s >= 0.
double polya_gamma_laplace(double c, double s);
/// Exact, by Devroye's alternating series; any finite c.
double draw_polya_gamma(Stream& stream, double c);

/// Inverse Gaussian with the given mean (any positive number) and shape 1.
double draw_inverse_gaussian(Stream& stream, double mean);

}  // namespace coppice
