// Duplicates are found by signatures, so that wide tables cost no pairs: the partition that a discrete column
// makes of the rows, and two random projections of a standardized one.
#include "coppice/data/kinds/relations.hpp"

#include <fmt/format.h>

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "coppice/data/kinds/decide.hpp"
#include "coppice/data/kinds/unit_column.hpp"
#include "coppice/data/text.hpp"

namespace coppice {
namespace {

constexpr std::size_t kLeastRows = 8;
/// Real columns that are one up to scale are left out even if there are few rows: the density of both
/// together has no bound.
constexpr std::size_t kLeastAffineRows = 3;
/// Bits that two equal columns of categories must have told before they are taken for one.
constexpr double kCertainBits = 100.0;
constexpr double kWorthMentioningBits = 25.0;

/// A number between -1 and 1 that depends on the row alone.
double weight_of(std::uint64_t row, std::uint64_t salt) {
  std::uint64_t x = (row + 1) * 0x9e3779b97f4a7c15u + salt * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  x ^= x >> 31;
  return 2.0 * static_cast<double>(x >> 11) * 0x1.0p-53 - 1.0;
}

double correlation(const Column& a, const Column& b) {
  const Eigen::VectorXd x = unit_column(a.values, a.values.size());
  const Eigen::VectorXd y = unit_column(b.values, b.values.size());
  return x.size() == 0 || y.size() == 0 ? 0.0 : x.dot(y);
}

bool is_numeric(const Column& column) { return column.kind == Kind::real || column.kind == Kind::count; }

bool same_cells(const Column& a, const Column& b) {
  return std::equal(a.values.begin(), a.values.end(), b.values.begin(), b.values.end(),
                    [](double x, double y) { return x == y || (is_missing(x) && is_missing(y)); });
}

/// The partition of the rows (of one in `step`) that a discrete column makes: cells numbered by first
/// appearance, 0 for missing.
struct Blocks {
  std::vector<std::uint32_t> code;
  std::vector<std::size_t> sizes;  // of the blocks but the missing one

  explicit Blocks(const Column& column, std::size_t step = 1)
      : code((column.values.size() + step - 1) / step, 0) {
    std::unordered_map<double, std::uint32_t> seen;
    for (std::size_t row = 0; row < code.size(); ++row) {
      const double value = column.values[row * step];
      if (is_missing(value)) continue;
      const auto found = seen.emplace(value, static_cast<std::uint32_t>(seen.size() + 1)).first;
      code[row] = found->second;
      if (found->second > sizes.size()) sizes.push_back(0);
      ++sizes[found->second - 1];
    }
  }

  /// log2 of the number of ways to deal the rows to blocks of these sizes.
  double bits() const {
    const auto total = static_cast<double>(std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}));
    double bits = 0.0;
    for (const std::size_t size : sizes)
      bits -= static_cast<double>(size) * std::log2(static_cast<double>(size) / total);
    return bits;
  }

  std::uint64_t hash() const {
    std::uint64_t h = 0xcbf29ce484222325u;
    for (const std::uint32_t c : code) h = (h ^ c) * 0x100000001b3u;
    return h;
  }
};

class Search {
 public:
  Search(std::span<const Column> columns, std::span<const ColumnSpec> specs,
         const std::vector<bool>& may_leave, const KindRules& rules)
      : columns_(columns),
        specs_(specs),
        may_leave_(may_leave),
        rules_(rules),
        gone_(columns.size(), false) {}

  std::vector<Redundancy> run() {
    if (columns_.empty() || columns_[0].values.size() < kLeastAffineRows) return {};
    const bool enough = columns_[0].values.size() >= kLeastRows;
    if (enough) find_equal_partitions();
    find_affine();
    if (enough) find_collinear();
    std::sort(found_.begin(), found_.end(),
              [](const Redundancy& a, const Redundancy& b) { return a.column < b.column; });
    return std::move(found_);
  }

 private:
  void add(std::size_t earlier, std::size_t later, bool certain, const std::string& reason) {
    if (!may_leave_[later]) std::swap(earlier, later);
    if (!may_leave_[later] || gone_[later] || gone_[earlier]) return;
    gone_[later] = certain;
    found_.push_back(
        {later, earlier, false, certain, fmt::format(fmt::runtime(reason), columns_[earlier].name)});
  }

  void find_equal_partitions() {
    std::unordered_map<std::uint64_t, std::vector<std::size_t>> by_hash;
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      if (columns_[j].kind == Kind::real) continue;
      // A few rows tell nearly all columns apart.
      std::vector<std::size_t>& alike =
          by_hash[Blocks(columns_[j], std::max<std::size_t>(1, columns_[j].values.size() / kSampleRows))
                      .hash()];
      if (alike.empty()) {
        alike.push_back(j);
        continue;
      }
      const Blocks blocks(columns_[j]);
      if (blocks.sizes.size() < 2) continue;
      const auto same = std::find_if(alike.begin(), alike.end(),
                                     [&](std::size_t i) { return Blocks(columns_[i]).code == blocks.code; });
      if (same == alike.end()) {
        alike.push_back(j);
        continue;
      }
      const double bits = blocks.bits();
      if (bits >= kWorthMentioningBits)
        add(*same, j, bits >= kCertainBits, "each of its values goes with one of '{}'");
    }
  }

  void find_affine() {
    struct Signature {
      double first, second;
      std::size_t column;
    };
    std::vector<Signature> signatures;
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      if (!is_numeric(columns_[j]) || gone_[j]) continue;
      const Eigen::VectorXd z = unit_column(columns_[j].values, kSampleRows);
      if (z.size() == 0) continue;
      double first = 0.0;
      double second = 0.0;
      for (Eigen::Index i = 0; i < z.size(); ++i) {
        first += weight_of(static_cast<std::uint64_t>(i), 1) * z[i];
        second += weight_of(static_cast<std::uint64_t>(i), 2) * z[i];
      }
      // The sign of an affine copy may differ.
      const double sign = first < 0.0 ? -1.0 : 1.0;
      signatures.push_back({sign * first, sign * second, j});
    }
    std::sort(signatures.begin(), signatures.end(),
              [](const Signature& a, const Signature& b) { return a.first < b.first; });
    // The norm of the difference of two unit columns is sqrt(2 (1 - r)); a projection moves by a few times
    // less.
    const double tolerance = 3.0 * std::sqrt(2.0 * (1.0 - rules_.duplicate_correlation));
    for (std::size_t a = 0; a < signatures.size(); ++a)
      for (std::size_t b = a + 1;
           b < signatures.size() && signatures[b].first - signatures[a].first < tolerance; ++b) {
        const bool near_zero = signatures[b].first < tolerance;  // then the sign is not certain
        const double apart = std::abs(signatures[a].second - signatures[b].second);
        const double turned = std::abs(signatures[a].second + signatures[b].second);
        if (apart < tolerance || (near_zero && turned < tolerance))
          compare(std::min(signatures[a].column, signatures[b].column),
                  std::max(signatures[a].column, signatures[b].column));
      }
  }

  void compare(std::size_t earlier, std::size_t later) {
    if (gone_[earlier] || gone_[later]) return;
    if (same_cells(columns_[earlier], columns_[later])) {
      add(earlier, later, true, "equal to '{}'");
      return;
    }
    const double r = correlation(columns_[earlier], columns_[later]);
    if (std::abs(r) > rules_.duplicate_correlation)
      add(earlier, later, true, "the same as '{}' on another scale");
  }

  void find_collinear() {
    std::vector<std::size_t> real;
    for (std::size_t j = 0; j < columns_.size(); ++j)
      if (columns_[j].kind == Kind::real && !gone_[j]) real.push_back(j);
    const std::size_t rows = columns_[0].values.size();
    if (real.size() < 3 || real.size() > rules_.collinear_columns || rows < 2 * real.size() + 20) return;
    const std::size_t wanted = std::max(kSampleRows, 8 * real.size());
    std::vector<Eigen::VectorXd> z;
    std::vector<std::size_t> kept;
    for (const std::size_t j : real)
      if (Eigen::VectorXd column = unit_column(columns_[j].values, wanted, specs_[j].transform == "log");
          column.size() != 0) {
        kept.push_back(j);
        z.push_back(std::move(column));
      }
    // One at a time, the latest of those that the others explain.
    std::vector<std::pair<std::size_t, Eigen::VectorXd>> explained;
    while (const std::optional<std::size_t> last = last_explained(z, kept)) {
      const auto at = static_cast<std::ptrdiff_t>(*last);
      explained.emplace_back(kept[*last], std::move(z[*last]));
      kept.erase(kept.begin() + at);
      z.erase(z.begin() + at);
    }
    if (explained.empty()) return;
    const Eigen::MatrixXd others = stacked(z);
    const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> decomposition(others);
    for (const auto& [column, values] : explained) {
      const Eigen::VectorXd weights = decomposition.solve(values);
      leave_collinear(column, (values - others * weights).squaredNorm(), weights, kept);
    }
  }

  static Eigen::MatrixXd stacked(const std::vector<Eigen::VectorXd>& z) {
    Eigen::MatrixXd all(z[0].size(), static_cast<Eigen::Index>(z.size()));
    for (std::size_t j = 0; j < z.size(); ++j) all.col(static_cast<Eigen::Index>(j)) = z[j];
    return all;
  }

  /// The share of variance of column j that the others leave is 1 / (Z'Z)^-1_jj.
  std::optional<std::size_t> last_explained(const std::vector<Eigen::VectorXd>& z,
                                            const std::vector<std::size_t>& kept) const {
    if (z.size() < 3) return std::nullopt;
    // A ridge far below the threshold keeps the inverse finite.
    const Eigen::MatrixXd all = stacked(z);
    Eigen::MatrixXd gram = all.transpose() * all;
    gram.diagonal().array() += 1e-11;
    const Eigen::MatrixXd inverse = gram.llt().solve(Eigen::MatrixXd::Identity(gram.rows(), gram.cols()));
    for (std::size_t j = z.size(); j-- > 0;) {
      const auto at = static_cast<Eigen::Index>(j);
      const double left = 1.0 / inverse(at, at);
      if (may_leave_[kept[j]] && left >= 0.0 && left < rules_.collinear_residual) return j;
    }
    return std::nullopt;
  }

  void leave_collinear(std::size_t column, double left, const Eigen::VectorXd& weights,
                       const std::vector<std::size_t>& kept) {
    std::vector<std::pair<double, std::size_t>> strongest;
    for (std::size_t j = 0; j < kept.size(); ++j)
      strongest.emplace_back(-std::abs(weights[static_cast<Eigen::Index>(j)]), kept[j]);
    std::sort(strongest.begin(), strongest.end());
    std::vector<std::string> names;
    for (const auto& [weight, other] : strongest)
      if (-weight > 0.01) names.push_back(columns_[other].name);
    gone_[column] = true;
    found_.push_back({column, column, true, true,
                      fmt::format("a linear combination of {} ({} of its variance is left)",
                                  text::list_names(names, 4), short_number(left < 1e-9 ? 0.0 : left))});
  }

  std::span<const Column> columns_;
  std::span<const ColumnSpec> specs_;
  const std::vector<bool>& may_leave_;
  const KindRules& rules_;
  std::vector<bool> gone_;
  std::vector<Redundancy> found_;
};

}  // namespace

std::vector<Redundancy> find_redundant(std::span<const Column> columns, std::span<const ColumnSpec> specs,
                                       const std::vector<bool>& may_leave, const KindRules& rules) {
  return Search(columns, specs, may_leave, rules).run();
}

bool determines(const Column& a, const Column& b) {
  std::unordered_map<double, double> value_of;
  for (std::size_t row = 0; row < a.values.size(); ++row) {
    if (is_missing(a.values[row]) || is_missing(b.values[row])) continue;
    if (value_of.emplace(a.values[row], b.values[row]).first->second != b.values[row]) return false;
  }
  return true;
}

bool is_one_to_one(const Column& a, const Column& b) { return determines(a, b) && determines(b, a); }

}  // namespace coppice
