"""The library installed into a fresh prefix, and used from outside: by CMake, by pkg-config, by careless code."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("COPPICE_BIN", ROOT / "build" / "release" / "coppice")).parent
STRICT = ["-Wall", "-Wextra", "-Wconversion", "-Werror"]

# Compiles with warnings only: a consumer that did not ask for our warnings must not get them.
CARELESS = """
#include <coppice/coppice.hpp>
int narrow(double value, int unused) { int kept = value; unsigned other = kept; return other; }
int main() { return narrow(coppice::all_models().size(), 1) == 0; }
"""

PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES CXX)
find_package(coppice {version} REQUIRED)
add_executable(embed embed.cpp)
target_compile_options(embed PRIVATE {strict})
target_link_libraries(embed PRIVATE coppice::coppice)
add_executable(careless careless.cpp)
target_link_libraries(careless PRIVATE coppice::coppice)
add_executable(page page.cpp)
target_link_libraries(page PRIVATE coppice::report)
"""

# Fits a table from memory with settings as texts, and writes its report: what bindings do.
PAGE = """
#include <coppice/coppice.hpp>
#include <cstdio>
int main() {
  using namespace coppice;
  MemoryTable table = start_memory_table("points", {"a", "b", "c", "d"});
  add_numbers(table, "x", {1.0, 1.1, 5.0, 5.2});
  add_texts(table, "kind", {0, 0, 1, 1}, {"left", "right"});
  FitRequest request;
  request.model = "nrmm";
  request.run_length = checked_settings(run_parameters(), {{"chains", "2"}, {"warmup", "5"}, {"draws", "8"}}, "nrmm");
  request.data = read_memory(table, {});
  request.output = "page.coppice";
  const Worker::Task task = [&](const std::atomic<bool>& stop) {
    request.running.stop = &stop;
    Fit::begin(std::move(request)).run();
  };
  Worker worker(task);
  while (!worker.wait(std::chrono::milliseconds(10))) continue;
  worker.end();
  const Analysis analysis("page.coppice");
  std::printf("%zu %zu\\n", coclustering_matrix(analysis, 1, 1).size(), linkage_matrix(analysis, 0).size());
  const auto rows = predict_rows(analysis, new_rows(analysis.run(), table), 1, selection_from_name("vi"), 1);
  std::puts(rows.size() == 4 ? "predicted" : "not predicted");
  std::puts(run_page(report_assets(), analysis, selection_from_name("vi")).substr(0, 15).c_str());
}
"""


def run(*command, **options):
    result = subprocess.run(list(map(str, command)), text=True, capture_output=True, check=False, **options)
    assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
    return result.stdout


def finds_two_groups(program):
    clusters = re.findall(r"^([a-f]): cluster (\d)", run(program), flags=re.M)
    assert clusters == [("a", "0"), ("b", "0"), ("c", "0"), ("d", "1"), ("e", "1"), ("f", "1")]


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prefix")
    run("cmake", "--install", BUILD, "--prefix", folder)
    return folder


@pytest.fixture
def consumer(tmp_path):
    """A folder outside the project with the example and careless code."""
    shutil.copy(ROOT / "examples" / "embed.cpp", tmp_path)
    (tmp_path / "careless.cpp").write_text(CARELESS)
    (tmp_path / "page.cpp").write_text(PAGE)
    return tmp_path


def test_find_package(prefix, consumer):
    version = (ROOT / "VERSION").read_text().strip()
    (consumer / "CMakeLists.txt").write_text(PROJECT.format(version=version, strict=" ".join(STRICT)))
    run("cmake", "-S", consumer, "-B", consumer / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", consumer / "build")
    finds_two_groups(consumer / "build" / "embed")
    run(consumer / "build" / "careless")
    words = run(consumer / "build" / "page", cwd=consumer).lower().split("\n")
    assert words[:2] == ["16 12", "predicted"] and words[2] == "<!doctype html>"


def test_pkg_config(prefix, consumer):
    (folder,) = {path.parent for path in prefix.rglob("coppice.pc")}
    environment = {**os.environ, "PKG_CONFIG_PATH": str(folder)}
    flags = run("pkg-config", "--cflags", "--libs", "coppice", env=environment).split()
    assert not [flag for flag in flags if flag.startswith("-W") and not flag.startswith("-Wno-")]
    run("c++", "-std=c++20", *STRICT, consumer / "embed.cpp", "-o", consumer / "embed", *flags)
    finds_two_groups(consumer / "embed")
    version = run("pkg-config", "--modversion", "coppice", env=environment).strip()
    assert version == (ROOT / "VERSION").read_text().strip()


def test_another_instruction_set_is_refused(prefix, consumer):
    """Without the exported flag the headers would be compiled for another machine than the library."""
    exported = (next(prefix.rglob("coppice.pc"))).read_text()
    if "-march=" not in exported:
        pytest.skip("the library was compiled for the compiler's default")
    result = subprocess.run(
        ["c++", "-std=c++20", "-fsyntax-only", f"-I{prefix}/include", consumer / "embed.cpp"],
        text=True,
        capture_output=True,
        check=False,
    )
    assert result.returncode != 0 and "libcoppice was compiled with" in result.stderr


def test_program_and_its_documentation(prefix):
    assert run(prefix / "bin" / "coppice", "--version").split()[1] == (ROOT / "VERSION").read_text().strip()
    assert ".TH COPPICE 1" in (prefix / "share/man/man1/coppice.1").read_text()
    assert "complete -o filenames" in (prefix / "share/bash-completion/completions/coppice").read_text()
    assert "#compdef coppice" in (prefix / "share/zsh/site-functions/_coppice").read_text()
    assert "complete -c coppice" in (prefix / "share/fish/vendor_completions.d/coppice.fish").read_text()
    assert not list((prefix / "include").rglob("app/*"))


@pytest.mark.parametrize("module", ["mpi", "arrow"])
def test_the_program_finds_its_modules(prefix, tmp_path, module):
    if not (BUILD / f"libcoppice_{module}.so").exists():
        pytest.skip("this build has no such module")
    program = prefix / "bin" / "coppice"
    if module == "arrow":
        (tmp_path / "table.parquet").write_bytes(b"PAR1 and nothing else")
        command = [program, "check", tmp_path / "table.parquet"]
        said = subprocess.run(command, text=True, capture_output=True, check=False).stderr
        assert "table.parquet: " in said and "this build" not in said
    else:  # what the launchers of MPI set, without one: a job of this process alone
        environment = {**os.environ, "PMIX_RANK": "0"}
        command = [program, "fit", "nrmm", ROOT / "no.csv", "--sampler", "data-parallel"]
        said = subprocess.run(command, text=True, capture_output=True, check=False, env=environment).stderr
        assert "has no MPI" not in said
