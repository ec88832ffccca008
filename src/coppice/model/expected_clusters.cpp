#include "coppice/model/expected_clusters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "coppice/base/error.hpp"
#include "coppice/model/parameter_rows.hpp"
#include "coppice/prior/cluster_count.hpp"

namespace coppice {
namespace {

bool names(const Settings& settings, const std::string& name) {
  const auto learn = settings.find("learn");
  return learn != settings.end() &&
         ("," + learn->second.text + ",").find("," + name + ",") != std::string::npos;
}

}  // namespace

Parameter expected_clusters_row(const std::string& help) {
  return {.name = kExpectClusters,
          .type = Parameter::Type::numbers,
          .fallback = "",
          .help = help,
          .low = 0.0,
          .high = kNoLimit,
          .low_excluded = true,
          .count = 2,
          .least_count = 1};
}

void check_expected_clusters(const Settings& given, const std::string& concentration) {
  if (!given.contains(kExpectClusters)) return;
  if (given.contains(concentration + "-prior"))
    fail(ErrorCode::configuration,
         "--{} and --{}-prior both give the prior of the concentration: give one of them", kExpectClusters,
         concentration);
  if (given.contains(concentration) && !names(given, concentration))
    fail(ErrorCode::configuration, "--{} fixes the concentration and --{} learns it: give one of them",
         concentration, kExpectClusters);
}

Settings with_expected_clusters(const ModelEntry& model, Settings settings, std::size_t rows) {
  const auto expected = settings.find(kExpectClusters);
  const std::string& name = model.row_concentration;
  if (expected == settings.end() || !model.has_row_concentration() || settings.contains(name + "-prior"))
    return settings;
  const std::vector<double>& numbers = expected->second.numbers;
  const GammaPrior prior = numbers.size() == 1 ? match_cluster_count(rows, numbers[0])
                                               : match_cluster_count(rows, numbers[0], numbers[1]);
  settings.emplace(name + "-prior", Setting::vector({prior.shape, prior.rate}));
  // Where --learn says what is learned, the value is the one chains begin with.
  if (find_parameter(model.parameters, "learn") == nullptr) return settings;
  settings.emplace(name, Setting::number(prior.shape / prior.rate));
  if (names(settings, name)) return settings;
  Setting& learn = settings.emplace("learn", Setting{Setting::Shape::text, {}, 0, {}}).first->second;
  learn.text += (learn.text.empty() ? "" : ",") + name;
  return settings;
}

std::string expected_clusters_note(const ModelEntry& model, const ParameterValues& values, std::size_t rows) {
  if (!values.has(kExpectClusters)) return {};
  const GammaPrior prior = gamma_prior_of(values, (model.row_concentration + "-prior").c_str());
  const ClusterCountMoments moments = cluster_count_moments(prior, rows);
  return fmt::format(
      "--{} {}: {} ~ Gamma({:.4g}, {:.4g}), under which {} rows have {:.3g} clusters on average, sd {:.3g}",
      kExpectClusters, fmt::join(values.numbers(kExpectClusters), ","), model.row_concentration, prior.shape,
      prior.rate, rows, moments.mean, std::sqrt(moments.variance));
}

}  // namespace coppice
