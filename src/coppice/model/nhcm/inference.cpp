#include "coppice/model/nhcm/inference.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "coppice/base/byte_stream.hpp"
#include "coppice/base/slice.hpp"
#include "coppice/model/drawn_clusters.hpp"
#include "coppice/model/learned_payload.hpp"
#include "coppice/model/nhcm/gibbs.hpp"
#include "coppice/model/nhcm/options.hpp"
#include "coppice/model/nhcm/published.hpp"
#include "coppice/model/nhcm/split_merge.hpp"
#include "coppice/model/nhcm/state.hpp"
#include "coppice/model/state_header.hpp"
#include "coppice/model/trace_table.hpp"

namespace coppice::nhcm {
namespace {

constexpr StateHeader kStateHeader("nhcm", 1);
/// With learned hyper-parameters before the labels.
constexpr StateHeader kLearnedStateHeader("nhcm", 2);

/// What is measured for the traces of a draw.
struct Figures {
  double log_joint;
  const State& state;
  const TwoLevelCrp& prior;

  /// Of the rows of the table, each once.
  double entropy(bool of_subclusters) const {
    std::vector<double> sizes(of_subclusters ? state.sizes().size() : state.counts().size());
    for (std::size_t row = 0; row < state.rows(); ++row) {
      const Label sub = state.sub_of(row);
      sizes[static_cast<std::size_t>(of_subclusters ? sub : state.cluster_of(sub))] += 1.0;
    }
    return partition_entropy(sizes, static_cast<double>(state.rows()));
  }
};

const TraceTable<Figures>& trace_table() {
  static const TraceTable<Figures> table(
      {{"log_joint", "log joint density of both partitions, learned parameters and data",
        [](const Figures& f) { return f.log_joint; }},
       {"clusters_1", "number of clusters",
        [](const Figures& f) { return static_cast<double>(f.state.clusters()); }},
       {"clusters_2", "number of sub-clusters",
        [](const Figures& f) { return static_cast<double>(f.state.subclusters()); }},
       {"entropy_1", "entropy of the cluster sizes, in nats",
        [](const Figures& f) { return f.entropy(false); }},
       {"entropy_2", "entropy of the sub-cluster sizes, in nats",
        [](const Figures& f) { return f.entropy(true); }},
       {"alpha_clusters", "concentration of the clusters",
        [](const Figures& f) { return f.prior.alpha_clusters(); }},
       {"alpha_subclusters", "concentration of the sub-clusters",
        [](const Figures& f) { return f.prior.alpha_subclusters(); }},
       {"spread", "variance of sub-cluster means around their cluster's, in units of its covariance",
        [](const Figures& f) { return f.state.evidence().spread(); }}});
  return table;
}

class NestedGaussianSampler final : public Inference {
 public:
  explicit NestedGaussianSampler(const Problem& problem)
      : options_(problem.parameters),
        rows_(problem.rows->size()),
        initial_family_(gaussian_of(problem)),
        own_family_(initial_family_.hyper_size() != 0 ? std::make_unique<Gaussian>(initial_family_)
                                                      : nullptr),
        family_(own_family_ ? *own_family_ : initial_family_),
        hyper_(family_.hyper_size()),
        prior_(options_.nesting, options_.alpha_clusters.start(), options_.alpha_subclusters.start(),
               static_cast<std::size_t>(problem.rows->copies())),
        state_(family_, *problem.rows, prior_, options_.spread),
        subclusters_(state_.evidence(), rows_) {
    gibbs_.stop_at(problem.stop);
  }

  void init(const StreamName& name) override {
    initial_family_.get_hyper(hyper_.data());
    set_hyper();
    if (options_.single_start) {
      const Labels together(rows_, 0);
      state_.assign(together, together);
    } else {
      gibbs_.allocate(state_, name);
      gibbs_.set_counts({}, {});
    }
    rebuild();
  }

  void step(const StreamName& name) override {
    if (options_.published) {
      published_.scan(state_, prior_, name);
    } else {
      // Sites of the two levels take turns, so that neither number of moves changes the other's draws.
      for (std::size_t i = 0; i < options_.subcluster_moves; ++i) {
        Stream stream(name, Purpose::split_merge, 2 * i);
        subclusters_.step(state_, prior_, stream);
      }
      for (std::size_t i = 0; i < options_.cluster_moves; ++i) {
        Stream stream(name, Purpose::split_merge, 2 * i + 1);
        clusters_.step(state_, prior_, stream);
      }
      gibbs_.scan_rows(state_, name, options_.interleaved);
      gibbs_.scan_subclusters(state_, name);
    }
    learn(name);
  }

  void rebuild() override {
    family_.get_hyper(hyper_.data());
    set_hyper();
    state_.rebuild();
  }

  double log_joint() const override {
    return prior_.log_probability(state_.sizes(), state_.counts()) + log_hyperprior() + state_.log_marginal();
  }

  double log_joint_from_scratch() const override {
    State fresh(family_, state_.data(), prior_, state_.evidence().spread());
    Labels both(2 * rows_);
    state_.labels(both);
    fresh.assign({both.data(), rows_}, {both.data() + rows_, rows_});
    return prior_.log_probability(fresh.sizes(), fresh.counts()) + log_hyperprior() + fresh.log_marginal();
  }

  void labels(std::span<Label> labels) const override { state_.labels(labels); }

  void traces(std::span<double> values) const override {
    trace_table().write({log_joint(), state_, prior_}, values);
    family_.hyper_traces(values.data() + trace_table().size());
  }

  std::string payload() const override {
    std::vector<double> hyper(hyper_.size());
    family_.get_hyper(hyper.data());
    return write_learned(hyper, {});
  }

  std::vector<MoveStatistics> moves() const override {
    std::vector<MoveStatistics> list;
    const auto add = [&](bool used, const char* name, const MoveCount& count) {
      if (used) list.push_back({name, count.proposed, count.accepted});
    };
    add(options_.published, "published_row", published_.rows());
    add(options_.published, "published_subcluster", published_.subclusters());
    add(!options_.published, "row", gibbs_.rows());
    add(!options_.published, "subcluster", gibbs_.subclusters());
    const bool within = !options_.published && options_.subcluster_moves != 0;
    add(within, "subcluster_split", subclusters_.counts().splits);
    add(within, "subcluster_merge", subclusters_.counts().merges);
    const bool between = !options_.published && options_.cluster_moves != 0;
    add(between, "cluster_split", clusters_.counts().splits);
    add(between, "cluster_merge", clusters_.counts().merges);
    return list;
  }

  std::string save() const override {
    ByteWriter writer;
    header().write(writer);
    writer.put(std::array{prior_.alpha_clusters(), prior_.alpha_subclusters(), state_.evidence().spread()});
    writer.put(std::array{gibbs_.rows(), gibbs_.subclusters(), published_.rows(), published_.subclusters(),
                          subclusters_.counts().splits, subclusters_.counts().merges,
                          clusters_.counts().splits, clusters_.counts().merges});
    std::vector<double> hyper(hyper_.size());
    family_.get_hyper(hyper.data());
    writer.put(hyper.data(), hyper.size());
    Labels both(2 * rows_);
    state_.labels(both);
    writer.put(both.data(), both.size());
    return writer.take();
  }

  void load(std::string_view bytes) override {
    ByteReader reader(bytes);
    header().check(reader);
    const auto values = reader.get<std::array<double, 3>>();
    const auto counts = reader.get<std::array<MoveCount, 8>>();
    reader.get(hyper_.data(), hyper_.size());
    Labels both(2 * rows_);
    reader.get(both.data(), both.size());
    reader.end();
    check_labels(both);
    check_concentration(values[0]);
    check_concentration(values[1]);
    if (!(values[2] >= 0.0 && values[2] <= kLargestSpread))
      fail(ErrorCode::bad_data, "the run file is damaged: a spread of {}", values[2]);
    set_hyper();
    prior_.set(values[0], values[1]);
    state_.set_spread(values[2]);
    state_.assign({both.data(), rows_}, {both.data() + rows_, rows_});
    gibbs_.set_counts(counts[0], counts[1]);
    published_.set_counts(counts[2], counts[3]);
    subclusters_.set_counts({counts[4], counts[5]});
    clusters_.set_counts({counts[6], counts[7]});
  }

  void draw_prior(const StreamName& name) override {
    refuse_copies(state_.data());
    Stream stream(name, Purpose::prior_shape);
    const double alpha_clusters = options_.alpha_clusters.draw_prior(stream);
    prior_.set(alpha_clusters, options_.alpha_subclusters.draw_prior(stream));
    double spread = options_.spread;
    if (options_.learn_spread) do
        spread = options_.spread_prior.draw(stream);
      while (!(spread >= kLeastSpread && spread <= kLargestSpread));
    state_.set_spread(spread);
    if (own_family_) {
      Stream hyper(name, Purpose::prior_hyper);
      own_family_->draw_hyper_prior(hyper);
      state_.adopt_prior();
    }
    Labels both(2 * rows_);
    const std::span<Label> clusters(both.data(), rows_);
    const std::span<Label> subclusters(both.data() + rows_, rows_);
    prior_.draw(stream, clusters, subclusters);
    state_.assign(clusters, subclusters);
  }

  void draw_data(const StreamName& name, Rows& rows) override {
    Stream stream(name, Purpose::prior_data);
    const std::size_t d = family_.width();
    std::vector<double> empty(family_.stats_size());
    family_.clear(empty.data());
    // A cluster's theta is its mean and the factor of its covariance, by columns; those of its sub-clusters
    // differ in the mean.
    std::vector<double> theta(family_.theta_size());
    std::vector<std::vector<double>> thetas(state_.sizes().size());
    const double scale = std::sqrt(state_.evidence().spread());
    for (std::size_t cluster = 1; cluster < state_.counts().size(); ++cluster) {
      family_.draw_theta(empty.data(), stream, theta.data());
      for (const Label sub : state_.subs_of(static_cast<Label>(cluster))) {
        std::vector<double>& own = thetas[static_cast<std::size_t>(sub)];
        own = theta;
        const double* factor = theta.data() + d;
        for (std::size_t j = 0; j < d; ++j) {
          const double noise = scale * draw_normal(stream);
          for (std::size_t i = j; i < d; ++i) own[i] += noise * *factor++;
        }
      }
    }
    for (std::size_t row = 0; row < rows_; ++row)
      family_.draw(thetas[static_cast<std::size_t>(state_.sub_of(row))].data(), stream, rows[row]);
    rebuild();
  }

 private:
  void check_labels(const Labels& both) const {
    Labels cluster_of(rows_, -1);
    for (const Label label : both)
      if (label < 0 || static_cast<std::size_t>(label) >= rows_)
        fail(ErrorCode::bad_data, "checkpoint has the label {} for {} rows", label, rows_);
    for (std::size_t row = 0; row < rows_; ++row) {
      Label& cluster = cluster_of[static_cast<std::size_t>(both[rows_ + row])];
      if (cluster == -1) cluster = both[row];
      if (cluster != both[row]) fail(ErrorCode::bad_data, "checkpoint has a sub-cluster in two clusters");
    }
  }

  double log_hyperprior() const {
    double total = options_.alpha_clusters.log_prior(prior_.alpha_clusters()) + family_.log_hyper_prior();
    total += options_.alpha_subclusters.log_prior(prior_.alpha_subclusters());
    if (options_.learn_spread) total += options_.spread_prior.log_density(state_.evidence().spread());
    return total;
  }

  void learn(const StreamName& name) {
    const Concentration& clusters = options_.alpha_clusters;
    const Concentration& subclusters = options_.alpha_subclusters;
    if (clusters.is_learned()) {
      Stream stream(name, Purpose::concentration, 0);
      prior_.update_alpha_clusters(stream, clusters.prior(), state_.counts());
    }
    if (subclusters.is_learned()) {
      Stream stream(name, Purpose::concentration, 1);
      prior_.update_alpha_subclusters(stream, subclusters.prior(), state_.counts());
    }
    if (clusters.is_learned() || subclusters.is_learned()) state_.refresh_weights();
    if (options_.learn_spread) update_spread(name);
    if (own_family_) update_hyper(name);
  }

  void update_spread(const StreamName& name) {
    Stream stream(name, Purpose::concentration, 2);
    const auto log_density = [&](double log_spread) {
      const double spread = std::exp(log_spread);
      return state_.log_marginal_with(spread) + options_.spread_prior.log_density(spread) + log_spread;
    };
    const double before = std::log(state_.evidence().spread());
    state_.set_spread(std::exp(
        draw_slice(stream, log_density, before, 1.0, std::log(kLeastSpread), std::log(kLargestSpread))));
  }

  void update_hyper(const StreamName& name) {
    Stream stream(name, Purpose::hyper);
    state_.get_moments(moments_);
    own_family_->update_hyper_given(moments_, stream);
    state_.adopt_prior();
  }

  /// To the values of hyper_.
  void set_hyper() {
    if (!own_family_) return;
    own_family_->set_hyper(hyper_.data());
    state_.adopt_prior();
  }

  const StateHeader& header() const { return own_family_ ? kLearnedStateHeader : kStateHeader; }

  Options options_;
  std::size_t rows_;
  const Gaussian& initial_family_;        // from which learning begins
  std::unique_ptr<Gaussian> own_family_;  // if hyper-parameters are learned
  const Gaussian& family_;                // the one that is in use
  std::vector<double> hyper_;
  std::vector<GaussianMoments> moments_;  // of update_hyper
  TwoLevelCrp prior_;
  State state_;
  Gibbs gibbs_;
  SubclusterSplitMerge subclusters_;
  ClusterSplitMerge clusters_;
  PublishedUpdates published_;
};

}  // namespace

std::vector<TraceInfo> traces(const ParameterValues&) { return trace_table().list(); }

std::unique_ptr<Inference> make_inference(const Problem& problem) {
  return std::make_unique<NestedGaussianSampler>(problem);
}

std::size_t chain_bytes(const Problem& problem) {
  return State::bytes(problem.rows->size(), problem.rows->copies(), problem.rows->data_width(),
                      std::min<std::size_t>(problem.rows->size(), 256));
}

}  // namespace coppice::nhcm
