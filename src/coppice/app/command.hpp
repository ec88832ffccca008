// The part of CLI11 that commands use, under its own names. CLI11 is a header of ten thousand lines that
// every file of the command line would have to compile; command.cpp alone includes it.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

// NOLINTBEGIN(readability-identifier-naming): the names are CLI11's.
namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace coppice::app::CLI {

/// What a value must be; names the rule in the help and in the error.
struct Check {
  enum class Kind { range, members, positive, not_negative };
  Kind kind = Kind::range;
  int low = 0, high = 0;
  std::vector<std::string> members;
};
inline Check Range(int low, int high) { return {Check::Kind::range, low, high, {}}; }
inline Check IsMember(std::vector<std::string> members) {
  return {Check::Kind::members, 0, 0, std::move(members)};
}
inline const Check PositiveNumber{Check::Kind::positive, 0, 0, {}};
inline const Check NonNegativeNumber{Check::Kind::not_negative, 0, 0, {}};
// NOLINTEND(readability-identifier-naming)

/// --help or --version was answered.
struct Success : std::exception {
  explicit Success(int given) : code(given) {}
  int code;
};
/// The command line is not well formed.
struct ParseError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// Words that nothing takes.
struct ExtrasError : ParseError {
  using ParseError::ParseError;
};

class Option {
 public:
  explicit Option(::CLI::Option* library) : library_(library) {}
  Option* required();
  Option* check(const Check& rule);
  Option* group(const std::string& name);
  Option* description(const std::string& text);
  Option* delimiter(char between);
  Option* excludes(Option* other);
  /// How many values one flag takes.
  Option* expected(int least, int most);
  Option* allow_extra_args(bool allow);
  Option* type_name(const std::string& name);
  Option* default_str(const std::string& text);

  std::string get_description() const;
  /// All names: with those of a positional, and with commas.
  std::string get_name(bool with_positional, bool all) const;
  const std::vector<std::string>& get_lnames() const;

  std::size_t count() const;
  const std::vector<std::string>& results() const;
  void clear();
  void add_result(const std::string& text);
  /// Writes the results to the variable. Throws ParseError.
  void run_callback();

 private:
  ::CLI::Option* library_;
};

class App {
 public:
  App(const std::string& description, const std::string& name);
  ~App();
  App(const App&) = delete;
  App& operator=(const App&) = delete;

  App* add_subcommand(const std::string& name, const std::string& description);
  Option* add_option(const std::string& names, std::string& value, const std::string& help);
  Option* add_option(const std::string& names, std::vector<std::string>& value, const std::string& help);
  Option* add_option(const std::string& names, int& value, const std::string& help);
  Option* add_option(const std::string& names, std::size_t& value, const std::string& help);
  Option* add_option(const std::string& names, double& value, const std::string& help);
  Option* add_option(const std::string& names, std::optional<std::string>& value, const std::string& help);
  Option* add_option(const std::string& names, std::optional<std::size_t>& value, const std::string& help);
  Option* add_option(const std::string& names, std::optional<double>& value, const std::string& help);
  Option* add_flag(const std::string& names, bool& value, const std::string& help);
  /// Calls `run` when the flag is given.
  Option* add_flag_callback(const std::string& names, std::function<void()> run, const std::string& help);
  void set_version_flag(const std::string& name, const std::string& text);
  void callback(std::function<void()> run);
  void footer(const std::string& text);
  void require_subcommand(int count);
  /// Subcommands accept the flags of this one.
  void fallthrough();

  std::string get_name() const;
  std::string get_description() const;
  App* get_parent() const { return parent_; }
  std::vector<App*> get_subcommands(const std::function<bool(App*)>& filter) const;
  std::vector<Option*> get_options() const;
  /// Throws std::logic_error if there is none.
  Option* get_option(const std::string& name) const;
  Option* get_option_no_throw(const std::string& name) const;

  /// Parses and runs the callbacks. Throws ParseError, or Success after printing help or version.
  void parse(int argc, char** argv);

 private:
  App(::CLI::App* library, App* parent);
  template <typename Value>
  Option* add(const std::string& names, Value& value, const std::string& help);
  Option* keep(::CLI::Option* option);

  std::unique_ptr<::CLI::App> own_;  // of the root
  ::CLI::App* library_;
  App* parent_ = nullptr;
  std::vector<std::unique_ptr<App>> subcommands_;
  std::vector<std::pair<::CLI::Option*, std::unique_ptr<Option>>> options_;
};

}  // namespace coppice::app::CLI
