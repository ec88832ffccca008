// Standardizing and principal components, as values that can be stored with a run and applied to new rows.
// First each real column is centered and scaled (optional), then all numeric columns (real, count, binary)
// are replaced by their leading principal components (optional). Category columns stay as they are.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "coppice/data/codebook.hpp"
#include "coppice/data/table.hpp"

namespace coppice {

struct Transform {
  struct Scale {
    std::string column;
    double mean = 0.0;
    double deviation = 1.0;  // population standard deviation of the present cells; 1 for a constant column
    bool operator==(const Scale&) const = default;
  };
  std::vector<Scale> scales;        // empty: not standardized
  std::vector<std::string> inputs;  // the columns that enter the components; empty: no components
  Eigen::VectorXd center;           // mean of each input, after scaling
  Eigen::MatrixXd loadings;         // inputs x components; the largest entry of each column is positive
  Eigen::VectorXd variance;         // sample variance along each component, decreasing
  double total_variance = 0.0;      // of all inputs, so that shares can be reported

  bool empty() const { return scales.empty() && inputs.empty(); }
};

/// Learns the transform from the table and applies it to it. pca is the number of components, 0 for none.
/// Throws Error{configuration} if components are asked for and a numeric cell is missing, or too many are
/// asked for. Columns that the codebook puts on the log scale or gives a hurdle keep their units.
Transform fit_transform(Table& table, bool standardize, std::size_t pca, const Codebook& codebook = {});
/// Applies a learned transform; on the table it was learned from the result is bit for bit that of
/// fit_transform.
Table apply(const Transform& transform, Table table);

/// Exact: every number keeps its bits.
std::string to_json(const Transform& transform);
/// Throws Error{bad_data} for a text that to_json did not write.
Transform transform_from_json(std::string_view text);

}  // namespace coppice
