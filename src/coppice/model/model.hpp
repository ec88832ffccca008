// What a model is. A Inference is the state of one chain: MCMC (a step is a sweep), greedy (a merge) and
// variational methods (a mini-batch) have the same shape. `draw_prior` and `draw_data` are there so that
// every model can be tested by Geweke's joint-distribution test and simulated from. Samplers never print and
// never touch files; what they need of randomness they derive from the name they are given.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
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
#include "coppice/shape/cross_tree.hpp"
#include "coppice/shape/dendrogram.hpp"
#include "coppice/shape/partition.hpp"
#include "coppice/shape/row_tree.hpp"
#include "coppice/shape/views.hpp"

namespace coppice {

/// The data and the settings of a fit; outlives its samplers and is shared by them.
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

class Inference {
 public:
  virtual ~Inference() = default;

  /// A starting state from the data and the stream (sweep 0 of the name is the start's own).
  virtual void init(const StreamName& name) = 0;
  /// One sweep; of a greedy model that is finished: nothing.
  virtual void step(const StreamName& name) = 0;
  /// Whether a greedy model has nothing left to do. Samplers have always.
  virtual bool finished() const { return false; }
  /// Makes the state a function of what save() keeps: canonical labels, statistics anew from the rows.
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
  /// models that grow.
  virtual void load_first(std::string_view, std::size_t) { fail_to_grow(); }
  /// Takes in the next `count` rows, with local moves around each of them. Seed and chain of the name and the
  /// number of the row decide what is drawn, not how many come at once.
  virtual void insert(std::size_t, const StreamName&) { fail_to_grow(); }

  /// Draws shape and parameters from the prior; data play no part.
  virtual void draw_prior(const StreamName& name) = 0;
  /// Draws new data given the shape into `rows` (the very rows of the Problem) and takes them in.
  virtual void draw_data(const StreamName& name, Rows& rows) = 0;

 private:
  [[noreturn]] static void fail_to_grow() { fail(ErrorCode::bug, "this model does not take in rows"); }
};

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
  /// The same if some labels of the row are known: 1: has it, absent: has it not, NaN: nobody knows. They
  /// have their say in the clusters and come back as they are, with the probability 0 or 1.
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

struct ModelEntry {
  std::string name;
  std::string summary;
  std::vector<Parameter> parameters;
  /// Names of the traces; the first is log_joint.
  std::vector<std::string> (*traces)(const ParameterValues&);
  std::size_t (*levels)(const ParameterValues&);
  std::unique_ptr<Inference> (*make_inference)(const Problem&);
  std::unique_ptr<Predictor> (*make_predictor)(const Problem&);
  /// Bytes one chain takes beside the data, for the estimate before a run.
  std::size_t (*chain_bytes)(const Problem&);
  /// Throws Error{configuration} if settings that were given exclude each other.
  void (*check_given)(const Settings&);
  /// Why draws with these settings do not come from the posterior of a model, as a sentence; empty if they
  /// do.
  std::string (*inexactness_note)(const ParameterValues&);
  /// Chooses what was left open, from the data; none if the model leaves nothing open.
  Resolution (*resolve)(const Problem&, const Settings& given, std::uint64_t seed,
                        std::size_t threads) = nullptr;
  /// Whether its samplers take in rows after a fit (load_first, insert).
  bool supports_incremental_rows = false;
  /// The tree over the rows that leads the moves of a chain, by seed and chain of the name. Throws
  /// Error{configuration} if the settings have none; nullptr if the model has none.
  RowTree (*guide)(const Problem&, const StreamName&) = nullptr;
  /// The only family it works with; empty: any.
  std::string family = {};

  /// The steps a greedy fit takes at most; nullptr if the model is no greedy one. A greedy model has one
  /// chain and one draw, which is the state when the fit ends or is stopped.
  std::size_t (*greedy_steps)(const Problem&) = nullptr;
  /// The tree over the rows that a draw's payload hold, or the forest of a fit that was stopped; nullptr if
  /// draws hold none.
  Dendrogram (*row_tree)(const Problem&, std::string_view payload) = nullptr;
  /// The views of the columns that a draw's payload hold; nullptr if the model has one view of all columns.
  Views (*views)(const Problem&, std::string_view payload) = nullptr;
  /// The tree over the columns (cells) with the trees over the rows that a draw's payload hold; nullptr if
  /// draws hold none.
  CrossTree (*column_tree)(const Problem&, std::string_view payload) = nullptr;
  /// A lower bound on the log evidence of the data, by which hyper-parameters are chosen that nobody gave;
  /// nullptr if the model has none.
  double (*evidence_bound)(const Problem&) = nullptr;
  /// Whether --family auto takes real columns as independent within a cluster.
  bool independent_columns = false;
  /// The trace that says how well rows held out are foretold, shown with the progress; nullptr: none.
  const char* held_out_trace = nullptr;
  /// For a model that learns labels, what its draw's payload say of new rows; nullptr if it learns none.
  std::unique_ptr<Classifier> (*make_classifier)(const Problem&, std::string_view payload) = nullptr;
  /// What its chains do with the family; nullptr: they take it as it is. If they learn hyper-parameters, the
  /// family's hyper_traces come after the model's own traces.
  ChainAbilities (*abilities)(const ParameterValues&) = nullptr;
};

/// Names of the trace values of a problem: the model's own, then those of what its family learns.
inline std::vector<std::string> trace_names(const ModelEntry& model, const Problem& problem) {
  std::vector<std::string> names = model.traces(problem.parameters);
  if (model.abilities == nullptr || !model.abilities(problem.parameters).learns_hyper) return names;
  for (std::string& name : problem.family->hyper_trace_names()) names.push_back(std::move(name));
  return names;
}

}  // namespace coppice
