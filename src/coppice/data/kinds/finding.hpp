// What is worth saying about a table before anything is fitted to it, and what can be done about it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace coppice {

enum class Severity { warning, ambiguous, note };

struct Finding {
  Severity severity = Severity::note;
  std::string topic;                 // a word to sort and filter by: identifier, duplicate, sentinel, ...
  std::vector<std::string> columns;  // that it is about
  std::string what;                  // a sentence without its column: "is left out: constant"
  std::string remedy;                // empty: nothing needs to be done
};

inline std::string_view severity_name(Severity severity) {
  return severity == Severity::warning ? "warning" : severity == Severity::ambiguous ? "ambiguous" : "note";
}

}  // namespace coppice
