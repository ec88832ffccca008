// Average linkage against SciPy (linkage_reference.json, made by tools/make_post_reference.py).
#include "coppice/post/linkage.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "coppice/base/error.hpp"
#include "coppice/post/scores.hpp"
#include "support/source_folder.hpp"

namespace coppice {
namespace {

template <typename Real>
std::vector<Real> to_square(const std::vector<double>& condensed, std::size_t n) {
  std::vector<Real> square(n * n, Real{0});
  std::size_t next = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j)
      square[i * n + j] = square[j * n + i] = static_cast<Real>(condensed[next++]);
  }
  return square;
}

TEST(Linkage, EqualsScipy) {
  std::ifstream file(test::source_folder() / "tests/unit/post/linkage_reference.json");
  ASSERT_TRUE(file);
  const auto reference = nlohmann::json::parse(file);
  ASSERT_GE(reference["cases"].size(), 6U);
  for (const auto& one : reference["cases"]) {
    SCOPED_TRACE(one["name"].get<std::string>());
    const auto n = one["n"].get<std::size_t>();
    const auto condensed = one["condensed"].get<std::vector<double>>();
    const Linkage tree = average_linkage(to_square<double>(condensed, n), n);
    const Linkage rough = average_linkage(to_square<float>(condensed, n), n);
    ASSERT_NO_THROW(check_linkage(tree));
    ASSERT_NO_THROW(check_linkage(rough));
    const auto matrix = to_scipy(tree);
    ASSERT_EQ(matrix.size(), 4 * (n - 1));
    for (std::size_t k = 0; k + 1 < n; ++k) {
      EXPECT_NEAR(matrix[4 * k + 2], one["linkage"][k][2].get<double>(), 1e-12) << "height of merge " << k;
      EXPECT_NEAR(rough.merges[k].height, one["linkage"][k][2].get<double>(), 1e-5)
          << "float height of merge " << k;
      // With ties, which of two equal merges comes first is rounding; the heights are not.
      if (!one["unique"].get<bool>()) continue;
      for (const std::size_t c : {0U, 1U, 3U})
        EXPECT_EQ(matrix[4 * k + c], one["linkage"][k][c].get<double>());
    }
    if (!one["unique"].get<bool>()) continue;
    EXPECT_EQ(leaf_order(tree), one["leaves"].get<std::vector<std::size_t>>());
    for (const auto& [clusters, labels] : one["cuts"].items()) {
      const Labels cut = cut_into(tree, std::stoul(clusters));
      EXPECT_EQ(adjusted_rand_index(labels.get<Labels>(), cut), 1.0) << clusters << " clusters";
    }
  }
}

TEST(Linkage, CutsAreCanonicalAndNested) {
  const std::vector<double> condensed{1.0, 4.0, 5.0, 4.5, 5.5, 2.0};  // 0-1, 0-2, 0-3, 1-2, 1-3, 2-3
  const Linkage tree = average_linkage(to_square<double>(condensed, 4), 4);
  EXPECT_EQ(tree.merges[0], (Merge{0, 1, 1.0, 2}));
  EXPECT_EQ(tree.merges[1], (Merge{2, 3, 2.0, 2}));
  EXPECT_EQ(tree.merges[2], (Merge{4, 5, 4.75, 4}));
  EXPECT_EQ(cut_into(tree, 1), (Labels{0, 0, 0, 0}));
  EXPECT_EQ(cut_into(tree, 2), (Labels{0, 0, 1, 1}));
  EXPECT_EQ(cut_into(tree, 3), (Labels{0, 0, 1, 2}));
  EXPECT_EQ(cut_into(tree, 9), (Labels{0, 1, 2, 3}));
  EXPECT_EQ(cut_at(tree, 0.5), (Labels{0, 1, 2, 3}));
  EXPECT_EQ(cut_at(tree, 2.0), (Labels{0, 0, 1, 1}));
  EXPECT_EQ(cut_at(tree, 5.0), (Labels{0, 0, 0, 0}));
}

TEST(Linkage, TreeOfCoclustering) {
  const std::vector<double> similarity{1.0, 0.9, 0.1, 0.9, 1.0, 0.3, 0.1, 0.3, 1.0};
  const Linkage tree = coclustering_tree(similarity, 3);
  EXPECT_NEAR(tree.merges[0].height, 0.1, 1e-12);
  EXPECT_NEAR(tree.merges[1].height, 0.8, 1e-12);
}

TEST(Linkage, SmallestTreesAndBadInput) {
  EXPECT_TRUE(average_linkage(std::vector<double>{0.0}, 1).merges.empty());
  EXPECT_EQ(cut_into(average_linkage(std::vector<double>{0.0}, 1), 1), Labels{0});
  EXPECT_TRUE(average_linkage(std::vector<double>{}, 0).merges.empty());
  EXPECT_THROW(average_linkage(std::vector<double>{0.0, 1.0}, 2), Error);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(average_linkage(std::vector<double>{0.0, nan, nan, 0.0}, 2), Error);
  Linkage broken{3, {{0, 1, 1.0, 2}, {0, 3, 2.0, 3}}};
  EXPECT_THROW(check_linkage(broken), Error);
  broken.merges[1] = {2, 3, 0.5, 3};
  EXPECT_THROW(check_linkage(broken), Error);
  broken.merges[1] = {2, 3, 2.0, 2};
  EXPECT_THROW(check_linkage(broken), Error);
}

}  // namespace
}  // namespace coppice
