// What a model is: the inference that fits it, the predictor or classifier of its draws, and the entry that
// tells the rest of the program what the model can do.
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

/// Which rows of a table are here, if the table is nowhere as a whole.
struct TablePart {
  std::uint64_t all_rows = 0;               // of the table; 0: all are here
  std::uint64_t first = 0;                  // the number of the first one here
  std::vector<std::uint64_t> numbers = {};  // of scattered rows, ascending; empty: they are consecutive
};

/// The data and the settings of a fit; outlives its chains and is shared by them.
struct Problem {
  const Family* family = nullptr;  // of the rows within a cluster
  const Rows* rows = nullptr;      // encoded for the family
  ParameterValues parameters;      // of the model
  /// Levels of each cell that is a category, 0 for numbers; empty: all are numbers.
  std::vector<std::size_t> category_levels = {};
  /// When it is set, long initializations and choices of settings stop with Error{stopped}; may be null.
  const std::atomic<bool>* stop = nullptr;
  /// The rows with their labels, for models that learn labels; null for all others.
  const LabeledRows* labeled = nullptr;
  /// Of a chain whose engine knows the other rows.
  TablePart part = {};

  /// Number of rows of the whole table.
  std::size_t table_rows() const { return part.all_rows != 0 ? part.all_rows : rows->size(); }
};

/// How often a move was proposed and accepted.
struct MoveStatistics {
  std::string name;            // as coppice diagnose shows it
  std::uint64_t proposed = 0;  // how often the move was tried
  std::uint64_t accepted = 0;  // how often it changed the state
};

/// What a classifier predicts for one row.
struct LabelPrediction {
  std::vector<double> scores;         // of each label, in the units of the threshold; labels are ranked by it
  std::vector<double> probabilities;  // of each label
  std::vector<bool> chosen;           // whether each label is predicted
  std::vector<double> clusters;       // probability of each cluster given the features
  double log_density = 0.0;           // of the features: low for a row unlike all others
};

/// One fit under way: the state of an MCMC chain (a step is a sweep), of greedy merging (a step scores or
/// merges) or of a variational fit (a step is a sweep or a mini-batch). It never prints and never touches
/// files, and derives all randomness from the name it is given. `draw_prior` and `draw_data` exist so that
/// every model can be tested by Geweke's joint-distribution test and simulated from.
class Inference {
 public:
  virtual ~Inference() = default;

  /// Makes an initial state from the data and the stream (sweep 0 of the name is reserved for it).
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
  /// Proposals and acceptances of each kind of move so far.
  virtual std::vector<MoveStatistics> moves() const = 0;
  /// Sets how many threads a step may use (0: all); the result never depends on it.
  virtual void use_threads(std::size_t) {}
  /// What a Predictor needs of this state besides labels and traces; stored with every draw.
  virtual std::string payload() const { return {}; }
  /// For a finished fit of a classifier: out-of-fold predictions of every row; a row without one has no
  /// scores. Empty: there are none.
  virtual std::vector<LabelPrediction> held_out_predictions() const { return {}; }

  /// The state as bytes, from which load() continues exactly.
  virtual std::string save() const = 0;
  /// Restores what save() wrote; throws Error{bad_data} if it does not fit the data.
  virtual void load(std::string_view bytes) = 0;

  /// Restores what save() wrote for the first `rows` rows of the data; the others are not inserted yet. Only
  /// for models that support incremental rows.
  virtual void load_first(std::string_view, std::size_t) { fail_to_insert(); }
  /// Inserts the next `count` rows, with local moves around each of them. What is drawn depends on the seed
  /// and chain of the name and on the number of the row, not on how many rows are inserted at once.
  virtual void insert(std::size_t, const StreamName&) { fail_to_insert(); }

  /// Draws shape and parameters from the prior, independently of the data.
  virtual void draw_prior(const StreamName& name) = 0;
  /// Draws new data given the shape into `rows` (the rows of the Problem) and updates the state.
  virtual void draw_data(const StreamName& name, Rows& rows) = 0;

 private:
  [[noreturn]] static void fail_to_insert() { fail(ErrorCode::bug, "this model cannot add rows"); }
};

/// A component of a predictive mixture, with its weight.
struct CellComponent {
  std::size_t component = 0;  // its number, below component_count()
  double weight = 1.0;        // weights of a mixture sum to one
};

/// The predictive of new rows under one stored draw.
class Predictor {
 public:
  virtual ~Predictor() = default;
  /// Sets the draw to predict from: labels of all levels, the trace values and the payload stored with it.
  /// Throws Error{bad_data} if they are inconsistent.
  virtual void set_draw(std::span<const Label> labels, std::span<const double> traces,
                        std::string_view payload) = 0;
  /// Number of clusters at a level (1 = coarsest) of the draw.
  virtual std::size_t clusters(std::size_t level) const = 0;
  /// out[c] = log p(row, row joins cluster c of the level | draw); the last of clusters(level) + 1 is a new
  /// cluster.
  virtual void log_weights(const double* row, std::size_t level, std::span<double> out) const = 0;
  /// The same for several rows of `width` cells, one after the other: what is about row i begins at
  /// out[i * stride].
  virtual void log_weights_of_rows(std::span<const double> rows, std::size_t width, std::size_t level,
                                   std::size_t stride, std::span<double> out) const {
    for (std::size_t i = 0; i * width < rows.size(); ++i)
      log_weights(rows.data() + i * width, level, out.subspan(i * stride, clusters(level) + 1));
  }
  /// The predictive of a training row's missing cell is a mixture of the predictives of components, or just
  /// one of them. Weights sum to one.
  virtual void cell_components(std::size_t row, std::size_t cell, std::vector<CellComponent>& out) const = 0;
  /// Number of components of the draw.
  virtual std::size_t component_count() const = 0;
  /// What a component predicts for a cell.
  virtual CellPredictive predict_cell(std::size_t component, std::size_t cell) const = 0;
  /// Log density of a component at a value of a cell, measured from the origin.
  virtual double log_cell(std::size_t component, std::size_t cell, double value) const = 0;
};

/// A cluster of a classifier: its typical features and labels.
struct LabelPattern {
  double weight = 0.0;           // its fraction of the rows
  std::vector<double> features;  // expected value of each column here
  /// Log ratio (or standardized difference) of each column to its value over all rows.
  std::vector<double> log_ratios;
  std::vector<double> labels;  // probability of each label here
};

/// The labels of new rows under the one stored state of a model that learns labels.
class Classifier {
 public:
  virtual ~Classifier() = default;
  /// The labels of one of the rows.
  virtual LabelPrediction predict(const SparseRows& features, std::size_t row) const = 0;
  /// The same if some labels of the row are known: 1: has it, absent: does not have it, NaN: unknown.
  /// They inform the clusters and are returned as they are, with probability 0 or 1.
  virtual LabelPrediction predict_given(const SparseRows&, const SparseRows& /*known*/,
                                        std::size_t /*row*/) const {
    fail(ErrorCode::bug, "this classifier does not condition on known labels");
  }
  /// The clusters, in the order of LabelPrediction::clusters.
  virtual std::vector<LabelPattern> patterns() const = 0;
  /// The score of each label at or above which it is predicted.
  virtual const std::vector<double>& thresholds() const = 0;
};

/// Values for settings that were left to the model ("auto"), with the reasons.
struct Resolution {
  Settings settings;               // the chosen values, by name
  std::vector<std::string> notes;  // one sentence for each choice
};

/// A number that is stored with every draw.
struct TraceInfo {
  std::string name;  // as in exports and diagnostics
  std::string help;  // what it means, in one line
};

/// How a model is fitted.
enum class Method {
  mcmc,         // chains of draws from the posterior
  greedy,       // one tree, merged or divided greedily: a point estimate
  variational,  // one local optimum of a lower bound
};

/// "mcmc", "greedy", "variational".
std::string_view method_name(Method method);

/// A simple classifier that classifiers are compared with. Error{stopped} when stop is set.
struct LabelBaseline {
  std::string name;  // as in coppice crossvalidate --models
  /// Fits the baseline to rows with known labels.
  std::unique_ptr<Classifier> (*fit)(const LabeledRows&, std::uint64_t seed, std::size_t threads,
                                     const std::atomic<bool>* stop);
};

/// A trace by which a draw can be selected as the reported hierarchy.
struct TraceSelection {
  std::string name;   // as in --select
  std::string trace;  // the trace that is maximized
};

/// A model as the rest of the program sees it. Callers ask what it can do (runs_once(), has_views(), ...) and
/// never compare the model's name.
struct ModelEntry {
  std::string name = {};                   // as on the command line
  std::string summary = {};                // one line for users
  Method method = Method::mcmc;            // how it is fitted
  std::vector<Parameter> parameters = {};  // its flags, settings and keyword arguments
  /// The traces, in the order in which draws store them; the first is log_joint.
  std::vector<TraceInfo> (*traces)(const ParameterValues&) = nullptr;
  /// Number of nested levels of clusters.
  std::size_t (*levels)(const ParameterValues&) = [](const ParameterValues&) -> std::size_t { return 1; };
  /// Makes the inference of one chain or fit.
  std::unique_ptr<Inference> (*make_inference)(const Problem&) = nullptr;
  /// Makes the predictor of its draws.
  std::unique_ptr<Predictor> (*make_predictor)(const Problem&) = nullptr;
  /// For a model that learns labels: makes the classifier from the payload of its draw.
  std::unique_ptr<Classifier> (*make_classifier)(const Problem&, std::string_view payload) = nullptr;
  /// Bytes that one chain needs besides the data, for the estimate before a run.
  std::size_t (*chain_bytes)(const Problem&) = nullptr;
  /// Throws Error{configuration} if given settings exclude each other.
  void (*check_given)(const Settings&) = nullptr;
  /// Why draws with these settings do not come from the posterior of a model, as a sentence; empty if they
  /// do.
  std::string (*inexactness_note)(const ParameterValues&) = [](const ParameterValues&) {
    return std::string();
  };
  /// Chooses from the data what the settings leave open.
  Resolution (*resolve)(const Problem&, const Settings& given, std::uint64_t seed,
                        std::size_t threads) = nullptr;
  /// For a fit that runs once: the largest number of steps.
  std::size_t (*max_steps)(const Problem&) = nullptr;
  /// The tree over the rows that guides the moves of a chain, by seed and chain of the name. Throws
  /// Error{configuration} if these settings have none.
  RowTree (*guide)(const Problem&, const StreamName&) = nullptr;
  /// The tree over the rows in the payload of a draw, or the forest of a stopped fit.
  Dendrogram (*row_tree)(const Problem&, std::string_view payload) = nullptr;
  /// The views of the columns in the payload of a draw.
  Views (*views)(const Problem&, std::string_view payload) = nullptr;
  /// The tree over the columns (cells), with the trees over the rows, in the payload of a draw.
  CrossTree (*column_tree)(const Problem&, std::string_view payload) = nullptr;
  /// A lower bound on the log evidence of the data.
  double (*evidence_bound)(const Problem&) = nullptr;
  /// The concentration of the partition of the rows (at the coarsest level), whose Gamma prior
  /// --expect-clusters gives; empty: the model has no such setting.
  std::string row_concentration = {};
  /// The Chinese restaurant process that alone seats the rows at the coarsest level, by its concentration;
  /// nothing where (or with settings under which) that is another law.
  std::optional<Concentration> (*row_seating)(const ParameterValues&) =
      [](const ParameterValues&) -> std::optional<Concentration> { return std::nullopt; };
  /// Why rows cannot have weights (TiedCopies) with these settings, as the rest of a sentence that begins
  /// with the name of the model; empty if they can. Null: they never can.
  std::string (*refuses_weights)(const ParameterValues&) = nullptr;
  /// The only family it works with; empty: any.
  std::string family = {};
  /// Whether --family auto models real columns as independent within a cluster.
  bool independent_columns = false;
  /// Whether rows can be added to a fit later (Inference::load_first, insert).
  bool supports_incremental_rows = false;
  /// Whether its predictor is a NewCells: draws new rows, imputes their cells and predicts new columns.
  bool predicts_new_cells = false;
  /// The trace that scores held-out rows, shown with the progress; empty: none.
  std::string held_out_trace = {};
  std::vector<LabelBaseline> label_baselines = {};  // of a classifier: what it is compared with
  std::vector<TraceSelection> selections = {};      // ways to select a draw as the reported hierarchy

  /// What its chains do with the family; nullptr: they use it as it is, with all settings. If they learn
  /// hyper-parameters, the family's hyper_traces come after the model's own traces.
  ChainAbilities (*abilities)(const ParameterValues&) = nullptr;

  /// A fit is one chain with one draw: its state when it ends or is stopped.
  bool runs_once() const { return method != Method::mcmc; }
  /// The fit is one greedy tree over the rows (or over the columns, with trees over the rows).
  bool is_greedy() const { return method == Method::greedy; }
  /// Learns to predict labels; it has no draws of clusters to summarize.
  bool learns_labels() const { return make_classifier != nullptr; }
  /// Divides the columns into views, each with row clusters of its own.
  bool has_views() const { return views != nullptr; }
  /// Its draws contain a tree over the rows.
  bool has_row_tree() const { return row_tree != nullptr; }
  /// Its draws contain a tree over the columns.
  bool has_column_tree() const { return column_tree != nullptr; }
  /// Its moves may be guided by a tree over the rows.
  bool has_guide() const { return guide != nullptr; }
  /// Chooses hyper-parameters that were not given by a lower bound on the evidence.
  bool chooses_by_evidence() const { return evidence_bound != nullptr; }
  /// Settings may be left to the model ("auto").
  bool resolves_settings() const { return resolve != nullptr; }
  /// Its predictor draws new rows, imputes their cells and predicts new columns.
  bool has_new_cells() const { return predicts_new_cells; }
  /// The prior of its number of clusters can be given (--expect-clusters).
  bool has_row_concentration() const { return !row_concentration.empty(); }
  /// Rows may have weights, with some settings at least.
  bool takes_weights() const { return refuses_weights != nullptr; }
  /// With some settings its chains learn the family's hyper-parameters or fill in missing cells.
  bool adapts_family() const { return abilities != nullptr; }
  /// Draws of its prior are views with row clusters of their own.
  bool draws_views() const { return has_views() && !is_greedy(); }
  /// One of its traces scores held-out rows.
  bool has_held_out_trace() const { return !held_out_trace.empty(); }

  /// What chains with these settings do with the family.
  ChainAbilities abilities_with(const ParameterValues& values) const {
    return adapts_family() ? abilities(values) : ChainAbilities{};
  }

  /// Names of the model's own traces, in order.
  std::vector<std::string> trace_names(const ParameterValues& values) const {
    std::vector<std::string> names;
    for (TraceInfo& trace : traces(values)) names.push_back(std::move(trace.name));
    return names;
  }
};

/// Names of the trace values of a problem: the model's own, then those of what its family learns.
inline std::vector<std::string> trace_names(const ModelEntry& model, const Problem& problem) {
  std::vector<std::string> names = model.trace_names(problem.parameters);
  if (!model.abilities_with(problem.parameters).learns_hyper) return names;
  for (std::string& name : problem.family->hyper_trace_names()) names.push_back(std::move(name));
  return names;
}

}  // namespace coppice
