// The published sampler beside its law: which nodes it draws, trees that stay those of the clusters through
// every kind of move, and a state that is saved and loaded without a trace.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "coppice/base/error.hpp"
#include "coppice/model/nrmm/published.hpp"
#include "coppice/prior/crp.hpp"
#include "laws/law_case.hpp"
#include "support/monte_carlo.hpp"
#include "support/reference_forest.hpp"

namespace coppice::test {
namespace {

using nrmm::PublishedMoves;
using nrmm::SubtreeLaw;
using Node = MergeTree::Node;

TEST(NrmmSubtreeLaw, ReferenceProbabilities) {
  std::size_t trees = 0;
  for (const std::string& path : reference_cases("nrmm_posterior_", "nrmm_")) {
    SCOPED_TRACE(path);
    const nlohmann::json reference = read_reference(path);
    if (!reference.contains("tree")) continue;
    ++trees;
    const ReferenceForest tree(reference);
    const MergeTree& forest = tree.forest;
    SubtreeLaw all;
    SubtreeLaw inner;
    all.set(forest, tree.root, SubtreeLaw::Eligible::all_nodes);
    inner.set(forest, tree.root, SubtreeLaw::Eligible::inner_nodes);
    EXPECT_EQ(all.nodes().size(), reference.at("tree_stats").size());
    EXPECT_EQ(inner.nodes().size(), tree.problem.rows.size() - 1);
    std::vector<double> probabilities;
    for (std::size_t i = 0; i < all.nodes().size(); ++i) {
      probabilities.push_back(all.probability(i));
      const Node node = all.nodes()[i];
      std::vector<std::uint32_t> rows;
      forest.for_each_row(node, [&](std::uint32_t row) { rows.push_back(row); });
      std::sort(rows.begin(), rows.end());
      std::size_t checked = 0;
      for (const nlohmann::json& entry : reference.at("tree_stats")) {
        if (entry.at("leaves").get<std::vector<std::uint32_t>>() != rows) continue;
        ++checked;
        EXPECT_NEAR(all.probability(i), entry.at("samplesub_all").get<double>(), 1e-9);
        const std::size_t place = inner.find(node);
        EXPECT_NEAR(place == inner.nodes().size() ? 0.0 : inner.probability(place),
                    entry.at("samplesub_internal").get<double>(), 1e-9);
      }
      EXPECT_EQ(checked, 1u);
    }
    std::vector<double> counts(probabilities.size(), 0.0);
    Stream stream({1, 0, 0}, Purpose::test);
    for (int i = 0; i < 100'000; ++i) counts[all.draw(stream)] += 1.0;
    expect_frequencies(counts, probabilities);
  }
  EXPECT_GE(trees, 2u);
}

/// A chain of the sampler alone, the prior fixed unless a test changes it.
struct Chain {
  Chain(const Fixture& fixture, Crp& crp, std::size_t moves, std::size_t depth)
      : clusters(fixture.family(), fixture.rows, crp.log_join_table()),
        published(fixture.family(), fixture.rows, crp, moves, depth) {
    for (std::size_t row = 0; row < fixture.rows.size(); ++row)
      alone.push_back(Stats(fixture.family()).log_predictive(fixture.rows[row]));
  }
  void start(const Labels& labels) {
    clusters.assign(labels);
    published.start(clusters);
  }
  void step(std::uint64_t sweep) { published.step(clusters, alone, {1, 0, sweep}); }
  std::string save() const {
    ByteWriter writer;
    published.save(writer);
    return writer.take();
  }
  void load(const std::string& trees, const Labels& labels) {
    clusters.assign(labels);
    ByteReader reader(trees);
    published.load(reader, clusters);
    reader.end();
  }
  Labels labels() const { return {clusters.labels().begin(), clusters.labels().end()}; }

  Clusters clusters;
  PublishedMoves published;
  std::vector<double> alone;
};

TEST(NrmmPublishedMoves, TreesStayThoseOfTheClusters) {
  std::uint64_t splits = 0;
  std::uint64_t merges = 0;
  for (const LawCase& law_case : law_cases())
    for (const std::size_t depth : {0u, 1u, 2u}) {
      SCOPED_TRACE(law_case.name);
      const std::size_t rows = 30;
      const Fixture fixture(law_case, 1, rows);
      Crp crp(1.0, rows);
      Chain chain(fixture, crp, 10, depth);
      Labels alone(rows);
      std::iota(alone.begin(), alone.end(), 0);
      for (const Labels& first : {Labels(rows, 0), alone}) {
        chain.start(first);
        ASSERT_NO_THROW(chain.published.audit(chain.clusters));
        for (std::uint64_t sweep = 1; sweep <= 40; ++sweep) {
          chain.step(sweep);
          if (sweep % 7 == 0) chain.clusters.rebuild();
          if (sweep % 11 == 0) {
            crp.set_alpha(0.1 * static_cast<double>(sweep));
            chain.published.prior_changed();
          }
          ASSERT_NO_THROW(chain.published.audit(chain.clusters)) << "sweep " << sweep;
        }
      }
      splits += chain.published.splits().accepted;
      merges += chain.published.merges().accepted;
      EXPECT_GT(chain.published.row_updates().accepted, 0u);
    }
  EXPECT_GT(splits, 100u);
  EXPECT_GT(merges, 100u);
}

TEST(NrmmPublishedMoves, LoadedIsTheSameToTheLastBit) {
  for (const LawCase& law_case : law_cases()) {
    SCOPED_TRACE(law_case.name);
    const std::size_t rows = 40;
    const Fixture fixture(law_case, 2, rows);
    Crp crp(0.8, rows);
    Chain chain(fixture, crp, 10, 2);
    chain.start(Labels(rows, 0));
    for (std::uint64_t sweep = 1; sweep <= 30; ++sweep) chain.step(sweep);
    chain.clusters.rebuild();
    const std::string saved = chain.save();
    Chain other(fixture, crp, 10, 2);
    other.load(saved, chain.labels());
    ASSERT_NO_THROW(other.published.audit(other.clusters));
    EXPECT_EQ(other.save(), saved);
    for (std::uint64_t sweep = 31; sweep <= 60; ++sweep) {
      chain.step(sweep);
      other.step(sweep);
      ASSERT_EQ(chain.labels(), other.labels()) << "sweep " << sweep;
      ASSERT_EQ(chain.save(), other.save()) << "sweep " << sweep;
    }
  }
}

TEST(NrmmPublishedMoves, DamagedTreesAreRefused) {
  const std::size_t rows = 6;
  const Fixture fixture({"damage", "gaussian-diagonal", {{Kind::real}}}, 1, rows);
  Crp crp(1.0, rows);
  Chain chain(fixture, crp, 1, 1);
  const Labels labels{0, 0, 1, 0, 1, 2};
  chain.start(labels);
  const std::string saved = chain.save();
  const std::size_t head = saved.size() - (2 * rows - 3) * sizeof(std::int32_t);
  const auto refused = [&](const std::string& trees, const Labels& with) {
    try {
      chain.load(trees, with);
    } catch (const Error& error) {
      return error.code() == ErrorCode::bad_data;
    }
    return false;
  };
  const auto changed = [&](std::size_t place, std::int32_t value) {
    std::string trees = saved;
    trees.replace(head + place * sizeof(value), sizeof(value), reinterpret_cast<const char*>(&value),
                  sizeof(value));
    return trees;
  };
  EXPECT_FALSE(refused(saved, labels));
  EXPECT_TRUE(refused(saved, {0, 0, 1, 1, 1, 2})) << "a row in another cluster";
  EXPECT_TRUE(refused(saved, {0, 0, 1, 0, 1, 1})) << "another number of clusters";
  EXPECT_TRUE(refused(saved.substr(0, saved.size() - 1), labels));
  EXPECT_TRUE(refused(saved + "....", labels));
  std::size_t accepted = 0;
  for (std::size_t place = 0; place < 2 * rows - 3; ++place)
    for (const std::int32_t value : {-2, -1, 0, 1, 2, 3, 4, 5, 6, 1'000'000}) {
      const std::string trees = changed(place, value);
      if (trees != saved) {
        EXPECT_TRUE(refused(trees, labels)) << value << " at " << place;
      } else {
        ++accepted;
      }
    }
  EXPECT_EQ(accepted, 2 * rows - 3);
  EXPECT_FALSE(refused(saved, labels)) << "a failure must not spoil what comes after it";
  EXPECT_NO_THROW(chain.published.audit(chain.clusters));
}

TEST(NrmmPublishedMoves, OneRow) {
  const Fixture fixture({"one", "gaussian-diagonal", {{Kind::real}}}, 1, 1);
  Crp crp(1.0, 1);
  Chain chain(fixture, crp, 5, 2);
  chain.start({0});
  for (std::uint64_t sweep = 1; sweep <= 10; ++sweep) chain.step(sweep);
  EXPECT_EQ(chain.labels(), Labels{0});
  EXPECT_EQ(chain.published.splits().proposed + chain.published.merges().proposed, 0u);
}

}  // namespace
}  // namespace coppice::test
