#include "coppice/app/context.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "coppice/base/error.hpp"
#include "coppice/data/text.hpp"
#include "coppice/out/pending_file.hpp"

namespace coppice::app {

bool Context::shows_flags_of(std::string_view model) const {
  if (help_words.empty()) return true;
  // crossvalidate names several at once: nrmm,bhc.
  return std::any_of(help_words.begin(), help_words.end(), [&](const std::string& word) {
    return ("," + word + ",").find(fmt::format(",{},", model)) != std::string::npos;
  });
}

bool Context::stderr_is_terminal() const { return ::isatty(STDERR_FILENO) != 0; }
bool Context::stdout_is_terminal() const { return ::isatty(STDOUT_FILENO) != 0; }

bool Context::use_color() const {
  if (color == "always") return true;
  if (color == "never" || json) return false;
  const char* refused = std::getenv("NO_COLOR");
  return stdout_is_terminal() && (refused == nullptr || *refused == '\0');
}

void Context::note(std::string_view text) const {
  if (!quiet) write_error_stream(fmt::format("{}\n", text::printable(text)));
}

void Context::detail(std::string_view text) const {
  if (verbose) write_error_stream(fmt::format("{}\n", text::printable(text)));
}

std::string Context::bold(std::string_view text) const {
  return use_color() ? fmt::format("\033[1m{}\033[0m", text) : std::string(text);
}

std::string Context::dim(std::string_view text) const {
  return use_color() ? fmt::format("\033[2m{}\033[0m", text) : std::string(text);
}

void write_error_stream(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

void write_text(const std::string& path, std::string_view text) { write_output(path, text::printable(text)); }

void write_output(const std::string& path, std::string_view text) {
  if (!path.empty() && path != "-") {
    write_file(path, text);
    return;
  }
  // Data keep every byte, except before the eyes of a reader.
  std::string visible;
  if (::isatty(STDOUT_FILENO) != 0) text = visible = text::printable(text);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    // A reader that has seen enough (head, less) is not an error.
    if (errno == EPIPE) return;
    fail(ErrorCode::cannot_write, "standard output: {}", std::strerror(errno));
  }
}

void write_json(const std::string& path, const nlohmann::ordered_json& value) {
  write_output(path, value.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace coppice::app
