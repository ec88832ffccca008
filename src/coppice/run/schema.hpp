// The tables of a run file. A file that comes from elsewhere may hold views that never end, triggers that
// delete draws, or indexes that hide them: only what we write ourselves is opened.
#pragma once

#include <string>

#include "coppice/run/database.hpp"

namespace coppice {

/// Format 1 had no payload.
inline constexpr int kRunFormat = 2;

/// Application id, format and empty tables.
void create_schema(Database& database);
/// From format 1 to the present one.
void upgrade_schema(Database& database);
/// Throws Error{bad_data} if this is not a run file, is one of a newer version, has anything in its schema
/// that is not ours, or is damaged.
void check_schema(Database& database, const std::string& path);

}  // namespace coppice
