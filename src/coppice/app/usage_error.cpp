#include "coppice/app/usage_error.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "coppice/base/close_names.hpp"
#include "coppice/data/text.hpp"

namespace coppice::app {
namespace {

/// Looks like a table: a file that exists, or a name with one of the endings.
bool names_a_table(std::string_view word) {
  std::error_code ignored;
  return word.ends_with(".csv") || word.ends_with(".tsv") || word.ends_with(".csv.gz") ||
         (word.find('.') != std::string_view::npos && std::filesystem::is_regular_file(word, ignored));
}

std::string no_such_command(const CLI::App& application, const std::string& word) {
  if (word.ends_with(".coppice"))
    return fmt::format("'{}' is not a command; look at a run with: coppice summary {}", word, word);
  if (names_a_table(word))
    return fmt::format("'{}' is not a command; fit a table with: coppice fit {}", word, word);
  std::vector<std::string> commands;
  for (const CLI::App* command : application.get_subcommands([](CLI::App*) { return true; }))
    commands.push_back(command->get_name());
  const std::string question = did_you_mean(word, commands);
  return fmt::format("there is no command '{}'{}{} (coppice --help lists the commands)", text::display(word),
                     question.empty() ? "" : "; ", question);
}

/// CLI11 reports unexpected words only in its message.
bool is_among_extras(const CLI::ExtrasError& error, std::string_view word) {
  return fmt::format("{} ", error.what()).find(fmt::format(" {} ", word)) != std::string::npos;
}

std::string no_such_flag(const CLI::App& application, const CLI::App& command, std::string_view flag,
                         const std::string& help) {
  std::vector<std::string> flags;
  for (const CLI::App* source : {&command, &application})
    for (const CLI::Option* option : source->get_options())
      for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  const std::string name(flag.substr(0, flag.find('=')));
  const std::string question = did_you_mean(name, flags);
  return fmt::format("coppice {} has no flag {}{}{} ({})", command.get_name(), text::display(name),
                     question.empty() ? "" : "; ", question, help);
}

}  // namespace

std::string usage_error(const CLI::App& application, std::span<char* const> words,
                        const CLI::ParseError& error) {
  const std::string first = words.size() > 1 ? words[1] : "";
  const std::vector<CLI::App*> named =
      application.get_subcommands([&](const CLI::App* command) { return command->get_name() == first; });
  if (!first.empty() && first[0] != '-' && named.empty()) return no_such_command(application, first);
  const std::string help = named.empty() ? "coppice --help lists the commands"
                                         : fmt::format("coppice {} --help lists its flags", first);
  const auto* extras = dynamic_cast<const CLI::ExtrasError*>(&error);
  if (extras != nullptr && !named.empty()) {
    const auto flag = std::find_if(words.begin(), words.end(), [&](std::string_view word) {
      return word.starts_with("--") && is_among_extras(*extras, word);
    });
    if (flag != words.end()) return no_such_flag(application, *named.front(), *flag, help);
  }
  return fmt::format("{} ({})", error.what(), help);
}

std::string first_steps() {
  return R"(Coppice finds the groups in a table and says how sure it is.

  coppice demo                       try it on an example: a fit, its summary, a report to look at
  coppice fit DATA.csv               fit your own table; writes DATA.coppice
  coppice summary DATA.coppice       can it be trusted, how many clusters, what makes each different
  coppice report DATA.coppice -o DATA.html

  coppice check DATA.csv             what to look at before a fit
  coppice --help                     all commands; coppice COMMAND --help shows the flags of one
)";
}

}  // namespace coppice::app
