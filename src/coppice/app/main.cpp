// The command line: parses, runs one command, and turns errors into one line on stderr and an exit code.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <span>
#include <string_view>
#include <utility>

#include "coppice/app/context.hpp"
#include "coppice/app/program.hpp"
#include "coppice/app/usage_error.hpp"
#include "coppice/base/error.hpp"
#include "coppice/data/text.hpp"
#include "coppice/version.hpp"

namespace {

int report(int code, std::string_view message) {
  coppice::app::write_error_stream(fmt::format("coppice: {}\n", coppice::text::printable(message)));
  return code;
}

void add_globals(coppice::app::CLI::App& application, coppice::app::Context& context) {
  application.set_version_flag("--version", std::string("coppice ") + coppice::kVersion);
  application.add_flag("-q,--quiet", context.quiet, "say nothing on stderr but errors");
  application.add_flag("-v,--verbose", context.verbose, "say more on stderr");
  application.add_flag("--json", context.json, "answer in JSON");
  application.add_flag("--csv-safe", context.csv_safe,
                       "in CSV, put an apostrophe before texts that a spreadsheet would run as formulas");
  application
      .add_option("--progress", context.progress, "progress on stderr: auto, bar, plain, json or none")
      ->check(coppice::app::CLI::IsMember({"auto", "bar", "plain", "json", "none"}));
  application.add_option("--color", context.color, "colors: auto, always or never")
      ->check(coppice::app::CLI::IsMember({"auto", "always", "never"}));
}

}  // namespace

int coppice::app::run_program(std::span<char*> words) {
  using coppice::ErrorCode;
  coppice::app::CLI::App application(
      "Groups, groups of groups and views in a table, with honest uncertainty.", "coppice");
  coppice::app::Context context;
  application.require_subcommand(1);
  application.fallthrough();
  add_globals(application, context);
  const auto asks_for_help = [](std::string_view word) { return word == "--help" || word == "-h"; };
  if (std::any_of(words.begin(), words.end(), asks_for_help))
    context.help_words.assign(words.begin(), words.end());
  coppice::app::add_fit(application, context);
  coppice::app::add_resume(application, context);
  coppice::app::add_update(application, context);
  coppice::app::add_summary(application, context);
  coppice::app::add_diagnose(application, context);
  coppice::app::add_tree(application, context);
  coppice::app::add_views(application, context);
  coppice::app::add_profile(application, context);
  coppice::app::add_score(application, context);
  coppice::app::add_predict(application, context);
  coppice::app::add_impute(application, context);
  coppice::app::add_ask(application, context);
  coppice::app::add_sample(application, context);
  coppice::app::add_crossvalidate(application, context);
  coppice::app::add_export(application, context);
  coppice::app::add_rename(application, context);
  coppice::app::add_merge(application, context);
  coppice::app::add_compare(application, context);
  coppice::app::add_report(application, context);
  coppice::app::add_view(application, context);
  coppice::app::add_codebook(application, context);
  coppice::app::add_check(application, context);
  coppice::app::add_simulate(application, context);
  coppice::app::add_models(application, context);
  coppice::app::add_families(application, context);
  coppice::app::add_completion(application, context);
  coppice::app::add_man(application, context);
  coppice::app::add_selfcheck(application, context);
  coppice::app::add_demo(application, context);
  try {
    application.parse(static_cast<int>(words.size()), words.data());
    return context.run();
  } catch (const coppice::app::CLI::Success& success) {  // --help, --version
    return success.code;
  } catch (const coppice::app::CLI::ParseError& error) {
    return report(static_cast<int>(ErrorCode::usage), coppice::app::usage_error(application, words, error));
  } catch (const coppice::Error& error) {
    return report(static_cast<int>(error.code()), error.what());
  } catch (const std::bad_alloc&) {
    return report(static_cast<int>(ErrorCode::bug), "out of memory");
  } catch (const std::exception& error) {
    return report(static_cast<int>(ErrorCode::bug), fmt::format("a bug in Coppice: {}", error.what()));
  }
}

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow further is an error of writing
  if (argc < 2) {
    coppice::app::write_error_stream(coppice::app::first_steps());
    return static_cast<int>(coppice::ErrorCode::usage);
  }
  return coppice::app::run_program({argv, static_cast<std::size_t>(argc)});
}
