#include "coppice/data/arrow_stream.hpp"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "coppice/data/kinds/date_text.hpp"

namespace coppice {
namespace {

/// Releases what it holds, as the interface asks of whoever has taken it.
template <typename Held>
struct Owned {
  Held held{};
  Owned() = default;
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (held.release != nullptr) held.release(&held);
  }
};

template <typename T>
T load_value(const ArrowArray& array, std::size_t buffer, std::size_t index) {
  T value;
  std::memcpy(&value, static_cast<const char*>(array.buffers[buffer]) + index * sizeof(T), sizeof(T));
  return value;
}

bool bit(const void* bits, std::size_t index) {
  return (static_cast<const unsigned char*>(bits)[index / 8] >> (index % 8) & 1U) != 0;
}

double half_to_double(std::uint16_t half) {
  const int exponent = half >> 10 & 0x1f;
  const int fraction = half & 0x3ff;
  const double sign = (half & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  if (exponent == 0x1f) return fraction != 0 ? kMissing : sign * HUGE_VAL;
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

double integer_at(const ArrowArray& array, char type, std::size_t i) {
  switch (type) {
    case 'c':
      return load_value<std::int8_t>(array, 1, i);
    case 'C':
      return load_value<std::uint8_t>(array, 1, i);
    case 's':
      return load_value<std::int16_t>(array, 1, i);
    case 'S':
      return load_value<std::uint16_t>(array, 1, i);
    case 'i':
      return load_value<std::int32_t>(array, 1, i);
    case 'I':
      return load_value<std::uint32_t>(array, 1, i);
    case 'l':
      return static_cast<double>(load_value<std::int64_t>(array, 1, i));
    default:
      return static_cast<double>(load_value<std::uint64_t>(array, 1, i));
  }
}

bool is_integer(std::string_view format) {
  return format.size() == 1 && std::string_view("cCsSiIlL").find(format[0]) != std::string_view::npos;
}

/// Whole seconds and what is left, in units of which a second has `per_second`.
std::string clock_text(std::int64_t count, std::int64_t per_second) {
  const std::int64_t seconds = count / per_second;
  std::string text = fmt::format("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
  if (const std::int64_t rest = count % per_second; rest != 0) {
    std::string digits = fmt::format("{}", per_second + rest).substr(1);
    digits.erase(digits.find_last_not_of('0') + 1);
    text += "." + digits;
  }
  return text;
}

std::string moment_text(std::int64_t count, std::int64_t per_second) {
  const std::int64_t day = 86'400 * per_second;
  const std::int64_t days = (count >= 0 ? count : count - day + 1) / day;
  return text::date_text(days) + "T" + clock_text(count - days * day, per_second);
}

std::int64_t units_of_second(char unit) {
  return unit == 's' ? 1 : unit == 'm' ? 1'000 : unit == 'u' ? 1'000'000 : 1'000'000'000;
}

/// The number nearest to a decimal: its digits are read as those of a text.
double decimal_at(const ArrowArray& array, std::size_t i, std::size_t bytes, int scale) {
  std::vector<std::uint32_t> words(bytes / 4);
  std::memcpy(words.data(), static_cast<const char*>(array.buffers[1]) + i * bytes, bytes);
  const bool is_negative = (words.back() >> 31) != 0;
  if (is_negative) {
    std::uint64_t carry = 1;
    for (std::uint32_t& word : words) {
      carry += static_cast<std::uint32_t>(~word);
      word = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
  }
  std::string digits;  // the last one first
  for (bool any = true; any;) {
    std::uint64_t rest = 0;
    any = false;
    for (std::size_t w = words.size(); w-- > 0;) {
      rest = rest << 32 | words[w];
      words[w] = static_cast<std::uint32_t>(rest / 10);
      rest %= 10;
      any = any || words[w] != 0;
    }
    digits += static_cast<char>('0' + rest);
  }
  const std::string text =
      fmt::format("{}{}e{}", is_negative ? "-" : "", std::string(digits.rbegin(), digits.rend()), -scale);
  double value = 0.0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// How cells of a type are read.
struct CellType {
  enum class Form { number, text } form = Form::number;
  double (*number)(const ArrowArray&, const CellType&, std::size_t) = nullptr;
  std::string (*text)(const ArrowArray&, const CellType&, std::size_t) = nullptr;
  std::string format;
  std::int64_t per_second = 1;
  std::size_t bytes = 16;  // of a decimal
  int scale = 0;
};

template <typename Offset>
std::string text_at(const ArrowArray& array, const CellType&, std::size_t i) {
  const auto begin = load_value<Offset>(array, 1, i);
  const auto end = load_value<Offset>(array, 1, i + 1);
  return {static_cast<const char*>(array.buffers[2]) + begin, static_cast<std::size_t>(end - begin)};
}

/// Of a string view: up to twelve bytes are in the view, others in the buffer that it names.
std::string view_at(const ArrowArray& array, const CellType&, std::size_t i) {
  const char* view = static_cast<const char*>(array.buffers[1]) + 16 * i;
  std::int32_t length = 0, buffer = 0, offset = 0;
  std::memcpy(&length, view, 4);
  if (length <= 12) return {view + 4, static_cast<std::size_t>(length)};
  std::memcpy(&buffer, view + 8, 4);
  std::memcpy(&offset, view + 12, 4);
  return {static_cast<const char*>(array.buffers[2 + buffer]) + offset, static_cast<std::size_t>(length)};
}

bool parse_decimal(CellType& type) {
  // d:PRECISION,SCALE or d:PRECISION,SCALE,BITS
  const char* next = type.format.c_str() + 2;
  char* end = nullptr;
  std::strtol(next, &end, 10);
  if (*end != ',') return false;
  type.scale = static_cast<int>(std::strtol(end + 1, &end, 10));
  if (*end == ',') type.bytes = static_cast<std::size_t>(std::strtol(end + 1, &end, 10)) / 8;
  return *end == '\0' && (type.bytes == 4 || type.bytes == 8 || type.bytes == 16 || type.bytes == 32);
}

/// False for a type that has no place in a table.
bool find_type(const ArrowSchema& schema, CellType& type) {
  type.format = schema.format;
  const std::string& format = type.format;
  const auto numbers = [&](auto* read) {
    type.number = read;
    return true;
  };
  const auto texts = [&](auto* read) {
    type.form = CellType::Form::text;
    type.text = read;
    return true;
  };
  if (format == "n")
    return numbers(+[](const ArrowArray&, const CellType&, std::size_t) { return kMissing; });
  if (format == "b")
    return numbers(+[](const ArrowArray& array, const CellType&, std::size_t i) {
      return bit(array.buffers[1], i) ? 1.0 : 0.0;
    });
  if (is_integer(format))
    return numbers(+[](const ArrowArray& array, const CellType& own, std::size_t i) {
      return integer_at(array, own.format[0], i);
    });
  if (format == "e")
    return numbers(+[](const ArrowArray& array, const CellType&, std::size_t i) {
      return half_to_double(load_value<std::uint16_t>(array, 1, i));
    });
  if (format == "f")
    return numbers(+[](const ArrowArray& array, const CellType&, std::size_t i) {
      return static_cast<double>(load_value<float>(array, 1, i));
    });
  if (format == "g")
    return numbers(+[](const ArrowArray& array, const CellType&, std::size_t i) {
      return load_value<double>(array, 1, i);
    });
  if (format.starts_with("d:") && parse_decimal(type))
    return numbers(+[](const ArrowArray& array, const CellType& own, std::size_t i) {
      return decimal_at(array, i, own.bytes, own.scale);
    });
  if (format == "u") return texts(&text_at<std::int32_t>);
  if (format == "U") return texts(&text_at<std::int64_t>);
  if (format == "vu") return texts(&view_at);
  if (format == "tdD")
    return texts(+[](const ArrowArray& array, const CellType&, std::size_t i) {
      return text::date_text(load_value<std::int32_t>(array, 1, i));
    });
  if (format == "tdm")
    return texts(+[](const ArrowArray& array, const CellType&, std::size_t i) {
      return text::date_text(load_value<std::int64_t>(array, 1, i) / 86'400'000);
    });
  if (format.size() >= 3) type.per_second = units_of_second(format[2]);
  if (format.starts_with("ts"))
    return texts(+[](const ArrowArray& array, const CellType& own, std::size_t i) {
      return moment_text(load_value<std::int64_t>(array, 1, i), own.per_second);
    });
  if (format == "tts" || format == "ttm")
    return texts(+[](const ArrowArray& array, const CellType& own, std::size_t i) {
      return clock_text(load_value<std::int32_t>(array, 1, i), own.per_second);
    });
  if (format == "ttu" || format == "ttn")
    return texts(+[](const ArrowArray& array, const CellType& own, std::size_t i) {
      return clock_text(load_value<std::int64_t>(array, 1, i), own.per_second);
    });
  if (format.starts_with("tD"))
    return numbers(+[](const ArrowArray& array, const CellType& own, std::size_t i) {
      return static_cast<double>(load_value<std::int64_t>(array, 1, i)) / static_cast<double>(own.per_second);
    });
  return false;
}

bool is_null(const ArrowArray& array, std::size_t i) {
  return array.null_count != 0 && array.n_buffers > 0 && array.buffers[0] != nullptr &&
         !bit(array.buffers[0], i);
}

/// Takes the batches of one column.
class ArrowColumnReader {
 public:
  ArrowColumnReader(const ArrowSchema& schema, const std::string& file, std::size_t index) {
    column_.name =
        schema.name == nullptr || *schema.name == '\0' ? fmt::format("c{}", index + 1) : schema.name;
    const ArrowSchema& cells = schema.dictionary != nullptr ? *schema.dictionary : schema;
    is_dictionary_ = schema.dictionary != nullptr;
    if (is_dictionary_) indices_ = schema.format;
    if (!find_type(cells, type_) || (is_dictionary_ && !is_integer(indices_)))
      fail(ErrorCode::bad_data,
           "{}: column '{}' has the Arrow type '{}', which is neither a number nor a text, date or time; "
           "leave "
           "it out or convert it",
           file, text::display(column_.name), text::display(cells.format));
    column_.is_text = type_.form == CellType::Form::text;
  }

  void take(const ArrowArray& array, std::size_t begin, std::size_t count) {
    begin += static_cast<std::size_t>(array.offset);
    column_.values.reserve(column_.values.size() + count);
    std::vector<double> decoded;  // of the batch's dictionary
    if (is_dictionary_) {
      const ArrowArray& levels = *array.dictionary;
      for (std::int64_t i = 0; i < levels.length; ++i)
        decoded.push_back(is_null(levels, static_cast<std::size_t>(levels.offset + i)) ? kMissing : kNotYet);
    }
    for (std::size_t i = begin; i < begin + count; ++i) {
      if (is_null(array, i)) {
        column_.values.push_back(kMissing);
      } else if (is_dictionary_) {
        const auto level = static_cast<std::size_t>(integer_at(array, indices_[0], i));
        // Levels count from the first that occurs, as in texts.
        if (decoded[level] == kNotYet)
          decoded[level] =
              cell(*array.dictionary, static_cast<std::size_t>(array.dictionary->offset) + level);
        column_.values.push_back(decoded[level]);
      } else {
        column_.values.push_back(cell(array, i));
      }
    }
  }

  RawColumn finish() { return std::move(column_); }

 private:
  static constexpr double kNotYet = -1e300;

  double cell(const ArrowArray& array, std::size_t i) {
    if (type_.form == CellType::Form::number) return type_.number(array, type_, i);
    const auto [place, is_new] = places_.try_emplace(type_.text(array, type_, i), places_.size());
    if (is_new) column_.levels.push_back(place->first);
    return static_cast<double>(place->second);
  }

  RawColumn column_;
  CellType type_;
  bool is_dictionary_ = false;
  std::string indices_;
  std::unordered_map<std::string, std::size_t> places_;
};

[[noreturn]] void fail_stream(ArrowArrayStream& stream, const std::string& file) {
  const char* message = stream.get_last_error(&stream);
  fail(ErrorCode::bad_data, "{}: {}", file, message == nullptr ? "the table cannot be read" : message);
}

}  // namespace

RawTable read_arrow_stream(ArrowArrayStream& stream, const std::string& file) {
  Owned<ArrowSchema> schema;
  if (stream.get_schema(&stream, &schema.held) != 0) fail_stream(stream, file);
  if (std::string_view(schema.held.format) != "+s")
    fail(ErrorCode::bad_data, "{}: an Arrow array of the type '{}', not a table of columns", file,
         schema.held.format);
  std::vector<ArrowColumnReader> readers;
  for (std::int64_t j = 0; j < schema.held.n_children; ++j)
    readers.emplace_back(*schema.held.children[j], file, static_cast<std::size_t>(j));
  RawTable table;
  table.file = file;
  table.has_header = true;
  for (;;) {
    Owned<ArrowArray> batch;
    if (stream.get_next(&stream, &batch.held) != 0) fail_stream(stream, file);
    if (batch.held.release == nullptr) break;
    for (std::size_t j = 0; j < readers.size(); ++j)
      readers[j].take(*batch.held.children[j], static_cast<std::size_t>(batch.held.offset),
                      static_cast<std::size_t>(batch.held.length));
    table.rows += static_cast<std::size_t>(batch.held.length);
  }
  for (ArrowColumnReader& reader : readers) table.columns.push_back(reader.finish());
  if (table.rows == 0 || table.columns.empty())
    fail(ErrorCode::bad_data, "{}: the table has {} rows and {} columns; it needs at least one of each", file,
         table.rows, table.columns.size());
  return table;
}

}  // namespace coppice
