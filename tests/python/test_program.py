"""The command line inside the wheel, and what it says on processors that it cannot run on."""

import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig

import pytest

import coppice
from coppice import _processor_check

PROGRAM = pathlib.Path(sysconfig.get_path("scripts")) / "coppice"
INSIDE = pathlib.Path(coppice.__file__).parent / "bin" / "coppice"
OLD_PROCESSOR = ["qemu-x86_64", "-cpu", "Nehalem"]


def run(*command, code=0):
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=600, check=False)
    assert result.returncode == code, result.stderr
    return result


@pytest.mark.parametrize("command", [[PROGRAM], [sys.executable, "-m", "coppice"]], ids=["script", "module"])
def test_installing_the_package_gives_the_program(command):
    assert run(*command, "--version").stdout == f"coppice {coppice.__version__}\n"
    assert "coppice --help" in run(*command, "nonsense", code=2).stderr


def test_the_program_and_the_package_draw_the_same(tmp_path):
    table = tmp_path / "points.csv"
    table.write_text("x,y\n" + "".join(f"{i % 2 * 9 + i % 7 / 7},{i % 2 * 5 + i % 5 / 5}\n" for i in range(40)))
    flags = ("--chains", 2, "--warmup", 20, "--draws", 20, "--seed", 3, "-q")
    run(PROGRAM, "fit", "nrmm", table, *flags, "-o", tmp_path / "run.coppice")
    from_program = coppice.open(tmp_path / "run.coppice")
    assert from_program.n_clusters_ == 2
    assert len(set(from_program.labels_[::2])) == len(set(from_program.labels_[1::2])) == 1


def test_a_processor_without_the_instructions_is_refused():
    assert _processor_check.missing_instructions() == ""
    with pytest.raises(ImportError, match="lacks: avx2 fma; build it from source"):
        _processor_check.refuse("avx2 fma")


@pytest.mark.skipif(shutil.which(OLD_PROCESSOR[0]) is None, reason="needs qemu-user to imitate an old processor")
def test_an_old_processor_is_refused_in_words():
    message = run(*OLD_PROCESSOR, INSIDE, "--version", code=78).stderr
    assert message.count("\n") == 1 and "lacks:" in message and "avx2" in message
    check = "import importlib.util, sys; sys.path.insert(0, sys.argv[1]); import _processor_check"
    interpreter = os.path.realpath(sys.executable)
    refusal = run(*OLD_PROCESSOR, interpreter, "-S", "-c", check, INSIDE.parents[1], code=1).stderr
    assert "ImportError: this build of coppice" in refusal and "avx2" in refusal
