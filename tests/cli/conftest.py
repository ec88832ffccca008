"""Shared tools of the command-line tests: they run the built program as a user would."""

import json
import os
import pathlib
import signal
import subprocess

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ.get("COPPICE_BIN", str(ROOT / "build" / "release" / "coppice"))

# Tests that a shell started in the background ignore Ctrl-C, and so would all programs that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


class Coppice:
    """Runs commands in a folder of its own. The limit of time is for what hangs: on a machine with much other work a
    second of computing can take minutes."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, *arguments, code=0, stdin=None, text=True, timeout=900):
        result = subprocess.run(
            [BINARY, *map(str, arguments)],
            cwd=self.folder,
            input=stdin,
            capture_output=True,
            text=text,
            timeout=timeout,
            check=False,
        )
        assert result.returncode == code, f"{arguments}: exit {result.returncode}\n{result.stdout}\n{result.stderr}"
        return result

    def json(self, *arguments, code=0, stdin=None):
        return json.loads(self(*arguments, "--json", code=code, stdin=stdin).stdout)

    def start(self, *arguments):
        return subprocess.Popen(
            [BINARY, *map(str, arguments)],
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return name


@pytest.fixture
def coppice(tmp_path):
    return Coppice(tmp_path)


def blobs(seed, rows=50, centers=((-4.0, -4.0), (4.0, 0.0), (0.0, 5.0)), sd=0.7):
    """Standardized Gaussian blobs and their labels."""
    rng = np.random.default_rng(seed)
    labels = np.arange(rows) % len(centers)
    points = np.array(centers)[labels] + sd * rng.normal(size=(rows, 2))
    return (points - points.mean(0)) / points.std(0), labels


def write_table(path, points, labels=None):
    columns = ["x", "y"] if points.shape[1] == 2 else [f"v{j}" for j in range(points.shape[1])]
    with open(path, "w", encoding="utf-8") as file:
        file.write(",".join(columns + (["truth"] if labels is not None else [])) + "\n")
        for i, point in enumerate(points):
            cells = [repr(float(value)) for value in point]
            file.write(",".join(cells + ([f"g{labels[i]}"] if labels is not None else [])) + "\n")
