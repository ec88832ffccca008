// Speed of bnmc. bench_labels [FILE.svm]: nonzeros x clusters of the mixture's local update per second, next
// to what the memory gives in the same run; a sweep; two threads against one, on the local update and on the
// linear experts; a stochastic step for more and more features that its rows do not have. Without a file, or
// if it is not there, on rows drawn at random.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <numeric>

#include "bench/cpu_time.hpp"
#include "coppice/data/read.hpp"
#include "coppice/model/bnmc/label_experts.hpp"

namespace {

using namespace coppice;
using bench::cpu_time;

double wall_time() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The shortest of several times.
template <typename Clock, typename Work>
double best(std::size_t repeats, Clock&& clock, Work&& work) {
  double least = 1e300;
  for (std::size_t i = 0; i < repeats; ++i) {
    const double begin = clock();
    work();
    least = std::min(least, clock() - begin);
  }
  return least;
}

/// Rows of `nonzeros` features of 1 among `features`, and three labels of `labels`.
LabeledRows drawn(std::size_t rows, std::size_t features, std::size_t nonzeros, std::size_t labels) {
  Stream stream({1, 0, 0}, Purpose::test);
  const auto draw = [&](std::size_t columns, std::size_t many) {
    SparseRows result;
    result.columns = columns;
    for (std::size_t row = 0; row < rows; ++row) {
      std::vector<std::uint32_t> which;
      while (which.size() < many) {
        which.push_back(static_cast<std::uint32_t>(draw_index(stream, columns)));
        std::sort(which.begin(), which.end());
        which.erase(std::unique(which.begin(), which.end()), which.end());
      }
      result.column.insert(result.column.end(), which.begin(), which.end());
      result.value.insert(result.value.end(), many, 1.0);
      result.start.push_back(result.column.size());
    }
    return result;
  };
  return {draw(features, nonzeros), std::vector<Kind>(features, Kind::count), draw(labels, 3)};
}

bnmc::Options options_of(const char* inputs) {
  Settings given;
  for (const Parameter& parameter : bnmc::parameter_table()) {
    if (parameter.name == "features")
      given.insert_or_assign("features", parse_parameter(parameter, "multinomial"));
    if (parameter.name == "covariance")
      given.insert_or_assign("covariance", parse_parameter(parameter, "diagonal"));
    if (parameter.name == "inputs") given.insert_or_assign("inputs", parse_parameter(parameter, inputs));
  }
  return bnmc::Options(ParameterValues(bnmc::parameter_table(), given));
}

void bandwidth() {
  AlignedVector numbers(std::size_t{32} << 20, 1.0);
  Lanes sums[4]{};
  const double seconds = best(5, cpu_time, [&] {
    for (std::size_t i = 0; i < numbers.size(); i += 4 * kLanes)
      for (std::size_t j = 0; j < 4; ++j) sums[j] += load_lanes(numbers.data() + i + j * kLanes);
  });
  const double sum = maximum(sums[0] + sums[1] + sums[2] + sums[3]);
  fmt::print("memory: {:.1f} GB/s read in order by one thread{}\n",
             8e-9 * static_cast<double>(numbers.size()) / seconds, sum > 0.0 ? "" : "?");
}

struct Started {
  bnmc::Mixture mixture;
  bnmc::MixtureRows items;
  std::vector<std::uint32_t> all;
  bnmc::MixtureStatistics statistics;

  Started(const LabeledRows& rows, const bnmc::Options& options)
      : mixture(bnmc::make_mixture(rows, options, options.clusters)),
        items(mixture.encode(rows)),
        all(rows.features.rows()) {
    std::iota(all.begin(), all.end(), 0u);
    Stream stream({2, 0, 0}, Purpose::test);
    bnmc::Responsibilities r(all.size() * mixture.stride(), 0.0);
    for (std::size_t row = 0; row < all.size(); ++row)
      r[row * mixture.stride() + draw_index(stream, options.clusters)] = 1.0;
    statistics = mixture.collect(items, all, r);
  }
};

void local_updates(const LabeledRows& rows, const bnmc::Options& options) {
  Started state(rows, options);
  const auto update = [&](std::size_t threads) {
    return state.mixture.local_update(state.items, state.all, state.statistics, threads);
  };
  for (const char* when : {"spread out", "settled"}) {
    const double seconds = best(5, cpu_time, [&] { update(1); });
    const double products =
        static_cast<double>(state.items.features.value.size() + state.items.labels.value.size()) *
        static_cast<double>(options.clusters);
    fmt::print(
        "local update, {}: {:.1f} ms, {:.2f}e9 nonzeros x clusters a second ({:.1f} GB/s of weights)\n", when,
        1e3 * seconds, 1e-9 * products / seconds, 8e-9 * products / seconds);
    for (int sweep = 0; sweep < 20; ++sweep) state.statistics = update(1).statistics;
  }
  const double sweep = best(5, cpu_time, [&] {
    update(1);
    state.mixture.divergence(state.statistics);
  });
  const double one = best(9, wall_time, [&] { update(1); });
  const double two = best(9, wall_time, [&] { update(2); });
  const bool same = update(1).statistics.features.table == update(2).statistics.features.table;
  fmt::print("sweep with its bound: {:.1f} ms; two threads {:.2f} times as fast as one, {}\n", 1e3 * sweep,
             one / two, same ? "the same bits" : "OTHER BITS");
}

void experts(const LabeledRows& rows, const bnmc::Options& options) {
  bnmc::LabelExperts experts(rows, options);
  experts.set_design(rows.features, nullptr, 1);
  const std::size_t labels = std::min<std::size_t>(32, rows.labels.columns);
  std::vector<std::uint32_t> all(rows.features.rows());
  std::iota(all.begin(), all.end(), 0u);
  bnmc::Learned learned[2];
  double seconds[2];
  double processor = 0.0;
  for (std::size_t threads = 1; threads <= 2; ++threads) {
    bnmc::Learned& result = learned[threads - 1];
    result.experts.resize(labels);
    result.base_rates.assign(rows.labels.columns, 0.5);
    const double begin = cpu_time();
    seconds[threads - 1] =
        best(1, wall_time, [&] { experts.fit(all, 0, labels, {1, 0, 0}, threads, {}, result); });
    if (threads == 1) processor = cpu_time() - begin;
  }
  bool same = true;
  for (std::size_t c = 0; c < labels; ++c) {
    const bnmc::Expert& one = learned[0].experts[c];
    const bnmc::Expert& two = learned[1].experts[c];
    same = same && one.mean.size() == two.mean.size() && (one.mean.array() == two.mean.array()).all();
  }
  fmt::print("experts of {} labels on the features: {:.2f} s; two threads {:.2f} times as fast as one, {}\n",
             labels, processor, seconds[0] / seconds[1], same ? "the same bits" : "OTHER BITS");
}

void stochastic_steps(const bnmc::Options& options) {
  for (const std::size_t features : {1'000U, 10'000U, 100'000U, 1'000'000U}) {
    const LabeledRows rows = drawn(256, 1000, 60, 50);
    LabeledRows wide = rows;
    wide.features.columns = features;
    wide.kinds.assign(features, Kind::count);
    Started state(wide, options);
    const double seconds = best(20, cpu_time, [&] {
      const bnmc::Mixture::Minibatch update =
          state.mixture.minibatch_update(state.items, state.all, state.statistics, 1);
      state.mixture.blend(state.statistics, update, 0.01, 100.0, 100.0);
    });
    fmt::print("stochastic step of 256 rows x 60 nonzeros among {:>9} features: {:.2f} ms\n", features,
               1e3 * seconds);
  }
}

}  // namespace

int main(int count, char** arguments) {
  try {
    LabeledRows rows;
    if (count > 1 && std::filesystem::exists(arguments[1])) {
      ReadOptions options;
      options.labels = {""};
      const Dataset data = read_dataset(arguments[1], options);
      rows = labeled_rows(data.table, data.labels);
    } else {
      fmt::print("no file of rows with labels was given, so they are drawn at random\n");
      rows = drawn(7400, 1836, 68, 159);
    }
    fmt::print("{} rows, {} features, {} nonzeros, {} labels\n", rows.features.rows(), rows.features.columns,
               rows.features.value.size(), rows.labels.columns);
    const bnmc::Options options = options_of("features");
    bandwidth();
    local_updates(rows, options);
    experts(rows, options);
    stochastic_steps(options);
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
