// Proposals for the discriminant of a new child that know the data: a Gaussian fitted to the scores it should
// have, high on the rows of the child and low on the others below its parent.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "coppice/model/rbhmc/margins.hpp"

namespace coppice::rbhmc {

class GaussianConditional;

class InformedProposal {
 public:
  /// For a new child of `parent` that shall hold `members`; `excluded`, if there is one, is the child that
  /// holds them now and counts as not there. Rows below the parent that are no members stay where they are,
  /// rows in `excluded` are members.
  InformedProposal(const Margins& margins, const LevelTree& tree, NodeId parent,
                   std::span<const std::uint32_t> members, NodeId excluded);
  ~InformedProposal();
  InformedProposal(const InformedProposal&) = delete;
  InformedProposal& operator=(const InformedProposal&) = delete;

  void draw(Stream& stream, double* eta) const;
  /// log g(eta) - log N(eta; 0, sd^2 I).
  double log_ratio_to_prior(const double* eta) const;

 private:
  const Margins* margins_;
  std::unique_ptr<GaussianConditional> gaussian_;  // out of the header, which then needs no linear algebra
};

}  // namespace coppice::rbhmc
