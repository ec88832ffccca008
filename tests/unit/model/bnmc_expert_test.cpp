// Linear classifiers: reference posteriors by variational Bayes and Gibbs, bounds that never fall, the
// diagonal form against the full one.
#include <gtest/gtest.h>

#include <cmath>

#include "coppice/base/math.hpp"
#include "coppice/model/bnmc/expert.hpp"
#include "support/reference_case.hpp"

namespace coppice::bnmc {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::read_reference;

VectorXd vector_of(const nlohmann::json& list) {
  VectorXd result(static_cast<Eigen::Index>(list.size()));
  for (std::size_t i = 0; i < list.size(); ++i) result[static_cast<Eigen::Index>(i)] = list.at(i);
  return result;
}
MatrixXd matrix_of(const nlohmann::json& rows) {
  MatrixXd result(static_cast<Eigen::Index>(rows.size()), static_cast<Eigen::Index>(rows.at(0).size()));
  for (std::size_t i = 0; i < rows.size(); ++i)
    result.row(static_cast<Eigen::Index>(i)) = vector_of(rows.at(i));
  return result;
}

void expect_near(const MatrixXd& found, const MatrixXd& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  EXPECT_LE((found - expected).cwiseAbs().maxCoeff(), tolerance);
}

SparseDesign sparse(const MatrixXd& x) {
  Table table;
  for (Eigen::Index j = 0; j < x.cols(); ++j) {
    Column column{fmt::format("c{}", j), Kind::real, {}, {}};
    for (Eigen::Index i = 0; i < x.rows(); ++i) column.values.push_back(x(i, j));
    table.columns.push_back(column);
  }
  for (Eigen::Index i = 0; i < x.rows(); ++i) table.row_ids.push_back(fmt::format("{}", i));
  return SparseDesign(sparse_rows(table));
}

class ExpertReference : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    json_ = read_reference(GetParam());
    x_ = matrix_of(json_.at("case").at("X"));
    y_ = vector_of(json_.at("case").at("y")).unaryExpr([](double v) { return v > 0.0 ? 1.0 : 0.0; });
    prior_mean_ = vector_of(json_.at("case").at("prior_mean"));
    prior_variance_ = vector_of(json_.at("case").at("prior_var"));
    options_.link = json_.at("case").at("kind") == "svm" ? Link::svm : Link::logistic;
    options_.tolerance = 1e-10;
  }
  nlohmann::json json_;
  MatrixXd x_;
  VectorXd y_, prior_mean_, prior_variance_;
  ExpertOptions options_;
};

TEST_P(ExpertReference, VariationalPosterior) {
  Stream stream({1, 0, 0}, Purpose::test);
  const Expert expert = fit_full(x_, y_, prior_mean_, prior_variance_, options_, stream);
  const nlohmann::json& result = json_.at("result");
  expect_near(expert.mean, vector_of(result.at("vb_mean")), 1e-8);
  expect_near(expert.covariance, matrix_of(result.at("vb_cov")), 1e-8);
  EXPECT_NEAR(expert.elbo, result.at("vb_elbo").get<double>(), 1e-8);
  EXPECT_LT(expert.elbo, result.at("log_evidence").get<double>());
  for (const auto& point : result.at("x_new")) {
    const VectorXd at = vector_of(point.at("x"));
    EXPECT_NEAR(probability_at(at.dot(expert.mean), at.dot(expert.covariance * at)),
                point.at("vb_probit_approx").get<double>(), 1e-8);
  }
}

TEST_P(ExpertReference, DiagonalFormIsTheBestOfItsKind) {
  const std::vector<double> labels(y_.data(), y_.data() + y_.size());
  std::vector<double> gap = labels;
  gap[3] = kMissing;
  const std::vector<Expert> experts =
      fit_diagonal(sparse(x_), std::vector{labels, gap}, std::vector(2, &prior_variance_), options_);
  const nlohmann::json& result = json_.at("result");
  if (result.contains("vb_diag")) {
    const nlohmann::json& diagonal = result.at("vb_diag");
    expect_near(experts[0].mean, vector_of(diagonal.at("mean")), 1e-8);
    expect_near(experts[0].variance, vector_of(diagonal.at("var")), 1e-8);
    EXPECT_NEAR(experts[0].elbo, diagonal.at("elbo").get<double>(), 1e-8);
  }
  if (x_.cols() != 1) return;
  // A covariance of one weight is diagonal.
  expect_near(experts[0].mean, vector_of(result.at("vb_mean")), 1e-8);
  EXPECT_NEAR(experts[0].elbo, result.at("vb_elbo").get<double>(), 1e-8);
  // A label that is not known is a row that is not there.
  MatrixXd less(x_.rows() - 1, x_.cols());
  VectorXd less_y(x_.rows() - 1);
  for (Eigen::Index i = 0, to = 0; i < x_.rows(); ++i)
    if (i != 3) {
      less.row(to) = x_.row(i);
      less_y[to++] = y_[i];
    }
  Stream stream({1, 0, 0}, Purpose::test);
  const Expert without = fit_full(less, less_y, prior_mean_, prior_variance_, options_, stream);
  EXPECT_NEAR(experts[1].mean[0], without.mean[0], 1e-8);
  EXPECT_NEAR(experts[1].elbo, without.elbo, 1e-8);
}

TEST_P(ExpertReference, GibbsHasTheExactMoments) {
  options_.method = Method::gibbs;
  options_.burn_in = 500;
  options_.draws = 40'000;
  Stream stream({2, 0, 0}, Purpose::test);
  const Expert expert = fit_full(x_, y_, prior_mean_, prior_variance_, options_, stream);
  const nlohmann::json& result = json_.at("result");
  const VectorXd mean = vector_of(result.at("posterior_mean"));
  const MatrixXd covariance = matrix_of(result.at("posterior_cov"));
  for (Eigen::Index i = 0; i < mean.size(); ++i) {
    // Successive draws are correlated; five draws count as one.
    const double error = std::sqrt(5.0 * covariance(i, i) / static_cast<double>(options_.draws));
    EXPECT_NEAR(expert.mean[i], mean[i], 4.0 * error);
    EXPECT_NEAR(expert.covariance(i, i), covariance(i, i), 0.05 * covariance(i, i));
  }
}

TEST_P(ExpertReference, PointIsTheMode) {
  options_.method = Method::map;
  options_.iterations = 20'000;
  Stream stream({3, 0, 0}, Purpose::test);
  const Expert expert = fit_full(x_, y_, prior_mean_, prior_variance_, options_, stream);
  expect_near(expert.mean, vector_of(json_.at("result").at("map")), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Logistic, ExpertReference,
                         ::testing::ValuesIn(test::reference_cases("bnmc_logistic_")), test::CaseOfFile());
INSTANTIATE_TEST_SUITE_P(Svm, ExpertReference, ::testing::ValuesIn(test::reference_cases("bnmc_svm_")),
                         test::CaseOfFile());

struct Simulated {
  MatrixXd x;
  std::vector<std::vector<double>> y;

  Simulated(Eigen::Index rows, Eigen::Index columns, std::size_t labels, double missing) : x(rows, columns) {
    Stream stream({4, 0, 0}, Purpose::test);
    x.setZero();
    for (Eigen::Index i = 0; i < rows; ++i)
      for (Eigen::Index j = 0; j < columns; ++j)
        x(i, j) = j == 0 ? 1.0 : (draw_uniform(stream) < 0.4 ? draw_normal(stream) : 0.0);
    for (std::size_t c = 0; c < labels; ++c) {
      VectorXd weights(columns);
      for (Eigen::Index j = 0; j < columns; ++j) weights[j] = draw_normal(stream);
      y.emplace_back();
      for (Eigen::Index i = 0; i < rows; ++i) {
        const double p = std::exp(log_logistic(x.row(i).dot(weights)));
        const double label = draw_uniform(stream) < p ? 1.0 : 0.0;
        y.back().push_back(draw_uniform(stream) < missing ? kMissing : label);
      }
    }
  }
};

TEST(Expert, BoundsNeverFall) {
  const Simulated data(80, 7, 8, 0.2);
  const VectorXd variance = VectorXd::Constant(7, 2.0);
  const VectorXd mean = VectorXd::Zero(7);
  for (const Link link : {Link::logistic, Link::svm})
    for (const Method method : {Method::vb, Method::map}) {
      ExpertOptions options;
      options.link = link;
      options.method = method;
      options.iterations = 60;
      const auto experts = fit_diagonal(sparse(data.x), data.y, std::vector(8, &variance), options);
      ASSERT_EQ(experts.size(), 8u);
      for (const Expert& expert : experts)
        for (std::size_t t = 1; t < expert.elbos.size(); ++t)
          EXPECT_GE(expert.elbos[t], expert.elbos[t - 1] - 1e-9 * std::abs(expert.elbos[t])) << t;
      Stream stream({5, 0, 0}, Purpose::test);
      const Simulated complete(80, 7, 1, 0.0);
      const VectorXd y = Eigen::Map<const VectorXd>(complete.y[0].data(), 80);
      const Expert full = fit_full(complete.x, y, mean, variance, options, stream);
      for (std::size_t t = 1; t < full.elbos.size(); ++t)
        EXPECT_GE(full.elbos[t], full.elbos[t - 1] - 1e-9 * std::abs(full.elbos[t])) << t;
    }
}

TEST(Expert, PointsOfBothFormsAgreeForEveryLabel) {
  const Simulated data(120, 9, 5, 0.0);
  const VectorXd variance = VectorXd::Constant(9, 1.5);
  ExpertOptions options;
  options.method = Method::map;
  options.tolerance = 1e-10;
  options.iterations = 2000;
  const auto experts = fit_diagonal(sparse(data.x), data.y, std::vector(5, &variance), options);
  for (std::size_t c = 0; c < data.y.size(); ++c) {
    Stream stream({6, 0, 0}, Purpose::test);
    const VectorXd y = Eigen::Map<const VectorXd>(data.y[c].data(), 120);
    const Expert full = fit_full(data.x, y, VectorXd::Zero(9), variance, options, stream);
    EXPECT_LT((full.mean - experts[c].mean).cwiseAbs().maxCoeff(), 1e-7) << c;
  }
}

TEST(Expert, DiagonalFormIsTheFixedPointWhateverTheStartAndTheCompany) {
  // 4.1: the precision at the augmentation's mean gives back mean and variances.
  constexpr std::size_t kLabels = 13;  // of which one half of the places is full
  const Simulated data(150, 12, kLabels, 0.1);
  const VectorXd variance = VectorXd::Constant(12, 2.0);
  ExpertOptions options;
  options.tolerance = 1e-11;
  options.iterations = 2000;
  const SparseDesign design = sparse(data.x);
  const auto experts = fit_diagonal(design, data.y, std::vector(kLabels, &variance), options);
  for (std::size_t c = 0; c < kLabels; ++c) {
    const Expert& expert = experts[c];
    MatrixXd precision = variance.cwiseInverse().asDiagonal();
    VectorXd right = VectorXd::Zero(12);
    for (Eigen::Index i = 0; i < 150; ++i) {
      const double y = data.y[c][static_cast<std::size_t>(i)];
      if (is_missing(y)) continue;
      const VectorXd x = data.x.row(i);
      const double spread = (x.array().square() * expert.variance.array()).sum();
      const double reach = std::sqrt(spread + std::pow(x.dot(expert.mean), 2));
      precision += std::tanh(0.5 * reach) / (2.0 * reach) * x * x.transpose();
      right += (y - 0.5) * x;
    }
    EXPECT_LT((precision * expert.mean - right).cwiseAbs().maxCoeff(), 1e-7) << c;
    EXPECT_LT((expert.variance - precision.diagonal().cwiseInverse()).cwiseAbs().maxCoeff(), 1e-8) << c;
    // Alone, and from another label's answer.
    const std::vector<std::vector<double>> one{data.y[c]};
    const Expert* elsewhere = &experts[(c + 1) % kLabels];
    const Expert alone = fit_diagonal(design, one, std::vector(1, &variance), options).front();
    const Expert warm =
        fit_diagonal(design, one, std::vector(1, &variance), options, std::vector(1, elsewhere)).front();
    EXPECT_EQ(alone.mean, expert.mean);
    EXPECT_LT((warm.mean - expert.mean).cwiseAbs().maxCoeff(), 1e-7) << c;
    EXPECT_NEAR(warm.elbo, expert.elbo, 1e-9 * std::abs(expert.elbo)) << c;
  }
}

TEST(Expert, StochasticStepsComeNearTheBatchSolution) {
  const Simulated data(600, 5, 1, 0.0);
  const VectorXd y = Eigen::Map<const VectorXd>(data.y[0].data(), 600);
  const VectorXd variance = VectorXd::Constant(5, 4.0);
  ExpertOptions options;
  Stream stream({7, 0, 0}, Purpose::test);
  const Expert batch = fit_full(data.x, y, VectorXd::Zero(5), variance, options, stream);
  options.method = Method::svi;
  options.minibatch = 64;
  options.epochs = 40;
  const Expert stochastic = fit_full(data.x, y, VectorXd::Zero(5), variance, options, stream);
  EXPECT_LT(stochastic.elbo, batch.elbo + 1e-9);
  EXPECT_GT(stochastic.elbo, batch.elbo - 0.005 * std::abs(batch.elbo));
}

}  // namespace
}  // namespace coppice::bnmc
