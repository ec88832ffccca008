// Names that a mistyped one could have meant.
#include "coppice/base/close_names.hpp"

#include <gtest/gtest.h>

namespace coppice {
namespace {

using Names = std::vector<std::string>;

const Names kKnown{"draws", "drop", "chains", "Truth", "x"};

TEST(CloseNames, OneLetterAwayIsWhatWasMeant) {
  EXPECT_EQ(close_names("drws", kKnown), Names{"draws"});
  EXPECT_EQ(close_names("chain", kKnown), Names{"chains"});
  EXPECT_EQ(did_you_mean("truth", kKnown), "did you mean 'Truth'?");  // capitals do not count
  EXPECT_EQ(close_names("dorp", kKnown), Names{"drop"});              // two letters exchanged
  const Names commands{"fit", "tree"};
  EXPECT_EQ(close_names("fti", commands), Names{"fit"});
}

TEST(CloseNames, FurtherAwayAllThatAreClose) {
  const Names levers{"lever", "level", "river"};
  EXPECT_EQ(close_names("lexex", levers), (Names{"lever", "level"}));
  EXPECT_EQ(close_names("level", levers), Names{"level"});
}

TEST(CloseNames, NothingIsGuessedFromFarAway) {
  EXPECT_TRUE(close_names("photosynthesis", kKnown).empty());
  EXPECT_TRUE(close_names("y", kKnown).empty());
  EXPECT_EQ(did_you_mean("photosynthesis", kKnown), "");
}

}  // namespace
}  // namespace coppice
