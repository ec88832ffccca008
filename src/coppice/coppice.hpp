// The public header of the library: tables, families, models, fitting, run files and answers. Headers that
// are not listed here may change with any version. instruction_set.hpp stops the compilation if the flags are
// not those of the library.
#pragma once

#include "coppice/base/error.hpp"
#include "coppice/base/parameter.hpp"
#include "coppice/base/rng.hpp"
#include "coppice/data/codebook.hpp"
#include "coppice/data/read.hpp"
#include "coppice/data/table.hpp"
#include "coppice/family/plan.hpp"
#include "coppice/instruction_set.hpp"
#include "coppice/model/model.hpp"
#include "coppice/model/registry.hpp"
#include "coppice/post/coclustering.hpp"
#include "coppice/post/consensus.hpp"
#include "coppice/post/diagnostics.hpp"
#include "coppice/post/hierarchy.hpp"
#include "coppice/post/impute.hpp"
#include "coppice/post/predict.hpp"
#include "coppice/post/profile.hpp"
#include "coppice/post/scores.hpp"
#include "coppice/run/fit.hpp"
#include "coppice/run/saved_run.hpp"
#include "coppice/version.hpp"
