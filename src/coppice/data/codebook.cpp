// Writing and reading the TOML form of a codebook. Hyper-parameters go through the one reader of settings, so
// that a value means the same here and after --set.
#include "coppice/data/codebook.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "coppice/base/error.hpp"
#include "coppice/base/toml.hpp"
#include "coppice/base/toml_text.hpp"
#include "coppice/data/text.hpp"

namespace coppice {
namespace {

constexpr std::string_view kHeading =
    "# What each column means. Edit and pass it back with --codebook; columns not listed here are "
    "inferred.\n#   name    the column in the file's header\n#   kind    real | count | binary | category\n# "
    "  levels  category: every value that may occur, in order; binary: the texts of 0 and 1\n#   family  the "
    "distribution of the column (see `coppice families`); any further key is one of its settings\n#   "
    "transform       \"log\": real columns of positive numbers on the log scale\n#   hurdle          one "
    "value, such as 0, that is modeled separately\n#   resolution      the step that real numbers were "
    "rounded to\n#   missing         \"informative\": whether a cell is missing becomes a column of its "
    "own\n#   missing_values  cells that mean missing, such as [-999, \"unknown\"]\n#   unit            of "
    "the numbers; for dates the day or time that they are counted from\n";

std::string quoted(const std::string& text) { return to_toml(Setting{Setting::Shape::text, {}, 0, text}); }

std::string key_text(const std::string& key) {
  const auto bare = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  return !key.empty() && std::all_of(key.begin(), key.end(), bare) ? key : quoted(key);
}

bool is_reserved(std::string_view key) {
  constexpr std::array<std::string_view, 11> kReserved = {"name",           "kind",   "levels",     "family",
                                                          "transform",      "hurdle", "resolution", "missing",
                                                          "missing_values", "unit",   "reason"};
  return std::find(kReserved.begin(), kReserved.end(), key) != kReserved.end();
}

/// Whole numbers stand without quotes; other tokens keep their spelling in quotes.
std::string token_text(const std::string& token) {
  const std::string_view digits = std::string_view(token).substr(token.starts_with('-') ? 1 : 0);
  const bool whole = !digits.empty() && digits.size() <= 15 &&
                     std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; }) &&
                     (digits[0] != '0' || token == "0");
  return whole ? token : quoted(token);
}

// A value as TOML again. (The library's own formatter computes line lengths from logarithms, which is
// undefined for numbers below one.) Tables and dates, which no setting can be, are only hinted at.
std::string source_text(const toml::node& node) {
  if (node.is_string()) return quoted(*node.value<std::string>());
  if (node.is_boolean()) return *node.value<bool>() ? "true" : "false";
  if (node.is_integer()) return std::to_string(*node.value<std::int64_t>());
  if (node.is_floating_point()) return fmt::format("{}", *node.value<double>());
  const toml::array* array = node.as_array();
  if (array == nullptr) return node.is_table() ? "{...}" : "a date or time";
  std::string out = "[";
  for (const toml::node& element : *array) out += (out.size() == 1 ? "" : ", ") + source_text(element);
  return out + "]";
}

std::size_t line_of(std::string_view text, std::size_t at) {
  return 1 + static_cast<std::size_t>(
                 std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

// One [[column]] table with the place needed for messages.
class SpecReader {
 public:
  SpecReader(const toml::table& table, const std::string& file_name) : table_(table), file_(file_name) {}

  ColumnSpec read() {
    if (!table_.contains("name")) fail_at(table_, "a [[column]] has no name; add name = \"...\"");
    spec_.name = text_of("name");
    if (spec_.name.empty())
      fail_at(*table_.get("name"), "the name is empty; write the name in the file's header");
    if (!table_.contains("kind"))
      fail_at(table_, place() + "it has no kind; add kind = \"real\", \"count\", \"binary\" or \"category\"");
    read_kind();
    if (table_.contains("family")) spec_.family = text_of("family");
    read_levels();
    read_shape();
    read_missing();
    if (table_.contains("unit")) spec_.unit = text_of("unit");
    if (table_.contains("reason")) spec_.reason = text_of("reason");
    for (const auto& [key, node] : table_)
      if (!is_reserved(key.str())) read_setting(std::string(key.str()), node);
    return std::move(spec_);
  }

 private:
  std::string place() const { return fmt::format("column '{}': ", text::display(spec_.name)); }

  [[noreturn]] void fail_at(const toml::node& node, const std::string& problem) const {
    fail(ErrorCode::bad_data, "{}:{}: {}", file_, node.source().begin.line, problem);
  }

  std::string text_of(std::string_view key) const {
    const toml::node& node = *table_.get(key);
    if (!node.is_string())
      fail_at(node, fmt::format("{}{} is {}, not a text; put it in quotes", spec_.name.empty() ? "" : place(),
                                key, text::display(source_text(node))));
    return *node.value<std::string>();
  }

  void read_kind() {
    const std::string kind = text_of("kind");
    try {
      spec_.kind = kind_from_name(kind);
    } catch (const Error&) {
      fail_at(*table_.get("kind"), fmt::format("{}kind '{}' is not one of real, count, binary, category",
                                               place(), text::display(kind)));
    }
  }

  void read_levels() {
    const toml::node* node = table_.get("levels");
    if (node == nullptr) return;
    const toml::array* array = node->as_array();
    if (array == nullptr) fail_at(*node, place() + "levels is not an array; write levels = [\"a\", \"b\"]");
    if (spec_.kind != Kind::category && spec_.kind != Kind::binary)
      fail_at(*node, fmt::format("{}a {} column has no levels; remove them or make it a category", place(),
                                 kind_name(spec_.kind)));
    std::set<std::string> seen;
    for (const toml::node& element : *array) {
      // Whole numbers are taken as their digits; other numbers have no single spelling.
      if (!element.is_string() && !element.is_integer())
        fail_at(element, fmt::format("{}level {} is not a text; put it in quotes", place(),
                                     text::display(source_text(element))));
      spec_.levels.push_back(element.is_string() ? *element.value<std::string>()
                                                 : std::to_string(*element.value<std::int64_t>()));
      const std::string& level = spec_.levels.back();
      if (level.empty())
        fail_at(element, place() + "a level is the empty text, which means missing; remove it");
      if (!seen.insert(level).second)
        fail_at(element,
                fmt::format("{}level '{}' is listed twice; remove one", place(), text::display(level)));
    }
    if (spec_.kind == Kind::binary && !spec_.levels.empty() && spec_.levels.size() != 2)
      fail_at(*node,
              fmt::format(
                  "{}a binary column has 2 levels, not {}; list the texts of 0 and 1 or make it a category",
                  place(), spec_.levels.size()));
  }

  /// A finite number, if the key is there.
  std::optional<double> number_of(std::string_view key) const {
    const toml::node* node = table_.get(key);
    if (node == nullptr) return std::nullopt;
    const std::optional<double> value = node->is_number() ? node->value<double>() : std::nullopt;
    if (!value || !std::isfinite(*value))
      fail_at(*node, fmt::format("{}{} = {} is not a finite number", place(), key,
                                 text::display(source_text(*node))));
    return value;
  }

  void read_shape() {
    if (const toml::node* node = table_.get("transform"); node != nullptr) {
      spec_.transform = text_of("transform");
      if (spec_.transform != "log" && spec_.transform != "none")
        fail_at(*node, fmt::format("{}transform '{}' is not one of log, none", place(),
                                   text::display(spec_.transform)));
      if (spec_.transform == "none") spec_.transform.clear();
      if (!spec_.transform.empty() && spec_.kind != Kind::real)
        fail_at(*node, fmt::format("{}a {} column has no transform; remove it or make the column real",
                                   place(), kind_name(spec_.kind)));
    }
    spec_.hurdle = number_of("hurdle");
    if (spec_.hurdle && spec_.kind != Kind::real && spec_.kind != Kind::count)
      fail_at(*table_.get("hurdle"),
              fmt::format("{}a {} column has no hurdle; remove it or make the column real or count", place(),
                          kind_name(spec_.kind)));
    spec_.resolution = number_of("resolution");
    if (spec_.resolution && !(*spec_.resolution > 0.0))
      fail_at(*table_.get("resolution"),
              fmt::format("{}resolution = {} is not a step above 0", place(), *spec_.resolution));
    if (spec_.resolution && spec_.kind != Kind::real)
      fail_at(*table_.get("resolution"),
              fmt::format("{}a {} column has no resolution; remove it or make the column real", place(),
                          kind_name(spec_.kind)));
  }

  void read_missing() {
    if (const toml::node* node = table_.get("missing"); node != nullptr) {
      spec_.missing = text_of("missing");
      if (spec_.missing != "informative" && spec_.missing != "ignorable")
        fail_at(*node, fmt::format("{}missing '{}' is not one of informative, ignorable", place(),
                                   text::display(spec_.missing)));
      if (spec_.missing == "ignorable") spec_.missing.clear();
    }
    const toml::node* node = table_.get("missing_values");
    if (node == nullptr) return;
    const toml::array* array = node->as_array();
    if (array == nullptr)
      fail_at(*node, place() + "missing_values is not an array; write missing_values = [-999]");
    for (const toml::node& element : *array) {
      if (!element.is_string() && !element.is_number())
        fail_at(element, fmt::format("{}missing value {} is neither a number nor a text; put it in quotes",
                                     place(), text::display(source_text(element))));
      const std::string token = element.is_string() ? *element.value<std::string>() : source_text(element);
      if (std::find(spec_.levels.begin(), spec_.levels.end(), token) != spec_.levels.end())
        fail_at(element, fmt::format("{}'{}' is a level and a missing value; remove one", place(),
                                     text::display(token)));
      spec_.missing_values.push_back(token);
    }
  }

  void read_setting(const std::string& key, const toml::node& node) {
    const std::string value = source_text(node);
    try {
      spec_.settings.emplace(key, parse_setting(value));
    } catch (const Error&) {
      fail_at(node, fmt::format("{}{} = {} is not a number, an array of numbers, a matrix or a text", place(),
                                text::display(key), text::display(value)));
    }
  }

  const toml::table& table_;
  const std::string& file_;
  ColumnSpec spec_;
};

}  // namespace

const ColumnSpec* Codebook::find(std::string_view name) const {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [name](const ColumnSpec& spec) { return spec.name == name; });
  return found == columns.end() ? nullptr : &*found;
}

bool ColumnSpec::operator==(const ColumnSpec& other) const {
  const auto content = [](const ColumnSpec& spec) {
    return std::tie(spec.name, spec.kind, spec.levels, spec.family, spec.settings, spec.transform,
                    spec.hurdle, spec.resolution, spec.missing, spec.missing_values, spec.unit, spec.reason);
  };
  return content(*this) == content(other);
}

std::string indicator_name(std::string_view column) { return fmt::format("{}_missing", column); }

std::string to_toml(const Codebook& codebook, Reasons reasons) {
  std::string out(kHeading);
  const auto add_list = [&](std::string_view key, const std::vector<std::string>& texts, auto text_of) {
    if (texts.empty()) return;
    out += fmt::format("{} = [", key);
    for (std::size_t i = 0; i < texts.size(); ++i) out += (i == 0 ? "" : ", ") + text_of(texts[i]);
    out += "]\n";
  };
  const auto add_text = [&](std::string_view key, const std::string& text) {
    if (!text.empty()) out += fmt::format("{} = {}\n", key, quoted(text));
  };
  const auto add_number = [&](std::string_view key, const std::optional<double>& number) {
    if (number) out += fmt::format("{} = {}\n", key, to_toml(Setting::number(*number)));
  };
  for (const ColumnSpec& spec : codebook.columns) {
    out += "\n[[column]]\n";
    if (reasons == Reasons::comments && !spec.reason.empty())
      out += fmt::format("# {}\n", text::display(spec.reason, 400));
    out += fmt::format("name = {}\nkind = \"{}\"\n", quoted(spec.name), kind_name(spec.kind));
    add_list("levels", spec.levels, quoted);
    add_text("family", spec.family);
    add_text("transform", spec.transform);
    add_number("hurdle", spec.hurdle);
    add_number("resolution", spec.resolution);
    add_text("missing", spec.missing);
    add_list("missing_values", spec.missing_values, token_text);
    add_text("unit", spec.unit);
    if (reasons == Reasons::keys) add_text("reason", spec.reason);
    for (const auto& [key, setting] : spec.settings)
      out += fmt::format("{} = {}\n", key_text(key), to_toml(setting));
  }
  return out;
}

Codebook parse_codebook(std::string_view text, const std::string& file_name) {
  if (!text::is_valid_utf8(text))
    fail(ErrorCode::bad_data, "{}:1: the codebook is not UTF-8; save it as UTF-8", file_name);
  if (const std::size_t stray = find_stray_character(text); stray != std::string_view::npos)
    fail(ErrorCode::bad_data,
         "{}:{}: value '{}' begins with a letter that TOML allows only in quotes; put it in quotes",
         file_name, line_of(text, stray),
         text::display(text.substr(stray, text.substr(stray).find('\n')), 20));
  if (const std::size_t deep = find_deep_nesting(text); deep != std::string_view::npos)
    fail(ErrorCode::bad_data, "{}:{}: nested too deeply for a codebook", file_name, line_of(text, deep));
  const toml::parse_result result = toml::parse(text, file_name);
  if (!result) {
    const toml::source_position where = result.error().source().begin;
    fail(ErrorCode::bad_data, "{}:{}: column {}: {}; correct the TOML there", file_name, where.line,
         where.column, text::display(result.error().description(), 200));
  }
  Codebook codebook;
  codebook.source = file_name;
  std::set<std::string> names;
  for (const auto& [key, node] : result.table()) {
    const toml::array* tables = node.as_array();
    if (key.str() != "column" || tables == nullptr)
      fail(ErrorCode::bad_data, "{}:{}: '{}' is unknown here; a codebook is made of [[column]] tables",
           file_name, key.source().begin.line, text::display(key.str()));
    for (const toml::node& element : *tables) {
      if (!element.is_table())
        fail(ErrorCode::bad_data, "{}:{}: a column is not a table; write [[column]] and its keys below",
             file_name, element.source().begin.line);
      ColumnSpec spec = SpecReader(*element.as_table(), file_name).read();
      if (!names.insert(spec.name).second)
        fail(ErrorCode::bad_data, "{}:{}: column '{}' is described twice; remove one", file_name,
             element.source().begin.line, text::display(spec.name));
      codebook.columns.push_back(std::move(spec));
    }
  }
  return codebook;
}

Table empty_table(const Codebook& codebook) {
  Table table;
  for (const ColumnSpec& spec : codebook.columns)
    table.columns.push_back({spec.name, spec.kind, {}, spec.levels, text::parse_date_unit(spec.unit)});
  return table;
}

}  // namespace coppice
