// What all commands share: the global flags, and the only doors to stdout and stderr. Data go to stdout (or
// to -o), everything else to stderr.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "coppice/app/command.hpp"

namespace coppice::app {

struct Context {
  bool quiet = false;
  bool verbose = false;
  bool json = false;
  std::string progress = "auto";
  std::string color = "auto";
  bool csv_safe = false;                // texts in CSV cannot be formulas
  std::function<int()> run;             // the chosen command
  std::vector<std::string> help_words;  // the words beside --help; empty without --help

  /// Does the help show the flags of this model? Only if it is named; without --help all flags are there.
  bool shows_flags_of(std::string_view model) const;

  bool stderr_is_terminal() const;
  bool stdout_is_terminal() const;
  bool use_color() const;  // on stdout

  /// A remark for the user on stderr; silent with -q.
  void note(std::string_view text) const;
  /// A remark that only -v shows.
  void detail(std::string_view text) const;
  /// Text in bold if stdout takes colors.
  std::string bold(std::string_view text) const;
  std::string dim(std::string_view text) const;
};

/// Writes text to stderr; ignores errors, since there is nowhere else to report them.
void write_error_stream(std::string_view text);
/// Writes an answer for people: names from the data cannot reach a terminal as commands to it.
void write_text(const std::string& path, std::string_view text);
/// Writes data to a file, or to stdout for "" and "-". Throws Error{cannot_write}.
void write_output(const std::string& path, std::string_view text);
/// JSON to stdout or the file, indented, with NaN as null.
void write_json(const std::string& path, const nlohmann::ordered_json& value);

/// Every command adds itself to the application.
void add_fit(CLI::App& application, Context& context);
void add_resume(CLI::App& application, Context& context);
void add_update(CLI::App& application, Context& context);
void add_summary(CLI::App& application, Context& context);
void add_diagnose(CLI::App& application, Context& context);
void add_tree(CLI::App& application, Context& context);
void add_views(CLI::App& application, Context& context);
void add_profile(CLI::App& application, Context& context);
void add_score(CLI::App& application, Context& context);
void add_predict(CLI::App& application, Context& context);
void add_impute(CLI::App& application, Context& context);
void add_ask(CLI::App& application, Context& context);
void add_sample(CLI::App& application, Context& context);
void add_crossvalidate(CLI::App& application, Context& context);
void add_export(CLI::App& application, Context& context);
void add_merge(CLI::App& application, Context& context);
void add_compare(CLI::App& application, Context& context);
void add_rename(CLI::App& application, Context& context);
void add_report(CLI::App& application, Context& context);
void add_view(CLI::App& application, Context& context);
void add_codebook(CLI::App& application, Context& context);
void add_check(CLI::App& application, Context& context);
void add_simulate(CLI::App& application, Context& context);
void add_models(CLI::App& application, Context& context);
void add_families(CLI::App& application, Context& context);
void add_completion(CLI::App& application, Context& context);
void add_man(CLI::App& application, Context& context);
void add_selfcheck(CLI::App& application, Context& context);
void add_demo(CLI::App& application, Context& context);

}  // namespace coppice::app
