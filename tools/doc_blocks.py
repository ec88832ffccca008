"""The blocks of code in Markdown pages, and whether what a page shows is what its commands print.

A block of language `text` that directly follows a block of commands is output: each of its lines must be among the lines that were
printed, in that order. Words must be equal. Numbers may differ by a tenth, or by two units of the last digit shown, because
another processor rounds differently, so that chains of the same seed differ by Monte Carlo error. Lines may be left out.
"""

import re

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", flags=re.M | re.S)
NUMBER = re.compile(r"(?<![\w.])[-−]?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w])")
# Bars of small histograms.
BARS = re.compile("[▁▂▃▄▅▆▇█]+")


def blocks(text, language):
    """The code of every block of the language, and the output that the page shows of it (or None)."""
    found = list(BLOCK.finditer(text))
    for k, block in enumerate(found):
        if block[1] == language:
            follows = k + 1 < len(found) and found[k + 1][1] == "text"
            shown = follows and not text[block.end() : found[k + 1].start()].strip()
            yield block[2], found[k + 1][2] if shown else None


def parts(line):
    """The words of a line without its numbers, and the numbers."""
    line = " ".join(BARS.sub(" ", line).split())
    return NUMBER.sub("#", line), NUMBER.findall(line)


def is_close(shown, printed):
    digits = shown.partition("e")[0].partition(".")[2]
    unit = 10.0 ** -len(digits) if "e" not in shown else 0.0
    return abs(float(shown) - float(printed)) <= max(0.1 * abs(float(shown)), 2 * unit)


def is_like(shown, printed):
    words, numbers = parts(shown)
    other_words, other_numbers = parts(printed)
    return words == other_words and all(map(is_close, numbers, other_numbers))


def first_missing(shown, printed):
    """The first line shown that was not printed after the lines before it; None if all were."""
    rest = iter(printed.splitlines())
    for line in shown.splitlines():
        if line.strip() and not any(is_like(line, other) for other in rest):
            return line
    return None
