// Kinds are decided column by column; then columns are compared with each other and with the truth.
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "coppice/base/error.hpp"
#include "coppice/data/infer.hpp"
#include "coppice/data/kinds/decide.hpp"
#include "coppice/data/kinds/measured_counts.hpp"
#include "coppice/data/kinds/relations.hpp"
#include "coppice/data/kinds/scales.hpp"
#include "coppice/data/kinds/spellings.hpp"
#include "coppice/data/kinds/text_numbers.hpp"
#include "coppice/data/parse.hpp"

namespace coppice {
namespace {

bool all_missing(const RawColumn& column) {
  return std::all_of(column.values.begin(), column.values.end(), is_missing);
}

bool is_constant(const std::vector<double>& values) {
  double first = kMissing;
  for (const double value : values) {
    if (is_missing(value)) continue;
    if (is_missing(first)) first = value;
    if (value != first) return false;
  }
  return true;
}

/// Builds the table, the codebook and the report of a file's columns, and gathers what is worth saying.
class Assembly {
 public:
  Assembly(RawTable raw, const Roles& roles, const ReadOptions& options)
      : raw_(std::move(raw)),
        roles_(roles),
        options_(options),
        has_plain_features_(options.plain_features || !options.labels.empty()),
        leaves_out_(options.leave_out && !has_plain_features_ && !options.family_is_named) {}

  Dataset run() {
    for (const RawColumn& column : raw_.columns) names_.insert(column.name);
    data_.notes = std::move(raw_.notes);
    warn_of_total_row();
    data_.table.row_ids = row_ids_of(raw_, roles_.id);
    take_truth_and_labels();
    const bool splits_labels = raw_.label && splits();
    for (std::size_t index = 0; index < raw_.columns.size(); ++index) {
      const bool has_role = roles_.id == index || contains(roles_.truth, index) ||
                            contains(roles_.labels, index) || roles_.weights == index ||
                            (splits_labels && raw_.label == index);
      if (raw_.columns[index].want != Want::nothing && !has_role) take_column(index);
    }
    choose_scales();
    if (leaves_out_) {
      compare_with_truth();
      leave_out_redundant();
    }
    warn_of_decimal_points();
    drop_left_out();
    add_indicators();
    say_what_is_left_out();
    std::stable_sort(data_.findings.begin(), data_.findings.end(),
                     [](const Finding& a, const Finding& b) { return a.severity < b.severity; });
    if (data_.table.columns.empty() && data_.labels.columns.empty() && !options_.labels_only)
      fail(ErrorCode::bad_data, "{}: no column of data is left{}{}; keep at least one", raw_.file,
           data_.notes.empty() ? "" : ": ", data_.notes.empty() ? "" : data_.notes.back());
    return std::move(data_);
  }

 private:
  static bool contains(const std::vector<std::size_t>& list, std::size_t index) {
    return std::find(list.begin(), list.end(), index) != list.end();
  }
  bool splits() const { return std::count(options_.labels.begin(), options_.labels.end(), "") > 0; }

  void take_truth_and_labels() {
    for (const std::size_t index : roles_.truth) {
      settle_missing(raw_.columns[index], options_.na_values);
      if (all_missing(raw_.columns[index]))
        fail(ErrorCode::bad_data, "--truth {}: every cell of that column of {} is empty; name another",
             text::display(raw_.columns[index].name), raw_.file);
      ColumnSpec any_text;
      any_text.name = raw_.columns[index].name;
      any_text.kind = Kind::category;
      data_.truth.columns.push_back(typed_column(raw_, index, &any_text, kDatasetRemedy));
    }
    if (!roles_.truth.empty()) data_.truth.row_ids = data_.table.row_ids;
    for (const std::size_t index : roles_.labels)
      data_.labels.columns.push_back(label_column(raw_, index, options_));
    if (roles_.weights) {
      data_.weights.columns.push_back(weight_column(raw_, *roles_.weights));
      data_.weights.row_ids = data_.table.row_ids;
    }
    if (splits() && raw_.label) split_labels(raw_, *raw_.label, data_.labels);
    if (!data_.labels.columns.empty()) data_.labels.row_ids = data_.table.row_ids;
  }

  void find(Severity severity, std::string topic, std::vector<std::string> columns, std::string what,
            std::string remedy) {
    data_.findings.push_back(
        {severity, std::move(topic), std::move(columns), std::move(what), std::move(remedy)});
  }

  void take_column(std::size_t index) {
    RawColumn& column = raw_.columns[index];
    const ColumnSpec* told = roles_.specs[index];
    ColumnReport report;
    if (told != nullptr) report.spec = *told;
    report.spec.name = column.name;
    report.spec.inferred = told == nullptr;
    for (const std::string& token : options_.na_values)
      if (std::find(report.spec.missing_values.begin(), report.spec.missing_values.end(), token) ==
          report.spec.missing_values.end())
        report.spec.missing_values.push_back(token);
    settle_missing(column, report.spec.missing_values);
    Column typed;
    if (all_missing(column)) {
      report.left_out = "empty";
      report.spec.reason = "every cell is missing";
      typed.name = column.name;
    } else {
      const bool judged = !raw_.kind || told != nullptr;
      const TextNumbers numbers = judged ? settle_numbers(raw_, index, told, options_.rules) : TextNumbers{};
      report.spec.unit = numbers.unit.empty() ? report.spec.unit : numbers.unit;
      report.ambiguous = numbers.ambiguous;
      if (numbers.decimal_comma) has_comma_.insert(column.name);
      if (!numbers.mixed.empty())
        find(
            Severity::warning, "mixed", {column.name}, numbers.mixed,
            "correct those cells, declare them with --na-values, or say kind = \"category\" in the codebook");
      typed = told != nullptr || raw_.kind || has_plain_features_ ? settled(index, told, report)
                                                                  : decided(index, numbers.mixed, report);
    }
    report.spec.kind = typed.kind;
    report.spec.levels = typed.levels;
    report.missing =
        static_cast<std::size_t>(std::count_if(typed.values.begin(), typed.values.end(), is_missing));
    may_leave_.push_back(told == nullptr && !roles_.keep[index]);
    kept_by_name_.push_back(roles_.keep[index]);
    data_.report.push_back(std::move(report));
    columns_.push_back(std::move(typed));
  }

  /// A column whose kind is given by the codebook or the format, or is the simplest that fits its numbers.
  Column settled(std::size_t index, const ColumnSpec* told, ColumnReport& report) {
    const RawColumn& column = raw_.columns[index];
    if (told == nullptr && column.is_text &&
        column.levels.size() > std::max(options_.rules.identifier_values, raw_.rows / 2) &&
        !roles_.keep[index]) {
      report.left_out = "identifier";
      report.spec.reason = "nearly every row has its own text";
    }
    Column typed = typed_column(raw_, index, told, kDatasetRemedy);
    if (report.left_out.empty() && is_constant(typed.values))
      find(Severity::note, "constant", {typed.name}, "is constant", fmt::format("--drop '{}'", typed.name));
    return typed;
  }

  /// `mixed`: what settle_numbers said of a column in which only some cells are numbers.
  Column decided(std::size_t index, const std::string& mixed, ColumnReport& report) {
    RawColumn& column = raw_.columns[index];
    const std::size_t spellings = join_spellings_of_yes_and_no(column);
    const bool boolean = column.is_text && boolean_levels(column.levels).has_value();
    const std::size_t present = raw_.rows - static_cast<std::size_t>(std::count_if(
                                                column.values.begin(), column.values.end(), is_missing));
    Decision decision =
        column.is_text
            ? decide_texts({column.levels.size(), present, boolean, column.names_rows}, options_.rules)
            : decide_numbers(
                  {column.name, column.values, report.spec.unit, column.leading_zeros, column.names_rows},
                  options_.rules);
    if (spellings > 0) decision.reason += fmt::format(", in {} spellings", spellings);
    if (repeats_row_names(column)) {
      decision.left_out = "identifier";
      decision.reason = "equal to the names of the rows";
    }
    const bool is_wanted = roles_.keep[index] || (options_.family_is_named && !column.is_text);
    if (is_wanted || (!leaves_out_ && decision.left_out != "identifier")) {
      if (!decision.left_out.empty() && roles_.keep[index])
        decision.reason = fmt::format("kept by --keep-column ({})", decision.reason);
      decision.left_out.clear();
    }
    if (column.is_text) say_what_texts_hide(column, mixed, decision);
    report.left_out = decision.left_out;
    if (!decision.ambiguous.empty()) report.ambiguous = decision.ambiguous;
    report.spec.kind = decision.kind;
    report.spec.family = decision.family;
    report.spec.transform = decision.transform;
    report.spec.hurdle = decision.hurdle;
    report.spec.resolution = decision.resolution;
    report.spec.reason = decision.reason;
    if (!decision.sentinel.empty() && report.left_out.empty())
      find(Severity::warning, "sentinel", {column.name},
           fmt::format("has the number {} far from the others, which often means missing", decision.sentinel),
           fmt::format("missing_values = [{}] in the codebook, or --na-values {}", decision.sentinel,
                       decision.sentinel));
    if (!report.ambiguous.empty() && report.left_out.empty())
      find(Severity::ambiguous, "kind", {column.name},
           fmt::format("is taken as {}: {}", kind_name(decision.kind), decision.reason), report.ambiguous);
    column.declared_levels = std::move(decision.levels);
    return decided_column(raw_, index, decision.kind);
  }

  /// Numbers that stand where row names are written, once more.
  bool repeats_row_names(const RawColumn& column) const {
    return !column.is_text && raw_.columns[0].names_rows && !columns_.empty() &&
           data_.report.front().left_out == "identifier" && columns_.front().kind == Kind::real &&
           columns_.front().values == column.values;
  }

  /// Texts that are spelled in several ways, and numbers that are not understood.
  void say_what_texts_hide(const RawColumn& column, const std::string& mixed, Decision& decision) {
    if (decision.left_out.empty()) {
      if (const std::string alike = levels_alike(column); !alike.empty())
        find(Severity::warning, "spelling", {column.name},
             fmt::format("has texts that differ only in case or blanks: {}", alike), "write them alike");
      if (std::find(column.levels.begin(), column.levels.end(), text::kNone) != column.levels.end())
        decision.ambiguous = "None is taken as an answer; --na-values None if it means missing";
    } else if (decision.left_out == "identifier") {
      const std::string suffix = common_suffix(column, options_.rules.numeric_share);
      if (mixed.empty() && suffix.empty()) return;
      decision.left_out = "unclear";
      decision.reason =
          !mixed.empty() ? mixed : fmt::format("numbers with '{}' behind them", text::display(suffix, 30));
    }
  }

  /// Sums at the end of an export are no row of the data.
  void warn_of_total_row() {
    if (const auto total = find_total_row(raw_))
      find(Severity::warning, "total", {raw_.columns[total->column].name},
           fmt::format("has the text '{}' in the last row, which looks like sums",
                       text::display(total->text, 30)),
           "remove that row");
  }

  /// Scores would be worth nothing if a copy of the labels were modeled.
  void compare_with_truth() {
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      if (!data_.report[j].left_out.empty()) continue;
      for (const Column& truth : data_.truth.columns) {
        // Labels that hardly repeat are names of rows: any column goes with them.
        if (truth.levels.size() < 2 || 2 * truth.levels.size() > raw_.rows) continue;
        if (!determines(columns_[j], truth)) continue;
        if (determines(truth, columns_[j])) {
          if (!kept_by_name_[j])
            fail(ErrorCode::configuration,
                 "column '{}' of {} is a copy of --truth {}: each of its values goes with one label, so "
                 "scores would mean nothing; leave it out with --drop '{}', or model it with --keep-column "
                 "'{}'",
                 text::display(columns_[j].name), raw_.file, text::display(truth.name),
                 text::display(columns_[j].name), text::display(columns_[j].name));
          find(Severity::warning, "truth", {columns_[j].name},
               fmt::format("is a copy of the truth '{}' and is modeled: scores mean nothing", truth.name),
               fmt::format("--drop '{}'", columns_[j].name));
        } else if (columns_[j].kind == Kind::category && 5 * columns_[j].levels.size() <= raw_.rows) {
          find(Severity::warning, "truth", {columns_[j].name},
               fmt::format("leaks the truth '{}': each of its values goes with one label", truth.name),
               fmt::format("--drop '{}' if it was made from the labels", columns_[j].name));
        }
      }
    }
  }

  /// Columns that are modeled so far, taken out to be looked at together; `put_back` returns them.
  struct Modeled {
    std::vector<std::size_t> places;
    std::vector<Column> columns;
    std::vector<ColumnSpec> specs;
  };
  Modeled take_modeled() {
    Modeled modeled;
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      if (!data_.report[j].left_out.empty()) continue;
      modeled.places.push_back(j);
      modeled.columns.push_back(std::move(columns_[j]));
      modeled.specs.push_back(data_.report[j].spec);
    }
    return modeled;
  }
  void put_back(Modeled& modeled) {
    for (std::size_t i = 0; i < modeled.places.size(); ++i)
      columns_[modeled.places[i]] = std::move(modeled.columns[i]);
  }

  /// Skewness alone put columns on the log scale, and a small mean made them counts: some are better as they
  /// are beside the others.
  void choose_scales() {
    Modeled modeled = take_modeled();
    for (const std::size_t i : find_better_without_log(modeled.columns, modeled.specs, options_.rules)) {
      ColumnSpec& spec = data_.report[modeled.places[i]].spec;
      spec.transform.clear();
      modeled.specs[i].transform.clear();
      spec.reason += ", but more in line with other columns as it is";
    }
    // Plain features and a named family say themselves what numbers are.
    const bool is_open = !has_plain_features_ && !raw_.kind && !options_.family_is_named;
    for (const std::size_t i : is_open ? find_measured_counts(modeled.columns, modeled.specs, options_.rules)
                                       : std::vector<std::size_t>()) {
      ColumnReport& report = data_.report[modeled.places[i]];
      ColumnSpec& spec = report.spec;
      modeled.columns[i].kind = spec.kind = Kind::real;
      spec.family.clear();
      spec.resolution = 1.0;
      spec.reason += "; measurements, narrower than counts can be where other columns are alike";
      report.ambiguous.clear();
      std::erase_if(data_.findings, [&](const Finding& finding) {
        return finding.topic == "kind" && finding.columns[0] == spec.name;
      });
    }
    put_back(modeled);
  }

  void leave_out_redundant() {
    Modeled modeled = take_modeled();
    std::vector<bool> may_leave;
    for (const std::size_t j : modeled.places) may_leave.push_back(may_leave_[j]);
    for (const Redundancy& found :
         find_redundant(modeled.columns, modeled.specs, may_leave, options_.rules)) {
      ColumnReport& report = data_.report[modeled.places[found.column]];
      if (!found.certain) {
        find(Severity::note, "duplicate", {report.spec.name}, fmt::format("may be a copy: {}", found.reason),
             fmt::format("--drop '{}' if it is", report.spec.name));
        continue;
      }
      report.left_out = found.collinear ? "collinear" : "duplicate";
      report.spec.reason = found.reason;
      report.ambiguous.clear();
    }
    put_back(modeled);
  }

  /// Where some columns have decimal commas, a point may separate thousands.
  void warn_of_decimal_points() {
    if (has_comma_.empty()) return;
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      if (columns_[j].kind != Kind::real || !data_.report[j].left_out.empty()) continue;
      // Numbers of at most three decimals, none of them needed beyond thousandths, are what thousands look
      // like.
      const auto is_grouped = [](double x) {
        return is_missing(x) || std::floor(1000.0 * x + 0.5) == 1000.0 * x;
      };
      const auto is_fraction = [](double x) { return !is_missing(x) && x != std::floor(x); };
      const std::vector<double>& values = columns_[j].values;
      if (has_comma_.contains(columns_[j].name)) continue;
      if (std::any_of(values.begin(), values.end(), is_fraction) &&
          std::all_of(values.begin(), values.end(), is_grouped))
        find(Severity::warning, "decimal", {columns_[j].name},
             "has decimal points where other columns have decimal commas",
             "if the points separate thousands, write the numbers without them");
    }
  }

  void drop_left_out() {
    std::set<std::string> gone;
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      if (!data_.report[j].left_out.empty()) {
        gone.insert(data_.report[j].spec.name);
        continue;
      }
      data_.codebook.columns.push_back(data_.report[j].spec);
      data_.table.columns.push_back(std::move(columns_[j]));
    }
    std::erase_if(data_.findings, [&](const Finding& finding) {
      return finding.topic != "total" && gone.contains(finding.columns[0]);
    });
  }

  void add_indicators() {
    if (options_.codebook == nullptr) return;
    std::vector<Column> columns;
    std::vector<ColumnSpec> specs;
    for (std::size_t j = 0; j < data_.table.columns.size(); ++j) {
      columns.push_back(std::move(data_.table.columns[j]));
      specs.push_back(std::move(data_.codebook.columns[j]));
      if (specs.back().missing != "informative") continue;
      Column indicator = indicator_of(columns.back());
      if (names_.contains(indicator.name))
        fail(
            ErrorCode::configuration,
            "column '{}' of {}: missing = \"informative\" adds a column '{}', but there is one of that name; "
            "rename it",
            text::display(specs.back().name), raw_.file, text::display(indicator.name));
      if (is_constant(indicator.values)) {
        find(Severity::note, "missing", {columns.back().name},
             "has no missing cells that could be informative", "remove missing = \"informative\"");
        continue;
      }
      ColumnSpec spec;
      if (const ColumnSpec* told = options_.codebook->find(indicator.name)) spec = *told;
      spec.name = indicator.name;
      spec.kind = Kind::binary;
      spec.reason = fmt::format("1 where '{}' is missing", columns.back().name);
      columns.push_back(std::move(indicator));
      specs.push_back(std::move(spec));
    }
    data_.table.columns = std::move(columns);
    data_.codebook.columns = std::move(specs);
  }

  void say_what_is_left_out() {
    struct Wording {
      std::string_view topic, one, many, remedy;
    };
    constexpr Wording kWordings[] = {
        {"empty", "every cell is missing", "because every cell is missing", ""},
        {"identifier", "", "because they look like identifiers (use one with --id, or --keep-column them)",
         "use it with --id, or model it with --keep-column '{}'"},
        {"constant", "", "because they are constant", "--keep-column '{}'"},
        {"unclear", "", "", "write plain numbers, or say kind = \"category\" in the codebook"},
        {"duplicate", "", "because they repeat other columns (--keep-column them to count them again)",
         "--keep-column '{}' counts it again"},
        {"collinear", "", "because the others determine them (--keep-column them if you must)",
         "--keep-column '{}'"}};
    for (const Wording& wording : kWordings) {
      std::vector<std::string> names;
      std::string reason;
      for (const ColumnReport& report : data_.report) {
        if (report.left_out != wording.topic) continue;
        names.push_back(report.spec.name);
        reason = report.spec.reason;
        find(wording.topic == "unclear" ? Severity::warning : Severity::note, report.left_out,
             {report.spec.name}, fmt::format("is left out: {}", report.spec.reason),
             wording.remedy.empty() ? "" : fmt::format(fmt::runtime(wording.remedy), report.spec.name));
      }
      if (wording.topic == "unclear") continue;  // a warning is enough
      if (names.size() == 1)
        data_.notes.push_back(
            fmt::format("column {} is left out: {}{}", text::list_names(names), reason,
                        wording.topic == "identifier"
                            ? ", so it looks like an identifier; use it with --id, or --keep-column it"
                            : ""));
      if (names.size() > 1)
        data_.notes.push_back(fmt::format("{} columns are left out {}: {}", names.size(), wording.many,
                                          text::list_names(names)));
    }
    std::vector<std::string> constant;
    for (const Finding& finding : data_.findings)
      if (finding.topic == "constant" && finding.what == "is constant")
        constant.push_back(finding.columns[0]);
    if (constant.size() == 1)
      data_.notes.push_back(fmt::format("column {} is constant", text::list_names(constant)));
    if (constant.size() > 1)
      data_.notes.push_back(
          fmt::format("{} columns are constant: {}", constant.size(), text::list_names(constant)));
  }

  RawTable raw_;
  const Roles& roles_;
  const ReadOptions& options_;
  bool has_plain_features_;
  bool leaves_out_;
  Dataset data_;
  std::set<std::string> names_;  // of all columns of the file
  std::vector<Column> columns_;  // beside data_.report
  std::vector<bool> may_leave_;
  std::vector<bool> kept_by_name_;
  std::set<std::string> has_comma_;  // columns with decimal commas
};

}  // namespace

Dataset assemble(RawTable raw, const Roles& roles, const ReadOptions& options) {
  return Assembly(std::move(raw), roles, options).run();
}

}  // namespace coppice
