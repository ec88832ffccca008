#include "coppice/model/bhcc/options.hpp"

#include "coppice/base/error.hpp"
#include "coppice/model/parameter_rows.hpp"

namespace coppice::bhcc {
namespace {

/// Up to this many columns every pair of views gets a tree over the rows of its own.
constexpr std::size_t kMostColumnsInFull = 100;

}  // namespace

std::vector<Parameter> parameter_table() {
  using Type = Parameter::Type;
  return {
      positive_row("alpha-rows", "1", "concentration of the partition of the rows in each view"),
      positive_row("alpha-columns", "1", "concentration of the partition of the columns into views"),
      choice_row("inner", "auto",
                 "how the union of two views is scored: full grows a tree over the rows for every pair, "
                 "reuse takes the better of the two existing trees; auto: full for up to 100 columns",
                 {"auto", "full", "reuse"}),
      {"randomized", Type::flag, "false",
       "divide the columns from the top, by the tree of a few of them, and merge only small sides greedily"},
      count_row("threshold", "20", "columns of a side that is merged greedily (with --randomized)", 2, 1e9),
      count_row("subset", "10", "columns whose tree divides the others (with --randomized)", 2, 1e9),
      count_row("filter-levels", "6",
                "largest number of divisions above a column, after which its side is one view; 0: no limit "
                "(with --randomized)",
                0, 1e9),
      count_row("row-filter-levels", "0",
                "the same for rows whose trees are randomized; 0: no limit (with --randomized)", 0, 1e9),
      count_row("rows-divided-from", "500",
                "trees over more rows than this are randomized too (with --randomized)", 2, 1e9),
      choice_row("filter", "size",
                 "rule that assigns a column to a side: size weights the views there by their numbers of "
                 "columns, published follows the publication (with --randomized)",
                 {"size", "published"}),
      {kColumnPriority, Type::numbers, "",
       "for comparisons with other programs: a number for each column; the columns with the smallest divide "
       "the others, instead of random ones (with --randomized)"},
      choice_row("consolidate", "on",
                 "merge the views that were found once more and keep the better tree: repairs views that "
                 "were split by the divisions (with --randomized)",
                 {"on", "off"}),
      choice_row("clusters", "cut",
                 "the views and the clusters of the rows: cut takes each node from the top whose merge "
                 "probability is above 0.5, map the most probable partition of the tree",
                 {"cut", "map"}),
      {"cut", Type::real, "0.5",
       "probability above which a node is one view or cluster (with --clusters cut)", 0.0, 1.0, true},
  };
}

Options::Options(const ParameterValues& parameters, std::size_t rows, std::size_t columns)
    : alpha_rows(parameters.real("alpha-rows")),
      alpha_columns(parameters.real("alpha-columns")),
      randomized(parameters.flag("randomized")),
      filters_as_published(parameters.choice("filter") == "published"),
      consolidates(parameters.choice("consolidate") == "on"),
      most_probable(parameters.choice("clusters") == "map"),
      threshold(parameters.real("cut")) {
  const std::string& inner = parameters.choice("inner");
  reuses_trees = inner == "reuse" || (inner == "auto" && columns > kMostColumnsInFull);
  division.threshold = parameters.integer("threshold");
  division.subset = parameters.integer("subset");
  division.levels = parameters.integer("filter-levels");
  if (division.subset > division.threshold)
    fail(ErrorCode::configuration, "--subset {} must not be larger than --threshold {}", division.subset,
         division.threshold);
  row_division = division;
  row_division.levels = parameters.integer("row-filter-levels");
  if (parameters.has(kColumnPriority)) {
    division.priority = parameters.numbers(kColumnPriority);
    if (division.priority.size() != columns)
      fail(ErrorCode::configuration, "--{} has {} numbers for {} columns", kColumnPriority,
           division.priority.size(), columns);
  }
  divides_rows = randomized && rows > parameters.integer("rows-divided-from");
}

void check_given(const Settings& given) {
  const auto randomized = given.find("randomized");
  const bool is_randomized =
      randomized != given.end() && randomized->second.numbers == std::vector<double>{1.0};
  for (const char* name : {"threshold", "subset", "filter-levels", "row-filter-levels", "rows-divided-from",
                           "filter", "consolidate", kColumnPriority})
    if (!is_randomized && given.find(name) != given.end())
      fail(ErrorCode::configuration, "--{} belongs to --randomized", name);
}

Views Options::views_of(const CrossTree& tree) const {
  Views views{clusters_of(TreePosterior(tree.columns)), {}};
  for (const Dendrogram::Node node : nodes_of_views(tree.columns, views.columns)) {
    if (!tree.rows[node]) fail(ErrorCode::bad_data, "the run file is damaged: a view without clusters");
    views.rows.push_back(clusters_of(TreePosterior(*tree.rows[node])));
  }
  return views;
}

}  // namespace coppice::bhcc
