// The last row comes into a state of the others, with the local moves around it. If the others stand as in an
// exact draw of the posterior of all rows, parameters included, then taking the last row in is a Gibbs update
// of it, and what follows keeps that posterior: the law of the result is the enumerated one.
#pragma once

#include <cstring>
#include <stdexcept>

#include "coppice/model/nrmm/process.hpp"
#include "support/chains.hpp"

namespace coppice::test {

/// States of nrmm for the first rows of a partition, written over the state of some chain of all rows: after
/// a number that tells the format come the parameters, and the labels are the last.
class FirstRowsState {
 public:
  FirstRowsState(const Inference& sampler, std::size_t rows)
      : rows_(rows), head_(sampler.save()), head_size_(head_.size() - rows * sizeof(Label)) {}

  std::string operator()(std::span<const Label> labels, const PartitionParameters& parameters) const {
    std::string state = head_.substr(0, head_size_);
    const nrmm::ProcessState process{parameters.alpha, parameters.sigma, parameters.log_t};
    std::memcpy(state.data() + sizeof(std::uint64_t), &process, sizeof process);
    state.append(reinterpret_cast<const char*>(labels.data()), (rows_ - 1) * sizeof(Label));
    return state;
  }

 private:
  std::size_t rows_;
  std::string head_;
  std::size_t head_size_;
};

inline Agreement compare_insertions(const Family& family, const Rows& rows, const MixtureLaw& law,
                                    const Settings& settings, std::uint64_t seed, std::size_t draws) {
  const ExactPosterior exact(family, rows, law);
  PartitionLaw prior(law, rows.size());
  SamplerChain chain(model_by_name("nrmm"), family, rows, settings);
  chain.init({seed, 0, 0});
  const FirstRowsState state_of(chain.sampler(), rows.size());
  Stream stream({seed, 0, 0}, Purpose::test);
  ChainRecord record(exact, draws);
  for (std::size_t i = 0; i < draws; ++i) {
    const Labels& start = exact.partition(draw_categorical(stream, exact.probabilities()));
    const PartitionParameters parameters = prior.draw(stream, cluster_sizes(start));
    chain.sampler().load_first(state_of(start, parameters), rows.size() - 1);
    if (i == 0 && chain.parameters().at("alpha") != parameters.alpha)
      throw std::logic_error("the states of nrmm do not begin with its parameters any more");
    chain.sampler().insert(1, {seed, i, 0});
    record.add(chain);
  }
  return record.agreement();
}

}  // namespace coppice::test
