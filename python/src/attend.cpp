#include "attend.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "coppice/base/error.hpp"
#include "coppice/family/adopt_kinds.hpp"

namespace coppice::python {
namespace {

/// Long work on another thread. Python's signals are heard by the thread that calls, which must be free to
/// hear them.
class Worker {
 public:
  explicit Worker(const Task& task) {
    thread_ = std::thread([this, &task] {
      try {
        task(stop_);
      } catch (...) {
        problem_ = std::current_exception();
      }
      const std::lock_guard lock(mutex_);
      done_ = true;
      wake_.notify_all();
    });
  }
  ~Worker() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void stop() { stop_ = true; }
  bool wait(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return wake_.wait_for(lock, time, [this] { return done_; });
  }
  void end() {
    thread_.join();
    if (problem_) std::rethrow_exception(problem_);
  }

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
  std::exception_ptr problem_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool done_ = false;
};

}  // namespace

void attend(const Task& task, const std::function<void()>& on_beat) {
  constexpr std::chrono::milliseconds kBeat(100);
  Worker worker(task);
  bool stopping = false;
  for (bool done = false; !done;) {
    {
      const nb::gil_scoped_release release;
      done = worker.wait(kBeat);
    }
    if (PyErr_CheckSignals() != 0) {
      if (stopping || PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) == 0) throw nb::python_error();
      PyErr_Clear();
      worker.stop();
      stopping = true;
    }
    on_beat();
  }
  try {
    worker.end();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::stopped) throw;
    PyErr_SetString(PyExc_KeyboardInterrupt, error.what());
    throw nb::python_error();
  }
}

Settings checked_values(const std::vector<Parameter>& table, const nb::dict& given,
                        const std::string& model) {
  Settings settings;
  for (const auto& [key, value] : given) {
    const auto name = nb::cast<std::string>(key);
    const Parameter* found = find_parameter(table, name);
    if (found == nullptr) fail(ErrorCode::usage, "{} has no parameter '{}'", model, name);
    const std::optional<Setting> meant = parse_parameter(*found, name, nb::cast<std::string>(value));
    if (meant && !settings.emplace(found->name, *meant).second)
      fail(ErrorCode::usage, "{} is given twice, once under an earlier name", found->name);
  }
  return settings;
}

Settings family_settings_of(const std::vector<std::pair<std::string, std::string>>& given) {
  Settings settings;
  for (const auto& [name, toml] : given) settings.insert_or_assign(name, parse_setting(toml));
  return settings;
}

Dataset read_frames(const Frame& frame, const Frame* labels, const std::string& codebook_text,
                    bool family_is_named) {
  ReadOptions reading;
  reading.rules = kind_rules();
  reading.plain_features = labels != nullptr;
  reading.family_is_named = family_is_named;
  Codebook codebook;
  if (!codebook_text.empty()) {
    codebook = parse_codebook(codebook_text, "codebook");
    codebook.source.clear();
    reading.codebook = &codebook;
  }
  RawTable raw = frame.raw;
  raw.locate = [&frame](std::size_t row, std::size_t column) { return place_of(frame, row, column); };
  Dataset data = dataset_of(std::move(raw), reading);
  data.table.row_ids = frame.row_ids;
  if (labels != nullptr) {
    take_bits_for_counts(data, codebook);
    data.labels = label_table(*labels);
  }
  return data;
}

}  // namespace coppice::python
