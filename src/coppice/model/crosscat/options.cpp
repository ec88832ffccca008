#include "coppice/model/crosscat/options.hpp"

#include "coppice/base/error.hpp"
#include "coppice/model/expected_clusters.hpp"
#include "coppice/model/parameter_rows.hpp"
#include "coppice/model/tempering.hpp"

namespace coppice::crosscat {

std::vector<Parameter> parameter_table() {
  using Type = Parameter::Type;
  return {
      positive_row("alpha-rows", "1", "concentration of the partition of the rows in each view"),
      positive_row("alpha-columns", "1", "concentration of the partition of the columns into views"),
      {"learn",
       Type::words,
       "",
       "what is learned, starting from the values above",
       0,
       0,
       false,
       {"alpha-rows", "alpha-columns"}},
      prior_row("alpha-rows-prior", "1,1", "shape and rate of the Gamma prior of alpha-rows, if learned"),
      expected_clusters_row("mean and standard deviation of the number of row clusters of a view, from which "
                            "alpha-rows-prior follows [shape 1 without the second]"),
      prior_row("alpha-columns-prior", "1,1",
                "shape and rate of the Gamma prior of alpha-columns, if learned"),
      temperatures_row(
          "powers of the posterior (inverse temperatures) of coupled replicas, the first 1: 1,0.8 helps "
          "small tables and doubles the work",
          false),
      count_row("column-sweeps", "1", "how often every column may change its view in a sweep"),
      {"new-view-share", Type::real, "0.25",
       "fraction of the columns, redrawn in every sweep, that are offered new views after the first 100 "
       "sweeps",
       0.0, 1.0, true},
      count_row("view-moves", "2",
                "moves of views (split, merge, division of columns) in every fifth sweep, and in each of the "
                "first 100"),
      count_row("auxiliaries", "4", "new views that are offered to a column at once", 1.0),
      choice_row(
          "auxiliary", "sequential",
          "how the rows of a new view are clustered: sequential allocation by the column, or the prior",
          {"sequential", "prior"}),
      count_row("row-sweeps", "1", "Gibbs scans over the rows of each view in a sweep"),
      {"split-merge-moves", Type::integer, "",
       "split-merge moves of row clusters in each view in a sweep [five, shared by the views, at least one]",
       0.0, 1e6},
      count_row("split-merge-scans", "1", "restricted scans before the proposal of a split"),
      choice_row("split-merge-launch", "sequential",
                 "how a split starts: sequential allocation, or random launch", {"random", "sequential"}),
      choice_row("init", "prior",
                 "initial state: a draw from the prior, or single: one view with one cluster",
                 {"prior", "single"}),
  };
}

Options::Options(const ParameterValues& parameters)
    : alpha_rows(concentration_of(parameters, "alpha-rows")),
      alpha_columns(concentration_of(parameters, "alpha-columns")),
      temperatures(parameters.numbers("temperatures")),
      column_sweeps(parameters.integer("column-sweeps")),
      view_moves(parameters.integer("view-moves")),
      row_sweeps(parameters.integer("row-sweeps")),
      split_merge_moves(parameters.has("split-merge-moves") ? parameters.integer("split-merge-moves")
                                                            : kByViews),
      split_merge{parameters.integer("split-merge-scans"),
                  parameters.choice("split-merge-launch") == "random"},
      auxiliaries(parameters.integer("auxiliaries")),
      new_view_share(parameters.real("new-view-share")),
      auxiliary_from_prior(parameters.choice("auxiliary") == "prior"),
      starts_single(parameters.choice("init") == "single") {
  check_temperatures(temperatures);
  if (column_sweeps + view_moves == 0 && row_sweeps == 0 && split_merge_moves == 0)
    fail(ErrorCode::configuration, "these settings leave no move that changes anything");
}

void check_given(const Settings& given) {
  check_expected_clusters(given, "alpha-rows");
  const auto moves = given.find("split-merge-moves");
  if (moves == given.end() || moves->second.numbers != std::vector<double>{0.0}) return;
  for (const char* name : {"split-merge-scans", "split-merge-launch"})
    if (given.find(name) != given.end())
      fail(ErrorCode::configuration, "--{} does not apply with --split-merge-moves 0", name);
}

std::string refuses_weights(const ParameterValues& parameters) {
  if (parameters.choice("auxiliary") == "prior")
    return "takes no row weights with --auxiliary prior, which seats the copies of a row one by one: "
           "leave it out";
  return {};
}

}  // namespace coppice::crosscat
