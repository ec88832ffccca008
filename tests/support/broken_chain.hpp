// A Dirichlet process mixture put together from the same parts as the real one, with a mistake in it on
// demand. Run without a mistake it must pass every check of the suites, with one it must fail: so the checks
// prove on every run that they can tell a wrong sampler from a right one.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

#include "coppice/cluster/clusters.hpp"
#include "coppice/cluster/split_merge.hpp"
#include "coppice/prior/concentration.hpp"
#include "coppice/prior/crp.hpp"
#include "support/chains.hpp"

namespace coppice::test {

enum class Mistake {
  none_gibbs,              // a correct Gibbs scan
  none_split_merge,        // a correct split-merge move
  new_cluster_10_percent,  // the weight of a new cluster is 10 % too high
  row_predicts_itself,     // the row is not taken out of its cluster before the weights are computed
  split_without_q,         // the split's ratio omits 1/q
  merge_without_q,         // the merge's ratio omits q
  one_cluster_too_many,    // alpha is updated as if there were K + 1 clusters
};

inline constexpr std::array kMistakeNames{"none_gibbs",          "none_split_merge", "new_cluster_10_percent",
                                          "row_predicts_itself", "split_without_q",  "merge_without_q",
                                          "one_cluster_too_many"};
static_assert(kMistakeNames.size() == static_cast<std::size_t>(Mistake::one_cluster_too_many) + 1);

inline const char* mistake_name(Mistake mistake) { return kMistakeNames[static_cast<std::size_t>(mistake)]; }

inline bool is_correct(Mistake mistake) {
  return mistake == Mistake::none_gibbs || mistake == Mistake::none_split_merge;
}

/// Every suite that claims to notice mistakes goes over all of them, the correct ones included.
inline std::vector<Mistake> all_mistakes() {
  std::vector<Mistake> list;
  for (std::size_t i = 0; i < kMistakeNames.size(); ++i) list.push_back(static_cast<Mistake>(i));
  return list;
}

/// For the suites' output: how clearly the mistake showed.
inline void print_mistake(Mistake mistake, const Agreement& agreement) {
  std::printf("[ MISTAKE  ] %s: %.1f errors off, %s\n", mistake_name(mistake), agreement.worst,
              agreement.where.c_str());
}

class BrokenChain final : public TestChain {
 public:
  BrokenChain(const Family& family, const Rows& rows, const MixtureLaw& law, Mistake mistake)
      : family_(family),
        rows_(rows),
        law_(law),
        mistake_(mistake),
        crp_(law.fixed.value_or(law.shape / law.rate), rows.size()),
        clusters_(family, rows, crp_.log_join_table()),
        pair_(family, rows, crp_.log_join_table()) {}

  void init(const StreamName&) override { clusters_.assign(Labels(rows_.size(), 0)); }

  void step(const StreamName& name) override {
    Stream stream(name, Purpose::test);
    const bool split_merge = mistake_ == Mistake::none_split_merge || mistake_ == Mistake::split_without_q ||
                             mistake_ == Mistake::merge_without_q;
    if (split_merge)
      for (int move = 0; move < 3; ++move) split_or_merge(stream);
    else
      gibbs(stream);
    if (law_.fixed) return;
    const std::size_t extra = mistake_ == Mistake::one_cluster_too_many ? 1 : 0;
    crp_.set_alpha(update_concentration(stream, {law_.shape, law_.rate}, crp_.alpha(),
                                        clusters_.clusters() + extra, rows_.size()));
  }

  void labels(std::span<Label> labels) const override {
    std::copy(clusters_.labels().begin(), clusters_.labels().end(), labels.begin());
    canonicalize(labels);
  }
  std::map<std::string, double> parameters() const override { return {{"alpha", crp_.alpha()}}; }

  void draw_prior(const StreamName& name) override {
    Stream stream(name, Purpose::prior_shape);
    if (!law_.fixed) crp_.set_alpha(GammaPrior{law_.shape, law_.rate}.draw(stream));
    Labels labels(rows_.size());
    crp_.draw_partition(stream, labels);
    clusters_.assign(labels);
  }

  void draw_data(const StreamName& name, Rows& rows) override {
    Stream stream(name, Purpose::prior_data);
    std::vector<double> empty(family_.stats_size());
    family_.clear(empty.data());
    std::vector<double> theta(family_.theta_size());
    clusters_.rebuild();
    for (Label cluster = 0; cluster < static_cast<Label>(clusters_.clusters()); ++cluster) {
      family_.draw_theta(empty.data(), stream, theta.data());
      for (std::size_t row = 0; row < rows.size(); ++row)
        if (clusters_.label(row) == cluster) family_.draw(theta.data(), stream, rows[row]);
    }
    clusters_.rebuild();
  }

 private:
  void gibbs(Stream& stream) {
    std::vector<double> empty(family_.stats_size());
    family_.clear(empty.data());
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      weights_.resize(clusters_.weights_size());
      clusters_.log_conditional(row, weights_.data());
      const Label own = clusters_.label(row);
      if (mistake_ == Mistake::row_predicts_itself && clusters_.size(own) > 1)
        weights_[static_cast<std::size_t>(own)] =
            crp_.log_join(clusters_.size(own) - 1) + family_.log_predictive(clusters_.stats(own), rows_[row]);
      double open = crp_.log_open() + family_.log_predictive(empty.data(), rows_[row]);
      if (mistake_ == Mistake::new_cluster_10_percent) open += std::log(1.1);
      weights_.push_back(open);
      const double largest = *std::max_element(weights_.begin(), weights_.end());
      for (double& weight : weights_) weight = std::exp(weight - largest);
      const std::size_t chosen = draw_categorical(stream, weights_);
      if (chosen + 1 == weights_.size())
        clusters_.move_to_new(row);
      else
        clusters_.move(row, static_cast<Label>(chosen));
    }
  }

  void split_or_merge(Stream& stream) {
    const auto a = static_cast<std::uint32_t>(draw_index(stream, rows_.size()));
    auto b = static_cast<std::uint32_t>(draw_index(stream, rows_.size() - 1));
    if (b >= a) ++b;
    const Label first = clusters_.label(a);
    const Label second = clusters_.label(b);
    clusters_.members(first, second, items_);
    const double log_together = log_weight(items_);
    std::erase_if(items_, [&](std::uint32_t row) { return row == a || row == b; });
    pair_.launch_random(a, b, items_, stream);
    const bool split = first == second;
    std::vector<std::uint8_t> sides;
    for (const std::uint32_t row : items_) sides.push_back(clusters_.label(row) == first ? 0 : 1);
    double log_q = split ? pair_.scan(stream) : pair_.scan_forced(sides);
    if (mistake_ == (split ? Mistake::split_without_q : Mistake::merge_without_q)) log_q = 0.0;
    const double log_apart = crp_.log_kappa(pair_.size(0)) + pair_.log_marginal(0) +
                             crp_.log_kappa(pair_.size(1)) + pair_.log_marginal(1);
    const double log_ratio = split ? log_apart - log_together - log_q : log_together - log_apart + log_q;
    if (!(std::log(draw_uniform(stream)) < log_ratio)) return;
    if (!split) {
      clusters_.merge(first, second);
      return;
    }
    std::vector<std::uint32_t> gone{b};
    for (std::size_t i = 0; i < items_.size(); ++i)
      if (pair_.sides()[i] == 1) gone.push_back(items_[i]);
    clusters_.split(first, gone);
  }

  double log_weight(const std::vector<std::uint32_t>& members) const {
    std::vector<double> stats(family_.stats_size());
    family_.clear(stats.data());
    for (const std::uint32_t row : members) family_.add(stats.data(), rows_[row]);
    return crp_.log_kappa(members.size()) + family_.log_marginal(stats.data());
  }

  const Family& family_;
  const Rows& rows_;
  MixtureLaw law_;
  Mistake mistake_;
  Crp crp_;
  Clusters clusters_;
  RestrictedPair pair_;
  AlignedVector weights_;
  std::vector<std::uint32_t> items_;
};

}  // namespace coppice::test
