// coppice demo: two example tables, and the commands that a user would type next, run one after the other.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "coppice/app/context.hpp"
#include "coppice/app/example_tables.hpp"
#include "coppice/app/program.hpp"
#include "coppice/base/error.hpp"
#include "coppice/out/pending_file.hpp"

namespace coppice::app {
namespace {

namespace fs = std::filesystem;

/// Writes the table, unless it is there already; another file of that name is not replaced.
void write_example(const fs::path& path, std::string_view table, const std::string& folder) {
  if (std::ifstream stream(path, std::ios::binary); stream) {
    std::ostringstream present;
    present << stream.rdbuf();
    if (present.str() == table) return;
    fail(ErrorCode::cannot_write, "{} exists and is another table; give another folder: coppice demo {}-2",
         path.string(), folder);
  }
  write_file(path.string(), table);
}

/// Shows the command and runs it.
int run_shown(std::vector<std::string> words, const Context& context) {
  context.note(fmt::format("\n$ coppice {}", fmt::join(words, " ")));
  words.insert(words.begin(), "coppice");
  if (context.quiet) words.emplace_back("--quiet");
  words.insert(words.end(), {"--progress", context.progress, "--color", context.color});
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  return run_program(pointers);
}

int demo(const std::string& folder, const Context& context) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem) fail(ErrorCode::cannot_write, "{}: {}", folder, problem.message());
  const auto in_folder = [&](const char* name) { return (fs::path(folder) / name).string(); };
  const std::string table = in_folder("visitors.csv");
  const std::string animals = in_folder("animals.csv");
  const std::string run = in_folder("visitors.coppice");
  const std::string page = in_folder("visitors.html");
  write_example(table, visitors_table(), folder);
  write_example(animals, animals_table(), folder);
  context.note(fmt::format(
      "{}: invented visitors of a museum, with numbers, counts, categories, yes/no answers and missing "
      "cells; their group is kept aside for the score",
      table));
  const std::vector<std::vector<std::string>> commands{
      {"fit", table, "--id", "visitor", "--truth", "group", "--draws", "3000", "-o", run, "--overwrite"},
      {"summary", run},
      {"score", run, "--truth", "group"},
      {"report", run, "-o", page}};
  for (const std::vector<std::string>& command : commands)
    if (const int code = run_shown(command, context); code != 0) return code;
  context.note(fmt::format(R"(
Open {} in a browser. Next, for example:
  coppice profile {}                    what makes each cluster different
  coppice tree {}                       which rows are close to each other
  coppice fit rbhmc {} --id name --truth class -o {}    groups of groups
  coppice fit YOUR.csv                  your own table)",
                           page, run, run, animals, in_folder("animals.coppice")));
  return 0;
}

}  // namespace

void add_demo(CLI::App& application, Context& context) {
  CLI::App* command = application.add_subcommand(
      "demo", "write example tables, fit one and show the answers: what a first session looks like");
  auto folder = std::make_shared<std::string>("coppice-demo");
  command->add_option("folder", *folder, "folder for the tables, the run and the report [coppice-demo]");
  command->callback([=, &context] { context.run = [=, &context] { return demo(*folder, context); }; });
}

}  // namespace coppice::app
