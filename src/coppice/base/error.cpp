#include "coppice/base/error.hpp"

namespace coppice::detail {

void fail(ErrorCode code, fmt::string_view format, fmt::format_args args) {
  throw Error(code, fmt::vformat(format, args));
}

}  // namespace coppice::detail
