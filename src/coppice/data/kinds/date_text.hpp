// Dates and times as text, and the unit in which a column of them becomes numbers. The unit is part of the
// codebook, so that new rows are counted from the same day.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace coppice::text {

enum class DateOrder {
  year_first,   // 2024-01-31, 2024/01/31, 2024-01, with T12:30:00Z or 12:30; 31 Jan 2024, Jan 31, 2024
  day_first,    // 31.01.2024, 31/1/2024
  month_first,  // 01/31/2024
  digits,       // 20240131
  clock,        // 12:30, 12:30:05, 3:45 PM
};

struct Moment {
  double seconds = 0.0;  // since 1970-01-01T00:00:00Z, or since midnight
  bool has_time = false;
};

std::optional<Moment> parse_moment(std::string_view text, DateOrder order);
/// A date like 01/31/24, whose century is not known.
bool has_short_year(std::string_view text);

struct DateUnit {
  DateOrder order = DateOrder::year_first;
  bool days = true;     // otherwise seconds
  double origin = 0.0;  // seconds since 1970-01-01, or 0 for a clock

  double number_of(const Moment& moment) const { return (moment.seconds - origin) / (days ? 86400.0 : 1.0); }
};

/// "2024-01-31", for a number of days since 1970-01-01.
std::string date_text(std::int64_t day);
/// The moment that a number of the unit counts to, to the day or the thousandth of a second: "2024-01-31",
/// "2024-01-31T12:30:00.250", "12:30:00" of a clock. Outside the years 1 to 9999 their first or last one.
std::string moment_text(const DateUnit& unit, double number);

/// "days since 2024-01-31", "seconds since 2024-01-31T12:30:00, day first", "seconds since midnight".
std::string to_text(const DateUnit& unit);
/// Nothing for a text that to_text did not write.
std::optional<DateUnit> parse_date_unit(std::string_view text);

}  // namespace coppice::text
