#include "coppice/cluster/randomized_merging.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "coppice/base/aligned.hpp"
#include "coppice/base/math.hpp"
#include "coppice/cluster/greedy_merging.hpp"

namespace coppice {
namespace {

using Node = MergeTree::Node;

/// Sides get names that do not depend on the order in which they are worked on.
std::uint64_t path_of_side(std::uint64_t path, std::uint64_t side) {
  std::uint64_t mixed = 2 * path + side + 0x9e3779b97f4a7c15;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return mixed ^ (mixed >> 31);
}

/// log S of the two halves of a small tree, for one row after the other.
class Filter {
 public:
  Filter(const Family& family, const MergeTree& tree, Node left, Node right) : family_(&family) {
    std::vector<Node> nodes;
    for (const Node half : {left, right}) {
      std::vector<std::pair<Node, double>> stack{{half, 0.0}};  // with log of (1 - r) above
      while (!stack.empty()) {
        const auto [node, log_above] = stack.back();
        stack.pop_back();
        const double log_odds = -tree.log_d(node);
        nodes.push_back(node);
        log_weights_.push_back(log_above + log_logistic(log_odds) +
                               std::log(static_cast<double>(tree.count(node))));
        if (tree.is_leaf(node)) continue;
        stack.emplace_back(tree.left(node), log_above + log_logistic(-log_odds));
        stack.emplace_back(tree.right(node), log_above + log_logistic(-log_odds));
      }
      if (half == left) in_left_ = nodes.size();
    }
    chunks_ = (nodes.size() + kLanes - 1) / kLanes;
    stride_ = family.bank_size() * kLanes;
    bank_.assign(chunks_ * stride_, 0.0);
    for (std::size_t slot = 0; slot < chunks_ * kLanes; ++slot)  // unused slots hold something finite
      family.fill_bank(tree.stats(nodes[std::min(slot, nodes.size() - 1)]),
                       bank_.data() + slot / kLanes * stride_ + slot % kLanes);
    log_terms_.resize(chunks_ * kLanes);
  }

  std::pair<double, double> operator()(const double* row) {
    std::fill(log_terms_.begin(), log_terms_.end(), 0.0);
    std::copy(log_weights_.begin(), log_weights_.end(), log_terms_.begin());
    family_->add_log_predictive(row, bank_.data(), stride_, chunks_, {}, log_terms_.data());
    const std::span<const double> terms(log_terms_.data(), log_weights_.size());
    return {log_sum_exp(terms.subspan(0, in_left_)), log_sum_exp(terms.subspan(in_left_))};
  }

 private:
  const Family* family_;
  std::vector<double> log_weights_;
  std::size_t in_left_ = 0, chunks_ = 0, stride_ = 0;
  AlignedVector bank_, log_terms_;
};

}  // namespace

RandomizedMerging::RandomizedMerging(const Family& family, const Rows& rows, const ProductPartition& prior,
                                     MergeTree& forest, RandomizedOptions options)
    : family_(&family), rows_(&rows), prior_(&prior), forest_(&forest), options_(std::move(options)) {}

void RandomizedMerging::start(std::span<const std::uint32_t> rows) {
  tasks_.clear();
  done_.clear();
  tasks_.push_back({{rows.begin(), rows.end()}, 0, 1});
}

void RandomizedMerging::step(const StreamName& name, const std::function<void(Node)>& on_made) {
  const Task task = std::move(tasks_.back());
  tasks_.pop_back();
  if (task.rows.empty()) {
    const Node right = done_.back();
    done_.pop_back();
    done_.back() = forest_->join(done_.back(), right);
    on_made(done_.back());
    return;
  }
  if (task.rows.size() <= options_.threshold) {
    std::vector<Node> leaves;
    for (const std::uint32_t row : task.rows) leaves.push_back(forest_->leaf(row));
    Node top = leaves.front();
    GreedyMerging(*family_, *prior_, *forest_, leaves, true).run([&](Node made) {
      top = made;
      on_made(made);
    });
    done_.push_back(top);
    return;
  }
  if (options_.levels != 0 && task.depth == options_.levels) {
    done_.push_back(forest_->block(task.rows));
    on_made(done_.back());
    return;
  }
  divide(task, name);
}

std::vector<std::uint32_t> RandomizedMerging::choose(const Task& task, const StreamName& name) const {
  std::vector<std::uint32_t> order = task.rows;
  const std::size_t count = std::min(options_.subset, order.size());
  if (!options_.priority.empty()) {
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return options_.priority[a] < options_.priority[b];
    });
  } else {
    Stream stream({name.seed, name.chain, task.path}, Purpose::guide);
    for (std::size_t i = 0; i < count; ++i)
      std::swap(order[i], order[i + draw_index(stream, order.size() - i)]);
  }
  order.resize(count);
  std::sort(order.begin(), order.end());
  return order;
}

void RandomizedMerging::divide(const Task& task, const StreamName& name) {
  const std::vector<std::uint32_t> chosen = choose(task, name);
  MergeTree small(*family_, *rows_, *prior_);
  std::vector<Node> leaves;
  for (const std::uint32_t row : chosen) leaves.push_back(small.leaf(row));
  Node top = leaves.front();
  GreedyMerging(*family_, *prior_, small, leaves, true).run([&](Node made) { top = made; });
  Filter filter(*family_, small, small.left(top), small.right(top));
  std::vector<char> on_left(chosen.size(), 0);
  small.for_each_row(small.left(top), [&](std::uint32_t row) {
    on_left[static_cast<std::size_t>(std::lower_bound(chosen.begin(), chosen.end(), row) - chosen.begin())] =
        1;
  });

  Task sides[2];
  std::size_t next_chosen = 0;
  for (const std::uint32_t row : task.rows) {
    bool left = false;
    if (next_chosen < chosen.size() && chosen[next_chosen] == row) {
      left = on_left[next_chosen++] != 0;
    } else {
      const auto [log_left, log_right] = filter((*rows_)[row]);
      if (options_.on_filter) options_.on_filter(row, log_left, log_right);
      left = log_left > log_right;
    }
    sides[left ? 0 : 1].rows.push_back(row);
  }
  for (std::uint64_t side = 0; side < 2; ++side) {
    sides[side].depth = task.depth + 1;
    sides[side].path = path_of_side(task.path, side);
  }
  tasks_.emplace_back();
  tasks_.push_back(std::move(sides[1]));
  tasks_.push_back(std::move(sides[0]));
}

std::vector<std::uint32_t> RandomizedMerging::waiting() const {
  std::vector<std::uint32_t> rows;
  for (const Task& task : tasks_) rows.insert(rows.end(), task.rows.begin(), task.rows.end());
  std::sort(rows.begin(), rows.end());
  return rows;
}

void RandomizedMerging::save(ByteWriter& writer, const std::function<std::uint32_t(Node)>& number_of) const {
  writer.put(static_cast<std::uint64_t>(done_.size()));
  for (const Node node : done_) writer.put(number_of(node));
  writer.put(static_cast<std::uint64_t>(tasks_.size()));
  for (const Task& task : tasks_) {
    writer.put(task.depth);
    writer.put(task.path);
    writer.put(static_cast<std::uint64_t>(task.rows.size()));
    writer.put(task.rows.data(), task.rows.size());
  }
}

void RandomizedMerging::load(ByteReader& reader, const std::function<Node(std::uint32_t)>& node_of) {
  const auto refuse = [] { fail(ErrorCode::bad_data, "the run file is damaged: impossible work is left"); };
  const std::size_t all = rows_->size();
  const auto count = [&] {
    const auto number = reader.get<std::uint64_t>();
    if (number > 2 * all + 2) refuse();
    return static_cast<std::size_t>(number);
  };
  tasks_.clear();
  done_.assign(count(), 0);
  for (Node& node : done_) node = node_of(reader.get<std::uint32_t>());
  tasks_.resize(count());
  std::vector<bool> taken(all, false);
  for (Task& task : tasks_) {
    task.depth = reader.get<std::uint64_t>();
    task.path = reader.get<std::uint64_t>();
    task.rows.resize(count());
    reader.get(task.rows.data(), task.rows.size());
    for (std::size_t i = 0; i < task.rows.size(); ++i) {
      const std::uint32_t row = task.rows[i];
      if (row >= all || taken[row] || (i > 0 && row <= task.rows[i - 1])) refuse();
      taken[row] = true;
    }
  }
  // Every merge that waits needs two trees when its turn comes.
  std::size_t trees = done_.size();
  for (std::size_t i = tasks_.size(); i-- > 0;) {
    if (!tasks_[i].rows.empty())
      ++trees;
    else if (trees < 2)
      refuse();
    else
      --trees;
  }
  if (trees != 1) refuse();
}

}  // namespace coppice
