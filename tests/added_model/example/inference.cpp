#include "added_model/example/inference.hpp"

#include "coppice/base/byte_stream.hpp"
#include "coppice/base/error.hpp"
#include "coppice/cluster/clusters.hpp"
#include "coppice/cluster/gibbs_sweep.hpp"
#include "coppice/model/drawn_clusters.hpp"
#include "coppice/model/state_header.hpp"
#include "coppice/model/trace_table.hpp"
#include "coppice/prior/crp.hpp"

namespace coppice::example {
namespace {

constexpr StateHeader kStateHeader("exam", 1);

/// What is measured for the traces of a draw.
struct Figures {
  double log_joint;
  std::vector<std::size_t> sizes;
  double rows;
};

const TraceTable<Figures>& trace_table() {
  static const TraceTable<Figures> table(
      {{"log_joint", "log density of partition and data", [](const Figures& f) { return f.log_joint; }},
       {"clusters", "number of clusters",
        [](const Figures& f) { return static_cast<double>(f.sizes.size()); }},
       {"entropy", "entropy of the cluster sizes, in nats",
        [](const Figures& f) { return partition_entropy(f.sizes, f.rows); }}});
  return table;
}

class ExampleChain final : public Inference {
 public:
  explicit ExampleChain(const Problem& problem)
      : family_(*problem.family),
        rows_(*problem.rows),
        prior_(problem.parameters.real("alpha"), rows_.size()),
        clusters_(family_, rows_, prior_.log_join_table()),
        log_marginal_alone_(rows_.size()) {
    gibbs_.stop_at(problem.stop);
    measure_rows();
  }

  void init(const StreamName& name) override {
    gibbs_.allocate(clusters_, name, log_marginal_alone_, prior_.log_open());
    gibbs_.set_count({});
    rebuild();
  }
  void step(const StreamName& name) override {
    gibbs_.step(clusters_, name, log_marginal_alone_, prior_.log_open());
  }
  void rebuild() override { clusters_.rebuild(); }

  double log_joint() const override {
    return prior_.log_partition(clusters_.sizes()) + clusters_.log_marginal();
  }
  double log_joint_from_scratch() const override {
    Clusters fresh(family_, rows_, prior_.log_join_table());
    fresh.assign(canonical_labels());
    return prior_.log_partition(fresh.sizes()) + fresh.log_marginal();
  }

  void labels(std::span<Label> labels) const override {
    const Labels canonical = canonical_labels();
    std::copy(canonical.begin(), canonical.end(), labels.begin());
  }
  void traces(std::span<double> values) const override {
    trace_table().write({log_joint(), cluster_sizes(canonical_labels()), static_cast<double>(rows_.size())},
                        values);
  }
  std::vector<MoveStatistics> moves() const override {
    return {{"gibbs", gibbs_.count().proposed, gibbs_.count().accepted}};
  }

  std::string save() const override {
    ByteWriter writer;
    kStateHeader.write(writer);
    writer.put(gibbs_.count());
    writer.put(clusters_.labels().data(), rows_.size());
    return writer.take();
  }
  void load(std::string_view bytes) override {
    ByteReader reader(bytes);
    kStateHeader.check(reader);
    gibbs_.set_count(reader.get<MoveCount>());
    Labels labels(rows_.size());
    reader.get(labels.data(), labels.size());
    reader.end();
    for (const Label label : labels)
      if (label < 0 || static_cast<std::size_t>(label) >= labels.size())
        fail(ErrorCode::bad_data, "checkpoint has a cluster {}", label);
    clusters_.assign(labels);
  }

  void draw_prior(const StreamName& name) override {
    Stream stream(name, Purpose::prior_shape);
    Labels labels(rows_.size());
    prior_.draw_partition(stream, labels);
    clusters_.assign(labels);
  }
  void draw_data(const StreamName& name, Rows& rows) override {
    const Labels labels = canonical_labels();
    Stream stream(name, Purpose::prior_data);
    draw_clusters(family_, labels, clusters_.clusters(), stream, rows);
    clusters_.assign(labels);
    measure_rows();
  }

 private:
  Labels canonical_labels() const {
    Labels labels(clusters_.labels().begin(), clusters_.labels().end());
    canonicalize(labels);
    return labels;
  }
  void measure_rows() {
    family_.log_marginals_alone(rows_.cells.data(), rows_.size(), log_marginal_alone_.data());
  }

  const Family& family_;
  const Rows& rows_;
  Crp prior_;
  Clusters clusters_;
  GibbsSweep gibbs_;
  std::vector<double> log_marginal_alone_;
};

}  // namespace

std::vector<TraceInfo> traces(const ParameterValues&) { return trace_table().list(); }

std::unique_ptr<Inference> make_inference(const Problem& problem) {
  return std::make_unique<ExampleChain>(problem);
}

std::size_t chain_bytes(const Problem& problem) {
  return Clusters::bytes(*problem.family, problem.rows->size(), 64);
}

}  // namespace coppice::example
