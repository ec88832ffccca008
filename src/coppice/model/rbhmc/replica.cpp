#include "coppice/model/rbhmc/replica.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "coppice/base/byte_stream.hpp"
#include "coppice/base/error.hpp"

namespace coppice::rbhmc {
namespace {

constexpr std::uint64_t kEarlySweeps = 50;
constexpr std::size_t kEarlyFactor = 5;
constexpr std::size_t kMostBlockMoves = 1000;

}  // namespace

Replica::Replica(const Problem& problem, const Options& options)
    : state_(problem, options), paths_(state_), components_(problem) {
  paths_.stop_at(problem.stop);
}

void Replica::init(const StreamName& name) {
  constexpr std::size_t kMostAlone = 2000;
  Start start = state_.options().start;
  if (start == Start::dispersed) {
    constexpr Start kKinds[] = {Start::sequential, Start::single_path, Start::each_alone, Start::prior};
    start = kKinds[name.chain % 4];
    if (start == Start::each_alone && state_.rows() > kMostAlone) start = Start::sequential;
  }
  if (start == Start::each_alone && state_.rows() > kMostAlone)
    fail(ErrorCode::configuration, "--init each-alone is for up to {} rows, not {}", kMostAlone,
         state_.rows());
  state_.reset_learned();
  state_.margins().set_sd(state_.options().discriminant_sd);
  if (start == Start::single_path || start == Start::each_alone)
    paths_.allocate_along(state_, name, start == Start::each_alone);
  else
    paths_.allocate(state_, name, start == Start::prior);
  if (state_.options().drawn_leaf_weights) pass(name, 0, false);
  Stream thetas(name, Purpose::theta);
  if (state_.options().drawn_theta) state_.draw_thetas(thetas);
  state_.rebuild();
  paths_.set_counts({}, {});
}

void Replica::draw_prior(const StreamName& name) {
  Stream stream(name, Purpose::prior_shape);
  const Options& options = state_.options();
  const double alpha = options.alpha.draw_prior(stream);
  const double gamma = options.gamma.draw_prior(stream);
  state_.set_concentrations(alpha, gamma, options.gamma0.draw_prior(stream));
  if (options.learns_discriminant_sd) {
    const GammaPrior& precision = options.discriminant_precision;
    state_.margins().set_sd(std::sqrt(precision.rate / draw_gamma(stream, precision.shape)));
  }
  Stream hyper(name, Purpose::prior_hyper);
  state_.draw_hyper_prior(hyper);
  paths_.allocate(state_, name, true);
  Stream thetas(name, Purpose::theta);
  if (options.drawn_theta) state_.draw_thetas(thetas);
  paths_.set_counts({}, {});
}

void Replica::pass(const StreamName& name, std::uint64_t site, bool structure) {
  Stream weights(name, Purpose::weights, site);
  Stream moves(name, Purpose::structure, 2 * site);
  Stream fresh(name, Purpose::structure, 2 * site + 1);
  Stream components(name, Purpose::split_merge, site);
  Stream concentrations(name, Purpose::concentration, site);
  const auto at_level = [&](std::size_t level) { structure_.at_level(state_, level, moves, fresh); };
  // More in the first sweeps, by their number alone: a sequential start often has joined what belongs apart.
  const std::size_t component_moves =
      state_.options().component_moves * (name.sweep <= kEarlySweeps ? kEarlyFactor : 1);
  Stream blocks(name, Purpose::blocks, site);
  const std::size_t block_moves = state_.options().block_moves == Options::kByRows
                                      ? std::clamp<std::size_t>(state_.rows() / 10, 1, kMostBlockMoves)
                                      : state_.options().block_moves;
  const auto after_tables = [&] {
    for (std::size_t move = 0; move < component_moves; ++move) components_.step(state_, components);
    for (std::size_t move = 0; move < block_moves; ++move) blocks_.step(state_, blocks);
  };
  state_.pass(weights, structure ? std::function<void(std::size_t)>(std::ref(at_level)) : nullptr,
              structure ? std::function<void()>(std::ref(after_tables)) : nullptr,
              state_.options().learns() ? &concentrations : nullptr);
}

void Replica::step(const StreamName& name) {
  const Options& options = state_.options();
  if (options.regularizer == Regularizer::paper) {
    sweep_as_published(name);
    return;
  }
  std::uint64_t site = 0;
  for (const Move move : options.moves) {
    switch (move) {
      case Move::paths:
        paths_.scan(state_, name, site);
        break;
      case Move::components:
        paths_.scan_components(state_, name, site);
        break;
      case Move::weights:
      case Move::structure:
        pass(name, site, move == Move::structure);
        break;
      case Move::discriminants: {
        Stream stream(name, Purpose::discriminants, site);
        if (options.learns_discriminant_sd) discriminants_.update_sd(state_, stream);
        if (options.discriminant_update == DiscriminantUpdate::gauss)
          discriminants_.gauss(state_, stream, true);
        else
          discriminants_.slice(state_, stream);
        break;
      }
      case Move::shift: {
        Stream stream(name, Purpose::discriminants, site);
        discriminants_.shift(state_, stream);
        break;
      }
    }
    if (options.drawn_theta) {
      Stream stream(name, Purpose::theta, site);
      state_.draw_thetas(stream);
    }
    ++site;
  }
  const bool has_gaps = state_.filled().any();
  if (has_gaps) state_.redraw_missing(name);
  if (state_.learns_hyper()) {
    Stream hyper(name, Purpose::hyper);
    state_.update_hyper(hyper);
  }
  if (options.drawn_theta && (has_gaps || state_.learns_hyper())) {
    Stream stream(name, Purpose::theta, site);
    state_.draw_thetas(stream);
  }
}

void Replica::sweep_as_published(const StreamName& name) {
  paths_.scan_published(state_, name, 0);
  paths_.scan_components(state_, name, 1);
  pass(name, 2, false);
  Stream thetas(name, Purpose::theta, 3);
  state_.draw_thetas(thetas);
  Stream stream(name, Purpose::discriminants, 4);
  discriminants_.gauss(state_, stream, false);
}

std::vector<MoveStatistics> Replica::moves() const {
  const auto entry = [](const char* name, const MoveCount& count) {
    return MoveStatistics{name, count.proposed, count.accepted};
  };
  std::vector<MoveStatistics> list{entry("path", paths_.paths()), entry("branch", paths_.branches())};
  const Options& options = state_.options();
  if (options.component_moves > 0 && options.regularizer != Regularizer::paper) {
    list.push_back(entry("component split", components_.splits()));
    list.push_back(entry("component merge", components_.merges()));
  }
  if (options.counts_others() && (options.split_merge_moves > 0 || options.regraft_moves > 0)) {
    list.push_back(entry("split", structure_.splits()));
    list.push_back(entry("merge", structure_.merges()));
    list.push_back(entry("regraft", structure_.regrafts()));
  }
  if (blocks_.blocks().proposed + blocks_.shares().proposed > 0) {
    list.push_back(entry("block", blocks_.blocks()));
    list.push_back(entry("share of a block", blocks_.shares()));
  }
  if (state_.margins().active()) {
    if (options.discriminant_update == DiscriminantUpdate::gauss ||
        options.regularizer == Regularizer::paper) {
      list.push_back(entry("gauss", discriminants_.gausses()));
    } else {
      list.push_back(entry("slice", discriminants_.slices()));
      if (discriminants_.stuck() > 0)
        list.push_back({"slice given up", discriminants_.slices().proposed, discriminants_.stuck()});
    }
  }
  return list;
}

std::string Replica::save() const {
  const Counts counts{paths_.paths(),        paths_.branches(),       components_.splits(),
                      components_.merges(),  structure_.splits(),     structure_.merges(),
                      structure_.regrafts(), discriminants_.slices(), discriminants_.gausses(),
                      discriminants_.stuck()};
  ByteWriter bytes;
  bytes.put(counts);
  bytes.put(BlockCounts{blocks_.blocks(), blocks_.shares()});
  return bytes.take() + state_.save();
}

void Replica::load(std::string_view bytes, bool has_block_counts) {
  ByteReader reader(bytes);
  const Counts counts = reader.get<Counts>();
  const BlockCounts blocks = has_block_counts ? reader.get<BlockCounts>() : BlockCounts{};
  state_.load(reader.take(reader.left()));
  paths_.set_counts(counts.paths, counts.branches);
  components_.set_counts(counts.component_splits, counts.component_merges);
  structure_.set_counts(counts.splits, counts.merges, counts.regrafts);
  blocks_.set_counts(blocks.blocks, blocks.shares);
  discriminants_.set_counts(counts.slices, counts.gausses, counts.stuck);
}

}  // namespace coppice::rbhmc
