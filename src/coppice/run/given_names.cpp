#include "coppice/run/given_names.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "coppice/base/error.hpp"
#include "coppice/data/text.hpp"

namespace coppice {

using nlohmann::json;

std::string to_json(std::span<const GivenName> names) {
  json list = json::array();
  for (const GivenName& given : names)
    list.push_back({{"level", given.level}, {"name", given.name}, {"rows", given.rows}});
  return list.dump();
}

std::vector<GivenName> given_names_from_json(std::string_view text, std::size_t rows) {
  std::vector<GivenName> names;
  try {
    for (const json& entry : json::parse(text))
      names.push_back({entry.at("level"), entry.at("name"), entry.at("rows")});
  } catch (const json::exception& problem) {
    fail(ErrorCode::bad_data, "the names of clusters in the run file are damaged: {}", problem.what());
  }
  for (const GivenName& given : names) {
    const bool is_ascending =
        std::adjacent_find(given.rows.begin(), given.rows.end(), std::greater_equal<>()) == given.rows.end();
    if (given.level == 0 || given.name.empty() || given.rows.empty() || !is_ascending ||
        given.rows.back() >= rows)
      fail(ErrorCode::bad_data, "the names of clusters in the run file are damaged: '{}' fits no cluster",
           text::display(given.name));
  }
  return names;
}

std::string checked_name(std::string_view name) {
  constexpr std::size_t kLongest = 200;
  const std::string_view trimmed = text::trim(name);
  if (trimmed.size() > kLongest)
    fail(ErrorCode::usage, "the name '{}' has {} bytes; at most {} are kept", text::display(trimmed),
         trimmed.size(), kLongest);
  const bool has_control = std::any_of(trimmed.begin(), trimmed.end(),
                                       [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; });
  if (has_control || !text::is_valid_utf8(trimmed))
    fail(ErrorCode::usage, "the name '{}' is not one line of UTF-8 text", text::display(trimmed));
  return std::string(trimmed);
}

}  // namespace coppice
