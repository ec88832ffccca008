// The ladder of coupled replicas: which powers it takes, and who is offered an exchange when.
#include "coppice/model/tempering.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "coppice/base/error.hpp"

namespace coppice {
namespace {

TEST(Tempering, PowersBeginWithOneAndFall) {
  EXPECT_NO_THROW(TemperingLadder({1.0}));
  EXPECT_NO_THROW(TemperingLadder({1.0, 0.25, 0.0}));
  for (const std::vector<double>& powers : {std::vector<double>{}, {0.9, 0.5}, {1.0, 1.0}, {1.0, 0.2, 0.5}}) {
    try {
      TemperingLadder ladder(powers);
      FAIL() << powers.size() << " powers";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::configuration);
    }
  }
}

TEST(Tempering, AStateCanTravelFromTheHottestReplicaToTheChain) {
  TemperingLadder ladder({1.0, 0.5, 0.25, 0.0});
  std::vector<int> states{0, 1, 2, 3};
  ladder.exchange(
      {1, 0, 1}, [](std::size_t) { return 1.0; },
      [&](std::size_t r) { std::swap(states[r], states[r + 1]); });
  EXPECT_EQ(states, (std::vector<int>{3, 0, 1, 2}));
}

TEST(Tempering, ExchangesAreAcceptedAsOftenAsTheirRatioSays) {
  TemperingLadder ladder({1.0, 0.5, 0.25});
  constexpr std::uint64_t kSweeps = 20'000;
  const double ratios[] = {0.3, 0.7};
  for (std::uint64_t sweep = 1; sweep <= kSweeps; ++sweep)
    ladder.exchange({3, 0, sweep}, [&](std::size_t r) { return std::log(ratios[r]); }, [](std::size_t) {});
  std::vector<MoveStatistics> moves;
  ladder.add_moves(moves);
  ASSERT_EQ(moves.size(), 2u);
  EXPECT_EQ(moves[0].name, "exchange 1 0.5");
  EXPECT_EQ(moves[1].name, "exchange 0.5 0.25");
  for (std::size_t r = 0; r < 2; ++r) {
    EXPECT_EQ(moves[r].proposed, kSweeps);
    const double share = static_cast<double>(moves[r].accepted) / static_cast<double>(kSweeps);
    EXPECT_NEAR(share, ratios[r], 5.0 * std::sqrt(ratios[r] * (1.0 - ratios[r]) / kSweeps));
  }
}

}  // namespace
}  // namespace coppice
