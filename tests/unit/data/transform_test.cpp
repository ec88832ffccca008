// Standardizing and principal components: accuracy at large offsets, the sign rule, both shapes of the
// problem, and storage without the loss of a bit.
#if defined(__GNUC__) && !defined(__clang__)
// GCC 12 takes the deliberately undefined registers of its own AVX-512 header for a mistake when a sanitizer
// is on.
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

#include "coppice/data/transform.hpp"

#include <gtest/gtest.h>

#include <Eigen/SVD>
#include <cmath>
#include <random>

#include "unit/data/support.hpp"

namespace coppice {
namespace {

Table random_table(std::size_t rows, std::size_t columns, double offset = 0.0) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  Table table;
  for (std::size_t i = 0; i < rows; ++i) table.row_ids.push_back(std::to_string(i + 1));
  for (std::size_t j = 0; j < columns; ++j) {
    Column column{fmt::format("x{}", j), Kind::real, {}, {}};
    for (std::size_t i = 0; i < rows; ++i)
      column.values.push_back(offset + normal(random) * static_cast<double>(j + 1) +
                              (j > 0 ? table.columns[0].values[i] - offset : 0.0));
    table.columns.push_back(column);
  }
  return table;
}

TEST(Standardize, CentersAndScales) {
  Table table = random_table(50, 3);
  table.columns[1].values[7] = kMissing;
  table.columns.push_back({"n", Kind::count, std::vector<double>(50, 4.0), {}});
  const Table before = table;
  const Transform transform = fit_transform(table, true, 0);
  ASSERT_EQ(transform.scales.size(), 3u);
  for (std::size_t j = 0; j < 3; ++j) {
    double sum = 0.0, squares = 0.0, count = 0.0;
    for (const double value : table.columns[j].values) {
      if (is_missing(value)) continue;
      sum += value;
      squares += value * value;
      count += 1.0;
    }
    EXPECT_EQ(count, j == 1 ? 49.0 : 50.0);
    EXPECT_NEAR(sum / count, 0.0, 1e-14);
    EXPECT_NEAR(squares / count, 1.0, 1e-13);
  }
  EXPECT_TRUE(is_missing(table.columns[1].values[7]));
  EXPECT_EQ(table.columns[3].values, before.columns[3].values);
}

TEST(Standardize, KeepsItsDigitsAtALargeOffset) {
  // Spacing 0.5 around 1e8: sums of squares would lose all of it.
  Table table{{{"x", Kind::real, {}, {}}}, {}};
  for (int i = 0; i < 1001; ++i) {
    table.row_ids.push_back(std::to_string(i));
    table.columns[0].values.push_back(1e8 + 0.5 * (i - 500));
  }
  const Transform transform = fit_transform(table, true, 0);
  EXPECT_EQ(transform.scales[0].mean, 1e8);
  const double deviation = 0.5 * std::sqrt((1001.0 * 1001.0 - 1.0) / 12.0);
  EXPECT_NEAR(transform.scales[0].deviation, deviation, 1e-10);
  EXPECT_NEAR(table.columns[0].values[1000], 250.0 / deviation, 1e-12);
}

TEST(Standardize, ConstantColumnsBecomeZero) {
  Table table{{{"x", Kind::real, {1e8 + 0.1, 1e8 + 0.1, 1e8 + 0.1}, {}},
               {"m", Kind::real, std::vector<double>(3, kMissing), {}}},
              {"a", "b", "c"}};
  const Transform transform = fit_transform(table, true, 0);
  EXPECT_EQ(transform.scales[0].deviation, 1.0);
  expect_values(table.columns[0], {0, 0, 0});
  expect_values(table.columns[1], {kMissing, kMissing, kMissing});
}

void expect_components(std::size_t rows, std::size_t columns, std::size_t components, double offset) {
  Table table = random_table(rows, columns, offset);
  Eigen::MatrixXd data(rows, columns);
  for (std::size_t j = 0; j < columns; ++j)
    for (std::size_t i = 0; i < rows; ++i)
      data(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = table.columns[j].values[i] - offset;
  data.rowwise() -= data.colwise().mean().eval();
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(data, Eigen::ComputeThinU | Eigen::ComputeThinV);
  const Table raw = table;
  const Transform transform = fit_transform(table, false, components);
  ASSERT_EQ(table.columns.size(), components);
  for (std::size_t k = 0; k < components; ++k) {
    const auto index = static_cast<Eigen::Index>(k);
    EXPECT_EQ(table.columns[k].name, fmt::format("pc{}", k + 1));
    EXPECT_EQ(table.columns[k].kind, Kind::real);
    const double singular = svd.singularValues()(index);
    EXPECT_NEAR(transform.variance(index), singular * singular / static_cast<double>(rows - 1),
                1e-6 * transform.variance(0));
    Eigen::VectorXd loading = svd.matrixV().col(index);
    Eigen::Index largest = 0;
    loading.cwiseAbs().maxCoeff(&largest);
    const double sign = loading(largest) < 0.0 ? -1.0 : 1.0;
    EXPECT_GT(transform.loadings(largest, index), 0.0);
    for (std::size_t i = 0; i < rows; ++i)
      EXPECT_NEAR(table.columns[k].values[i],
                  sign * svd.matrixU()(static_cast<Eigen::Index>(i), index) * singular, 1e-5);
  }
  EXPECT_NEAR(transform.total_variance, svd.singularValues().squaredNorm() / static_cast<double>(rows - 1),
              1e-6 * transform.total_variance);
  // Applying it again gives the same bits.
  const Table again = apply(transform, raw);
  for (std::size_t k = 0; k < components; ++k) EXPECT_EQ(again.columns[k].values, table.columns[k].values);
}

TEST(Components, AgreeWithTheSingularValueDecomposition) {
  expect_components(40, 5, 3, 0.0);
  expect_components(40, 5, 5, 0.0);
  expect_components(6, 30, 4, 0.0);  // more columns than rows
  expect_components(40, 5, 2, 1e8);
}

TEST(Components, TakeAllNumbersAndLeaveCategories) {
  Table table = random_table(20, 2);
  std::vector<double> bits, counts, codes;
  for (int i = 0; i < 20; ++i) {
    bits.push_back(i % 2);
    counts.push_back(i % 5);
    codes.push_back(i % 3);
  }
  table.columns.push_back({"bit", Kind::binary, bits, {"no", "yes"}});
  table.columns.insert(table.columns.begin(), {"color", Kind::category, codes, {"r", "g", "b"}});
  table.columns.push_back({"count", Kind::count, counts, {}});
  const Transform transform = fit_transform(table, true, 4);
  EXPECT_EQ(transform.inputs, (std::vector<std::string>{"x0", "x1", "bit", "count"}));
  ASSERT_EQ(table.columns.size(), 5u);
  EXPECT_EQ(table.columns[0].name, "pc1");
  EXPECT_EQ(table.columns[4].name, "color");
  EXPECT_EQ(table.columns[4].values, codes);
}

TEST(Components, Errors) {
  const auto error = [](Table table, std::size_t pca) {
    return message_of(ErrorCode::configuration, [&] { fit_transform(table, false, pca); });
  };
  Table table = random_table(10, 3);
  EXPECT_EQ(error(table, 4),
            "--pca 4: 10 rows of 3 columns of numbers have at most 3 components; ask for fewer");
  EXPECT_EQ(error(random_table(3, 8), 3),
            "--pca 3: 3 rows of 8 columns of numbers have at most 2 components; ask for fewer");
  Table flat = table;
  flat.columns[2].values = flat.columns[1].values;
  EXPECT_EQ(error(flat, 3), "--pca 3: the columns of numbers vary in 2 directions only; ask for at most 2");
  table.columns[1].values[4] = kMissing;
  EXPECT_EQ(error(table, 2),
            "principal components need complete numbers, but column 'x1' is missing in row '5'; drop the "
            "column, impute it, or "
            "do without --pca");
  Table words{{{"c", Kind::category, {0, 1}, {"a", "b"}}}, {"1", "2"}};
  EXPECT_EQ(error(words, 1), "--pca 1: the table has no column of numbers; do without --pca");
}

TEST(Transforms, StorageIsExact) {
  Table table = random_table(30, 4, 12345.678);
  const Table raw = table;
  const Transform transform = fit_transform(table, true, 3);
  const Transform again = transform_from_json(to_json(transform));
  EXPECT_EQ(again.scales, transform.scales);
  EXPECT_EQ(again.inputs, transform.inputs);
  EXPECT_EQ(again.center, transform.center);
  EXPECT_EQ(again.loadings, transform.loadings);
  EXPECT_EQ(again.variance, transform.variance);
  EXPECT_EQ(again.total_variance, transform.total_variance);
  const Table applied = apply(again, raw);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(applied.columns[k].values, table.columns[k].values);
  EXPECT_TRUE(transform_from_json(to_json(Transform{})).empty());
}

TEST(Transforms, DamagedTextIsRefused) {
  for (
      const char* text :
      {"", "{}", "[]", "{\"version\":2}", "{\"version\":1,\"scales\":3}",
       R"({"version":1,"scales":[],"inputs":["a"],"center":[],"variance":[],"total_variance":0,"loadings":[]})"})
    message_of(ErrorCode::bad_data, [&] { transform_from_json(text); });
}

TEST(Transforms, NothingAskedForIsNothingDone) {
  Table table = random_table(5, 2);
  const Table raw = table;
  EXPECT_TRUE(fit_transform(table, false, 0).empty());
  for (std::size_t j = 0; j < 2; ++j) EXPECT_EQ(table.columns[j].values, raw.columns[j].values);
}

}  // namespace
}  // namespace coppice
