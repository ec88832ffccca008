#include "coppice/cluster/row_forest.hpp"

#include "coppice/base/math.hpp"

namespace coppice {

RowForest::RowForest(const Family& family, const Rows& rows, double alpha)
    : family_(&family), rows_(&rows), prior_(alpha, rows.size()), trees_(family, rows, prior_) {
  clear();
}

void RowForest::clear() {
  trees_.clear();
  trees_.reserve(2 * rows_->size());
  dendrogram_ = Dendrogram(rows_->size());
  number_of_.clear();
  node_of_.assign(rows_->size(), MergeTree::kNone);
}

void RowForest::rebuild(const Dendrogram& shape) {
  // The shape may be our own, which clear() empties.
  // NOLINTNEXTLINE(performance-unnecessary-copy-initialization)
  const Dendrogram old = shape;
  clear();
  for (auto number = static_cast<Dendrogram::Node>(old.items()); number < old.nodes(); ++number) {
    if (old.is_block(number)) {
      record(trees_.block(old.block_items(number)));
    } else {
      const Node left = planted(old.left(number));
      const Node right = planted(old.right(number));
      record(trees_.join(left, right));
    }
  }
}

std::vector<RowForest::Node> RowForest::plant() {
  std::vector<Node> roots;
  for (const Dendrogram::Node root : dendrogram_.roots()) {
    roots.push_back(planted(root));
  }
  return roots;
}

Dendrogram::Node RowForest::number_of(Node node) const {
  return trees_.is_leaf(node) && trees_.count(node) == 1 ? trees_.first_row(node) : number_of_[node];
}

void RowForest::record(Node made) {
  Dendrogram::Node number = 0;
  if (trees_.is_leaf(made)) {
    std::vector<std::uint32_t> rows;
    trees_.for_each_row(made, [&](std::uint32_t row) { rows.push_back(row); });
    if (rows.size() == 1) {
      node_of_[rows.front()] = made;
      return;
    }
    number = dendrogram_.block(rows);
  } else {
    for (const Node child : {trees_.left(made), trees_.right(made)}) node_of_[number_of(child)] = child;
    number =
        dendrogram_.join(number_of(trees_.left(made)), number_of(trees_.right(made)), -trees_.log_d(made));
  }
  if (number_of_.size() <= made) number_of_.resize(made + 1, Dendrogram::kNone);
  number_of_[made] = number;
  node_of_.resize(dendrogram_.nodes(), MergeTree::kNone);
  node_of_[number] = made;
}

double RowForest::log_bound() const {
  std::vector<double> alone(family_->stats_size());
  double total = log_gamma(prior_.alpha()) - log_gamma(prior_.alpha() + rows_->copies());
  for (const Dendrogram::Node root : dendrogram_.roots()) {
    if (node_of_[root] != MergeTree::kNone) {
      total += trees_.log_phi(node_of_[root]);
      continue;
    }
    family_->clear(alone.data());
    family_->add(alone.data(), (*rows_)[root]);
    total += prior_.log_kappa(1) + family_->log_marginal(alone.data());
  }
  return total;
}

void RowForest::set_alpha(double alpha) {
  prior_.set_alpha(alpha);
  trees_.refresh();
}

}  // namespace coppice
