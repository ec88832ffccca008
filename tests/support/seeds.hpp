// Seeds of the statistical tests: one fixed seed by default, so that a build is judged the same way twice;
// many in a longer run, COPPICE_TEST_SEEDS=0-99 (or 7, or 1,5,10-19). Nothing is retried with another seed.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace coppice::test {

inline std::vector<std::uint64_t> parse_seeds(std::string_view text) {
  const auto refuse = [&] {
    throw std::invalid_argument("COPPICE_TEST_SEEDS='" + std::string(text) +
                                "' is not like 0-99 or 1,5,10-19");
  };
  const auto number = [&](std::string_view digits) {
    std::uint64_t value = 0;
    const char* end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, value);
    if (error != std::errc() || stop != end) refuse();
    return value;
  };
  std::vector<std::uint64_t> seeds;
  std::string_view rest = text;
  while (true) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    const std::size_t dash = item.find('-');
    const std::uint64_t first = number(item.substr(0, dash));
    const std::uint64_t last = dash == std::string_view::npos ? first : number(item.substr(dash + 1));
    if (last < first) refuse();
    for (std::uint64_t seed = first; seed <= last; ++seed) seeds.push_back(seed);
    if (comma == std::string_view::npos) return seeds;
    rest.remove_prefix(comma + 1);
  }
}

/// The seeds of this run.
inline std::vector<std::uint64_t> test_seeds() {
  const char* text = std::getenv("COPPICE_TEST_SEEDS");
  return text == nullptr || *text == '\0' ? std::vector<std::uint64_t>{1} : parse_seeds(text);
}

}  // namespace coppice::test
