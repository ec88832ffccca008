// Answers about a run as JSON values, spelled alike by every command, the report and Python.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "coppice/post/analysis.hpp"
#include "coppice/post/cluster_counts.hpp"
#include "coppice/post/column_separation.hpp"
#include "coppice/post/cross_table.hpp"
#include "coppice/post/label_scores.hpp"
#include "coppice/post/learned_values.hpp"
#include "coppice/post/scores.hpp"

namespace coppice {

/// Model, size, chains, draws and verdict: how every answer about a run begins.
nlohmann::ordered_json head_json(const Analysis& analysis);
/// "exact" (and "inexactness_note") for an object of answers; a flat model that samples exactly has neither.
void add_exactness(const Analysis& analysis, nlohmann::ordered_json& answer);
/// Moves of all chains together: name, proposed, accepted, rate.
nlohmann::ordered_json moves_json(const SavedRun& run);

nlohmann::ordered_json to_json(const TraceSummary& trace);
nlohmann::ordered_json to_json(const Trait& trait);
nlohmann::ordered_json to_json(const Scores& scores);
nlohmann::ordered_json to_json(const CrossTable& table);
nlohmann::ordered_json to_json(const ClusterCounts& counts);
nlohmann::ordered_json to_json(const ColumnSeparation& column);
/// Of every level.
nlohmann::ordered_json cluster_counts_json(const Analysis& analysis);
/// Of every column, the most separating first.
nlohmann::ordered_json column_separation_json(const Analysis& analysis);
/// Learned hyper-parameters with their uncertainty.
nlohmann::ordered_json learned_values_json(const SavedRun& run);
nlohmann::ordered_json to_json(const LabelScores& scores);

}  // namespace coppice
