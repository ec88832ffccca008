// The settings of the model, read once from its parameters.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "coppice/base/parameter.hpp"
#include "coppice/prior/two_level_crp.hpp"

namespace coppice::nhcm {

/// Where a learned spread lives.
constexpr double kLeastSpread = 1e-12;
constexpr double kLargestSpread = 1e12;

struct Options {
  explicit Options(const ParameterValues& parameters);

  TwoLevelCrp::Nesting nesting;
  Concentration alpha_clusters, alpha_subclusters;
  double spread;
  bool learn_spread;
  GammaPrior spread_prior;
  bool published;
  bool interleaved;
  std::size_t subcluster_moves, cluster_moves;
  bool single_start;
};

std::vector<Parameter> parameter_table();
/// Throws Error{configuration} if settings that were given exclude each other.
void check_given(const Settings& given);
/// See ModelEntry::refuses_weights.
std::string refuses_weights(const ParameterValues& parameters);
/// The sentence that goes with every answer of the published sampler.
std::string inexactness_note(const ParameterValues& parameters);

}  // namespace coppice::nhcm
