#include "coppice/run/effective_config.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "coppice/base/error.hpp"

namespace coppice {
namespace {

using nlohmann::json;

json json_of(const Setting& setting) {
  switch (setting.shape) {
    case Setting::Shape::text:
      return setting.text;
    case Setting::Shape::number:
      return setting.numbers[0];
    case Setting::Shape::vector:
      return setting.numbers;
    case Setting::Shape::matrix:
      break;
  }
  json rows = json::array();
  const std::size_t width = setting.rows == 0 ? 0 : setting.numbers.size() / setting.rows;
  for (std::size_t row = 0; row < setting.rows; ++row)
    rows.push_back(
        std::vector<double>(setting.numbers.begin() + static_cast<std::ptrdiff_t>(row * width),
                            setting.numbers.begin() + static_cast<std::ptrdiff_t>((row + 1) * width)));
  return rows;
}

Setting setting_of(const json& value) {
  if (value.is_string()) return {Setting::Shape::text, {}, 0, value.get<std::string>()};
  if (!value.is_array()) return Setting::number(value.get<double>());
  if (value.empty() || !value.front().is_array()) return Setting::vector(value.get<std::vector<double>>());
  Setting matrix{Setting::Shape::matrix, {}, value.size(), {}};
  for (const json& row : value) {
    const auto numbers = row.get<std::vector<double>>();
    if (numbers.size() != value.front().size())
      fail(ErrorCode::bad_data, "the rows of a matrix differ in length");
    matrix.numbers.insert(matrix.numbers.end(), numbers.begin(), numbers.end());
  }
  return matrix;
}

json json_of(const Settings& settings) {
  json object = json::object();
  for (const auto& [name, value] : settings) object[name] = json_of(value);
  return object;
}

Settings settings_of(const json& object) {
  Settings settings;
  for (const auto& [name, value] : object.items()) settings.emplace(name, setting_of(value));
  return settings;
}

/// By name one value for each column, null where a column has none.
json json_of(const std::vector<Settings>& columns) {
  json object = json::object();
  for (std::size_t column = 0; column < columns.size(); ++column)
    for (const auto& [name, value] : columns[column]) {
      json& list = object[name];
      if (list.is_null()) list = std::vector<json>(columns.size());
      list[column] = json_of(value);
    }
  return object;
}

std::vector<Settings> column_settings_of(const json& object, std::size_t columns) {
  std::vector<Settings> settings(columns);
  for (const auto& [name, list] : object.items()) {
    if (list.size() != columns) fail(ErrorCode::bad_data, "'{}' is not a value for each column", name);
    for (std::size_t column = 0; column < columns; ++column)
      if (!list[column].is_null()) settings[column].emplace(name, setting_of(list[column]));
  }
  return settings;
}

json json_of(const Encoding& encoding) {
  json object{{"log", encoding.log}, {"counts", encoding.counts}};
  if (encoding.spike) object["spike"] = *encoding.spike;
  return object;
}

Encoding encoding_of(const json& object) {
  Encoding encoding{
      .log = object.at("log").get<bool>(), .spike = {}, .counts = object.at("counts").get<bool>()};
  if (object.contains("spike")) encoding.spike = object.at("spike").get<double>();
  return encoding;
}

EffectiveConfig parse(const json& object, std::size_t columns) {
  std::vector<bool> is_planned(columns, false);
  EffectiveConfig config;
  config.parameters = settings_of(object.at("parameters"));
  for (const json& block : object.at("blocks")) {
    FamilyPlan::Block made{.family = block.at("family").get<std::string>(), .columns = {}};
    made.has_spikes = block.value("has_spikes", false);
    made.learned = block.value("learned", false);
    for (const json& number : block.at("columns")) {
      const auto column = number.get<std::size_t>();
      if (!number.is_number_unsigned() || column >= columns || is_planned[column])
        fail(ErrorCode::bad_data, "there is no column {}, or it is there twice", number.dump());
      is_planned[column] = true;
      made.columns.push_back(column);
    }
    for (std::size_t i = 0; i < made.columns.size(); ++i) {
      made.encodings.push_back(block.contains("encodings") ? encoding_of(block.at("encodings").at(i))
                                                           : Encoding{});
      made.resolutions.push_back(block.contains("resolutions") ? block.at("resolutions").at(i).get<double>()
                                                               : 0.0);
    }
    if (block.contains("spreads")) {
      made.spreads = block.at("spreads").get<std::vector<double>>();
      if (made.spreads.size() != made.columns.size())
        fail(ErrorCode::bad_data, "'spreads' is not a value for each column");
    }
    made.effective.block = settings_of(block.at("settings"));
    made.effective.columns = column_settings_of(block.at("column_settings"), made.columns.size());
    config.blocks.push_back(std::move(made));
  }
  if (!std::all_of(is_planned.begin(), is_planned.end(), [](bool planned) { return planned; }))
    fail(ErrorCode::bad_data, "a column has no family");
  return config;
}

}  // namespace

std::string to_json(const EffectiveConfig& config) {
  json blocks = json::array();
  for (const FamilyPlan::Block& block : config.blocks) {
    json encodings = json::array();
    for (const Encoding& encoding : block.encodings) encodings.push_back(json_of(encoding));
    blocks.push_back({{"family", block.family},
                      {"columns", block.columns},
                      {"has_spikes", block.has_spikes},
                      {"learned", block.learned},
                      {"encodings", std::move(encodings)},
                      {"resolutions", block.resolutions},
                      {"settings", json_of(block.effective.block)},
                      {"column_settings", json_of(block.effective.columns)}});
    if (!block.spreads.empty()) blocks.back()["spreads"] = block.spreads;
  }
  const json object{{"parameters", json_of(config.parameters)}, {"blocks", std::move(blocks)}};
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

EffectiveConfig effective_from_json(std::string_view text, std::size_t columns) {
  constexpr const char* kCannotRead = "the run's effective configuration cannot be read";
  try {
    return parse(json::parse(text), columns);
  } catch (const json::exception& problem) {
    fail(ErrorCode::bad_data, "{}: {}", kCannotRead, problem.what());
  } catch (const Error& problem) {
    fail(ErrorCode::bad_data, "{}: {}", kCannotRead, problem.what());
  }
}

}  // namespace coppice
