// Learned hyper-parameters: draws of the hyper-prior have the density it says, updates leave the posterior
// given the clusters invariant (against quadrature over a grid of all of them), and what families tabulate
// follows the values.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <stdexcept>

#include "coppice/base/aligned.hpp"
#include "coppice/base/math.hpp"
#include "coppice/family/registry.hpp"
#include "laws/law_case.hpp"
#include "support/sampling_error.hpp"
#include "support/seeds.hpp"

namespace coppice::test {
namespace {

/// What a run of an earlier version says of its categories: all levels have the same concentration.
const std::string kEqualLevels = "categorical, equal levels";

std::string family_of(const std::string& name) { return name == kEqualLevels ? "categorical" : name; }

/// The plan of a run in which nothing says that the means of the levels are learned.
FamilyPlan of_earlier_version(const FamilyPlan& plan, const Table& table) {
  std::vector<FamilyPlan::Block> blocks = plan.blocks;
  if (blocks[0].effective.block.erase("mean_weight") != 1) throw std::logic_error("nothing to leave out");
  return rebuild_plan(table, std::move(blocks), {.learns_hyper = true});
}

/// Families of one column that learn, with a few clusters of its rows. The column has no odd numbers of cells
/// in common with the others: sizes are unequal, one cluster is a single row.
struct LearnedColumn {
  explicit LearnedColumn(const std::string& family, double scale = 1.0, double shift = 0.0)
      : fixture(case_of(family), 1, kRows) {
    Table table = fixture.table;
    if (scale != 1.0 || shift != 0.0)
      for (double& value : table.columns[0].values) value = shift + scale * value;
    plan = plan_family(table, fixture.codebook, family_of(family), {}, true, {.learns_hyper = true});
    if (family == kEqualLevels) plan = of_earlier_version(plan, table);
    rows = encode(plan, table);
    learned = plan.family->clone();
    for (const auto& [begin, end] : {std::pair{0U, 1U}, {1U, 6U}, {6U, 14U}, {14U, kRows}})
      clusters.emplace_back(*plan.family, rows, begin, end);
    for (const Stats& stats : clusters) pointers.push_back(stats.data());
  }
  static LawCase case_of(const std::string& name) {
    const std::string family = family_of(name);
    const Kind kind = family_by_name(family).kinds.front();
    return {family, family, {{kind, kind == Kind::category ? 3U : 0U}}, {}, 0.1};
  }
  double log_marginals() const {
    double total = 0.0;
    for (const double* stats : pointers) total += learned->log_marginal(stats);
    return total;
  }
  std::vector<double> values() const {
    std::vector<double> found(learned->hyper_size());
    learned->get_hyper(found.data());
    return found;
  }

  static constexpr std::size_t kRows = 26;
  Fixture fixture;
  FamilyPlan plan;
  Rows rows;
  std::unique_ptr<Family> learned;
  std::vector<Stats> clusters;
  std::vector<const double*> pointers;
};

/// One hyper-parameter on a line: a location, or lowest + exp(u); a size of the grid is a step of it.
struct Coordinate {
  enum class Form { location, positive, grid } form = Form::positive;
  double center = 0.0, lowest = 0.0;

  Coordinate(const std::string& family, const std::string& name, double value) {
    const std::string own = name.substr(name.find('.') + 1);
    if (own == "prior_mean") form = Form::location;
    if (own == "size") form = Form::grid;
    if ((family == "gaussian-diagonal" && own == "shape") || (family == "negative-binomial" && own == "a"))
      lowest = 1.0;
    center = form == Form::location ? value : form == Form::grid ? 0.0 : std::log(value - lowest);
  }
  double value(double u) const {
    return form == Form::location ? u : form == Form::grid ? std::exp2(0.5 * u) : lowest + std::exp(u);
  }
  double place(double value) const {
    return form == Form::location ? value
           : form == Form::grid   ? 2.0 * std::log2(value)
                                  : std::log(value - lowest);
  }
  /// log of d value / du; sizes are counted.
  double log_step(double u) const { return form == Form::positive ? u : 0.0; }
};

std::vector<Coordinate> coordinates_of(const LearnedColumn& column, const std::string& family) {
  std::vector<Coordinate> coordinates;
  const std::vector<std::string> names = column.learned->hyper_names();
  const std::vector<double> values = column.values();
  for (std::size_t i = 0; i < values.size(); ++i) coordinates.emplace_back(family, names[i], values[i]);
  return coordinates;
}

std::string test_name(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](unsigned char letter) { return std::isalnum(letter) == 0; }, '_');
  return name;
}

class Hyper : public ::testing::TestWithParam<std::string> {};

/// With q another density of the same numbers, q / p has the mean 1 under p. In every coordinate q is a
/// normal distribution narrower than p, so that the ratio is bounded.
TEST_P(Hyper, DrawsOfThePriorHaveItsDensity) {
  LearnedColumn column(GetParam());
  const std::vector<Coordinate> coordinates = coordinates_of(column, GetParam());
  for (const std::uint64_t seed : test_seeds()) {
    Stream stream({seed, 0, 0}, Purpose::test, 11);
    double sum = 0.0, squares = 0.0;
    constexpr int kDraws = 400000;
    for (int i = 0; i < kDraws; ++i) {
      column.learned->draw_hyper_prior(stream);
      const std::vector<double> values = column.values();
      double log_ratio = -column.learned->log_hyper_prior();
      for (std::size_t j = 0; j < values.size(); ++j) {
        const Coordinate& own = coordinates[j];
        if (own.form == Coordinate::Form::grid) {
          log_ratio -= std::log(21.0);
          continue;
        }
        const double u = own.place(values[j]);
        const double z = (u - own.center) / 0.6;
        log_ratio += -0.5 * (kLog2Pi + z * z) - std::log(0.6) - own.log_step(u);
      }
      const double ratio = std::exp(log_ratio);
      sum += ratio;
      squares += ratio * ratio;
    }
    const double mean = sum / kDraws;
    const double error = std::sqrt((squares / kDraws - mean * mean) / kDraws);
    EXPECT_LT(error, 0.03) << "too few draws to see a mistake";
    EXPECT_NEAR(mean, 1.0, 4.5 * error);
  }
}

/// Calls `visit` for every point of a grid over all coordinates.
void for_each_point(const std::vector<Coordinate>& coordinates, std::size_t steps, double reach,
                    const std::function<void(const std::vector<double>&)>& visit) {
  std::vector<double> point(coordinates.size());
  const std::function<void(std::size_t)> descend = [&](std::size_t j) {
    if (j == point.size()) return visit(point);
    if (coordinates[j].form == Coordinate::Form::grid) {
      for (int step = -6; step <= 14; ++step) {
        point[j] = step;
        descend(j + 1);
      }
      return;
    }
    for (std::size_t step = 0; step <= steps; ++step) {
      const double part = 2.0 * static_cast<double>(step) / static_cast<double>(steps) - 1.0;
      point[j] = coordinates[j].center + reach * part;
      descend(j + 1);
    }
  };
  descend(0);
}

TEST_P(Hyper, UpdatesKeepThePosteriorGivenTheClusters) {
  LearnedColumn column(GetParam());
  const std::vector<Coordinate> coordinates = coordinates_of(column, GetParam());
  const std::size_t size = coordinates.size();

  // First and second moments of all coordinates by the trapezoidal rule, which is exact enough for smooth
  // densities that fall to nothing at both ends.
  const std::size_t steps = size == 4 ? 40 : size == 3 ? 60 : 120;
  const double reach = size == 4 ? 10.0 : 12.0;
  std::vector<double> expected(2 * size, 0.0), values(size);
  double total = 0.0, top = kMinusInfinity, edge = 0.0;
  for_each_point(coordinates, steps, reach, [&](const std::vector<double>& point) {
    double log_weight = 0.0;
    bool at_edge = false;
    for (std::size_t j = 0; j < size; ++j) {
      values[j] = coordinates[j].value(point[j]);
      log_weight += coordinates[j].log_step(point[j]);
      at_edge |=
          coordinates[j].form != Coordinate::Form::grid &&
          std::abs(point[j] - coordinates[j].center) > reach * (1.0 - 0.5 / static_cast<double>(steps));
    }
    column.learned->set_hyper(values.data());
    log_weight += column.learned->log_hyper_prior() + column.log_marginals();
    if (!(log_weight > kMinusInfinity)) return;
    if (log_weight > top) {
      const double shrink = std::exp(top - log_weight);
      total *= shrink;
      edge *= shrink;
      for (double& sum : expected) sum *= shrink;
      top = log_weight;
    }
    const double weight = std::exp(log_weight - top);
    total += weight;
    if (at_edge) edge += weight;
    for (std::size_t j = 0; j < size; ++j) {
      expected[j] += weight * point[j];
      expected[size + j] += weight * point[j] * point[j];
    }
  });
  ASSERT_LT(edge / total, 1e-4) << "the grid does not reach far enough";
  for (double& moment : expected) moment /= total;

  for (const std::uint64_t seed : test_seeds()) {
    Stream stream({seed, 0, 0}, Purpose::test, 12);
    column.learned = column.plan.family->clone();
    constexpr std::size_t kBatches = 60, kOfBatch = 500;
    std::vector<double> sums(2 * size, 0.0), squares(2 * size, 0.0);
    for (std::size_t i = 0; i < 200; ++i) column.learned->update_hyper(column.pointers, stream);
    for (std::size_t batch = 0; batch < kBatches; ++batch) {
      std::vector<double> means(2 * size, 0.0);
      for (std::size_t i = 0; i < kOfBatch; ++i) {
        column.learned->update_hyper(column.pointers, stream);
        values = column.values();
        for (std::size_t j = 0; j < size; ++j) {
          const double u = coordinates[j].place(values[j]);
          means[j] += u / kOfBatch;
          means[size + j] += u * u / kOfBatch;
        }
      }
      for (std::size_t j = 0; j < 2 * size; ++j) {
        sums[j] += means[j] / kBatches;
        squares[j] += means[j] * means[j] / kBatches;
      }
    }
    for (std::size_t j = 0; j < 2 * size; ++j) {
      const double error = std::sqrt((squares[j] - sums[j] * sums[j]) / (kBatches - 1));
      EXPECT_NEAR(sums[j], expected[j], 4.5 * error)
          << column.learned->hyper_names()[j % size] << (j < size ? "" : " squared") << ", seed " << seed;
    }
  }
}

/// A family that was set to some values is the family that was made with them.
TEST_P(Hyper, EverythingFollowsTheValues) {
  LearnedColumn column(GetParam());
  Stream stream({3, 0, 0}, Purpose::test, 13);
  for (int repeat = 0; repeat < 5; ++repeat) {
    column.learned->update_hyper(column.pointers, stream);
    const std::vector<double> values = column.values();
    const std::vector<std::string> names = column.learned->hyper_names();
    Codebook codebook = column.fixture.codebook;
    Settings& settings = codebook.columns[0].settings;
    if (GetParam() == "categorical")
      settings.insert_or_assign("concentration", Setting::vector(values));
    else
      for (std::size_t i = 0; i < names.size(); ++i)
        settings.insert_or_assign(names[i].substr(names[i].find('.') + 1), Setting::number(values[i]));
    const FamilyPlan given =
        plan_family(column.fixture.table, codebook, family_of(GetParam()), {}, true, {.learns_hyper = true});
    ASSERT_EQ(given.family->hyper_size(), 0U);
    const Rows rows = encode(given, column.fixture.table);
    Stats stats(*column.learned), expected(*given.family);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_NEAR(stats.log_predictive(column.rows[i]), expected.log_predictive(rows[i]),
                  relative(1e-10, expected.log_predictive(rows[i])));
      stats.add(column.rows[i]);
      expected.add(rows[i]);
      EXPECT_NEAR(stats.log_marginal(), expected.log_marginal(), relative(1e-10, expected.log_marginal()));
    }
    const CellPredictive cell = column.learned->predict_cell(stats.data(), 0);
    const CellPredictive other = given.family->predict_cell(expected.data(), 0);
    EXPECT_NEAR(cell.mean, other.mean, relative(1e-10, other.mean));
    EXPECT_NEAR(cell.variance, other.variance, relative(1e-10, other.variance));
  }
}

TEST_P(Hyper, ClonesAreApart) {
  LearnedColumn column(GetParam());
  const std::unique_ptr<Family> copy = column.learned->clone();
  Stream stream({4, 0, 0}, Purpose::test, 14);
  const double before = copy->log_marginal(column.pointers[2]);
  for (int i = 0; i < 3; ++i) column.learned->update_hyper(column.pointers, stream);
  EXPECT_EQ(copy->log_marginal(column.pointers[2]), before);
  EXPECT_NE(column.learned->log_marginal(column.pointers[2]), before);
  const std::vector<double> values = column.values();
  copy->set_hyper(values.data());
  EXPECT_EQ(copy->log_marginal(column.pointers[2]), column.learned->log_marginal(column.pointers[2]));
}

std::vector<std::string> families_that_learn() {
  std::vector<std::string> names;
  for (const FamilyEntry& entry : all_families())
    if (!entry.joint && LearnedColumn(entry.name).learned->hyper_size() > 0) names.push_back(entry.name);
  names.push_back(kEqualLevels);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Laws, Hyper, ::testing::ValuesIn(families_that_learn()),
                         [](const auto& info) { return test_name(info.param); });

TEST(HyperScale, UnitsOfRealColumnsDoNotMatter) {
  LearnedColumn plain("gaussian-diagonal");
  constexpr double kScale = 1024.0, kShift = 512.0;
  LearnedColumn scaled("gaussian-diagonal", kScale, kShift);
  const double cells = [&] {
    double count = 0.0;
    for (const double value : plain.fixture.table.columns[0].values) count += is_missing(value) ? 0.0 : 1.0;
    return count;
  }();
  for (std::uint64_t step = 0; step < 20; ++step) {
    Stream one({5, 0, step}, Purpose::test, 15);
    Stream other({5, 0, step}, Purpose::test, 15);
    plain.learned->update_hyper(plain.pointers, one);
    scaled.learned->update_hyper(scaled.pointers, other);
    const std::vector<double> small = plain.values();
    const std::vector<double> large = scaled.values();
    ASSERT_NEAR(large[0], kShift + kScale * small[0], 1e-5 * kScale);
    ASSERT_NEAR(large[1], small[1], 1e-6 * small[1]);
    ASSERT_NEAR(large[2], small[2], 1e-6 * small[2]);
    ASSERT_NEAR(large[3], kScale * kScale * small[3], 1e-6 * large[3]);
    ASSERT_NEAR(scaled.log_marginals() + cells * std::log(kScale), plain.log_marginals(), 1e-5);
  }
}

/// Of many levels an update changes some. Geweke's test: values and two clusters drawn afresh, and by turns.
TEST(HyperLevels, ManyLevelsAreUpdatedAFewAtATime) {
  constexpr std::size_t kLevels = 20, kCells = 15;
  const Fixture fixture({"many", "categorical", {{Kind::category, kLevels}}, {}, 0.0, true}, 1, 2 * kCells);
  const std::unique_ptr<Family> family = fixture.family().clone();
  ASSERT_EQ(family->hyper_size(), kLevels);
  std::vector<Stats> clusters(2, Stats(*family));
  const double* const pointers[] = {clusters[0].data(), clusters[1].data()};
  std::vector<double> theta(family->theta_size()), values(kLevels);
  const auto draw_cells = [&](Stream& stream) {
    for (Stats& stats : clusters) {
      const Stats empty(*family);
      family->draw_theta(empty.data(), stream, theta.data());
      stats.clear();
      double cell = 0.0;
      for (std::size_t i = 0; i < kCells; ++i) {
        family->draw(theta.data(), stream, &cell);
        stats.add(&cell);
      }
    }
  };
  const auto record = [&](std::vector<std::vector<double>>& into) {
    family->get_hyper(values.data());
    double strength = 0.0, largest = 0.0;
    for (const double value : values) {
      strength += value;
      largest = std::max(largest, value);
    }
    // The statistics of a cluster are its rows and the cells of each level.
    const double of_first = pointers[0][1], of_last = pointers[1][kLevels];
    const double log_strength = std::log(strength);
    const double found[] = {log_strength,
                            log_strength * log_strength,
                            values[0] / strength,
                            values[kLevels - 1] / strength,
                            largest / strength,
                            of_first,
                            of_last,
                            of_first * pointers[1][1],
                            of_first * values[0] / strength,
                            of_last * values[kLevels - 1] / strength,
                            of_first * of_first * log_strength};
    into.resize(std::size(found));
    for (std::size_t i = 0; i < into.size(); ++i) into[i].push_back(found[i]);
  };
  for (const std::uint64_t seed : test_seeds()) {
    Stream stream({seed, 0, 0}, Purpose::test, 17);
    std::vector<std::vector<double>> fresh, chained;
    for (int i = 0; i < 40'000; ++i) {
      family->draw_hyper_prior(stream);
      draw_cells(stream);
      record(fresh);
    }
    for (int i = 0; i < 40'000; ++i) {
      family->update_hyper(pointers, stream);
      draw_cells(stream);
      record(chained);
    }
    Agreement agreement;
    for (std::size_t i = 0; i < fresh.size(); ++i) {
      const Estimate a = batch_estimate(fresh[i]);
      const Estimate b = batch_estimate(chained[i]);
      agreement.check("functional " + std::to_string(i), {b.mean, std::hypot(a.error, b.error)}, a.mean);
    }
    EXPECT_TRUE(agreement.holds()) << "seed " << seed << ": " << agreement;
  }
}

TEST(HyperRotation, ManyColumnsAreUpdatedAFewAtATime) {
  const Fixture fixture({"many", "bernoulli", std::vector<CaseColumn>(60, {Kind::binary}), {}, 0.0, true}, 1,
                        40);
  const std::unique_ptr<Family> family = fixture.family().clone();
  std::vector<Stats> clusters;
  clusters.emplace_back(*family, fixture.rows, 0, 20);
  clusters.emplace_back(*family, fixture.rows, 20, 40);
  const double* const pointers[] = {clusters[0].data(), clusters[1].data()};
  Stream stream({6, 0, 0}, Purpose::test, 16);
  std::vector<double> before(family->hyper_size()), after(before.size());
  std::vector<std::size_t> updated(60);
  std::size_t all = 0;
  for (int i = 0; i < 2000; ++i) {
    family->get_hyper(before.data());
    family->update_hyper(pointers, stream);
    family->get_hyper(after.data());
    for (std::size_t j = 0; j < 60; ++j)
      if (before[2 * j] != after[2 * j]) {
        ++updated[j];
        ++all;
      }
  }
  EXPECT_LT(all, 2000U * 30U);
  EXPECT_GT(*std::min_element(updated.begin(), updated.end()), 0U) << "a column is never updated";
}

/// Tables of learned values are of limited size; beyond it everything is computed.
TEST(HyperTables, CountsBeyondThemAreComputed) {
  for (const std::string family : {"bernoulli", "categorical", "binomial", "gaussian-diagonal"}) {
    SCOPED_TRACE(family);
    const Fixture fixture(LearnedColumn::case_of(family), 1, 17000);
    const FamilyPlan learned =
        plan_family(fixture.table, fixture.codebook, family, {}, true, {.learns_hyper = true});
    const Family& expected = fixture.family();
    ASSERT_GT(learned.family->hyper_size(), 0U);
    const Stats many(*learned.family, fixture.rows, 0, 17000);
    const Stats same(expected, fixture.rows, 0, 17000);
    EXPECT_NEAR(many.log_marginal(), same.log_marginal(), 1e-9 * std::abs(same.log_marginal()));
    const Stats few(*learned.family, fixture.rows, 0, 20);
    std::vector<double> found, wanted;
    for (const auto& [own, out] :
         {std::pair{learned.family.get(), &found}, {fixture.plan.family.get(), &wanted}}) {
      const std::size_t stride = own->union_size() * kLanes;
      AlignedVector one(stride), others(stride), sums(kLanes, 0.0), cache(own->cache_size() * kLanes);
      own->fill_union(many.data(), one.data());
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        own->fill_union(lane % 2 == 0 ? many.data() : few.data(), others.data() + lane);
        own->fill_cache(lane % 2 == 0 ? many.data() : few.data(), cache.data() + lane);
      }
      if (family != "binomial" && family != "gaussian-diagonal") {  // their fixed tables reach twice the rows
        own->add_log_marginals(one.data(), others.data(), stride, 1, sums.data());
        out->insert(out->end(), sums.begin(), sums.end());
      }
      std::fill(sums.begin(), sums.end(), 0.0);
      own->add_log_predictive(fixture.rows[3], cache.data(), cache.size(), 1, {}, sums.data());
      out->insert(out->end(), sums.begin(), sums.end());
    }
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i], wanted[i], 1e-9 * std::max(1.0, std::abs(wanted[i]))) << i;
  }
}

TEST(HyperValues, OutOfRangeAreRefused) {
  LearnedColumn column("poisson");
  for (const double wrong : {0.0, -1.0, kMissing, std::numeric_limits<double>::infinity()}) {
    const double values[] = {wrong, 1.0};
    EXPECT_ANY_THROW(column.learned->set_hyper(values)) << wrong;
  }
}

}  // namespace
}  // namespace coppice::test
