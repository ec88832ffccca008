// What is said about a table before anything is fitted to it: in a few lines by the commands that fit, as a
// list by coppice check.
#pragma once

#include <string>
#include <vector>

#include "coppice/data/read.hpp"

namespace coppice::app {

/// At most five lines: what the columns are taken for and how to change it, what is left out, what to look
/// at.
std::vector<std::string> first_lines(const Dataset& data, const std::string& file, bool learns_labels);

/// "4 real (2 on the log scale, 1 rounded), 1 category".
std::string kinds_in_words(const Codebook& codebook);

/// "column 'x' is left out: constant".
std::string sentence_of(const Finding& finding);

}  // namespace coppice::app
