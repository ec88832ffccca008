// Learning and applying scales and principal components. Means and variances are computed in two passes, so
// that a large offset costs no digits; the components come from the covariance matrix, or from the Gram
// matrix of the rows when there are more columns than rows.
#if defined(__GNUC__) && !defined(__clang__)
// GCC 12 takes the deliberately undefined registers of its own AVX-512 header for a mistake when a sanitizer
// is on.
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

#include "coppice/data/transform.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "coppice/base/error.hpp"
#include "coppice/data/text.hpp"

namespace coppice {
namespace {

constexpr double kLeastVarianceShare =
    1e-12;  // of the first component; below it a direction is rounding noise

Transform::Scale learn_scale(const Column& column) {
  double count = 0.0;
  double sum = 0.0;
  double smallest = std::numeric_limits<double>::infinity();
  double largest = -smallest;
  for (const double value : column.values) {
    if (is_missing(value)) continue;
    count += 1.0;
    sum += value;
    smallest = std::min(smallest, value);
    largest = std::max(largest, value);
  }
  if (count == 0.0) return {column.name, 0.0, 1.0};
  // A constant column is centered exactly; its sum may be rounded.
  if (smallest == largest) return {column.name, smallest, 1.0};
  double mean = sum / count;
  double correction = 0.0;
  for (const double value : column.values)
    if (!is_missing(value)) correction += value - mean;
  mean += correction / count;
  double squares = 0.0;
  for (const double value : column.values)
    if (!is_missing(value)) squares += (value - mean) * (value - mean);
  const double deviation = std::sqrt(squares / count);
  return {column.name, mean, deviation > 0.0 && std::isfinite(deviation) ? deviation : 1.0};
}

std::unordered_map<std::string, std::size_t> positions_of(const Table& table) {
  std::unordered_map<std::string, std::size_t> positions;
  for (std::size_t i = 0; i < table.columns.size(); ++i) positions.emplace(table.columns[i].name, i);
  return positions;
}

std::size_t position_of(const std::unordered_map<std::string, std::size_t>& positions,
                        const std::string& name) {
  const auto found = positions.find(name);
  if (found == positions.end())
    fail(ErrorCode::configuration, "column '{}' of the learned transform is not in the table",
         text::display(name));
  return found->second;
}

void apply_scales(const Transform& transform, Table& table) {
  const auto positions = positions_of(table);
  for (const Transform::Scale& scale : transform.scales)
    for (double& value : table.columns[position_of(positions, scale.column)].values)
      value = (value - scale.mean) / scale.deviation;
}

// The inputs of the components as a matrix, one row per row of the table.
Eigen::MatrixXd numbers_of(const Table& table, const std::vector<std::string>& inputs) {
  const auto positions = positions_of(table);
  Eigen::MatrixXd numbers(static_cast<Eigen::Index>(table.rows()), static_cast<Eigen::Index>(inputs.size()));
  for (std::size_t j = 0; j < inputs.size(); ++j) {
    const Column& column = table.columns[position_of(positions, inputs[j])];
    for (std::size_t i = 0; i < table.rows(); ++i) {
      if (is_missing(column.values[i]))
        fail(ErrorCode::configuration,
             "principal components need complete numbers, but column '{}' is missing in row '{}'; drop the "
             "column, impute "
             "it, or do without --pca",
             text::display(column.name), text::display(table.row_ids[i]));
      numbers(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = column.values[i];
    }
  }
  return numbers;
}

void check_request(const Table& table, std::size_t components, std::size_t inputs) {
  if (inputs == 0)
    fail(ErrorCode::configuration, "--pca {}: the table has no column of numbers; do without --pca",
         components);
  if (table.rows() < 2)
    fail(ErrorCode::configuration, "--pca {}: the table has fewer than 2 rows", components);
  const std::size_t most = std::min(inputs, table.rows() - 1);
  if (components > most)
    fail(ErrorCode::configuration,
         "--pca {}: {} rows of {} columns of numbers have at most {} components; ask for fewer", components,
         table.rows(), inputs, most);
}

// Leading eigenvectors of the covariance of the columns of `centered`, without ever forming a matrix larger
// than the shorter side.
void learn_components(Transform& transform, const Eigen::MatrixXd& centered, Eigen::Index components) {
  const bool wide = centered.cols() > centered.rows();
  const double divisor = static_cast<double>(centered.rows() - 1);
  const Eigen::Index size = wide ? centered.rows() : centered.cols();
  Eigen::MatrixXd products = Eigen::MatrixXd::Zero(size, size);
  if (wide)
    products.selfadjointView<Eigen::Lower>().rankUpdate(centered, 1.0 / divisor);
  else
    products.selfadjointView<Eigen::Lower>().rankUpdate(centered.transpose(), 1.0 / divisor);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(products);
  if (solver.info() != Eigen::Success)
    fail(ErrorCode::bad_data, "the principal components do not converge; rescale the data");
  transform.total_variance = products.trace();
  transform.variance = solver.eigenvalues().tail(components).reverse().cwiseMax(0.0);
  const double least = kLeastVarianceShare * transform.variance(0);
  for (Eigen::Index k = 0; k < components; ++k)
    if (!(transform.variance(k) > least))
      fail(ErrorCode::configuration,
           "--pca {}: the columns of numbers vary in {} directions only; ask for at most {}", components, k,
           k);
  Eigen::MatrixXd vectors = solver.eigenvectors().rightCols(components).rowwise().reverse();
  transform.loadings = wide ? Eigen::MatrixXd(centered.transpose() * vectors) : std::move(vectors);
  for (Eigen::Index k = 0; k < components; ++k) {
    transform.loadings.col(k).normalize();
    Eigen::Index largest = 0;
    transform.loadings.col(k).cwiseAbs().maxCoeff(&largest);
    if (transform.loadings(largest, k) < 0.0) transform.loadings.col(k) *= -1.0;
  }
}

void apply_components(const Transform& transform, Table& table) {
  Eigen::MatrixXd centered = numbers_of(table, transform.inputs);
  centered.rowwise() -= transform.center.transpose();
  const Eigen::MatrixXd scores = centered * transform.loadings;
  const std::unordered_map<std::string, std::size_t> positions = positions_of(table);
  std::vector<bool> replaced(table.columns.size());
  for (const std::string& name : transform.inputs) replaced[positions.at(name)] = true;
  std::vector<Column> columns;
  for (Eigen::Index k = 0; k < scores.cols(); ++k) {
    Column column{fmt::format("pc{}", k + 1), Kind::real, {}, {}};
    column.values.assign(scores.col(k).data(), scores.col(k).data() + scores.rows());
    columns.push_back(std::move(column));
  }
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (replaced[i] || table.columns[i].kind != Kind::category) continue;
    for (Eigen::Index k = 0; k < scores.cols(); ++k)
      if (table.columns[i].name == columns[static_cast<std::size_t>(k)].name)
        fail(ErrorCode::configuration, "column '{}' has the name of a principal component; rename it",
             table.columns[i].name);
    columns.push_back(std::move(table.columns[i]));
  }
  table.columns = std::move(columns);
}

std::vector<double> plain(const Eigen::VectorXd& vector) {
  return {vector.data(), vector.data() + vector.size()};
}

Eigen::VectorXd to_vector(const std::vector<double>& values) {
  return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}

}  // namespace

Transform fit_transform(Table& table, bool standardize, std::size_t pca, const Codebook& codebook) {
  const auto keeps_units = [&](const Column& column) {
    const ColumnSpec* spec = codebook.find(column.name);
    return spec != nullptr && (!spec->transform.empty() || spec->hurdle);
  };
  Transform transform;
  if (standardize) {
    for (const Column& column : table.columns)
      if (column.kind == Kind::real && !keeps_units(column)) transform.scales.push_back(learn_scale(column));
  }
  if (pca > 0) {
    Table scaled = table;
    apply_scales(transform, scaled);
    std::vector<std::string> inputs;
    for (const Column& column : scaled.columns)
      if (column.kind != Kind::category) inputs.push_back(column.name);
    check_request(scaled, pca, inputs.size());
    Eigen::MatrixXd numbers = numbers_of(scaled, inputs);
    transform.inputs = std::move(inputs);
    transform.center = numbers.colwise().mean().transpose();
    numbers.rowwise() -= transform.center.transpose();
    // The rounding of a mean at a large offset is visible in the residuals; take it out once more.
    const Eigen::VectorXd correction = numbers.colwise().mean().transpose();
    transform.center += correction;
    numbers.rowwise() -= correction.transpose();
    learn_components(transform, numbers, static_cast<Eigen::Index>(pca));
  }
  table = apply(transform, std::move(table));
  return transform;
}

Table apply(const Transform& transform, Table table) {
  apply_scales(transform, table);
  if (!transform.inputs.empty()) apply_components(transform, table);
  return table;
}

std::string to_json(const Transform& transform) {
  nlohmann::json json;
  json["version"] = 1;
  json["scales"] = nlohmann::json::array();
  for (const Transform::Scale& scale : transform.scales)
    json["scales"].push_back(
        {{"column", scale.column}, {"mean", scale.mean}, {"deviation", scale.deviation}});
  json["inputs"] = transform.inputs;
  json["center"] = plain(transform.center);
  json["variance"] = plain(transform.variance);
  json["total_variance"] = transform.total_variance;
  json["loadings"] = nlohmann::json::array();
  for (Eigen::Index k = 0; k < transform.loadings.cols(); ++k)
    json["loadings"].push_back(plain(transform.loadings.col(k)));
  return json.dump();
}

Transform transform_from_json(std::string_view text) {
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    if (json.at("version").get<int>() != 1)
      fail(ErrorCode::bad_data, "the stored transform has an unknown version");
    Transform transform;
    for (const nlohmann::json& scale : json.at("scales"))
      transform.scales.push_back({scale.at("column").get<std::string>(), scale.at("mean").get<double>(),
                                  scale.at("deviation").get<double>()});
    transform.inputs = json.at("inputs").get<std::vector<std::string>>();
    transform.center = to_vector(json.at("center").get<std::vector<double>>());
    transform.variance = to_vector(json.at("variance").get<std::vector<double>>());
    transform.total_variance = json.at("total_variance").get<double>();
    const nlohmann::json& loadings = json.at("loadings");
    const auto inputs = static_cast<Eigen::Index>(transform.inputs.size());
    transform.loadings.resize(inputs, static_cast<Eigen::Index>(loadings.size()));
    bool consistent =
        transform.center.size() == inputs && transform.variance.size() == transform.loadings.cols();
    for (std::size_t k = 0; consistent && k < loadings.size(); ++k) {
      const Eigen::VectorXd column = to_vector(loadings[k].get<std::vector<double>>());
      consistent = column.size() == inputs;
      if (consistent) transform.loadings.col(static_cast<Eigen::Index>(k)) = column;
    }
    if (!consistent) fail(ErrorCode::bad_data, "the stored transform is damaged: its sizes disagree");
    return transform;
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorCode::bad_data, "the stored transform is damaged: {}", text::display(error.what(), 120));
  }
}

}  // namespace coppice
