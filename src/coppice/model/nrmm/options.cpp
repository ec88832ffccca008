#include "coppice/model/nrmm/options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "coppice/base/error.hpp"
#include "coppice/model/expected_clusters.hpp"
#include "coppice/model/parameter_rows.hpp"

namespace coppice::nrmm {
namespace {

/// Up to this many rows auto scans all of them in every sweep: that brings more than anything else it could
/// do in the same time. A fit of more rows becomes data-parallel: at 30,000 rows both reach the same log
/// joint in the same time, at 100,000 the scans are far behind.
constexpr std::size_t kRowsForScans = 100'000;
constexpr std::size_t kNeighborShare = 50;  // of auto, in percent of a scan's work

const std::vector<std::string> kGuides{"ibhc+bisect", "bisect", "ibhc"};

template <typename Kind>
Kind place_in(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<Kind>(std::find(names.begin(), names.end(), name) - names.begin());
}

}  // namespace

Options::Options(const ParameterValues& parameters, std::size_t rows) {
  const std::string& sampler = parameters.choice("sampler");
  is_data_parallel = sampler == "data-parallel";
  data_parallel = {parameters.integer("block-size"), parameters.integer("pair-moves"),
                   parameters.integer("launch-scans"), parameters.integer("launch-rows")};
  const bool guided = sampler == "tree-guided" || sampler == "auto";
  published = sampler == "tree-guided-published";
  split_merge = {parameters.integer("split-merge-scans"),
                 parameters.choice("split-merge-launch") == "random"};
  if (sampler == "split-merge" || sampler == "auto")
    split_merge_moves = parameters.integer("split-merge-moves");
  if (sampler == "split-merge" || sampler == "auto") {
    if (sampler == "auto") {
      move_share = parameters.integer("move-share");
      neighbor_share = move_share != 0 ? move_share : kNeighborShare;
    }
    adapts_neighbor_moves = neighbor_share != 0 && !parameters.has("neighbor-moves");
    neighbor_moves = parameters.has("neighbor-moves") ? parameters.integer("neighbor-moves")
                     : adapts_neighbor_moves          ? 1
                                                      : 0;
    neighbor_scans = parameters.integer("neighbor-scans");
  }
  if (guided) {
    const auto count = [&](const char* name, std::size_t alone, std::size_t mixed) {
      return parameters.has(name) ? parameters.integer(name) : sampler == "auto" ? mixed : alone;
    };
    block_moves = count("block-moves", 20, 5);
    guided_split_moves = count("guided-split-moves", 4, 1);
    guided_split_scans = parameters.integer("guided-split-scans");
    adapts_block_moves = move_share != 0 && !parameters.has("block-moves");
    adapts_guided_split_moves = move_share != 0 && !parameters.has("guided-split-moves");
    multiway_moves = parameters.integer("multiway-moves");
    row_updates = parameters.has("row-updates") ? parameters.integer("row-updates")
                                                : std::max<std::size_t>(20, rows / 20);
    scan_every = sampler == "auto" && rows <= kRowsForScans ? 1 : 10;
  }
  if (parameters.has("scan-every")) scan_every = parameters.integer("scan-every");
  if (published) {
    published_moves = parameters.integer("published-moves");
    published_depth = parameters.integer("published-depth");
  }
  guide = place_in<GuideKind>(kGuides, parameters.choice("guide"));
  const std::string& init = parameters.choice("init");
  start = init == "single"  ? Start::single
          : init == "guide" ? Start::guide
          : init == "auto"  ? (guided ? Start::guide : Start::sequential)
                            : Start::sequential;
  if (!is_irreducible())
    fail(ErrorCode::configuration,
         "these settings leave no move that can reach every partition: give --scan-every, --row-updates or a "
         "number of moves that is not 0");
}

std::vector<Parameter> parameter_table() {
  using Type = Parameter::Type;
  return {
      choice_row("process", "dp",
                 "random measure: dp is the Dirichlet process, ngg the normalized generalized gamma process",
                 {"dp", "ngg"}),
      {"alpha", Type::real, "", "concentration; learned under --alpha-prior if not given", 0.0, kNoLimit,
       true},
      {"alpha-prior",
       Type::numbers,
       "1,1",
       "shape and rate of the Gamma prior of alpha",
       0.0,
       kNoLimit,
       true,
       {},
       2},
      expected_clusters_row(
          "mean and standard deviation of the number of clusters, from which the prior of alpha follows "
          "[shape 1 without the second]"),
      {"sigma", Type::real, "", "discount of ngg; learned under --sigma-prior if not given", 0.0, 0.999999,
       true},
      {"sigma-prior",
       Type::numbers,
       "1.5,1.5",
       "the two shapes of the Beta prior of sigma",
       0.0,
       kNoLimit,
       true,
       {},
       2},
      choice_row(
          "sampler", "auto",
          "gibbs: one row at a time; split-merge: also two clusters at a time; tree-guided: also "
          "whole blocks of rows, guided by a tree; data-parallel: all rows at once, for many rows; auto: "
          "a mix of the first three, or data-parallel, by the number of rows; "
          "tree-guided-published: not exact, for comparison",
          {"auto", "gibbs", "split-merge", "tree-guided", "data-parallel", "tree-guided-published"}),
      count_row("split-merge-moves", "5",
                "split-merge proposals in a sweep (five times as many in the first 50)"),
      count_row("split-merge-scans", "0", "restricted Gibbs scans between launch and proposal", 0.0, 1000.0),
      choice_row("split-merge-launch", "sequential",
                 "launch of those scans: rows allocated one by one, or random launch (as first published)",
                 {"sequential", "random"}),
      count_row("neighbor-moves", "",
                "proposals in a sweep to split a cluster, to merge it with a neighbor or to divide the two "
                "again [0; auto: what half the work of a Gibbs scan allows]"),
      count_row(
          "move-share", "0",
          "percent of the work of a Gibbs scan that neighbor moves and guided moves may cost each, and "
          "block moves a third of that: their numbers follow from the first 50 sweeps of auto; 0: 50 for "
          "neighbor moves, the others are fixed",
          0.0, 1000.0),
      count_row("neighbor-scans", "0", "restricted Gibbs scans between launch and proposal of these", 0.0,
                1000.0),
      choice_row(
          "guide", "ibhc+bisect",
          "guide tree: incremental hierarchical clustering, halved further (ibhc+bisect), only halved, or "
          "only clustered",
          kGuides),
      count_row("block-moves", "",
                "Gibbs updates of blocks below a node of the guide in a sweep [20; auto: 5]"),
      count_row("guided-split-moves", "", "split-merge proposals from the guide in a sweep [4; auto: 1]"),
      count_row("guided-split-scans", "1",
                "restricted Gibbs scans between the guide's division and the proposal", 0.0, 1000.0),
      count_row("multiway-moves", "0",
                "moves in a sweep that split a cluster into several, or merge several"),
      count_row("row-updates", "", "rows updated in a sweep without a full scan [a twentieth, at least 20]",
                0.0, 1e9),
      count_row(
          "scan-every", "",
          "sweeps per Gibbs scan over all rows, 0: never [1; 10 with a guide, but auto up to 100000 rows]"),
      count_row("published-moves", "10", "global moves in a sweep of tree-guided-published"),
      count_row("published-depth", "2", "depth of the local moves of tree-guided-published", 0.0, 1000.0),
      count_row("pair-moves", "5",
                "split-merge proposals in a sweep of data-parallel (five times as many in the first 50)"),
      count_row("launch-scans", "3", "scans between random sides and proposal, of data-parallel", 0.0,
                1000.0),
      count_row("launch-rows", "10000",
                "rows that these scans take of two clusters, on average; 0: all of them", 0.0, 1e9),
      count_row("block-size", "65536",
                "rows of a block of data-parallel; what is drawn depends on it, but not on threads", 1.0,
                1e9),
      count_row("answer-rows", "10000",
                "rows, drawn at random, that answers about a run of data-parallel are about; 0: all of them",
                0.0, 1e9),
      choice_row("init", "auto",
                 "initial state: rows allocated one by one (sequential), the guide's clusters, or one "
                 "cluster; auto: the guide if the sampler has one; data-parallel begins with a fit of some "
                 "rows",
                 {"auto", "sequential", "guide", "single"}),
  };
}

void check_given(const Settings& given) {
  const auto has = [&](const char* name) { return given.find(name) != given.end(); };
  const auto text = [&](const char* name, const char* fallback) {
    const auto found = given.find(name);
    return found == given.end() ? std::string(fallback) : found->second.text;
  };
  if (has("alpha") && has("alpha-prior"))
    fail(ErrorCode::configuration,
         "--alpha fixes the concentration and --alpha-prior learns it: give one of them");
  check_expected_clusters(given, "alpha");
  if (has(kExpectClusters) && text("process", "dp") == "ngg")
    fail(ErrorCode::configuration,
         "--expect-clusters is for the Dirichlet process; with --process ngg the discount matters as much: "
         "give --alpha-prior and --sigma-prior");
  if (has("sigma") && has("sigma-prior"))
    fail(ErrorCode::configuration,
         "--sigma fixes the discount and --sigma-prior learns it: give one of them");
  if (text("process", "dp") == "dp")
    for (const char* name : {"sigma", "sigma-prior"})
      if (has(name))
        fail(ErrorCode::configuration, "--{} does not apply to the Dirichlet process: add --process ngg",
             name);
  const std::string sampler = text("sampler", "auto");
  const auto refuse = [&](std::initializer_list<const char*> names) {
    for (const char* name : names)
      if (has(name)) fail(ErrorCode::configuration, "--{} does not apply to --sampler {}", name, sampler);
  };
  const bool guided = sampler == "tree-guided" || sampler == "auto";
  if (sampler != "split-merge" && sampler != "auto")
    refuse(
        {"split-merge-moves", "split-merge-scans", "split-merge-launch", "neighbor-moves", "neighbor-scans"});
  if (!guided)
    refuse({"block-moves", "guided-split-moves", "guided-split-scans", "multiway-moves", "row-updates"});
  if (!guided && sampler != "split-merge") refuse({"scan-every"});
  if (sampler != "auto") refuse({"move-share"});
  if (!guided && text("init", "auto") != "guide") refuse({"guide"});
  if (sampler != "tree-guided-published") refuse({"published-moves", "published-depth"});
  if (sampler != "data-parallel" && sampler != "auto")
    refuse({"pair-moves", "launch-scans", "launch-rows", "block-size", "answer-rows"});
}

std::string inexactness_note(const ParameterValues& parameters) {
  if (parameters.choice("sampler") != "tree-guided-published") return {};
  return "Not exact: --sampler tree-guided-published does not leave the posterior invariant and favors few, "
         "large clusters; use --sampler tree-guided.";
}

std::string refuses_weights(const ParameterValues& parameters) {
  if (parameters.choice("process") == "ngg")
    return "takes row weights only with the Dirichlet process: leave out --process ngg";
  if (parameters.choice("sampler") == "data-parallel")
    return "takes no row weights with --sampler data-parallel: choose another sampler";
  return {};
}

Resolution explain_sampler(const Problem& problem, const Settings& given, std::uint64_t, std::size_t) {
  if (problem.parameters.choice("sampler") != "auto") return {};
  const std::size_t rows = problem.table_rows();
  const Options options(problem.parameters, rows);
  // Whoever says how rows are to be moved one by one wants that.
  constexpr const char* kOfOthers[] = {"split-merge-moves",
                                       "split-merge-scans",
                                       "split-merge-launch",
                                       "neighbor-moves",
                                       "neighbor-scans",
                                       "move-share",
                                       "guide",
                                       "block-moves",
                                       "guided-split-moves",
                                       "guided-split-scans",
                                       "multiway-moves",
                                       "row-updates",
                                       "scan-every"};
  const bool is_free = std::none_of(std::begin(kOfOthers), std::end(kOfOthers),
                                    [&](const char* name) { return given.contains(name); });
  if (rows > kRowsForScans && is_free && !problem.rows->has_copies)
    return {{{"sampler", Setting{Setting::Shape::text, {}, 0, "data-parallel"}}},
            {fmt::format("sampler auto: data-parallel, because there are {} rows; a sweep is {} split-merge "
                         "proposals, then a draw of all rows' clusters at once",
                         rows, options.data_parallel.pairs)}};
  std::string moves = fmt::format("{} split-merge, ", options.split_merge_moves);
  if (options.move_share != 0)
    moves += "and neighbor, block and guided split-merge moves by their work";
  else if (options.adapts_neighbor_moves)
    moves += "neighbor (by their work), ";
  else if (options.neighbor_moves != 0)
    moves += fmt::format("{} neighbor, ", options.neighbor_moves);
  if (options.move_share == 0)
    moves += fmt::format("{} block and {} guided split-merge moves", options.block_moves,
                         options.guided_split_moves);
  std::string scans = fmt::format("a Gibbs scan of the {} rows", rows);
  if (options.scan_every != 1)
    scans = fmt::format("Gibbs updates of {} of {} rows", options.row_updates, rows);
  if (options.scan_every > 1)
    scans += fmt::format(" and a scan of all in every {} sweeps", options.scan_every);
  return {{}, {fmt::format("sampler auto: a sweep is {}, then {}", moves, scans)}};
}

}  // namespace coppice::nrmm
