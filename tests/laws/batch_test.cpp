// The batch form over many clusters: the same numbers as the scalar form in every slot, added to what is
// there, with the row left out of its own cluster, and finite in slots that hold no cluster.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "coppice/base/aligned.hpp"
#include "laws/law_case.hpp"
#include "support/seeds.hpp"

namespace coppice::test {
namespace {

/// Caches of clusters, eight side by side; slots beyond the clusters hold empty statistics, as a sampler
/// keeps them.
class PredictiveCache {
 public:
  PredictiveCache(const Family& family, const std::vector<Stats>& clusters)
      : family_(&family),
        chunks_((clusters.size() + kLanes - 1) / kLanes),
        stride_(family.cache_size() * kLanes),
        values_(chunks_ * stride_) {
    const Stats empty(family);
    for (std::size_t slot = 0; slot < slots(); ++slot)
      family.fill_cache(slot < clusters.size() ? clusters[slot].data() : empty.data(),
                        values_.data() + slot / kLanes * stride_ + slot % kLanes);
  }

  std::size_t slots() const { return chunks_ * kLanes; }
  const AlignedVector& values() const { return values_; }
  void add_log_predictive(const double* row, const OwnCluster& own, double* out) const {
    family_->add_log_predictive(row, values_.data(), stride_, chunks_, own, out);
  }

 private:
  const Family* family_;
  std::size_t chunks_, stride_;
  AlignedVector values_;
};

AlignedVector starting_values(std::size_t slots) {
  AlignedVector out(slots);
  for (std::size_t slot = 0; slot < slots; ++slot) out[slot] = std::sin(static_cast<double>(slot)) * 10.0;
  return out;
}

class Batch : public ::testing::TestWithParam<LawCase> {};

TEST_P(Batch, EverySlotIsTheScalarPredictiveAddedToWhatIsThere) {
  for (const std::uint64_t seed : test_seeds()) {
    const Fixture fixture(GetParam(), seed);
    const Family& family = fixture.family();
    const Rows& rows = fixture.rows;
    for (std::size_t count = 1; count <= 20; ++count) {
      std::vector<Stats> clusters;
      for (std::size_t c = 0; c < count; ++c) {
        // Sizes from none to half of the rows.
        const std::size_t size = c * c * rows.size() / 800;
        clusters.emplace_back(family, rows, c, c + size);
      }
      const PredictiveCache cache(family, clusters);
      for (const double value : cache.values()) ASSERT_TRUE(std::isfinite(value));
      for (std::size_t i = count; i < rows.size(); i += 13) {
        const AlignedVector before = starting_values(cache.slots());
        AlignedVector out = before;
        cache.add_log_predictive(rows[i], {}, out.data());
        for (std::size_t slot = 0; slot < cache.slots(); ++slot) {
          const double expected =
              slot < count ? clusters[slot].log_predictive(rows[i]) : Stats(family).log_predictive(rows[i]);
          ASSERT_NEAR(out[slot] - before[slot], expected, relative(1e-9, expected))
              << "slot " << slot << " of " << count << ", row " << i;
        }
      }
    }
  }
}

TEST_P(Batch, TheOwnClusterIsSeenWithoutTheRow) {
  for (const std::uint64_t seed : test_seeds()) {
    const Fixture fixture(GetParam(), seed);
    const Family& family = fixture.family();
    const Rows& rows = fixture.rows;
    const std::vector<std::size_t> sizes{2, 3, 4, 5, 7, 8, 10, 13, 17, 22, 30, 40, 50};
    std::vector<Stats> clusters;
    for (std::size_t c = 0; c < sizes.size(); ++c) clusters.emplace_back(family, rows, c, c + sizes[c]);
    const PredictiveCache cache(family, clusters);
    for (std::size_t c = 0; c < sizes.size(); ++c) {
      for (std::size_t i = c; i < c + sizes[c]; ++i) {
        Stats without(family);
        for (std::size_t k = c; k < c + sizes[c]; ++k)
          if (k != i) without.add(rows[k]);
        const AlignedVector before = starting_values(cache.slots());
        AlignedVector out = before;
        cache.add_log_predictive(rows[i], {c, clusters[c].data()}, out.data());
        for (std::size_t slot = 0; slot < cache.slots(); ++slot) {
          const double expected = slot == c             ? without.log_predictive(rows[i])
                                  : slot < sizes.size() ? clusters[slot].log_predictive(rows[i])
                                                        : Stats(family).log_predictive(rows[i]);
          ASSERT_NEAR(out[slot] - before[slot], expected, relative(1e-9, expected))
              << "row " << i << " of the cluster of " << sizes[c] << " in slot " << c << ", slot " << slot;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Laws, Batch, ::testing::ValuesIn(law_cases()), CaseName());
INSTANTIATE_TEST_SUITE_P(Learned, Batch, ::testing::ValuesIn(learned_cases()), CaseName());

class RealBatch : public ::testing::TestWithParam<LawCase> {};

TEST_P(RealBatch, AFarRowIsLeftOutOfItsClusterToo) {
  // Without the row nearly nothing of the cluster's spread is left: the shortcut subtracts numbers that are
  // alike.
  const Fixture fixture(GetParam(), 1);
  const Family& family = fixture.family();
  Rows rows = fixture.rows;
  for (std::size_t j = 0; j < rows.width; ++j) rows[0][j] = j % 2 == 0 ? 300.0 : -200.0;
  for (const std::size_t size : {2u, 5u, 30u}) {
    const Stats without(family, rows, 1, size);
    Stats stats = without;
    stats.add(rows[0]);
    const PredictiveCache cache(family, {stats});
    AlignedVector out(cache.slots(), 0.0);
    cache.add_log_predictive(rows[0], {0, stats.data()}, out.data());
    const double expected = without.log_predictive(rows[0]);
    EXPECT_NEAR(out[0], expected, relative(1e-9, expected)) << size << " rows";
  }
}

INSTANTIATE_TEST_SUITE_P(Laws, RealBatch, ::testing::ValuesIn(real_cases()), CaseName());

}  // namespace
}  // namespace coppice::test
