#include "coppice/post/descent.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "coppice/base/lanes.hpp"

namespace coppice {

namespace {

constexpr std::size_t kRowBlock = 16;  // rows whose labels are gathered together, a cache line of each draw
constexpr std::size_t kSpareClusters = 6;  // empty clusters that rows may open

}  // namespace

std::vector<double> loss_terms(Loss loss, std::size_t rows) {
  std::vector<double> terms(rows + 1, 0.0);
  const auto n = static_cast<double>(rows);
  for (std::size_t i = 1; i <= rows; ++i) {
    const auto x = static_cast<double>(i);
    terms[i] = loss == Loss::vi ? x * std::log(x) / n : x * x / (n * n);
  }
  return terms;
}

ExpectedLoss::ExpectedLoss(const DrawSet& draws, Loss loss, double join_cost)
    : draws_(draws), bits_(draws), terms_(loss_terms(loss, draws.rows())), join_cost_(join_cost) {
  own_of_draw_.resize(draws.size());
  for (std::size_t d = 0; d < draws.size(); ++d) {
    own_of_draw_[d] = own(draws[d], draws.clusters(d));
    constant_ += (2.0 - join_cost) * draws.weight(d) * own_of_draw_[d];
  }
}

double ExpectedLoss::own(std::span<const Label> labels, std::size_t clusters) const {
  std::vector<std::size_t> sizes(clusters, 0);
  for (const Label label : labels) ++sizes[static_cast<std::size_t>(label)];
  double sum = 0.0;
  for (const std::size_t size : sizes) sum += terms_[size];
  return sum;
}

ComparedPartition ExpectedLoss::prepare(std::span<const Label> labels, std::size_t clusters) const {
  return {labels, clusters, own(labels, clusters), bits_.bits_of(labels, clusters)};
}

double ExpectedLoss::to_draw(const ComparedPartition& partition, std::size_t d) {
  const double overlap = bits_.suits(partition.bits, d)
                             ? bits_.sum_over_cells(partition.bits, d, terms_)
                             : counter_.sum_over_cells(partition.labels, partition.clusters, draws_[d],
                                                       draws_.clusters(d), terms_);
  return std::max(join_cost_ * partition.own + (2.0 - join_cost_) * own_of_draw_[d] - 2.0 * overlap, 0.0);
}

double ExpectedLoss::operator()(std::span<const Label> labels, std::size_t clusters, double limit) {
  const ComparedPartition partition = prepare(labels, clusters);
  double sum = 0.0;
  for (std::size_t d = 0; d < draws_.size() && sum <= limit; ++d)
    sum += draws_.weight(d) * to_draw(partition, d);
  return sum;
}

std::vector<double> losses_of_cuts(const Linkage& tree, std::size_t count, const ExpectedLoss& loss) {
  const DrawSet& draws = loss.draws();
  const auto terms = loss.terms();
  const std::size_t lines = draws.all_clusters();
  const std::size_t n = tree.leaves;
  const Labels labels = cut_into(tree, count);
  std::vector<std::uint32_t> overlaps(count * lines, 0);
  for (std::size_t d = 0; d < draws.size(); ++d) {
    const auto draw = draws[d];
    for (std::size_t i = 0; i < n; ++i) {
      ++overlaps[static_cast<std::size_t>(labels[i]) * lines + draws.offset(d) +
                 static_cast<std::size_t>(draw[i])];
    }
  }
  std::vector<double> weight(lines);
  for (std::size_t d = 0; d < draws.size(); ++d) {
    for (std::size_t l = 0; l < draws.clusters(d); ++l) weight[draws.offset(d) + l] = draws.weight(d);
  }
  // The cluster of a node at the finest cut: that of any of its leaves.
  std::vector<std::size_t> slot(tree.nodes());
  for (std::size_t i = 0; i < n; ++i) slot[i] = static_cast<std::size_t>(labels[i]);
  for (std::size_t node = n; node < tree.nodes(); ++node) slot[node] = slot[tree.merge(node).left];
  std::vector<std::size_t> sizes(count, 0);
  for (const Label label : labels) ++sizes[static_cast<std::size_t>(label)];

  double current = loss.constant();
  for (const std::size_t size : sizes) current += loss.join_cost() * terms[size];
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t line = 0; line < lines; ++line)
      current -= 2.0 * weight[line] * terms[overlaps[k * lines + line]];
  }
  std::vector<double> result(count);
  result[count - 1] = current;
  for (std::size_t clusters = count - 1; clusters >= 1; --clusters) {
    const Merge& merge = tree.merges[n - clusters - 1];
    const std::size_t a = slot[merge.left];
    const std::size_t b = slot[merge.right];
    std::uint32_t* kept = overlaps.data() + a * lines;
    const std::uint32_t* gone = overlaps.data() + b * lines;
    double change = 0.0;
    for (std::size_t line = 0; line < lines; ++line) {
      if (gone[line] == 0) continue;
      const std::uint32_t both = kept[line] + gone[line];
      change += weight[line] * (terms[both] - terms[kept[line]] - terms[gone[line]]);
      kept[line] = both;
    }
    current +=
        loss.join_cost() * (terms[sizes[a] + sizes[b]] - terms[sizes[a]] - terms[sizes[b]]) - 2.0 * change;
    sizes[a] += sizes[b];
    result[clusters - 1] = current;
  }
  return result;
}

Descent::Descent(const ExpectedLoss& loss, std::size_t max_clusters, std::size_t max_cells)
    : draws_(loss.draws()),
      terms_(loss.terms()),
      max_clusters_(max_clusters == 0 ? draws_.rows() : max_clusters),
      max_cells_(max_cells),
      join_cost_(loss.join_cost()),
      line_weight_(draws_.all_clusters()) {
  gains_.resize(draws_.rows());
  for (std::size_t x = 0; x < draws_.rows(); ++x) gains_[x] = terms_[x + 1] - terms_[x];
  for (const double gain : gains_) size_gains_.push_back(join_cost_ * gain);
  for (std::size_t d = 0; d < draws_.size(); ++d) {
    std::fill_n(line_weight_.begin() + static_cast<std::ptrdiff_t>(draws_.offset(d)), draws_.clusters(d),
                draws_.weight(d));
  }
}

std::size_t Descent::improve(Labels& labels, std::size_t sweeps, double& work) {
  bool is_stale = true;
  for (std::size_t pass = 0; pass < sweeps && work > 0.0; ++pass) {
    // A new table when clusters were merged, and when all spare clusters are taken, so that rows can open
    // more.
    const auto empty = std::count(sizes_.begin(), sizes_.end(), std::size_t{0});
    if (is_stale || (empty == 0 && slots_ < std::min(max_clusters_, draws_.rows()))) {
      canonicalize(labels);
      if (!build(labels)) break;
    }
    is_stale = false;
    if (sweep(labels, work)) continue;
    if (!merge_best_pair(labels, work)) break;
    is_stale = true;
  }
  return canonicalize(labels);
}

bool Descent::build(std::span<const Label> labels) {
  const auto used = static_cast<std::size_t>(*std::max_element(labels.begin(), labels.end())) + 1;
  slots_ = std::max(used, std::min({used + kSpareClusters, max_clusters_, draws_.rows()}));
  width_ = (slots_ + kLanes - 1) / kLanes * kLanes;
  if (draws_.all_clusters() > max_cells_ / width_) return false;
  sizes_.assign(slots_, 0);
  for (const Label label : labels) ++sizes_[static_cast<std::size_t>(label)];
  counts_.assign(draws_.all_clusters() * width_, 0);
  for (std::size_t d = 0; d < draws_.size(); ++d) {
    const auto draw = draws_[d];
    std::uint32_t* counts = counts_.data() + draws_.offset(d) * width_;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      ++counts[static_cast<std::size_t>(draw[i]) * width_ + static_cast<std::size_t>(labels[i])];
    }
  }
  table_.assign(counts_.size(), 0.0);
  for (std::size_t line = 0; line < draws_.all_clusters(); ++line) {
    for (std::size_t k = 0; k < slots_; ++k) set_count(line, k, counts_[line * width_ + k]);
  }
  return true;
}

void Descent::set_count(std::size_t line, std::size_t cluster, std::uint32_t count) {
  counts_[line * width_ + cluster] = count;
  // A full count never meets one more row, so its gain is never read.
  table_[line * width_ + cluster] = count < gains_.size() ? line_weight_[line] * gains_[count] : 0.0;
}

void Descent::sum_gains(const std::uint32_t* lines, double* sums) const {
  const std::size_t count = draws_.size();
  for (std::size_t first = 0; first < width_; first += kLanes) {
    Lanes even = {};
    Lanes odd = {};
    const double* column = table_.data() + first;
    std::size_t d = 0;
    for (; d + 2 <= count; d += 2) {  // two sums, because each is a chain of dependent additions
      even += load_lanes(column + lines[d] * width_);
      odd += load_lanes(column + lines[d + 1] * width_);
    }
    if (d < count) even += load_lanes(column + lines[d] * width_);
    store_lanes(sums + first, even + odd);
  }
}

bool Descent::sweep(Labels& labels, double& work) {
  const std::size_t count = draws_.size();
  std::vector<std::uint32_t> lines(kRowBlock * count);
  std::vector<double> sums(width_);
  bool moved = false;
  for (std::size_t start = 0; start < labels.size() && work > 0.0; start += kRowBlock) {
    const std::size_t end = std::min(start + kRowBlock, labels.size());
    for (std::size_t d = 0; d < count; ++d) {
      const auto draw = draws_[d];
      for (std::size_t i = start; i < end; ++i) {
        lines[(i - start) * count + d] =
            static_cast<std::uint32_t>(draws_.offset(d) + static_cast<std::size_t>(draw[i]));
      }
    }
    for (std::size_t i = start; i < end; ++i) {
      const std::uint32_t* row = lines.data() + (i - start) * count;
      const auto from = static_cast<std::size_t>(labels[i]);
      sum_gains(row, sums.data());
      double stay = 0.0;  // what leaving saves: the gains of the counts without this row
      for (std::size_t d = 0; d < count; ++d) {
        stay += draws_.weight(d) * gains_[counts_[row[d] * width_ + from] - 1];
      }
      const double cost_here = size_gains_[sizes_[from] - 1] - 2.0 * stay;
      double best_cost = cost_here - kLeastGain;
      std::size_t best = from;
      for (std::size_t k = 0; k < slots_; ++k) {
        if (k == from) continue;
        const double cost = size_gains_[sizes_[k]] - 2.0 * sums[k];
        if (cost < best_cost) {
          best_cost = cost;
          best = k;
        }
      }
      if (best == from) continue;
      move_row(row, from, best);
      labels[i] = static_cast<Label>(best);
      moved = true;
    }
    work -= static_cast<double>((end - start) * count * (width_ + 4));
  }
  return moved;
}

std::vector<std::uint32_t> Descent::lines_of(std::size_t row) const {
  std::vector<std::uint32_t> lines(draws_.size());
  for (std::size_t d = 0; d < lines.size(); ++d)
    lines[d] = static_cast<std::uint32_t>(draws_.offset(d) + static_cast<std::size_t>(draws_[d][row]));
  return lines;
}

void Descent::costs(std::size_t row, std::size_t from, std::vector<double>& costs) const {
  const std::vector<std::uint32_t> lines = lines_of(row);
  costs.resize(width_);
  sum_gains(lines.data(), costs.data());
  double stay = 0.0;
  for (std::size_t d = 0; d < lines.size(); ++d)
    stay += draws_.weight(d) * gains_[counts_[lines[d] * width_ + from] - 1];
  for (std::size_t k = 0; k < slots_; ++k)
    costs[k] = (k == from                   ? size_gains_[sizes_[k] - 1]
                : sizes_[k] < gains_.size() ? size_gains_[sizes_[k]]
                                            : 0.0) -
               2.0 * (k == from ? stay : costs[k]);
}

void Descent::move(std::size_t row, std::size_t from, std::size_t to) {
  move_row(lines_of(row).data(), from, to);
}

void Descent::move_row(const std::uint32_t* lines, std::size_t from, std::size_t to) {
  --sizes_[from];
  ++sizes_[to];
  for (std::size_t d = 0; d < draws_.size(); ++d) {
    set_count(lines[d], from, counts_[lines[d] * width_ + from] - 1);
    set_count(lines[d], to, counts_[lines[d] * width_ + to] + 1);
  }
}

bool Descent::merge_best_pair(Labels& labels, double& work) {
  std::vector<std::size_t> used;
  for (std::size_t k = 0; k < slots_; ++k) {
    if (sizes_[k] > 0) used.push_back(k);
  }
  const double cost =
      0.5 * static_cast<double>(used.size() * used.size()) * static_cast<double>(draws_.all_clusters());
  if (used.size() < 2 || cost * 4.0 > work) return false;
  work -= cost * 4.0;
  // change[a][b] = -2 E_d[sum_l f(n_al + n_bl) - f(n_al) - f(n_bl)], line by line so that the counts are read
  // once.
  std::vector<double> change(used.size() * used.size(), 0.0);
  for (std::size_t line = 0; line < draws_.all_clusters(); ++line) {
    const std::uint32_t* counts = counts_.data() + line * width_;
    const double weight = -2.0 * line_weight_[line];
    for (std::size_t a = 0; a < used.size(); ++a) {
      const std::uint32_t count_a = counts[used[a]];
      if (count_a == 0) continue;
      for (std::size_t b = a + 1; b < used.size(); ++b) {
        const std::uint32_t count_b = counts[used[b]];
        if (count_b == 0) continue;
        change[a * used.size() + b] +=
            weight * (terms_[count_a + count_b] - terms_[count_a] - terms_[count_b]);
      }
    }
  }
  double best = -kLeastGain;
  std::size_t best_a = 0;
  std::size_t best_b = 0;
  for (std::size_t a = 0; a < used.size(); ++a) {
    for (std::size_t b = a + 1; b < used.size(); ++b) {
      const std::size_t size_a = sizes_[used[a]];
      const std::size_t size_b = sizes_[used[b]];
      const double total = join_cost_ * (terms_[size_a + size_b] - terms_[size_a] - terms_[size_b]) +
                           change[a * used.size() + b];
      if (total < best) {
        best = total;
        best_a = used[a];
        best_b = used[b];
      }
    }
  }
  if (best_a == best_b) return false;
  std::replace(labels.begin(), labels.end(), static_cast<Label>(best_b), static_cast<Label>(best_a));
  return true;
}

}  // namespace coppice
