#include "coppice/app/command.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <utility>

#include "coppice/app/output_files.hpp"
#include "coppice/base/error.hpp"

namespace coppice::app::CLI {
namespace {

/// NaN is within every range, since it is neither below nor above.
std::string is_a_number(const std::string& text) {
  double value = 0.0;
  return ::CLI::detail::lexical_cast(text, value) && std::isnan(value) ? text + " is not a number"
                                                                       : std::string();
}

}  // namespace

Option* Option::required() {
  library_->required();
  return this;
}
Option* Option::check(const Check& rule) {
  switch (rule.kind) {
    case Check::Kind::range:
      library_->check(::CLI::Range(rule.low, rule.high));
      break;
    case Check::Kind::members:
      library_->check(::CLI::IsMember(rule.members));
      break;
    case Check::Kind::positive:
      library_->check(is_a_number)->check(::CLI::PositiveNumber);
      break;
    case Check::Kind::not_negative:
      library_->check(is_a_number)->check(::CLI::NonNegativeNumber);
      break;
  }
  return this;
}
Option* Option::group(const std::string& name) {
  library_->group(name);
  return this;
}
Option* Option::description(const std::string& text) {
  library_->description(text);
  return this;
}
Option* Option::delimiter(char between) {
  library_->delimiter(between);
  return this;
}
Option* Option::excludes(Option* other) {
  library_->excludes(other->library_);
  return this;
}
Option* Option::expected(int least, int most) {
  library_->expected(least, most);
  return this;
}
Option* Option::allow_extra_args(bool allow) {
  library_->allow_extra_args(allow);
  return this;
}
Option* Option::type_name(const std::string& name) {
  library_->type_name(name);
  return this;
}
Option* Option::default_str(const std::string& text) {
  library_->default_str(text);
  return this;
}

std::string Option::get_description() const { return library_->get_description(); }
std::string Option::get_name(bool with_positional, bool all) const {
  return library_->get_name(with_positional, all);
}
const std::vector<std::string>& Option::get_lnames() const { return library_->get_lnames(); }
std::size_t Option::count() const { return library_->count(); }
const std::vector<std::string>& Option::results() const { return library_->results(); }
void Option::clear() { library_->clear(); }
void Option::add_result(const std::string& text) { library_->add_result(text); }
void Option::run_callback() {
  try {
    library_->run_callback();
  } catch (const ::CLI::ParseError& error) {
    throw ParseError(error.what());
  }
}

App::App(const std::string& description, const std::string& name)
    : own_(std::make_unique<::CLI::App>(description, name)), library_(own_.get()) {
  for (::CLI::Option* option : library_->get_options()) keep(option);
}
App::App(::CLI::App* library, App* parent) : library_(library), parent_(parent) {
  for (::CLI::Option* option : library_->get_options()) keep(option);
}
App::~App() = default;

Option* App::keep(::CLI::Option* option) {
  options_.emplace_back(option, std::make_unique<Option>(option));
  return options_.back().second.get();
}

App* App::add_subcommand(const std::string& name, const std::string& description) {
  subcommands_.push_back(std::unique_ptr<App>(new App(library_->add_subcommand(name, description), this)));
  return subcommands_.back().get();
}

template <typename Value>
Option* App::add(const std::string& names, Value& value, const std::string& help) {
  return keep(library_->add_option(names, value, help));
}
Option* App::add_option(const std::string& names, std::string& value, const std::string& help) {
  return add(names, value, help);
}
Option* App::add_option(const std::string& names, std::vector<std::string>& value, const std::string& help) {
  return add(names, value, help);
}
Option* App::add_option(const std::string& names, int& value, const std::string& help) {
  return add(names, value, help);
}
Option* App::add_option(const std::string& names, std::size_t& value, const std::string& help) {
  return add(names, value, help);
}
Option* App::add_option(const std::string& names, double& value, const std::string& help) {
  return add(names, value, help);
}
Option* App::add_option(const std::string& names, std::optional<std::string>& value,
                        const std::string& help) {
  return add(names, value, help);
}
Option* App::add_option(const std::string& names, std::optional<std::size_t>& value,
                        const std::string& help) {
  return add(names, value, help);
}
Option* App::add_option(const std::string& names, std::optional<double>& value, const std::string& help) {
  return add(names, value, help);
}
Option* App::add_flag(const std::string& names, bool& value, const std::string& help) {
  return keep(library_->add_flag(names, value, help));
}

Option* App::add_flag_callback(const std::string& names, std::function<void()> run, const std::string& help) {
  return keep(library_->add_flag_callback(names, std::move(run), help));
}

void App::set_version_flag(const std::string& name, const std::string& text) {
  keep(library_->set_version_flag(name, text));
}
void App::callback(std::function<void()> run) {
  library_->callback([this, run = std::move(run)] {
    // Whatever is not an output and names an existing file is an input.
    std::vector<std::string> outputs;
    std::vector<std::string> inputs;
    for (const ::CLI::Option* option : std::as_const(*library_).get_options()) {
      for (const std::string& value : option->results())
        if (value.empty())
          fail(ErrorCode::usage, "{}: the value is empty; give one, or leave out the {}", option->get_name(),
               option->get_positional() ? "word" : "flag");
      std::vector<std::string>& files = is_output(option->get_lnames()) ? outputs : inputs;
      files.insert(files.end(), option->results().begin(), option->results().end());
    }
    check_outputs(outputs, inputs);
    run();
  });
}
void App::footer(const std::string& text) { library_->footer(text); }
void App::require_subcommand(int count) { library_->require_subcommand(count); }
void App::fallthrough() { library_->fallthrough(); }

std::string App::get_name() const { return library_->get_name(); }
std::string App::get_description() const { return library_->get_description(); }

std::vector<App*> App::get_subcommands(const std::function<bool(App*)>& filter) const {
  std::vector<App*> found;
  for (const std::unique_ptr<App>& command : subcommands_)
    if (filter(command.get())) found.push_back(command.get());
  return found;
}

std::vector<Option*> App::get_options() const {
  std::vector<Option*> found;
  // In the library's order, and only those it still has.
  for (const ::CLI::Option* option : std::as_const(*library_).get_options())
    for (const auto& [library, ours] : options_)
      if (library == option) found.push_back(ours.get());
  return found;
}

Option* App::get_option_no_throw(const std::string& name) const {
  const ::CLI::Option* option = library_->get_option_no_throw(name);
  const auto found = std::find_if(options_.begin(), options_.end(),
                                  [&](const auto& known) { return known.first == option; });
  return option == nullptr || found == options_.end() ? nullptr : found->second.get();
}

Option* App::get_option(const std::string& name) const {
  Option* option = get_option_no_throw(name);
  if (option == nullptr) throw std::logic_error("there is no option " + name);
  return option;
}

void App::parse(int argc, char** argv) {
  try {
    library_->parse(argc, argv);
  } catch (const ::CLI::Success& success) {
    throw Success(library_->exit(success));
  } catch (const ::CLI::ExtrasError& error) {
    throw ExtrasError(error.what());
  } catch (const ::CLI::ParseError& error) {
    throw ParseError(error.what());
  }
}

}  // namespace coppice::app::CLI
