#include "coppice/app/output_files.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include "coppice/base/error.hpp"
#include "coppice/data/text.hpp"

namespace coppice::app {
namespace {

namespace fs = std::filesystem;

constexpr std::array kOutputOptions{"output", "truth-out", "views-out"};

bool is_file(const std::string& path) {
  std::error_code ignored;
  return !path.empty() && path != "-" && fs::is_regular_file(path, ignored);
}

/// Whether both paths lead to one file, which need not be there yet. Devices can be written twice.
bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  if (fs::exists(a, ignored) && !is_file(a)) return false;
  if (fs::equivalent(a, b, ignored)) return true;
  const fs::path first = fs::weakly_canonical(fs::absolute(a, ignored), ignored);
  const fs::path second = fs::weakly_canonical(fs::absolute(b, ignored), ignored);
  return !first.empty() && first == second;
}

}  // namespace

void check_outputs(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string& output = outputs[i];
    if (output.empty() || output == "-") continue;
    for (const std::string& input : inputs)
      if (is_file(input) && is_same_file(output, input))
        fail(ErrorCode::usage,
             "{} is read by this command and would be replaced: give another name to write to",
             text::display(output));
    for (std::size_t j = 0; j < i; ++j)
      if (!outputs[j].empty() && outputs[j] != "-" && is_same_file(output, outputs[j]))
        fail(ErrorCode::usage, "{} is to be written twice: give two names", text::display(output));
  }
}

bool is_output(const std::vector<std::string>& option_names) {
  return std::any_of(kOutputOptions.begin(), kOutputOptions.end(), [&](const char* output) {
    return std::find(option_names.begin(), option_names.end(), output) != option_names.end();
  });
}

}  // namespace coppice::app
