#include "coppice/base/processor.hpp"

// One COPPICE_INSTRUCTIONS("name") for each instruction set in use, from tools/instruction_set.cmake.
#ifndef COPPICE_NEEDS
#define COPPICE_NEEDS
#endif
#define COPPICE_INSTRUCTIONS(name) Instructions{name, __builtin_cpu_supports(name) != 0},

namespace {

struct Instructions {
  const char* name;
  bool present;
};

/// Appends as much of the word as fits; the text ends with a zero.
void append(char* text, std::size_t size, std::size_t& used, const char* word) {
  if (used > 0 && used + 1 < size) text[used++] = ' ';
  for (; *word != '\0' && used + 1 < size; ++word) text[used++] = *word;
  text[used] = '\0';
}

}  // namespace

void coppice_missing_instructions(char* text, std::size_t size) {
  if (size == 0) return;
  text[0] = '\0';
  std::size_t used = 0;
#ifdef __x86_64__
  __builtin_cpu_init();
#endif
  const Instructions needed[] = {COPPICE_NEEDS{"", true}};
  for (const Instructions& each : needed)
    if (!each.present) append(text, size, used, each.name);
}
