// Tables of the same rows in different files: matched by the rows' names.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "coppice/data/table.hpp"

namespace coppice {

/// Where each of the wanted rows stands among the others, the first of the same name. Throws Error{bad_data}
/// if one is not there; `path` is for the message.
std::vector<std::size_t> places_of_rows(const std::vector<std::string>& wanted,
                                        const std::vector<std::string>& row_ids, const std::string& path);

/// The rows of a table in the order of other rows, which have the same names. Throws Error{bad_data} if they
/// do not; `path` is for the message.
Table in_order_of(const Table& table, const std::vector<std::string>& row_ids, const std::string& path);

}  // namespace coppice
