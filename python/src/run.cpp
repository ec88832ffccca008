// A run file and the answers to the questions one can ask of it, as NumPy arrays and plain Python values.
#include "run.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "coppice/base/error.hpp"
#include "coppice/data/transform.hpp"
#include "coppice/out/answer_json.hpp"
#include "coppice/out/newick.hpp"
#include "coppice/out/report_assets.hpp"
#include "coppice/out/run_page.hpp"
#include "coppice/out/trust_json.hpp"
#include "coppice/post/cluster_names.hpp"
#include "coppice/post/coclustering.hpp"
#include "coppice/post/impute.hpp"
#include "coppice/post/predict.hpp"
#include "coppice/post/profile.hpp"
#include "coppice/post/report_tree.hpp"
#include "coppice/post/row_trees.hpp"
#include "coppice/post/run_answers.hpp"
#include "coppice/post/run_hierarchy.hpp"
#include "coppice/post/units.hpp"
#include "coppice/post/views.hpp"
#include "coppice/run/table_parts.hpp"

namespace coppice::python {
namespace {

using LabelArray = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

nb::dict head(const Run& run) {
  const Analysis& analysis = run.analysis();
  const SavedRun& saved = analysis.run();
  nb::dict answer;
  answer["model"] = saved.model().name;
  answer["path"] = saved.file().path();
  answer["rows"] = saved.rows();
  answer["levels"] = saved.levels();
  answer["chains"] = saved.config().chains;
  answer["draws"] = saved.draws_per_chain();
  answer["asked_draws"] = saved.config().draws;
  answer["complete"] = saved.complete();
  answer["inexactness_note"] = analysis.inexactness_note();
  answer["notes"] = saved.config().notes;
  answer["seconds"] = analysis.seconds();
  answer["family"] = saved.setup().plan.description();
  answer["configuration"] = to_json(saved.config());
  answer["created_at"] = saved.file().meta("created_at");
  answer["version"] = saved.file().meta("coppice_version");
  answer["data_sha256"] = saved.contents().data_digest;
  answer["clusters"] = analysis.mean_clusters();
  answer["greedy"] = analysis.is_greedy();
  answer["views"] = saved.model().has_views();
  nb::list labels;
  for (const Column& label : saved.contents().labels.columns) labels.append(label.name);
  answer["labels"] = labels;
  return answer;
}

/// What is read of the draws for the first time waits here, not in head().
nb::tuple verdict(const Run& run) {
  const Verdict found = run.ask([](const Analysis& analysis) { return analysis.verdict(); });
  return nb::make_tuple(found.trusted, found.sentence);
}

/// JSON: what is behind the verdict, and the traces of who is with whom.
std::string trust(const Run& run) {
  return run.ask([](const Analysis& analysis) {
    nlohmann::ordered_json answer = trust_json(analysis, trust_of(analysis));
    answer["partition_traces"] = partition_traces_json(analysis);
    return answer.dump();
  });
}

nb::list column_list(const Table& table) {
  nb::list list;
  for (const Column& column : table.columns) {
    nb::dict entry;
    entry["name"] = column.name;
    entry["kind"] = std::string(kind_name(column.kind));
    entry["levels"] = column.levels;
    entry["unit"] = column.dates ? nb::cast(text::to_text(*column.dates)) : nb::none();
    list.append(entry);
  }
  return list;
}

nb::list trace_summaries(const Run& run) {
  nb::list list;
  for (const TraceSummary& trace : run.analysis().traces()) {
    nb::dict entry;
    entry["name"] = trace.name;
    entry["mean"] = trace.mean;
    entry["sd"] = trace.sd;
    entry["median"] = trace.median;
    entry["q05"] = trace.q05;
    entry["q95"] = trace.q95;
    entry["rhat"] = trace.rhat;
    entry["ess_bulk"] = trace.ess_bulk;
    entry["ess_tail"] = trace.ess_tail;
    entry["mcse_mean"] = trace.mcse_mean;
    entry["constant"] = trace.constant;
    list.append(entry);
  }
  return list;
}

nb::list move_list(const Run& run) {
  nb::list list;
  const SavedRun& saved = run.analysis().run();
  for (std::size_t chain = 0; chain < saved.config().chains; ++chain)
    for (const MoveStatistics& move : saved.file().status(chain).moves) {
      nb::dict entry;
      entry["chain"] = chain;
      entry["name"] = move.name;
      entry["proposed"] = move.proposed;
      entry["accepted"] = move.accepted;
      list.append(entry);
    }
  return list;
}

nb::ndarray<nb::numpy, double> traces(const Run& run) {
  const SavedRun& saved = run.analysis().run();
  std::vector<double> values;
  for (const auto& trace : saved.traces())
    for (const auto& chain : trace) values.insert(values.end(), chain.begin(), chain.end());
  return to_numpy(std::move(values), {saved.traces().size(), saved.config().chains, saved.draws_per_chain()});
}

nb::ndarray<nb::numpy, Label> labels(const Run& run, std::size_t level) {
  std::vector<Label> values = run.ask([&](const Analysis& analysis) {
    const SavedRun& saved = analysis.run();
    saved.check_level(level);
    std::vector<Label> all;
    all.reserve(saved.config().chains * saved.draws_per_chain() * saved.rows());
    saved.for_each_draw(0, [&](const SavedDraw& draw) {
      const auto part = level_of(draw.labels, saved.rows(), level);
      all.insert(all.end(), part.begin(), part.end());
    });
    return all;
  });
  const SavedRun& saved = run.analysis().run();
  return to_numpy(std::move(values), {saved.config().chains, saved.draws_per_chain(), saved.rows()});
}

nb::dict consensus(const Run& run, std::size_t level, const std::string& select, double cost_ratio,
                   std::size_t clusters) {
  EstimateRequest request(selection_from_name(select));
  request.cost_ratio = cost_ratio;
  request.most_clusters = clusters;
  Consensus estimate = run.ask([&](const Analysis& analysis) { return analysis.consensus(level, request); });
  const std::size_t rows = estimate.labels.size();
  nb::dict answer;
  nb::list unassigned;
  if (!run.analysis().is_greedy()) {
    const std::vector<bool> alone = unassigned_rows(estimate);
    for (std::size_t row = 0; row < rows; ++row)
      if (alone[row]) unassigned.append(row);
  }
  answer["unassigned"] = unassigned;
  answer["labels"] = to_numpy(std::move(estimate.labels), {rows});
  answer["confidence"] = to_numpy(std::move(estimate.row_confidence), {rows});
  answer["clusters"] = estimate.clusters;
  answer["expected_loss"] = estimate.expected_loss;
  answer["ball_radius"] = estimate.ball_radius;
  return answer;
}

/// rows x (groups + 1): the last column is a cluster of its own.
nb::ndarray<nb::numpy, double> memberships(const Run& run, std::size_t level, const LabelArray& labels) {
  const std::vector<Membership> rows = run.ask([&](const Analysis& analysis) {
    return coppice::memberships(analysis, level, {labels.data(), labels.shape(0)});
  });
  std::vector<double> values;
  for (const Membership& row : rows) {
    values.insert(values.end(), row.probabilities.begin(), row.probabilities.end());
    values.push_back(row.alone);
  }
  return to_numpy(std::move(values), {rows.size(), rows.front().probabilities.size() + 1});
}

/// Clusters, probabilities (the last column: a new cluster) and log densities of new rows at a level.
nb::tuple predictions(const Run& run, const Frame& frame, std::size_t level, const std::string& select,
                      std::size_t threads) {
  const std::vector<Prediction> rows = run.ask([&](const Analysis& analysis) {
    return predict_rows(analysis, new_rows(analysis.run(), frame), level, selection_from_name(select),
                        threads);
  });
  std::vector<Label> clusters;
  std::vector<double> probabilities;
  std::vector<double> densities;
  for (const Prediction& row : rows) {
    clusters.push_back(row.cluster);
    probabilities.insert(probabilities.end(), row.probabilities.begin(), row.probabilities.end());
    probabilities.push_back(row.new_probability);
    densities.push_back(row.log_density);
  }
  const std::size_t count = rows.size();
  const std::size_t width = count == 0 ? 1 : rows.front().probabilities.size() + 1;
  return nb::make_tuple(to_numpy(std::move(clusters), {count}),
                        to_numpy(std::move(probabilities), {count, width}),
                        to_numpy(std::move(densities), {count}));
}

nb::ndarray<nb::numpy, double> coclustering_array(const Run& run, std::size_t level, std::size_t threads) {
  std::vector<double> matrix =
      run.ask([&](const Analysis& analysis) { return coclustering_matrix(analysis, level, threads); });
  const std::size_t rows = run.analysis().run().rows();
  return to_numpy(std::move(matrix), {rows, rows});
}

/// The tree of a greedy model, else that of co-clustering at a level (0: of their average).
nb::ndarray<nb::numpy, double> linkage(const Run& run, std::size_t level) {
  std::vector<double> merges =
      run.ask([&](const Analysis& analysis) { return linkage_matrix(analysis, level); });
  const std::size_t count = merges.size() / 4;
  return to_numpy(std::move(merges), {count, 4});
}

/// The tree over the columns.
nb::ndarray<nb::numpy, double> column_linkage(const Run& run) {
  std::vector<double> merges = run.ask([&](const Analysis& analysis) {
    const std::vector<TreeLinkage> trees = tree_linkages(analysis.cross_tree().columns);
    if (trees.size() > 1)
      fail(ErrorCode::configuration,
           "the fit is not finished: it has {} trees, but a linkage describes one; continue with resume()",
           trees.size());
    return to_scipy(trees.front().linkage);
  });
  const std::size_t count = merges.size() / 4;
  return to_numpy(std::move(merges), {count, 4});
}

/// The views to report, and how often two columns share one.
nb::tuple views(const Run& run, const std::string& select) {
  ReportedViews report = run.ask([&](const Analysis& analysis) {
    return report_views(analysis.run(), loss_of(selection_from_name(select)));
  });
  nb::list list;
  for (ReportedView& view : report.views) {
    nb::dict entry;
    entry["columns"] = view.columns;
    entry["cohesion"] = view.cohesion;
    entry["clusters"] = view.rows.clusters;
    const std::size_t rows = view.rows.labels.size();
    entry["labels"] = to_numpy(std::move(view.rows.labels), {rows});
    entry["confidence"] = to_numpy(std::move(view.rows.row_confidence), {rows});
    list.append(entry);
  }
  const std::size_t side = report.coassignment.empty() ? 0 : report.columns;
  return nb::make_tuple(list, to_numpy(std::move(report.coassignment), {side, side}));
}

/// The tree of a greedy model down to its clusters: joins are at level 0, clusters at level 1.
nb::list greedy_node_list(const Run& run, const std::string& select) {
  const ReportTree tree =
      run.ask([&](const Analysis& analysis) { return report_tree(analysis, selection_from_name(select)); });
  nb::list list;
  for (std::size_t id = 0; id < tree.nodes.size(); ++id) {
    const ReportNode& node = tree.nodes[id];
    nb::dict entry;
    entry["id"] = id;
    entry["parent"] = nb::none();
    if (node.parent != ReportNode::kNoParent) entry["parent"] = node.parent;
    entry["level"] = node.level;
    entry["last_level"] = node.last_level;
    entry["number"] =
        node.addresses.empty() ? "" : cluster_number(run.analysis().run(), node.addresses.front());
    entry["name"] = node.name;
    entry["support"] = node.sure;
    entry["overlap"] = node.sure;
    const auto first = tree.order.begin() + static_cast<std::ptrdiff_t>(node.first);
    std::vector<std::int64_t> rows(first, first + static_cast<std::ptrdiff_t>(node.size));
    std::sort(rows.begin(), rows.end());
    entry["rows"] = to_numpy(std::move(rows), {node.size});
    list.append(entry);
  }
  return list;
}

nb::list node_list(const Run& run, const std::string& select, bool full) {
  if (run.analysis().is_greedy()) return greedy_node_list(run, select);
  const RunHierarchy hierarchy =
      run.ask([&](const Analysis& analysis) { return run_hierarchy(analysis, selection_from_name(select)); });
  const Hierarchy& tree = full ? hierarchy.full : hierarchy.shown;
  nb::list list;
  for (const HierarchyNode& node : tree.nodes) {
    nb::dict entry;
    entry["id"] = node.id;
    entry["parent"] = nb::none();
    if (node.parent != HierarchyNode::kNoParent) entry["parent"] = tree.nodes[node.parent].id;
    entry["level"] = node.level;
    entry["last_level"] = node.last_level;
    entry["number"] = hierarchy.captions[node.id].number;
    entry["name"] = hierarchy.captions[node.id].name;
    entry["support"] = hierarchy.support[node.id].exact;
    entry["overlap"] = hierarchy.support[node.id].overlap;
    std::vector<std::int64_t> rows(node.rows.begin(), node.rows.end());
    entry["rows"] = to_numpy(std::move(rows), {node.rows.size()});
    list.append(entry);
  }
  return list;
}

std::string newick(const Run& run, const std::string& select, bool full) {
  return run.ask([&](const Analysis& analysis) {
    if (analysis.is_greedy()) {
      std::string text;
      for (const TreeLinkage& tree : tree_linkages(analysis.row_tree()))
        text += to_newick(tree.linkage, tree.names(analysis.run().table().row_ids), tree.probabilities());
      return text;
    }
    const RunHierarchy hierarchy = run_hierarchy(analysis, selection_from_name(select));
    std::vector<double> support;
    for (const NodeSupport& node : hierarchy.support) support.push_back(node.exact);
    return hierarchy_to_newick(full ? hierarchy.full : hierarchy.shown, analysis.run().table().row_ids,
                               support);
  });
}

nb::list profile_list(const Run& run, std::size_t level, const std::string& select, std::size_t most) {
  const std::vector<ClusterProfile> profiles = run.ask([&](const Analysis& analysis) {
    const Consensus estimate = analysis.consensus(level, selection_from_name(select));
    return profile_level(analysis.run(), level, estimate, most);
  });
  nb::list list;
  for (const ClusterProfile& profile : profiles) {
    nb::dict entry;
    entry["cluster"] = profile.cluster;
    entry["size"] = profile.size;
    entry["confidence"] = profile.confidence;
    entry["name"] = profile.name;
    entry["described_as"] = profile.words;
    nb::list traits;
    for (const Trait& trait : profile.traits) {
      nb::dict words;
      words["column"] = trait.column;
      words["words"] = trait.words;
      words["divergence"] = trait.divergence;
      words["inside"] = trait.inside;
      words["outside"] = trait.outside;
      words["inside_sd"] = trait.inside_sd;
      words["outside_sd"] = trait.outside_sd;
      words["inside_low"] = trait.inside_range.low;
      words["inside_high"] = trait.inside_range.high;
      words["outside_low"] = trait.outside_range.low;
      words["outside_high"] = trait.outside_range.high;
      words["level"] = trait.level;
      traits.append(words);
    }
    entry["traits"] = traits;
    entry["exemplars"] = profile.exemplars;
    entry["outliers"] = profile.outliers;
    list.append(entry);
  }
  return list;
}

/// By cluster number.
std::vector<std::string> names_of_level(const Run& run, std::size_t level, const std::string& select) {
  return run.ask([&](const Analysis& analysis) {
    refuse_classifier(analysis, "clusters of rows to name");
    std::vector<std::string> names;
    const Consensus estimate = analysis.consensus(level, selection_from_name(select));
    for (ClusterName& name : name_level(analysis.run(), level, estimate.labels))
      names.push_back(std::move(name.name));
    return names;
  });
}

/// Writes the name to the file; the run has to be opened again to see it.
void rename(const Run& run, Label cluster, const std::string& name, std::size_t level,
            const std::string& select) {
  run.ask([&](const Analysis& analysis) {
    refuse_classifier(analysis, "clusters of rows to name");
    const Renaming renaming{{level, cluster}, name};
    const std::vector<GivenName> names =
        rename_clusters(analysis, selection_from_name(select), {&renaming, 1});
    RunFile file = RunFile::open(analysis.run().file().path(), RunFile::Access::write);
    file.set_names(names);
    file.finish();
    return 0;
  });
}

std::string report_text(const Run& run, const std::string& select) {
  return run.ask([&](const Analysis& analysis) {
    return run_page(report_assets(), analysis, selection_from_name(select));
  });
}

nb::list to_list(const Imputation& imputation) {
  nb::list list;
  for (const ImputedCell& cell : imputation.cells) {
    // What fills the cell: a number, a date, or the text of a level.
    const Column& column = imputation.completed.columns[cell.column];
    const auto number = [&column](double value) {
      return column.dates && !is_missing(value) ? nb::cast(column.number_text(value)) : nb::cast(value);
    };
    nb::dict entry;
    entry["row"] = cell.row;
    entry["column"] = column.name;
    entry["mean"] = number(cell.mean);
    entry["sd"] = cell.sd;
    entry["median"] = number(cell.median);
    entry["low"] = number(cell.low);
    entry["high"] = number(cell.high);
    entry["mode"] = cell.level;
    entry["probability"] = cell.probability;
    if (cell.probabilities.empty() || column.levels.empty())
      entry["value"] = number(column.values[cell.row]);
    else
      entry["value"] = cell.level;
    list.append(entry);
  }
  return list;
}

nb::list imputed_cells(const Run& run) {
  return to_list(run.ask([](const Analysis& analysis) { return impute(analysis.run()); }));
}

nb::list imputed_new_cells(const Run& run, const Frame& frame, std::size_t threads) {
  return to_list(run.ask([&](const Analysis& analysis) {
    return impute(analysis.run(), new_rows(analysis.run(), frame), {0, threads});
  }));
}

/// rows x columns as modeled, or in the units of the data; categories as codes.
nb::ndarray<nb::numpy, double> cells(const Run& run, bool original) {
  const SavedRun& saved = run.analysis().run();
  const Table& table = saved.table();
  const std::vector<OriginalUnits> units =
      original_units(transform_from_json(saved.contents().transform), table);
  std::vector<double> values(table.rows() * table.columns.size());
  for (std::size_t j = 0; j < table.columns.size(); ++j)
    for (std::size_t row = 0; row < table.rows(); ++row) {
      const double value = table.columns[j].values[row];
      values[row * table.columns.size() + j] = original ? units[j].cell(value) : value;
    }
  return to_numpy(std::move(values), {table.rows(), table.columns.size()});
}

}  // namespace

void add_run(nb::module_& module) {
  using nb::arg;
  nb::class_<Run> run(module, "Run", "A run file opened for questions.");
  run.def(nb::init<const std::string&>(), arg("path"))
      .def("head", &head)
      .def("verdict", &verdict)
      .def("trust", &trust)
      .def("row_ids", [](const Run& run) { return run.analysis().run().table().row_ids; })
      .def("columns", [](const Run& run) { return column_list(run.analysis().run().table()); })
      .def("inputs",
           [](const Run& run) {
             return column_list(empty_table(run.analysis().run().contents().input_codebook));
           })
      .def("trace_names", [](const Run& run) { return run.analysis().run().trace_names(); })
      .def("trace_summaries", &trace_summaries)
      .def("moves", &move_list)
      .def("cluster_counts", [](const Run& run) { return cluster_counts_json(run.analysis()).dump(); })
      .def("column_separation", [](const Run& run) { return column_separation_json(run.analysis()).dump(); })
      .def("learned_values", [](const Run& run) { return learned_values_json(run.analysis().run()).dump(); })
      .def("traces", &traces)
      .def("labels", &labels, arg("level"))
      .def("consensus", &consensus, arg("level"), arg("select"), arg("cost_ratio"), arg("clusters"))
      .def("membership", &memberships, arg("level"), arg("labels"))
      .def("predict", &predictions, arg("frame"), arg("level"), arg("select"), arg("threads"))
      .def("coclustering", &coclustering_array, arg("level"), arg("threads"))
      .def("linkage", &linkage, arg("level"))
      .def("column_linkage", &column_linkage)
      .def("views", &views, arg("select"))
      .def("report", &report_text, arg("select"))
      .def("cluster_names", &names_of_level, arg("level"), arg("select"))
      .def("rename", &rename, arg("cluster"), arg("name"), arg("level"), arg("select"))
      .def("nodes", &node_list, arg("select"), arg("full"))
      .def("newick", &newick, arg("select"), arg("full"))
      .def("profiles", &profile_list, arg("level"), arg("select"), arg("most_traits"))
      .def("imputed", &imputed_cells)
      .def("imputed_new", &imputed_new_cells, arg("frame"), arg("threads"))
      .def("cells", &cells, arg("original"))
      .def("is_in_parts", [](const Run& run) { return run.analysis().run().is_in_parts(); })
      .def("part_description",
           [](const Run& run) { return describe_problem(run.analysis().run().contents()); })
      .def("part_source", [](const Run& run) { return run.analysis().run().contents().source; })
      .def(
          "label_question",
          [](const Run& run, std::size_t chain, std::size_t draw) {
            const std::string question =
                run.ask([&](const Analysis& analysis) { return analysis.run().label_question(chain, draw); });
            return nb::bytes(question.data(), question.size());
          },
          arg("chain"), arg("draw"));
  add_label_answers(module, run);
  add_questions(module, run);
}

}  // namespace coppice::python
