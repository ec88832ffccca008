"""The check of the layers finds what is planted, and nothing in a tree that is in order."""

import pathlib
import subprocess
import sys

import pytest

CHECK = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_layers.py"


def model(name, *left_out):
    files = {f"{name}.cpp", "options.cpp", "inference.cpp", "predictor.cpp", "NOTES.md"} - set(left_out)
    return {f"src/coppice/model/{name}/{file}": "" for file in files}


IN_ORDER = {
    **model("a"),
    **model("b"),
    "src/coppice/base/error.hpp": "#include <string>\n",
    "src/coppice/base/error.cpp": '#include "coppice/base/error.hpp"\n#include "coppice/version.hpp"\n',
    "src/coppice/data/table.hpp": '#include "coppice/base/error.hpp"\n',
    "src/coppice/model/model.hpp": '#include "coppice/data/table.hpp"\n',
    "src/coppice/model/a/a.cpp": '#include "coppice/model/model.hpp"\n',
    "src/coppice/model/a/inference.cpp": '#include "coppice/model/a/options.hpp"\n',
    "src/coppice/model/registry.cpp": '#include "coppice/model/registry.hpp"\n',
    "src/coppice/app/main.cpp": '#include "coppice/model/model.hpp"\n',
    "python/src/module.cpp": '#include "bindings.hpp"\n#include "coppice/model/model.hpp"\n',
}


def checked(folder, planted):
    for name, text in {**IN_ORDER, **planted}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return subprocess.run([sys.executable, CHECK, folder], capture_output=True, text=True, check=False)


def test_a_tree_in_order_passes(tmp_path):
    answer = checked(tmp_path, {})
    sources = [name for name in IN_ORDER if not name.endswith(".md")]
    assert (answer.returncode, answer.stdout) == (0, f"layers: {len(sources)} files, 0 offenders\n")


@pytest.mark.parametrize(
    ("planted", "words"),
    [
        (
            {"src/coppice/data/up.cpp": '\n#include "coppice/model/model.hpp"\n'},
            "up.cpp:2: includes coppice/model/model.hpp: data is above model",
        ),
        ({"src/coppice/model/b/b.hpp": '#include "coppice/model/a/a.hpp"\n'}, "model/b may not know model/a"),
        ({"src/coppice/post/b.cpp": '#include "coppice/model/a/a.hpp"\n'}, "post may not know model/a"),
        ({"src/coppice/model/registry.cpp": '#include "coppice/model/a/a.hpp"\n'}, "model may not know model/a"),
        (model("c", "predictor.cpp"), "model/c/predictor.cpp: every model has such a file"),
        ({"src/coppice/odd/x.hpp": ""}, "not in a layer"),
        ({"src/coppice/base/near.cpp": '#include "error.hpp"\n'}, "write the path from src/"),
        ({"python/src/run.cpp": '#include "coppice/app/main.hpp"\n'}, "python may not know app"),
        ({"r/coppice/src/run.cpp": '#include "coppice/app/main.hpp"\n'}, "r may not know app"),
        # Through a source: no header includes itself, and yet neither file can be understood without the other.
        (
            {
                "src/coppice/base/a.hpp": '#include "coppice/base/b.hpp"\n',
                "src/coppice/base/b.hpp": "",
                "src/coppice/base/b.cpp": '#include "coppice/base/a.hpp"\n',
            },
            "files include each other: coppice/base/a -> coppice/base/b -> coppice/base/a",
        ),
        (
            {
                f"src/coppice/data/{a}.hpp": f'#include "coppice/base/error.hpp"\n#include "coppice/data/{b}.hpp"\n'
                for a, b in ("pq", "qr", "rp")
            },
            "coppice/data/p -> coppice/data/q -> coppice/data/r -> coppice/data/p",
        ),
    ],
    ids=[
        "upward",
        "other model",
        "answers",
        "list",
        "files of a model",
        "no layer",
        "no path",
        "python",
        "r",
        "circle of two",
        "circle of three",
    ],
)
def test_what_is_planted_is_found(tmp_path, planted, words):
    answer = checked(tmp_path, planted)
    assert answer.returncode == 1
    assert words in answer.stdout
    assert answer.stdout.endswith(", 1 offenders\n")
