// Speed of the nested mixture, as one table: time of a sweep, effective draws per second of the number of
// components, of the level-1 entropy and of level-1 co-clustering, agreement with the truth, and the log-log
// slope of the sweep's time in the number of rows. Usage: bench_nested [DIR] [SWEEPS]: with DIR, w7.csv and
// w7.lab (a corpus of counts and its leaves) are read from there and run with the multinomial family; SWEEPS
// is a factor for the numbers of sweeps, of which a third is warm-up. bench_nested blocks [ROWS] [SWEEPS]
// [MOVES...] compares chains with these numbers of moves of blocks in a sweep.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

#include "bench/cpu_time.hpp"
#include "coppice/data/read.hpp"
#include "coppice/family/plan.hpp"
#include "coppice/model/registry.hpp"
#include "coppice/post/scores.hpp"
#include "coppice/run/diagnostics.hpp"

namespace {

using namespace coppice;
using bench::cpu_time;

struct Workload {
  std::string name, family;
  Table table;
  Labels truth;  // of the leaves
  std::vector<std::string> settings, family_settings;
};

/// Points around the leaves of a tree of centers, the spread halving from level to level.
Workload nested(const std::string& name, std::size_t n, std::size_t d,
                const std::vector<std::size_t>& children, double spread, std::vector<std::string> settings) {
  Workload work{name, "gaussian-known",    {},
                {},   std::move(settings), {"noise_variance=1", "prior_variance=60"}};
  Stream stream({11, d, 1000}, Purpose::test);
  std::vector<std::vector<double>> centers{std::vector<double>(d, 0.0)};
  for (const std::size_t count : children) {
    std::vector<std::vector<double>> next;
    for (const std::vector<double>& center : centers)
      for (std::size_t child = 0; child < count; ++child) {
        next.push_back(center);
        for (double& x : next.back()) x += spread * draw_normal(stream);
      }
    centers = std::move(next);
    spread *= 0.55;
  }
  for (std::size_t j = 0; j < d; ++j)
    work.table.columns.push_back({fmt::format("c{}", j + 1), Kind::real, std::vector<double>(n), {}});
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t leaf = draw_index(stream, centers.size());
    work.truth.push_back(static_cast<Label>(leaf));
    work.table.row_ids.push_back(fmt::format("{}", i));
    for (std::size_t j = 0; j < d; ++j)
      work.table.columns[j].values[i] = centers[leaf][j] + draw_normal(stream);
  }
  return work;
}

Workload corpus(const std::string& folder) {
  Workload work{"w7 corpus", "multinomial", {}, {}, {"levels=2", "gamma=0.1"}, {}};
  ReadOptions options;
  options.header = Header::no;
  work.table = read_dataset(folder + "/w7.csv", options).table;
  for (Column& column : work.table.columns) column.kind = Kind::count;
  std::ifstream labels(folder + "/w7.lab");
  for (Label label; labels >> label;) work.truth.push_back(label);
  return work;
}

/// Effective draws of one trace; NaN if it is constant or too short to say.
double effective_draws(const std::vector<double>& chain) {
  constexpr std::size_t kFewest = 100;
  if (chain.size() < kFewest) return std::nan("");
  return summarize_trace("", std::vector<std::vector<double>>{chain}).ess_bulk;
}

/// Whether the two rows of a pair share their node at level 1, draw by draw, for a fixed set of pairs.
class CoClustering {
 public:
  explicit CoClustering(std::size_t rows) {
    constexpr std::size_t kPairs = 200;
    Stream stream({12, rows, 1000}, Purpose::test);
    while (pairs_.size() < kPairs) {
      const std::size_t a = draw_index(stream, rows);
      const std::size_t b = draw_index(stream, rows);
      if (a != b) pairs_.emplace_back(a, b);
    }
    together_.resize(kPairs);
  }

  void add(std::span<const Label> first_level) {
    for (std::size_t i = 0; i < pairs_.size(); ++i)
      together_[i].push_back(first_level[pairs_[i].first] == first_level[pairs_[i].second] ? 1.0 : 0.0);
  }

  /// Effective draws of each pair that is not always together or always apart, in increasing order.
  std::vector<double> effective() const {
    std::vector<double> result;
    for (const std::vector<double>& pair : together_)
      if (const double draws = effective_draws(pair); !std::isnan(draws)) result.push_back(draws);
    std::sort(result.begin(), result.end());
    return result;
  }

  std::size_t pairs() const { return pairs_.size(); }

 private:
  std::vector<std::pair<std::size_t, std::size_t>> pairs_;
  std::vector<std::vector<double>> together_;
};

struct Result {
  double milliseconds = 0.0;
};

Result measure(const Workload& work, const std::string& setting_name, const std::vector<std::string>& extra,
               std::size_t sweeps) {
  Settings family_settings;
  for (const std::string& text : work.family_settings) parse_assignment(text, family_settings);
  const FamilyPlan plan = plan_family(work.table, {}, work.family, family_settings);
  const Rows rows = encode(plan, work.table);
  const ModelEntry& model = model_by_name("rbhmc");
  Settings settings;
  for (const std::string& text : work.settings) parse_assignment(text, settings);
  for (const std::string& text : extra) parse_assignment(text, settings);
  const Problem problem{plan.family.get(), &rows, ParameterValues(model.parameters, settings)};
  const std::unique_ptr<Inference> sampler = model.make_inference(problem);
  const std::vector<std::string> names = model.trace_names(problem.parameters);
  const auto trace = [&](const std::string& name) {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  const std::size_t levels = model.levels(problem.parameters);
  const double start = cpu_time();
  sampler->init({1, 0, 0});
  const double init_seconds = cpu_time() - start;
  const std::size_t warmup = std::max<std::size_t>(sweeps / 2, 2);
  for (std::size_t sweep = 1; sweep <= warmup; ++sweep) sampler->step({1, 0, sweep});
  std::vector<double> components, first_level, values(names.size()), times;
  Labels labels(levels * rows.size());
  CoClustering pairs(rows.size());
  double seconds = 0.0;
  for (std::size_t sweep = warmup + 1; sweep <= warmup + sweeps; ++sweep) {
    const double begin = cpu_time();
    sampler->step({1, 0, sweep});
    times.push_back(cpu_time() - begin);
    seconds += times.back();
    sampler->traces(values);
    components.push_back(values[trace("components")]);
    first_level.push_back(values[trace("entropy_1")]);
    sampler->labels(labels);
    pairs.add(std::span<const Label>(labels).first(rows.size()));
  }
  const std::span<const Label> leaves = std::span<const Label>(labels).last(rows.size());
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  const Result result{1e3 * times[times.size() / 2]};
  const std::vector<double> of_pairs = pairs.effective();
  const double moving = static_cast<double>(of_pairs.size()) / static_cast<double>(pairs.pairs());
  const double median_pair = of_pairs.empty() ? std::nan("") : of_pairs[of_pairs.size() / 2];
  const double slowest_pair = of_pairs.empty() ? std::nan("") : of_pairs.front();
  std::string moves;
  for (const MoveStatistics& move : sampler->moves())
    if (move.proposed > 0)
      moves += fmt::format(" {} {:.2g}", move.name,
                           static_cast<double>(move.accepted) / static_cast<double>(move.proposed));
  fmt::print(
      "{:<14}{:<16}{:>6}{:>7}{:>9.3f}{:>8.0f}{:>4.0f}{:>7.0f}{:>10.3g}{:>10.3g}{:>10.3g}{:>10.3g}{:>7.2f}{:>"
      "7.3f} "
      "{}\n",
      work.name, setting_name, rows.size(), sweeps, result.milliseconds, 1e3 * init_seconds,
      values[trace("components")], values[trace(fmt::format("clusters_{}", levels))],
      effective_draws(components) / seconds, effective_draws(first_level) / seconds, median_pair / seconds,
      slowest_pair / seconds, moving, adjusted_rand_index(work.truth, leaves), moves);
  std::fflush(stdout);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : "";
  const double scale = argc > 2 ? std::strtod(argv[2], nullptr) : 1.0;
  const auto sweeps = [&](double count) { return static_cast<std::size_t>(std::max(3.0, scale * count)); };
  fmt::print("{:<14}{:<16}{:>6}{:>7}{:>9}{:>8}{:>4}{:>7}{:>10}{:>10}{:>10}{:>10}{:>7}{:>7} {}\n", "data",
             "setting", "rows", "sweeps", "ms/sweep", "init ms", "K", "leaves", "ESS(K)/s", "ESS(1)/s",
             "pair/s", "lowest/s", "moving", "ARI", "acceptance");
  const std::vector<std::pair<std::string, std::vector<std::string>>> all{
      {"bhmc", {"penalty=0"}},
      {"hinge .01", {"penalty=0.01", "regularizer=\"hinge\""}},
      {"centered .1", {"penalty=0.1", "regularizer=\"centered\""}},
      {"own .1", {"penalty=0.1", "regularizer=\"own\""}},
      {"paper .1", {"penalty=0.1", "regularizer=\"paper\""}}};
  if (!folder.empty() && std::filesystem::exists(folder + "/w7.csv"))
    measure(corpus(folder), "bhmc", {"penalty=0"}, sweeps(200));
  const std::vector<std::string> deep{"levels=4", "alpha=0.2", "gamma=1.5"};
  if (folder == "blocks") {
    const std::size_t rows = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 10'000;
    const std::size_t count = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 300;
    std::vector<std::string> moves(argv + std::min(argc, 4), argv + argc);
    if (moves.empty()) moves = {"0", "100", "1000"};
    for (const std::string& number : moves)
      measure(nested("nested", rows, 10, {4, 3, 2, 2}, 6.0, deep), number + " blocks",
              {"penalty=0", "block-moves=" + number}, count);
    return 0;
  }
  for (const auto& [name, extra] : all) {
    measure(nested("like animals", 33, 7, {3, 3}, 2.0, {"levels=3"}), name, extra, sweeps(20'000));
    measure(nested("like fashion", 100, 10, {3, 3}, 2.0, deep), name, extra, sweeps(10'000));
  }
  for (const auto& [name, extra] : all) {
    double small = 0.0;
    double large = 0.0;
    for (const std::size_t rows : std::vector<std::size_t>{1000, 10'000, 60'000}) {
      const double count = rows == 1000 ? 2000.0 : rows == 10'000 ? 300.0 : 100.0;
      const Result result =
          measure(nested("nested", rows, 10, {4, 3, 2, 2}, 6.0, deep), name, extra, sweeps(count));
      (rows == 1000 ? small : large) = result.milliseconds;
    }
    fmt::print("{}: log-log slope of the sweep's time between 1,000 and 60,000 rows {:.2f}\n", name,
               std::log(large / small) / std::log(60.0));
  }
}
