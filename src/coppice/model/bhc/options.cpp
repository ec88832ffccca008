#include "coppice/model/bhc/options.hpp"

#include <limits>

#include "coppice/base/error.hpp"

namespace coppice::bhc {
namespace {

/// Up to this many rows the scores of all pairs are kept: 64 MB.
constexpr std::size_t kMostRowsWithScores = 4000;

}  // namespace

std::vector<Parameter> parameter_table() {
  using Type = Parameter::Type;
  return {
      {"alpha-rows",
       Type::real,
       "1",
       "concentration of the partition of the rows; auto: the one among 0.1, 0.3, 1, 3 and 10 with the "
       "largest bound",
       0.0,
       1e300,
       true,
       {"auto"}},
      {"randomized", Type::flag, "false",
       "divide the rows from the top, by the tree of a few of them, and merge only small sides greedily"},
      {"threshold", Type::integer, "20", "rows of a side that is merged greedily (with --randomized)", 2.0,
       1e9},
      {"subset", Type::integer, "10", "rows whose tree divides the others (with --randomized)", 2.0, 1e9},
      {"row-filter-levels", Type::integer, "0",
       "largest number of divisions above a row, after which its side is one block; 0: no limit (with "
       "--randomized)",
       0.0, 1e9},
      {"row-priority", Type::numbers, "",
       "for comparisons with other programs: a number for each row; the rows with the smallest divide the "
       "others, instead of random ones (with --randomized)"},
      {"clusters",
       Type::choice,
       "cut",
       "the flat clusters: cut takes each node from the top whose merge probability is above 0.5, map the "
       "most "
       "probable partition of the tree",
       -std::numeric_limits<double>::infinity(),
       std::numeric_limits<double>::infinity(),
       false,
       {"cut", "map"}},
      {"cut", Type::real, "0.5", "probability above which a node is one cluster (with --clusters cut)", 0.0,
       1.0, true},
      {"pair-scores",
       Type::choice,
       "auto",
       "keep the scores of all pairs, or recompute them and save memory; the tree is the same. auto: keep "
       "them for up to 4000 rows",
       -std::numeric_limits<double>::infinity(),
       std::numeric_limits<double>::infinity(),
       false,
       {"auto", "keep", "recompute"}},
  };
}

Options::Options(const ParameterValues& parameters, std::size_t rows)
    : alpha(parameters.is_word("alpha-rows") ? 1.0 : parameters.real("alpha-rows")),
      randomized(parameters.flag("randomized")),
      most_probable(parameters.choice("clusters") == "map"),
      threshold(parameters.real("cut")) {
  division.threshold = parameters.integer("threshold");
  division.subset = parameters.integer("subset");
  division.levels = parameters.integer("row-filter-levels");
  if (division.subset > division.threshold)
    fail(ErrorCode::configuration, "--subset {} must not be larger than --threshold {}", division.subset,
         division.threshold);
  if (parameters.has("row-priority")) {
    division.priority = parameters.numbers("row-priority");
    if (division.priority.size() != rows)
      fail(ErrorCode::configuration, "--row-priority has {} numbers for {} rows", division.priority.size(),
           rows);
  }
  const std::string& scores = parameters.choice("pair-scores");
  keeps_scores = scores == "keep" || (scores == "auto" && rows <= kMostRowsWithScores);
}

void check_given(const Settings& given) {
  const auto randomized = given.find("randomized");
  const bool is_randomized =
      randomized != given.end() && randomized->second.numbers == std::vector<double>{1.0};
  for (const char* name : {"threshold", "subset", "row-filter-levels", "row-priority"})
    if (!is_randomized && given.find(name) != given.end())
      fail(ErrorCode::configuration, "--{} belongs to --randomized", name);
  if (is_randomized && given.find("pair-scores") != given.end())
    fail(ErrorCode::configuration, "--pair-scores does not apply to --randomized");
}

}  // namespace coppice::bhc
