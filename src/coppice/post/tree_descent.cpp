#include "coppice/post/tree_descent.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "coppice/post/hierarchy.hpp"

namespace coppice {
namespace {

constexpr std::size_t kCellsOfALevel = 12'000'000;  // of one level: 150 MB
constexpr std::size_t kMostPasses = 30;

std::span<Label> writable_level(std::span<Label> labels, std::size_t rows, std::size_t level) {
  return labels.subspan((level - 1) * rows, rows);
}

std::size_t count_clusters(std::span<const Label> labels) {
  return static_cast<std::size_t>(*std::max_element(labels.begin(), labels.end())) + 1;
}

}  // namespace

TreeLoss::TreeLoss(const TreeDraws& draws, Loss loss, std::size_t most_draws) {
  for (const LabelMatrix& level : draws.levels)
    levels_.push_back(std::make_unique<Level>(level, loss, most_draws));
}

std::size_t TreeLoss::rows() const { return levels_.front()->draws.rows(); }

double TreeLoss::operator()(std::span<const Label> labels) {
  double sum = 0.0;
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    const std::span<const Label> here = level_of(labels, rows(), l + 1);
    sum += levels_[l]->loss(here, count_clusters(here));
  }
  return sum / static_cast<double>(levels_.size());
}

TreeDescent::TreeDescent(const TreeDraws& draws, Loss loss, std::size_t most_draws)
    : loss_(draws, loss, most_draws),
      slot_(loss_.levels()),
      parent_(loss_.levels()),
      cost_(loss_.levels()),
      most_clusters_(loss_.levels()),
      place_(loss_.levels()) {
  for (std::size_t l = 0; l < loss_.levels(); ++l) descents_.emplace_back(loss_.at(l), 0, kCellsOfALevel);
}

bool TreeDescent::improve(Labels& labels, double& work) {
  for (std::size_t l = 0; l < descents_.size(); ++l)
    most_clusters_[l] = count_clusters(level_of(labels, loss_.rows(), l + 1));
  bool changed = false;
  for (std::size_t pass = 0; pass < kMostPasses && work > 0.0; ++pass) {
    if (build(labels) && move_rows(labels, work)) {
      changed = true;
      continue;
    }
    if (!join_siblings(labels, work)) break;
    changed = true;
  }
  return changed;
}

bool TreeDescent::build(std::span<const Label> labels) {
  const std::size_t rows = loss_.rows();
  for (std::size_t l = 0; l < descents_.size(); ++l) {
    const std::span<const Label> here = level_of(labels, rows, l + 1);
    if (!descents_[l].build(here)) return false;
    slot_[l].assign(here.begin(), here.end());
    parent_[l].assign(descents_[l].slots(), 0);
    for (std::size_t row = 0; l > 0 && row < rows; ++row) parent_[l][slot_[l][row]] = slot_[l - 1][row];
  }
  return true;
}

void TreeDescent::find_place(std::size_t row) {
  const std::size_t levels = descents_.size();
  const auto empty_slot = [&](std::size_t l) {
    std::size_t used = 0;
    std::size_t empty = kNewNode;
    for (std::size_t k = descents_[l].slots(); k-- > 0;) {
      if (descents_[l].size(k) > 0)
        ++used;
      else
        empty = k;
    }
    return used < most_clusters_[l] ? empty : kNewNode;
  };
  // What an empty cluster costs at each level, summed from below; infinite where none is left.
  std::vector<double> branch(levels + 1, 0.0);
  for (std::size_t l = levels; l-- > 0;) {
    descents_[l].costs(row, slot_[l][row], cost_[l]);
    const std::size_t empty = empty_slot(l);
    branch[l] =
        branch[l + 1] + (empty == kNewNode ? std::numeric_limits<double>::infinity() : cost_[l][empty]);
  }
  double best = branch[0];  // a new branch at the root
  std::size_t depth = 0;    // levels of the path that exist
  std::size_t end = kNewNode;
  for (std::size_t l = 0; l < levels; ++l)
    for (std::size_t k = 0; k < descents_[l].slots(); ++k) {
      if (descents_[l].size(k) == 0) continue;
      if (l > 0) cost_[l][k] += cost_[l - 1][parent_[l][k]];
      const double cost = cost_[l][k] + branch[l + 1];
      if (cost >= best) continue;
      best = cost;
      depth = l + 1;
      end = k;
    }
  gain_ = cost_[levels - 1][slot_[levels - 1][row]] - best;
  for (std::size_t l = levels; l-- > 0;) {
    place_[l] = l < depth ? end : kNewNode;
    if (l < depth) end = parent_[l][end];
  }
  for (std::size_t l = depth; l < levels; ++l) place_[l] = empty_slot(l);
}

bool TreeDescent::move_rows(Labels& labels, double& work) {
  const std::size_t rows = loss_.rows();
  bool moved = false;
  for (std::size_t row = 0; row < rows && work > 0.0; ++row) {
    for (const Descent& descent : descents_) work -= descent.work_per_row();
    find_place(row);
    if (gain_ < kLeastGain) continue;
    for (std::size_t l = 0; l < descents_.size(); ++l) {
      const std::size_t from = std::exchange(slot_[l][row], place_[l]);
      if (l > 0) parent_[l][place_[l]] = place_[l - 1];
      if (from != place_[l]) descents_[l].move(row, from, place_[l]);
    }
    moved = true;
  }
  if (!moved) return false;
  for (std::size_t l = 0; l < descents_.size(); ++l) {
    const std::span<Label> here = writable_level(labels, rows, l + 1);
    std::transform(slot_[l].begin(), slot_[l].end(), here.begin(),
                   [](std::size_t slot) { return static_cast<Label>(slot); });
    canonicalize(here);
  }
  return true;
}

bool TreeDescent::join_siblings(Labels& labels, double& work) {
  const std::size_t rows = loss_.rows();
  bool joined = false;
  for (std::size_t l = 0; l < descents_.size() && work > 0.0; ++l) {
    const std::span<Label> here = writable_level(labels, rows, l + 1);
    while (work > 0.0) {
      const std::size_t clusters = count_clusters(here);
      std::vector<Label> parent(clusters, 0);
      for (std::size_t row = 0; l > 0 && row < rows; ++row)
        parent[static_cast<std::size_t>(here[row])] = labels[(l - 1) * rows + row];
      double best = loss_.at(l)(here, clusters) - kLeastGain;
      Labels best_labels;
      for (std::size_t a = 0; a < clusters && work > 0.0; ++a)
        for (std::size_t b = a + 1; b < clusters && work > 0.0; ++b) {
          if (parent[a] != parent[b]) continue;
          Labels trial(here.begin(), here.end());
          std::replace(trial.begin(), trial.end(), static_cast<Label>(b), static_cast<Label>(a));
          work -= static_cast<double>(rows * loss_.draws(l).size());
          const double value = loss_.at(l)(trial, canonicalize(trial), best);
          if (value >= best) continue;
          best = value;
          best_labels = std::move(trial);
        }
      if (best_labels.empty()) break;
      std::copy(best_labels.begin(), best_labels.end(), here.begin());
      joined = true;
    }
  }
  return joined;
}

}  // namespace coppice
