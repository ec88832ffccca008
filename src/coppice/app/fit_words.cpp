#include "coppice/app/fit_words.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include "coppice/base/close_names.hpp"
#include "coppice/base/error.hpp"
#include "coppice/data/load.hpp"
#include "coppice/model/registry.hpp"

namespace coppice::app {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const ModelEntry& model : all_models()) names.push_back(model.name);
  return names;
}

bool is_model(const std::string& word) {
  const std::vector<std::string> names = model_names();
  return std::find(names.begin(), names.end(), word) != names.end();
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return path == "-" || fs::exists(path, ignored);
}

/// The name of the table without its folder and its endings.
std::string run_named_after(const std::string& data) {
  constexpr std::string_view kEndings[] = {".gz",  ".zst", ".zstd", ".csv",      ".tsv",
                                           ".txt", ".npy", ".svm",  ".svmlight", ".libsvm"};
  std::string name = fs::path(data).filename().string();
  for (bool cut = true; cut;) {
    cut = false;
    for (const std::string_view ending : kEndings)
      if (name.size() > ending.size() && name.ends_with(ending)) {
        name.resize(name.size() - ending.size());
        cut = true;
      }
  }
  return name + ".coppice";
}

void choose_model(FitWords& words, bool has_labels) {
  if (has_labels) {
    words.model = models_that(&ModelEntry::learns_labels).front();
    words.why_model =
        fmt::format("model: {}, because there are labels to learn (coppice models lists all)", words.model);
    return;
  }
  words.model = "nrmm";
  words.why_model =
      "model: nrmm, because none is named: it takes columns of every kind and missing cells, and infers the "
      "number of "
      "clusters; for groups of groups name rbhmc, for views of the columns crosscat (coppice models lists "
      "all)";
}

}  // namespace

FitWords complete_fit_words(FitWords words, bool has_labels) {
  if (words.data.empty() && !words.model.empty() && !is_model(words.model)) {
    const std::vector<std::string> names = model_names();
    if (!exists(words.model) && similar_file(words.model).empty() && !close_names(words.model, names).empty())
      fail(ErrorCode::usage, "coppice fit needs a table, and there is no model '{}'; {}", words.model,
           did_you_mean(words.model, names));
    words.data = std::exchange(words.model, {});
  }
  if (words.data.empty())
    fail(ErrorCode::usage,
         "coppice fit needs a table: coppice fit {}DATA.csv (coppice demo shows an example)",
         words.model.empty() ? "" : words.model + " ");
  if (!is_model(words.model) && is_model(words.data))
    fail(ErrorCode::usage, "the model comes first: coppice fit {} {}", words.data, words.model);
  if (words.model.empty()) choose_model(words, has_labels);
  if (words.output.empty()) {
    if (words.data == "-")
      fail(ErrorCode::usage,
           "a table from standard input has no name: add -o RUN.coppice, the file to write");
    words.output = run_named_after(words.data);
  }
  return words;
}

}  // namespace coppice::app
