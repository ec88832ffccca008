// Speed of crosscat. bench_views [ROWS...]: the kernels of rows and columns on mixed tables of 100 columns,
// in cells per second, next to the bare arithmetic on the same state, and the memory so far. bench_views
// held-out DATA.csv FULL.csv FAMILY [SETTING...]: DATA is FULL with cells left out; the time of a sweep, and
// for eight chains the processor time until the cells that were left out are predicted well, by the mean of
// the predictives of the draws so far without the first third. Without arguments: 1,000 and 10,000 rows.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "bench/cpu_time.hpp"
#include "coppice/base/aligned.hpp"
#include "coppice/base/math.hpp"
#include "coppice/data/read.hpp"
#include "coppice/family/cell_column.hpp"
#include "coppice/family/plan.hpp"
#include "coppice/model/registry.hpp"

namespace {
std::atomic<std::size_t> allocations{0};
}  // namespace

void* operator new(std::size_t size) {
  ++allocations;
  if (void* pointer = std::malloc(size)) return pointer;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  ++allocations;
  const auto align = static_cast<std::size_t>(alignment);
  if (void* pointer = std::aligned_alloc(align, (size + align - 1) / align * align)) return pointer;
  throw std::bad_alloc();
}
void operator delete(void* pointer, std::align_val_t) noexcept { std::free(pointer); }
void operator delete(void* pointer) noexcept { std::free(pointer); }
void operator delete(void* pointer, std::size_t) noexcept { std::free(pointer); }

namespace {

using namespace coppice;
using bench::cpu_time;

constexpr std::size_t kChains = 8;

Settings settings_of(const std::vector<std::string>& texts) {
  Settings settings;
  for (const std::string& text : texts) parse_assignment(text, settings);
  return settings;
}

struct HeldOut {
  std::size_t row, cell;
  double truth;
};

/// Mean predictives of the held-out cells over draws.
class Forecast {
 public:
  Forecast(const FamilyPlan& plan, const Problem& problem, const std::vector<HeldOut>& cells,
           std::size_t values)
      : family_(*plan.family),
        predictor_(model_by_name("crosscat").make_predictor(problem)),
        cells_(cells),
        values_(values),
        sums_(cells.size() * values) {}

  void add(const Labels& labels, const std::string& payload) {
    predictor_->set_draw(labels, {}, payload);
    std::vector<CellComponent> components;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      predictor_->cell_components(cells_[i].row, cells_[i].cell, components);
      for (std::size_t x = 0; x < values_; ++x) {
        const double value = static_cast<double>(x) - family_.origin(cells_[i].cell);
        for (const CellComponent& part : components)
          sums_[i * values_ + x] +=
              part.weight * std::exp(predictor_->log_cell(part.component, cells_[i].cell, value));
      }
    }
    draws_ += 1.0;
  }
  double accuracy() const {
    double right = 0.0;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const auto begin = sums_.begin() + static_cast<std::ptrdiff_t>(i * values_);
      const auto mode = std::max_element(begin, begin + static_cast<std::ptrdiff_t>(values_)) - begin;
      right += static_cast<double>(mode) == cells_[i].truth ? 1.0 : 0.0;
    }
    return right / static_cast<double>(cells_.size());
  }
  double log_predictive() const {
    double total = 0.0;
    for (std::size_t i = 0; i < cells_.size(); ++i)
      total += std::log(sums_[i * values_ + static_cast<std::size_t>(cells_[i].truth)] / draws_);
    return total / static_cast<double>(cells_.size());
  }
  void reset() {
    std::fill(sums_.begin(), sums_.end(), 0.0);
    draws_ = 0.0;
  }

 private:
  const Family& family_;
  std::unique_ptr<Predictor> predictor_;
  const std::vector<HeldOut>& cells_;
  std::size_t values_;
  std::vector<double> sums_;
  double draws_ = 0.0;
};

int held_out(const std::string& data, const std::string& full, const std::string& family,
             const std::vector<std::string>& texts) {
  Table seen = read_dataset(data, {}).table;
  Table whole = read_dataset(full, {}).table;
  if (family == "binomial")
    for (Table* table : {&seen, &whole})
      for (Column& column : table->columns) column.kind = Kind::count;
  // The binomial workload has ten trials, also where no cell shows it.
  const Settings hyper =
      settings_of(family == "binomial" ? std::vector<std::string>{"trials=10"} : std::vector<std::string>{});
  const FamilyPlan plan = plan_family(seen, {}, family, hyper, true);
  const Rows rows = encode(plan, seen);
  const Rows truth = encode(plan, whole);
  std::vector<HeldOut> cells;
  std::size_t values = 2;
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (std::size_t cell = 0; cell < rows.width; ++cell) {
      values = std::max(values, static_cast<std::size_t>(truth[row][cell]) + 1);
      if (is_missing(rows[row][cell])) cells.push_back({row, cell, truth[row][cell]});
    }
  const ModelEntry model = model_by_name("crosscat");
  const Problem problem{plan.family.get(), &rows, ParameterValues(model.parameters, settings_of(texts))};
  const std::size_t sweeps = 600;
  const double goal = values == 2 ? 0.855 : 0.56;
  fmt::print("{:>6}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>8}{:>10}\n", "chain", "ms/sweep", "allocs",
             "to goal", "at sweep", "accuracy", "log pred", "views", "log joint");
  for (std::size_t chain = 0; chain < kChains; ++chain) {
    const std::unique_ptr<Inference> sampler = model.make_inference(problem);
    Labels labels(rows.size());
    Forecast forecast(plan, problem, cells, values);
    std::vector<std::pair<Labels, std::string>> draws;
    std::vector<double> times, taken;
    double begin = cpu_time();
    sampler->init({1, chain, 0});
    double spent = cpu_time() - begin;
    double reached = -1.0;
    std::size_t reached_at = 0, allocated = 0;
    for (std::size_t sweep = 1; sweep <= sweeps; ++sweep) {
      const std::size_t before = allocations;
      begin = cpu_time();
      sampler->step({1, chain, sweep});
      taken.push_back(cpu_time() - begin);
      spent += taken.back();
      if (sweep > sweeps / 2) allocated += allocations - before;
      times.push_back(spent);
      sampler->labels(labels);
      draws.emplace_back(labels, sampler->payload());
      if (reached >= 0.0 || sweep % 10 != 0) continue;
      forecast.reset();
      for (std::size_t i = sweep / 3; i < sweep; i += 3) forecast.add(draws[i].first, draws[i].second);
      if (forecast.accuracy() >= goal) {
        reached = spent;
        reached_at = sweep;
      }
    }
    forecast.reset();
    for (std::size_t i = sweeps / 3; i < sweeps; i += 5) forecast.add(draws[i].first, draws[i].second);
    std::nth_element(taken.begin() + sweeps / 2, taken.begin() + 3 * sweeps / 4, taken.end());
    std::vector<double> traces(5);
    sampler->traces(traces);
    fmt::print("{:>6}{:>10.3f}{:>10.2f}{:>9.3f}s{:>10}{:>10.4f}{:>10.4f}{:>8}{:>10.1f}\n", chain,
               1e3 * taken[3 * sweeps / 4],
               static_cast<double>(allocated) / (static_cast<double>(sweeps) / 2.0), reached, reached_at,
               forecast.accuracy(), forecast.log_predictive(), traces[2], traces[0]);
    std::fflush(stdout);
  }
  return 0;
}

/// A hundred columns of four kinds in four views with six clusters of the rows each; 5% missing.
Table mixed_table(std::size_t rows) {
  constexpr std::size_t kColumns = 100, kViews = 4, kClusters = 6;
  Stream stream({3, rows, 0}, Purpose::test);
  std::vector<std::vector<std::size_t>> labels(kViews, std::vector<std::size_t>(rows));
  for (std::vector<std::size_t>& of_view : labels)
    for (std::size_t& label : of_view) label = draw_index(stream, kClusters);
  Table table;
  for (std::size_t row = 0; row < rows; ++row) table.row_ids.push_back(fmt::format("{}", row));
  for (std::size_t j = 0; j < kColumns; ++j) {
    constexpr Kind kKinds[] = {Kind::binary, Kind::binary, Kind::category, Kind::count, Kind::real};
    Column column{fmt::format("c{}", j), kKinds[j % 5], {}, {}};
    if (column.kind == Kind::category) column.levels = {"a", "b", "c", "d"};
    double level[kClusters];
    for (double& value : level) value = draw_uniform(stream);
    for (std::size_t row = 0; row < rows; ++row) {
      const double p = level[labels[j % kViews][row]];
      double x = draw_uniform(stream) < p ? 1.0 : 0.0;
      if (column.kind == Kind::category) x = static_cast<double>(draw_binomial(stream, 3, p));
      if (column.kind == Kind::count) x = static_cast<double>(draw_poisson(stream, 10.0 * p));
      if (column.kind == Kind::real) x = 6.0 * p + draw_normal(stream);
      column.values.push_back(draw_uniform(stream) < 0.05 ? kMissing : x);
    }
    table.columns.push_back(std::move(column));
  }
  return table;
}

/// The least processor time of several calls.
template <typename Function>
double best_time(int repeats, Function&& function) {
  double best = 1e300;
  for (int i = 0; i < repeats; ++i) {
    const double begin = cpu_time();
    function();
    best = std::min(best, cpu_time() - begin);
  }
  return best;
}

/// Predictives of all rows under all clusters of their views, and nothing else.
double bare_rows(const Family& family, const Rows& rows, const Views& views) {
  double total = 0.0;
  for (std::size_t v = 0; v < views.count(); ++v) {
    std::vector<std::size_t> all(family.width()), cells;
    for (std::size_t cell = 0; cell < all.size(); ++cell) {
      all[cell] = cell;
      if (views.columns[cell] == static_cast<Label>(v)) cells.push_back(cell);
    }
    const std::unique_ptr<Family> own = family.of_cells(all);
    own->restrict_to(cells);
    const std::size_t clusters = cluster_sizes(views.rows[v]).size();
    const std::size_t chunks = (clusters + kLanes - 1) / kLanes;
    const std::size_t stride = own->cache_size() * kLanes;
    std::vector<double> stats(chunks * kLanes * own->stats_size());
    AlignedVector cache(chunks * stride), out(chunks * kLanes);
    const auto stats_of = [&](std::size_t c) { return stats.data() + c * own->stats_size(); };
    for (std::size_t c = 0; c < chunks * kLanes; ++c) own->clear(stats_of(c));
    for (std::size_t row = 0; row < rows.size(); ++row)
      own->add(stats_of(static_cast<std::size_t>(views.rows[v][row])), rows[row]);
    for (std::size_t c = 0; c < chunks * kLanes; ++c)
      own->fill_cache(stats_of(c), cache.data() + c / kLanes * stride + c % kLanes);
    total += best_time(3, [&] {
      for (std::size_t row = 0; row < rows.size(); ++row)
        own->add_log_predictive(rows[row], cache.data(), stride, chunks, {}, out.data());
    });
  }
  return total;
}

/// Log marginals of all columns under the clusters of all views, and nothing else.
double bare_columns(const Family& family, const Rows& rows, const Views& views) {
  std::vector<RowSets> sets;
  for (const Labels& labels : views.rows) {
    sets.emplace_back(rows.size());
    sets.back().assign(labels);
  }
  double total = 0.0;
  double sum = 0.0;
  std::vector<double> cells(rows.size());
  for (std::size_t column = 0; column < rows.width; ++column) {
    for (std::size_t row = 0; row < rows.size(); ++row) cells[row] = rows[row][column];
    const std::size_t alone[] = {column};
    const std::unique_ptr<CellColumn> single = family.of_cells(alone)->make_column(cells, {});
    total += best_time(3, [&] {
      for (const RowSets& clusters : sets) sum += single->log_marginal(clusters);
    });
  }
  return std::isnan(sum) ? 0.0 : total;
}

void mixed(std::size_t rows_of_table) {
  const Table table = mixed_table(rows_of_table);
  const FamilyPlan plan = plan_family(table, {}, "auto", {}, true);
  const Rows rows = encode(plan, table);
  const ModelEntry model = model_by_name("crosscat");
  const auto sampler_with = [&](const std::vector<std::string>& texts, auto&& use) {
    const Problem problem{plan.family.get(), &rows, ParameterValues(model.parameters, settings_of(texts))};
    const std::unique_ptr<Inference> sampler = model.make_inference(problem);
    return use(*sampler, problem);
  };
  std::string state;
  Views views;
  std::uint64_t sweep = 0;
  sampler_with({}, [&](Inference& sampler, const Problem& problem) {
    sampler.init({1, 0, 0});
    for (int i = 0; i < 40; ++i) sampler.step({1, 0, ++sweep});
    state = sampler.save();
    views = model.views(problem, sampler.payload());
  });
  const auto time_of = [&](const std::vector<std::string>& texts) {
    return sampler_with(texts, [&](Inference& sampler, const Problem&) {
      sampler.load(state);
      return best_time(5, [&] { sampler.step({1, 0, ++sweep}); });
    });
  };
  const double by_rows = time_of({"column-sweeps=0", "split-merge-moves=0"});
  const double by_columns = time_of({"row-sweeps=0", "split-merge-moves=0"});
  const double whole = time_of({});
  const double bare_of_rows = bare_rows(*plan.family, rows, views);
  const double bare_of_columns = bare_columns(*plan.family, rows, views);
  double clusters = 0.0;
  for (const Labels& labels : views.rows) clusters += static_cast<double>(cluster_sizes(labels).size());
  const double cells = static_cast<double>(rows.size() * rows.width);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print("{:>8}{:>7}{:>10.1f}{:>10.2f}{:>12.1f}{:>10.1f}{:>12.1f}{:>10.1f}{:>10.0f}\n", rows.size(),
             views.count(), clusters / static_cast<double>(views.count()), 1e3 * whole,
             1e-6 * cells / by_rows, 1e-6 * cells / bare_of_rows, 1e-6 * cells / by_columns,
             1e-6 * cells / bare_of_columns, static_cast<double>(usage.ru_maxrss) / 1024.0);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() >= 4 && words[0] == "held-out")
    return held_out(words[1], words[2], words[3], {words.begin() + 4, words.end()});
  fmt::print("{:>8}{:>7}{:>10}{:>10}{:>12}{:>10}{:>12}{:>10}{:>10}\n", "rows", "views", "clusters",
             "ms/sweep", "rows Mc/s", "bare", "columns", "bare", "MB");
  if (words.empty())
    for (const std::size_t rows : {1'000u, 10'000u}) mixed(rows);
  for (const std::string& word : words) mixed(std::strtoul(word.c_str(), nullptr, 10));
  return 0;
}
