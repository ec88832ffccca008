#include "coppice/data/kinds/text_numbers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "coppice/data/kinds/date_text.hpp"
#include "coppice/data/kinds/number_text.hpp"

namespace coppice {
namespace {

bool is_lone_sign(std::string_view text) {
  return text == "-" || text == "." || text == "--" || text == "---" || text == "..";
}

bool has_letter_or_digit(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
}

bool names(std::string_view token, std::string_view text) {
  double wanted = 0.0;
  double found = 0.0;
  return token == text || (text::parse_number(token, wanted) == text::Parsed::number &&
                           text::parse_number(text, found) == text::Parsed::number && wanted == found);
}

/// Takes levels out; cells that had them are missing.
void remove_levels(RawColumn& column, const std::vector<bool>& removed) {
  std::vector<double> code(column.levels.size(), kMissing);
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < column.levels.size(); ++i) {
    if (removed[i]) continue;
    code[i] = static_cast<double>(kept.size());
    kept.push_back(std::move(column.levels[i]));
  }
  for (double& value : column.values)
    if (!is_missing(value)) value = code[static_cast<std::size_t>(value)];
  column.levels = std::move(kept);
}

/// One way to read the texts of a column.
struct Reading {
  std::vector<double> numbers;  // by level; NaN: is not a number
  std::size_t cells = 0;        // that are numbers
  std::string unit;
  std::string ambiguous;
  bool is_date = false;
  bool decimal_comma = false;
};

class ColumnReader {
 public:
  ColumnReader(RawTable& raw, std::size_t index) : raw_(raw), index_(index), column_(raw.columns[index]) {
    counts_.assign(column_.levels.size(), 0);
    for (const double value : column_.values)
      if (!is_missing(value)) ++counts_[static_cast<std::size_t>(value)];
    // Beside numbers or dates it is a missing cell, as in a column of plain numbers.
    for (std::size_t i = 0; i < counts_.size(); ++i)
      if (column_.levels[i] == text::kNone) counts_[i] = 0;
    for (const std::size_t count : counts_) present_ += count;
  }

  std::size_t present() const { return present_; }

  bool is_plain(std::size_t level) const {
    double value = 0.0;
    return text::parse_number(column_.levels[level], value) != text::Parsed::not_number;
  }
  bool all_plain() const {
    for (std::size_t i = 0; i < counts_.size(); ++i)
      if (counts_[i] > 0 && !is_plain(i)) return false;
    return true;
  }

  /// As numbers: the decimal mark that more cells agree with, that of the file's delimiter if both do.
  Reading as_numbers(const std::string& unit = {}) const {
    const bool commas = raw_.delimiter == ';';
    Reading first = with_mark(commas ? text::DecimalMark::comma : text::DecimalMark::point, unit);
    Reading second = with_mark(commas ? text::DecimalMark::point : text::DecimalMark::comma, unit);
    return second.cells > first.cells ? second : first;
  }

  /// As dates of the order that most cells agree with; month before day if both orders do.
  Reading as_dates() const {
    Reading best;
    text::DateOrder best_order = text::DateOrder::year_first;
    for (const text::DateOrder order : {text::DateOrder::year_first, text::DateOrder::month_first,
                                        text::DateOrder::day_first, text::DateOrder::clock}) {
      Reading reading = with_order(order, std::nullopt);
      if (order == text::DateOrder::day_first && best_order == text::DateOrder::month_first &&
          reading.cells == best.cells) {
        best.ambiguous = "month first; if the day comes first, write the dates as yyyy-mm-dd";
        continue;
      }
      if (reading.cells <= best.cells) continue;
      best = std::move(reading);
      best_order = order;
    }
    return best;
  }

  /// In a unit that is known: dates, or numbers that are in the unit already.
  Reading in_unit(const text::DateUnit& unit) const {
    Reading reading = with_order(unit.order, unit);
    accept_plain(reading);
    return reading;
  }

  /// Numbers without any sign are in the unit already.
  void accept_plain(Reading& reading) const {
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      double value = 0.0;
      if (counts_[i] == 0 || !std::isnan(reading.numbers[i]) ||
          text::parse_number(column_.levels[i], value) != text::Parsed::number)
        continue;
      reading.numbers[i] = value;
      reading.cells += counts_[i];
    }
  }

  std::size_t short_years() const {
    std::size_t cells = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i)
      if (text::has_short_year(column_.levels[i])) cells += counts_[i];
    return cells;
  }

  [[noreturn]] void fail_at_first(const Reading& reading, std::string_view problem) const {
    const auto odd = std::find_if(column_.values.begin(), column_.values.end(), [&](double value) {
      if (is_missing(value)) return false;
      const auto level = static_cast<std::size_t>(value);
      return counts_[level] > 0 && std::isnan(reading.numbers[level]);
    });
    raw_.fail_cell(static_cast<std::size_t>(odd - column_.values.begin()), index_, problem);
  }

  bool is_in_first_row(std::string_view level) const {
    return !column_.values.empty() && !is_missing(column_.values[0]) &&
           column_.levels[static_cast<std::size_t>(column_.values[0])] == level;
  }

  std::string first_odd_text(const Reading& reading) const {
    for (std::size_t i = 0; i < counts_.size(); ++i)
      if (counts_[i] > 0 && std::isnan(reading.numbers[i])) return column_.levels[i];
    return {};
  }

  void adopt(const Reading& reading) {
    for (std::size_t row = 0; row < column_.values.size(); ++row) {
      double& value = column_.values[row];
      if (!is_missing(value)) value = reading.numbers[static_cast<std::size_t>(value)];
    }
    column_.levels.clear();
    column_.is_text = false;
  }

 private:
  /// `unit` is that of the column, if it is known; else that of most cells.
  Reading with_mark(text::DecimalMark mark, const std::string& unit) const {
    Reading reading;
    reading.decimal_comma = mark == text::DecimalMark::comma;
    reading.numbers.assign(counts_.size(), kMissing);
    std::map<std::string, std::size_t> cells_with;  // by mark; those of plain numbers under ""
    bool undecided = false;
    bool decided = false;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      text::WrittenNumber number;
      if (counts_[i] == 0 || !text::parse_written_number(column_.levels[i], mark, number)) continue;
      reading.numbers[i] = number.value;
      reading.cells += counts_[i];
      undecided = undecided || number.ambiguous;
      decided = decided || (!number.ambiguous && column_.levels[i].find_first_of(".,") != std::string::npos);
      cells_with[number.mark] += counts_[i];
    }
    const auto most = std::max_element(cells_with.begin(), cells_with.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most != cells_with.end()) reading.unit = unit.empty() ? most->first : unit;
    if (cells_with.size() > 1) keep_one_unit(reading);
    if (undecided && !decided)
      reading.ambiguous = mark == text::DecimalMark::comma
                              ? "a decimal comma; if it separates thousands, write the numbers without it"
                              : "a separator of thousands; if it is a decimal comma, write a point";
    return reading;
  }

  /// 12% and 0.12, or $5 and €5, in one column mean different things; only the user knows which. The cells
  /// that are not in the unit of most are therefore not numbers; a plain zero is in any unit.
  void keep_one_unit(Reading& reading) const {
    const auto mark = reading.decimal_comma ? text::DecimalMark::comma : text::DecimalMark::point;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      text::WrittenNumber number;
      if (std::isnan(reading.numbers[i]) || !text::parse_written_number(column_.levels[i], mark, number))
        continue;
      if (number.mark == reading.unit || (number.mark.empty() && number.value == 0.0)) continue;
      reading.numbers[i] = kMissing;
      reading.cells -= counts_[i];
    }
  }

  Reading with_order(text::DateOrder order, std::optional<text::DateUnit> unit) const {
    Reading reading;
    reading.is_date = true;
    reading.numbers.assign(counts_.size(), kMissing);
    std::vector<std::optional<text::Moment>> moments(counts_.size());
    bool any_time = false;
    double earliest = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i] == 0) continue;
      moments[i] = text::parse_moment(column_.levels[i], order);
      // A date with its year first or its month in words says itself what it is.
      if (!moments[i] && order != text::DateOrder::clock && order != text::DateOrder::year_first)
        moments[i] = text::parse_moment(column_.levels[i], text::DateOrder::year_first);
      if (!moments[i]) continue;
      reading.cells += counts_[i];
      any_time = any_time || moments[i]->has_time;
      earliest = std::min(earliest, moments[i]->seconds);
    }
    if (reading.cells == 0) return reading;
    if (!unit)
      unit = text::DateUnit{order, !any_time, order == text::DateOrder::clock ? 0.0 : std::floor(earliest)};
    for (std::size_t i = 0; i < counts_.size(); ++i)
      if (moments[i]) reading.numbers[i] = unit->number_of(*moments[i]);
    reading.unit = to_text(*unit);
    return reading;
  }

  RawTable& raw_;
  std::size_t index_;
  RawColumn& column_;
  std::vector<std::size_t> counts_;
  std::size_t present_ = 0;
};

/// A number, but with a currency or percent sign.
bool has_unit(std::string_view text) {
  text::WrittenNumber number;
  return (text::parse_written_number(text, text::DecimalMark::point, number) ||
          text::parse_written_number(text, text::DecimalMark::comma, number)) &&
         !number.mark.empty();
}

bool is_day_number(double value) {
  return value >= 18000101.0 && value <= 21001231.0 && value == std::floor(value);
}

/// Whole numbers that are days such as 20240131, every one of them.
std::optional<std::string> settle_digit_dates(RawColumn& column, const std::optional<text::DateUnit>& unit,
                                              const KindRules& rules) {
  const auto first = std::find_if(column.values.begin(), column.values.end(),
                                  [](double value) { return !is_missing(value); });
  if (first == column.values.end() || !is_day_number(*first)) return std::nullopt;
  std::size_t present = 0;
  double earliest = std::numeric_limits<double>::infinity();
  std::vector<double> seconds(column.values.size(), kMissing);
  for (std::size_t row = 0; row < column.values.size(); ++row) {
    const double value = column.values[row];
    if (is_missing(value)) continue;
    if (!is_day_number(value)) return std::nullopt;
    const auto moment =
        text::parse_moment(fmt::format("{}", static_cast<long>(value)), text::DateOrder::digits);
    if (!moment) return std::nullopt;
    seconds[row] = moment->seconds;
    earliest = std::min(earliest, moment->seconds);
    ++present;
  }
  if (present == 0 || (!unit && present < rules.numeric_cells)) return std::nullopt;
  const text::DateUnit used = unit.value_or(text::DateUnit{text::DateOrder::digits, true, earliest});
  for (std::size_t row = 0; row < column.values.size(); ++row)
    if (!is_missing(seconds[row])) column.values[row] = used.number_of({seconds[row], false});
  return to_text(used);
}

TextNumbers settle_declared(RawTable& raw, std::size_t index, const ColumnSpec& spec) {
  RawColumn& column = raw.columns[index];
  const std::optional<text::DateUnit> unit = text::parse_date_unit(spec.unit);
  if (!column.is_text) {
    if (unit && unit->order == text::DateOrder::digits) settle_digit_dates(column, unit, {});
    return {spec.unit, {}, {}, false};
  }
  ColumnReader reader(raw, index);
  Reading reading = unit ? reader.in_unit(*unit) : reader.as_numbers(spec.unit);
  if (!spec.unit.empty()) reader.accept_plain(reading);
  if (!unit && spec.unit.empty() && reading.cells < reader.present())
    if (Reading dates = reader.as_dates(); dates.cells == reader.present()) reading = std::move(dates);
  if (reading.cells < reader.present())
    reader.fail_at_first(reading, unit ? fmt::format("is not a date or time ({}); correct it, or leave the "
                                                     "cell empty if it is missing",
                                                     spec.unit)
                                       : "is not a number; correct it, or leave the cell empty if it is "
                                         "missing");
  reader.adopt(reading);
  return {spec.unit.empty() ? reading.unit : spec.unit, reading.ambiguous, {}, reading.decimal_comma};
}

}  // namespace

void settle_missing(RawColumn& column, std::span<const std::string> tokens) {
  if (!column.is_text) {
    for (const std::string& token : tokens) {
      double missing = 0.0;
      if (text::parse_number(token, missing) != text::Parsed::number) continue;
      std::replace(column.values.begin(), column.values.end(), missing, kMissing);
    }
    return;
  }
  if (column.want == Want::identity) return;
  const bool words = std::any_of(column.levels.begin(), column.levels.end(),
                                 [](const std::string& level) { return has_letter_or_digit(level); });
  std::vector<bool> removed(column.levels.size(), false);
  bool any = false;
  for (std::size_t i = column.declared_levels.size(); i < column.levels.size(); ++i) {
    const std::string& level = column.levels[i];
    removed[i] = (words && is_lone_sign(level)) ||
                 std::any_of(tokens.begin(), tokens.end(),
                             [&](const std::string& token) { return names(token, level); });
    any = any || removed[i];
  }
  if (any) remove_levels(column, removed);
}

TextNumbers settle_numbers(RawTable& raw, std::size_t index, const ColumnSpec* spec, const KindRules& rules) {
  RawColumn& column = raw.columns[index];
  if (spec != nullptr) {
    if (spec->kind == Kind::real || spec->kind == Kind::count) return settle_declared(raw, index, *spec);
    return {};
  }
  TextNumbers result;
  if (!column.is_text) {
    if (const auto unit = settle_digit_dates(column, std::nullopt, rules)) {
      result.unit = *unit;
      result.ambiguous = "dates such as 20240131; if they are numbers, say kind = \"real\" in the codebook";
    }
    return result;
  }
  ColumnReader reader(raw, index);
  const std::size_t present = reader.present();
  // Columns in memory whose texts are all numbers were made texts on purpose.
  if (present == 0 || (raw.delimiter == '\0' && reader.all_plain())) return result;
  Reading reading = reader.as_numbers();
  if (Reading dates = reader.as_dates(); dates.cells > reading.cells) reading = std::move(dates);
  const double share = static_cast<double>(reading.cells) / static_cast<double>(present);
  const bool enough = present >= rules.numeric_cells;
  if (reading.cells < present && enough &&
      static_cast<double>(reader.short_years()) >= rules.numeric_share * static_cast<double>(present))
    reader.fail_at_first(reading,
                         "is a date whose year has two digits; write the dates of the column as yyyy-mm-dd");
  if (reading.cells == present) {
    result.unit = reading.unit;
    result.ambiguous = reading.ambiguous;
    result.decimal_comma = reading.decimal_comma;
    reader.adopt(reading);
    return result;
  }
  const std::string odd = reader.first_odd_text(reading);
  // Few different values are categories, the odd one among them: 4, 6, 8 cylinders and a rotary engine.
  const bool has_few_levels =
      reading.unit.empty() && !has_unit(odd) && column.levels.size() <= rules.code_values &&
      static_cast<double>(present) >= rules.category_repeats * static_cast<double>(column.levels.size());
  if (enough && share >= rules.numeric_share && !has_few_levels)
    reader.fail_at_first(
        reading,
        fmt::format(
            "is not {}{} where {} of {} cells of the column are; correct it, leave the cell empty, say "
            "--na-values '{}' if it means missing{}, make the column a category in the codebook, or leave it "
            "out with --drop '{}'",
            reading.is_date ? "a date or time" : "a number",
            reading.is_date         ? ""
            : !reading.unit.empty() ? fmt::format(" with {}", reading.unit)
            : has_unit(odd)         ? " without a unit"
                                    : "",
            reading.cells, present, text::display(odd, 30),
            reader.is_in_first_row(odd) ? ", remove the row if it holds units" : "",
            text::display(column.name)));
  if (share >= 0.5)
    result.mixed = fmt::format("has {} in {} of {} cells, but also others such as '{}'",
                               reading.is_date ? "dates or times" : "numbers", reading.cells, present,
                               text::display(odd, 30));
  return result;
}

}  // namespace coppice
