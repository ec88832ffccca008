#include "coppice/model/nrmm/nrmm.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "coppice/base/error.hpp"
#include "coppice/cluster/clusters.hpp"
#include "coppice/cluster/split_merge.hpp"
#include "coppice/model/nrmm/gibbs.hpp"
#include "coppice/model/nrmm/predictor.hpp"
#include "coppice/prior/crp.hpp"

namespace coppice {
namespace nrmm {
namespace {

enum class SamplerKind { gibbs, split_merge };

/// The first sweeps make more split-merge moves: a start by sequential allocation is good, but often has
/// joined what belongs apart. The number depends on the sweep alone, never on the state, so every sweep
/// leaves the posterior invariant.
constexpr std::uint64_t kEarlySweeps = 50;
constexpr std::size_t kEarlyFactor = 5;

class DirichletProcessSampler final : public Sampler {
 public:
  explicit DirichletProcessSampler(const Problem& problem)
      : rows_(problem.rows->size()),
        kind_(problem.parameters.choice("sampler") == "gibbs" ? SamplerKind::gibbs
                                                              : SamplerKind::split_merge),
        split_merge_moves_(problem.parameters.integer("split-merge-moves")),
        gibbs_scan_(problem.parameters.flag("gibbs-scan")),
        learn_alpha_(!problem.parameters.has("alpha")),
        alpha_prior_{problem.parameters.numbers("alpha-prior").at(0),
                     problem.parameters.numbers("alpha-prior").at(1)},
        crp_(learn_alpha_ ? alpha_prior_.shape / alpha_prior_.rate : problem.parameters.real("alpha"), rows_),
        clusters_(*problem.family, *problem.rows, crp_.log_join_table()),
        gibbs_(rows_),
        split_merge_(
            *problem.family, *problem.rows, crp_.log_join_table(),
            [this](std::size_t n) { return crp_.log_kappa(n); }, split_merge_options(problem.parameters)),
        log_marginal_alone_(rows_) {
    data_changed();
  }

  void init(const StreamName& name) override {
    gibbs_.allocate(clusters_, name, log_marginal_alone_, crp_.log_open());
    gibbs_.set_counts(0, 0);
    rebuild();
  }

  void step(const StreamName& name) override {
    if (kind_ == SamplerKind::split_merge) {
      const std::size_t moves = split_merge_moves_ * (name.sweep <= kEarlySweeps ? kEarlyFactor : 1);
      for (std::size_t move = 0; move < moves; ++move) {
        Stream stream(name, Purpose::split_merge, move);
        split_merge_.step(clusters_, stream);
      }
    }
    if (kind_ == SamplerKind::gibbs || gibbs_scan_)
      gibbs_.step(clusters_, name, log_marginal_alone_, crp_.log_open());
    if (learn_alpha_) {
      Stream stream(name, Purpose::concentration);
      crp_.set_alpha(update_concentration(stream, alpha_prior_, crp_.alpha(), clusters_.clusters(), rows_));
    }
  }

  void rebuild() override { clusters_.rebuild(); }

  double log_joint() const override { return log_prior(clusters_.sizes()) + clusters_.log_marginal(); }

  double log_joint_from_scratch() const override {
    Clusters fresh(clusters_.family(), clusters_.data(), crp_.log_join_table());
    fresh.assign(clusters_.labels());
    return log_prior(fresh.sizes()) + fresh.log_marginal();
  }

  void shape(std::span<Label> labels) const override {
    std::copy(clusters_.labels().begin(), clusters_.labels().end(), labels.begin());
    canonicalize(labels);
  }

  void traces(std::span<double> values) const override {
    const double n = static_cast<double>(rows_);
    double entropy = 0.0;
    std::uint32_t largest = 0;
    for (const std::uint32_t size : clusters_.sizes()) {
      if (size == 0) continue;
      const double share = size / n;
      entropy -= share * std::log(share);
      largest = std::max(largest, size);
    }
    values[log_joint_trace] = log_joint();
    values[clusters_trace] = static_cast<double>(clusters_.clusters());
    values[entropy_trace] = entropy;
    values[largest_share_trace] = largest / n;
    values[alpha_trace] = crp_.alpha();
  }

  std::vector<MoveStatistics> moves() const override {
    std::vector<MoveStatistics> list{{"gibbs", gibbs_.visited(), gibbs_.moved()}};
    if (kind_ == SamplerKind::split_merge) {
      list.push_back({"split", split_merge_.splits().proposed, split_merge_.splits().accepted});
      list.push_back({"merge", split_merge_.merges().proposed, split_merge_.merges().accepted});
    }
    return list;
  }

  std::string save() const override {
    Saved saved{crp_.alpha(), gibbs_.visited(), gibbs_.moved(), split_merge_.splits(), split_merge_.merges()};
    std::string bytes(sizeof saved + rows_ * sizeof(Label), '\0');
    std::memcpy(bytes.data(), &saved, sizeof saved);
    std::memcpy(bytes.data() + sizeof saved, clusters_.labels().data(), rows_ * sizeof(Label));
    return bytes;
  }

  void load(std::string_view bytes) override {
    Saved saved;
    if (bytes.size() != sizeof saved + rows_ * sizeof(Label))
      fail(ErrorCode::bad_data, "checkpoint of {} bytes does not fit {} rows", bytes.size(), rows_);
    std::memcpy(&saved, bytes.data(), sizeof saved);
    Labels labels(rows_);
    std::memcpy(labels.data(), bytes.data() + sizeof saved, rows_ * sizeof(Label));
    for (const Label label : labels)
      if (label < 0 || static_cast<std::size_t>(label) >= rows_)
        fail(ErrorCode::bad_data, "checkpoint has the label {} for {} rows", label, rows_);
    if (!(saved.alpha > 0.0)) fail(ErrorCode::bad_data, "checkpoint has alpha = {}", saved.alpha);
    crp_.set_alpha(saved.alpha);
    gibbs_.set_counts(saved.visited, saved.moved);
    split_merge_.set_counts(saved.splits, saved.merges);
    clusters_.assign(labels);
  }

  void draw_prior(const StreamName& name) override {
    Stream stream(name, Purpose::prior_shape);
    if (learn_alpha_) crp_.set_alpha(alpha_prior_.draw(stream));
    Labels labels(rows_);
    crp_.draw_partition(stream, labels);
    clusters_.assign(labels);
  }

  void draw_data(const StreamName& name, Rows& rows) override {
    const Family& family = clusters_.family();
    std::vector<double> empty(family.stats_size());
    family.clear(empty.data());
    std::vector<std::vector<double>> thetas(clusters_.sizes().size());
    Stream stream(name, Purpose::prior_data);
    for (std::vector<double>& theta : thetas) {
      theta.resize(family.theta_size());
      family.draw_theta(empty.data(), stream, theta.data());
    }
    for (std::size_t row = 0; row < rows_; ++row)
      family.draw(thetas[static_cast<std::size_t>(clusters_.label(row))].data(), stream, rows[row]);
    data_changed();
    rebuild();
  }

 private:
  struct Saved {
    double alpha = 1.0;
    std::uint64_t visited = 0, moved = 0;
    MoveCount splits, merges;
  };

  static SplitMergeOptions split_merge_options(const ParameterValues& parameters) {
    return {parameters.integer("split-merge-scans"), parameters.choice("split-merge-launch") == "random"};
  }

  double log_prior(std::span<const std::uint32_t> sizes) const {
    return crp_.log_partition(sizes) + (learn_alpha_ ? alpha_prior_.log_density(crp_.alpha()) : 0.0);
  }

  void data_changed() {
    const Family& family = clusters_.family();
    std::vector<double> empty(family.stats_size());
    family.clear(empty.data());
    for (std::size_t row = 0; row < rows_; ++row)
      log_marginal_alone_[row] = family.log_predictive(empty.data(), clusters_.data()[row]);
  }

  std::size_t rows_;
  SamplerKind kind_;
  std::size_t split_merge_moves_;
  bool gibbs_scan_;
  bool learn_alpha_;
  GammaPrior alpha_prior_;
  Crp crp_;
  Clusters clusters_;
  GibbsSweep gibbs_;
  SplitMerge split_merge_;
  std::vector<double> log_marginal_alone_;
};

/// Settings that exclude each other.
void check_given(const Settings& given) {
  const auto has = [&](const char* name) { return given.find(name) != given.end(); };
  if (has("alpha") && has("alpha-prior"))
    fail(ErrorCode::configuration,
         "--alpha fixes the concentration and --alpha-prior learns it: give one of them");
  const auto sampler = given.find("sampler");
  for (const char* name : {"split-merge-moves", "split-merge-scans", "split-merge-launch", "gibbs-scan"})
    if (has(name) && sampler != given.end() && sampler->second.text == "gibbs")
      fail(ErrorCode::configuration, "--{} has no meaning with --sampler gibbs", name);
}

std::vector<Parameter> parameters() {
  using Type = Parameter::Type;
  return {
      {"process", Type::choice, "dp", "random measure: dp is the Dirichlet process", 0, 0, false, {"dp"}},
      {"alpha", Type::real, "", "concentration; learned under --alpha-prior if not given", 0.0, 1e300, true},
      {"alpha-prior",
       Type::numbers,
       "1,1",
       "shape and rate of the Gamma prior of alpha",
       0.0,
       1e300,
       true,
       {},
       2},
      {"sampler",
       Type::choice,
       "split-merge",
       "gibbs: one row at a time; split-merge: also whole clusters",
       0,
       0,
       false,
       {"gibbs", "split-merge"}},
      {"split-merge-moves", Type::integer, "5",
       "split-merge proposals in a sweep (five times as many in the first 50)", 0.0, 1e6},
      {"split-merge-scans", Type::integer, "0", "restricted Gibbs scans between launch and proposal", 0.0,
       1000.0},
      {"split-merge-launch",
       Type::choice,
       "sequential",
       "start of those scans: rows allocated one by one, or by fair coins (random, as first published)",
       0,
       0,
       false,
       {"sequential", "random"}},
      {"gibbs-scan", Type::flag, "true", "end a split-merge sweep with a Gibbs scan over all rows"},
  };
}

}  // namespace
}  // namespace nrmm

ModelEntry nrmm_entry() {
  return {"nrmm",
          "mixture with an unknown number of clusters (Dirichlet process)",
          nrmm::parameters(),
          [](const ParameterValues&) -> std::vector<std::string> {
            return {"log_joint", "clusters", "entropy", "largest_share", "alpha"};
          },
          [](const ParameterValues&) -> std::size_t { return 1; },
          [](const Problem& problem) -> std::unique_ptr<Sampler> {
            return std::make_unique<nrmm::DirichletProcessSampler>(problem);
          },
          nrmm::make_predictor,
          [](const Problem& problem) {
            // Labels, marginals of single rows, two tables by size; 256 slots are far more than most data ask
            // for.
            const std::size_t rows = problem.rows->size();
            return Clusters::bytes(*problem.family, rows, std::min<std::size_t>(rows, 256)) +
                   rows * 3 * sizeof(double);
          },
          nrmm::check_given,
          [](const ParameterValues&) { return std::string(); }};
}

}  // namespace coppice
