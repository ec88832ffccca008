// How a state is written down, read back and checked.
#include <algorithm>
#include <cmath>
#include <limits>

#include "coppice/base/byte_stream.hpp"
#include "coppice/base/error.hpp"
#include "coppice/model/rbhmc/state.hpp"

namespace coppice::rbhmc {

/// Nodes by level, and within it by first row: the order of LevelTree::assign.
std::vector<NodeId> State::canonical_nodes() const {
  std::vector<NodeId> nodes{LevelTree::kRoot};
  std::vector<char> seen(tree_.capacity(), 0);
  for (std::size_t level = 1; level <= tree_.depth(); ++level)
    for (std::size_t row = 0; row < rows(); ++row) {
      const NodeId node = tree_.ancestor(tree_.leaf(row), level);
      if (seen[node] != 0) continue;
      seen[node] = 1;
      nodes.push_back(node);
    }
  return nodes;
}

/// Occupied slots by first row; the labels become their numbers.
std::vector<Label> State::canonical_slots(Labels& labels) const {
  labels.assign(components_.labels().begin(), components_.labels().end());
  std::vector<Label> order;
  std::vector<Label> number(slots(), -1);
  for (Label& label : labels) {
    Label& known = number[static_cast<std::size_t>(label)];
    if (known < 0) {
      known = static_cast<Label>(order.size());
      order.push_back(label);
    }
    label = known;
  }
  return order;
}

std::string State::save() const {
  ByteWriter bytes;
  bytes.put(alpha_);
  bytes.put(gamma_);
  bytes.put(gamma0_);
  if (options_.learns_discriminant_sd) bytes.put(margins_.sd());
  std::vector<double> hyper(family_->hyper_size());
  family_->get_hyper(hyper.data());
  bytes.put(hyper.data(), hyper.size());
  std::vector<double> cells(filled_->cells_size());
  filled_->get_cells(cells.data());
  bytes.put(cells.data(), cells.size());
  Labels components;
  const std::vector<Label> order = canonical_slots(components);
  for (const NodeId node : canonical_nodes()) {
    if (node != LevelTree::kRoot) bytes.put(margins_.eta(node), margins_.dimension());
    if (!has_weights(node)) continue;
    for (const Label slot : order) bytes.put(weights(node)[static_cast<std::size_t>(slot)]);
    bytes.put(rest_[node]);
  }
  if (options_.drawn_theta)
    for (const Label slot : order) bytes.put(theta(slot), family_->theta_size());
  bytes.put(components.data(), components.size());
  Labels labels(rows() * tree_.depth());
  tree_.labels(labels);
  bytes.put(labels.data(), labels.size());
  return bytes.take();
}

void State::load(std::string_view bytes) {
  // The labels come last, because their length is known and that of the rest follows from it.
  const std::size_t tail = rows() * (tree_.depth() + 1) * sizeof(Label);
  if (bytes.size() < tail + 3 * sizeof(double)) fail(ErrorCode::bad_data, "the checkpoint is too short");
  ByteReader end(bytes.substr(bytes.size() - tail));
  Labels components(rows()), labels(rows() * tree_.depth());
  end.get(components.data(), components.size());
  end.get(labels.data(), labels.size());
  std::size_t count = 0;
  for (const Label label : components) {
    if (label < 0 || static_cast<std::size_t>(label) > count)
      fail(ErrorCode::bad_data, "the checkpoint has the component {} after {} others", label, count);
    count = std::max(count, static_cast<std::size_t>(label) + 1);
  }
  for (const Label label : labels)
    if (label < 0) fail(ErrorCode::bad_data, "the checkpoint has the label {}", label);
  ByteReader begin(bytes.substr(0, bytes.size() - tail));
  const auto alpha = begin.get<double>();
  const auto gamma = begin.get<double>();
  const auto gamma0 = begin.get<double>();
  for (const double value : {alpha, gamma, gamma0}) check_concentration(value);
  if (options_.learns_discriminant_sd) {
    const auto sd = begin.get<double>();
    if (!(sd > 0.0 && std::isfinite(sd)))
      fail(ErrorCode::bad_data, "the checkpoint has the standard deviation {} of discriminants", sd);
    margins_.set_sd(sd);
  }
  std::vector<double> hyper(family_->hyper_size());
  begin.get(hyper.data(), hyper.size());
  std::vector<double> cells(filled_->cells_size());
  begin.get(cells.data(), cells.size());
  for (const double cell : cells)
    if (!std::isfinite(cell))
      fail(ErrorCode::bad_data, "the checkpoint has a filled cell that is not a number");
  set_concentrations(alpha, gamma, gamma0);
  if (own_family_) {
    own_family_->set_hyper(hyper.data());
    weigh_alone();
  }
  if (filled_->any()) {
    filled_->reset();
    filled_->set_cells(cells);
    weigh_alone();
  }
  clear();
  tree_.assign(labels);
  components_.assign(components);
  fit_nodes();
  fit_slots();
  for (NodeId node = 0; node < tree_.capacity(); ++node) {
    clear_node(node);
    if (node != LevelTree::kRoot) {
      begin.get(margins_.eta(node), margins_.dimension());
      std::fill(margins_.eta(node) + margins_.dimension(), margins_.eta(node) + margins_.stride(), 0.0);
    }
    if (!has_weights(node)) continue;
    begin.get(weights(node), count);
    begin.get(&rest_[node], 1);
  }
  if (options_.drawn_theta) {
    thetas_.resize(count * family_->theta_size());
    begin.get(thetas_.data(), thetas_.size());
  }
  begin.end();
  for (std::size_t row = 0; row < rows(); ++row)
    counts(tree_.leaf(row))[static_cast<std::size_t>(components_.label(row))] += 1.0;
  if (margins_.active()) margins_.refresh_all(tree_);
}

void State::rebuild() { load(save()); }

std::string State::payload() const {
  // Discriminants without a say are noise. A weight that is not zero stays so in single precision.
  const std::size_t dimension = margins_.has_discriminants() ? margins_.dimension() : 0;
  const auto narrow = [](double weight) {
    return weight > 0.0 ? std::max(static_cast<float>(weight), std::numeric_limits<float>::min()) : 0.0F;
  };
  ByteWriter bytes;
  Labels components;
  const std::vector<Label> order = canonical_slots(components);
  bytes.put(static_cast<std::uint64_t>(order.size()));
  bytes.put(static_cast<std::uint64_t>(dimension));
  bytes.put(components.data(), components.size());
  for (const NodeId node : canonical_nodes()) {
    if (node != LevelTree::kRoot)
      for (std::size_t i = 0; i < dimension; ++i) bytes.put(static_cast<float>(margins_.eta(node)[i]));
    if (tree_.is_leaf(node)) continue;
    for (const Label slot : order) bytes.put(narrow(weights(node)[static_cast<std::size_t>(slot)]));
    bytes.put(narrow(rest_[node]));
  }
  std::vector<double> hyper(family_->hyper_size());
  family_->get_hyper(hyper.data());
  bytes.put(hyper.data(), hyper.size());
  std::vector<double> cells(filled_->cells_size());
  filled_->get_cells(cells.data());
  for (const double cell : cells) bytes.put(static_cast<float>(cell));
  return bytes.take();
}

void State::audit() const {
  const auto expect = [](bool good, const char* what) {
    if (!good) fail(ErrorCode::bug, "rbhmc: {}", what);
  };
  const auto close = [](double a, double b) {
    return a == b || std::abs(a - b) <= 1e-8 * std::max({1.0, std::abs(a), std::abs(b)});
  };
  std::vector<double> members(slots());
  for (std::size_t level = 0; level <= tree_.depth(); ++level)
    for (const NodeId node : tree_.at_level(level)) {
      expect(tree_.size(node) > 0, "a node is empty");
      std::size_t below = 0;
      for (const NodeId child : tree_.children(node)) below += tree_.size(child);
      expect(level == tree_.depth() || below == tree_.size(node), "a node's size is not its children's");
      if (has_weights(node)) {
        double sum = rest_[node];
        for (std::size_t k = 0; k < stride_; ++k) {
          expect(weights(node)[k] >= 0.0, "a weight is negative");
          expect(k < slots() && components_.sizes()[k] > 0 ? true : weights(node)[k] == 0.0,
                 "an empty component has weight");
          sum += weights(node)[k];
        }
        expect(rest_[node] >= 0.0 && std::abs(sum - 1.0) < 1e-9, "weights do not sum to one");
      }
      if (level < tree_.depth()) continue;
      std::fill(members.begin(), members.end(), 0.0);
      for (const std::uint32_t row : tree_.members(node)) {
        expect(tree_.leaf(row) == node, "a row is not in its leaf");
        members[static_cast<std::size_t>(components_.label(row))] += 1.0;
      }
      for (std::size_t k = 0; k < slots(); ++k) {
        expect(members[k] == counts(node)[k], "a leaf's counts are not its members'");
        for (NodeId above = tree_.parent(node); members[k] > 0.0 && above != LevelTree::kNone;
             above = tree_.parent(above))
          expect(weights(above)[k] > 0.0, "a component in use has no weight");
      }
    }
  if (!margins_.active()) return;
  if (margins_.by_evidence()) {
    const SplitEvidence& evidence = margins_.evidence();
    SplitEvidence::Group group;
    for (std::size_t level = 0; level <= tree_.depth(); ++level)
      for (const NodeId node : tree_.at_level(level)) {
        evidence.clear(group);
        tree_.for_each_row_below(
            node, [&](std::uint32_t row) { evidence.add_row(group, row, margins_.feature_rows()); });
        expect(evidence.is_near(node, group), "a node's sums are stale");
      }
    return;
  }
  if (margins_.gated()) {
    for (std::size_t level = 0; level < tree_.depth(); ++level)
      for (const NodeId parent : tree_.at_level(level))
        tree_.for_each_row_below(parent, [&](std::uint32_t row) {
          double sum = 0.0;
          for (const NodeId child : tree_.children(parent)) {
            const double score = bounded_score(margins_.eta(child), margins_.feature(row), margins_.stride());
            expect(close(score, margins_.gates().score(child, row)), "a gate's score is stale");
            sum += static_cast<double>(tree_.size(child)) * std::exp(score);
          }
          expect(close(std::log(sum), std::log(margins_.gates().sum(level + 1, row))),
                 "a gate's sum is stale");
        });
    return;
  }
  LevelScores scores(tree_.depth());
  for (std::size_t row = 0; row < rows(); ++row) {
    margins_.scores_at(row, tree_, tree_.leaf(row), nullptr, scores);
    for (std::size_t level = 0; level < tree_.depth(); ++level) {
      expect(close(scores.own[level], margins_.own(row)[level]), "an own score is stale");
      expect(close(scores.best[level], margins_.best(row)[level]), "a sibling's score is stale");
      const NodeId rival = margins_.rival(row)[level];
      expect((rival == LevelTree::kNone) == (scores.rival[level] == LevelTree::kNone), "a rival is missing");
      expect(rival == LevelTree::kNone || close(margins_.score(margins_.eta(rival), row), scores.best[level]),
             "a rival is not the best sibling");
    }
  }
}

}  // namespace coppice::rbhmc
