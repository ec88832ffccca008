// What the pages of all models have in common, and the data of the pages of those that learn labels.
#pragma once

#include "coppice/app/analysis.hpp"

namespace coppice::app {

/// Five significant digits are more than a picture shows, and half the text.
double brief(double value);
/// Three decimals.
double share(double value);

nlohmann::ordered_json report_head(const Analysis& analysis);
nlohmann::ordered_json report_reproduce(const SavedRun& run);

nlohmann::ordered_json label_report_data(const Analysis& analysis);

}  // namespace coppice::app
