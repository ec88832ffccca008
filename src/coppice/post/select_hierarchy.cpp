#include "coppice/post/select_hierarchy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "coppice/base/error.hpp"
#include "coppice/model/registry.hpp"
#include "coppice/post/tree_descent.hpp"
#include "coppice/shape/contingency.hpp"

namespace coppice {
namespace {

constexpr std::size_t kCandidates = 256;  // sampled trees compared with the references
constexpr std::size_t kReferences = 64;
constexpr std::size_t kExactCandidates = 16;  // the best of them, compared with all draws
constexpr std::size_t kImproved = 3;
constexpr double kSmallTreeWork = 3e7;    // labels read; below it every candidate is compared with all draws
constexpr double kTreeScreenWork = 6e8;   // labels read in screening
constexpr double kTreeDescentWork = 3e9;  // table cells read in all improvements together
constexpr std::size_t kLeastTreeDraws = 16;  // that an improvement looks at, however large the data
constexpr double kCredibility = 0.95;

struct TreeCandidate {
  std::size_t draw = 0;
  Labels labels;
  double loss = 0.0;
};

void sort_by_loss(std::vector<TreeCandidate>& candidates) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const TreeCandidate& a, const TreeCandidate& b) { return a.loss < b.loss; });
}

std::vector<TreeCandidate> distinct_trees(const TreeDraws& draws, std::size_t most) {
  std::vector<TreeCandidate> candidates;
  const std::size_t count = std::min(most, draws.draws());
  for (std::size_t t = 0; t < count; ++t) {
    const std::size_t draw = spaced(t, count, draws.draws());
    candidates.push_back({draw, draws.tree(draw), 0.0});
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const TreeCandidate& a, const TreeCandidate& b) { return a.labels < b.labels; });
  candidates.erase(
      std::unique(candidates.begin(), candidates.end(),
                  [](const TreeCandidate& a, const TreeCandidate& b) { return a.labels == b.labels; }),
      candidates.end());
  std::sort(candidates.begin(), candidates.end(),
            [](const TreeCandidate& a, const TreeCandidate& b) { return a.draw < b.draw; });
  return candidates;
}

double smallest_bound(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const auto place = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size()) - 1e-9));
  return values[std::clamp<std::size_t>(place, 1, values.size()) - 1];
}

void judge(SelectedHierarchy& selected, const TreeDraws& draws) {
  const std::vector<double> all = tree_losses(draws, selected.labels, loss_of(selected.selection));
  selected.expected_loss = std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
  selected.ball_radius = smallest_bound(all, kCredibility);
  selected.draws_used = draws.draws();
}

void check_there_are_draws(const TreeDraws& draws) {
  if (draws.levels.empty() || draws.draws() == 0)
    fail(ErrorCode::usage, "a hierarchy cannot be selected: there are no draws");
}

/// The place of the trace.
std::size_t trace_of(Selection selection, const SavedRun& run) {
  const std::vector<std::string>& names = run.trace_names();
  for (const ModelEntry& model : all_models())
    for (const TraceSelection& offered : model.selections) {
      const auto found = std::find(names.begin(), names.end(), offered.trace);
      if (offered.name == selection.name() && found != names.end())
        return static_cast<std::size_t>(found - names.begin());
    }
  fail(ErrorCode::configuration, "the model {} has no trace '{}' to select by; it has {}", run.model().name,
       selection.name(), fmt::join(names, ", "));
}

SelectedHierarchy highest_draw(const SavedRun& run, std::size_t trace) {
  const auto& values = run.traces()[trace];
  SelectedHierarchy selected;
  double best = -std::numeric_limits<double>::infinity();
  for (std::size_t chain = 0; chain < values.size(); ++chain)
    for (std::size_t draw = 0; draw < values[chain].size(); ++draw)
      if (values[chain][draw] > best) {
        best = values[chain][draw];
        selected.origin = {chain, draw};
      }
  run.for_each_draw(0, [&](const SavedDraw& saved) {
    if (saved.chain == selected.origin.chain && saved.draw == selected.origin.draw)
      selected.labels.assign(saved.labels.begin(), saved.labels.end());
  });
  return selected;
}

/// Whether the draw has a cluster at the level that consists of exactly these rows.
bool has_cluster(std::span<const Label> draw, std::span<const std::size_t> sizes,
                 std::span<const std::uint32_t> rows) {
  const Label label = draw[rows.front()];
  return sizes[static_cast<std::size_t>(label)] == rows.size() &&
         std::all_of(rows.begin(), rows.end(), [&](std::uint32_t row) { return draw[row] == label; });
}

}  // namespace

const std::vector<std::string>& selection_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list{"vi", "binder"};
    for (const ModelEntry& model : all_models())
      for (const TraceSelection& selection : model.selections)
        if (std::find(list.begin(), list.end(), selection.name) == list.end()) list.push_back(selection.name);
    return list;
  }();
  return names;
}

const std::string& Selection::name() const { return selection_names()[index_]; }

Selection selection_from_name(std::string_view name) {
  const std::vector<std::string>& names = selection_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    fail(ErrorCode::usage, "'{}' selects no hierarchy; use {}", name, fmt::join(names, ", "));
  return Selection(static_cast<std::size_t>(found - names.begin()));
}

Loss loss_of(Selection selection) { return selection == Selection::kBinder ? Loss::binder : Loss::vi; }

std::vector<double> tree_losses(const TreeDraws& draws, std::span<const Label> labels, Loss loss) {
  std::vector<double> sums(draws.draws(), 0.0);
  for (std::size_t level = 1; level <= draws.levels.size(); ++level) {
    const std::vector<double> part =
        losses(draws.levels[level - 1], level_of(labels, draws.rows(), level), loss);
    for (std::size_t d = 0; d < sums.size(); ++d) sums[d] += part[d];
  }
  for (double& sum : sums) sum /= static_cast<double>(draws.levels.size());
  return sums;
}

SelectedHierarchy nearest_tree(const TreeDraws& draws, Loss loss) {
  check_there_are_draws(draws);
  const auto labels_of_tree = static_cast<double>(draws.rows() * draws.levels.size());
  const double labels_of_draws = labels_of_tree * static_cast<double>(draws.draws());
  const auto affordable = std::max<std::size_t>(
      kExactCandidates, static_cast<std::size_t>(kTreeScreenWork / (labels_of_tree * kReferences)));
  std::vector<TreeCandidate> candidates = distinct_trees(draws, std::min(kCandidates, affordable));
  TreeLoss exact(draws, loss, draws.draws());
  if (labels_of_draws * static_cast<double>(candidates.size()) > kSmallTreeWork) {
    TreeLoss screen(draws, loss, kReferences);
    for (TreeCandidate& candidate : candidates) candidate.loss = screen(candidate.labels);
    sort_by_loss(candidates);
    const auto kept = static_cast<std::size_t>(kTreeScreenWork / labels_of_draws);
    candidates.resize(std::min(candidates.size(), std::clamp<std::size_t>(kept, 2, kExactCandidates)));
  }
  for (TreeCandidate& candidate : candidates) candidate.loss = exact(candidate.labels);
  sort_by_loss(candidates);

  SelectedHierarchy selected;
  selected.selection = loss == Loss::binder ? Selection::kBinder : Selection::kVi;
  selected.rows = draws.rows();
  selected.labels = candidates.front().labels;
  selected.origin = draws.origins[candidates.front().draw];
  double best = candidates.front().loss;
  double work = kTreeDescentWork;
  const auto most_draws = std::max<std::size_t>(
      kLeastTreeDraws, static_cast<std::size_t>(kTreeDescentWork / (labels_of_tree * 100.0)));
  TreeDescent descent(draws, loss, most_draws);
  candidates.resize(std::min(candidates.size(), kImproved));
  for (TreeCandidate& candidate : candidates) {
    if (!descent.improve(candidate.labels, work)) continue;
    const double improved = exact(candidate.labels);
    if (improved >= best) continue;
    best = improved;
    selected.labels = candidate.labels;
    selected.origin = draws.origins[candidate.draw];
    selected.improved = true;
  }
  judge(selected, draws);
  return selected;
}

SelectedHierarchy select_hierarchy(const SavedRun& run, const TreeDraws& draws, Selection selection) {
  check_there_are_draws(draws);
  if (selection.is_by_loss()) return nearest_tree(draws, loss_of(selection));
  SelectedHierarchy selected = highest_draw(run, trace_of(selection, run));
  selected.selection = selection;
  selected.rows = run.rows();
  judge(selected, draws);
  return selected;
}

std::vector<NodeSupport> node_support(const Hierarchy& tree, const TreeDraws& draws) {
  check_there_are_draws(draws);
  const std::size_t levels = draws.levels.size();
  std::vector<NodeSupport> support(tree.nodes.size());
  support.front() = {1.0, 1.0, 1.0};
  std::vector<std::size_t> first(levels + 2, tree.nodes.size());  // node of each level
  std::vector<Labels> own(levels, Labels(tree.rows));
  for (std::size_t place = tree.nodes.size(); place-- > 1;) first[tree.nodes[place].level] = place;
  for (std::size_t place = 1; place < tree.nodes.size(); ++place) {
    const HierarchyNode& node = tree.nodes[place];
    for (const std::uint32_t row : node.rows)
      own[node.level - 1][row] = static_cast<Label>(place - first[node.level]);
  }
  PairCounter counter;
  std::vector<std::vector<std::size_t>> sizes(levels);
  std::vector<double> best(tree.nodes.size());
  for (std::size_t d = 0; d < draws.draws(); ++d) {
    std::fill(best.begin(), best.end(), 0.0);
    for (std::size_t l = 0; l < levels; ++l) {
      const std::span<const Label> draw = draws.levels[l][d];
      sizes[l].assign(static_cast<std::size_t>(*std::max_element(draw.begin(), draw.end())) + 1, 0);
      for (const Label label : draw) ++sizes[l][static_cast<std::size_t>(label)];
      counter.for_each_cell(own[l], first[l + 2] - first[l + 1], draw, sizes[l].size(),
                            [&](std::size_t a, std::size_t b, std::size_t both) {
                              const std::size_t place = first[l + 1] + a;
                              const std::size_t either = tree.nodes[place].size() + sizes[l][b] - both;
                              const double overlap = static_cast<double>(both) / static_cast<double>(either);
                              best[place] = std::max(best[place], overlap);
                            });
    }
    for (std::size_t place = 1; place < tree.nodes.size(); ++place) {
      const HierarchyNode& node = tree.nodes[place];
      support[place].overlap += best[place];
      bool found = false;
      for (std::size_t l = 0; l < levels; ++l) {
        if (!has_cluster(draws.levels[l][d], sizes[l], node.rows)) continue;
        found = true;
        if (l + 1 == node.level) support[place].exact += 1.0;
      }
      if (found) support[place].anywhere += 1.0;
    }
  }
  const auto total = static_cast<double>(draws.draws());
  for (std::size_t place = 1; place < support.size(); ++place) {
    support[place].exact /= total;
    support[place].anywhere /= total;
    support[place].overlap /= total;
  }
  return support;
}

}  // namespace coppice
