#include "coppice/model/rbhmc/discriminants.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "coppice/base/lanes.hpp"
#include "coppice/base/math.hpp"
#include "coppice/model/rbhmc/gaussian_conditional.hpp"

namespace coppice::rbhmc {
namespace {

constexpr int kMostShrinks = 100;

double sum(Lanes value) {
  double total = 0.0;
  for (std::size_t lane = 0; lane < kLanes; ++lane) total += value[lane];
  return total;
}

}  // namespace

void DiscriminantMoves::load_parent(const State& state, NodeId parent) {
  const LevelTree& tree = state.tree();
  const Margins& margins = state.margins();
  parent_ = parent;
  level_ = tree.level(parent) + 1;
  children_.assign(tree.children(parent).begin(), tree.children(parent).end());
  rows_.clear();
  own_.clear();
  for (std::size_t child = 0; child < children_.size(); ++child) {
    tree.rows_below(children_[child], rows_);
    own_.resize(rows_.size(), static_cast<std::uint32_t>(child));
  }
  count_ = rows_.size();
  stride_ = (count_ + kLanes - 1) / kLanes * kLanes;
  if (margins.gated()) return;
  scores_.assign(stride_ * children_.size(), 0.0);
  for (AlignedVector* values : {&floor_, &lowest_, &offset_, &along_, &across_}) values->assign(stride_, 0.0);
  for (std::size_t i = 0; i < count_; ++i) {
    const double* y = margins.feature(rows_[i]);
    for (std::size_t child = 0; child < children_.size(); ++child)
      scores_[child * stride_ + i] = own_[i] == child ? margins.own(rows_[i])[level_ - 1]
                                                      : margins.dot(margins.eta(children_[child]), y);
    if (margins.centered()) continue;
    double floor = 0.0;
    for (std::size_t level = 0; level < tree.depth(); ++level)
      if (level + 1 != level_)
        floor =
            std::max(floor, margins.margin() - margins.own(rows_[i])[level] + margins.best(rows_[i])[level]);
    floor_[i] = floor;
  }
}

/// The kept scores of the level, from the table.
void DiscriminantMoves::store_parent(State& state) const {
  Margins& margins = state.margins();
  for (std::size_t i = 0; i < count_; ++i) {
    double best = kMinusInfinity;
    std::size_t rival = 0;
    for (std::size_t child = 0; child < children_.size(); ++child) {
      const double score = scores_[child * stride_ + i];
      if (child == own_[i]) {
        margins.own(rows_[i])[level_ - 1] = score;
      } else if (score > best) {
        best = score;
        rival = child;
      }
    }
    margins.best(rows_[i])[level_ - 1] = best;
    margins.rival(rows_[i])[level_ - 1] = children_[rival];
  }
}

/// With s the child's score of a row, the row pays max(lowest, offset + s) if it is elsewhere and
/// max(lowest, offset - s) if it is in the child; the sign goes into the score.
void DiscriminantMoves::slice_child(State& state, std::size_t child, Stream& stream) {
  Margins& margins = state.margins();
  const double margin = margins.margin();
  double* eta = margins.eta(children_[child]);
  nu_.resize(margins.stride());
  margins.draw_prior(stream, nu_.data());
  for (std::size_t i = 0; i < count_; ++i) {
    const bool inside = own_[i] == child;
    double best = kMinusInfinity;  // among the row's siblings but this child
    for (std::size_t other = 0; other < children_.size(); ++other)
      if (other != child && other != own_[i]) best = std::max(best, scores_[other * stride_ + i]);
    const double own = scores_[own_[i] * stride_ + i];
    const double sign = inside ? -1.0 : 1.0;
    offset_[i] = inside ? margin + best : margin - own;
    lowest_[i] = inside ? floor_[i] : std::max(floor_[i], margin - own + best);
    along_[i] = sign * scores_[child * stride_ + i];
    across_[i] = sign * margins.score(nu_.data(), rows_[i]);
  }
  const auto total = [&](double cosine, double sine) {
    Lanes all{};
    for (std::size_t i = 0; i < stride_; i += kLanes) {
      const Lanes value = load_lanes(offset_.data() + i) + cosine * load_lanes(along_.data() + i) +
                          sine * load_lanes(across_.data() + i);
      const Lanes lowest = load_lanes(lowest_.data() + i);
      all += value > lowest ? value : lowest;
    }
    return sum(all);
  };
  const double scale = -2.0 * margins.penalty();
  double cosine = 0.0, sine = 0.0;
  if (!slice_ellipse(stream, [&](double c, double s) { return scale * total(c, s); }, cosine, sine)) return;
  for (std::size_t i = 0; i < margins.dimension(); ++i) eta[i] = cosine * eta[i] + sine * nu_[i];
  for (std::size_t i = 0; i < count_; ++i)
    scores_[child * stride_ + i] = (own_[i] == child ? -1.0 : 1.0) * (cosine * along_[i] + sine * across_[i]);
}

template <typename LogTarget>
bool DiscriminantMoves::slice_ellipse(Stream& stream, const LogTarget& log_target, double& cosine,
                                      double& sine) {
  const double threshold = log_target(1.0, 0.0) + std::log(draw_uniform(stream));
  double angle = 2.0 * std::numbers::pi * draw_uniform(stream);
  double low = angle - 2.0 * std::numbers::pi;
  double high = angle;
  for (int shrinks = 0; shrinks < kMostShrinks; ++shrinks) {
    ++slices_.proposed;
    cosine = std::cos(angle);
    sine = std::sin(angle);
    if (log_target(cosine, sine) > threshold) {
      ++slices_.accepted;
      return true;
    }
    (angle < 0.0 ? low : high) = angle;
    angle = low + (high - low) * draw_uniform(stream);
  }
  ++stuck_;
  return false;
}

/// The other children's part of a row's sum, the child's number of rows, and whether the row is in the child:
/// that is all its gate depends on when the child's score changes.
void DiscriminantMoves::slice_gate(State& state, NodeId parent, std::size_t child, Stream& stream) {
  const LevelTree& tree = state.tree();
  Margins& margins = state.margins();
  const NodeId node = children_[child];
  nu_.resize(margins.stride());
  margins.draw_prior(stream, nu_.data());
  // Lanes behind the last row: a sum of one, and nothing of the child.
  for (AlignedVector* values : {&floor_, &lowest_, &along_, &across_}) values->assign(stride_, 0.0);
  offset_.assign(stride_, 1.0);
  AlignedVector& others = offset_;
  AlignedVector& rows_of_child = lowest_;
  AlignedVector& inside = floor_;
  for (std::size_t i = 0; i < count_; ++i) {
    double sum = 0.0;
    for (const NodeId other : tree.children(parent))
      if (other != node)
        sum += static_cast<double>(tree.size(other)) * margins.gates().weight(other, rows_[i]);
    others[i] = sum;
    rows_of_child[i] = static_cast<double>(tree.size(node));
    inside[i] = own_[i] == child ? 1.0 : 0.0;
    along_[i] = margins.score(margins.eta(node), rows_[i]);
    across_[i] = margins.score(nu_.data(), rows_[i]);
  }
  const double power = margins.gates().power(level_);
  const auto log_target = [&](double cosine, double sine) {
    Lanes all{};
    const Lanes most = broadcast(Gates::kLargestScore);
    for (std::size_t i = 0; i < stride_; i += kLanes) {
      Lanes score = cosine * load_lanes(along_.data() + i) + sine * load_lanes(across_.data() + i);
      score = score > most ? most : score;
      score = score < -most ? -most : score;
      all += load_lanes(inside.data() + i) * score -
             log(load_lanes(others.data() + i) + load_lanes(rows_of_child.data() + i) * exp(score));
    }
    return margins.penalty() * power * sum(all);
  };
  double cosine = 0.0, sine = 0.0;
  if (!slice_ellipse(stream, log_target, cosine, sine)) return;
  double* eta = margins.eta(node);
  for (std::size_t i = 0; i < margins.dimension(); ++i) eta[i] = cosine * eta[i] + sine * nu_[i];
  margins.set_node(node);
}

void DiscriminantMoves::slice(State& state, Stream& stream) {
  LevelTree& tree = state.tree();
  Margins& margins = state.margins();
  for (std::size_t level = 0; level < tree.depth(); ++level)
    for (const NodeId parent : tree.at_level(level)) {
      const std::span<const NodeId> children = tree.children(parent);
      if (!margins.has_discriminants() || children.size() < 2) {
        for (const NodeId child : children) margins.draw_prior(stream, margins.eta(child));
        if (!margins.has_discriminants()) continue;
        if (margins.gated()) {
          margins.set_node(children[0]);
          margins.gates().refresh(tree, parent);
        } else {
          tree.for_each_row_below(parent, [&](std::uint32_t row) {
            margins.own(row)[level] = margins.score(margins.eta(children[0]), row);
          });
        }
        continue;
      }
      load_parent(state, parent);
      if (margins.gated()) {
        for (std::size_t child = 0; child < children_.size(); ++child)
          slice_gate(state, parent, child, stream);
        margins.gates().refresh(tree, parent);
        continue;
      }
      for (std::size_t child = 0; child < children_.size(); ++child) slice_child(state, child, stream);
      store_parent(state);
    }
}

void DiscriminantMoves::update_sd(State& state, Stream& stream) {
  const LevelTree& tree = state.tree();
  Margins& margins = state.margins();
  double shape = state.options().discriminant_precision.shape;
  double rate = state.options().discriminant_precision.rate;
  for (std::size_t level = 0; level < tree.depth(); ++level)
    for (const NodeId parent : tree.at_level(level)) {
      if (tree.children(parent).size() < 2) continue;
      for (const NodeId child : tree.children(parent)) {
        shape += 0.5 * static_cast<double>(margins.dimension());
        rate += 0.5 * margins.dot(margins.eta(child), margins.eta(child));
      }
    }
  margins.set_sd(std::sqrt(rate / draw_gamma(stream, shape)));
}

void DiscriminantMoves::shift(State& state, Stream& stream) {
  if (!state.margins().has_discriminants())
    return;  // every discriminant is a fresh draw from the prior already
  LevelTree& tree = state.tree();
  Margins& margins = state.margins();
  for (std::size_t level = 0; level < tree.depth(); ++level)
    for (const NodeId parent : tree.at_level(level)) {
      const std::span<const NodeId> children = tree.children(parent);
      if (children.size() < 2) continue;
      const auto count = static_cast<double>(children.size());
      eta_.assign(margins.stride(), 0.0);
      margins.draw_prior(stream, eta_.data());
      for (std::size_t i = 0; i < margins.dimension(); ++i) {
        double mean = 0.0;
        for (const NodeId child : children) mean += margins.eta(child)[i];
        eta_[i] = eta_[i] / std::sqrt(count) - mean / count;
      }
      if (margins.gated()) {
        shift_gates(state, parent);
        continue;
      }
      for (const NodeId child : children)
        for (std::size_t i = 0; i < margins.dimension(); ++i) margins.eta(child)[i] += eta_[i];
      tree.for_each_row_below(parent, [&](std::uint32_t row) {
        const double moved = margins.score(eta_.data(), row);
        margins.own(row)[level] += moved;
        margins.best(row)[level] += moved;
      });
    }
}

/// Moves the children's discriminants by eta_. Gates see differences too, but only where no score is beyond
/// the largest that counts, before or after; elsewhere the discriminants stay.
void DiscriminantMoves::shift_gates(State& state, NodeId parent) {
  const LevelTree& tree = state.tree();
  Margins& margins = state.margins();
  bool within = true;
  for (const NodeId child : tree.children(parent))
    tree.for_each_row_below(parent, [&](std::uint32_t row) {
      const double before = margins.score(margins.eta(child), row);
      const double after = before + margins.score(eta_.data(), row);
      within = within && std::max(std::abs(before), std::abs(after)) < Gates::kLargestScore;
    });
  if (!within) return;
  for (const NodeId child : tree.children(parent)) {
    for (std::size_t i = 0; i < margins.dimension(); ++i) margins.eta(child)[i] += eta_[i];
    margins.set_node(child);
  }
  margins.gates().refresh(tree, parent);
}

void DiscriminantMoves::gauss(State& state, Stream& stream, bool corrected) {
  LevelTree& tree = state.tree();
  Margins& margins = state.margins();
  if (!margins.active()) {
    slice(state, stream);
    return;
  }
  const std::size_t depth = tree.depth();
  // One auxiliary variable for each row, or for each of its levels where those add up; the square guard keeps
  // the published form finite.
  lambda_.assign(state.rows() * depth, 0.0);
  for (std::size_t row = 0; row < state.rows(); ++row) {
    double largest = kMinusInfinity;
    for (std::size_t level = 0; level < depth; ++level)
      largest = std::max(largest, margins.margin() - margins.own(row)[level] + margins.best(row)[level]);
    double shared = 0.0;
    if (!margins.centered() && largest > kMinusInfinity)
      shared = draw_gig_half(stream, std::abs(margins.penalty() * largest));
    for (std::size_t level = 0; level < depth; ++level) {
      double& lambda = lambda_[row * depth + level];
      lambda = shared;
      const double rho = margins.margin() - margins.own(row)[level] + margins.best(row)[level];
      if (margins.centered() && rho > kMinusInfinity)
        lambda = draw_gig_half(stream, std::abs(margins.penalty() * rho));
      const double y2 = margins.dot(margins.feature(row), margins.feature(row));
      if (!corrected)
        lambda = std::max(lambda, 1e-10 * std::max(1.0, margins.penalty() * margins.penalty() * y2));
    }
  }
  for (std::size_t level = 0; level < depth; ++level)
    for (const NodeId parent : tree.at_level(level)) {
      const std::span<const NodeId> children = tree.children(parent);
      if (children.size() < 2) {
        for (const NodeId child : children) margins.draw_prior(stream, margins.eta(child));
        tree.for_each_row_below(parent, [&](std::uint32_t row) {
          margins.own(row)[level] = margins.score(margins.eta(children[0]), row);
        });
        continue;
      }
      load_parent(state, parent);
      for (std::size_t child = 0; child < children_.size(); ++child)
        gauss_child(state, child, stream, corrected);
      store_parent(state);
    }
}

void DiscriminantMoves::gauss_child(State& state, std::size_t child, Stream& stream, bool corrected) {
  Margins& margins = state.margins();
  const std::size_t depth = state.tree().depth();
  const double c = margins.penalty();
  const double margin = margins.margin();
  const double prior_precision = 1.0 / (margins.sd() * margins.sd());
  double* eta = margins.eta(children_[child]);
  // For the child's scores s: the Gaussian of the rows whose worst sibling involves the child, and the log of
  // prior times augmented hinges.
  const auto build = [&](const double* s, GaussianConditional& gaussian, const double* value) {
    double log_target = -0.5 * prior_precision * margins.dot(value, value);
    for (std::size_t i = 0; i < count_; ++i) {
      const bool inside = own_[i] == child;
      double best = kMinusInfinity;
      std::size_t rival = child;
      for (std::size_t other = 0; other < children_.size(); ++other) {
        if (other == own_[i]) continue;
        const double score = other == child ? s[i] : scores_[other * stride_ + i];
        if (score > best) {
          best = score;
          rival = other;
        }
      }
      const double own = inside ? s[i] : scores_[own_[i] * stride_ + i];
      const double rho_here = margin - own + best;
      const double lambda = lambda_[rows_[i] * depth + level_ - 1];
      // Where another level is worse, this one does not matter; ties go to the lower level.
      double rho_elsewhere = kMinusInfinity;
      bool elsewhere_first = false;
      if (!margins.centered())
        for (std::size_t level = 0; level < depth; ++level) {
          if (level + 1 == level_) continue;
          const double rho = margin - margins.own(rows_[i])[level] + margins.best(rows_[i])[level];
          if (rho > rho_elsewhere) {
            rho_elsewhere = rho;
            elsewhere_first = level + 1 < level_;
          }
        }
      const bool matters = rho_here > rho_elsewhere || (rho_here == rho_elsewhere && !elsewhere_first);
      const double rho = std::max(rho_here, rho_elsewhere);
      log_target -= 0.5 * (lambda + c * rho) * (lambda + c * rho) / lambda;
      if (!matters || !(inside || rival == child)) continue;
      const double push = inside ? (c * lambda + c * c * margin) + c * c * best
                                 : -((c * lambda + c * c * margin) - c * c * own);
      gaussian.add(margins.feature(rows_[i]), c * c / lambda, push / lambda);
    }
    gaussian.factorize();
    return log_target;
  };
  GaussianConditional forward(margins.dimension(), prior_precision);
  const double log_old = build(scores_.data() + child * stride_, forward, eta);
  const Eigen::VectorXd proposed = forward.draw(stream);
  eta_.assign(margins.stride(), 0.0);
  std::copy(proposed.begin(), proposed.end(), eta_.data());
  for (std::size_t i = 0; i < count_; ++i) along_[i] = margins.score(eta_.data(), rows_[i]);
  ++gausses_.proposed;
  if (corrected) {
    GaussianConditional backward(margins.dimension(), prior_precision);
    const double log_new = build(along_.data(), backward, eta_.data());
    const double log_ratio = log_new - log_old + backward.log_density(eta) - forward.log_density(eta_.data());
    if (!(std::log(draw_uniform(stream)) < log_ratio)) return;
  }
  ++gausses_.accepted;
  std::copy_n(eta_.data(), margins.stride(), eta);
  std::copy_n(along_.data(), stride_, scores_.data() + child * stride_);
}

}  // namespace coppice::rbhmc
