// Flags that follow from the parameter tables, and the flags that say how to read data: shared by several
// commands.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "coppice/app/context.hpp"
#include "coppice/base/error.hpp"
#include "coppice/base/parameter.hpp"
#include "coppice/data/read.hpp"

namespace coppice::app {

/// Options made from parameter tables. Texts as typed; values() checks them against a table.
class ParameterFlags {
 public:
  /// Adds --NAME for every parameter not added before (models share names such as --alpha).
  void add_to(CLI::App& command, std::span<const Parameter> table, const std::string& group);
  /// The given flags that the table knows, as settings. Throws Error{usage} for a bad value.
  Settings values(std::span<const Parameter> table) const;
  /// Throws Error{usage} if a flag was given that none of the tables knows.
  void check_all_known(std::span<const std::vector<Parameter>* const> tables, const std::string& model) const;

 private:
  std::map<std::string, std::string> texts_;
};

/// --id --weights --truth --drop --keep-column --na-values --labels --labels-file --codebook --header, as the
/// data reader wants them.
struct DataFlags {
  std::string id;
  std::string weights;
  std::vector<std::string> truth;
  std::vector<std::string> drop;
  std::vector<std::string> keep;
  std::vector<std::string> na_values;
  std::vector<std::string> labels;
  std::string labels_file;
  bool family_is_named = false;       // not a flag: for all columns, so that none of numbers is left out
  bool labels_may_be_absent = false;  // not a flag: for rows whose labels are not needed
  /// Not flags: the others are those of a fit (see ReadOptions).
  bool as_in_a_fit = false, id_may_be_absent = false;
  std::string codebook;
  std::string header = "auto";

  void add_to(CLI::App& command);
  /// What the flags say to the reader; `book` gets the codebook, to which the options refer.
  ReadOptions options(Codebook& book, bool learns_labels) const;
  /// Reads the data with these flags; tells the user in a few lines what it takes the columns for. For a
  /// model that learns labels, a format that has labels of its own needs no --labels.
  Dataset read(const std::string& path, const Context& context, bool learns_labels = false) const;
  /// The same; the lines are for the caller to say.
  Dataset read(const std::string& path, std::vector<std::string>& lines, bool learns_labels = false) const;
  /// The same from memory; the name decides the format and appears in messages.
  Dataset read_bytes(std::string_view bytes, const std::string& name, const Context& context,
                     bool learns_labels = false) const;
  /// The same without a word.
  Dataset read_silently(std::string_view bytes, const std::string& name, bool learns_labels = false) const;
};

/// --family, --set and --hyper: what models the columns.
struct FamilyFlags {
  std::string family = "auto";
  std::vector<std::string> set;
  std::string hyper = "learned";
  bool fix_hyper = false;

  void add_to(CLI::App& command);
  std::string hyper_choice() const { return fix_hyper ? "fixed" : hyper; }
  /// What --set says, by name. Throws Error{usage}.
  Settings settings() const;
};

/// The whole of a small text file; Error{cannot_read} if it cannot be read.
std::string read_text(const std::string& path);

/// Does the work; an error of it then begins with the flag it is about.
template <typename Work>
auto about(std::string_view flag, Work&& work) {
  try {
    return work();
  } catch (const Error& error) {
    fail(error.code(), "{}: {}", flag, error.what());
  }
}

/// A setting that a configuration file gave: where it stands, and its text.
struct ConfigValue {
  std::string place, text;
};
/// By "--NAME" or "--set NAME".
using ConfigPlaces = std::map<std::string, ConfigValue>;

/// Gives options that were not on the command line the values of a TOML file (same names; [set] for --set).
ConfigPlaces apply_config_file(CLI::App& command, const std::string& path);

/// Throws the error again. If it begins with a setting that the file gave ("--draws ...", "family poisson
/// ..."), or with a file that cannot be read or written and that the file named, the place comes first.
[[noreturn]] void throw_with_place(const Error& error, const ConfigPlaces& places);

}  // namespace coppice::app
