// The settings of the nested mixture, read once from its parameters.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "coppice/base/parameter.hpp"
#include "coppice/prior/concentration.hpp"

namespace coppice::rbhmc {

/// What a tree pays for siblings that its discriminants do not separate, or gains by those that they do.
/// `hinge`, `centered`, `infomax` and `evidence` are targets that are sampled exactly; `own` and `paper` are
/// procedures without a target.
enum class Regularizer { hinge, centered, own, paper, infomax, evidence };
enum class PathUpdate { metropolis, gibbs, prior };
enum class DiscriminantUpdate { slice, gauss };
enum class Start { sequential, single_path, each_alone, prior, dispersed };
enum class Move { paths, components, weights, structure, discriminants, shift };

struct Options {
  explicit Options(const ParameterValues& parameters);

  std::size_t levels;
  Concentration alpha, gamma, gamma0;
  bool learns() const { return alpha.is_learned() || gamma.is_learned() || gamma0.is_learned(); }

  Regularizer regularizer;
  double penalty;  // C
  double margin;   // eps0
  double discriminant_sd;
  /// Whether it is learned; then this is the prior of its precision, 1 / sd^2.
  bool learns_discriminant_sd;
  GammaPrior discriminant_precision;
  bool intercept;
  bool centered() const { return regularizer == Regularizer::centered; }
  /// Whether rows have gates instead of hinges.
  bool gated() const { return regularizer == Regularizer::infomax; }
  /// Whether splits are judged by the evidence of their sides; then discriminants play no part.
  bool by_evidence() const { return regularizer == Regularizer::evidence; }
  /// Whether splits are rewarded: their sum is kept by node, not by row as hinges are.
  bool rewards_splits() const { return gated() || by_evidence(); }
  /// Powers of rewards by level, from level 1, as factors of the penalty.
  std::vector<double> level_powers;
  /// Whether a move is judged by the hinges of all rows, as an exact sampler must.
  bool counts_others() const { return regularizer == Regularizer::hinge || centered() || rewards_splits(); }

  std::vector<Move> moves;
  PathUpdate path_update;
  std::size_t auxiliary_branches;
  bool informed;
  DiscriminantUpdate discriminant_update;
  bool drawn_leaf_weights, drawn_theta;
  std::size_t component_moves;
  std::size_t block_moves;                       // kByRows: from the number of rows
  std::size_t split_merge_moves, regraft_moves;  // kByRows: from the number of rows and nodes
  Start start;
  /// Powers of the regularizer, one for each coupled replica; the first is 1, the chain itself.
  std::vector<double> temperatures;

  static constexpr std::size_t kByRows = static_cast<std::size_t>(-1);
};

std::vector<Parameter> parameter_table();
void check_given(const Settings& given);
/// The sentence that goes with every answer of a procedure that samples no target.
std::string inexactness_note(const ParameterValues& parameters);

}  // namespace coppice::rbhmc
