// A sweep allocates nothing once the sampler has warmed up; the sweep of a tree next to nothing, since a node
// whose list of rows or children becomes longer than ever needs room. This program replaces the global
// operator new by one that counts, so it holds no other test.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <numeric>

#include "coppice/base/error.hpp"
#include "laws/law_case.hpp"
#include "support/variants.hpp"

namespace {

std::atomic<std::size_t> allocations{0};

void* allocate(std::size_t size, std::size_t alignment) {
  ++allocations;
  const std::size_t rounded = (size + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size, alignof(std::max_align_t)); }
void* operator new[](std::size_t size) { return allocate(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace coppice::test {
namespace {

/// Every row in a cluster of its own: from then on no slot is new. Not every model keeps its labels at the
/// end of a checkpoint; then warming up has to do.
void open_all_slots(Inference& sampler, std::size_t rows) {
  Labels alone(rows);
  std::iota(alone.begin(), alone.end(), 0);
  const std::string state = sampler.save();
  const std::size_t size = rows * sizeof(Label);
  if (state.size() < size) return;
  std::string changed = state;
  changed.replace(state.size() - size, size, reinterpret_cast<const char*>(alone.data()), size);
  try {
    sampler.load(changed);
  } catch (const Error&) {
    sampler.load(state);
  }
}

class Allocation : public ::testing::TestWithParam<Variant> {};

TEST_P(Allocation, SweepsAllocateNothing) {
  Settings settings = settings_from(GetParam().settings);
  // Its sweeps exchange messages between blocks of rows, however many rows there are.
  if (const auto sampler = settings.find("sampler");
      sampler != settings.end() && sampler->second.text == "data-parallel")
    GTEST_SKIP() << "a sweep of the data-parallel sampler makes its messages";
  if (GetParam().model == "rbhmc") parse_assignment("informed=false", settings);  // informed ones do allocate
  const ModelEntry& model = model_by_name(GetParam().model);
  const bool is_tree = model.levels(ParameterValues(model.parameters, settings)) > 1;
  const std::size_t rows = is_tree ? 60 : 150;
  for (const char* name : {"gaussian", "gaussian-diagonal", "bernoulli"}) {
    if (!works_with(GetParam(), name)) continue;
    const Kind kind = std::string(name) == "bernoulli" ? Kind::binary : Kind::real;
    const Fixture fixture({"allocation", name, {{kind}, {kind}, {kind}}}, 1, rows);
    SamplerChain chain(model, fixture.family(), fixture.rows, settings);
    chain.init({1, 0, 0});
    open_all_slots(chain.sampler(), rows);
    std::size_t sweep = 0;
    const std::size_t warmup = is_tree ? 1000 : 100;
    while (sweep < warmup) chain.step({1, 0, ++sweep});
    const std::size_t before = allocations;
    std::size_t sweeps_that_allocate = 0;
    for (int i = 0; i < 200; ++i) {
      const std::size_t at = allocations;
      chain.step({1, 0, ++sweep});
      sweeps_that_allocate += allocations != at ? 1 : 0;
    }
    // Trees of nodes keep lists that grow now and then; sub-clusters of clusters have their slots. Views come
    // and go, so not all slots of all of them can be opened beforehand: one that has more clusters than ever
    // doubles its room, which is rare.
    if (GetParam().model == "crosscat")
      EXPECT_LE(sweeps_that_allocate, 2U) << name;
    else
      EXPECT_LE(allocations - before, GetParam().model == "rbhmc" ? 200u : 0u)
          << name << ": in " << sweeps_that_allocate << " of 200 sweeps";
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Allocation, ::testing::ValuesIn(sampler_variants()),
                         [](const ::testing::TestParamInfo<Variant>& info) { return info.param.name; });

// The moves that are off by default, or few, among them.
INSTANTIATE_TEST_SUITE_P(Samplers, Allocation, ::testing::ValuesIn(mixture_variants()),
                         [](const ::testing::TestParamInfo<Variant>& info) { return info.param.name; });

TEST(AllocationCounter, Counts) {
  const std::size_t before = allocations;
  const std::vector<double> some(100);
  EXPECT_GT(allocations, before);
}

}  // namespace
}  // namespace coppice::test
