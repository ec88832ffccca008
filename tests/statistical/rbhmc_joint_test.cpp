// The joint law of state and data under a regularizer, J ~ p(state) p(data | state) exp(-2 C Xi), drawn in
// two ways. Afresh: a draw from prior and model, kept with probability exp(-2 C Xi) (over its largest value).
// By the sampler: a sweep given the data, new data given the state. Both agree if and only if the sampler
// keeps its target for such data (Geweke 2004); and the rank of a value of the state among draws from the
// posterior of its own data is uniform (simulation-based calibration, Talts and others 2018).
#include <gtest/gtest.h>

#include "coppice/model/rbhmc/replica.hpp"
#include "support/monte_carlo.hpp"
#include "support/rbhmc_chain.hpp"
#include "support/trace_values.hpp"

namespace coppice::test {
namespace {

struct Variant {
  std::string name;
  RbhmcCase small;  // its data only give the size
  std::vector<std::string> settings;
};

void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.name; }

/// A sampler of which state and data can be drawn together.
class Joint {
 public:
  Joint(const RbhmcData& data, const Variant& variant)
      : data_(data),
        first_(data.rows),
        settings_(variant.small.settings),
        problem_(rbhmc_problem(data, settings_, variant.settings)),
        model_(&model_by_name("rbhmc")),
        sampler_(model_->make_inference(problem_)),
        traces_(*model_, problem_.parameters, data.family().hyper_trace_names().size()),
        labels_(data.rows.size() * settings_.levels),
        components_(data.rows.size()) {}

  Inference& sampler() { return *sampler_; }

  /// State and data afresh; names go on from `sweep`.
  void draw_afresh(RbhmcData& data, std::uint64_t seed, std::uint64_t chain, std::uint64_t& sweep) {
    Stream keep({seed, chain, sweep}, Purpose::test);
    const auto gates = static_cast<double>(settings_.levels * data.rows.size());
    double least = settings_.centered ? -settings_.margin * gates : 0.0;
    if (settings_.infomax) least = -0.5 * gates * std::log(static_cast<double>(data.rows.size()));
    while (true) {
      ++sweep;
      sampler_->draw_prior({seed, chain, sweep});
      sampler_->draw_data({seed, chain, sweep}, data.rows);
      observe();
      if (std::log(draw_uniform(keep)) <= -2.0 * settings_.penalty * (hinge_ - least)) return;
    }
  }

  /// Reads the state; the hinge is computed here, from discriminants and data.
  void observe() {
    traces_.read(*sampler_);
    sampler_->labels(labels_);
    const RbhmcTree tree(labels_, data_.rows.size());
    const std::string payload = sampler_->payload();
    ByteReader reader(payload);
    const auto count = reader.get<std::uint64_t>();
    const auto dimension = reader.get<std::uint64_t>();
    reader.get(components_.data(), components_.size());
    std::vector<std::vector<double>> eta(tree.nodes.size(), std::vector<double>(dimension, 0.0));
    for (std::size_t node = 0; node < tree.nodes.size(); ++node) {
      for (std::size_t i = 0; i < dimension && node > 0; ++i) eta[node][i] = reader.get<float>();
      for (std::size_t k = 0; tree.nodes[node].level < tree.depth && k <= count; ++k) reader.get<float>();
    }
    hyper_.resize(reader.left() / sizeof(double));
    reader.get(hyper_.data(), hyper_.size());
    // Without a penalty discriminants are not kept: the trace it is.
    if (settings_.infomax) {
      hinge_ = -0.5 * total_log_gates(tree, eta, gate_features(data_.rows, first_));
      leaves_ = static_cast<double>(tree.leaves);
      return;
    }
    hinge_ = dimension == 0
                 ? traces_["hinge"]
                 : total_hinge(tree, eta, margin_features(data_.family(), data_.rows, settings_.intercept),
                               settings_.margin, settings_.centered);
    leaves_ = static_cast<double>(tree.leaves);
  }

  std::vector<double> functionals() const {
    const Rows& rows = data_.rows;
    const std::size_t n = rows.size();
    const auto bounded = [](double cell) { return cell / (1.0 + std::abs(cell)); };
    double first = 0.0, second = 0.0;
    for (const double cell : rows.cells) {
      first += bounded(cell) / static_cast<double>(rows.cells.size());
      second += bounded(cell) * bounded(cell) / static_cast<double>(rows.cells.size());
    }
    const double x = bounded(rows[0][0]);
    const double y = bounded(rows[1][0]);
    const double path = labels_[(settings_.levels - 1) * n] == labels_[(settings_.levels - 1) * n + 1];
    const double top = labels_[0] == labels_[1];
    const double same = components_[0] == components_[1];
    const double k = traces_["components"];
    std::vector<double> list{k,
                             leaves_,
                             traces_["clusters_1"],
                             traces_["root_remainder"],
                             hinge_,
                             hinge_ * hinge_ / (1.0 + std::abs(hinge_)),
                             top,
                             path,
                             same,
                             std::log(traces_["alpha"]),
                             std::log(traces_["gamma"]),
                             std::log(traces_["gamma0"]),
                             first,
                             second,
                             x * y,
                             std::abs(x - y),
                             path * std::abs(x - y),
                             top * x * y,
                             same * std::abs(x - y),
                             second * k,
                             second * leaves_,
                             hinge_ * leaves_};
    for (const double value : hyper_) {
      const double own = bounded(0.3 * std::log(1e-6 + std::abs(value)));
      list.insert(list.end(), {own, own * own, own * second, own * k});
    }
    return list;
  }
  double components() const { return traces_["components"]; }
  double leaves() const { return leaves_; }
  double hinge() const { return hinge_; }
  double remainder() const { return traces_["root_remainder"]; }

 private:
  const RbhmcData& data_;
  Rows first_;  // by which gates standardize
  RbhmcSettings settings_;
  Problem problem_;
  const ModelEntry* model_;
  std::unique_ptr<Inference> sampler_;
  TraceValues traces_;
  Labels labels_, components_;
  std::vector<double> hyper_;
  double hinge_ = 0.0, leaves_ = 0.0;
};

std::vector<Variant> rbhmc_variants() {
  const auto gaussian = [](const RbhmcSettings& settings, std::size_t rows) {
    return RbhmcCase{"gaussian",
                     std::vector<std::vector<double>>(rows, {1.0, 2.0}),
                     "gaussian-known",
                     {"noise_variance=0.5", "prior_mean=0", "prior_variance=2"},
                     settings};
  };
  const RbhmcCase bernoulli{"bernoulli",
                            std::vector<std::vector<double>>(5, {1.0, 0.0}),
                            "bernoulli",
                            {},
                            {2, 0.8, 1.2, 1.0, 0.3, 0.5, 1.0},
                            Kind::binary};
  RbhmcCase centered_bernoulli = bernoulli;
  centered_bernoulli.settings.centered = true;
  const auto with_learned_prior = [](RbhmcCase small, const char* family) {
    small.family = family;
    small.family_settings.clear();
    small.learn = true;
    for (std::size_t i = 0; i < small.data.size() && small.kind == Kind::real; ++i)
      for (double& cell : small.data[i]) cell += 0.5 * static_cast<double>(i * i % 5);  // for its scale
    return small;
  };
  const std::string learn = "learn=\"alpha,gamma,gamma0\"";
  const std::string gibbs = "path-update=\"gibbs\"";
  const std::string drawn_theta = "theta=\"drawn\"";
  const std::string drawn_leaves = "leaf-weights=\"drawn\"";
  return {
      {"plain_learned", gaussian({3, 0.8, 1.2, 1.0, 0.0, 0.5, 1.0}, 6), {learn}},
      {"plain_drawn_theta", gaussian({2, 0.8, 1.2, 1.0, 0.0, 0.5, 1.0}, 5), {drawn_theta, drawn_leaves}},
      {"hinge_learned", gaussian({2, 0.8, 1.2, 1.0, 0.2, 0.5, 1.0}, 5), {learn}},
      {"hinge_gibbs", gaussian({2, 0.8, 1.2, 1.0, 0.2, 0.5, 1.0}, 5), {gibbs, drawn_theta}},
      {"hinge_bernoulli", bernoulli, {"path-update=\"prior\"", "discriminant-update=\"gauss\""}},
      {"centered", gaussian({2, 0.8, 1.2, 1.0, 0.2, 0.4, 1.0, true}, 5), {drawn_leaves}},
      {"centered_learned", gaussian({2, 0.8, 1.2, 1.0, 0.2, 0.4, 1.0, true, true}, 4), {learn, drawn_theta}},
      {"infomax", infomax(rbhmc_case_a(0.3)), {}},
      {"infomax_gibbs", infomax(rbhmc_case_c(0.6)), {gibbs, drawn_leaves, drawn_theta}},
      {"centered_bernoulli", centered_bernoulli, {gibbs, "discriminant-update=\"gauss\""}},
      {"prior_bernoulli", with_learned_prior(bernoulli, "bernoulli"), {learn}},
      {"prior_bernoulli_drawn_theta",
       with_learned_prior(centered_bernoulli, "bernoulli"),
       {gibbs, drawn_theta}},
      {"prior_categorical", with_learned_prior(bernoulli, "categorical"), {learn}},
      {"prior_gaussian_diagonal",
       with_learned_prior(gaussian({2, 0.8, 1.2, 1.0, 0.0, 0.5, 1.0}, 5), "gaussian-diagonal"),
       {learn}},
      {"prior_gaussian",
       with_learned_prior(gaussian({2, 0.8, 1.2, 1.0, 0.0, 0.5, 1.0}, 5), "gaussian"),
       {learn}}};
}

class RbhmcGeweke : public ::testing::TestWithParam<Variant> {};

TEST_P(RbhmcGeweke, BothWaysHaveTheSameLaw) {
  const Variant& variant = GetParam();
  for (const std::uint64_t seed : test_seeds()) {
    const std::size_t draws = scaled(20'000);
    RbhmcData data(variant.small);
    std::vector<std::vector<double>> fresh, successive;
    const auto record = [](const Joint& joint, std::vector<std::vector<double>>& columns) {
      const std::vector<double> values = joint.functionals();
      columns.resize(values.size());
      for (std::size_t j = 0; j < values.size(); ++j) columns[j].push_back(values[j]);
    };
    Joint prior(data, variant);
    std::uint64_t sweep = 0;
    for (std::size_t i = 0; i < draws; ++i) {
      prior.draw_afresh(data, seed, 1, sweep);
      record(prior, fresh);
    }
    data.rows = RbhmcData(variant.small).rows;  // gates are standardized by the first data of a sampler
    Joint chain(data, variant);
    sweep = 0;
    chain.draw_afresh(data, seed, 2, sweep);
    for (std::size_t i = 0; i < draws; ++i) {
      ++sweep;
      chain.sampler().step({seed, 2, sweep});
      chain.sampler().draw_data({seed, 2, sweep}, data.rows);
      chain.observe();
      record(chain, successive);
    }
    Agreement agreement;
    for (std::size_t j = 0; j < fresh.size(); ++j) {
      const Estimate a = batch_estimate(fresh[j]);
      const Estimate b = batch_estimate(successive[j]);
      agreement.check(fmt::format("functional {}", j), {b.mean, std::hypot(a.error, b.error)}, a.mean);
    }
    EXPECT_LT(agreement.worst, bonferroni_limit(4.0, 200.0)) << "seed " << seed << ": " << agreement;
  }
}

INSTANTIATE_TEST_SUITE_P(Samplers, RbhmcGeweke, ::testing::ValuesIn(rbhmc_variants()),
                         [](const ::testing::TestParamInfo<Variant>& info) { return info.param.name; });

class RbhmcCalibration : public ::testing::TestWithParam<bool> {};

TEST_P(RbhmcCalibration, RanksAreUniform) {
  constexpr std::size_t kReplicates = 1000;
  constexpr std::size_t kDraws = 19;
  constexpr std::size_t kThin = 8;
  constexpr std::size_t kWarmup = 60;
  const Variant variant{"calibration",
                        {"gaussian",
                         std::vector<std::vector<double>>(6, {1.0}),
                         "gaussian-known",
                         {"noise_variance=0.5", "prior_mean=0", "prior_variance=2"},
                         {2, 0.8, 1.2, 1.0, 0.2, 0.4, 1.0, GetParam()}},
                        {"theta=\"drawn\""}};
  constexpr std::size_t kValues = 5;
  const char* const names[kValues] = {"components", "leaves", "hinge", "root remainder", "theta of row 1"};
  for (const std::uint64_t seed : test_seeds()) {
    RbhmcData data(variant.small);
    Joint truth(data, variant);
    const Problem problem = rbhmc_problem(data, variant.small.settings, variant.settings);
    const auto values = [&](const rbhmc::State& state) {
      return std::array<double, kValues>{
          static_cast<double>(state.components().clusters()),
          static_cast<double>(state.tree().at_level(state.tree().depth()).size()), state.hinge(),
          state.rest(LevelTree::kRoot), state.theta(state.components().label(0))[0]};
    };
    std::vector<std::vector<double>> ranks(kValues, std::vector<double>(kDraws + 1, 0.0));
    std::uint64_t sweep = 0;
    Stream ties({seed, 3, 0}, Purpose::test);
    const rbhmc::Options options(problem.parameters);
    for (std::size_t replicate = 0; replicate < kReplicates; ++replicate) {
      truth.draw_afresh(data, seed, 3, sweep);
      rbhmc::Replica replica(problem, options);
      // A checkpoint of a sampler is a header and that of its only replica.
      replica.load(truth.sampler().save().substr(sizeof(std::uint64_t)));
      const std::array<double, kValues> true_values = values(replica.state());
      replica.init({seed, 4, replicate});
      std::array<std::size_t, kValues> below{}, equal{};
      for (std::size_t draw = 0; draw < kDraws; ++draw) {
        const std::size_t sweeps = draw == 0 ? kWarmup : kThin;
        for (std::size_t i = 0; i < sweeps; ++i) replica.step({seed, 4 + replicate, draw * kWarmup + i + 1});
        const std::array<double, kValues> seen = values(replica.state());
        for (std::size_t j = 0; j < kValues; ++j) {
          below[j] += seen[j] < true_values[j] ? 1 : 0;
          equal[j] += seen[j] == true_values[j] ? 1 : 0;
        }
      }
      for (std::size_t j = 0; j < kValues; ++j)
        ranks[j][below[j] + static_cast<std::size_t>(draw_index(ties, equal[j] + 1))] += 1.0;
    }
    const std::vector<double> uniform(kDraws + 1, 1.0 / static_cast<double>(kDraws + 1));
    for (std::size_t j = 0; j < kValues; ++j) {
      SCOPED_TRACE(names[j]);
      expect_frequencies(ranks[j], uniform);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, RbhmcCalibration, ::testing::Bool(),
                         [](const ::testing::TestParamInfo<bool>& info) {
                           return info.param ? "centered" : "hinge";
                         });

}  // namespace
}  // namespace coppice::test
