#include "coppice/run/partition_values.hpp"

#include <algorithm>

#include "coppice/shape/partition_traces.hpp"
#include "coppice/shape/spaced.hpp"

namespace coppice {
namespace {

constexpr std::size_t kMostRows = 2000;

}  // namespace

std::vector<TraceValues> partition_values(const RunFile& file, std::size_t levels, std::size_t rows,
                                          std::size_t first) {
  if (file.keeps_parameters()) return {};
  const std::size_t chains = file.config().chains;
  const std::vector<std::size_t> members = spaced_members(rows, kMostRows);
  std::vector<std::vector<LabelMatrix>> labels(levels, std::vector<LabelMatrix>(chains));
  auto shortest = static_cast<std::size_t>(-1);
  for (std::size_t chain = 0; chain < chains; ++chain) {
    for (std::vector<LabelMatrix>& level : labels) level[chain].rows = members.size();
    file.for_each_block(chain, true, [&](const DrawBlock& block) {
      for (std::size_t draw = 0; draw < block.count; ++draw) {
        if (block.first + draw < first) continue;
        for (std::size_t level = 0; level < levels; ++level)
          for (const std::size_t row : members)
            labels[level][chain].values.push_back(block.labels[(draw * levels + level) * rows + row]);
      }
    });
    shortest = std::min(shortest, labels.front()[chain].draws());
  }
  std::vector<TraceValues> values;
  for (std::vector<LabelMatrix>& level : labels) {
    for (LabelMatrix& chain : level) chain.values.resize(shortest * members.size());
    for (PartitionTrace& trace : partition_traces(level)) values.push_back(std::move(trace.values));
  }
  return values;
}

}  // namespace coppice
