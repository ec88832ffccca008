// The kept statistics of clusters of sub-clusters against the definition: every weight of every update is a
// ratio of joint densities computed from the rows alone.
#include <gtest/gtest.h>

#include "coppice/model/nhcm/state.hpp"
#include "support/nhcm_problem.hpp"

namespace coppice::test {
namespace {

struct Held {
  Held(const NhcmModel& model, const NhcmShape& shape)
      : problem(model), prior(problem.prior()), state(problem.family, problem.rows, prior, model.spread) {
    const Labels both = labels_of(shape);
    const std::size_t rows = problem.rows.size();
    state.assign({both.data(), rows}, {both.data() + rows, rows});
  }
  NhcmShape shape() const {
    Labels both(2 * problem.rows.size());
    state.labels(both);
    return nhcm_shape(both);
  }
  double log_joint() const {
    return prior.log_probability(state.sizes(), state.counts()) + state.log_marginal();
  }

  NhcmProblem problem;
  TwoLevelCrp prior;
  nhcm::State state;
};

/// A shape drawn from the prior, with many sub-clusters if alpha is large.
NhcmShape drawn_shape(const NhcmModel& model, std::uint64_t seed) {
  Stream stream({seed, 1, 0}, Purpose::test);
  const auto rows = static_cast<std::size_t>(model.rows.rows());
  Labels both(2 * rows);
  const TwoLevelCrp prior(model.nested ? TwoLevelCrp::Nesting::nested : TwoLevelCrp::Nesting::global,
                          model.alpha_clusters, model.alpha_subclusters, rows);
  prior.draw(stream, {both.data(), rows}, {both.data() + rows, rows});
  return nhcm_shape(both);
}

struct Setting {
  std::size_t rows, columns;
  double alpha_clusters, alpha_subclusters, spread;
};

std::vector<NhcmModel> models() {
  std::vector<NhcmModel> list;
  for (const bool nested : {false, true})
    for (const Setting& setting : {Setting{5, 1, 1.0, 1.0, 3.0}, Setting{12, 2, 0.5, 2.0, 1.5},
                                   Setting{30, 3, 0.1, 30.0, 0.3},  // more sub-clusters than lanes
                                   Setting{25, 5, 5.0, 5.0, 10.0}, Setting{10, 2, 1.0, 1.0, 0.0},
                                   Setting{12, 13, 1.0, 2.0, 1.0}, Setting{9, 2, 1.0, 1.0, 1e6}}) {
      NhcmModel model = small_nhcm_model(setting.rows, setting.columns, nested);
      model.alpha_clusters = setting.alpha_clusters;
      model.alpha_subclusters = setting.alpha_subclusters;
      model.spread = setting.spread;
      list.push_back(model);
    }
  return list;
}

TEST(NhcmState, JointIsTheDefinition) {
  for (const NhcmModel& model : models())
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const NhcmShape shape = drawn_shape(model, seed);
      const double expected = log_joint(model, shape);
      EXPECT_NEAR(Held(model, shape).log_joint(), expected, 1e-9 * std::max(1.0, std::abs(expected)));
    }
}

TEST(NhcmState, OneSubclusterIsANormalInverseWishart) {
  NhcmModel model = small_nhcm_model(6, 2, false);
  const NhcmShape shape{{0, 0, 0, 0, 0, 0}, {0}};
  const Held held(model, shape);
  const Gaussian flat(std::vector<double>(2, 0.0),
                      model.mean_strength / (1.0 + model.spread * model.mean_strength), model.dof,
                      std::vector<double>(model.scale.data(), model.scale.data() + 4), 6);
  std::vector<double> stats(flat.stats_size());
  flat.clear(stats.data());
  for (std::size_t row = 0; row < 6; ++row) flat.add(stats.data(), held.problem.rows[row]);
  EXPECT_NEAR(held.state.log_marginal(), flat.log_marginal(stats.data()), 1e-10);
  // Without spread the division into sub-clusters makes no difference.
  model.spread = 0.0;
  const Held divided(model, {{0, 1, 1, 2, 0, 2}, {0, 0, 0}});
  const Held whole(model, shape);
  EXPECT_NEAR(divided.state.log_marginal(), whole.state.log_marginal(), 1e-10);
}

TEST(NhcmState, WeightsOfRowsAreRatiosOfJoints) {
  for (const NhcmModel& model : models())
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      Held held(model, drawn_shape(model, seed));
      const std::size_t rows = held.problem.rows.size();
      for (std::size_t row = 0; row < rows; ++row) {
        AlignedVector weights(held.state.options());
        held.state.log_conditional(row, weights.data());
        std::vector<double> logs;
        std::vector<double> joints;
        for (std::size_t option = 0; option < weights.size(); ++option) {
          if (weights[option] == kMinusInfinity) continue;
          Held moved(model, held.shape());
          // The same slots: canonical shapes are assigned in the order of their labels.
          moved.state.place(row, static_cast<Label>(option));
          logs.push_back(weights[option]);
          joints.push_back(log_joint(model, moved.shape()));
          EXPECT_NEAR(moved.log_joint(), joints.back(), 1e-8 * std::max(1.0, std::abs(joints.back())));
        }
        ASSERT_GE(logs.size(), 2u);
        const double log_sum = log_sum_exp(logs);
        const double joint_sum = log_sum_exp(joints);
        for (std::size_t i = 0; i < logs.size(); ++i)
          EXPECT_NEAR(logs[i] - log_sum, joints[i] - joint_sum, 1e-8) << "row " << row;
      }
    }
}

TEST(NhcmState, WeightsOfSubclustersAreRatiosOfJoints) {
  for (const NhcmModel& model : models())
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      Held held(model, drawn_shape(model, seed));
      for (std::size_t slot = 0; slot < held.state.sizes().size(); ++slot) {
        if (held.state.sizes()[slot] == 0) continue;
        std::vector<double> weights(held.state.counts().size());
        held.state.log_conditional_of_sub(static_cast<Label>(slot), weights);
        std::vector<double> logs;
        std::vector<double> joints;
        for (std::size_t to = 0; to < weights.size(); ++to) {
          if (weights[to] == kMinusInfinity) continue;
          Held moved(model, held.shape());
          moved.state.move_sub(static_cast<Label>(slot), static_cast<Label>(to));
          logs.push_back(weights[to]);
          joints.push_back(log_joint(model, moved.shape()));
        }
        const double log_sum = log_sum_exp(logs);
        const double joint_sum = log_sum_exp(joints);
        for (std::size_t i = 0; i < logs.size(); ++i)
          EXPECT_NEAR(logs[i] - log_sum, joints[i] - joint_sum, 1e-8);
      }
    }
}

TEST(NhcmState, RowsThatComeAndGoLeaveNoTrace) {
  for (const double far : {0.0, 1e3, 1e5}) {
    NhcmModel model = small_nhcm_model(20, 3, false);
    model.rows.row(7).array() += far;
    Held held(model, {Labels(20, 0), {0}});
    Stream stream({1, 0, 0}, Purpose::test);
    for (int i = 0; i < 4000; ++i) {
      AlignedVector weights(held.state.options());
      const std::size_t row = draw_index(stream, 20);
      held.state.log_conditional(row, weights.data());
      // Any option at all, however unlikely.
      std::size_t option = draw_index(stream, weights.size());
      while (weights[option] == kMinusInfinity) option = draw_index(stream, weights.size());
      held.state.place(row, static_cast<Label>(option));
    }
    const double expected = log_joint(model, held.shape());
    EXPECT_NEAR(held.log_joint(), expected, 1e-7 * std::abs(expected)) << "far out by " << far;
    // Slots that were used before must not count: the weights are those of a state made afresh.
    for (std::size_t row = 0; row < 20; ++row) {
      const auto sorted_weights = [&](const nhcm::State& state) {
        AlignedVector weights(state.options());
        state.log_conditional(row, weights.data());
        std::erase(weights, kMinusInfinity);
        std::sort(weights.begin(), weights.end());
        return weights;
      };
      const AlignedVector kept = sorted_weights(held.state);
      const AlignedVector fresh = sorted_weights(Held(model, held.shape()).state);
      ASSERT_EQ(kept.size(), fresh.size());
      for (std::size_t i = 0; i < kept.size(); ++i) EXPECT_NEAR(kept[i], fresh[i], 1e-6 * std::abs(fresh[i]));
    }
  }
}

/// What is left of a sub-cluster without the copies of a row is what there is without the row, however far
/// out it is.
TEST(NhcmState, WeightsOfCopiesAreThoseFromOutside) {
  constexpr std::size_t kRows = 20;
  constexpr std::size_t kRow = kRows - 1;
  for (const double far : {0.0, 1e3, 1e5, 1e7})
    for (const std::size_t count : {2u, 50u}) {
      NhcmModel model = small_nhcm_model(kRows, 3, false);
      model.rows.row(kRow).array() += far;
      std::vector<std::size_t> copies(kRows, 1);
      copies[kRow] = count;
      copies[2] = 4;
      const NhcmProblem problem(model, copies);
      const TwoLevelCrp prior = problem.prior();
      Labels both(2 * kRows, 0);
      for (std::size_t row = 0; row < kRows; ++row) both[kRows + row] = row % 3 == 0 ? 0 : 1;
      const auto weights_of_row = [&] {
        nhcm::State state(problem.family, problem.rows, prior, model.spread);
        state.assign({both.data(), kRows}, {both.data() + kRows, kRows});
        AlignedVector weights(state.options());
        state.log_conditional(kRow, weights.data());
        return weights;
      };
      const AlignedVector inside = weights_of_row();
      both[kRow] = both[kRows + kRow] = nhcm::State::kNone;
      const AlignedVector outside = weights_of_row();
      ASSERT_EQ(inside.size(), outside.size());
      for (std::size_t slot = 0; slot < inside.size(); ++slot) {
        if (outside[slot] == kMinusInfinity)
          EXPECT_EQ(inside[slot], kMinusInfinity);
        else
          EXPECT_NEAR(inside[slot], outside[slot], 1e-6) << far << " " << count;
      }
    }
}

/// A row that all but makes up its cluster: its own weights must not be what rounding has left.
TEST(NhcmState, WeightsOfAFarRow) {
  for (const bool nested : {false, true}) {
    NhcmModel model = small_nhcm_model(8, 2, nested);
    model.rows.row(3).array() += 2e5;
    for (const NhcmShape& shape : {NhcmShape{{0, 0, 1, 0, 1, 2, 2, 0}, {0, 0, 0}},
                                   NhcmShape{{0, 0, 1, 2, 1, 3, 3, 0}, {0, 0, 0, 1}}}) {
      Held held(model, shape);
      AlignedVector weights(held.state.options());
      held.state.log_conditional(3, weights.data());
      std::vector<double> logs, joints;
      for (std::size_t option = 0; option < weights.size(); ++option) {
        if (weights[option] == kMinusInfinity) continue;
        Held moved(model, shape);
        moved.state.place(3, static_cast<Label>(option));
        logs.push_back(weights[option]);
        joints.push_back(log_joint(model, moved.shape()));
      }
      for (std::size_t i = 1; i < logs.size(); ++i)
        EXPECT_NEAR(logs[i] - logs[0], joints[i] - joints[0], 1e-5);
    }
  }
}

/// Far from the prior mean the scale of a cluster drowns in rounding; its pivots stay those of the prior.
TEST(NhcmState, NoEvidenceFromRounding) {
  NhcmModel model = small_nhcm_model(12, 3, false);
  model.rows.array() += 1e9;
  const NhcmShape shape{Labels(12, 0), {0}};
  const Held held(model, shape);
  // No density of twelve rows in three columns with a scale of about 1 is higher than this.
  EXPECT_LT(held.state.log_marginal(), 0.0);
}

TEST(NhcmState, TinyStrengthOfThePriorMean) {
  NhcmModel model = small_nhcm_model(6, 2, false);
  model.mean_strength = 1e-18;
  const Held held(model, {{0, 0, 0, 0, 0, 0}, {0}});
  AlignedVector weights(held.state.options());
  for (std::size_t row = 0; row < 6; ++row) {
    held.state.log_conditional(row, weights.data());
    for (const double weight : weights) EXPECT_FALSE(std::isnan(weight) || weight == -kMinusInfinity);
  }
}

/// The evidence of two sub-clusters in one column by sums over the means, the cluster's mean and the log of
/// the variance: nothing is integrated in closed form.
TEST(NhcmState, EvidenceIsTheIntegral) {
  NhcmModel model = small_nhcm_model(4, 1, false);
  const Held held(model, {{0, 0, 1, 1}, {0, 0}});
  const auto log_normal = [](double x, double mean, double variance) {
    return -0.5 * (kLog2Pi + std::log(variance) + (x - mean) * (x - mean) / variance);
  };
  double total = 0.0;
  constexpr double kStep = 0.1;
  for (double log_variance = -6.0; log_variance < 14.0; log_variance += kStep) {
    const double variance = std::exp(log_variance);
    const double sd = std::sqrt(variance);
    // Inverse Wishart in one dimension, times the Jacobian of the logarithm.
    const double a = 0.5 * model.dof;
    const double b = 0.5 * model.scale(0, 0);
    const double log_prior = a * std::log(b) - log_gamma(a) - a * log_variance - b / variance;
    double over_mean = 0.0;
    for (double m = -12.0; m < 12.0; m += kStep) {
      const double center = m * sd;  // from the prior mean
      double product = log_normal(center, 0.0, variance / model.mean_strength);
      for (std::size_t part = 0; part < 2; ++part) {
        double over_part = 0.0;
        for (double t = -10.0; t < 10.0; t += kStep) {
          const double mean = center + t * sd;
          double log_term = log_normal(mean, center, model.spread * variance);
          for (std::size_t row = 2 * part; row < 2 * part + 2; ++row)
            log_term += log_normal(held.problem.rows[row][0], mean, variance);
          over_part += std::exp(log_term) * kStep * sd;
        }
        product += std::log(over_part);
      }
      over_mean += std::exp(product) * kStep * sd;
    }
    total += std::exp(log_prior) * over_mean * kStep;
  }
  EXPECT_NEAR(std::log(total), held.state.log_marginal(), 1e-4);
}

/// The order of a scan over sub-clusters does not depend on which slots they have come to.
TEST(NhcmState, SubclustersInTheOrderOfTheirFirstRows) {
  const NhcmModel model = small_nhcm_model(10, 2, false);
  Held held(model, {Labels(10, 0), {0}});
  Stream stream({1, 0, 0}, Purpose::test);
  bool out_of_order = false;
  for (int i = 0; i < 500; ++i) {
    AlignedVector weights(held.state.options());
    const std::size_t row = draw_index(stream, 10);
    held.state.log_conditional(row, weights.data());
    std::size_t option = draw_index(stream, weights.size());
    while (weights[option] == kMinusInfinity) option = draw_index(stream, weights.size());
    held.state.place(row, static_cast<Label>(option));
    Labels order;
    held.state.subs_by_first_row(order);
    ASSERT_EQ(order.size(), held.state.subclusters());
    std::size_t last = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
      std::size_t first = 0;
      while (held.state.sub_of(first) != order[k]) ++first;
      EXPECT_TRUE(k == 0 || first > last);
      last = first;
      out_of_order = out_of_order || (k > 0 && order[k] < order[k - 1]);
    }
  }
  EXPECT_TRUE(out_of_order) << "slots were never out of order: the test tests nothing";
}

TEST(NhcmState, SplitsAndMergesKeepTheirStatistics) {
  const NhcmModel model = small_nhcm_model(12, 2, true);
  Held held(model, {{0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 3}, {0, 0, 1, 1}});
  const auto expect_consistent = [&] {
    const double expected = log_joint(model, held.shape());
    EXPECT_NEAR(held.log_joint(), expected, 1e-9 * std::abs(expected));
  };
  const std::vector<std::uint32_t> part{1, 3};
  held.state.split_sub(held.state.sub_of(0), part);
  EXPECT_EQ(held.shape().key(), "010122233444|00011");
  expect_consistent();
  const Labels moved{held.state.sub_of(0), held.state.sub_of(4)};
  held.state.split_cluster(moved);
  EXPECT_EQ(held.shape().key(), "010122233444|01022");
  expect_consistent();
  held.state.merge_subs(held.state.sub_of(0), held.state.sub_of(4));
  EXPECT_EQ(held.shape().key(), "010100022333|0122");
  expect_consistent();
  held.state.merge_clusters(held.state.cluster_of(held.state.sub_of(0)),
                            held.state.cluster_of(held.state.sub_of(1)));
  EXPECT_EQ(held.shape().key(), "010100022333|0011");
  expect_consistent();
  held.state.set_spread(0.25);
  NhcmModel other = model;
  other.spread = 0.25;
  const double expected = log_joint(other, held.shape());
  EXPECT_NEAR(held.log_joint(), expected, 1e-9 * std::abs(expected));
}

}  // namespace
}  // namespace coppice::test
