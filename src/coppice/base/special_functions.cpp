#include "coppice/base/special_functions.hpp"

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <boost/math/tools/toms748_solve.hpp>
#include <cstdint>

namespace coppice {

double trigamma(double x) { return boost::math::trigamma(x); }

double inverse_erfc(double y) { return boost::math::erfc_inv(y); }

double beta_quantile(double a, double b, double probability) {
  return boost::math::ibeta_inv(a, b, probability);
}

double chi_squared_tail(double degrees_of_freedom, double x) {
  return boost::math::cdf(boost::math::complement(boost::math::chi_squared(degrees_of_freedom), x));
}

double student_t_cdf(double degrees_of_freedom, double x) {
  return boost::math::cdf(boost::math::students_t(degrees_of_freedom), x);
}

double student_t_density(double degrees_of_freedom, double x) {
  return boost::math::pdf(boost::math::students_t(degrees_of_freedom), x);
}

double root_between(const std::function<double(double)>& function, double low, double high) {
  std::uintmax_t most = 100;
  const auto [left, right] = boost::math::tools::toms748_solve(
      function, low, high, boost::math::tools::eps_tolerance<double>(40), most);
  return 0.5 * (left + right);
}

}  // namespace coppice
