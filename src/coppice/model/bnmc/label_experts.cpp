#include "coppice/model/bnmc/label_experts.hpp"

#include <algorithm>

#include "coppice/base/parallel.hpp"

namespace coppice::bnmc {

LabelExperts::LabelExperts(const LabeledRows& rows, const Options& options)
    : rows_(rows), options_(options), inputs_(rows, options) {}

void LabelExperts::set_design(const SparseRows& features, const Topics* topics, std::size_t threads) {
  if (!options_.has_expert) return;
  inputs_of_rows_ = inputs_.transform(features, topics, threads);
  if (!inputs_.is_full()) {
    design_ = SparseDesign(inputs_of_rows_);
    return;
  }
  const std::size_t rows = inputs_of_rows_.rows();
  dense_ = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(inputs_.size()));
  for (std::size_t row = 0; row < rows; ++row) {
    const auto which = inputs_of_rows_.columns_of(row);
    for (std::size_t i = 0; i < which.size(); ++i)
      dense_(static_cast<Eigen::Index>(row), which[i]) = inputs_of_rows_.values_of(row)[i];
  }
}

void LabelExperts::fit(std::span<const std::uint32_t> which, std::size_t from, std::size_t to,
                       const StreamName& name, std::size_t threads, const std::vector<Expert>& start,
                       Learned& learned) const {
  const std::size_t width = inputs_.is_full() ? 1 : kExpertsAtOnce;
  SparseDesign some;
  const bool is_part = !inputs_.is_full() && which.size() != design_.rows();
  if (is_part) some = SparseDesign(inputs_of_rows_, which);
  const SparseDesign& design = is_part ? some : design_;
  parallel_for((to - from + width - 1) / width, threads, [&](std::size_t part) {
    const std::size_t begin = from + part * width;
    fit_together(design, which, begin, std::min(to, begin + width), name, start, learned);
  });
}

void LabelExperts::fit_together(const SparseDesign& design, std::span<const std::uint32_t> which,
                                std::size_t from, std::size_t to, const StreamName& name,
                                const std::vector<Expert>& start, Learned& learned) const {
  std::vector<std::vector<double>> answers(to - from, std::vector<double>(which.size(), 0.0));
  for (std::size_t i = 0; i < which.size(); ++i) {
    const auto columns = rows_.labels.columns_of(which[i]);
    const auto values = rows_.labels.values_of(which[i]);
    for (auto at = std::lower_bound(columns.begin(), columns.end(), from); at != columns.end() && *at < to;
         ++at)
      answers[*at - from][i] = values[static_cast<std::size_t>(at - columns.begin())];
  }
  std::vector<std::vector<double>> fitted;
  std::vector<std::size_t> fitted_labels;
  for (std::size_t c = from; c < to; ++c) {
    double positive = 0.0;
    double known = 0.0;
    for (const double y : answers[c - from]) {
      positive += is_missing(y) ? 0.0 : y;
      known += is_missing(y) ? 0.0 : 1.0;
    }
    const auto least = static_cast<double>(options_.least_positives);
    Expert& expert = learned.experts[c];
    expert.base_rate = learned.base_rates[c];
    expert.is_constant = positive < least || known - positive < least;
    if (expert.is_constant) continue;
    fitted_labels.push_back(c);
    fitted.push_back(std::move(answers[c - from]));
  }
  if (fitted.empty()) return;
  const Eigen::VectorXd variance = inputs_.prior_variance();
  std::vector<Expert> experts;
  if (inputs_.is_full()) {
    Stream stream(name, Purpose::theta, fitted_labels.front());
    experts.push_back(fit_one(which, fitted.front(), variance, stream));
  } else {
    std::vector<const Expert*> begin;
    for (const std::size_t label : fitted_labels)
      begin.push_back(label < start.size() && !start[label].is_constant ? &start[label] : nullptr);
    const std::vector<const Eigen::VectorXd*> variances(fitted.size(), &variance);
    experts = fit_diagonal(design, fitted, variances, options_.expert, begin);
  }
  for (std::size_t i = 0; i < experts.size(); ++i) {
    experts[i].base_rate = learned.base_rates[fitted_labels[i]];
    experts[i].elbos.clear();
    learned.experts[fitted_labels[i]] = std::move(experts[i]);
  }
}

Expert LabelExperts::fit_one(std::span<const std::uint32_t> which, const std::vector<double>& answers,
                             const Eigen::VectorXd& variance, Stream& stream) const {
  std::vector<Eigen::Index> known;
  for (std::size_t i = 0; i < which.size(); ++i)
    if (!is_missing(answers[i])) known.push_back(static_cast<Eigen::Index>(i));
  Eigen::MatrixXd x(static_cast<Eigen::Index>(known.size()), dense_.cols());
  Eigen::VectorXd y(x.rows());
  for (std::size_t i = 0; i < known.size(); ++i) {
    const auto at = static_cast<std::size_t>(known[i]);
    x.row(static_cast<Eigen::Index>(i)) = dense_.row(which[at]);
    y[static_cast<Eigen::Index>(i)] = answers[at];
  }
  return fit_full(x, y, Eigen::VectorXd::Zero(dense_.cols()), variance, options_.expert, stream);
}

}  // namespace coppice::bnmc
