// A small scanner over dates; the calendar is the proleptic Gregorian one.
#include "coppice/data/kinds/date_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include "coppice/data/text.hpp"

namespace coppice::text {
namespace {

using namespace std::chrono;

constexpr std::array<std::string_view, 12> kMonths = {"jan", "feb", "mar", "apr", "may", "jun",
                                                      "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 12> kLongMonths = {"january",   "february", "march",    "april",
                                                          "may",       "june",     "july",     "august",
                                                          "september", "october",  "november", "december"};

constexpr double kDay = 86400.0;  // in seconds
constexpr std::int64_t kSecondsOfDay = 86400;

std::int64_t thousandths(double seconds) { return std::llround(1000.0 * seconds); }

/// Of thousandths of a second since midnight; whole seconds have no decimals.
std::string clock_text(std::int64_t thousandth) {
  const std::int64_t second = thousandth / 1000;
  std::string text = fmt::format("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
  if (thousandth % 1000 != 0) text += fmt::format(".{:03}", thousandth % 1000);
  return text;
}

/// Reads from the front of a text; every take either succeeds or leaves the scanner where it was.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(trim(text)) {}
  bool done() const { return rest_.empty(); }
  char front() const { return rest_.empty() ? '\0' : rest_[0]; }

  bool take(char c) {
    if (front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  char take_one_of(std::string_view signs) {
    if (rest_.empty() || signs.find(rest_[0]) == std::string_view::npos) return '\0';
    const char sign = rest_[0];
    rest_.remove_prefix(1);
    return sign;
  }
  std::optional<int> digits(std::size_t least, std::size_t most) {
    std::size_t length = 0;
    int value = 0;
    while (length < rest_.size() && rest_[length] >= '0' && rest_[length] <= '9') {
      if (++length > most) return std::nullopt;
      value = value * 10 + (rest_[length - 1] - '0');
    }
    if (length < least) return std::nullopt;
    rest_.remove_prefix(length);
    return value;
  }
  /// Letters, in lower case.
  std::string word() {
    std::string letters;
    while (!rest_.empty()) {
      const char lower = rest_[0] >= 'A' && rest_[0] <= 'Z' ? static_cast<char>(rest_[0] + 32) : rest_[0];
      if (lower < 'a' || lower > 'z') break;
      letters += lower;
      rest_.remove_prefix(1);
    }
    return letters;
  }
  void blanks() { rest_ = trim(rest_); }
  double fraction() {
    double value = 0.0;
    double unit = 0.1;
    for (; !rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9'; rest_.remove_prefix(1), unit *= 0.1)
      value += unit * (rest_[0] - '0');
    return value;
  }

 private:
  std::string_view rest_;
};

std::optional<double> seconds_of_day(int y, int m, int d) {
  const year_month_day date{year{y}, month{static_cast<unsigned>(m)}, day{static_cast<unsigned>(d)}};
  if (y < 1 || y > 9999 || m < 1 || d < 1 || !date.ok()) return std::nullopt;
  return 86400.0 * static_cast<double>(sys_days{date}.time_since_epoch().count());
}

/// hh:mm[:ss[.f]] and AM or PM, in seconds since midnight.
std::optional<double> take_clock(Scanner& scanner) {
  const auto hours = scanner.digits(1, 2);
  if (!hours || !scanner.take(':')) return std::nullopt;
  const auto minutes = scanner.digits(2, 2);
  if (!minutes || *minutes > 59 || *hours > 23) return std::nullopt;
  double seconds = 3600.0 * *hours + 60.0 * *minutes;
  if (scanner.take(':')) {
    const auto whole = scanner.digits(2, 2);
    if (!whole || *whole > 60) return std::nullopt;
    seconds += *whole;
    if (scanner.take_one_of(".,") != '\0') seconds += scanner.fraction();
  }
  scanner.blanks();
  if (scanner.front() == 'Z' || scanner.front() == '\0') return seconds;
  if (scanner.front() == '+' || scanner.front() == '-') return seconds;
  const std::string half = scanner.word();
  if ((half != "am" && half != "pm") || *hours < 1 || *hours > 12) return std::nullopt;
  if (half == "am" && *hours == 12) seconds -= 43200.0;
  if (half == "pm" && *hours != 12) seconds += 43200.0;
  return seconds;
}

/// Z, +02:00, +0200 or +02: how much later than UTC the clock is.
std::optional<double> take_zone(Scanner& scanner) {
  if (scanner.done() || scanner.take('Z')) return 0.0;
  const char sign = scanner.take_one_of("+-");
  if (sign == '\0') return std::nullopt;
  auto hours = scanner.digits(2, 2);
  int minutes = 0;
  if (!hours) {
    const auto both = scanner.digits(4, 4);
    if (!both) return std::nullopt;
    hours = *both / 100;
    minutes = *both % 100;
  } else if (scanner.take(':')) {
    const auto rest = scanner.digits(2, 2);
    if (!rest) return std::nullopt;
    minutes = *rest;
  }
  return (sign == '+' ? 1.0 : -1.0) * (3600.0 * *hours + 60.0 * minutes);
}

int month_of(const std::string& word) {
  for (std::size_t i = 0; i < kMonths.size(); ++i)
    if (word == kMonths[i] || word == kLongMonths[i] || (i == 8 && word == "sept"))
      return static_cast<int>(i) + 1;
  return 0;
}

/// 31 Jan 2024, 31-Jan-2024, Jan 31, 2024.
std::optional<double> take_named_date(Scanner& scanner) {
  auto day_number = scanner.digits(1, 2);
  if (day_number) scanner.take_one_of("-. ");
  scanner.blanks();
  const int month_number = month_of(scanner.word());
  if (month_number == 0) return std::nullopt;
  scanner.take('.');
  scanner.take('-');
  scanner.blanks();
  if (!day_number) {
    day_number = scanner.digits(1, 2);
    if (!day_number) return std::nullopt;
    scanner.take(',');
    scanner.blanks();
  }
  const auto year_number = scanner.digits(4, 4);
  if (!year_number) return std::nullopt;
  return seconds_of_day(*year_number, month_number, *day_number);
}

std::optional<double> take_date(Scanner& scanner, DateOrder order) {
  if (order == DateOrder::year_first) {
    const Scanner start = scanner;
    if (const auto year_number = scanner.digits(4, 4)) {
      const char sign = scanner.take_one_of("-/");
      const auto month_number = sign == '\0' ? std::nullopt : scanner.digits(1, 2);
      if (!month_number) return std::nullopt;
      if (scanner.done() && sign == '-') return seconds_of_day(*year_number, *month_number, 1);
      if (!scanner.take(sign)) return std::nullopt;
      const auto day_number = scanner.digits(1, 2);
      return day_number ? seconds_of_day(*year_number, *month_number, *day_number) : std::nullopt;
    }
    scanner = start;
    return take_named_date(scanner);
  }
  if (order == DateOrder::digits) {
    const auto all = scanner.digits(8, 8);
    return all && *all >= 18000101 ? seconds_of_day(*all / 10000, *all / 100 % 100, *all % 100)
                                   : std::nullopt;
  }
  const auto first = scanner.digits(1, 2);
  const char sign = first ? scanner.take_one_of("./-") : '\0';
  const auto second = sign == '\0' ? std::nullopt : scanner.digits(1, 2);
  if (!second || !scanner.take(sign)) return std::nullopt;
  const auto year_number = scanner.digits(4, 4);
  if (!year_number) return std::nullopt;
  return order == DateOrder::day_first ? seconds_of_day(*year_number, *second, *first)
                                       : seconds_of_day(*year_number, *first, *second);
}

}  // namespace

std::optional<Moment> parse_moment(std::string_view text, DateOrder order) {
  Scanner scanner(text);
  if (order == DateOrder::clock) {
    const auto clock = take_clock(scanner);
    return clock && scanner.done() ? std::optional(Moment{*clock, true}) : std::nullopt;
  }
  const auto date = take_date(scanner, order);
  if (!date) return std::nullopt;
  if (scanner.done()) return Moment{*date, false};
  if (scanner.take_one_of("T ") == '\0') return std::nullopt;
  scanner.blanks();
  const auto clock = take_clock(scanner);
  const auto zone = clock ? take_zone(scanner) : std::nullopt;
  if (!zone || !scanner.done()) return std::nullopt;
  return Moment{*date + *clock - *zone, true};
}

bool has_short_year(std::string_view text) {
  Scanner scanner(text);
  const auto first = scanner.digits(1, 2);
  const char sign = first ? scanner.take_one_of("./-") : '\0';
  const auto second = sign == '\0' ? std::nullopt : scanner.digits(1, 2);
  return second && scanner.take(sign) && scanner.digits(2, 2) && scanner.done();
}

std::string date_text(std::int64_t day) {
  const year_month_day date{sys_days{std::chrono::days{day}}};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

std::string moment_text(const DateUnit& unit, double number) {
  if (unit.order == DateOrder::clock) {
    // Around midnight: 10 s before it is 23:59:50.
    const double since = std::isfinite(number) ? number - kDay * std::floor(number / kDay) : 0.0;
    return clock_text(thousandths(std::clamp(since, 0.0, kDay)) % (1000 * kSecondsOfDay));
  }
  constexpr double kFirst = -719'162.0 * kDay, kEnd = 2'932'897.0 * kDay;  // of years of four digits
  const double second =
      std::clamp(unit.origin + number * (unit.days ? kDay : 1.0), kFirst, kEnd - (unit.days ? kDay : 1.0));
  if (unit.days) return date_text(std::llround(second / kDay));
  const std::int64_t whole = thousandths(second);
  const auto day = static_cast<std::int64_t>(std::floor(static_cast<double>(whole) / (1000.0 * kDay)));
  return date_text(day) + "T" + clock_text(whole - 1000 * kSecondsOfDay * day);
}

std::string to_text(const DateUnit& unit) {
  if (unit.order == DateOrder::clock) return "seconds since midnight";
  const auto moment = static_cast<std::int64_t>(std::floor(unit.origin));
  const auto day = static_cast<std::int64_t>(std::floor(static_cast<double>(moment) / kDay));
  std::string text = fmt::format("{} since {}", unit.days ? "days" : "seconds", date_text(day));
  if (!unit.days) text += "T" + clock_text(1000 * (moment - kSecondsOfDay * day));
  if (unit.order == DateOrder::day_first) text += ", day first";
  if (unit.order == DateOrder::month_first) text += ", month first";
  if (unit.order == DateOrder::digits) text += ", yyyymmdd";
  return text;
}

std::optional<DateUnit> parse_date_unit(std::string_view text) {
  DateUnit unit;
  if (text == "seconds since midnight") {
    unit.order = DateOrder::clock;
    unit.days = false;
    return unit;
  }
  unit.days = text.starts_with("days since ");
  if (!unit.days && !text.starts_with("seconds since ")) return std::nullopt;
  text.remove_prefix(unit.days ? 11 : 14);
  const std::size_t comma = text.find(',');
  const std::string_view order = comma == std::string_view::npos ? "" : trim(text.substr(comma + 1));
  if (order == "day first")
    unit.order = DateOrder::day_first;
  else if (order == "month first")
    unit.order = DateOrder::month_first;
  else if (order == "yyyymmdd")
    unit.order = DateOrder::digits;
  else if (!order.empty())
    return std::nullopt;
  const auto origin = parse_moment(text.substr(0, comma), DateOrder::year_first);
  if (!origin) return std::nullopt;
  unit.origin = origin->seconds;
  return unit;
}

}  // namespace coppice::text
