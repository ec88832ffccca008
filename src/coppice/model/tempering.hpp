// Coupled replicas of a chain at falling powers of a target; the first, at power 1, is the chain
// itself. After every sweep neighbors may exchange their states, from the hottest pair to the chain, so that
// a state can travel all the way in one sweep.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

#include "coppice/base/byte_stream.hpp"
#include "coppice/base/parameter.hpp"
#include "coppice/cluster/move_count.hpp"
#include "coppice/model/model.hpp"

namespace coppice {

/// The parameter --temperatures, of powers from 1 down; whether 0 is one of them depends on the target.
Parameter temperatures_row(const char* help, bool zero_allowed);

/// Throws Error{configuration} unless the powers begin with 1 and fall.
void check_temperatures(const std::vector<double>& powers);

class TemperingLadder {
 public:
  /// The powers are checked as by check_temperatures.
  explicit TemperingLadder(std::vector<double> powers);

  std::size_t size() const { return powers_.size(); }
  double power(std::size_t replica) const { return powers_[replica]; }

  /// Offers every pair of neighbors r and r + 1 an exchange: log_ratio(r) is the log of its acceptance
  /// ratio, exchange(r) makes it.
  void exchange(const StreamName& name, const std::function<double(std::size_t)>& log_ratio,
                const std::function<void(std::size_t)>& exchange);

  void clear_counts() { counts_.assign(counts_.size(), {}); }
  /// "exchange 1 0.8" for the pair at these powers.
  void add_moves(std::vector<MoveStatistics>& list) const;
  /// The counts of exchanges, the chain's own pair first.
  void save(ByteWriter& writer) const { writer.put(counts_.data(), counts_.size()); }
  void load(ByteReader& reader) { reader.get(counts_.data(), counts_.size()); }
  void reverse_counts() { std::reverse(counts_.begin(), counts_.end()); }

 private:
  std::vector<double> powers_;
  std::vector<MoveCount> counts_;
};

}  // namespace coppice
