// A table as an answer: CSV, or with --json a list of rows.
#pragma once

#include <string>

#include "coppice/app/context.hpp"
#include "coppice/data/table.hpp"

namespace coppice::app {

/// To the file, or to stdout for "" and "-". In JSON, numbers are numbers, levels texts and missing cells
/// null.
void write_table_answer(const std::string& path, const Table& table, const Context& context);

}  // namespace coppice::app
