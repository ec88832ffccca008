"""No command destroys what it reads, by whatever name its output is given."""

import os
import re

import pytest

# Each command that writes a file: what it is given; {run}, {data} and {other} are inputs.
COMMANDS = {
    "fit": (["nrmm", "{data}", "--overwrite"], ["data"]),
    "update": (["{run}", "{data}"], ["run", "data"]),
    "tree": (["{run}"], ["run"]),
    "predict": (["{run}", "{data}"], ["run", "data"]),
    "impute": (["{run}", "{data}"], ["run", "data"]),
    "sample": (["{run}", "--n", "5"], ["run"]),
    "crossvalidate": (["{data}", "--models", "nrmm"], ["data"]),
    "export": (["{run}", "--what", "labels", "--to", "csv"], ["run"]),
    "merge": (["{run}", "{other}"], ["run", "other"]),
    "report": (["{run}"], ["run"]),
    "codebook": (["{data}"], ["data"]),
    "check": (["{data}"], ["data"]),
    "simulate": (["nrmm"], []),
}


def commands_with_output(coppice):
    names = re.findall(r"^  ([a-z]+) {2,}", coppice("--help").stdout.split("Subcommands:")[1], re.MULTILINE)
    return {name for name in names if "--output" in coppice(name, "--help").stdout}


@pytest.fixture
def files(coppice):
    coppice.write("data.csv", "x,y\n" + "".join(f"{i % 3}.{i},{(i * i) % 7}.5\n" for i in range(20)))
    short = ("--chains", 1, "--warmup", 5, "--draws", 5)
    coppice("fit", "nrmm", "data.csv", *short, "-o", "a.coppice")
    coppice("fit", "nrmm", "data.csv", *short, "--seed", 2, "-o", "b.coppice")
    return {"data": "data.csv", "run": "a.coppice", "other": "b.coppice"}


def test_the_list_is_complete(coppice):
    assert commands_with_output(coppice) == set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_replaces_its_input(coppice, files, command):
    arguments, inputs = COMMANDS[command]
    arguments = [argument.format(**files) for argument in arguments]
    for name in inputs:
        path = coppice.folder / files[name]
        before = path.read_bytes()
        os.symlink(path, coppice.folder / "link")
        os.link(path, coppice.folder / "twin")
        for spelling in (files[name], f"./{files[name]}", str(path), "link", "twin"):
            error = coppice(command, *arguments, "-o", spelling, code=2).stderr
            assert "would be replaced" in error and len(error.splitlines()) == 1
            assert path.read_bytes() == before, spelling
        os.unlink(coppice.folder / "link")
        os.unlink(coppice.folder / "twin")


def test_two_outputs_are_two_files(coppice):
    error = coppice("simulate", "nrmm", "-o", "x.csv", "--truth-out", "./x.csv", code=2).stderr
    assert "written twice" in error
    assert not (coppice.folder / "x.csv").exists()
    coppice("simulate", "nrmm", "-o", "/dev/null", "--truth-out", "/dev/null")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a link to another user")
def test_links_of_other_users_are_not_followed(coppice, files):
    target = coppice.folder / "target.html"
    target.write_text("precious")
    os.symlink(target, coppice.folder / "page.html")
    os.lchown(coppice.folder / "page.html", 65534, 65534)
    assert "another user" in coppice("report", "a.coppice", "-o", "page.html", code=74).stderr
    assert target.read_text() == "precious"
