// The cases over which the laws are checked: every family of the list with its defaults, the same families
// with odd hyper-parameters, and mixed rows. A family that is added to the list is checked without a line
// here.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "coppice/base/rng.hpp"
#include "coppice/data/codebook.hpp"
#include "coppice/family/plan.hpp"

namespace coppice::test {

struct CaseColumn {
  Kind kind = Kind::real;
  std::size_t levels = 0;
  std::string family = {};                 // codebook
  std::vector<std::string> settings = {};  // codebook, NAME=VALUE
};

struct LawCase {
  std::string name;
  std::string family;  // as after --family
  std::vector<CaseColumn> columns;
  std::vector<std::string> settings = {};  // as after --set
  double missing = 0.0;                    // share of cells left out
  bool learn = false;                      // learned hyper-parameters, moved away from where they begin
};

/// Cases of ordinary width, for the laws that hold exactly.
std::vector<LawCase> law_cases();
/// Cases of one or two columns, where averages over prior draws converge.
std::vector<LawCase> narrow_cases();
/// Families whose hyper-parameters are learned, at other values than their first ones: what was computed for
/// these must have followed.
std::vector<LawCase> learned_cases();
/// Those of the law cases with real columns only, and those with missing cells.
std::vector<LawCase> real_cases();
std::vector<LawCase> missing_cases();

/// A case made concrete: a simulated table of two groups, the family planned for it, its rows.
struct Fixture {
  Fixture(const LawCase& law_case, std::uint64_t seed, std::size_t rows = 0);

  Table table;
  Codebook codebook;
  FamilyPlan plan;
  Rows rows;
  const Family& family() const { return *plan.family; }
};

/// Statistics as a value.
class Stats {
 public:
  explicit Stats(const Family& family) : family_(&family), values_(family.stats_size()) { clear(); }
  Stats(const Family& family, const Rows& rows, std::size_t begin, std::size_t end) : Stats(family) {
    for (std::size_t i = begin; i < end; ++i) add(rows[i]);
  }

  void clear() { family_->clear(values_.data()); }
  void add(const double* row) { family_->add(values_.data(), row); }
  bool remove(const double* row) { return family_->remove(values_.data(), row); }
  void merge(const Stats& other) { family_->merge(values_.data(), other.data()); }
  double log_marginal() const { return family_->log_marginal(values_.data()); }
  double log_predictive(const double* row) const { return family_->log_predictive(values_.data(), row); }
  const double* data() const { return values_.data(); }

 private:
  const Family* family_;
  std::vector<double> values_;
};

/// Sets learned hyper-parameters to other values than those they begin with.
void move_hyper(Family& family);

Settings parse_all(const std::vector<std::string>& assignments);

inline double relative(double tolerance, double value) { return tolerance * std::max(1.0, std::abs(value)); }

struct CaseName {
  std::string operator()(const ::testing::TestParamInfo<LawCase>& info) const { return info.param.name; }
};
inline void PrintTo(const LawCase& law_case, std::ostream* out) { *out << law_case.name; }

}  // namespace coppice::test
