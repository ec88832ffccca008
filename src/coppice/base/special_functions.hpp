// Special functions and a root finder of Boost.Math. Its headers take seconds to compile, so that one file
// includes them for all.
#pragma once

#include <functional>

namespace coppice {

/// The second derivative of log Gamma.
double trigamma(double x);
/// The x at which erfc is y.
double inverse_erfc(double y);
/// The quantile of the Beta(a, b) distribution.
double beta_quantile(double a, double b, double probability);
/// P(X > x) for a chi-squared distribution.
double chi_squared_tail(double degrees_of_freedom, double x);
/// Of Student's t distribution, centered and of unit scale.
double student_t_cdf(double degrees_of_freedom, double x);
double student_t_density(double degrees_of_freedom, double x);

/// The root of a monotone function between two points at which its signs differ, to twelve digits.
double root_between(const std::function<double(double)>& function, double low, double high);

}  // namespace coppice
