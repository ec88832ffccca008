#include "coppice/cluster/division.hpp"

#include <algorithm>
#include <utility>

#include "coppice/base/error.hpp"

namespace coppice {
namespace {

/// Sides get names that do not depend on the order in which they are worked on.
std::uint64_t path_of_side(std::uint64_t path, std::uint64_t side) {
  std::uint64_t mixed = 2 * path + side + 0x9e3779b97f4a7c15;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return mixed ^ (mixed >> 31);
}

}  // namespace

void Division::start(std::span<const std::uint32_t> items) {
  tasks_.clear();
  done_.clear();
  tasks_.push_back({{items.begin(), items.end()}, 0, 1});
}

void Division::step(const StreamName& name, DividedItems& items, const DividedItems::OnMade& on_made) {
  const Task task = std::move(tasks_.back());
  tasks_.pop_back();
  if (task.items.empty()) {
    const Node right = done_.back();
    done_.pop_back();
    done_.back() = items.join(done_.back(), right, on_made);
  } else if (task.items.size() <= options_.threshold) {
    done_.push_back(items.merge_all(task.items, on_made));
  } else if (options_.levels != 0 && task.depth == options_.levels) {
    done_.push_back(items.block(task.items, on_made));
  } else {
    divide(task, name, items);
  }
}

std::vector<std::uint32_t> Division::choose(const Task& task, const StreamName& name) const {
  std::vector<std::uint32_t> order = task.items;
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

void Division::divide(const Task& task, const StreamName& name, DividedItems& items) {
  std::vector<char> on_left(task.items.size(), 0);
  items.divide(task.items, choose(task, name), on_left);
  Task sides[2];
  for (std::size_t i = 0; i < task.items.size(); ++i)
    sides[on_left[i] != 0 ? 0 : 1].items.push_back(task.items[i]);
  for (std::uint64_t side = 0; side < 2; ++side) {
    sides[side].depth = task.depth + 1;
    sides[side].path = path_of_side(task.path, side);
  }
  tasks_.emplace_back();
  tasks_.push_back(std::move(sides[1]));
  tasks_.push_back(std::move(sides[0]));
}

std::vector<std::uint32_t> Division::waiting() const {
  std::vector<std::uint32_t> items;
  for (const Task& task : tasks_) items.insert(items.end(), task.items.begin(), task.items.end());
  std::sort(items.begin(), items.end());
  return items;
}

void Division::save(ByteWriter& writer, const std::function<std::uint32_t(Node)>& number_of) const {
  writer.put(static_cast<std::uint64_t>(done_.size()));
  for (const Node node : done_) writer.put(number_of(node));
  writer.put(static_cast<std::uint64_t>(tasks_.size()));
  for (const Task& task : tasks_) {
    writer.put(task.depth);
    writer.put(task.path);
    writer.put(static_cast<std::uint64_t>(task.items.size()));
    writer.put(task.items.data(), task.items.size());
  }
}

void Division::load(ByteReader& reader, std::size_t items,
                    const std::function<Node(std::uint32_t)>& node_of) {
  const auto refuse = [] { fail(ErrorCode::bad_data, "the run file is damaged: impossible work is left"); };
  const auto count = [&] {
    const auto number = reader.get<std::uint64_t>();
    if (number > 2 * items + 2) refuse();
    return static_cast<std::size_t>(number);
  };
  tasks_.clear();
  done_.assign(count(), 0);
  for (Node& node : done_) node = node_of(reader.get<std::uint32_t>());
  tasks_.resize(count());
  std::vector<bool> taken(items, false);
  for (Task& task : tasks_) {
    task.depth = reader.get<std::uint64_t>();
    task.path = reader.get<std::uint64_t>();
    task.items.resize(count());
    reader.get(task.items.data(), task.items.size());
    for (std::size_t i = 0; i < task.items.size(); ++i) {
      const std::uint32_t item = task.items[i];
      if (item >= items || taken[item] || (i > 0 && item <= task.items[i - 1])) refuse();
      taken[item] = true;
    }
  }
  // Every merge that waits needs two trees when its turn comes.
  std::size_t trees = done_.size();
  for (std::size_t i = tasks_.size(); i-- > 0;) {
    if (!tasks_[i].items.empty())
      ++trees;
    else if (trees < 2)
      refuse();
    else
      --trees;
  }
  if (trees != 1) refuse();
}

}  // namespace coppice
