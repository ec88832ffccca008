// What a model is: the inference that fits it, the predictor or classifier of its draws, and the entry by
// which the rest of the program knows it and asks what it can do.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coppice/base/error.hpp"
#include "coppice/base/parameter.hpp"
#include "coppice/base/rng.hpp"
#include "coppice/data/labeled_rows.hpp"
#include "coppice/family/family.hpp"
#include "coppice/family/inputs.hpp"
#include "coppice/family/rows.hpp"
#include "coppice/prior/concentration.hpp"
#include "coppice/shape/cross_tree.hpp"
#include "coppice/shape/dendrogram.hpp"
#include "coppice/shape/partition.hpp"
#include "coppice/shape/row_tree.hpp"
#include "coppice/shape/views.hpp"

namespace coppice {

/// The data and the settings of a fit; outlives its chains and is shared by them.
struct Problem {
  const Family* family = nullptr;
  const Rows* rows = nullptr;
  ParameterValues parameters;
  /// Levels of each cell that is a category, 0 for numbers; empty: all are numbers.
  std::vector<std::size_t> category_levels = {};
  /// Starts and choices that take long give up with Error{stopped} when it is set; may be null.
  const std::atomic<bool>* stop = nullptr;
  /// The rows with their labels, for models that learn labels; null for all others.
  const LabeledRows* labeled = nullptr;
};

/// How often a move was proposed and accepted.
struct MoveStatistics {
  std::string name;
  std::uint64_t proposed = 0;
  std::uint64_t accepted = 0;
};

/// What a classifier says of one row.
struct LabelPrediction {
  std::vector<double> scores;         // of each label, in the units of the threshold; labels are ranked by it
  std::vector<double> probabilities;  // of each label
  std::vector<bool> chosen;
  std::vector<double> clusters;  // probability of each cluster given the features
  double log_density = 0.0;      // of the features: small for a row unlike all others
};

/// One fit under way: the state of an MCMC chain (a step is a sweep), of greedy merging (a step scores or
/// merges) or of a variational fit (a step is a sweep or a mini-batch). It never prints and never touches
/// files, and derives all randomness from the name it is given. `draw_prior` and `draw_data` are there so
/// that every model can be tested by Geweke's joint-distribution test and simulated from.
class Inference {
 public:
  virtual ~Inference() = default;

  /// A starting state from the data and the stream (sweep 0 of the name is the start's own).
  virtual void init(const StreamName& name) = 0;
  /// One sweep, merge or mini-batch; nothing if it is finished.
  virtual void step(const StreamName& name) = 0;
  /// Whether a fit that runs once has nothing left to do. A chain can always be continued.
  virtual bool finished() const { return false; }
  /// Makes the state a function of what save() keeps: canonical labels, statistics computed from the rows.
  virtual void rebuild() = 0;

  /// Log joint density of shape, parameters and data, from the kept statistics.
  virtual double log_joint() const = 0;
  /// The same from labels and rows alone.
  virtual double log_joint_from_scratch() const = 0;

  /// Canonical labels of all rows at each level, coarsest first, one after the other.
  virtual void labels(std::span<Label> labels) const = 0;
  /// The model's trace values, in the order of ModelEntry::traces.
  virtual void traces(std::span<double> values) const = 0;
  virtual std::vector<MoveStatistics> moves() const = 0;
  /// Threads a step may use (0: all); what it does never depends on it.
  virtual void use_threads(std::size_t) {}
  /// What a Predictor needs of this state beside labels and traces; kept with every draw.
  virtual std::string payload() const { return {}; }
  /// Of a finished fit that learned labels: every row as it was predicted by a fit that had not seen it; a
  /// row without such a prediction has no scores. Empty: there are none.
  virtual std::vector<LabelPrediction> held_out_predictions() const { return {}; }

  virtual std::string save() const = 0;
  /// Restores what save() wrote; throws Error{bad_data} if it does not fit the data.
  virtual void load(std::string_view bytes) = 0;

  /// Restores what save() wrote for the first `rows` rows of the data; the others are not in yet. Only for
  /// models that support incremental rows.
  virtual void load_first(std::string_view, std::size_t) { fail_to_insert(); }
  /// Takes in the next `count` rows, with local moves around each of them. Seed and chain of the name and the
  /// number of the row decide what is drawn, not how many come at once.
  virtual void insert(std::size_t, const StreamName&) { fail_to_insert(); }

  /// Draws shape and parameters from the prior; data play no part.
  virtual void draw_prior(const StreamName& name) = 0;
  /// Draws new data given the shape into `rows` (the very rows of the Problem) and takes them in.
  virtual void draw_data(const StreamName& name, Rows& rows) = 0;

 private:
  [[noreturn]] static void fail_to_insert() { fail(ErrorCode::bug, "this model does not take in rows"); }
};

/// A component of a predictive mixture, with its weight.
struct CellComponent {
  std::size_t component = 0;
  double weight = 1.0;
};

/// The predictive of new rows under one stored draw.
class Predictor {
 public:
  virtual ~Predictor() = default;
  /// Takes in a draw: labels of all levels, the trace values and the payload stored with it. Throws
  /// Error{bad_data} if they do not fit together.
  virtual void set_draw(std::span<const Label> labels, std::span<const double> traces,
                        std::string_view payload) = 0;
  /// Clusters at a level (1 = coarsest) of the draw.
  virtual std::size_t clusters(std::size_t level) const = 0;
  /// out[c] = log p(row, row joins cluster c of the level | draw); the last of clusters(level) + 1 is a new
  /// cluster.
  virtual void log_weights(const double* row, std::size_t level, std::span<double> out) const = 0;
  /// The predictive of a training row's missing cell is a mixture of the predictives of components, or just
  /// one of them. Weights sum to one.
  virtual void cell_components(std::size_t row, std::size_t cell, std::vector<CellComponent>& out) const = 0;
  virtual std::size_t component_count() const = 0;
  /// What a component predicts for a cell, and its log density at a value (measured from the origin) there.
  virtual CellPredictive predict_cell(std::size_t component, std::size_t cell) const = 0;
  virtual double log_cell(std::size_t component, std::size_t cell, double value) const = 0;
};

/// A cluster as a classifier knows it.
struct LabelPattern {
  double weight = 0.0;                       // its share of the rows
  std::vector<double> features, log_ratios;  // expected value of each column here, and its log ratio (or
                                             // standardized difference) to that of all rows
  std::vector<double> labels;                // probability of each label here
};

/// The labels of new rows under the one stored state of a model that learns labels.
class Classifier {
 public:
  virtual ~Classifier() = default;
  virtual LabelPrediction predict(const SparseRows& features, std::size_t row) const = 0;
  /// The same if some labels of the row are known: 1: has it, absent: does not have it, NaN: unknown.
  /// They inform the clusters and are returned as they are, with probability 0 or 1.
  virtual LabelPrediction predict_given(const SparseRows&, const SparseRows& /*known*/,
                                        std::size_t /*row*/) const {
    fail(ErrorCode::bug, "this classifier does not take labels as given");
  }
  /// In the order of LabelPrediction::clusters.
  virtual std::vector<LabelPattern> patterns() const = 0;
  /// Of each label: it is chosen from this score on.
  virtual const std::vector<double>& thresholds() const = 0;
};

/// Values for settings that were left to the model ("auto"), and the reasons for people.
struct Resolution {
  Settings settings;
  std::vector<std::string> notes;
};

/// A number that every draw keeps: its name and what it says, in one line.
struct TraceInfo {
  std::string name;
  std::string help;
};

/// How a model is fitted.
enum class Method {
  mcmc,         // chains of draws from the posterior
  greedy,       // one tree, merged or divided greedily: a point estimate
  variational,  // one local optimum of a lower bound
};

/// "mcmc", "greedy", "variational".
std::string_view method_name(Method method);

/// A simple classifier that models which learn labels are measured against. Error{stopped} when stop is set.
struct LabelBaseline {
  std::string name;
  std::unique_ptr<Classifier> (*fit)(const LabeledRows&, std::uint64_t seed, std::size_t threads,
                                     const std::atomic<bool>* stop);
};

/// A trace whose highest draw may be reported as the hierarchy, and the name of that choice.
struct TraceSelection {
  std::string name;
  std::string trace;
};

/// A model as the rest of the program knows it. What it can do is asked for by name (runs_once(),
/// has_views(), ...), never by the model's own name.
struct ModelEntry {
  std::string name = {};
  std::string summary = {};
  Method method = Method::mcmc;
  std::vector<Parameter> parameters = {};
  /// The traces, in the order in which draws keep them; the first is log_joint.
  std::vector<TraceInfo> (*traces)(const ParameterValues&) = nullptr;
  std::size_t (*levels)(const ParameterValues&) = [](const ParameterValues&) -> std::size_t { return 1; };
  std::unique_ptr<Inference> (*make_inference)(const Problem&) = nullptr;
  std::unique_ptr<Predictor> (*make_predictor)(const Problem&) = nullptr;
  /// For a model that learns labels: what the payload of its draw says of new rows.
  std::unique_ptr<Classifier> (*make_classifier)(const Problem&, std::string_view payload) = nullptr;
  /// Bytes one chain takes beside the data, for the estimate before a run.
  std::size_t (*chain_bytes)(const Problem&) = nullptr;
  /// Throws Error{configuration} if settings that were given exclude each other.
  void (*check_given)(const Settings&) = nullptr;
  /// Why draws with these settings do not come from the posterior of a model, as a sentence; empty if they
  /// do.
  std::string (*inexactness_note)(const ParameterValues&) = [](const ParameterValues&) {
    return std::string();
  };
  /// Chooses from the data what the settings leave open.
  Resolution (*resolve)(const Problem&, const Settings& given, std::uint64_t seed,
                        std::size_t threads) = nullptr;
  /// Of a fit that runs once: the steps it takes at most.
  std::size_t (*max_steps)(const Problem&) = nullptr;
  /// The tree over the rows that guides the moves of a chain, by seed and chain of the name. Throws
  /// Error{configuration} if these settings have none.
  RowTree (*guide)(const Problem&, const StreamName&) = nullptr;
  /// The tree over the rows that a draw's payload holds, or the forest of a fit that was stopped.
  Dendrogram (*row_tree)(const Problem&, std::string_view payload) = nullptr;
  /// The views of the columns that a draw's payload holds.
  Views (*views)(const Problem&, std::string_view payload) = nullptr;
  /// The tree over the columns (cells) with the trees over the rows that a draw's payload holds.
  CrossTree (*column_tree)(const Problem&, std::string_view payload) = nullptr;
  /// A lower bound on the log evidence of the data.
  double (*evidence_bound)(const Problem&) = nullptr;
  /// The concentration of the partition of the rows (at the coarsest level), whose Gamma prior
  /// --expect-clusters gives; empty: the model has no such setting.
  std::string row_concentration = {};
  /// The Chinese restaurant process that alone seats the rows at the coarsest level, by its concentration;
  /// nothing with settings under which that is another law. Null: it always is.
  std::optional<Concentration> (*row_seating)(const ParameterValues&) = nullptr;
  /// The only family it works with; empty: any.
  std::string family = {};
  /// Whether --family auto takes real columns as independent within a cluster.
  bool independent_columns = false;
  /// Whether a fit takes in rows that come later (Inference::load_first, insert).
  bool supports_incremental_rows = false;
  /// Whether its predictor is a NewCells: draws new rows, and predicts cells of theirs and new columns.
  bool predicts_new_cells = false;
  /// The trace that says how well held-out rows are predicted, shown with the progress; empty: none.
  std::string held_out_trace = {};
  std::vector<LabelBaseline> label_baselines = {};
  std::vector<TraceSelection> selections = {};

  /// What its chains do with the family; nullptr: they take it as it is. If they learn hyper-parameters, the
  /// family's hyper_traces come after the model's own traces.
  ChainAbilities (*abilities)(const ParameterValues&) = nullptr;

  /// A fit is one chain with one draw: its state when it ends or is stopped.
  bool runs_once() const { return method != Method::mcmc; }
  /// The fit is one greedy tree over the rows (or over the columns, with trees over the rows).
  bool is_greedy() const { return method == Method::greedy; }
  /// Learns to predict labels; it has no draws of clusters to summarize.
  bool learns_labels() const { return make_classifier != nullptr; }
  /// Divides the columns into views, each with row clusters of its own.
  bool has_views() const { return views != nullptr; }
  bool has_row_tree() const { return row_tree != nullptr; }
  bool has_column_tree() const { return column_tree != nullptr; }
  /// Its moves may follow a tree over the rows.
  bool has_guide() const { return guide != nullptr; }
  /// Chooses hyper-parameters that were not given by a lower bound on the evidence.
  bool chooses_by_evidence() const { return evidence_bound != nullptr; }
  /// Settings may be left to the model ("auto").
  bool resolves_settings() const { return resolve != nullptr; }
  /// Its predictor draws new rows, and predicts cells of theirs and new columns.
  bool has_new_cells() const { return predicts_new_cells; }
  bool has_held_out_trace() const { return !held_out_trace.empty(); }

  std::vector<std::string> trace_names(const ParameterValues& values) const {
    std::vector<std::string> names;
    for (TraceInfo& trace : traces(values)) names.push_back(std::move(trace.name));
    return names;
  }
};

/// Names of the trace values of a problem: the model's own, then those of what its family learns.
inline std::vector<std::string> trace_names(const ModelEntry& model, const Problem& problem) {
  std::vector<std::string> names = model.trace_names(problem.parameters);
  if (model.abilities == nullptr || !model.abilities(problem.parameters).learns_hyper) return names;
  for (std::string& name : problem.family->hyper_trace_names()) names.push_back(std::move(name));
  return names;
}

}  // namespace coppice
