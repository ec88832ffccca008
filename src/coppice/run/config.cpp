#include "coppice/run/config.hpp"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "coppice/base/error.hpp"

namespace coppice {
namespace {

using nlohmann::json;

json settings_to_json(const Settings& settings) {
  json object = json::object();
  for (const auto& [name, value] : settings) object[name] = to_toml(value);
  return object;
}

Settings settings_from_json(const json& object) {
  Settings settings;
  for (const auto& [name, value] : object.items())
    settings.emplace(name, parse_setting(value.get<std::string>()));
  return settings;
}

/// Whole numbers only: the library would take -1 and 1e300 for some unsigned number or other.
std::uint64_t whole_number(const json& object, const std::string& name) {
  const json& value = object.at(name);
  if (!value.is_number_unsigned())
    fail(ErrorCode::bad_data, "the run's configuration has an impossible number: {}", name);
  return value.get<std::uint64_t>();
}

}  // namespace

const std::vector<Parameter>& run_parameters() {
  using Type = Parameter::Type;
  static const std::vector<Parameter> table{
      {"chains", Type::integer, "4", "independent chains", 1.0, 1000.0},
      {.name = "until",
       .type = Type::choice,
       .fallback = "",
       .help = "trusted: until the chains agree and are long enough, or the time limit; length: as --warmup, "
               "--draws and --thin say (trusted, unless one of them is given)",
       .choices = {kUntilTrusted, kUntilLength}},
      {"quick", Type::flag, "false",
       "a sketch within about two seconds: the first draws of the run, which resume continues"},
      {"warmup", Type::integer, "", "sweeps before the first kept draw (500 in a run of fixed length)", 0.0,
       1e12},
      {"draws", Type::integer, "", "kept draws per chain (1000 in a run of fixed length)", 1.0, 1e12},
      {"thin", Type::integer, "", "sweeps per kept draw (1 in a run of fixed length)", 1.0, 1e9},
      {"seed", Type::integer, "1", "the same seed gives the same draws for any number of threads", 0.0,
       9007199254740992.0},
  };
  return table;
}

const Parameter& run_parameter(std::string_view name) {
  for (const Parameter& parameter : run_parameters())
    if (parameter.name == name) return parameter;
  fail(ErrorCode::bug, "there is no run parameter '{}'", name);
}

std::string to_json(const RunConfig& config) {
  json object{{"model", config.model},   {"parameters", settings_to_json(config.parameters)},
              {"family", config.family}, {"set", settings_to_json(config.family_settings)},
              {"until", config.until},   {"end", config.end},
              {"chains", config.chains}, {"warmup", config.warmup},
              {"draws", config.draws},   {"thin", config.thin},
              {"seed", config.seed},     {"standardize", config.standardize},
              {"pca", config.pca},       {"data", config.data},
              {"id", config.id},         {"truth", config.truth},
              {"drop", config.drop},     {"merged", config.merged},
              {"labels", config.labels}, {"labels_file", config.labels_file},
              {"notes", config.notes},   {"hyper", config.hyper},
              {"keep", config.keep},     {"na_values", config.na_values}};
  if (!config.weights.empty()) object["weights"] = config.weights;
  return object.dump(2, ' ', false, json::error_handler_t::replace);
}

RunConfig config_from_json(std::string_view text) {
  try {
    const json object = json::parse(text);
    RunConfig config;
    config.model = object.at("model");
    config.parameters = settings_from_json(object.at("parameters"));
    config.family = object.at("family");
    config.family_settings = settings_from_json(object.at("set"));
    config.chains = whole_number(object, "chains");
    config.warmup = whole_number(object, "warmup");
    config.draws = whole_number(object, "draws");
    config.thin = whole_number(object, "thin");
    config.seed = whole_number(object, "seed");
    config.standardize = object.at("standardize");
    config.pca = whole_number(object, "pca");
    config.data = object.at("data");
    config.id = object.at("id");
    config.truth = object.at("truth").get<std::vector<std::string>>();
    config.drop = object.at("drop").get<std::vector<std::string>>();
    config.weights = object.value("weights", std::string());
    config.keep = object.value("keep", std::vector<std::string>());
    config.na_values = object.value("na_values", std::vector<std::string>());
    config.labels = object.value("labels", std::vector<std::string>());
    config.labels_file = object.value("labels_file", std::string());
    config.merged = object.at("merged");
    config.notes = object.value("notes", std::vector<std::string>());
    // Before there was a choice, every prior was scaled to the data and stayed so.
    config.hyper = object.value("hyper", std::string(kFixedHyper));
    if (config.hyper != kLearnedHyper && config.hyper != kFixedHyper)
      fail(ErrorCode::bad_data, "the run's configuration has an unknown word: hyper = {}", config.hyper);
    config.until = object.value("until", std::string(kUntilLength));
    config.end = object.value("end", std::string());
    if (config.until != kUntilLength && config.until != kUntilTrusted)
      fail(ErrorCode::bad_data, "the run's configuration has an unknown word: until = {}", config.until);
    for (const Parameter& parameter : run_parameters()) {
      if (parameter.type != Parameter::Type::integer) continue;
      if (parameter.name == "seed") continue;  // a program may choose any 64 bits
      const auto value = static_cast<double>(whole_number(object, parameter.name));
      if (value < parameter.low || value > parameter.high)
        fail(ErrorCode::bad_data, "the run's configuration has an impossible number: {}", parameter.name);
    }
    return config;
  } catch (const json::exception& problem) {
    fail(ErrorCode::bad_data, "the run's configuration cannot be read: {}", problem.what());
  }
}

std::size_t sweeps_per_block(std::size_t rows) {
  return std::clamp<std::size_t>(1'000'000 / std::max<std::size_t>(rows, 1), 1, 100);
}

double parse_duration(std::string_view text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const double seconds = unit.empty() || unit == "s" ? 1.0
                         : unit == "m"               ? 60.0
                         : unit == "h"               ? 3600.0
                         : unit == "d"               ? 86400.0
                                                     : 0.0;
  if (error != std::errc() || seconds == 0.0 || !(value > 0.0) || value > 1e12)
    fail(ErrorCode::usage, "'{}' is not a duration: write 90s, 15m, 2h or 1d", text);
  return value * seconds;
}

}  // namespace coppice
