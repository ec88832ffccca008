// What `coppice update` does to a chain: a row comes in and local moves are made around it. Each must keep
// the posterior of the rows that are in. The draws are independent, so nothing about mixing enters.
#include "support/nrmm_insertion.hpp"

#include <gtest/gtest.h>

#include "coppice/model/nrmm/block_gibbs.hpp"
#include "coppice/prior/crp.hpp"
#include "laws/law_case.hpp"
#include "support/monte_carlo.hpp"

namespace coppice::test {
namespace {

constexpr std::size_t kInsertions = 20'000;
const LawCase kPlain{"insertion", "gaussian-diagonal", {{Kind::real}, {Kind::real}}};

struct InsertionCase {
  std::string name;
  MixtureLaw law;
  std::vector<std::string> settings;
};

void PrintTo(const InsertionCase& insertion, std::ostream* out) { *out << insertion.name; }

class NrmmInsertion : public ::testing::TestWithParam<InsertionCase> {};

TEST_P(NrmmInsertion, KeepsThePosterior) {
  for (const std::uint64_t seed : test_seeds())
    for (const std::size_t rows : {2u, 5u}) {
      const Fixture fixture(kPlain, seed, rows);
      const Agreement agreement =
          compare_insertions(fixture.family(), fixture.rows, GetParam().law,
                             settings_from(GetParam().settings), seed, scaled(kInsertions));
      EXPECT_TRUE(agreement.holds()) << rows << " rows, seed " << seed << ": " << agreement;
    }
}

INSTANTIATE_TEST_SUITE_P(
    Processes, NrmmInsertion,
    ::testing::Values(InsertionCase{"dp", {0.9}, {"alpha=0.9"}},
                      InsertionCase{"dp_learned", {std::nullopt, 2.0, 1.5}, {"alpha-prior=[2, 1.5]"}},
                      InsertionCase{
                          "ngg", {1.4, 1.0, 1.0, true, 0.4}, {"process=\"ngg\"", "alpha=1.4", "sigma=0.4"}},
                      InsertionCase{"ngg_learned",
                                    {std::nullopt, 2.0, 1.5, true, std::nullopt, 1.5, 2.0},
                                    {"process=\"ngg\"", "alpha-prior=[2, 1.5]", "sigma-prior=[1.5, 2]"}}),
    [](const ::testing::TestParamInfo<InsertionCase>& info) { return info.param.name; });

TEST(NrmmInsertion, KeepsThePosteriorOfEveryFamily) {
  for (const LawCase& law_case : narrow_cases())
    for (const std::uint64_t seed : test_seeds()) {
      const Fixture fixture(law_case, seed, 4);
      const Agreement agreement = compare_insertions(fixture.family(), fixture.rows, {0.9},
                                                     settings_from({"alpha=0.9"}), seed, scaled(kInsertions));
      EXPECT_TRUE(agreement.holds()) << law_case.name << ", seed " << seed << ": " << agreement;
    }
}

// A few rows are always one bucket; of more rows a bucket is some of them. Any set of rows will do that was
// chosen without regard to the partition.
TEST(NrmmInsertion, BlockOfAnyBucketKeepsThePosterior) {
  constexpr double kAlpha = 0.9;
  constexpr std::size_t kRows = 5;
  const std::vector<std::vector<std::uint32_t>> buckets{{4}, {4, 0}, {1, 4, 3}, {0, 2, 3, 4}};
  for (const std::uint64_t seed : test_seeds()) {
    const Fixture fixture(kPlain, seed, kRows);
    const ExactPosterior exact(fixture.family(), fixture.rows, {kAlpha});
    const Crp prior(kAlpha, kRows);
    Clusters clusters(fixture.family(), fixture.rows, prior.log_join_table());
    nrmm::BlockGibbs blocks(fixture.family(), fixture.rows, prior);
    Stream stream({seed, 0, 0}, Purpose::test);
    for (const std::vector<std::uint32_t>& bucket : buckets) {
      SCOPED_TRACE(bucket.size());
      std::vector<double> counts(exact.size(), 0.0);
      Labels labels(kRows);
      for (std::size_t i = 0; i < scaled(kInsertions); ++i) {
        clusters.assign(exact.partition(draw_categorical(stream, exact.probabilities())));
        blocks.step(clusters, 4, bucket, stream);
        std::copy(clusters.labels().begin(), clusters.labels().end(), labels.begin());
        canonicalize(labels);
        counts[exact.index(labels)] += 1.0;
      }
      expect_frequencies(counts, exact.probabilities());
    }
  }
}

}  // namespace
}  // namespace coppice::test
