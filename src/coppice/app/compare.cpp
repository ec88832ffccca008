// coppice merge and coppice compare: two runs of the same data side by side.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "coppice/app/analysis.hpp"
#include "coppice/app/classify.hpp"
#include "coppice/app/text_table.hpp"
#include "coppice/base/error.hpp"
#include "coppice/data/table_blob.hpp"
#include "coppice/post/coclustering.hpp"
#include "coppice/post/scores.hpp"

namespace coppice::app {
namespace {

/// Two runs agree if their traces mix like chains of one run, up to this R-hat ...
constexpr double kSameRhat = 1.05;
/// ... and no typical pair of rows is together much more often in one than in the other.
constexpr double kSameCoclustering = 0.05;
constexpr std::size_t kMostMatrixRows = 5000;

void require_same_question(const SavedRun& a, const SavedRun& b) {
  // The same file, however it was transformed; or the same cells, as after an update that brought the last
  // rows.
  const bool same_file =
      a.contents().data_digest == b.contents().data_digest && a.table().row_ids == b.table().row_ids;
  if (!same_file && serialize(a.table()) != serialize(b.table()))
    fail(ErrorCode::configuration, "{} and {} were not fitted to the same rows", a.file().path(),
         b.file().path());
  if (a.model().name != b.model().name)
    fail(ErrorCode::configuration, "{} is a run of {}, {} of {}", a.file().path(), a.model().name,
         b.file().path(), b.model().name);
}

bool same_settings(const RunConfig& a, const RunConfig& b) {
  return a.parameters == b.parameters && a.family == b.family && a.family_settings == b.family_settings &&
         a.warmup == b.warmup && a.thin == b.thin && a.standardize == b.standardize && a.pca == b.pca;
}

/// The same columns, cell by cell, understood in the same way.
bool same_table(const RunContents& a, const RunContents& b) {
  return to_toml(a.codebook) == to_toml(b.codebook) && serialize(a.table) == serialize(b.table);
}

void copy_chains(const SavedRun& from, std::size_t offset, std::size_t draws, std::vector<DrawBlock>& blocks,
                 std::vector<ChainStatus>& statuses) {
  for (std::size_t chain = 0; chain < from.config().chains; ++chain) {
    from.file().for_each_block(chain, true, [&](const DrawBlock& block) {
      if (block.first >= draws) return;
      DrawBlock copy = block;
      copy.chain = chain + offset;
      const std::size_t kept = std::min(block.count, draws - block.first);
      copy.traces.resize(block.traces.size() / block.count * kept);
      copy.labels.resize(block.labels.size() / block.count * kept);
      if (!copy.payload.empty()) copy.payload.resize(kept);
      copy.count = kept;
      blocks.push_back(std::move(copy));
    });
    statuses.push_back(from.file().status(chain));
  }
}

int merge_runs(const std::string& first, const std::string& second, const std::string& output,
               const Context& context) {
  const SavedRun a(first);
  const SavedRun b(second);
  require_same_question(a, b);
  if (a.model().runs_once())
    fail(ErrorCode::configuration, "runs of {} cannot be merged: a {} fit has no draws to pool",
         a.model().name, method_name(a.model().method));
  for (const SavedRun* run : {&a, &b})
    if (run->config().merged)
      fail(ErrorCode::configuration, "{} is a merged run already; merge the runs it was made of",
           run->file().path());
  if (!same_settings(a.config(), b.config()) || !same_table(a.contents(), b.contents()))
    fail(ErrorCode::configuration,
         "{} and {} have different settings; only runs that differ in their seed can be merged", first,
         second);
  if (a.config().seed == b.config().seed)
    fail(ErrorCode::configuration, "{} and {} have the same seed {}: their chains are copies of each other",
         first, second, a.config().seed);
  RunContents contents = a.contents();
  contents.config.chains = a.config().chains + b.config().chains;
  contents.config.draws = std::min(a.draws_per_chain(), b.draws_per_chain());
  contents.config.merged = true;
  if (contents.config.draws == 0) fail(ErrorCode::bad_data, "one of the runs has no draws yet");
  std::vector<DrawBlock> blocks;
  std::vector<ChainStatus> statuses;
  copy_chains(a, 0, contents.config.draws, blocks, statuses);
  copy_chains(b, a.config().chains, contents.config.draws, blocks, statuses);
  RunFile merged = RunFile::create(output, contents);
  merged.commit(blocks, {}, statuses);
  merged.finish();
  context.note(
      fmt::format("wrote {}: {} chains of {} draws", output, contents.config.chains, contents.config.draws));
  return 0;
}

double mean_coclustering_difference(const SavedRun& a, const SavedRun& b, std::size_t level) {
  const std::vector<double> left = coclustering(a.labels(level), 0);
  const std::vector<double> right = coclustering(b.labels(level), 0);
  double total = 0.0;
  double pairs = 0.0;
  for (std::size_t i = 0; i < a.rows(); ++i)
    for (std::size_t j = i + 1; j < a.rows(); ++j) {
      // Pairs that neither run ever puts together say nothing about agreement.
      const double p = left[i * a.rows() + j];
      const double q = right[i * a.rows() + j];
      if (p == 0.0 && q == 0.0) continue;
      total += std::abs(p - q);
      pairs += 1.0;
    }
  return pairs == 0.0 ? 0.0 : total / pairs;
}

/// Traces of the partitions mean the same whatever else a run has drawn; densities and concentrations do not.
bool is_of_partitions(std::string_view trace) {
  return trace.starts_with("clusters") || trace.starts_with("entropy") || trace == "largest_share";
}

/// A trace that both runs have.
struct TracePair {
  std::size_t first = 0;
  std::size_t second = 0;
  bool decides = true;
};

std::vector<TracePair> common_traces(const Analysis& a, const Analysis& b) {
  const bool all_decide = a.run().trace_names() == b.run().trace_names();
  std::vector<TracePair> pairs;
  for (std::size_t i = 0; i < a.traces().size(); ++i)
    for (std::size_t j = 0; j < b.traces().size(); ++j)
      if (a.traces()[i].name == b.traces()[j].name)
        pairs.push_back({i, j, all_decide || is_of_partitions(a.traces()[i].name)});
  return pairs;
}

/// Why two runs differ if one of them does not even agree with itself; empty if both do.
std::string disagreement_within(const Analysis& a, const Analysis& b, const std::vector<TracePair>& pairs) {
  for (const Analysis* run : {&a, &b})
    for (const TracePair& pair : pairs) {
      const TraceSummary& trace = run->traces()[run == &a ? pair.first : pair.second];
      if (pair.decides && trace.rhat > kSameRhat)
        return fmt::format(
            "The two runs do not agree yet: the chains of {} do not agree among themselves "
            "(R-hat of {} is {:.3f}); run longer, then compare.",
            run->run().file().path(), trace.name, trace.rhat);
    }
  return {};
}

int compare_runs(const std::string& first, const std::string& second, const Context& context) {
  const Analysis a(first, context);
  const Analysis b(second, context);
  for (const Analysis* run : {&a, &b}) refuse_classifier(*run, "draws to compare");
  require_same_question(a.run(), b.run());
  if (a.run().levels() != b.run().levels())
    fail(ErrorCode::configuration, "{} has {} levels and {} has {}: their levels do not correspond", first,
         a.run().levels(), second, b.run().levels());
  const std::size_t draws = std::min(a.run().draws_per_chain(), b.run().draws_per_chain());
  nlohmann::ordered_json traces = nlohmann::ordered_json::array();
  TextTable table({15, 12, 12, 10});
  table.add({"trace", "first", "second", "R-hat"});
  double worst = 1.0;
  const std::vector<TracePair> pairs = common_traces(a, b);
  for (const TracePair& pair : pairs) {
    const TraceSummary& left = a.traces()[pair.first];
    const TraceSummary& right = b.traces()[pair.second];
    std::vector<std::vector<double>> chains;
    for (const Analysis* side : {&a, &b})
      for (const std::vector<double>& chain : side->run().traces()[side == &a ? pair.first : pair.second])
        chains.emplace_back(chain.begin(), chain.begin() + static_cast<std::ptrdiff_t>(draws));
    // A density with u in it and one without have nothing to agree on.
    const double value = pair.decides ? rhat(chains) : std::numeric_limits<double>::quiet_NaN();
    if (!std::isnan(value)) worst = std::max(worst, value);
    traces.push_back({{"name", left.name}, {"first", left.mean}, {"second", right.mean}, {"rhat", value}});
    table.add({left.name, short_number(left.mean), short_number(right.mean),
               std::isnan(value) ? "-" : fmt::format("{:.3f}", value)});
  }
  bool same = worst <= kSameRhat;
  nlohmann::ordered_json levels = nlohmann::ordered_json::array();
  std::string partitions;
  for (std::size_t level = 1; level <= a.run().levels(); ++level) {
    const Consensus left = a.consensus(level, Selection::vi);
    const Consensus right = b.consensus(level, Selection::vi);
    const double ari = adjusted_rand_index(left.labels, right.labels);
    const double vi = variation_of_information(left.labels, right.labels);
    nlohmann::ordered_json entry{
        {"level", level}, {"ari", ari}, {"vi", vi}, {"clusters", {left.clusters, right.clusters}}};
    partitions += fmt::format("Level {}: consensus of {} and {} clusters, ARI {:.3f}, VI {:.3f}", level,
                              left.clusters, right.clusters, ari, vi);
    if (a.run().rows() <= kMostMatrixRows) {
      const double difference = mean_coclustering_difference(a.run(), b.run(), level);
      same = same && difference <= kSameCoclustering;
      entry["coclustering_difference"] = difference;
      partitions += fmt::format(", mean difference of co-clustering {:.3f}", difference);
    }
    partitions += ".\n";
    levels.push_back(entry);
  }
  std::string sentence =
      same ? fmt::format("The two runs agree (R-hat across runs {:.3f} at most).", worst)
           : fmt::format(
                 "The two runs do not agree (R-hat across runs up to {:.3f}; {} or a mean "
                 "co-clustering difference of {} is too much).",
                 worst, kSameRhat, kSameCoclustering);
  if (!same)
    if (const std::string within = disagreement_within(a, b, pairs); !within.empty()) sentence = within;
  const Analysis& inexact = a.inexactness_note().empty() ? b : a;
  nlohmann::ordered_json answer{
      {"same", same}, {"verdict", sentence}, {"traces", traces}, {"levels", levels}};
  inexact.add_exactness(answer);
  if (context.json)
    write_json("", answer);
  else
    write_output("", inexact.caveat_line(context) + context.bold(sentence) + "\n\n" + partitions + "\n" +
                         table.text(context));
  return same ? 0 : 1;
}

}  // namespace

void add_merge(CLI::App& application, Context& context) {
  CLI::App* command =
      application.add_subcommand("merge", "put the chains of two runs with different seeds into one run");
  auto paths = std::make_shared<std::array<std::string, 3>>();
  command->add_option("first", (*paths)[0], "run file")->required();
  command->add_option("second", (*paths)[1], "run file")->required();
  command->add_option("-o,--output", (*paths)[2], "run file to write")->required();
  command->callback([=, &context] {
    context.run = [=, &context] { return merge_runs((*paths)[0], (*paths)[1], (*paths)[2], context); };
  });
}

void add_compare(CLI::App& application, Context& context) {
  CLI::App* command =
      application.add_subcommand("compare", "do two runs agree? exit code 1 if not");
  auto paths = std::make_shared<std::array<std::string, 2>>();
  command->add_option("first", (*paths)[0], "run file")->required();
  command->add_option("second", (*paths)[1], "run file")->required();
  command->callback([=, &context] {
    context.run = [=, &context] { return compare_runs((*paths)[0], (*paths)[1], context); };
  });
}

}  // namespace coppice::app
