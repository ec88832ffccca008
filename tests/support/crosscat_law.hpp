// The posterior of views by enumeration: every partition of the columns, with every partition of the rows in
// each block. For small tables (205 states of 3 x 3, 2,330 of 4 rows x 3 columns).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "coppice/base/math.hpp"
#include "coppice/model/crosscat/state.hpp"
#include "coppice/model/registry.hpp"
#include "laws/law_case.hpp"
#include "support/chains.hpp"
#include "support/sampling_error.hpp"

namespace coppice::test {

inline std::string key_of(const Views& views) {
  std::string key = partition_key(views.columns);
  for (const Labels& labels : views.rows) {
    key += '/';
    key += partition_key(labels);
  }
  return key;
}

class CrosscatLaw {
 public:
  /// Probabilities proportional to (prior times likelihood) to the power.
  CrosscatLaw(const Family& family, const Rows& rows, double alpha_rows, double alpha_columns,
              double power = 1.0)
      : CrosscatLaw(
            family, rows,
            [=](const Views& views) {
              double total = log_crp(views.columns, alpha_columns);
              for (const Labels& labels : views.rows) total += log_crp(labels, alpha_rows);
              return power * total;
            },
            power) {}

  /// Probabilities proportional to exp(log_prior(state)) times the likelihood to the power.
  CrosscatLaw(const Family& family, const Rows& rows, const std::function<double(const Views&)>& log_prior,
              double power)
      : CrosscatLaw(
            family.width(), rows.size(), log_prior,
            [&](std::size_t column, const Labels& labels) {
              const std::size_t alone[] = {column};
              const std::unique_ptr<Family> own = family.of_cells(alone);
              double total = 0.0;
              for (std::size_t c = 0; c < cluster_sizes(labels).size(); ++c) {
                Stats stats(*own);
                for (std::size_t row = 0; row < rows.size(); ++row)
                  if (labels[row] == static_cast<Label>(c)) stats.add(rows[row] + column);
                total += stats.log_marginal();
              }
              return total;
            },
            power) {}

  /// The same with `log_cells(column, labels)`, log p(column | rows' partition), from elsewhere.
  CrosscatLaw(std::size_t width, std::size_t rows, const std::function<double(const Views&)>& log_prior,
              const std::function<double(std::size_t, const Labels&)>& log_cells, double power) {
    std::vector<Labels> row_partitions;
    for_each_partition(rows, [&](std::span<const Label> labels, std::size_t) {
      row_partitions.emplace_back(labels.begin(), labels.end());
    });
    std::vector<std::vector<double>> log_column(width);
    for (std::size_t column = 0; column < width; ++column)
      for (const Labels& labels : row_partitions) log_column[column].push_back(log_cells(column, labels));
    for_each_partition(width, [&](std::span<const Label> columns, std::size_t count) {
      const Labels own(columns.begin(), columns.end());
      std::vector<std::size_t> chosen(count, 0);
      std::function<void(std::size_t, double)> choose = [&](std::size_t view, double log_joint) {
        if (view == count) {
          Views views{own, {}};
          for (const std::size_t partition : chosen) views.rows.push_back(row_partitions[partition]);
          states_.push_back(views);
          log_joint_.push_back(log_joint + log_prior(views) / power);
          return;
        }
        for (std::size_t partition = 0; partition < row_partitions.size(); ++partition) {
          chosen[view] = partition;
          double term = 0.0;
          for (std::size_t column = 0; column < own.size(); ++column)
            if (own[column] == static_cast<Label>(view)) term += log_column[column][partition];
          choose(view + 1, log_joint + term);
        }
      };
      choose(0, 0.0);
    });
    std::vector<double> terms;
    for (const double log_joint : log_joint_) terms.push_back(power * log_joint);
    log_evidence_ = log_sum_exp(terms);
    for (std::size_t i = 0; i < states_.size(); ++i)
      probability_[key_of(states_[i])] = std::exp(terms[i] - log_evidence_);
  }

  static double log_crp(const Labels& labels, double alpha) {
    double total = log_gamma(alpha) - log_gamma(alpha + static_cast<double>(labels.size()));
    for (const std::size_t size : cluster_sizes(labels))
      total += std::log(alpha) + log_gamma(static_cast<double>(size));
    return total;
  }

  const std::vector<Views>& states() const { return states_; }
  double log_joint(std::size_t state) const { return log_joint_[state]; }
  double log_evidence() const { return log_evidence_; }  // of the powered target
  double probability(const Views& views) const { return probability_.at(key_of(views)); }
  const std::map<std::string, double>& probabilities() const { return probability_; }

 private:
  std::vector<Views> states_;
  std::vector<double> log_joint_;
  double log_evidence_ = 0.0;
  std::map<std::string, double> probability_;
};

/// Frequencies of states in batches, against the law: every state that is likely enough to be judged, and the
/// averages that people look at (columns together, rows together in the view of a column).
class CrosscatFrequencies {
 public:
  CrosscatFrequencies(const CrosscatLaw& law, std::size_t draws) : law_(law), per_batch_(draws / kBatches) {}

  void add(const Views& views) {
    const std::size_t batch = std::min(seen_++ / per_batch_, kBatches - 1);
    const auto count = [&](const std::string& what) {
      std::vector<double>& batches = counts_[what];
      if (batches.empty()) batches.assign(kBatches, 0.0);
      batches[batch] += 1.0 / static_cast<double>(per_batch_);
    };
    for (const std::string& what : events(views)) count(what);
  }

  Agreement agreement() const {
    std::map<std::string, double> truth;
    for (const Views& state : law_.states())
      for (const std::string& what : events(state)) truth[what] += law_.probability(state);
    Agreement agreement;
    for (const auto& [what, probability] : truth) {
      if (probability * static_cast<double>(seen_) < 400.0) continue;
      const auto found = counts_.find(what);
      const std::vector<double> none(kBatches, 0.0);
      agreement.check(what, estimate_from_batches(found == counts_.end() ? none : found->second),
                      probability);
    }
    return agreement;
  }

 private:
  static std::vector<std::string> events(const Views& views) {
    std::vector<std::string> list{key_of(views), "views " + std::to_string(views.count())};
    for (std::size_t a = 0; a < views.columns.size(); ++a) {
      for (std::size_t b = a + 1; b < views.columns.size(); ++b)
        if (views.columns[a] == views.columns[b])
          list.push_back("columns " + std::to_string(a) + std::to_string(b));
      const Labels& rows = views.rows[static_cast<std::size_t>(views.columns[a])];
      for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t j = i + 1; j < rows.size(); ++j)
          if (rows[i] == rows[j])
            list.push_back("column " + std::to_string(a) + " rows " + std::to_string(i) + std::to_string(j));
    }
    return list;
  }

  const CrosscatLaw& law_;
  std::size_t per_batch_, seen_ = 0;
  std::map<std::string, std::vector<double>> counts_;
};

/// The kernels by themselves and together, as settings of the model.
struct CrosscatKernel {
  std::string name;
  std::vector<std::string> settings;
  bool is_binary = false;  // on a table of yes/no columns without gaps, whose offers of new views differ
};
inline Fixture crosscat_table(const CrosscatKernel& kernel) {
  if (kernel.is_binary) return Fixture({"cross", "auto", {{Kind::binary}, {Kind::binary}}, {}, 0.0}, 3, 4);
  return Fixture({"cross", "auto", {{Kind::binary}, {Kind::category, 3}, {Kind::real}}, {}, 0.15}, 3, 3);
}
/// Those that are tried with learned hyper-parameters too.
inline std::vector<CrosscatKernel> learned_crosscat_kernels() {
  return {{"learned_all", {}},
          {"learned_columns_and_rows", {"split-merge-moves=0"}},
          {"learned_tempered", {"temperatures=[1, 0.6]"}}};
}
inline std::vector<CrosscatKernel> crosscat_kernels() {
  const std::vector<std::string> no_rows{"row-sweeps=0", "split-merge-moves=0", "view-moves=0"};
  const std::vector<std::string> view_moves{"row-sweeps=0", "split-merge-moves=0", "column-sweeps=0"};
  const auto with = [](std::vector<std::string> base, const std::string& more) {
    base.push_back(more);
    return base;
  };
  return {{"all", {}},
          {"columns_alone", no_rows},
          {"columns_alone_prior", with(no_rows, "auxiliary=\"prior\"")},
          {"columns_alone_always_offered", with(no_rows, "new-view-share=1")},
          {"columns_alone_one_slot", with(no_rows, "auxiliaries=1")},
          {"columns_alone_two_slots", with(no_rows, "auxiliaries=2")},
          {"columns_alone_four_slots", with(no_rows, "auxiliaries=4")},
          {"columns_alone_four_slots_binary", with(no_rows, "auxiliaries=4"), true},
          {"view_moves_and_rows", {"column-sweeps=0"}},
          {"view_moves_alone", with(view_moves, "view-moves=3")},
          {"columns_and_rows", {"split-merge-moves=0"}},
          {"columns_and_split_merge", {"row-sweeps=0"}},
          {"random_launch", {"row-sweeps=0", "split-merge-launch=\"random\"", "split-merge-scans=5"}},
          {"tempered", {"temperatures=[1, 0.6]"}},
          {"three_temperatures", {"temperatures=[1, 0.8, 0.5]"}}};
}

inline Settings crosscat_settings(const CrosscatKernel& kernel) {
  std::vector<std::string> settings{"alpha-rows=0.8", "alpha-columns=1.3"};
  settings.insert(settings.end(), kernel.settings.begin(), kernel.settings.end());
  return settings_from(settings);
}

/// Against another law than that of these rows.
inline Agreement compare_cross(const CrosscatLaw& law, const CrosscatKernel& kernel, const Family& family,
                               const Rows& rows, std::uint64_t seed, std::size_t draws) {
  const ModelEntry& model = model_by_name("crosscat");
  const Problem problem{&family, &rows, ParameterValues(model.parameters, crosscat_settings(kernel))};
  const std::unique_ptr<Inference> sampler = model.make_inference(problem);
  sampler->init({seed, 0, 0});
  CrosscatFrequencies frequencies(law, draws);
  for (std::size_t sweep = 1; sweep <= 100 + draws; ++sweep) {
    sampler->step({seed, 0, sweep});
    if (sweep > 100) frequencies.add(model.views(problem, sampler->payload()));
  }
  return frequencies.agreement();
}

inline Agreement compare_cross(const CrosscatKernel& kernel, const Family& family, const Rows& rows,
                               std::uint64_t seed, std::size_t draws) {
  return compare_cross(CrosscatLaw(family, rows, 0.8, 1.3), kernel, family, rows, seed, draws);
}

}  // namespace coppice::test
