// Saved states of rbhmc: those written before they had a header are still understood.
#include <gtest/gtest.h>

#include "coppice/base/byte_stream.hpp"
#include "coppice/base/error.hpp"
#include "coppice/cluster/move_count.hpp"
#include "laws/law_case.hpp"
#include "support/variants.hpp"

namespace coppice::test {
namespace {

/// Counts of the moves that there were from the beginning, and of those of blocks behind them.
constexpr std::size_t kFirstCounts = 9 * sizeof(MoveCount) + sizeof(std::uint64_t);
constexpr std::size_t kBlockCounts = 2 * sizeof(MoveCount);

/// The state as it was written before: no header, hottest replica first, no moves of blocks.
std::string in_old_form(const std::string& state, std::size_t replicas) {
  ByteReader reader(state);
  reader.get<std::uint64_t>();
  std::vector<MoveCount> counts(replicas - 1);
  reader.get(counts.data(), counts.size());
  std::vector<std::string> parts;
  for (std::size_t r = 0; r < replicas; ++r) {
    const std::size_t length = r + 1 < replicas ? reader.get<std::uint64_t>() : reader.left();
    parts.emplace_back(reader.take(length));
    parts.back().erase(kFirstCounts, kBlockCounts);
  }
  ByteWriter writer;
  for (std::size_t r = counts.size(); r-- > 0;) writer.put(counts[r]);
  for (std::size_t r = replicas; r-- > 0;) {
    if (r > 0) writer.put(static_cast<std::uint64_t>(parts[r].size()));
    writer.put(parts[r].data(), parts[r].size());
  }
  return writer.take();
}

TEST(RbhmcStates, WithoutAHeaderAreUnderstood) {
  const ModelEntry& model = model_by_name("rbhmc");
  const Fixture fixture(law_cases().front(), 1, 12);
  for (const std::size_t replicas : {1u, 3u}) {
    SCOPED_TRACE(replicas);
    const Problem problem{
        &fixture.family(), &fixture.rows,
        ParameterValues(model.parameters, settings_from({"penalty=0.2", "levels=2",
                                                         replicas == 1 ? "replicas=0" : "replicas=2"}))};
    const std::unique_ptr<Inference> inference = model.make_inference(problem);
    inference->init({1, 0, 0});
    for (std::size_t sweep = 1; sweep <= 5; ++sweep) inference->step({1, 0, sweep});
    inference->rebuild();
    const std::string state = inference->save();
    const std::unique_ptr<Inference> other = model.make_inference(problem);
    other->init({9, 0, 0});
    other->load(in_old_form(state, replicas));
    EXPECT_EQ(in_old_form(other->save(), replicas), in_old_form(state, replicas));
    std::string of_another_version = state;
    of_another_version[0] = static_cast<char>(of_another_version[0] + 1);
    EXPECT_THROW(other->load(of_another_version), Error);
  }
}

}  // namespace
}  // namespace coppice::test
