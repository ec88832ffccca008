// Small problems for the model of clusters of sub-clusters, and its chains against the enumeration.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

#include "coppice/family/gaussian.hpp"
#include "coppice/family/tied_copies.hpp"
#include "coppice/model/nhcm/gibbs.hpp"
#include "coppice/model/nhcm/split_merge.hpp"
#include "coppice/model/registry.hpp"
#include "coppice/prior/two_level_crp.hpp"
#include "support/chains.hpp"
#include "support/nhcm_enumeration.hpp"

namespace coppice::test {

/// The same data and settings for the enumeration and for the model.
struct NhcmProblem {
  explicit NhcmProblem(const NhcmModel& from, std::vector<std::size_t> copies_of_rows = {})
      : model(from),
        copies(std::move(copies_of_rows)),
        family(std::vector<double>(from.prior_mean.begin(), from.prior_mean.end()), from.mean_strength,
               from.dof, std::vector<double>(from.scale.data(), from.scale.data() + from.scale.size()),
               copies.empty() ? static_cast<std::size_t>(from.rows.rows())
                              : std::accumulate(copies.begin(), copies.end(), std::size_t{0})) {
    rows.has_copies = !copies.empty();
    rows.width = static_cast<std::size_t>(model.rows.cols()) + (rows.has_copies ? 1 : 0);
    for (Eigen::Index i = 0; i < model.rows.rows(); ++i) {
      for (Eigen::Index j = 0; j < model.rows.cols(); ++j)
        rows.cells.push_back(model.rows(i, j) - model.prior_mean(j));
      if (rows.has_copies) rows.cells.push_back(static_cast<double>(copies[static_cast<std::size_t>(i)]));
    }
  }

  /// For rows with copies: the model of the repeated rows, and shapes of them in which copies are together.
  NhcmModel repeated() const {
    NhcmModel all = model;
    all.rows.resize(static_cast<Eigen::Index>(rows.copies()), model.rows.cols());
    Eigen::Index next = 0;
    for (std::size_t row = 0; row < copies.size(); ++row)
      for (std::size_t copy = 0; copy < copies[row]; ++copy)
        all.rows.row(next++) = model.rows.row(static_cast<Eigen::Index>(row));
    return all;
  }
  NhcmShape shape_of_copies(const NhcmShape& shape) const {
    NhcmShape all{{}, shape.parents};
    for (std::size_t row = 0; row < copies.size(); ++row)
      all.subclusters.insert(all.subclusters.end(), copies[row], shape.subclusters[row]);
    return all;
  }
  /// The posterior of the repeated rows, given that copies are together.
  NhcmPosterior posterior_of_copies() const {
    return {rows.size(), [this, all = repeated()](const NhcmShape& shape) {
              return log_joint(all, shape_of_copies(shape));
            }};
  }
  std::vector<std::string> settings() const {
    return {"alpha-clusters=" + std::to_string(model.alpha_clusters),
            "alpha-subclusters=" + std::to_string(model.alpha_subclusters),
            "spread=" + std::to_string(model.spread),
            std::string("nesting=\"") + (model.nested ? "nested" : "global") + "\""};
  }
  TwoLevelCrp prior() const {
    return {model.nested ? TwoLevelCrp::Nesting::nested : TwoLevelCrp::Nesting::global, model.alpha_clusters,
            model.alpha_subclusters, static_cast<std::size_t>(rows.copies())};
  }

  NhcmModel model;
  std::vector<std::size_t> copies;  // of each row; none: rows have no weights
  Gaussian family;
  Rows rows;
};

/// `count` rows of `columns` columns in a few groups, with odd hyper-parameters.
inline NhcmModel small_nhcm_model(std::size_t count, std::size_t columns, bool nested,
                                  std::uint64_t seed = 1) {
  NhcmModel model;
  const auto n = static_cast<Eigen::Index>(count);
  const auto d = static_cast<Eigen::Index>(columns);
  Stream stream({seed, 0, 0}, Purpose::test);
  model.rows.resize(n, d);
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j < d; ++j)
      model.rows(i, j) = static_cast<double>(i % 3) * 1.1 + draw_normal(stream);
  model.prior_mean = Eigen::VectorXd::Constant(d, 0.7);
  model.scale = Eigen::MatrixXd::Identity(d, d);
  for (Eigen::Index j = 1; j < d; ++j) model.scale(j, j - 1) = model.scale(j - 1, j) = 0.2;
  model.mean_strength = 0.4;
  model.dof = static_cast<double>(columns) + 1.5;
  model.spread = 1.5;
  model.alpha_clusters = 0.8;
  model.alpha_subclusters = 1.3;
  model.nested = nested;
  return model;
}

/// Labels by row of both levels, clusters first.
inline Labels labels_of(const NhcmShape& shape) {
  Labels both;
  for (std::size_t row = 0; row < shape.subclusters.size(); ++row) both.push_back(shape.cluster(row));
  both.insert(both.end(), shape.subclusters.begin(), shape.subclusters.end());
  return both;
}

/// Calls check(what, event) for every shape of probability > 1e-3, the numbers of sub-clusters and clusters,
/// and co-clustering at both levels. Rarer events are left out: their counts are too small for errors to mean
/// anything.
template <typename Check>
void for_each_event(const NhcmPosterior& exact, Check&& check) {
  constexpr double kRare = 1e-3;
  const auto consider = [&](const std::string& what, const auto& event) {
    const double truth = exact.sum(event);
    if (truth > kRare && truth < 1.0 - kRare) check(what, truth, event);
  };
  for (std::size_t i = 0; i < exact.size(); ++i)
    if (exact.probability(i) > kRare) {
      const std::string key = exact.shape(i).key();
      consider(key, [&](const NhcmShape& shape) { return shape.key() == key; });
    }
  for (std::size_t k = 1; k <= exact.rows(); ++k) {
    consider("sub-clusters = " + std::to_string(k),
             [&](const NhcmShape& shape) { return shape.sub_count() == k; });
    consider("clusters = " + std::to_string(k),
             [&](const NhcmShape& shape) { return shape.cluster_count() == k; });
  }
  for (std::size_t a = 0; a < exact.rows(); ++a)
    for (std::size_t b = a + 1; b < exact.rows(); ++b) {
      const std::string pair = std::to_string(a) + " and " + std::to_string(b);
      consider("rows " + pair + " in a sub-cluster",
               [&](const NhcmShape& shape) { return shape.subclusters[a] == shape.subclusters[b]; });
      consider("rows " + pair + " in a cluster",
               [&](const NhcmShape& shape) { return shape.cluster(a) == shape.cluster(b); });
    }
}

inline Agreement compare(const NhcmPosterior& exact, const Visits& visits) {
  Agreement agreement;
  for_each_event(exact, [&](const std::string& what, double truth, const auto& event) {
    visits.check(agreement, what, truth, [&](std::size_t i) { return event(exact.shape(i)); });
  });
  return agreement;
}

/// Where a move leads that is made three times from each of many exact draws: what comes out must have the
/// same law.
struct NhcmStep {
  Agreement agreement;
  double changed = 0.0;  // share of the draws
};

inline NhcmStep compare_nhcm_move(const NhcmProblem& problem, const NhcmPosterior& exact,
                                  const std::string& name, std::uint64_t seed, std::size_t draws) {
  const TwoLevelCrp prior = problem.prior();
  nhcm::State state(problem.family, problem.rows, prior, problem.model.spread);
  nhcm::Gibbs gibbs;
  nhcm::SubclusterSplitMerge subclusters(state.evidence(), exact.rows());
  nhcm::ClusterSplitMerge clusters;
  const std::map<std::string, std::function<void(Stream&)>> moves{
      {"row",
       [&](Stream& stream) {
         gibbs.update_row(state, draw_index(stream, state.rows()), draw_uniform(stream));
       }},
      {"subcluster",
       [&](Stream& stream) {
         gibbs.update_subcluster(state, state.sub_of(draw_index(stream, state.rows())), draw_uniform(stream));
       }},
      {"subcluster_split_merge", [&](Stream& stream) { subclusters.step(state, prior, stream); }},
      {"cluster_split_merge", [&](Stream& stream) { clusters.step(state, prior, stream); }}};
  const std::function<void(Stream&)>& move = moves.at(name);
  std::vector<double> counts(exact.size(), 0.0);
  NhcmStep step;
  // The draws are stratified: frequencies vary a little less than those of independent ones.
  Stream stream({seed, 0, 0}, Purpose::test);
  const double n = static_cast<double>(draws);
  double next = draw_uniform(stream);
  double cumulated = 0.0;
  Labels after(2 * exact.rows());
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const Labels both = labels_of(exact.shape(i));
    for (cumulated += exact.probability(i) * n; next < cumulated; next += 1.0) {
      state.assign({both.data(), exact.rows()}, {both.data() + exact.rows(), exact.rows()});
      for (int repeat = 0; repeat < 3; ++repeat) move(stream);
      state.labels(after);
      const std::size_t to = exact.index(nhcm_shape(after));
      step.changed += to != i ? 1.0 / n : 0.0;
      counts[to] += 1.0;
    }
  }
  for_each_event(exact, [&](const std::string& what, double truth, const auto& event) {
    double seen = 0.0;
    for (std::size_t i = 0; i < exact.size(); ++i)
      if (event(exact.shape(i))) seen += counts[i] / n;
    step.agreement.check(what, {seen, std::sqrt(truth * (1.0 - truth) / n)}, truth);
  });
  return step;
}

/// A chain with these settings beside those of the problem; a real run rebuilds its state now and then.
inline Agreement compare_nhcm_chain(const NhcmProblem& problem, const NhcmPosterior& exact,
                                    const std::vector<std::string>& settings, std::uint64_t seed,
                                    std::size_t draws, bool rebuilt = false) {
  Settings all = settings_from(problem.settings());
  for (const std::string& setting : settings) parse_assignment(setting, all);
  const std::unique_ptr<Family> tied =
      problem.rows.has_copies ? std::make_unique<TiedCopies>(problem.family.clone()) : nullptr;
  const Family& family = tied ? *tied : static_cast<const Family&>(problem.family);
  SamplerChain chain(model_by_name("nhcm"), family, problem.rows, all);
  Visits visits(exact.size(), draws);
  Labels both(2 * exact.rows());
  chain.init({seed, 0, 0});
  constexpr std::size_t kWarmup = 500;
  for (std::size_t sweep = 1; sweep <= kWarmup + draws; ++sweep) {
    chain.step({seed, 0, sweep});
    if (rebuilt) chain.sampler().rebuild();
    if (sweep <= kWarmup) continue;
    chain.labels(both);
    visits.add(exact.index(nhcm_shape(both)));
  }
  return compare(exact, visits);
}

}  // namespace coppice::test
