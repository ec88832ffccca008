// How many moves a sweep of nrmm makes: what follows from their work, what is given, and that an interruption
// makes no difference.
#include <gtest/gtest.h>

#include "coppice/base/error.hpp"
#include "coppice/model/nrmm/move_numbers.hpp"
#include "coppice/model/nrmm/options.hpp"
#include "coppice/model/registry.hpp"
#include "support/chains.hpp"

namespace coppice::test {
namespace {

using nrmm::GroupMove;
using nrmm::MoveNumbers;

MoveNumbers numbers_with(const std::vector<std::string>& settings) {
  const ParameterValues values(model_by_name("nrmm").parameters, settings_from(settings));
  return MoveNumbers(nrmm::Options(values, 1000));
}

/// A sweep in which a scan costs 1000, and the moves 10, 100 and 30 each.
void sweep(MoveNumbers& numbers, std::uint64_t number) {
  if (MoveNumbers::is_measured(number)) {
    numbers.add(GroupMove::neighbor, 25, 250);
    numbers.add(GroupMove::block, 25, 2500);
    numbers.add(GroupMove::guided, 5, 150);
    numbers.add_scan(1000);
  }
  numbers.end_sweep(number);
}

TEST(MoveNumbers, AreSharesOfAScan) {
  MoveNumbers numbers = numbers_with({"move-share=30"});
  for (std::uint64_t number = 1; number < 50; ++number) sweep(numbers, number);
  EXPECT_EQ(numbers.in_sweep(GroupMove::neighbor), 1u);
  EXPECT_EQ(numbers.in_sweep(GroupMove::block), 5u);
  EXPECT_EQ(numbers.in_sweep(GroupMove::guided), 1u);
  MoveNumbers resumed = numbers_with({"move-share=30"});
  resumed.set_state(numbers.state());
  for (MoveNumbers* each : {&numbers, &resumed}) {
    sweep(*each, 50);
    EXPECT_EQ(each->in_sweep(GroupMove::neighbor), 30u);
    EXPECT_EQ(each->in_sweep(GroupMove::block), 1u);
    EXPECT_EQ(each->in_sweep(GroupMove::guided), 10u);
    // From here on they stay.
    for (std::uint64_t number = 51; number < 200; ++number) sweep(*each, number);
    EXPECT_EQ(each->in_sweep(GroupMove::neighbor), 30u);
  }
  numbers.reset();
  EXPECT_EQ(numbers.in_sweep(GroupMove::neighbor), 1u);
}

TEST(MoveNumbers, OfNeighborsAreHalfAScanUnlessGiven) {
  MoveNumbers numbers = numbers_with({});
  EXPECT_EQ(numbers.in_sweep(GroupMove::neighbor), 1u);
  for (std::uint64_t number = 1; number <= 60; ++number) sweep(numbers, number);
  EXPECT_EQ(numbers.in_sweep(GroupMove::neighbor), 50u);
  EXPECT_EQ(numbers.in_sweep(GroupMove::block), 5u);
  EXPECT_EQ(numbers.in_sweep(GroupMove::guided), 1u);
  // Where one costs more than that, as between two clusters that have most rows, there are none.
  MoveNumbers few = numbers_with({});
  for (std::uint64_t number = 1; number <= 50; ++number) {
    if (MoveNumbers::is_measured(number)) {
      few.add(GroupMove::neighbor, 5, 5000);
      few.add_scan(1000);
    }
    few.end_sweep(number);
  }
  EXPECT_EQ(few.in_sweep(GroupMove::neighbor), 0u);
}

TEST(MoveNumbers, ThatMayComeToNoneDoNotMakeAChainIrreducible) {
  std::vector<std::string> settings = {"scan-every=0", "row-updates=0", "split-merge-moves=0",
                                       "block-moves=0", "guided-split-moves=0"};
  EXPECT_THROW(numbers_with(settings), Error);
  settings.push_back("neighbor-moves=1");
  EXPECT_EQ(numbers_with(settings).in_sweep(GroupMove::neighbor), 1u);
}

TEST(MoveNumbers, ThoseThatAreGivenStay) {
  MoveNumbers numbers = numbers_with({"move-share=30", "neighbor-moves=2", "guided-split-moves=0"});
  for (std::uint64_t number = 1; number <= 60; ++number) sweep(numbers, number);
  EXPECT_EQ(numbers.in_sweep(GroupMove::neighbor), 2u);
  EXPECT_EQ(numbers.in_sweep(GroupMove::block), 1u);
  EXPECT_EQ(numbers.in_sweep(GroupMove::guided), 0u);
  MoveNumbers plain = numbers_with({"neighbor-moves=2"});
  for (std::uint64_t number = 1; number <= 60; ++number) sweep(plain, number);
  EXPECT_EQ(plain.in_sweep(GroupMove::neighbor), 2u);
  EXPECT_EQ(plain.in_sweep(GroupMove::block), 5u);
  EXPECT_EQ(plain.in_sweep(GroupMove::guided), 1u);
  MoveNumbers guided = numbers_with({"sampler=\"tree-guided\""});
  for (std::uint64_t number = 1; number <= 60; ++number) sweep(guided, number);
  EXPECT_EQ(guided.in_sweep(GroupMove::neighbor), 0u);
  EXPECT_EQ(guided.in_sweep(GroupMove::block), 20u);
  EXPECT_EQ(guided.in_sweep(GroupMove::guided), 4u);
}

}  // namespace
}  // namespace coppice::test
