#include "coppice/post/draw_batches.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "coppice/base/error.hpp"
#include "coppice/base/parallel.hpp"

namespace coppice {
namespace {

constexpr std::size_t kDrawsAtOnce = 8;

}  // namespace

std::size_t evenly_spaced_draws(const SavedRun& run, std::size_t most) {
  const std::size_t chains = run.config().chains;
  const std::size_t all = run.draws_per_chain();
  return chains * (most == 0 ? all : std::min(all, std::max<std::size_t>(1, most / chains)));
}

void for_each_batch(const SavedRun& run, std::size_t most, std::size_t threads,
                    const std::function<void(std::span<const TakenDraw>)>& visit) {
  if (run.draws_per_chain() == 0)
    fail(ErrorCode::stopped, "{}: the run has no draws yet; continue with coppice resume", run.file().path());
  struct Slot {
    std::unique_ptr<Predictor> predictor;
    std::vector<Label> labels;
    std::vector<double> traces;
    std::string payload;
  };
  std::vector<Slot> slots(std::min(kDrawsAtOnce, evenly_spaced_draws(run, most)));
  for (Slot& slot : slots) slot.predictor = run.model().make_predictor(run.setup().problem);
  std::vector<TakenDraw> taken;
  std::size_t filled = 0;
  const auto hand_over = [&] {
    taken.resize(filled);
    parallel_for(filled, threads, [&](std::size_t i) {
      slots[i].predictor->set_draw(slots[i].labels, slots[i].traces, slots[i].payload);
      const std::span<const Label> labels = slots[i].labels;
      taken[i] = {labels, slots[i].predictor.get()};
    });
    if (filled > 0) visit(taken);
    filled = 0;
  };
  run.for_each_draw(most, [&](const SavedDraw& saved) {
    slots[filled].labels.assign(saved.labels.begin(), saved.labels.end());
    slots[filled].traces.assign(saved.traces.begin(), saved.traces.end());
    slots[filled].payload = saved.payload;
    if (++filled == slots.size()) hand_over();
  });
  hand_over();
}

}  // namespace coppice
