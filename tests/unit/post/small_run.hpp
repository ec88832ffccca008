// Runs small enough to be made inside a test, in a folder of their own that is removed at the end.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "coppice/data/read.hpp"
#include "coppice/data/transform.hpp"
#include "coppice/family/adopt_kinds.hpp"
#include "coppice/run/fit.hpp"
#include "coppice/run/saved_run.hpp"
#include "support/scratch_folder.hpp"

namespace coppice {

struct SmallRun {
  std::string csv;  // with a header; the column "id" names the rows
  std::string family = "auto";
  std::string codebook = "";  // TOML
  std::string weights = "";   // the column of row weights
  Settings parameters = {};
  std::size_t chains = 2;
  std::size_t warmup = 50;
  std::size_t draws = 100;
  bool standardize = false;
  std::size_t pca = 0;
  std::string model = "nrmm";
  std::string hyper = kFixedHyper;  // definitions are checked against priors that stand still
  Settings family_settings = {};
  std::uint64_t seed = 1;
  bool is_until_trusted = false;  // however long that takes; not `warmup` and `draws`
};

class RunTest : public testing::Test {
 protected:
  std::unique_ptr<SavedRun> make_run(const SmallRun& request) {
    RunContents contents;
    contents.config.model = request.model;
    contents.config.family = request.family;
    contents.config.hyper = request.hyper;
    contents.config.parameters = request.parameters;
    contents.config.family_settings = request.family_settings;
    contents.config.seed = request.seed;
    contents.config.chains = request.chains;
    contents.config.warmup = request.warmup;
    contents.config.draws = request.draws;
    contents.config.standardize = request.standardize;
    contents.config.pca = request.pca;
    const Codebook codebook = parse_codebook(request.codebook, "codebook.toml");
    ReadOptions options;
    if (request.csv.starts_with("id,")) options.id = "id";
    if (!request.codebook.empty()) options.codebook = &codebook;
    options.weights = request.weights;
    Dataset data = read_dataset_bytes(request.csv, "data.csv", options);
    adopt_kinds(data.table, data.codebook, request.family);
    contents.input_codebook = data.codebook;
    contents.codebook = data.codebook;
    contents.table = std::move(data.table);
    contents.weights = std::move(data.weights);
    contents.transform =
        to_json(fit_transform(contents.table, request.standardize, request.pca, contents.codebook));
    const auto setup = set_up_problem(contents);
    if (request.is_until_trusted) {
      contents.config.until = kUntilTrusted;
      settle_run_length(contents.config, *setup);
    }
    const std::string path = folder_.file("run" + std::to_string(++runs_) + ".coppice");
    RunFile file = RunFile::create(path, contents);
    EXPECT_EQ(continue_run(file, *setup, {.time_limit = request.is_until_trusted ? 600.0 : 0.0}),
              FitEnd::finished);
    file.finish();
    return std::make_unique<SavedRun>(path);
  }

  /// Rows of a table like the run's, transformed and encoded like the run's.
  static Rows new_rows(const SavedRun& run, const std::string& csv) {
    const Table like = empty_table(run.contents().input_codebook);
    const Transform transform = transform_from_json(run.contents().transform);
    return encode(run.setup().plan, apply(transform, read_like_bytes(csv, "new.csv", like, "")));
  }

  test::ScratchFolder folder_;
  std::size_t runs_ = 0;
};

/// Statistics of the rows that carry a label, from scratch.
inline std::vector<double> stats_of(const Family& family, const Rows& rows, std::span<const Label> labels,
                                    Label label) {
  std::vector<double> stats(family.stats_size());
  family.clear(stats.data());
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (labels[i] == label) family.add_copies(stats.data(), rows[i], rows.copies_of(i));
  return stats;
}

}  // namespace coppice
