// The state of one chain: a tree with discriminants, the component of every row, and the component weights of
// the inner nodes. Weights of leaves and parameters of components are integrated out unless the options ask
// for them. A weight row has one cell for each slot of the components (zero where the slot is empty) and the
// remainder, the mass of all components without rows, beside it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coppice/base/aligned.hpp"
#include "coppice/base/rng.hpp"
#include "coppice/cluster/clusters.hpp"
#include "coppice/cluster/filled_rows.hpp"
#include "coppice/model/model.hpp"
#include "coppice/model/rbhmc/margins.hpp"
#include "coppice/model/rbhmc/options.hpp"
#include "coppice/shape/level_tree.hpp"

namespace coppice::rbhmc {

/// Where a row sits or shall sit: in a leaf, or in a new branch below an inner node.
struct Position {
  NodeId node = LevelTree::kNone;
  bool is_branch = false;
  bool operator==(const Position&) const = default;
};

inline constexpr Label kNewComponent = -2;

/// What the nodes of a branch of one row carry, from its topmost node down to the leaf.
struct Branch {
  std::vector<AlignedVector> weights;  // empty for a leaf whose weights are integrated out
  std::vector<double> rest;
  std::vector<AlignedVector> eta;
  std::size_t nodes = 0;
};

/// Where a row was before it was taken out.
struct Detached {
  Position position;
  Label component = kNewComponent;  // or the slot that still has other rows
  double hinge_of_others = 0.0;     // what its branch, if it had one of its own, added to the others' hinges
};

class State {
 public:
  State(const Problem& problem, const Options& options);

  const Options& options() const { return options_; }
  const LevelTree& tree() const { return tree_; }
  LevelTree& tree() { return tree_; }
  const Margins& margins() const { return margins_; }
  Margins& margins() { return margins_; }
  const Clusters& components() const { return components_; }
  std::size_t rows() const { return tree_.rows(); }
  double alpha() const { return alpha_; }
  double gamma() const { return gamma_; }
  double gamma0() const { return gamma0_; }
  void set_concentrations(double alpha, double gamma, double gamma0) {
    alpha_ = alpha;
    gamma_ = gamma;
    gamma0_ = gamma0;
  }

  // Hyper-parameters of the components' family, where they are learned: then the state owns a family.
  bool learns_hyper() const { return own_family_ != nullptr; }
  const Family& family() const { return *family_; }
  /// Hyper-parameters and missing cells back to where a chain begins: to be followed by clear().
  void reset_learned();
  /// From the prior: to be followed by clear().
  void draw_hyper_prior(Stream& stream);
  /// One update given the components, with parameters integrated out; drawn parameters are void after this.
  void update_hyper(Stream& stream);

  // Missing cells of families that need complete rows are filled in; the values are part of the state. A row
  // that changes its component does so with its missing cells integrated out, and they are drawn afterwards;
  // where parameters are drawn, they are drawn once in a sweep.
  const FilledRows& filled() const { return *filled_; }
  /// Draws the cells of all incomplete rows given their components, with parameters integrated out; drawn
  /// parameters are void after this.
  void redraw_missing(const StreamName& name);
  /// Takes the cells of complete rows: to be followed by data_changed().
  void adopt(const Rows& complete) { filled_->adopt(complete); }

  /// Length of a weight row; cells behind the slots are zero.
  std::size_t stride() const { return stride_; }
  std::size_t slots() const { return components_.sizes().size(); }
  const double* weights(NodeId node) const { return weights_.data() + node * stride_; }
  double* weights(NodeId node) { return weights_.data() + node * stride_; }
  double rest(NodeId node) const { return rest_[node]; }
  /// Rows of each component in a leaf; during a pass, customers of each dish at an inner node.
  const double* counts(NodeId node) const { return counts_.data() + node * stride_; }
  double* counts(NodeId node) { return counts_.data() + node * stride_; }
  /// Tables of each dish at a node, during a pass.
  const double* tables(NodeId node) const { return tables_.data() + node * stride_; }
  double* tables(NodeId node) { return tables_.data() + node * stride_; }
  bool has_weights(NodeId node) const { return options_.drawn_leaf_weights || !tree_.is_leaf(node); }

  /// Densities of the row under all components, itself left out, relative to the largest: density()[slot]
  /// and density_new(). The row may be attached or not.
  void load_densities(std::size_t row);
  /// The same with the parameters of all components as they stand, the row's own among them.
  void load_densities_as_published(std::size_t row);
  /// One for all: data without a say.
  void load_flat_densities();
  const double* density() const { return density_.data(); }
  double density_new() const { return density_new_; }
  /// Slots whose density is not negligible.
  std::span<const std::uint32_t> dense_slots() const { return dense_slots_; }
  const double* log_density() const { return log_density_.data(); }
  double log_density_new() const { return log_density_new_; }

  /// Takes the row out of the tree; its own branch goes, and its component if nothing else is in it. The
  /// discriminant of the branch is kept in old_eta().
  Detached detach(std::size_t row);
  const double* old_eta() const { return old_eta_.data(); }
  /// Puts a row in, with everything that is new drawn from its conditional: `eta` is the discriminant of a
  /// new branch.
  void attach(std::size_t row, const Position& position, Label component, const double* eta, Stream& stream,
              Stream& discriminants);
  /// The same for the tree alone: the component stays, and a branch goes and comes with all it carries.
  Position detach_from_tree(std::size_t row, Branch& branch);
  void attach_to_tree(std::size_t row, const Position& position, const Branch& branch);
  /// A branch below the node, top-down: discriminants from the prior, weights given those of the parent and,
  /// unless negative, one customer of `component`.
  void draw_branch(NodeId node, Label component, Stream& stream, Stream& discriminants, Branch& branch);
  /// Gives an attached row's component free (the tree stays): the first half of redrawing it alone.
  Label release_component(std::size_t row);
  void take_component(std::size_t row, Label component, Stream& stream);

  /// Redraws the weights: table counts from the leaves up, Dirichlet draws from the root down. `at_level` is
  /// called for each level from the leaves up, after the counts of its nodes are known and before their
  /// tables are drawn: the place for moves that change the tree. `after_tables` is called when all tables are
  /// known: the place for moves that change components.
  void pass(Stream& stream, const std::function<void(std::size_t level)>& at_level,
            const std::function<void()>& after_tables, Stream* concentrations);
  /// Components alone, inside a pass: counts and tables are the caller's. Returns the new slot.
  Label split_component(Label slot, std::span<const std::uint32_t> members_of_new);
  void merge_components(Label kept, Label gone) { components_.merge(kept, gone); }
  void draw_thetas(Stream& stream);
  const double* theta(Label slot) const {
    return thetas_.data() + static_cast<std::size_t>(slot) * components_.family().theta_size();
  }

  /// Rows of counts_ for nodes made during a pass.
  void fit_nodes();
  void clear_node(NodeId node);

  /// All rows out, weights of the root alone.
  void clear();
  /// The data have changed under the same shape.
  void data_changed();

  /// log p(tree) + sum over leaves log p(components in the leaf | weights above) + log marginals + log prior
  /// of learned hyper-parameters.
  double log_collapsed() const;
  double log_collapsed_from_scratch() const;
  double hinge() const {
    return margins_.active() ? margins_.total(tree_) : margins_.total_from_scratch(tree_);
  }
  /// The complete-data log likelihood with leaf weights and parameters drawn.
  double draw_log_complete(Stream& stream) const;

  void rebuild();
  std::string save() const;
  void load(std::string_view bytes);
  /// Components, weights and discriminants of a draw, for prediction.
  std::string payload() const;

  /// Throws Error{bug} unless every kept number equals its recomputation.
  void audit() const;

 private:
  void weigh_alone();
  void load_densities_of_present(std::size_t row);
  void fit_slots();
  void new_column(Label slot, NodeId deepest, Stream& stream);
  void drop_column(Label slot);
  /// Dirichlet(gamma parent + counts + one customer of `extra`).
  void draw_row(const double* parent, double parent_rest, const double* counts, Label extra, Stream& stream,
                double* row, double& rest);
  void draw_concentrations(Stream& stream);
  void set_component(std::size_t row, Label component, NodeId deepest, Stream& stream);
  void prepare_densities();
  void scale_densities();
  std::vector<NodeId> canonical_nodes() const;
  std::vector<Label> canonical_slots(Labels& labels) const;

  Options options_;
  const Family* initial_family_;        // from which learning begins
  std::unique_ptr<Family> own_family_;  // if hyper-parameters are learned
  const Family* family_;                // the one that is in use
  std::unique_ptr<FilledRows> filled_;
  const Rows* data_;  // the rows that components see
  double alpha_, gamma_, gamma0_;
  LevelTree tree_;
  Margins margins_;
  std::vector<double> no_prior_;  // the components' weight of joining: none of our business
  Clusters components_;
  std::size_t stride_ = kLanes;
  AlignedVector weights_, counts_, tables_;
  std::vector<double> rest_;
  std::vector<double> thetas_;
  std::vector<double> log_alone_;
  std::vector<const double*> occupied_;  // of update_hyper
  std::vector<double> before_, others_;
  AlignedVector density_, log_density_;
  std::vector<std::uint32_t> dense_slots_;
  double density_new_ = 0.0, log_density_new_ = 0.0;
  AlignedVector old_eta_;
  std::vector<char> on_path_;
  std::vector<double> shapes_, drawn_;
  Branch branch_;
  double branch_hinge_ = 0.0;  // what the branch that went last had added to the hinges of others
};

}  // namespace coppice::rbhmc
