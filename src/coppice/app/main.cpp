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
#include "coppice/base/error.hpp"
#include "coppice/version.hpp"

namespace {

int report(int code, std::string_view message) {
  coppice::app::write_error_stream(fmt::format("coppice: {}\n", message));
  return code;
}

/// CLI11 reports unexpected words only in its message.
bool is_among_extras(const coppice::app::CLI::ExtrasError& error, std::string_view word) {
  return fmt::format("{} ", error.what()).find(fmt::format(" {} ", word)) != std::string::npos;
}

void add_globals(coppice::app::CLI::App& application, coppice::app::Context& context) {
  application.set_version_flag("--version", std::string("coppice ") + coppice::kVersion);
  application.add_flag("-q,--quiet", context.quiet, "say nothing on stderr but errors");
  application.add_flag("-v,--verbose", context.verbose, "say more on stderr");
  application.add_flag("--json", context.json, "answer in JSON");
  application
      .add_option("--progress", context.progress, "progress on stderr: auto, bar, plain, json or none")
      ->check(coppice::app::CLI::IsMember({"auto", "bar", "plain", "json", "none"}));
  application.add_option("--color", context.color, "colors: auto, always or never")
      ->check(coppice::app::CLI::IsMember({"auto", "always", "never"}));
}

}  // namespace

int main(int argc, char** argv) {
  using coppice::ErrorCode;
  std::signal(SIGPIPE, SIG_IGN);
  coppice::app::CLI::App application(
      "Groups, groups of groups and views in a table, with honest uncertainty.", "coppice");
  coppice::app::Context context;
  application.require_subcommand(1);
  application.fallthrough();
  add_globals(application, context);
  const std::span<char*> words(argv, static_cast<std::size_t>(argc));
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
  coppice::app::add_sample(application, context);
  coppice::app::add_crossvalidate(application, context);
  coppice::app::add_export(application, context);
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
  try {
    application.parse(argc, argv);
    return context.run();
  } catch (const coppice::app::CLI::Success& success) {  // --help, --version
    return success.code;
  } catch (const coppice::app::CLI::ParseError& error) {
    const std::string_view first = argc > 1 ? argv[1] : "";
    const auto named = [&](const coppice::app::CLI::App* command) { return command->get_name() == first; };
    if (!first.empty() && first[0] != '-' && std::as_const(application).get_subcommands(named).empty())
      return report(static_cast<int>(ErrorCode::usage),
                    fmt::format("there is no command '{}' (coppice --help lists the commands)", first));
    const std::string help = std::as_const(application).get_subcommands(named).empty()
                                 ? "coppice --help lists the commands"
                                 : fmt::format("coppice {} --help lists its flags", first);
    if (const auto* extras = dynamic_cast<const coppice::app::CLI::ExtrasError*>(&error); extras != nullptr)
      if (const auto flag = std::find_if(words.begin(), words.end(),
                                         [&](std::string_view word) {
                                           return word.starts_with("--") && is_among_extras(*extras, word);
                                         });
          flag != words.end())
        return report(static_cast<int>(ErrorCode::usage),
                      fmt::format("coppice {} has no flag {} ({})", first, *flag, help));
    return report(static_cast<int>(ErrorCode::usage), fmt::format("{} ({})", error.what(), help));
  } catch (const coppice::Error& error) {
    return report(static_cast<int>(error.code()), error.what());
  } catch (const std::bad_alloc&) {
    return report(static_cast<int>(ErrorCode::bug), "out of memory");
  } catch (const std::exception& error) {
    return report(static_cast<int>(ErrorCode::bug), fmt::format("a bug in Coppice: {}", error.what()));
  }
}
