#include "coppice/model/nrmm/published.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"

namespace coppice::nrmm {
namespace {

/// In a saved tree: the two trees before it are joined.
constexpr std::int32_t kJoin = -1;

/// The trees of all rows, and a copy of the largest while it is being split.
std::size_t most_nodes(std::size_t rows) { return 4 * rows; }

}  // namespace

void SubtreeLaw::reserve(std::size_t nodes) {
  nodes_.reserve(nodes);
  weights_.reserve(nodes);
}

void SubtreeLaw::set(const MergeTree& forest, Node top, Eligible eligible) {
  nodes_.clear();
  weights_.clear();
  double largest = kMinusInfinity;
  forest.for_each_node(top, [&](Node node) {
    if (eligible == Eligible::inner_nodes && forest.is_leaf(node)) return;
    nodes_.push_back(node);
    weights_.push_back(forest.log_d(node));
    largest = std::max(largest, weights_.back());
  });
  total_ = 0.0;
  for (double& weight : weights_) {
    weight = 1.0 + (weight == kMinusInfinity ? 0.0 : std::exp(weight - largest));
    total_ += weight;
  }
}

std::size_t SubtreeLaw::find(Node node) const {
  return static_cast<std::size_t>(std::find(nodes_.begin(), nodes_.end(), node) - nodes_.begin());
}

PublishedMoves::PublishedMoves(const Family& family, const Rows& rows, const ProductPartition& prior,
                               std::size_t moves, std::size_t depth)
    : prior_(&prior), moves_(moves), depth_(depth), forest_(family, rows, prior), leaf_of_(rows.size()) {
  const std::size_t count = rows.size();
  forest_.reserve(most_nodes(count));
  law_.reserve(2 * count);
  for (std::vector<Node>* nodes : {&roots_, &gathered_, &rest_, &parts_, &beside_, &cascade_})
    nodes->reserve(2 * count);
  log_choice_.reserve(count + 1);
  choice_.reserve(count + 1);
  picked_rows_.reserve(count);
}

std::size_t PublishedMoves::bytes(const Family& family, std::size_t rows) {
  return MergeTree::bytes(family, most_nodes(rows)) + rows * (17 * sizeof(Node) + 4 * sizeof(double));
}

void PublishedMoves::start(const Clusters& clusters) {
  forest_.clear();
  roots_.clear();
  std::vector<Node> tree_of(clusters.sizes().size(), MergeTree::kNone);
  for (std::uint32_t row = 0; row < clusters.rows(); ++row) {
    const Node leaf = leaf_of_[row] = forest_.leaf(row);
    Node& tree = tree_of[static_cast<std::size_t>(clusters.label(row))];
    tree = tree == MergeTree::kNone ? leaf : forest_.seq_insert(tree, leaf).root;
  }
  for (const Node tree : tree_of)
    if (tree != MergeTree::kNone) roots_.push_back(tree);
  sort_roots();
}

void PublishedMoves::sort_roots() {
  std::sort(roots_.begin(), roots_.end(),
            [&](Node a, Node b) { return forest_.first_row(a) < forest_.first_row(b); });
}

void PublishedMoves::set_leaves(Node root) {
  forest_.for_each_node(root, [&](Node node) {
    if (forest_.is_leaf(node)) leaf_of_[forest_.first_row(node)] = node;
  });
}

void PublishedMoves::step(Clusters& clusters, std::span<const double> log_marginal_alone,
                          const StreamName& name) {
  for (std::size_t i = 0; i < moves_; ++i) {
    Stream stream(name, Purpose::published, i);
    global_move(clusters, stream);
  }
  Stream stream(name, Purpose::published, moves_);
  local_move(clusters, log_marginal_alone, stream);
}

double PublishedMoves::log_gather(Node a, Node b) { return -log1p_exp(forest_.log_d(a, b)); }

double PublishedMoves::log_leave(Node a, Node b) { return -log1p_exp(-forest_.log_d(a, b)); }

void PublishedMoves::global_move(Clusters& clusters, Stream& stream) {
  const std::size_t picked = draw_index(stream, roots_.size());
  double log_forward = -std::log(static_cast<double>(roots_.size()));
  gathered_.clear();
  rest_.clear();
  for (std::size_t i = 0; i < roots_.size(); ++i) {
    if (i == picked) {
      gathered_.push_back(roots_[i]);
      continue;
    }
    const double log_d = forest_.log_d(roots_[picked], roots_[i]);
    const double log_gather = -log1p_exp(log_d);
    const bool gathers = draw_uniform(stream) < std::exp(log_gather);
    log_forward += gathers ? log_gather : -log1p_exp(-log_d);
    (gathers ? gathered_ : rest_).push_back(roots_[i]);
  }
  if (gathered_.size() > 1)
    merge(clusters, stream, log_forward);
  else if (!forest_.is_leaf(roots_[picked]))
    split(clusters, stream, picked, log_forward);
}

void PublishedMoves::weigh_insertion(std::span<const Node> trees, Node x) {
  log_choice_.clear();
  for (const Node tree : trees) log_choice_.push_back(-forest_.log_d(tree, x));
  log_choice_.push_back(0.0);
  const double total = log_sum_exp(log_choice_);
  for (double& choice : log_choice_) choice -= total;
}

double PublishedMoves::distribute(Stream& stream) {
  double log_total = 0.0;
  for (const Node x : beside_) {
    weigh_insertion(parts_, x);
    choice_.clear();
    for (const double choice : log_choice_) choice_.push_back(std::exp(choice));
    const std::size_t chosen = draw_categorical(stream, choice_);
    log_total += log_choice_[chosen];
    if (chosen == parts_.size())
      parts_.push_back(x);
    else
      parts_[chosen] = forest_.seq_insert(parts_[chosen], x).root;
  }
  return log_total;
}

void PublishedMoves::split(Clusters& clusters, Stream& stream, std::size_t picked, double log_forward) {
  ++splits_.proposed;
  const Node whole = roots_[picked];
  // The proposal takes a copy of the tree apart: most are refused.
  law_.set(forest_, forest_.copy(whole), SubtreeLaw::Eligible::inner_nodes);
  const std::size_t place = law_.draw(stream);
  const Node node = law_.nodes()[place];
  log_forward += std::log(law_.probability(place));
  parts_.assign({forest_.left(node), forest_.right(node)});
  beside_.clear();
  forest_.cut(node, beside_);
  forest_.release_join(node);
  log_forward += distribute(stream);

  const double clusters_then = static_cast<double>(roots_.size() - 1 + parts_.size());
  double log_ratio = -forest_.log_weight(whole);
  double log_reverse = kMinusInfinity;
  for (const Node part : parts_) {
    log_ratio += forest_.log_weight(part);
    double log_way = -std::log(clusters_then);
    for (const Node other : parts_)
      if (other != part) log_way += log_gather(part, other);
    for (const Node other : rest_) log_way += log_leave(part, other);
    log_reverse = log_add_exp(log_reverse, log_way);
  }
  if (!(std::log(draw_uniform(stream)) < log_ratio + log_reverse - log_forward)) {
    for (const Node part : parts_) forest_.release(part);
    return;
  }
  ++splits_.accepted;
  const Label label = clusters.label(forest_.first_row(whole));
  forest_.release(whole);
  roots_.erase(roots_.begin() + static_cast<std::ptrdiff_t>(picked));
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    set_leaves(parts_[i]);
    roots_.push_back(parts_[i]);
    if (i == 0) continue;
    picked_rows_.clear();
    forest_.for_each_row(parts_[i], [&](std::uint32_t row) { picked_rows_.push_back(row); });
    clusters.split(label, picked_rows_);
  }
  sort_roots();
}

void PublishedMoves::merge(Clusters& clusters, Stream& stream, double log_forward) {
  ++merges_.proposed;
  // gathered_ is in the order of the first rows, because roots_ is.
  const std::size_t clusters_then = roots_.size() - gathered_.size() + 1;
  double log_reverse = -std::log(static_cast<double>(clusters_then));
  double log_ratio = -forest_.log_weight(gathered_[0]);
  cascade_.assign(1, gathered_[0]);
  for (std::size_t i = 1; i < gathered_.size(); ++i) {
    if (i > 1) {
      weigh_insertion({gathered_.data(), i}, gathered_[i]);
      log_reverse += log_choice_.back();
    }
    log_ratio -= forest_.log_weight(gathered_[i]);
    cascade_.push_back(forest_.join(cascade_.back(), gathered_[i]));
  }
  const Node whole = cascade_.back();
  log_ratio += forest_.log_weight(whole);
  for (const Node other : rest_) log_reverse += log_leave(whole, other);
  law_.set(forest_, whole, SubtreeLaw::Eligible::inner_nodes);
  log_reverse += std::log(law_.probability(law_.find(cascade_[1])));
  if (!(std::log(draw_uniform(stream)) < log_ratio + log_reverse - log_forward)) {
    for (std::size_t i = cascade_.size(); i-- > 1;) forest_.release_join(cascade_[i]);
    return;
  }
  ++merges_.accepted;
  const Label kept = clusters.label(forest_.first_row(gathered_[0]));
  for (std::size_t i = 1; i < gathered_.size(); ++i)
    clusters.merge(kept, clusters.label(forest_.first_row(gathered_[i])));
  roots_ = rest_;
  roots_.push_back(whole);
  sort_roots();
}

void PublishedMoves::local_move(Clusters& clusters, std::span<const double> log_marginal_alone,
                                Stream& stream) {
  picked_rows_.clear();
  for (const Node root : roots_) {
    Node top = root;
    for (std::size_t i = 0; i < depth_ && !forest_.is_leaf(top); ++i) {
      law_.set(forest_, top, SubtreeLaw::Eligible::all_nodes);
      top = law_.nodes()[law_.draw(stream)];
    }
    // Its rows, those of the higher leaves first.
    beside_.assign(1, top);
    for (std::size_t next = 0; next < beside_.size(); ++next) {
      const Node node = beside_[next];
      if (forest_.is_leaf(node)) {
        picked_rows_.push_back(forest_.first_row(node));
      } else {
        beside_.push_back(forest_.left(node));
        beside_.push_back(forest_.right(node));
      }
    }
  }
  for (const std::uint32_t row : picked_rows_) update_row(clusters, row, log_marginal_alone[row], stream);
}

void PublishedMoves::update_row(Clusters& clusters, std::uint32_t row, double log_marginal_alone,
                                Stream& stream) {
  const Label before = clusters.label(row);
  gibbs_.update(clusters, row, draw_uniform(stream), prior_->log_open() + log_marginal_alone);
  const Label after = clusters.label(row);
  if (before == after) return;
  const Node leaf = leaf_of_[row];
  const auto old_place = std::find(roots_.begin(), roots_.end(), forest_.root_of(leaf));
  const Node left_behind = forest_.detach(leaf);
  if (left_behind == MergeTree::kNone)
    roots_.erase(old_place);
  else
    *old_place = left_behind;
  if (clusters.size(after) == 1) {
    roots_.push_back(leaf);
  } else {
    const auto place = std::find_if(roots_.begin(), roots_.end(), [&](Node root) {
      return clusters.label(forest_.first_row(root)) == after;
    });
    *place = forest_.seq_insert(*place, leaf).root;
  }
  sort_roots();
}

void PublishedMoves::set_counts(const MoveCount& splits, const MoveCount& merges,
                                const MoveCount& row_updates) {
  splits_ = splits;
  merges_ = merges;
  gibbs_.set_count(row_updates);
}

void PublishedMoves::save(ByteWriter& writer) const {
  writer.put(std::array{splits_, merges_, gibbs_.count()});
  for (const Node root : roots_)
    forest_.for_each_node_upwards(root, [&](Node node) {
      writer.put(forest_.is_leaf(node) ? static_cast<std::int32_t>(forest_.first_row(node)) : kJoin);
    });
}

void PublishedMoves::load(ByteReader& reader, const Clusters& clusters) {
  const std::size_t rows = clusters.rows();
  const auto counts = reader.get<std::array<MoveCount, 3>>();
  std::vector<std::int32_t> shape(2 * rows - clusters.clusters());
  reader.get(shape.data(), shape.size());
  set_counts(counts[0], counts[1], counts[2]);
  forest_.clear();
  roots_.clear();
  std::fill(leaf_of_.begin(), leaf_of_.end(), MergeTree::kNone);
  for (const std::int32_t entry : shape) {
    if (entry == kJoin) {
      if (roots_.size() < 2) fail(ErrorCode::bad_data, "checkpoint joins trees that are not there");
      const Node second = roots_.back();
      roots_.pop_back();
      roots_.back() = forest_.join(roots_.back(), second);
      continue;
    }
    if (entry < 0 || static_cast<std::size_t>(entry) >= rows)
      fail(ErrorCode::bad_data, "checkpoint has the row {} in a tree of {} rows", entry, rows);
    Node& leaf = leaf_of_[static_cast<std::size_t>(entry)];
    if (leaf != MergeTree::kNone) fail(ErrorCode::bad_data, "checkpoint has the row {} in two trees", entry);
    roots_.push_back(leaf = forest_.leaf(static_cast<std::uint32_t>(entry)));
  }
  sort_roots();
  if (!fits(clusters)) fail(ErrorCode::bad_data, "checkpoint has trees of other clusters than its labels");
}

bool PublishedMoves::fits(const Clusters& clusters) const {
  if (roots_.size() != clusters.clusters()) return false;
  std::size_t rows = 0;
  bool fits = true;
  for (const Node root : roots_) {
    rows += forest_.count(root);
    const Label label = clusters.label(forest_.first_row(root));
    fits = fits && clusters.size(label) == forest_.count(root);
    forest_.for_each_row(root, [&](std::uint32_t row) { fits = fits && clusters.label(row) == label; });
  }
  return fits && rows == clusters.rows();
}

void PublishedMoves::audit(const Clusters& clusters) const {
  forest_.audit();
  if (!fits(clusters)) fail(ErrorCode::bug, "PublishedMoves: the trees are not those of the clusters");
  if (!std::is_sorted(roots_.begin(), roots_.end(),
                      [&](Node a, Node b) { return forest_.first_row(a) < forest_.first_row(b); }))
    fail(ErrorCode::bug, "PublishedMoves: the trees are out of order");
  std::size_t nodes = 0;
  for (const Node root : roots_)
    forest_.for_each_node(root, [&](Node node) {
      ++nodes;
      if (forest_.is_leaf(node) && leaf_of_[forest_.first_row(node)] != node)
        fail(ErrorCode::bug, "PublishedMoves: the leaf of row {} is another", forest_.first_row(node));
    });
  if (nodes != forest_.nodes()) fail(ErrorCode::bug, "PublishedMoves: a proposal has left nodes behind");
}

}  // namespace coppice::nrmm
