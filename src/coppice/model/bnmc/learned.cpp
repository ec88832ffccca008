#include "coppice/model/bnmc/learned.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "coppice/base/error.hpp"
#include "coppice/base/extremes.hpp"
#include "coppice/base/math.hpp"
#include "coppice/base/parallel.hpp"
#include "coppice/model/state_header.hpp"

namespace coppice::bnmc {
namespace {

// A change of the form, or of what inputs experts have, is a change of the number.
constexpr StateHeader kHeader("bnmc", 2);

void put_vector(ByteWriter& out, std::span<const double> values) {
  out.put(static_cast<std::uint64_t>(values.size()));
  out.put(values.data(), values.size());
}

void get_vector(ByteReader& in, double* values, std::size_t size) {
  if (in.get<std::uint64_t>() != size)
    fail(ErrorCode::bad_data, "the run file is damaged: what was learned does not fit the data");
  in.get(values, size);
}

void put_block(ByteWriter& out, const BlockStatistics& block) {
  out.put(block.scale);
  put_vector(out, block.table);
  put_vector(out, block.totals);
}

void get_block(ByteReader& in, BlockStatistics& block) {
  block.scale = in.get<double>();
  get_vector(in, block.table.data(), block.table.size());
  get_vector(in, block.totals.data(), block.totals.size());
}

double log_odds(double p) {
  p = std::clamp(p, 1e-12, 1.0 - 1e-12);
  return std::log(p) - std::log1p(-p);
}

/// The label's evidence in the form in which slopes are learned: of the one score, or of both experts.
void add_evidence(const RowParts& parts, const Learned& learned, const Options& options,
                  const std::vector<double>& raw, std::size_t label, std::vector<double>& evidence) {
  const bool counts = options.label_model == Likelihood::multinomial;
  evidence.assign(1, 1.0);
  if (options.combine == Combine::stack) {
    const double p = parts.mixture[label];
    evidence.push_back(counts ? std::log(std::max(1e-12, parts.cardinality * p)) : log_odds(p));
    evidence.push_back(log_odds(parts.linear[label]));
    evidence.push_back(log_odds(learned.base_rates[label]));
    return;
  }
  const bool is_count = counts && options.combine != Combine::linear;
  evidence.push_back(is_count ? std::log(std::max(1e-12, raw[label])) : log_odds(raw[label]));
}

/// (3) and its variants, without anything that was calibrated.
std::vector<double> raw_scores(const RowParts& parts, const Learned& learned, const Options& options) {
  const std::size_t labels = parts.mixture.size();
  const bool counts = options.label_model == Likelihood::multinomial;
  std::vector<double> scores(labels);
  if (options.combine == Combine::linear) return parts.linear;
  double total = 0.0;
  for (std::size_t c = 0; c < labels; ++c) {
    scores[c] = parts.mixture[c];
    if (options.combine == Combine::product) scores[c] *= parts.linear[c];
    if (options.combine == Combine::logit)
      scores[c] = std::exp(log_logistic(log_odds(parts.mixture[c]) + log_odds(parts.linear[c]) -
                                        log_odds(learned.base_rates[c])));
    total += scores[c];
  }
  if (counts && total > 0.0)
    for (double& score : scores) score *= parts.cardinality / total;
  return scores;
}

/// The labels that are predicted of a row with these scores, which are infinite where a label is known;
/// `expected` is how many labels the row should have.
std::vector<bool> choose(const std::vector<double>& scores, double expected, const Options& options,
                         const Calibration& calibration) {
  const std::size_t labels = scores.size();
  std::vector<bool> chosen(labels, false);
  if (options.choice == Choice::top) {
    const std::size_t wanted =
        options.top != 0 ? options.top : static_cast<std::size_t>(std::lround(std::max(0.0, expected)));
    std::vector<std::size_t> order(labels);
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto better = [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; };
    std::stable_sort(order.begin(), order.end(), better);
    for (std::size_t i = 0; i < labels; ++i) {
      const double score = scores[order[i]];
      chosen[order[i]] = score > kMinusInfinity && (i < wanted || score == -kMinusInfinity);
    }
    return chosen;
  }
  for (std::size_t c = 0; c < labels; ++c) chosen[c] = scores[c] >= calibration.thresholds[c];
  const std::size_t best = first_maximum(scores.data(), labels);
  if (options.choice == Choice::at_least_one && scores[best] > kMinusInfinity &&
      std::find(chosen.begin(), chosen.end(), true) == chosen.end())
    chosen[best] = true;
  return chosen;
}

bool has_known_zeros(const SparseRows& labels, std::span<const std::uint32_t> which) {
  return std::any_of(which.begin(), which.end(),
                     [&](std::uint32_t row) { return labels.columns_of(row).size() < labels.columns; });
}

struct Counts {
  double hit = 0.0, chosen = 0.0, positive = 0.0, all = 0.0;
  double f1() const { return chosen + positive > 0.0 ? 2.0 * hit / (chosen + positive) : 0.0; }
};

/// The best of at most 200 thresholds for scores of known labels.
double best_threshold(std::vector<std::pair<double, double>>& cells, bool by_hamming) {
  std::sort(cells.begin(), cells.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  Counts counts;
  for (const auto& [score, y] : cells) counts.positive += y;
  double best = by_hamming ? -counts.positive : -1.0;
  double threshold = cells.empty() ? 0.5 : cells.front().first + 1.0;
  // A threshold beyond the labels that could be meant tells no two of them apart: the upper part is looked
  // at.
  const std::size_t most = std::min(cells.size(), 4 * static_cast<std::size_t>(counts.positive) + 10);
  const std::size_t stride = std::max<std::size_t>(1, most / 200);
  std::size_t next = stride;  // cells above the threshold that is looked at next, or more of them in a tie
  for (std::size_t i = 0; i < cells.size(); ++i) {
    counts.hit += cells[i].second;
    counts.chosen += 1.0;
    const bool is_tie = i + 1 < cells.size() && cells[i + 1].first == cells[i].first;
    if (is_tie || (i + 1 < next && i + 1 < most)) continue;
    next = i + 1 + stride;
    const double quality = by_hamming ? 2.0 * counts.hit - counts.chosen - counts.positive : counts.f1();
    if (quality > best) {
      best = quality;
      threshold = i + 1 < cells.size() ? 0.5 * (cells[i].first + cells[i + 1].first) : cells[i].first;
    }
    if (i + 1 >= most) break;
  }
  return threshold;
}

}  // namespace

void Calibration::put(ByteWriter& out) const {
  put_vector(out, thresholds);
  out.put(static_cast<std::uint64_t>(coefficients.size()));
  out.put(coefficients.data(), coefficients.size());
}

void Calibration::get(ByteReader& in, std::size_t labels) {
  thresholds.resize(labels);
  get_vector(in, thresholds.data(), labels);
  const auto size = in.get<std::uint64_t>();
  if (size > 4) fail(ErrorCode::bad_data, "the run file is damaged: {} slopes of a calibration", size);
  coefficients.resize(size);
  in.get(coefficients.data(), size);
}

void put_format(ByteWriter& out) { kHeader.write(out); }

void check_format(ByteReader& in) {
  kHeader.check(
      in, "this run was made by another version of bnmc, whose inputs had another meaning; fit it again");
}

Units get_units(ByteReader& in, std::size_t columns) {
  Units units{std::vector<double>(columns), std::vector<double>(columns)};
  in.get(units.origin.data(), columns);
  in.get(units.scale.data(), columns);
  return units;
}

void put_statistics(ByteWriter& out, const MixtureStatistics& statistics) {
  put_vector(out, statistics.counts);
  put_block(out, statistics.features);
  put_block(out, statistics.labels);
}

void get_statistics(ByteReader& in, const Mixture& mixture, MixtureStatistics& statistics) {
  statistics = mixture.no_statistics();
  get_vector(in, statistics.counts.data(), statistics.counts.size());
  get_block(in, statistics.features);
  get_block(in, statistics.labels);
}

void Learned::put(ByteWriter& out, std::size_t cluster_count, std::size_t labels) const {
  put_statistics(out, statistics);
  put_vector(out, cardinality.empty() ? std::vector<double>(cluster_count, 0.0) : cardinality);
  put_vector(out, base_rates.empty() ? std::vector<double>(labels, 0.0) : base_rates);
  out.put(static_cast<std::uint64_t>(experts.size()));
  for (const Expert& expert : experts) {
    out.put(expert.is_constant);
    out.put(expert.base_rate);
    out.put(expert.elbo);
    if (expert.is_constant) continue;
    out.put(static_cast<std::uint8_t>(expert.covariance.size() > 0 ? 2 : expert.variance.size() > 0 ? 1 : 0));
    out.put(expert.mean.data(), static_cast<std::size_t>(expert.mean.size()));
    out.put(expert.variance.data(), static_cast<std::size_t>(expert.variance.size()));
    out.put(expert.covariance.data(), static_cast<std::size_t>(expert.covariance.size()));
  }
}

void Learned::get(ByteReader& in, const Mixture& mixture, std::size_t labels, std::size_t inputs) {
  clusters = mixture.clusters();
  get_statistics(in, mixture, statistics);
  cardinality.resize(clusters);
  get_vector(in, cardinality.data(), cardinality.size());
  base_rates.resize(labels);
  get_vector(in, base_rates.data(), base_rates.size());
  const auto count = in.get<std::uint64_t>();
  if (count > labels)
    fail(ErrorCode::bad_data, "the run file is damaged: there are more experts than labels");
  experts.assign(count, {});
  const auto size = static_cast<Eigen::Index>(inputs);
  for (Expert& expert : experts) {
    expert.is_constant = in.get<bool>();
    expert.base_rate = in.get<double>();
    expert.elbo = in.get<double>();
    if (expert.is_constant) continue;
    const auto kind = in.get<std::uint8_t>();
    expert.mean.resize(size);
    in.get(expert.mean.data(), inputs);
    if (kind == 1) expert.variance.resize(size);
    if (kind == 1) in.get(expert.variance.data(), inputs);
    if (kind == 2) expert.covariance.resize(size, size);
    if (kind == 2) in.get(expert.covariance.data(), inputs * inputs);
  }
}

void learn_rates(const LabeledRows& rows, std::span<const std::uint32_t> which, const Mixture& mixture,
                 const Responsibilities& responsibilities, Learned& learned) {
  const std::size_t labels = rows.labels.columns;
  const std::size_t clusters = mixture.clusters();
  std::vector<double> positive(labels, 0.0);
  std::vector<double> known(labels, 0.0);
  std::vector<double> sum(clusters, 0.0);
  std::vector<double> count(clusters, 0.0);
  double all_sum = 0.0;
  double all_count = 0.0;
  // Where no label is known to be absent, the share of labels that are there says nothing of the others.
  const bool only_positives = !has_known_zeros(rows.labels, which);
  for (const std::uint32_t row : which) {
    const auto columns = rows.labels.columns_of(row);
    const auto values = rows.labels.values_of(row);
    double here = 0.0;
    double observed = static_cast<double>(labels);
    for (double& number : known) number += 1.0;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (is_missing(values[i])) {
        known[columns[i]] -= 1.0;
        observed -= 1.0;
      } else {
        positive[columns[i]] += 1.0;
        here += 1.0;
      }
    }
    if (observed == 0.0) continue;
    const double size = only_positives ? here : here * static_cast<double>(labels) / observed;
    all_sum += size;
    all_count += 1.0;
    for (std::size_t k = 0; k < clusters; ++k) {
      const double r = responsibilities[row * mixture.stride() + k];
      sum[k] += r * size;
      count[k] += r;
    }
  }
  const double average = all_count > 0.0 ? all_sum / all_count : 1.0;
  learned.cardinality.resize(clusters);
  for (std::size_t k = 0; k < clusters; ++k) learned.cardinality[k] = (sum[k] + average) / (count[k] + 1.0);
  learned.base_rates.resize(labels);
  for (std::size_t c = 0; c < labels; ++c)
    learned.base_rates[c] =
        all_count > 0.0 ? (positive[c] + 0.5) / (known[c] + 1.0) : 1.0 / static_cast<double>(labels);
}

Scorer::Scorer(const Mixture& mixture, const Learned& learned, const Options& options)
    : mixture_(mixture),
      learned_(learned),
      log_weights_(mixture.log_mean_weights(learned.statistics.counts)),
      predictive_(mixture.features(), learned.statistics.counts, learned.statistics.features),
      label_predictive_(mixture.labels(), learned.statistics.counts, learned.statistics.labels) {
  if (options.is_variational) {
    expected_log_weights_ = mixture.expected_log_weights(learned.statistics.counts);
    expected_.emplace(mixture.features(), learned.statistics.counts, learned.statistics.features);
    label_expected_.emplace(mixture.labels(), learned.statistics.counts, learned.statistics.labels);
  }
  for (std::size_t k = 0; k < mixture.clusters(); ++k) {
    const std::vector<double> means =
        mixture.labels().means(learned.statistics.counts, learned.statistics.labels, k);
    label_means_.insert(label_means_.end(), means.begin(), means.end());
  }
}

RowParts Scorer::operator()(const SparseRows& items, const SparseRows& inputs, std::size_t row,
                            const SparseRows* known) const {
  const std::size_t clusters = mixture_.clusters();
  const std::size_t labels = learned_.base_rates.size();
  RowParts parts;
  AlignedVector scores(mixture_.stride(), 0.0);
  predictive_.add(items.columns_of(row), items.values_of(row), scores.data());
  parts.clusters.resize(clusters);
  for (std::size_t k = 0; k < clusters; ++k) parts.clusters[k] = log_weights_[k] + scores[k];
  parts.log_density = log_sum_exp(parts.clusters) +
                      mixture_.features().log_jacobian(items.columns_of(row), items.values_of(row));
  if (expected_) {
    std::fill(scores.begin(), scores.end(), 0.0);
    expected_->add(items.columns_of(row), items.values_of(row), scores.data());
    for (std::size_t k = 0; k < clusters; ++k) parts.clusters[k] = expected_log_weights_[k] + scores[k];
  }
  if (known != nullptr) {
    std::fill(scores.begin(), scores.end(), 0.0);
    if (label_expected_)
      label_expected_->add(known->columns_of(row), known->values_of(row), scores.data());
    else
      label_predictive_.add(known->columns_of(row), known->values_of(row), scores.data());
    for (std::size_t k = 0; k < clusters; ++k) parts.clusters[k] += scores[k];
  }
  const double log_total = log_sum_exp(parts.clusters);
  parts.mixture.assign(labels, 0.0);
  for (std::size_t k = 0; k < clusters; ++k) {
    double& r = parts.clusters[k];
    r = std::exp(r - log_total);
    parts.cardinality += r * learned_.cardinality[k];
    if (r < 1e-9) continue;
    for (std::size_t c = 0; c < labels; ++c) parts.mixture[c] += r * label_means_[k * labels + c];
  }
  parts.linear = learned_.base_rates;
  if (learned_.experts.empty()) return parts;
  const auto which = inputs.columns_of(row);
  const auto values = inputs.values_of(row);
  const auto size = static_cast<Eigen::Index>(which.size());
  for (std::size_t c = 0; c < learned_.experts.size(); ++c) {
    const Expert& expert = learned_.experts[c];
    if (expert.is_constant) continue;
    double mean = 0.0;
    double variance = 0.0;
    for (std::size_t i = 0; i < which.size(); ++i) {
      mean += values[i] * expert.mean[which[i]];
      if (expert.variance.size() > 0) variance += values[i] * values[i] * expert.variance[which[i]];
    }
    if (expert.covariance.size() > 0) {
      Eigen::VectorXd x = Eigen::VectorXd::Zero(expert.mean.size());
      for (Eigen::Index i = 0; i < size; ++i)
        x[which[static_cast<std::size_t>(i)]] = values[static_cast<std::size_t>(i)];
      variance = x.dot(expert.covariance * x);
    }
    parts.linear[c] = probability_at(mean, variance);
  }
  return parts;
}

std::vector<double> probabilities_of(const RowParts& parts, const Learned& learned, const Options& options,
                                     const Calibration& calibration) {
  std::vector<double> result = raw_scores(parts, learned, options);
  const std::vector<double> raw = result;
  std::vector<double> evidence;
  for (std::size_t c = 0; c < result.size(); ++c) {
    if (calibration.coefficients.empty()) {
      result[c] = std::min(1.0, result[c]);
      continue;
    }
    add_evidence(parts, learned, options, raw, c, evidence);
    double sum = 0.0;
    for (std::size_t j = 0; j < evidence.size(); ++j) sum += calibration.coefficients[j] * evidence[j];
    result[c] = std::exp(log_logistic(sum));
  }
  return result;
}

std::vector<double> scores_of(const RowParts& parts, const Learned& learned, const Options& options,
                              const Calibration& calibration) {
  return options.combine == Combine::stack ? probabilities_of(parts, learned, options, calibration)
                                           : raw_scores(parts, learned, options);
}

LabelPrediction prediction_of(RowParts parts, const Learned& learned, const Options& options,
                              const Calibration& calibration, std::span<const double> known) {
  LabelPrediction result;
  result.scores = scores_of(parts, learned, options, calibration);
  result.probabilities = probabilities_of(parts, learned, options, calibration);
  std::vector<double> ranks = result.scores;
  for (std::size_t c = 0; c < known.size(); ++c) {
    if (is_missing(known[c])) continue;
    result.scores[c] = result.probabilities[c] = known[c];
    ranks[c] = known[c] != 0.0 ? -kMinusInfinity : kMinusInfinity;
  }
  result.chosen = choose(ranks, parts.cardinality, options, calibration);
  result.clusters = std::move(parts.clusters);
  result.log_density = parts.log_density;
  return result;
}

Calibration calibrate(const LabeledRows& rows, std::span<const RowParts> parts, const Learned& learned,
                      const Options& options, std::size_t threads) {
  const std::size_t labels = rows.labels.columns;
  std::vector<double> y(labels);
  const auto visit_rows = [&](auto&& on_row) {
    for (std::size_t row = 0; row < parts.size(); ++row) {
      std::fill(y.begin(), y.end(), 0.0);
      const auto which = rows.labels.columns_of(row);
      const auto values = rows.labels.values_of(row);
      for (std::size_t i = 0; i < which.size(); ++i) y[which[i]] = values[i];
      on_row(row);
    }
  };
  Calibration calibration;
  calibration.thresholds.assign(labels, options.threshold);
  const std::size_t slopes = options.combine == Combine::stack ? 4 : 2;
  // All cells of large problems would say the same as a part of the rows.
  const std::size_t every = 1 + parts.size() * labels / 400'000;
  std::vector<double> cells;
  std::vector<double> answers;
  std::vector<double> evidence;
  bool any_missing = options.unobserved_is_missing;
  visit_rows([&](std::size_t row) {
    any_missing = any_missing || std::any_of(y.begin(), y.end(), is_missing);
    if (row % every != 0) return;
    const std::vector<double> raw = raw_scores(parts[row], learned, options);
    for (std::size_t c = 0; c < labels; ++c) {
      if (is_missing(y[c])) continue;
      add_evidence(parts[row], learned, options, raw, c, evidence);
      cells.insert(cells.end(), evidence.begin(), evidence.end());
      answers.push_back(y[c]);
    }
  });
  const double positive = std::accumulate(answers.begin(), answers.end(), 0.0);
  const auto known = static_cast<double>(answers.size());
  // Where only labels that are there are known, counts by the clusters are all there is to say.
  const bool only_positive = positive == known;
  if (only_positive && any_missing) return calibration;
  // Labels that all rows have, or none has, cannot be calibrated.
  if (only_positive || positive == 0.0) {
    calibration.coefficients.assign(slopes, 0.0);
    calibration.coefficients[0] = std::log((positive + 0.5) / (known - positive + 0.5));
    return calibration;
  }
  const auto width = static_cast<Eigen::Index>(slopes);
  const auto height = static_cast<Eigen::Index>(answers.size());
  const Eigen::MatrixXd x =
      Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(cells.data(),
                                                                                               height, width);
  const Eigen::VectorXd answer = Eigen::Map<const Eigen::VectorXd>(answers.data(), height);
  ExpertOptions point;
  point.method = Method::map;
  point.tolerance = 1e-6;
  point.iterations = 200;
  Stream unused({0, 0, 0}, Purpose::hold_out);
  const Expert map = fit_full(x, answer, Eigen::VectorXd::Zero(width),
                              Eigen::VectorXd::Constant(width, 100.0), point, unused);
  calibration.coefficients.assign(map.mean.data(), map.mean.data() + map.mean.size());
  if (options.aim == Aim::fixed) return calibration;
  std::vector<std::vector<double>> scores(parts.size());
  parallel_for(parts.size(), threads,
               [&](std::size_t row) { scores[row] = scores_of(parts[row], learned, options, calibration); });
  std::vector<std::vector<std::pair<double, double>>> scored(options.aim == Aim::macro ? labels : 1);
  visit_rows([&](std::size_t row) {
    for (std::size_t c = 0; c < labels; ++c)
      if (!is_missing(y[c])) scored[options.aim == Aim::macro ? c : 0].emplace_back(scores[row][c], y[c]);
  });
  for (std::size_t c = 0; c < labels; ++c)
    if (options.aim == Aim::macro || c == 0)
      calibration.thresholds[c] =
          best_threshold(scored[options.aim == Aim::macro ? c : 0], options.aim == Aim::hamming);
    else
      calibration.thresholds[c] = calibration.thresholds[0];
  return calibration;
}

}  // namespace coppice::bnmc
