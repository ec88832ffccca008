// The bound that excludes draws: never above the loss, and near enough to it to be of use.
#include "coppice/post/draw_bound.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "coppice/base/rng.hpp"
#include "coppice/post/coclustering.hpp"
#include "coppice/post/consensus.hpp"

namespace coppice {
namespace {

/// Draws that move a share of the rows of a truth to random clusters; every fifth repeats the one before.
LabelMatrix moved_draws(std::uint64_t seed, std::size_t rows, std::size_t draws, std::uint64_t clusters,
                        double moved) {
  LabelMatrix matrix;
  Labels labels(rows);
  for (std::size_t d = 0; d < draws; ++d) {
    Stream stream({seed, 0, d}, Purpose::test);
    for (std::size_t i = 0; i < rows && d % 5 != 4; ++i)
      labels[i] =
          static_cast<Label>(draw_uniform(stream) < moved ? draw_index(stream, clusters + 2) : i % clusters);
    matrix.push_back(labels);
  }
  return matrix;
}

std::vector<std::size_t> all_of(const DrawSet& draws) {
  std::vector<std::size_t> all(draws.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

class DrawBoundOf : public testing::TestWithParam<Loss> {};

TEST_P(DrawBoundOf, ExcludesNoDrawThatIsBetter) {
  for (const double moved : {0.02, 0.1, 0.3, 0.9}) {
    const LabelMatrix matrix = moved_draws(1, 150, 60, 5, moved);
    const DrawSet draws(matrix, matrix.draws());
    const std::vector<std::uint32_t> counts = coclustering_counts(matrix);
    const Consensus found = consensus(matrix, {.loss = GetParam()});
    Labels other(150);  // it must hold for any partition
    for (std::size_t i = 0; i < other.size(); ++i) other[i] = static_cast<Label>(i % 7);
    for (std::size_t d = 0; d < draws.size(); ++d) {
      const double loss = expected_loss(matrix, draws[d], GetParam());
      for (const auto& [partition, clusters] :
           {std::pair(found.labels, found.clusters), std::pair(other, std::size_t{7})}) {
        const std::vector<std::size_t> alive =
            draws_below_bound(draws, counts, matrix.draws(), GetParam(), partition, clusters,
                              loss * (1.0 + 1e-12), all_of(draws));
        EXPECT_TRUE(std::count(alive.begin(), alive.end(), d) == 1) << "draw " << d << ", moved " << moved;
        EXPECT_EQ(draws_below_bound(draws, counts, matrix.draws(), GetParam(), partition, clusters,
                                    loss * (1.0 + 1e-12), {d}),
                  std::vector{d});
      }
    }
  }
}

TEST_P(DrawBoundOf, ExcludesAllDrawsThatAreClearlyWorse) {
  const LabelMatrix matrix = moved_draws(2, 300, 100, 5, 0.05);
  const DrawSet draws(matrix, matrix.draws());
  const Consensus found = consensus(matrix, {.loss = GetParam()});
  EXPECT_GT(found.best_draw_loss, 1.2 * found.expected_loss);
  EXPECT_TRUE(draws_below_bound(draws, coclustering_counts(matrix), matrix.draws(), GetParam(), found.labels,
                                found.clusters, found.expected_loss, all_of(draws))
                  .empty());
}

INSTANTIATE_TEST_SUITE_P(Losses, DrawBoundOf, testing::Values(Loss::vi, Loss::binder),
                         [](const auto& info) { return info.param == Loss::vi ? "vi" : "binder"; });

}  // namespace
}  // namespace coppice
