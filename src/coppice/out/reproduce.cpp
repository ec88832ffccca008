#include "coppice/out/reproduce.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "coppice/model/registry.hpp"

namespace coppice {
namespace {

Setting text_of(std::string text) { return {Setting::Shape::text, {}, 0, std::move(text)}; }
Setting number_of(auto value) { return Setting::number(static_cast<double>(value)); }

/// Flags other than --set with their values, in the order of the manual; lists are flags given several times.
std::vector<std::pair<std::string, std::vector<Setting>>> flags_of(const RunConfig& config) {
  std::vector<std::pair<std::string, std::vector<Setting>>> flags;
  const auto add = [&](const std::string& name, Setting value) {
    flags.push_back({name, {std::move(value)}});
  };
  const auto add_texts = [&](const std::string& name, const std::vector<std::string>& texts) {
    if (texts.empty()) return;
    flags.push_back({name, {}});
    for (const std::string& text : texts) flags.back().second.push_back(text_of(text));
  };
  if (!config.id.empty()) add("id", text_of(config.id));
  if (!config.weights.empty()) add("weights", text_of(config.weights));
  add_texts("truth", config.truth);
  add_texts("drop", config.drop);
  add_texts("keep-column", config.keep);
  add_texts("na-values", config.na_values);
  add_texts("labels", config.labels);
  if (!config.labels_file.empty()) add("labels-file", text_of(config.labels_file));
  if (config.family != "auto") add("family", text_of(config.family));
  if (config.hyper != kLearnedHyper) add("hyper", text_of(config.hyper));
  if (config.pca > 0) add("pca", number_of(config.pca));
  for (const auto& [name, value] : config.parameters) add(name, value);
  if (model_by_name(config.model).runs_once()) return flags;
  add("chains", number_of(config.chains));
  add("warmup", number_of(config.warmup));
  add("draws", number_of(config.draws));
  add("thin", number_of(config.thin));
  return flags;
}

std::string shell_quoted(const std::string& text) {
  constexpr std::string_view kSafe =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";
  if (!text.empty() && text.find_first_not_of(kSafe) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

/// A value as it is typed after a flag.
std::string typed(const Setting& value) {
  if (value.shape == Setting::Shape::text) return value.text;
  if (value.shape == Setting::Shape::vector) return fmt::format("{}", fmt::join(value.numbers, ","));
  return to_toml(value);
}

std::string toml_list(const std::vector<Setting>& values) {
  std::string list;
  for (const Setting& value : values) list += (list.empty() ? "" : ", ") + to_toml(value);
  return "[" + list + "]";
}

}  // namespace

std::string fit_command(const RunConfig& config, const std::string& output) {
  std::string command = fmt::format("coppice fit {} {}", config.model, shell_quoted(config.data));
  for (const auto& [name, values] : flags_of(config))
    for (const Setting& value : values) command += fmt::format(" --{} {}", name, shell_quoted(typed(value)));
  if (config.standardize) command += " --standardize";
  for (const auto& [name, value] : config.family_settings)
    command += fmt::format(" --set {}", shell_quoted(fmt::format("{}={}", name, to_toml(value))));
  return command + fmt::format(" --seed {} -o {}", config.seed, shell_quoted(output));
}

std::string fit_toml(const RunConfig& config, const std::string& output) {
  std::string text = fmt::format("model = {}\ndata = {}\noutput = {}\n", to_toml(text_of(config.model)),
                                 to_toml(text_of(config.data)), to_toml(text_of(output)));
  for (const auto& [name, values] : flags_of(config)) {
    const bool several =
        name == "truth" || name == "drop" || name == "keep-column" || name == "na-values" || name == "labels";
    text += fmt::format("{} = {}\n", name, several ? toml_list(values) : to_toml(values.front()));
  }
  text += fmt::format("seed = {}\n", config.seed);
  if (config.standardize) text += "standardize = true\n";
  if (config.family_settings.empty()) return text;
  text += "\n[set]\n";
  for (const auto& [name, value] : config.family_settings)
    text += fmt::format("{} = {}\n", name, to_toml(value));
  return text;
}

}  // namespace coppice
