// Which of the known names could a mistyped one have meant? For messages.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace coppice {

/// At most three of the known names that could have been meant, the closest first.
std::vector<std::string> close_names(std::string_view wanted, std::span<const std::string> known);

/// "did you mean 'a', 'b'?", or "" if no known name is close.
std::string did_you_mean(std::string_view wanted, std::span<const std::string> known);

}  // namespace coppice
