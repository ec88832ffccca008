// Moves of whole views. One of two columns stays where it is, and its view keeps its rows but for one Gibbs
// scan over them with the columns that the view has after the move. The other column founds the other view,
// whose rows begin with a launch from a few columns that are related to it, without regard to the state. The
// same scans can be made to lead back, so the probabilities of both ways are known (Jain and Neal, 2004).
#include <algorithm>
#include <cmath>

#include "coppice/base/math.hpp"
#include "coppice/base/stop.hpp"
#include "coppice/model/crosscat/state.hpp"

namespace coppice::crosscat {
namespace {

/// Scans over the rows of the founded view, before and after columns come to it.
constexpr std::size_t kLaunchScans = 2;
/// It is launched from so many of its founder's relatives, or twice as many, and so on.
constexpr std::size_t kMostDoublings = 5;

}  // namespace

void State::move_views(Stream& stream, std::size_t moves, const StreamName& name, Relatives& relatives) {
  const std::size_t columns = table_->count();
  if (moves == 0 || columns < 2) return;
  for (std::unique_ptr<View>& offer : offers_) {
    if (offer != nullptr) continue;
    offer = std::make_unique<View>(*table_, *row_prior_, options_.split_merge);
    offer->reserve_scans();
    both_.reserve(columns);
    for (std::size_t side = 0; side < 2; ++side) {
      sides_[side].reserve(columns);
      proposed_[side].reserve(columns);
      log_fit_[side].reserve(columns);
    }
    launch_of_.reserve(columns);
    side_of_.reserve(columns);
  }
  begin_columns(stream);
  for (std::size_t move = 0; move < moves; ++move) {
    throw_if_stopped(stop_);
    const std::size_t first = draw_index(stream, columns);
    std::size_t second = draw_index(stream, columns - 1);
    if (second >= first) ++second;
    move_view(first, second, name, relatives, stream);
  }
  end_columns();
}

void State::launch_view(std::size_t first, std::size_t second, const StreamName& name, Relatives& relatives,
                        Stream& stream) {
  const std::size_t wanted = (std::size_t{1} << draw_index(stream, kMostDoublings + 1)) - 1;
  const std::span<const double> gains = relatives.gains(second, name);
  std::vector<std::size_t>& nearest = sides_[1];
  nearest.clear();
  for (const std::size_t cell : both_)
    if (cell != first && cell != second) nearest.push_back(cell);
  const std::size_t count = std::min(wanted, nearest.size());
  const auto is_nearer = [&](std::size_t a, std::size_t b) {
    return gains[a] != gains[b] ? gains[a] > gains[b] : a < b;
  };
  std::partial_sort(nearest.begin(), nearest.begin() + static_cast<std::ptrdiff_t>(count), nearest.end(),
                    is_nearer);
  nearest.resize(count);
  nearest.push_back(second);
  std::sort(nearest.begin(), nearest.end());
  for (std::size_t i = 0; i < both_.size(); ++i)
    launch_of_[i] = std::binary_search(nearest.begin(), nearest.end(), both_[i]) ? 1 : 0;
  View& founded = *offers_[1];
  founded.allocate(nearest, row_order_, launching_, stream);
  for (std::size_t scan = 0; scan < kLaunchScans; ++scan) founded.gibbs(launching_, stream);
  launched_.assign(founded.labels().begin(), founded.labels().end());
  fit_columns(launched_, 1);
}

void State::fit_columns(std::span<const Label> rows, std::size_t side) {
  offered_sets_.assign(rows);
  log_fit_[side].clear();
  for (const std::size_t cell : both_) log_fit_[side].push_back((*table_)[cell].log_marginal(offered_sets_));
}

double State::divide(std::size_t first, std::size_t second, bool is_given, Stream& stream) {
  side_of_ = launch_of_;
  double sizes[2] = {0.0, 0.0};
  for (const std::uint8_t side : side_of_) sizes[side] += 1.0;
  double log_q = 0.0;
  for (std::size_t i = 0; i < both_.size(); ++i) {
    if (both_[i] == first || both_[i] == second) continue;
    sizes[side_of_[i]] -= 1.0;
    const double log_odds =
        power_ * (std::log(sizes[1]) - std::log(sizes[0]) + log_fit_[1][i] - log_fit_[0][i]);
    const double log_one = log_logistic(log_odds);
    const bool to_one =
        is_given ? home_[both_[i]] == home_[second] : std::log(draw_uniform(stream)) < log_one;
    log_q += to_one ? log_one : log_logistic(-log_odds);
    side_of_[i] = to_one ? 1 : 0;
    sizes[side_of_[i]] += 1.0;
  }
  for (std::vector<std::size_t>& side : sides_) side.clear();
  for (std::size_t i = 0; i < both_.size(); ++i) sides_[side_of_[i]].push_back(both_[i]);
  return log_q;
}

State::Way State::carry_rows(std::span<const std::size_t> cells, std::span<const Label> from,
                             const Label* goal, Stream& stream) {
  offers_[0]->set(cells, from);
  const double log_q = offers_[0]->scan(row_order_, power_, goal, stream, stop_);
  return {power_ * offers_[0]->log_joint(), log_q};
}

State::Way State::found_rows(const Label* goal, Stream& stream) {
  offers_[1]->set(sides_[1], launched_);
  // The rows get used to the columns that have come.
  for (std::size_t scan = 0; scan < kLaunchScans; ++scan) offers_[1]->gibbs(launching_, stream);
  const double log_q = offers_[1]->scan(row_order_, power_, goal, stream, stop_);
  return {power_ * offers_[1]->log_joint(), log_q};
}

void State::move_view(std::size_t first, std::size_t second, const StreamName& name, Relatives& relatives,
                      Stream& stream) {
  const std::size_t homes[2] = {home_[first], home_[second]};
  const bool is_split = homes[0] == homes[1];
  const bool is_merge = !is_split && draw_uniform(stream) < 0.5;
  MoveCount& count =
      is_split ? counts_.view_splits : (is_merge ? counts_.view_merges : counts_.view_divisions);
  ++count.proposed;
  const double log_uniform = std::log(draw_uniform(stream));
  both_.clear();
  for (std::size_t side = 0; side < (is_split ? 1U : 2U); ++side)
    both_.insert(both_.end(), views_[homes[side]]->cells().begin(), views_[homes[side]]->cells().end());
  std::sort(both_.begin(), both_.end());
  launch_of_.resize(both_.size());
  launch_view(first, second, name, relatives, stream);

  const auto log_size = [](const std::vector<std::size_t>& cells) {
    return log_gamma(static_cast<double>(cells.size()));
  };
  const auto log_prior_apart = [&] {
    return power_ * (column_prior_->log_open() + log_size(sides_[0]) + log_size(sides_[1]));
  };
  const double log_prior_together = power_ * log_size(both_);
  // Two views are merged by every other move only, their common one is split by each.
  const double log_choice = std::log(0.5);
  const std::span<const Label> kept = views_[homes[0]]->labels();
  const std::span<const Label> other = views_[homes[1]]->labels();
  // Target density over the probability of coming there, of what is proposed and of what there is.
  double log_new = 0.0;
  double log_old = 0.0;
  if (is_merge) {
    const Way together = carry_rows(both_, kept, nullptr, stream);
    if (together.log_q == kMinusInfinity) return;
    carried_.assign(offers_[0]->labels().begin(), offers_[0]->labels().end());
    log_new = log_prior_together + together.log_joint - together.log_q;
  } else {
    fit_columns(kept, 0);
    log_new = -divide(first, second, false, stream);
    const Way stays = carry_rows(sides_[0], kept, nullptr, stream);
    if (stays.log_q == kMinusInfinity) return;
    carried_.assign(offers_[0]->labels().begin(), offers_[0]->labels().end());
    const Way goes = found_rows(nullptr, stream);
    if (goes.log_q == kMinusInfinity) return;
    founded_.assign(offers_[1]->labels().begin(), offers_[1]->labels().end());
    log_new += log_prior_apart() + stays.log_joint - stays.log_q + goes.log_joint - goes.log_q;
    proposed_[0] = sides_[0];
    proposed_[1] = sides_[1];
  }
  if (is_split) {
    const Way together = carry_rows(both_, carried_, kept.data(), stream);
    log_old = log_prior_together + together.log_joint - together.log_q;
  } else {
    fit_columns(carried_, 0);
    log_old = -divide(first, second, true, stream);
    const Way stays = carry_rows(sides_[0], carried_, kept.data(), stream);
    const Way goes = found_rows(other.data(), stream);
    log_old += log_prior_apart() + stays.log_joint - stays.log_q + goes.log_joint - goes.log_q;
  }
  const double log_turn = is_split ? log_choice : (is_merge ? -log_choice : 0.0);
  if (!(log_uniform < log_turn + log_new - log_old)) return;
  ++count.accepted;
  if (is_merge) {
    proposed_[0] = both_;
    proposed_[1].clear();
  }
  for (std::size_t side = 0; side < 2; ++side) {
    if (proposed_[side].empty()) continue;
    const std::size_t to = open_view();
    views_[to]->begin(side == 0 ? carried_ : founded_);
    for (const std::size_t cell : proposed_[side]) move_column(cell, to);
  }
}

}  // namespace coppice::crosscat
