// A refusal in words on processors that lack instructions of this build, before anything else of the program
// runs: also before the initializers of its other files, which use them already. Compiled for the oldest
// processor.
#include <unistd.h>

#include <cstring>

#include "coppice/base/processor.hpp"

namespace {

constexpr int kConfigurationError = 78;

void say(const char* text) {
  // There is nowhere to report a failure to.
  if (::write(STDERR_FILENO, text, std::strlen(text)) < 0) return;
}

[[gnu::constructor(101)]] void refuse_old_processors() {
  char missing[128];
  coppice_missing_instructions(missing, sizeof missing);
  if (missing[0] == '\0') return;
  say("coppice: this build needs instructions that this processor lacks: ");
  say(missing);
  say("; build it from source on this machine (pip install --no-binary coppice coppice, or ./dev build)\n");
  ::_exit(kConfigurationError);
}

}  // namespace
