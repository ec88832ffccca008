#include "coppice/app/ranks.hpp"

#include <cstdlib>

#include "coppice/base/error.hpp"
#include "coppice/base/module.hpp"
#include "coppice/run/file_parts.hpp"
#include "coppice/run/problem_setup.hpp"
#include "coppice/run/run_file.hpp"

namespace coppice::app {
std::unique_ptr<Ranks> Ranks::join() {
  // Set by Open MPI and by the launchers of MPICH and Slurm.
  const bool is_in_a_job = std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr ||
                           std::getenv("PMI_SIZE") != nullptr || std::getenv("PMIX_RANK") != nullptr;
  if (!is_in_a_job) return nullptr;
  void* symbol = find_in_module("libcoppice_mpi.so", "coppice_join_ranks", ModuleSymbols::shared);
  if (symbol == nullptr)
    fail(ErrorCode::configuration,
         "this process belongs to an MPI job, but this build has no MPI: install Open MPI and its headers "
         "(Debian: libopenmpi-dev, openmpi-bin) and build again");
  return std::unique_ptr<Ranks>(reinterpret_cast<Ranks* (*)()>(symbol)());
}

void serve_run(Ranks& ranks) {
  std::unique_ptr<ProblemSetup> setup;
  std::unique_ptr<Inference> inference;
  std::unique_ptr<FileParts> parts;
  std::unique_ptr<FileQuestion> question;
  ranks.serve([&](const std::string& path) -> BlockTask& {
    const RunContents contents = RunFile::open(path, RunFile::Access::read).contents();
    if (std::optional<TableFiles> files = TableFiles::of_run(contents.source)) {
      const Engine& all = ranks.engine(path);
      parts = std::make_unique<FileParts>(*std::move(files), contents, all.workers());
      const auto [begin, end] = all.own_blocks(parts->size());
      parts->load(begin, end);
      question = std::make_unique<FileQuestion>(*parts);
      return *question;
    }
    setup = set_up_problem(contents);
    inference = setup->model->make_inference(setup->problem);
    auto* in_blocks = dynamic_cast<UsesEngine*>(inference.get());
    if (in_blocks == nullptr) fail(ErrorCode::bug, "the driver works in blocks, and this process does not");
    return in_blocks->task();
  });
}

}  // namespace coppice::app
