#include "coppice/model/nrmm/data_parallel_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"
#include "coppice/base/row_uniforms.hpp"
#include "coppice/model/nrmm/row_tile.hpp"

namespace coppice::nrmm {
namespace {

namespace purpose = data_parallel_purpose;
constexpr double kNoKey = std::numeric_limits<double>::infinity();

/// Tells assignments and launches apart; never 0.
std::uint64_t fingerprint(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return hash == 0 ? 1 : hash;
}

/// Draws the labels of a tile from log weights by cluster, eight rows at a time; keys keep rows out of
/// clusters whose anchors have larger ones.
void draw_labels(double* log_weights, std::span<const double> anchor_keys, const double* keys,
                 const double* uniforms, std::size_t padded, std::int64_t* labels) {
  const std::size_t clusters = anchor_keys.size();
  for (std::size_t row = 0; row < padded; row += kLanes) {
    const Lanes key = load_lanes(keys + row);
    Lanes top = broadcast(-std::numeric_limits<double>::max());
    double* weights = log_weights + row;
    for (std::size_t k = 0; k < clusters; ++k, weights += kTileRows) {
      const Lanes value = key >= anchor_keys[k] ? load_lanes(weights) : broadcast(kMinusInfinity);
      store_lanes(weights, value);
      top = larger(top, value);
    }
    Lanes total{};
    weights = log_weights + row;
    for (std::size_t k = 0; k < clusters; ++k, weights += kTileRows) {
      const Lanes value = load_lanes(weights) - top;
      // exp() stops at -708; what is impossible must weigh nothing at all.
      total += value > -700.0 ? coppice::exp(value) : Lanes{};
      store_lanes(weights, total);
    }
    const Lanes target = load_lanes(uniforms + row) * total;
    LanesInt label{};
    weights = log_weights + row;
    for (std::size_t k = 0; k < clusters; ++k, weights += kTileRows) label -= load_lanes(weights) <= target;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      std::int64_t drawn = label[lane];
      if (drawn == static_cast<std::int64_t>(clusters)) {
        // Rounding carried the target past the end: the last cluster that has weight.
        const auto running = [&](std::int64_t k) {
          return log_weights[static_cast<std::size_t>(k) * kTileRows + row + lane];
        };
        for (--drawn; drawn > 0 && running(drawn) == running(drawn - 1);) --drawn;
      }
      labels[row + lane] = drawn;
    }
  }
}

/// The uniform numbers of scattered rows of a block: one by one, or all of the block at once if they are
/// many.
class UniformsOf {
 public:
  UniformsOf(const StreamName& name, Purpose purpose, std::size_t begin, std::size_t block_rows,
             std::size_t wanted)
      : name_(name), purpose_(purpose), begin_(begin) {
    if (4 * wanted < block_rows) return;
    all_.resize(block_rows);
    draw_row_uniforms(name, purpose, begin, block_rows, all_.data());
  }
  double operator[](std::uint32_t i) const {
    return all_.empty() ? draw_row_uniform(name_, purpose_, begin_ + i) : all_[i];
  }

 private:
  StreamName name_;
  Purpose purpose_;
  std::size_t begin_;
  std::vector<double> all_;
};

/// Rows of two sides, in their order.
class SideLists {
 public:
  void start(std::size_t most) {
    counts_[0] = counts_[1] = 0;
    for (std::vector<std::uint32_t>& rows : rows_)
      if (rows.size() < most) rows.resize(most);
  }
  void put(std::uint32_t row, bool second) {
    const std::size_t side = second ? 1 : 0;
    rows_[side][counts_[side]++] = row;
  }
  std::span<const std::uint32_t> operator[](std::size_t side) const {
    return {rows_[side].data(), counts_[side]};
  }

 private:
  std::vector<std::uint32_t> rows_[2];
  std::size_t counts_[2] = {};
};

/// Both lists in one, ascending like them. (Which comes next cannot be predicted: no branch asks.)
void merge_in_order(std::span<const std::uint32_t> first, std::span<const std::uint32_t> second,
                    std::vector<std::uint32_t>& out) {
  out.resize(first.size() + second.size());
  std::size_t i = 0, j = 0, at = 0;
  while (i < first.size() && j < second.size()) {
    const std::uint32_t a = first[i];
    const std::uint32_t b = second[j];
    const std::size_t takes_first = a < b ? 1 : 0;
    out[at++] = takes_first != 0 ? a : b;
    i += takes_first;
    j += 1 - takes_first;
  }
  std::copy(first.begin() + static_cast<std::ptrdiff_t>(i), first.end(),
            out.begin() + static_cast<std::ptrdiff_t>(at));
  std::copy(second.begin() + static_cast<std::ptrdiff_t>(j), second.end(),
            out.begin() + static_cast<std::ptrdiff_t>(at + first.size() - i));
}

/// The smallest key of some rows, and the row that has it.
struct SmallestKey {
  double key = kNoKey;
  double row = 0.0;

  void take(double other, std::size_t at) {
    if (other < key) {
      key = other;
      row = static_cast<double>(at);
    }
  }
  void put(BlockAnswer& answer) const {
    answer.push_back(key);
    answer.push_back(row);
  }
};

void take_smaller_key(BlockAnswer& answer, const BlockAnswer& next, std::size_t at) {
  if (next[at] < answer[at]) std::copy_n(next.data() + at, 2, answer.data() + at);
}

}  // namespace

DataParallelBlocks::DataParallelBlocks(const Family& family, Family* own_family, FilledRows& rows,
                                       std::size_t block_size, const TablePart& part)
    : family_(&family),
      own_family_(own_family),
      batches_(&row_batches(family)),
      rows_(&rows),
      block_size_(block_size),
      stats_size_(family.stats_size()),
      first_(part.first),
      numbers_(part.numbers),
      labels_(rows.observed().size(), 0),
      states_(numbers_.empty() ? (labels_.size() + block_size - 1) / block_size : 1) {
  if (first_ % block_size_ != 0)
    fail(ErrorCode::bug, "row {} does not begin a block of {}", first_, block_size_);
}

DataParallelBlocks::Range DataParallelBlocks::range(std::size_t block) const {
  if (!numbers_.empty()) return {0, labels_.size()};
  return {block * block_size_, std::min((block + 1) * block_size_, labels_.size())};
}

std::size_t DataParallelBlocks::place(std::uint64_t number) const {
  if (numbers_.empty())
    return number < first_ ? labels_.size() : std::min<std::size_t>(number - first_, labels_.size());
  const auto found = std::lower_bound(numbers_.begin(), numbers_.end(), number);
  if (found == numbers_.end() || *found != number) return labels_.size();
  return static_cast<std::size_t>(found - numbers_.begin());
}

void DataParallelBlocks::draw_uniforms(const StreamName& name, Purpose purpose, std::size_t begin,
                                       std::size_t count, std::size_t padded, double* out) const {
  if (numbers_.empty()) {
    draw_row_uniforms(name, purpose, number(begin), padded, out);
    return;
  }
  for (std::size_t i = 0; i < count; ++i) out[i] = draw_row_uniform(name, purpose, number(begin + i));
  std::fill(out + count, out + padded, 0.5);  // of no row
}

void DataParallelBlocks::keep_labels(std::span<const Label> labels) {
  std::copy(labels.begin(), labels.end(), labels_.begin());
  for (State& state : states_) forget(state);
}

void DataParallelBlocks::forget(State& state) const {
  state.assignment = state.launch = 0;
  state.order.clear();
  state.begins.clear();
}

const double* DataParallelBlocks::keys(std::size_t block, const StreamName& name) {
  State& state = states_[block];
  const Range rows = range(block);
  const bool is_there = !state.keys.empty() && state.keys_of.seed == name.seed &&
                        state.keys_of.chain == name.chain && state.keys_of.sweep == name.sweep;
  if (!is_there) {
    state.keys.resize((rows.size() + kLanes - 1) / kLanes * kLanes);
    state.keys_of = name;
    draw_uniforms(name, purpose::key, rows.begin, rows.size(), state.keys.size(), state.keys.data());
  }
  return state.keys.data();
}

void DataParallelBlocks::receive(std::string_view message) {
  message_ = BlockMessage::decode(message);
  if (own_family_ != nullptr) {
    std::vector<double> present(own_family_->hyper_size());
    own_family_->get_hyper(present.data());
    if (present != message_.hyper) own_family_->set_hyper(message_.hyper.data());
  }
  const std::string of_labels = encode_assignment(message_.assignment);
  assignment_ = message_.labels_are_kept ? 0 : fingerprint(of_labels);
  BlockMessage launch;
  launch.assignment = message_.assignment;
  launch.name = message_.name;
  launch.pairs = message_.pairs;
  launch_ = fingerprint(launch.encode());
}

BlockAnswer DataParallelBlocks::answer(std::size_t number) {
  const std::size_t block = number - first_ / block_size_;
  const bool needs_labels = message_.question != Question::cells;
  if (needs_labels && assignment_ != 0 && states_[block].assignment != assignment_) make_labels(block);
  switch (message_.question) {
    case Question::tally:
      return tally(block);
    case Question::locate:
      return locate(block);
    case Question::launch:
      return launch(block);
    case Question::propose:
      return propose(block);
    case Question::cells:
      return cells(block);
    case Question::labels:
      return labels(block);
  }
  return {};
}

void DataParallelBlocks::merge(BlockAnswer& answer, const BlockAnswer& next) {
  switch (message_.question) {
    case Question::tally:
      return merge_tallies(answer, next);
    case Question::locate:
      for (std::size_t i = 0; i < answer.size(); ++i) answer[i] = std::max(answer[i], next[i]);
      return;
    case Question::launch:
      for (std::size_t at = 0; at < answer.size(); at += stats_size_)
        family_->merge(answer.data() + at, next.data() + at);
      return;
    case Question::propose:
      return merge_proposals(answer, next);
    case Question::cells:
    case Question::labels:
      answer.insert(answer.end(), next.begin(), next.end());
  }
}

void DataParallelBlocks::merge_tallies(BlockAnswer& answer, const BlockAnswer& next) const {
  const std::size_t clusters = answer.size() / (stats_size_ + 2);
  for (std::size_t k = 0; k < clusters; ++k) {
    family_->merge(answer.data() + k * stats_size_, next.data() + k * stats_size_);
    take_smaller_key(answer, next, clusters * stats_size_ + 2 * k);
  }
}

void DataParallelBlocks::merge_proposals(BlockAnswer& answer, const BlockAnswer& next) const {
  std::size_t at = 0;
  for (const RowPair& pair : message_.pairs) {
    answer[at] += next[at];  // log q
    ++at;
    for (std::size_t side = 0; pair.is_split() && side < 2; ++side, at += stats_size_ + 2) {
      family_->merge(answer.data() + at, next.data() + at);
      take_smaller_key(answer, next, at + stats_size_);
    }
  }
}

void DataParallelBlocks::make_labels(std::size_t block) {
  const Assignment& assignment = message_.assignment;
  const Range rows = range(block);
  const Rows& observed = rows_->observed();
  const std::size_t clusters = assignment.clusters.size();
  const std::unique_ptr<Likelihoods> likelihoods = batches_->likelihoods(assignment.clusters.thetas);
  const double* keys = this->keys(block, assignment.name);
  RowTile tile(observed.width);
  AlignedVector weights(clusters * kTileRows);
  alignas(64) double uniforms[kTileRows];
  std::int64_t drawn[kTileRows];
  for (std::size_t begin = rows.begin; begin < rows.end; begin += kTileRows) {
    const std::size_t count = std::min(kTileRows, rows.end - begin);
    tile.fill(count, [&](std::size_t i) { return observed[begin + i]; });
    for (std::size_t k = 0; k < clusters; ++k)
      std::fill_n(weights.data() + k * kTileRows, tile.padded(), assignment.clusters.log_weights[k]);
    likelihoods->add(tile.columns(), tile.padded(), weights.data());
    draw_uniforms(assignment.name, purpose::label, begin, count, tile.padded(), uniforms);
    draw_labels(weights.data(), assignment.anchor_keys, keys + (begin - rows.begin), uniforms, tile.padded(),
                drawn);
    for (std::size_t i = 0; i < count; ++i) labels_[begin + i] = static_cast<Label>(drawn[i]);
  }
  for (std::size_t k = 0; k < clusters; ++k)
    if (const std::size_t row = place(assignment.anchor_rows[k]); row >= rows.begin && row < rows.end)
      labels_[row] = static_cast<Label>(k);
  if (rows_->any()) {
    const std::size_t theta_size = family_->theta_size();
    for (std::size_t row = rows.begin; row < rows.end; ++row) {
      if (!rows_->is_incomplete(row)) continue;
      Stream stream(assignment.name, purpose::missing, number(row));
      const double* theta =
          assignment.clusters.thetas.data() + static_cast<std::size_t>(labels_[row]) * theta_size;
      batches_->draw_missing_given(theta, stream, rows_->start_filling(row));
    }
  }
  forget(states_[block]);
  states_[block].assignment = assignment_;
}

void DataParallelBlocks::add_stats(std::size_t block, std::span<const std::uint32_t> which,
                                   double* stats) const {
  const Rows& rows = rows_->rows();
  batches_->add_rows(stats, rows[range(block).begin], rows.width, which);
}

void DataParallelBlocks::sort_rows(std::size_t block) {
  State& state = states_[block];
  if (!state.begins.empty()) return;
  const Range rows = range(block);
  const std::span<const Label> labels(labels_.data() + rows.begin, rows.size());
  std::size_t clusters = message_.assignment.clusters.size();
  if (message_.labels_are_kept)  // they may be of any number of clusters: that of all rows
    clusters = static_cast<std::size_t>(*std::max_element(labels_.begin(), labels_.end())) + 1;
  state.begins.assign(clusters + 1, 0);
  for (const Label label : labels) ++state.begins[static_cast<std::size_t>(label) + 1];
  for (std::size_t k = 0; k < clusters; ++k) state.begins[k + 1] += state.begins[k];
  state.order.resize(rows.size());
  std::vector<std::uint32_t> next(state.begins.begin(), state.begins.end() - 1);
  for (std::size_t i = 0; i < labels.size(); ++i)
    state.order[next[static_cast<std::size_t>(labels[i])]++] = static_cast<std::uint32_t>(i);
}

BlockAnswer DataParallelBlocks::tally(std::size_t block) {
  sort_rows(block);
  const State& state = states_[block];
  const Range rows = range(block);
  const std::span<const Label> labels(labels_.data() + rows.begin, rows.size());
  const std::size_t clusters = state.begins.size() - 1;
  std::vector<SmallestKey> smallest(clusters);
  const double* keys = this->keys(block, message_.name);
  for (std::size_t i = 0; i < rows.size(); ++i)
    smallest[static_cast<std::size_t>(labels[i])].take(keys[i], number(rows.begin + i));
  BlockAnswer answer(clusters * stats_size_);
  for (std::size_t k = 0; k < clusters; ++k) {
    family_->clear(answer.data() + k * stats_size_);
    add_stats(block, {state.order.data() + state.begins[k], state.begins[k + 1] - state.begins[k]},
              answer.data() + k * stats_size_);
  }
  for (const SmallestKey& key : smallest) key.put(answer);
  return answer;
}

BlockAnswer DataParallelBlocks::locate(std::size_t block) const {
  const Range rows = range(block);
  BlockAnswer answer;
  for (const std::uint64_t wanted : message_.rows) {
    const std::size_t row = place(wanted);
    answer.push_back(row >= rows.begin && row < rows.end ? static_cast<double>(labels_[row]) : -1.0);
  }
  return answer;
}

BlockAnswer DataParallelBlocks::cells(std::size_t block) const {
  const Range rows = range(block);
  const Rows& observed = rows_->observed();
  BlockAnswer answer;
  for (const std::uint64_t wanted : message_.rows) {
    const std::size_t row = place(wanted);
    if (row >= rows.begin && row < rows.end)
      answer.insert(answer.end(), observed[row], observed[row] + observed.width);
  }
  return answer;
}

BlockAnswer DataParallelBlocks::labels(std::size_t block) const {
  const Range rows = range(block);
  return {labels_.begin() + static_cast<std::ptrdiff_t>(rows.begin),
          labels_.begin() + static_cast<std::ptrdiff_t>(rows.end)};
}

void DataParallelBlocks::make_lists(std::size_t block) {
  State& state = states_[block];
  if (state.launch == launch_) return;
  sort_rows(block);
  const Range rows = range(block);
  const std::size_t pairs = message_.pairs.size();
  state.launch = launch_;
  state.members.assign(pairs, {});
  state.in_launch.assign(pairs, {});
  const auto rows_of = [&](std::uint32_t slot) {
    const std::uint32_t begin = state.begins[slot];
    return std::span(state.order.data() + begin, state.begins[slot + 1] - begin);
  };
  std::size_t sampled = 0;
  for (std::size_t p = 0; p < pairs; ++p) {
    const RowPair& pair = message_.pairs[p];
    std::vector<std::uint32_t>& members = state.members[p];
    const std::span<const std::uint32_t> first = rows_of(pair.first_slot);
    if (pair.is_split())
      members.assign(first.begin(), first.end());
    else
      merge_in_order(first, rows_of(pair.second_slot), members);
    if (pair.launch_share < 1.0) sampled += members.size();
  }
  const UniformsOf uniforms(message_.name, purpose::in_launch, number(rows.begin), rows.size(), sampled);
  for (std::size_t p = 0; p < pairs; ++p) {
    const RowPair& pair = message_.pairs[p];
    if (pair.launch_share >= 1.0) {
      state.in_launch[p] = state.members[p];
      continue;
    }
    for (const std::uint32_t i : state.members[p]) {
      const std::uint64_t row = number(rows.begin + i);
      if (row == pair.first || row == pair.second || uniforms[i] < pair.launch_share)
        state.in_launch[p].push_back(i);
    }
  }
}

/// Scores rows of one pair under its two sides, a tile at a time.
class DataParallelBlocks::SideDraw {
 public:
  SideDraw(const DataParallelBlocks& blocks, std::size_t pair)
      : rows_(&blocks.rows_->rows()), tile_(rows_->width) {
    const DrawnClusters& sides = blocks.message_.sides;
    const std::size_t size = blocks.family_->theta_size();
    std::copy_n(sides.log_weights.data() + 2 * pair, 2, log_weights_);
    likelihoods_ = blocks.batches_->likelihoods({sides.thetas.data() + 2 * pair * size, 2 * size});
  }

  /// log_p[side][i] of up to kTileRows rows, the first of them at `begin` of the table.
  void score(std::size_t begin, std::span<const std::uint32_t> which) {
    tile_.fill(which.size(), [&](std::size_t i) { return (*rows_)[begin + which[i]]; });
    for (std::size_t side = 0; side < 2; ++side)
      std::fill_n(log_p_ + side * kTileRows, tile_.padded(), log_weights_[side]);
    likelihoods_->add(tile_.columns(), tile_.padded(), log_p_);
    for (std::size_t i = 0; i < tile_.padded(); i += kLanes) {
      const Lanes first = load_lanes(log_p_ + i);
      const Lanes second = load_lanes(log_p_ + kTileRows + i);
      const Lanes total = log_add_exp(first, second);
      store_lanes(log_p_ + i, first - total);
      store_lanes(log_p_ + kTileRows + i, second - total);
      store_lanes(second_ + i, coppice::exp(second - total));
    }
  }
  double log_p(std::size_t side, std::size_t i) const { return log_p_[side * kTileRows + i]; }
  /// The probability of the second side.
  double second(std::size_t i) const { return second_[i]; }

 private:
  const Rows* rows_;
  RowTile tile_;
  double log_weights_[2];
  std::unique_ptr<Likelihoods> likelihoods_;
  alignas(64) double log_p_[2 * kTileRows];
  alignas(64) double second_[kTileRows];
};

BlockAnswer DataParallelBlocks::launch(std::size_t block) {
  make_lists(block);
  const State& state = states_[block];
  const Range rows = range(block);
  const std::vector<std::vector<std::uint32_t>>& lists = message_.all_rows ? state.members : state.in_launch;
  std::size_t wanted = 0;
  for (const std::vector<std::uint32_t>& list : lists) wanted += list.size();
  const UniformsOf uniforms(message_.name, purpose::stage(message_.stage), number(rows.begin), rows.size(),
                            wanted);
  BlockAnswer answer(message_.pairs.size() * 2 * stats_size_);
  SideLists sides;
  for (std::size_t p = 0; p < message_.pairs.size(); ++p) {
    const RowPair& pair = message_.pairs[p];
    const std::vector<std::uint32_t>& list = lists[p];
    sides.start(list.size());
    const auto put = [&](std::uint32_t i, bool second) {
      const std::uint64_t row = number(rows.begin + i);
      sides.put(i, (second && row != pair.first) || row == pair.second);
    };
    if (message_.stage == 0) {
      for (const std::uint32_t i : list) put(i, uniforms[i] < pair.second_share);
    } else if (!list.empty()) {
      SideDraw draw(*this, p);
      for (std::size_t begin = 0; begin < list.size(); begin += kTileRows) {
        const std::span part(list.data() + begin, std::min(kTileRows, list.size() - begin));
        draw.score(rows.begin, part);
        for (std::size_t i = 0; i < part.size(); ++i) put(part[i], uniforms[part[i]] < draw.second(i));
      }
    }
    for (std::size_t side = 0; side < 2; ++side) {
      double* stats = answer.data() + (2 * p + side) * stats_size_;
      family_->clear(stats);
      add_stats(block, sides[side], stats);
    }
  }
  return answer;
}

BlockAnswer DataParallelBlocks::propose(std::size_t block) {
  make_lists(block);
  const State& state = states_[block];
  const Range rows = range(block);
  std::size_t wanted = 0;
  for (std::size_t p = 0; p < message_.pairs.size(); ++p)
    if (message_.pairs[p].is_split()) wanted += state.members[p].size();
  const UniformsOf uniforms(message_.name, purpose::stage(message_.stage), number(rows.begin), rows.size(),
                            wanted);
  const double* keys = wanted == 0 ? nullptr : this->keys(block, message_.name);
  BlockAnswer answer;
  SideLists sides;
  for (std::size_t p = 0; p < message_.pairs.size(); ++p) {
    const RowPair& pair = message_.pairs[p];
    const std::vector<std::uint32_t>& list = state.members[p];
    sides.start(list.size());
    SmallestKey smallest[2];
    double log_q = 0.0;
    SideDraw draw(*this, p);
    for (std::size_t begin = 0; begin < list.size(); begin += kTileRows) {
      const std::span part(list.data() + begin, std::min(kTileRows, list.size() - begin));
      draw.score(rows.begin, part);
      for (std::size_t i = 0; i < part.size(); ++i) {
        const std::uint64_t row = number(rows.begin + part[i]);
        std::size_t side = row == pair.second ? 1 : 0;
        if (row != pair.first && row != pair.second) {
          side =
              pair.is_split()
                  ? (uniforms[part[i]] < draw.second(i) ? 1 : 0)
                  : (static_cast<std::uint32_t>(labels_[rows.begin + part[i]]) == pair.second_slot ? 1 : 0);
          log_q += draw.log_p(side, i);
        }
        if (!pair.is_split()) continue;
        sides.put(part[i], side == 1);
        smallest[side].take(keys[part[i]], row);
      }
    }
    answer.push_back(log_q);
    if (!pair.is_split()) continue;
    for (std::size_t side = 0; side < 2; ++side) {
      answer.resize(answer.size() + stats_size_);
      double* stats = answer.data() + answer.size() - stats_size_;
      family_->clear(stats);
      add_stats(block, sides[side], stats);
      smallest[side].put(answer);
    }
  }
  return answer;
}

}  // namespace coppice::nrmm
