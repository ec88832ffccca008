#include "coppice/app/arguments.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "coppice/app/preflight.hpp"
#include "coppice/base/close_names.hpp"
#include "coppice/base/toml.hpp"
#include "coppice/base/toml_text.hpp"
#include "coppice/data/load.hpp"
#include "coppice/family/adopt_kinds.hpp"
#include "coppice/model/expected_clusters.hpp"
#include "coppice/model/registry.hpp"
#include "coppice/post/row_order.hpp"

namespace coppice::app {

void ParameterFlags::add_to(CLI::App& command, std::span<const Parameter> table, const std::string& group) {
  for (const Parameter& parameter : table) {
    std::string help = parameter.help;
    if (!parameter.fallback.empty()) help += fmt::format(" [{}]", parameter.fallback);
    if (parameter.type == Parameter::Type::choice) help += fmt::format(" ({})", describe_range(parameter));
    if (texts_.count(parameter.name) != 0) {
      // Two models share the flag.
      CLI::Option* option = command.get_option("--" + parameter.name);
      option->description(fmt::format("{}; {}: {}", option->get_description(), group, help));
      continue;
    }
    CLI::Option* option =
        command.add_option("--" + parameter.name, texts_[parameter.name], help)->group(group);
    // The default string is what CLI11 takes for a flag that stands alone.
    if (parameter.type == Parameter::Type::flag)
      option->expected(0, 1)->type_name("BOOL")->default_str("true");
    for (const ParameterAlias& alias : parameter.aliases) {
      if (texts_.count(alias.name) != 0) continue;
      CLI::Option* earlier =
          command.add_option("--" + alias.name, texts_[alias.name],
                             "earlier form of --" + parameter.name + ", for one more release");
      earlier->group(group);
      if (alias.is_flag) earlier->expected(0, 1)->type_name("BOOL")->default_str("true");
    }
  }
}

Settings ParameterFlags::values(std::span<const Parameter> table) const {
  Settings settings;
  for (const Parameter& parameter : table) {
    std::vector<std::string> names{parameter.name};
    for (const ParameterAlias& alias : parameter.aliases) names.push_back(alias.name);
    for (const std::string& name : names) {
      const auto text = texts_.find(name);
      if (text == texts_.end() || text->second.empty()) continue;
      if (settings.count(parameter.name) != 0)
        fail(ErrorCode::usage, "--{} is an earlier form of --{}: give one of them", name, parameter.name);
      if (const std::optional<Setting> value = parse_parameter(parameter, name, text->second))
        settings.emplace(parameter.name, *value);
    }
  }
  return settings;
}

void ParameterFlags::check_all_known(std::span<const std::vector<Parameter>* const> tables,
                                     const std::string& model) const {
  for (const auto& [name, text] : texts_) {
    if (text.empty()) continue;
    const bool known = std::any_of(tables.begin(), tables.end(), [&](const std::vector<Parameter>* table) {
      return find_parameter(*table, name) != nullptr;
    });
    if (!known && name == kExpectClusters)
      fail(ErrorCode::configuration,
           "--{} is not for {}: it gives the prior of one learned concentration of the rows, which {} have",
           name, model, fmt::join(models_that(&ModelEntry::has_row_concentration), ", "));
    if (known) continue;
    std::vector<std::string> names;
    for (const std::vector<Parameter>* table : tables)
      for (const Parameter& parameter : *table) names.push_back("--" + parameter.name);
    const std::string question = did_you_mean("--" + name, names);
    fail(ErrorCode::usage, "--{} is not a parameter of {}{}{}", name, model, question.empty() ? "" : "; ",
         question);
  }
}

void DataFlags::add_to(CLI::App& command) {
  const char* group = "Data";
  command.add_option("--id", id, "column of row names")->group(group);
  command
      .add_option("--weights", weights,
                  "column of row weights: a row of weight 3 counts as three equal rows that stay together")
      ->group(group);
  command.add_option("--truth", truth, "column of known labels: kept for scores, never modeled")
      ->allow_extra_args(false)
      ->group(group);
  command
      .add_option("--labels", labels,
                  "columns of 0 and 1 that a classifier learns, separated by commas; label_* matches all "
                  "with that prefix")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(group);
  command.add_option("--labels-file", labels_file, "file with these columns, for the same rows")
      ->group(group);
  command.add_option("--drop", drop, "column to leave out; several with commas")
      ->allow_extra_args(false)
      ->group(group);
  command
      .add_option("--keep-column", keep,
                  "column to keep although it would be left out: an identifier, or a copy of another column "
                  "or of the truth")
      ->allow_extra_args(false)
      ->group(group);
  command.add_option("--na-values", na_values, "values that mean missing, separated by commas: -999,unknown")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(group);
  command
      .add_option("--codebook", codebook, "TOML file with the columns' kinds, families and hyper-parameters")
      ->group(group);
  command.add_option("--header", header, "whether the file begins with column names: auto, yes or no [auto]")
      ->check(CLI::IsMember({"auto", "yes", "no"}))
      ->group(group);
}

void FamilyFlags::add_to(CLI::App& command) {
  command.add_option("--family", family, "family of all columns; auto: by the kind of each [auto]")
      ->group("Data");
  command.add_option("--set", set, "hyper-parameter NAME=VALUE of the families (TOML values)")
      ->allow_extra_args(false)
      ->group("Data");
  CLI::Option* choice =
      command
          .add_option("--hyper", hyper,
                      "hyper-parameters that are not given: learned along with the clusters where the model "
                      "can, or fixed by the columns' scales [learned]")
          ->check(CLI::IsMember({"learned", "fixed"}))
          ->group("Data");
  command.add_flag("--fix-hyper", fix_hyper, "short for --hyper fixed")->excludes(choice)->group("Data");
}

Settings FamilyFlags::settings() const {
  Settings settings;
  for (const std::string& assignment : set) parse_assignment(assignment, settings);
  return settings;
}

namespace {

/// Every column of another file but the one of row names, which then decides on the order.
Table read_labels(const std::string& path, const ReadOptions& of_rows, const Table& table) {
  ReadOptions options;
  options.id = of_rows.id;
  options.as_in_a_fit = of_rows.as_in_a_fit;
  options.id_may_be_absent = of_rows.id_may_be_absent;
  options.labels = {"*"};
  const Dataset data = read_dataset(path, options);
  return in_order_of(data.labels, table.row_ids, path);
}

}  // namespace

Dataset DataFlags::read(const std::string& path, const Context& context, bool learns_labels) const {
  const FileBytes bytes = load_file(path);
  return read_bytes(bytes.view(), path == "-" ? "stdin" : path, context, learns_labels);
}

Dataset DataFlags::read(const std::string& path, std::vector<std::string>& lines, bool learns_labels) const {
  const FileBytes bytes = load_file(path);
  const std::string name = path == "-" ? "stdin" : path;
  Dataset data = read_silently(bytes.view(), name, learns_labels);
  lines = first_lines(data, name, learns_labels);
  return data;
}

ReadOptions DataFlags::options(Codebook& book, bool learns_labels) const {
  if (!learns_labels && !(labels.empty() && labels_file.empty()))
    fail(ErrorCode::configuration, "--labels and --labels-file belong to models that learn labels");
  if (!labels.empty() && !labels_file.empty())
    fail(ErrorCode::configuration, "--labels and --labels-file exclude each other");
  ReadOptions options;
  options.id = id;
  options.weights = weights;
  options.truth = truth;
  options.drop = drop;
  options.keep = keep;
  options.na_values = na_values;
  options.rules = kind_rules();
  options.plain_features = learns_labels;
  options.family_is_named = family_is_named;
  options.labels_may_be_absent = labels_may_be_absent;
  options.as_in_a_fit = as_in_a_fit;
  options.id_may_be_absent = id_may_be_absent;
  if (learns_labels)
    options.labels = labels.empty() && labels_file.empty() ? std::vector<std::string>{""} : labels;
  options.header = header == "yes" ? Header::yes : header == "no" ? Header::no : Header::automatic;
  if (!codebook.empty()) {
    book = parse_codebook(read_text(codebook), codebook);
    options.codebook = &book;
  }
  return options;
}

Dataset DataFlags::read_silently(std::string_view bytes, const std::string& name, bool learns_labels) const {
  if (bytes.starts_with("SQLite format 3"))
    fail(ErrorCode::bad_data, "{}: this is a run, not a table; look at it with: coppice summary {}", name,
         name);
  Codebook book;
  const ReadOptions options = this->options(book, learns_labels);
  Dataset data = read_dataset_bytes(bytes, name, options);
  if (data.table.columns.empty())
    fail(ErrorCode::bad_data, "{}: every column is a label; leave at least one feature", name);
  if (learns_labels) take_bits_for_counts(data, book);
  if (!labels_file.empty()) data.labels = read_labels(labels_file, options, data.table);
  return data;
}

Dataset DataFlags::read_bytes(std::string_view bytes, const std::string& name, const Context& context,
                              bool learns_labels) const {
  Dataset data = read_silently(bytes, name, learns_labels);
  for (const std::string& line : first_lines(data, name, learns_labels)) context.note(line);
  return data;
}

std::string read_text(const std::string& path) {
  if (path == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  if (stream) text << stream.rdbuf();
  if (!stream || stream.bad())
    fail(ErrorCode::cannot_read, "{}: {}", path, std::strerror(errno != 0 ? errno : EIO));
  return text.str();
}

namespace {

std::string place_in(const std::string& path, const toml::source_region& where) {
  return fmt::format("{}:{}:{}", path, where.begin.line, where.begin.column);
}

[[noreturn]] void refuse(const std::string& path, const toml::source_region& where, std::string_view what) {
  fail(ErrorCode::bad_data, "{}: {}", place_in(path, where), what);
}

std::string flag_text(const toml::node& node) {
  if (const auto text = node.value<std::string>(); text && node.is_string()) return *text;
  std::ostringstream out;
  node.visit([&](const auto& value) { out << value; });
  return out.str();
}

/// Gives the option its value, unless the command line has done so already; then the place is not one to
/// speak of.
void give(CLI::App& command, const std::string& path, const std::string& name, const toml::node& node,
          ConfigPlaces& places) {
  CLI::Option* option = nullptr;
  for (CLI::App* source : {&command, command.get_parent()})  // global flags belong to the parent
    for (const std::string& form : {"--" + name, name})
      option = option != nullptr ? option : source->get_option_no_throw(form);
  if (option == nullptr)
    refuse(path, node.source(), fmt::format("'{}' is not a setting of {}", name, command.get_name()));
  if (option->count() != 0) return;
  // A list of texts is a flag given several times; a list of numbers is one value.
  const toml::array* list = node.as_array();
  if (list != nullptr && !list->empty() && list->front().is_string()) {
    for (const toml::node& element : *list) option->add_result(flag_text(element));
  } else if (list != nullptr) {
    std::string text;
    for (const toml::node& element : *list) text += (text.empty() ? "" : ",") + flag_text(element);
    option->add_result(text);
  } else {
    option->add_result(flag_text(node));
  }
  try {
    option->run_callback();
  } catch (const CLI::ParseError& error) {
    refuse(path, node.source(), error.what());
  }
  places.insert_or_assign("--" + name, ConfigValue{place_in(path, node.source()), flag_text(node)});
}

}  // namespace

ConfigPlaces apply_config_file(CLI::App& command, const std::string& path) {
  const std::string text = read_text(path);
  if (const std::size_t stray = find_stray_character(text); stray != std::string::npos)
    fail(ErrorCode::bad_data, "{}:{}: non-ASCII letters must be quoted", path,
         1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(stray), '\n'));
  if (const std::size_t deep = find_deep_nesting(text); deep != std::string::npos)
    fail(ErrorCode::bad_data, "{}:{}: nested too deeply", path,
         1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(deep), '\n'));
  const toml::parse_result result = toml::parse(text);
  if (!result) refuse(path, result.error().source(), result.error().description());
  ConfigPlaces places;
  for (const auto& [key, node] : result.table()) {
    const std::string name(key.str());
    if (name != "set") {
      give(command, path, name, node, places);
      continue;
    }
    const toml::table* table = node.as_table();
    if (table == nullptr) refuse(path, node.source(), "'set' must be a table: [set] and then NAME = VALUE");
    CLI::Option* option = command.get_option("--set");
    std::vector<std::string> typed = option->results();
    option->clear();
    for (const auto& [hyper, value] : *table) {
      std::ostringstream out;
      value.visit([&](const auto& v) { out << v; });
      option->add_result(fmt::format("{}={}", std::string(hyper.str()), out.str()));
      places.insert_or_assign(fmt::format("--set {}", std::string(hyper.str())),
                              ConfigValue{place_in(path, value.source()), out.str()});
    }
    for (const std::string& assignment : typed) {  // later ones win
      option->add_result(assignment);
      places.erase("--set " + assignment.substr(0, assignment.find('=')));
    }
    option->run_callback();
  }
  return places;
}

void throw_with_place(const Error& error, const ConfigPlaces& places) {
  const std::string_view message = error.what();
  const auto begins_with = [&](const std::string& words) {
    return message.starts_with(words) && message.find_first_of(" :=", words.size()) == words.size();
  };
  const bool is_about_a_file =
      error.code() == ErrorCode::cannot_read || error.code() == ErrorCode::cannot_write;
  for (const auto& [flag, value] : places) {
    const bool speaks_of_it = begins_with(flag) ||
                              begins_with(fmt::format("{} {}", flag.substr(2), value.text)) ||
                              (is_about_a_file && begins_with(value.text));
    if (speaks_of_it)
      fail(error.code() == ErrorCode::usage ? ErrorCode::bad_data : error.code(), "{}: {}", value.place,
           message);
  }
  throw error;
}

}  // namespace coppice::app
