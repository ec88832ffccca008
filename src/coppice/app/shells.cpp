// coppice completion and coppice man: written from the commands and options themselves, so that they cannot
// lag behind.
#include "coppice/app/context.hpp"
#include "coppice/version.hpp"

namespace coppice::app {
namespace {

std::vector<CLI::App*> commands_of(CLI::App& application) {
  return application.get_subcommands([](CLI::App*) { return true; });
}

/// Long names of a command's own options and of the global ones.
std::vector<std::string> flags_of(const CLI::App& command, const CLI::App& application) {
  std::vector<std::string> flags;
  for (const CLI::App* source : {&command, &application})
    for (const CLI::Option* option : source->get_options())
      for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  return flags;
}

std::string bash(CLI::App& application) {
  std::string names;
  std::string cases;
  for (CLI::App* command : commands_of(application)) {
    names += (names.empty() ? "" : " ") + command->get_name();
    cases += fmt::format("    {}) words=\"{}\" ;;\n", command->get_name(),
                         fmt::join(flags_of(*command, application), " "));
  }
  return fmt::format(R"(# bash completion for coppice
_coppice() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" words
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{} --help --version" -- "$current"))
    return
  fi
  case "${{COMP_WORDS[1]}}" in
{}  esac
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
    *) COMPREPLY=($(compgen -f -- "$current")) ;;
  esac
}}
complete -o filenames -F _coppice coppice
)",
                     names, cases);
}

std::string zsh(CLI::App& application) {
  std::string names;
  std::string cases;
  for (CLI::App* command : commands_of(application)) {
    names += fmt::format("    '{}:{}'\n", command->get_name(), command->get_description());
    cases += fmt::format("    {}) compadd -- {} ;;\n", command->get_name(),
                         fmt::join(flags_of(*command, application), " "));
  }
  return fmt::format(R"(#compdef coppice
local -a commands
commands=(
{})
if (( CURRENT == 2 )); then
  _describe 'command' commands
elif [[ "${{words[CURRENT]}}" == -* ]]; then
  case "${{words[2]}}" in
{}  esac
else
  _files
fi
)",
                     names, cases);
}

std::string fish(CLI::App& application) {
  std::string text = "# fish completion for coppice\n";
  for (CLI::App* command : commands_of(application)) {
    text += fmt::format("complete -c coppice -n __fish_use_subcommand -a {} -d '{}'\n", command->get_name(),
                        command->get_description());
    for (const std::string& flag : flags_of(*command, application))
      text += fmt::format("complete -c coppice -n '__fish_seen_subcommand_from {}' -l {}\n",
                          command->get_name(), flag.substr(2));
  }
  return text;
}

/// A minus must be escaped in roff, or it becomes a hyphen that cannot be copied.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '-' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string man_options(const CLI::App& command) {
  std::string text;
  for (const CLI::Option* option : command.get_options()) {
    const std::string names = option->get_name(true, true);
    text += fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(names), roff(option->get_description()));
  }
  return text;
}

std::string man(CLI::App& application) {
  std::string text = fmt::format(".TH COPPICE 1 \"\" \"coppice {}\" \"User commands\"\n", kVersion);
  text += ".SH NAME\ncoppice \\- groups, groups of groups and views in a table, with honest uncertainty\n";
  text += ".SH SYNOPSIS\n\\fBcoppice\\fR \\fICOMMAND\\fR [\\fIoptions\\fR]\n.SH DESCRIPTION\n";
  text +=
      "Coppice fits Bayesian nonparametric clustering models to a table and answers questions about the fit. "
      "A fit is one file,\n"
      "\\fINAME.coppice\\fR; every other command reads it. Data go to standard output, everything else to "
      "standard error.\n";
  text += ".SH GLOBAL OPTIONS\n" + man_options(application);
  text += ".SH COMMANDS\n";
  for (CLI::App* command : commands_of(application))
    text += fmt::format(".SS {}\n{}\n{}", roff(command->get_name()), roff(command->get_description()),
                        man_options(*command));
  text += ".SH EXIT STATUS\n";
  const std::pair<const char*, const char*> codes[] = {
      {"0", "done"},
      {"1", "the answer is no (diagnose \\-\\-strict, compare)"},
      {"2", "the command line is wrong"},
      {"65", "bad data; the message names line and column"},
      {"66", "a file cannot be read"},
      {"70", "a bug in Coppice"},
      {"74", "a file cannot be written"},
      {"75", "stopped early; coppice resume continues"},
      {"78", "the settings contradict each other or the data"}};
  for (const auto& [code, meaning] : codes) text += fmt::format(".TP\n.B {}\n{}\n", code, meaning);
  return text;
}

}  // namespace

void add_completion(CLI::App& application, Context& context) {
  CLI::App* command = application.add_subcommand("completion", "shell completion: bash, zsh or fish");
  auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([=, &application, &context] {
    context.run = [=, &application] {
      write_output("", *shell == "bash"  ? bash(application)
                       : *shell == "zsh" ? zsh(application)
                                         : fish(application));
      return 0;
    };
  });
}

void add_man(CLI::App& application, Context& context) {
  CLI::App* command = application.add_subcommand("man", "the manual page, in roff (coppice man | man -l -)");
  command->callback([&application, &context] {
    context.run = [&application] {
      write_output("", man(application));
      return 0;
    };
  });
}

}  // namespace coppice::app
