// Everything that decides what a run draws, as one value: kept in the run file, printed by reports, read back
// by resume. The tables of run and data parameters stand here too; the command line and TOML follow from
// them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "coppice/base/parameter.hpp"
#include "coppice/base/setting.hpp"
#include "coppice/run/run_length.hpp"

namespace coppice {

inline constexpr const char* kLearnedHyper = "learned";
inline constexpr const char* kFixedHyper = "fixed";

/// How long a run is: as long as warmup, draws and thin say, or until its chains agree and are long enough.
inline constexpr const char* kUntilLength = "length";
inline constexpr const char* kUntilTrusted = "trusted";
/// Why a run until trusted has ended: its draws suffice, its time was used, or no more than a sketch was
/// asked for.
inline constexpr const char* kEndTrusted = "trusted";
inline constexpr const char* kEndBudget = "budget";
inline constexpr const char* kEndSketch = "sketch";
/// Seconds that a run until trusted may take if no time limit is given, and those of a sketch.
inline constexpr double kDefaultBudget = 60.0;
inline constexpr double kSketchBudget = 1.0;

struct RunConfig {
  std::string model;
  Settings parameters;  // of the model, as given (defaults are filled in when it is used)
  std::string family = "auto";
  Settings family_settings;
  std::string hyper = kLearnedHyper;  // or kFixedHyper: the families' hyper-parameters that are not given
  std::size_t chains = 4;
  std::string until = kUntilLength;  // or kUntilTrusted: then warmup, draws and thin are those decided so far
  std::string end;                   // of a run until trusted: kEnd...; empty: under way
  std::size_t warmup = 500;
  std::size_t draws = 1000;
  std::size_t thin = 1;
  std::uint64_t seed = 1;
  bool standardize = false;
  std::size_t pca = 0;
  std::string data;  // path as given, for display
  std::string id;
  std::vector<std::string> truth;
  std::vector<std::string> drop;
  std::string weights;                 // the column of row weights; empty: there is none
  std::vector<std::string> keep;       // columns modeled though they would have been left out
  std::vector<std::string> na_values;  // cells that mean missing
  std::vector<std::string> labels;     // columns that are learned
  std::string labels_file;             // file with the labels, if not in the data
  std::vector<std::string> notes;      // on what was chosen for the user
  bool merged = false;                 // chains of several runs: can be asked, not resumed

  RunLength length() const { return {warmup, draws, thin}; }
  void set_length(const RunLength& length) {
    warmup = length.warmup;
    draws = length.draws;
    thin = length.thin;
  }
  std::size_t total_sweeps() const { return length().sweeps(); }
  bool is_until_trusted() const { return until == kUntilTrusted; }
  /// From here on the run has the length that it says.
  void fix_length() {
    until = kUntilLength;
    end.clear();
  }
};

/// chains, until, warmup, draws, thin, seed: what decides the draws beside model and data.
const std::vector<Parameter>& run_parameters();
/// The one of that name.
const Parameter& run_parameter(std::string_view name);

std::string to_json(const RunConfig& config);
/// Throws Error{bad_data} if the text is not a configuration.
RunConfig config_from_json(std::string_view text);

/// Sweeps in a block of draws; a function of the number of rows alone, because it decides when statistics are
/// rebuilt.
std::size_t sweeps_per_block(std::size_t rows);

/// "90", "90s", "15m", "2h", "1d" in seconds; throws Error{usage}.
double parse_duration(std::string_view text);

}  // namespace coppice
