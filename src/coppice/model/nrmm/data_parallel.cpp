#include "coppice/model/nrmm/data_parallel.hpp"

#include <algorithm>
#include <cmath>

namespace coppice::nrmm {
namespace {

namespace purpose = data_parallel_purpose;
/// Launches in which the first row begins alone: random halves of many rows never become a few and the rest.
constexpr double kAlone = 0.5;

bool is_same(const StreamName& a, const StreamName& b) {
  return a.seed == b.seed && a.chain == b.chain && a.sweep == b.sweep;
}

}  // namespace

DataParallel::DataParallel(const Family& family, const ProductPartition& law, BlockTask& task,
                           std::size_t rows, const DataParallelOptions& options)
    : family_(&family),
      law_(&law),
      task_(&task),
      rows_(rows),
      stats_size_(family.stats_size()),
      blocks_((rows + options.block_size - 1) / options.block_size),
      options_(options) {}

BlockMessage DataParallel::message(Question question, const StreamName& name) const {
  BlockMessage message;
  message.question = question;
  message.hyper.resize(family_->hyper_size());
  family_->get_hyper(message.hyper.data());
  message.labels_are_kept = labels_are_kept_;
  message.assignment = assignment_;
  message.name = name;
  return message;
}

void DataParallel::set_assignment(Engine& engine, Assignment assignment, const StreamName& next) {
  labels_are_kept_ = false;
  assignment_ = std::move(assignment);
  tally(engine, next);
}

void DataParallel::keep_labels(Engine& engine, const StreamName& next) {
  labels_are_kept_ = true;
  assignment_ = {};
  tally(engine, next);
}

BlockAnswer DataParallel::ask(Engine& engine, const BlockMessage& message) const {
  return reduce_in_order(engine.ask(*task_, blocks_, message.encode()),
                         [&](BlockAnswer& a, const BlockAnswer& b) { task_->merge(a, b); });
}

void DataParallel::tally(Engine& engine, const StreamName& next) {
  const BlockAnswer all = ask(engine, message(Question::tally, next));
  const std::size_t clusters = all.size() / (stats_size_ + 2);
  stats_.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(clusters * stats_size_));
  sizes_.resize(clusters);
  keys_.resize(clusters);
  key_rows_.resize(clusters);
  for (std::size_t k = 0; k < clusters; ++k) {
    sizes_[k] = static_cast<std::uint32_t>(count_of(stats(k)));
    keys_[k] = all[clusters * stats_size_ + 2 * k];
    key_rows_[k] = static_cast<std::uint64_t>(all[clusters * stats_size_ + 2 * k + 1]);
  }
  keys_of_ = next;
}

DrawnClusters DataParallel::draw_clusters(const Family& family, double discount,
                                          std::span<const double> stats, const StreamName& name,
                                          Purpose purpose) {
  const std::size_t stats_size = family.stats_size();
  const std::size_t clusters = stats.size() / stats_size;
  DrawnClusters drawn;
  drawn.log_weights.resize(clusters);
  drawn.thetas.resize(clusters * family.theta_size());
  for (std::size_t k = 0; k < clusters; ++k) {
    const double* own = stats.data() + k * stats_size;
    Stream stream(name, purpose, k);
    drawn.log_weights[k] = draw_log_gamma(stream, count_of(own) - discount);
    family.draw_theta(own, stream, drawn.thetas.data() + k * family.theta_size());
  }
  return drawn;
}

void DataParallel::assign(Engine& engine, const StreamName& name) {
  if (!is_same(keys_of_, name)) tally(engine, name);
  assignment_ = {name, draw_clusters(*family_, law_->discount(), stats_, name, purpose::cluster), keys_,
                 key_rows_};
  labels_are_kept_ = false;
  tally(engine, {name.seed, name.chain, name.sweep + 1});
}

std::vector<RowPair> DataParallel::draw_pairs(Engine& engine, const StreamName& name, std::size_t count) {
  BlockMessage where = message(Question::locate, name);
  std::vector<double> second_shares;
  for (std::size_t p = 0; p < count; ++p) {
    Stream stream(name, purpose::pairs, p);
    const std::uint64_t first = draw_index(stream, rows_);
    const std::uint64_t other = draw_index(stream, rows_ - 1);
    where.rows.push_back(first);
    where.rows.push_back(other + (other >= first ? 1 : 0));
    second_shares.push_back(draw_uniform(stream) < kAlone ? 1.0 : 0.5);
  }
  const BlockAnswer slots = ask(engine, where);
  std::vector<RowPair> kept;
  std::vector<char> is_taken(sizes_.size(), 0);
  for (std::size_t p = 0; p < count; ++p) {
    RowPair pair{where.rows[2 * p], where.rows[2 * p + 1], static_cast<std::uint32_t>(slots[2 * p]),
                 static_cast<std::uint32_t>(slots[2 * p + 1])};
    if (is_taken[pair.first_slot] != 0 || is_taken[pair.second_slot] != 0) continue;
    is_taken[pair.first_slot] = is_taken[pair.second_slot] = 1;
    const double members = sizes_[pair.first_slot] + (pair.is_split() ? 0.0 : sizes_[pair.second_slot]);
    if (options_.launch_rows != 0)
      pair.launch_share = std::min(1.0, static_cast<double>(options_.launch_rows) / members);
    pair.second_share = second_shares[p];
    kept.push_back(pair);
  }
  return kept;
}

void DataParallel::split_merge(Engine& engine, const StreamName& name, std::size_t pairs) {
  if (pairs == 0 || rows_ < 2) return;
  if (!is_same(keys_of_, name)) tally(engine, name);
  BlockMessage launch = message(Question::launch, name);
  launch.pairs = draw_pairs(engine, name, pairs);
  const bool all_in_launch = std::all_of(launch.pairs.begin(), launch.pairs.end(),
                                         [](const RowPair& pair) { return pair.launch_share >= 1.0; });
  // Random sides, scans of the rows in the launch, and one of all rows if those are not all.
  const std::size_t stages = 1 + options_.launch_scans + (all_in_launch ? 0 : 1);
  for (; launch.stage < stages; ++launch.stage) {
    launch.all_rows = launch.stage > options_.launch_scans;
    const BlockAnswer sides = ask(engine, launch);
    launch.sides = draw_clusters(*family_, law_->discount(), sides, name, purpose::sides(launch.stage));
  }
  std::vector<Proposal> proposals = propose(engine, launch);
  for (std::size_t p = 0; p < proposals.size(); ++p) {
    const RowPair& pair = launch.pairs[p];
    Stream stream(name, purpose::accept, p);
    MoveCount& count = pair.is_split() ? splits_ : merges_;
    ++count.proposed;
    if (!is_accepted(pair, proposals[p], std::log(draw_uniform(stream)))) continue;
    ++count.accepted;
    if (pair.is_split())
      split(pair, proposals[p]);
    else
      merge(pair, proposals[p]);
  }
  remove_emptied();
}

std::vector<DataParallel::Proposal> DataParallel::propose(Engine& engine, BlockMessage& launch) {
  launch.question = Question::propose;
  const std::vector<RowPair>& pairs = launch.pairs;
  const std::size_t side_size = stats_size_ + 2;
  const BlockAnswer all = ask(engine, launch);
  std::vector<Proposal> proposals(pairs.size());
  const double* next = all.data();
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    proposals[p].log_q = *next++;
    for (std::size_t side = 0; pairs[p].is_split() && side < 2; ++side, next += side_size) {
      proposals[p].stats[side].assign(next, next + stats_size_);
      proposals[p].keys[side] = next[stats_size_];
      proposals[p].rows[side] = static_cast<std::uint64_t>(next[stats_size_ + 1]);
    }
  }
  return proposals;
}

bool DataParallel::is_accepted(const RowPair& pair, Proposal& proposal, double log_uniform) {
  if (!pair.is_split()) {
    const double* first = stats(pair.first_slot);
    proposal.stats[0].assign(first, first + stats_size_);
    family_->merge(proposal.stats[0].data(), stats(pair.second_slot));
  }
  const double* first = pair.is_split() ? proposal.stats[0].data() : stats(pair.first_slot);
  const double* second = pair.is_split() ? proposal.stats[1].data() : stats(pair.second_slot);
  const double* both = pair.is_split() ? stats(pair.first_slot) : proposal.stats[0].data();
  const auto log_weight = [&](const double* stats) {
    return law_->log_kappa(static_cast<std::size_t>(count_of(stats))) + family_->log_marginal(stats);
  };
  const double log_split = log_weight(first) + log_weight(second) - log_weight(both) - proposal.log_q;
  return log_uniform < (pair.is_split() ? log_split : -log_split);
}

void DataParallel::split(const RowPair& pair, const Proposal& proposal) {
  const std::size_t slot = pair.first_slot;
  std::copy(proposal.stats[0].begin(), proposal.stats[0].end(), stats_of(slot));
  sizes_[slot] = static_cast<std::uint32_t>(count_of(stats(slot)));
  keys_[slot] = proposal.keys[0];
  key_rows_[slot] = proposal.rows[0];
  stats_.insert(stats_.end(), proposal.stats[1].begin(), proposal.stats[1].end());
  sizes_.push_back(static_cast<std::uint32_t>(count_of(proposal.stats[1].data())));
  keys_.push_back(proposal.keys[1]);
  key_rows_.push_back(proposal.rows[1]);
}

void DataParallel::merge(const RowPair& pair, const Proposal& proposal) {
  const std::size_t kept = pair.first_slot;
  const std::size_t gone = pair.second_slot;
  std::copy(proposal.stats[0].begin(), proposal.stats[0].end(), stats_of(kept));
  sizes_[kept] += sizes_[gone];
  sizes_[gone] = 0;
  if (keys_[gone] < keys_[kept]) {
    keys_[kept] = keys_[gone];
    key_rows_[kept] = key_rows_[gone];
  }
}

void DataParallel::remove_emptied() {
  std::size_t kept = 0;
  for (std::size_t k = 0; k < sizes_.size(); ++k) {
    if (sizes_[k] == 0) continue;
    if (kept != k) {
      std::copy_n(stats(k), stats_size_, stats_of(kept));
      sizes_[kept] = sizes_[k];
      keys_[kept] = keys_[k];
      key_rows_[kept] = key_rows_[k];
    }
    ++kept;
  }
  stats_.resize(kept * stats_size_);
  sizes_.resize(kept);
  keys_.resize(kept);
  key_rows_.resize(kept);
}

void DataParallel::rebase(const double* before) {
  for (std::size_t k = 0; k < sizes_.size(); ++k) family_->rebase(stats_of(k), before);
}

double DataParallel::log_marginal() const {
  double total = 0.0;
  for (std::size_t k = 0; k < sizes_.size(); ++k) total += family_->log_marginal(stats(k));
  return total;
}

void DataParallel::set_counts(const MoveCount& splits, const MoveCount& merges) {
  splits_ = splits;
  merges_ = merges;
}

}  // namespace coppice::nrmm
