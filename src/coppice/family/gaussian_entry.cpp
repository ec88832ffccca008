// The entry of the full-covariance Gaussian: hyper-parameters, defaults from the data, presets.
#include <Eigen/Cholesky>
#include <cmath>

#include "coppice/base/error.hpp"
#include "coppice/family/gaussian.hpp"

namespace coppice {
namespace {

/// Covariance of complete columns, divisor n - 1.
Eigen::MatrixXd covariance_of(const FamilyInputs& inputs) {
  const auto d = static_cast<Eigen::Index>(inputs.columns.size());
  const auto n = static_cast<Eigen::Index>(inputs.columns[0]->values.size());
  Eigen::MatrixXd centered(n, d);
  for (Eigen::Index j = 0; j < d; ++j) {
    const Column& column = *inputs.columns[static_cast<std::size_t>(j)];
    centered.col(j) =
        Eigen::Map<const Eigen::VectorXd>(column.values.data(), n).array() - column_scale(column).mean;
  }
  return centered.transpose() * centered / std::max<double>(1.0, static_cast<double>(n - 1));
}

std::vector<double> scale_matrix(const FamilyInputs& inputs, const Setting& setting) {
  const std::size_t d = inputs.columns.size();
  std::vector<double> scale(d * d, 0.0);
  const bool matrix =
      setting.shape == Setting::Shape::matrix && setting.rows == d && setting.numbers.size() == d * d;
  const bool vector = setting.shape == Setting::Shape::vector && setting.numbers.size() == d;
  const bool number = setting.shape == Setting::Shape::number;
  if (!matrix && !vector && !number)
    fail(ErrorCode::configuration,
         "--set scale={}: give a {} x {} matrix, an array of {} (its diagonal) or a number (times the "
         "identity)",
         to_toml(setting), d, d, d);
  for (const double value : setting.numbers)
    if (!std::isfinite(value))
      fail(ErrorCode::configuration, "--set scale={}: every number must be finite", to_toml(setting));
  for (std::size_t i = 0; i < d; ++i) {
    if (matrix)
      for (std::size_t j = 0; j < d; ++j) {
        scale[i * d + j] = setting.numbers[i * d + j];
        if (setting.numbers[i * d + j] != setting.numbers[j * d + i])
          fail(ErrorCode::configuration,
               "--set scale: the matrix is not symmetric (entry {},{} differs from {},{})", i + 1, j + 1,
               j + 1, i + 1);
      }
    else
      scale[i * d + i] = setting.numbers[vector ? i : 0];
  }
  return scale;
}

std::unique_ptr<Family> make(const FamilyInputs& inputs) {
  const std::size_t d = inputs.columns.size();
  if (d > Gaussian::kLargestDimension)
    fail(ErrorCode::configuration,
         "family gaussian takes at most {} columns, not {}: use gaussian-diagonal or --pca",
         Gaussian::kLargestDimension, d);
  for (std::size_t j = 0; j < d; ++j) {
    if (inputs.per_column[j] == nullptr) continue;
    for (const auto& [name, value] : *inputs.per_column[j])
      if (name != "prior_mean")
        fail(
            ErrorCode::configuration,
            "codebook: column '{}': {} is shared by all columns of family gaussian: give --set {}={} instead",
            inputs.columns[j]->name, name, name, to_toml(value));
  }
  if (inputs.learns({"prior_mean", "mean_strength", "dof", "scale", "preset"})) {
    std::vector<double> means;
    std::vector<double> sds;
    for (const Column* column : inputs.columns) {
      const ColumnScale scale = column_scale(*column);
      means.push_back(scale.mean);
      sds.push_back(scale.sd);
    }
    return std::make_unique<Gaussian>(inputs.from_data("data_mean", std::move(means)),
                                      inputs.from_data("data_sd", std::move(sds)), inputs.rows);
  }
  bool published = false;
  if (const Setting* preset = inputs.whole_block("preset")) {
    published = preset->text == "nips2015";
    if (!published)
      fail(ErrorCode::configuration, "--set preset={}: the only preset is \"nips2015\"", to_toml(*preset));
  }
  std::vector<double> default_mean;
  for (const Column* column : inputs.columns) default_mean.push_back(column_scale(*column).mean);
  const auto scalar = [&](std::string_view name, double fallback, double low) {
    const Setting* setting = inputs.whole_block(name);
    const double value = setting != nullptr && !setting->numbers.empty() ? setting->numbers[0] : fallback;
    if (setting != nullptr && setting->shape != Setting::Shape::number)
      fail(ErrorCode::configuration, "--set {}={} must be a number", name, to_toml(*setting));
    if (!(value > low && std::isfinite(value)))
      fail(ErrorCode::configuration, "--set {}={} must be a finite number greater than {}", name, value, low);
    inputs.record(name, Setting::number(value));
    return value;
  };
  const double dimension = static_cast<double>(d);
  const double strength = scalar("mean_strength", published ? 0.1 : kDefaultMeanStrength, 0.0);
  const double dof = scalar("dof", dimension + (published ? 6.0 : 2.0), dimension - 1.0);
  std::vector<double> scale(d * d, 0.0);
  if (const Setting* setting = inputs.whole_block("scale")) {
    scale = scale_matrix(inputs, *setting);
  } else if (published) {
    // The covariance of the data, rescaled to determinant 0.1: depends on the units, kept for comparison
    // only.
    const Eigen::MatrixXd covariance = covariance_of(inputs);
    const Eigen::LLT<Eigen::MatrixXd> factorization(covariance);
    if (factorization.info() != Eigen::Success)
      fail(ErrorCode::configuration,
           "--set preset=\"nips2015\": the covariance of the columns is singular (a constant column, or one "
           "that "
           "follows from the others): drop such columns, or leave the preset out");
    const double log_determinant =
        2.0 * Eigen::MatrixXd(factorization.matrixL()).diagonal().array().log().sum();
    const double factor = std::exp((std::log(0.1) - log_determinant) / dimension);
    for (std::size_t i = 0; i < d; ++i)
      for (std::size_t j = 0; j <= i; ++j)
        // A product of matrices may round the two halves differently; the factorization reads this one.
        scale[i * d + j] = scale[j * d + i] = covariance.data()[i * d + j] * factor;
  } else {
    // E[S] = scale / (dof - D - 1): a cluster is expected to have half the standard deviation of the column.
    for (std::size_t j = 0; j < d; ++j) {
      const double sd = kDefaultClusterSd * column_scale(*inputs.columns[j]).sd;
      scale[j * d + j] = sd * sd * std::max(dof - dimension - 1.0, 1.0);
    }
  }
  inputs.record("scale", {Setting::Shape::matrix, scale, d, {}});
  return std::make_unique<Gaussian>(inputs.per_column_values("prior_mean", default_mean, -1e300), strength,
                                    dof, scale, inputs.rows);
}

}  // namespace

FamilyEntry gaussian_entry() {
  using Type = Parameter::Type;
  return {
      .name = "gaussian",
      .summary = "real columns together, with their correlations; normal-inverse-Wishart prior",
      .kinds = {Kind::real, Kind::count, Kind::binary},
      .missing_allowed = false,
      .parameters =
          {{"prior_mean", Type::numbers, "", "prior mean; default: the columns' means"},
           {"mean_strength", Type::real, "",
            "prior sample size of the mean (kappa0): how many rows the prior mean is worth; default 0.05",
            0.0, 1e300, true},
           {"dof", Type::real, "", "degrees of freedom of the inverse-Wishart prior, > D - 1; default D + 2"},
           {"scale", Type::numbers, "",
            "its scale: a matrix, its diagonal, or a number; default: a cluster has half the columns' "
            "standard deviations"},
           {"preset",
            Type::choice,
            "",
            "nips2015: the unit-dependent prior of the tree-guided experiments",
            0,
            0,
            false,
            {"nips2015"}}},
      .make = make,
      .joint = true,
      .automatic = {Kind::real}};
}

}  // namespace coppice
