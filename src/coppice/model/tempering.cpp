#include "coppice/model/tempering.hpp"

#include <fmt/format.h>

#include <cmath>

#include "coppice/base/error.hpp"

namespace coppice {

Parameter temperatures_row(const char* help, bool zero_allowed) {
  return {.name = "temperatures",
          .type = Parameter::Type::numbers,
          .fallback = "1",
          .help = help,
          .low = 0.0,
          .high = 1.0,
          .low_excluded = !zero_allowed};
}

void check_temperatures(const std::vector<double>& powers) {
  if (powers.empty() || powers.front() != 1.0)
    fail(ErrorCode::configuration, "--temperatures must begin with 1, the posterior itself");
  for (std::size_t i = 1; i < powers.size(); ++i)
    if (!(powers[i] < powers[i - 1]))
      fail(ErrorCode::configuration, "--temperatures must fall: {} comes after {}", powers[i], powers[i - 1]);
}

TemperingLadder::TemperingLadder(std::vector<double> powers) : powers_(std::move(powers)) {
  check_temperatures(powers_);
  counts_.resize(powers_.size() - 1);
}

void TemperingLadder::exchange(const StreamName& name, const std::function<double(std::size_t)>& log_ratio,
                               const std::function<void(std::size_t)>& exchange) {
  Stream stream(name, Purpose::tempering);
  for (std::size_t r = counts_.size(); r-- > 0;) {
    ++counts_[r].proposed;
    if (!(std::log(draw_uniform(stream)) < log_ratio(r))) continue;
    ++counts_[r].accepted;
    exchange(r);
  }
}

void TemperingLadder::add_moves(std::vector<MoveStatistics>& list) const {
  for (std::size_t r = 0; r < counts_.size(); ++r)
    list.push_back({fmt::format("exchange {:.3g} {:.3g}", powers_[r], powers_[r + 1]), counts_[r].proposed,
                    counts_[r].accepted});
}

}  // namespace coppice
