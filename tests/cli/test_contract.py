"""The contract of the command line: outputs, headers, JSON keys, formats."""

import io
import json
import os
import shutil
import sqlite3
import subprocess

import numpy as np
import pytest
from conftest import BINARY, ROOT, blobs, write_table

SHORT = ("--chains", 2, "--warmup", 50, "--draws", 60)


@pytest.fixture
def run(coppice):
    points, labels = blobs(1)
    write_table(coppice.folder / "data.csv", points, labels)
    coppice("fit", "nrmm", "data.csv", "--truth", "truth", "-o", "r.coppice", *SHORT)
    return coppice


def test_fit_says_nothing_on_stdout_and_names_memory(coppice):
    write_table(coppice.folder / "data.csv", blobs(1)[0])
    result = coppice("fit", "nrmm", "data.csv", "-o", "r.coppice", *SHORT)
    assert result.stdout == ""
    assert "of memory" in result.stderr
    assert coppice("fit", "nrmm", "data.csv", "-q", "-o", "q.coppice", *SHORT).stderr == ""


@pytest.mark.parametrize("hyper", ["fixed", "learned"])
def test_a_run_keeps_what_it_was_made_with(coppice, hyper):
    write_table(coppice.folder / "data.csv", blobs(1)[0])
    coppice("fit", "nrmm", "data.csv", "--hyper", hyper, "-o", "r.coppice", *SHORT)
    shutil.copy(coppice.folder / "r.coppice", coppice.folder / "old.coppice")
    with sqlite3.connect(coppice.folder / "old.coppice") as database:
        kept = {
            key: json.loads(database.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()[0])
            for key in ("config", "effective")
        }
        database.execute("DELETE FROM meta WHERE key = 'effective'")
    assert kept["config"]["parameters"] == {} and kept["config"]["set"] == {}
    assert kept["effective"]["parameters"]["sampler"] == "auto"
    (block,) = kept["effective"]["blocks"]
    assert block["family"] == "gaussian" and block["columns"] == [0, 1] and block["learned"] == (hyper == "learned")
    if hyper == "fixed":
        assert block["settings"]["mean_strength"] == 0.05 and block["settings"]["dof"] == 4.0
        assert np.shape(block["settings"]["scale"]) == (2, 2) and len(block["column_settings"]["prior_mean"]) == 2
    else:
        assert np.shape(block["settings"]["data_mean"]) == np.shape(block["settings"]["data_sd"]) == (2,)
    # A run of a version that did not keep it is planned from what was asked for, and answers the same.
    both = ("r.coppice", "old.coppice")
    answers = [coppice.json("predict", name, "data.csv") for name in both]
    assert answers[0] == answers[1]
    for name in both:
        coppice("resume", name, "--draws", "+20")
    assert len({coppice("export", name, "--what", "labels", "--to", "csv").stdout for name in both}) == 1


def test_summary_json_has_the_promised_keys(run):
    answer = run.json("summary", "r.coppice")
    for key in ("model", "rows", "columns", "chains", "draws", "verdict", "clusters"):
        assert key in answer
    assert answer["model"] == "nrmm" and answer["rows"] == 50 and answer["columns"] == 2
    assert answer["chains"] == 2 and answer["draws"] == 60
    assert len(answer["clusters"]) == 1 and 2.5 < answer["clusters"][0] < 6
    assert run("summary", "r.coppice").stdout.splitlines()[0].startswith(("Trust it", "Do not trust"))


def test_chains_that_agree_are_not_trusted_if_their_sampler_is_not_exact(coppice):
    write_table(coppice.folder / "data.csv", np.array([[0.1], [0.2], [1.1], [0.9]]))
    coppice("fit", "nrmm", "data.csv", "--sampler", "tree-guided-published", "-o", "p.coppice", "--draws", 3000)
    for command in ("summary", "diagnose"):
        lines = coppice(command, "p.coppice").stdout.splitlines()
        assert lines[0].startswith("Not exact")
        assert lines[1].startswith("Do not trust it as a posterior: 4 chains agree")
    assert coppice.json("summary", "p.coppice")["trusted"] is False
    assert coppice("diagnose", "--strict", "p.coppice", code=1).stdout.startswith("Not exact")


def test_labels_csv(run):
    lines = run("export", "r.coppice", "--what", "labels", "--to", "csv").stdout.splitlines()
    assert lines[0] == "chain,draw,level," + ",".join(str(i) for i in range(1, 51))
    assert len(lines) == 1 + 2 * 60
    cells = lines[1].split(",")
    assert cells[:4] == ["0", "0", "1", "0"] and len(cells) == 53


def test_trace_csv_and_npy_agree(run):
    text = run("export", "r.coppice", "--what", "trace", "--to", "csv").stdout
    assert text.startswith("chain,draw,log_joint,clusters,entropy,largest_share,alpha,")
    table = np.genfromtxt(io.StringIO(text), delimiter=",", skip_header=1)
    run("export", "r.coppice", "--what", "trace", "--to", "npy", "-o", "t.npy")
    array = np.load(run.folder / "t.npy")
    traces = table.shape[1] - 2
    assert array.shape == (2, 60, traces)
    assert np.array_equal(array.reshape(-1, traces), table[:, 2:])


def test_coclustering_is_a_named_square_matrix_of_shares(run):
    lines = run("export", "r.coppice", "--what", "coclustering").stdout.splitlines()
    assert lines[0].split(",")[1:] == [str(i) for i in range(1, 51)]
    matrix = np.array([[float(x) for x in line.split(",")[1:]] for line in lines[1:]])
    assert matrix.shape == (50, 50) and np.allclose(matrix, matrix.T) and np.all(np.diag(matrix) == 1)
    labels = np.array(
        [
            [int(x) for x in line.split(",")[3:]]
            for line in run("export", "r.coppice", "--what", "labels").stdout.splitlines()[1:]
        ]
    )
    exact = (labels[:, :, None] == labels[:, None, :]).mean(0)
    assert np.allclose(matrix, exact, atol=1e-12)


def test_every_answer_has_json(run):
    for command in (["summary"], ["diagnose"], ["tree"], ["profile"], ["score"], ["impute"]):
        run.json(*command, "r.coppice")
    for command in ("models", "families"):
        assert json.loads(run(command, "--json").stdout)
    assert run.json("codebook", "data.csv")["rows"] == 50
    assert run.json("predict", "r.coppice", "data.csv")[0]["probabilities"]


def test_scores_of_separated_blobs_are_perfect(run):
    score = run.json("score", "r.coppice", "--truth", "truth")["scores"][0]["levels"][0]
    assert score["ari"] == 1.0 and score["f_measure"] == 1.0 and score["vi"] == 0.0
    run.write("more.csv", "name,kind\n" + "".join(f"{i},{i % 2}\n" for i in range(50)))
    assert run.json("score", "r.coppice", "--truth", "more.csv:kind")["scores"][0]["levels"][0]["ari"] < 0.2
    truth = [line.split(",") for line in run("export", "r.coppice", "--what", "consensus").stdout.splitlines()[1:]]
    run.write("only.csv", "name,kind\n" + "".join(f"{row[0]},k{row[1]}\n" for row in truth))
    run.write("alone.csv", "kind\n" + "".join(f"k{row[1]}\n" for row in truth))
    for file in ("only.csv", "alone.csv"):  # files of labels and nothing else
        assert run.json("score", "r.coppice", "--truth", f"{file}:kind")["scores"][0]["levels"][0]["ari"] == 1.0
    assert "no truth column 'nothing'" in run("score", "r.coppice", "--truth", "nothing", code=78).stderr


@pytest.mark.parametrize("form", ["ascii", "newick", "linkage", "dot", "json"])
def test_tree_formats(run, form):
    text = run("tree", "r.coppice", "--format", form).stdout
    start = {"ascii": "Height", "newick": "(", "linkage": "left,right,height,size", "dot": "digraph", "json": "{"}[form]
    assert text.startswith(start)


def test_predict_places_training_rows_in_their_clusters(run):
    header, *lines = run("predict", "r.coppice", "data.csv").stdout.splitlines()
    assert header.startswith("row,cluster,probability,log_density,entropy,p0,")
    consensus = run("export", "r.coppice", "--what", "consensus").stdout.splitlines()[1:]
    assert [line.split(",")[1] for line in lines] == [line.split(",")[1] for line in consensus]
    for line in lines:
        probabilities = [float(x) for x in line.split(",")[5:]]
        assert abs(sum(probabilities) - 1) < 1e-9


def test_predict_does_not_depend_on_the_batch(run):
    whole = run("predict", "r.coppice", "data.csv").stdout.splitlines()
    rows = (run.folder / "data.csv").read_text().splitlines()
    run.write("one.csv", rows[0] + "\n" + rows[7] + "\n")
    single = run("predict", "r.coppice", "one.csv").stdout.splitlines()[1]
    assert single.split(",")[1:] == whole[7].split(",")[1:]


def test_impute_fills_a_mixed_table(coppice):
    data = ROOT / "examples" / "mixed.csv"
    coppice("fit", "nrmm", data, "--truth", "group", "-o", "m.coppice", *SHORT)
    cells = coppice("impute", "m.coppice").stdout.splitlines()
    blank = sum(line.split(",").count("") for line in data.read_text().splitlines())
    assert len(cells) - 1 == blank > 0
    completed = coppice("impute", "m.coppice", "--completed").stdout.splitlines()
    assert not any("" in line.split(",") for line in completed)
    rows = coppice.json("impute", "m.coppice", "--completed")
    assert completed[0] == ",".join(["row", *rows[0]["cells"]])
    for line, row in zip(completed[1:], rows, strict=True):
        assert line == ",".join([row["row"], *(str(cell).removesuffix(".0") for cell in row["cells"].values())])


def test_config_file_and_flags_that_win_over_it(coppice):
    write_table(coppice.folder / "data.csv", blobs(2)[0])
    coppice.write(
        "run.toml",
        'model = "nrmm"\ndata = "data.csv"\noutput = "c.coppice"\nchains = 3\ndraws = 20\n'
        "warmup = 10\nalpha = 2.5\n[set]\nmean_strength = 0.2\n",
    )
    coppice("fit", "--config", "run.toml", "--chains", 2)
    answer = coppice.json("summary", "c.coppice")
    assert answer["chains"] == 2 and answer["draws"] == 20
    trace = coppice("export", "c.coppice", "--what", "trace").stdout.splitlines()[1]
    assert trace.endswith(",2.5")
    assert "run2.toml:1:" in coppice("fit", "--config", coppice.write("run2.toml", "nonsense = 1\n"), code=65).stderr


def test_compare_and_merge(coppice):
    write_table(coppice.folder / "data.csv", blobs(3)[0])
    for seed in (1, 2):
        coppice("fit", "nrmm", "data.csv", "-o", f"{seed}.coppice", "--seed", seed, "--chains", 2, "--draws", 500)
    assert coppice.json("compare", "1.coppice", "2.coppice")["same"] is True
    coppice("merge", "1.coppice", "2.coppice", "-o", "both.coppice")
    assert coppice.json("summary", "both.coppice")["chains"] == 4
    assert "cannot be resumed" in coppice("resume", "both.coppice", code=78).stderr
    assert "merged run already" in coppice("merge", "both.coppice", "1.coppice", "-o", "x.coppice", code=78).stderr
    coppice.write("book.toml", '[[column]]\nname = "x"\nkind = "real"\nfamily = "gaussian-known"\n')
    coppice(
        "fit",
        "nrmm",
        "data.csv",
        "-o",
        "known.coppice",
        "--seed",
        3,
        "--codebook",
        "book.toml",
        "--chains",
        2,
        "--draws",
        500,
    )
    assert "different settings" in coppice("merge", "1.coppice", "known.coppice", "-o", "x.coppice", code=78).stderr
    write_table(coppice.folder / "other.csv", blobs(4)[0])
    coppice("fit", "nrmm", "other.csv", "-o", "other.coppice", *SHORT)
    coppice("compare", "1.coppice", "other.coppice", code=78)


def test_compare_of_runs_with_different_traces(coppice):
    write_table(coppice.folder / "data.csv", blobs(3)[0])
    for name, flags in (("dp", ()), ("ngg", ("--process", "ngg"))):
        coppice("fit", "nrmm", "data.csv", "-o", f"{name}.coppice", "--draws", 500, *flags)
    for pair in (("dp", "ngg"), ("ngg", "dp")):
        answer = coppice.json("compare", *(f"{name}.coppice" for name in pair))
        rhats = {trace["name"]: trace["rhat"] for trace in answer["traces"]}
        assert list(rhats)[:5] == ["log_joint", "clusters", "entropy", "largest_share", "alpha"]
        # The densities are of different things; the partitions are not.
        assert rhats["log_joint"] is None and rhats["alpha"] is None and answer["same"] is True
    for levels in (3, 4):
        coppice("fit", "rbhmc", "data.csv", "--penalty", 0, "--levels", levels, "-o", f"{levels}.coppice", *SHORT)
    assert "levels" in coppice("compare", "3.coppice", "4.coppice", code=78).stderr
    # Two chains that never met have nothing to say about another run.
    coppice(
        "fit", "nrmm", "data.csv", "-o", "few.coppice", "--chains", 2, "--warmup", 0, "--draws", 4, "--init", "single"
    )
    assert "among themselves" in coppice("compare", "few.coppice", "few.coppice", code=1).stdout


@pytest.mark.parametrize(
    "family,table,settings,new",
    [
        ("poisson", "a,b\n3,0\n1,1\n4,0\n", (), "5,7"),
        ("binomial", "a,b\n3,0\n1,1\n4,0\n", ("--set", "trials=9"), "9,0"),
        ("multinomial", "a,b\n3,0\n1,1\n4,0\n", (), "2,2"),
        ("categorical", "a,b\n3,0\n1,1\n3,0\n", (), "1,1"),
        ("gaussian-diagonal", "a,b\n1,0\n2,1\n2,1\n", (), "1.5,0.5"),
        ("gaussian", "a,b\n0,0\n1,1\n0,1\n", (), "0.5,-3"),
    ],
)
def test_a_family_that_was_asked_for_decides_on_the_kind_of_numbers(coppice, family, table, settings, new):
    coppice.write("data.csv", table)
    coppice("fit", "nrmm", "data.csv", "--family", family, *settings, "-o", "r.coppice", *SHORT)
    coppice.write("new.csv", f"a,b\n{new}\n")
    assert len(coppice("predict", "r.coppice", "new.csv").stdout.splitlines()) == 2


def test_help_of_a_model_shows_its_flags_alone(coppice):
    bare = coppice("fit", "--help").stdout
    assert "--draws" in bare and "--levels" not in bare and "MODEL --help" in bare
    nhcm = coppice("fit", "nhcm", "--help").stdout
    assert "--nesting" in nhcm and "--levels" not in nhcm and len(nhcm.splitlines()) < 70
    assert "--levels" in coppice("fit", "rbhmc", "-h").stdout


def test_simulate_and_selfcheck(coppice):
    for family in ("gaussian", "poisson", "categorical"):
        coppice(
            "simulate", "nrmm", "--n", 30, "--family", family, "--seed", 3, "-o", "sim.csv", "--truth-out", "truth.csv"
        )
        assert len((coppice.folder / "sim.csv").read_text().splitlines()) == 31
        assert (coppice.folder / "truth.csv").read_text().startswith("row,cluster\n1,0\n")
    assert coppice("selfcheck").stdout.count("ok  ") == 4


def test_tables_in_json(coppice):
    for family, kind in (("gaussian", float), ("poisson", int), ("categorical", str)):
        simulate = ("simulate", "nrmm", "--n", 30, "--family", family, "--seed", 3)
        rows = coppice.json(*simulate, "--truth-out", "truth.json")
        lines = coppice(*simulate, "--truth-out", "truth.csv").stdout.splitlines()
        assert lines[0] == "row,x1,x2"
        assert all(isinstance(cell, kind) for row in rows for cell in row["cells"].values())
        assert [[row["row"], *map(kind, row["cells"].values())] for row in rows] == [
            [line.split(",")[0], *map(kind, line.split(",")[1:])] for line in lines[1:]
        ]
        truth = json.loads((coppice.folder / "truth.json").read_text())
        assert ["row,cluster"] + [f"{row['row']},{row['cells']['cluster']}" for row in truth] == (
            (coppice.folder / "truth.csv").read_text().splitlines()
        )
    coppice("simulate", "nrmm", "--n", 30, "-o", "data.csv")
    coppice("fit", "nrmm", "data.csv", "--id", "row", "-o", "r.coppice", *SHORT)
    drawn = coppice("sample", "r.coppice", "--n", 5).stdout.splitlines()
    assert [[row["row"], *row["cells"].values()] for row in coppice.json("sample", "r.coppice", "--n", 5)] == [
        [line.split(",")[0], *map(float, line.split(",")[1:])] for line in drawn[1:]
    ]


def test_shell_completion_and_manual(coppice):
    for shell in ("bash", "zsh", "fish"):
        text = coppice("completion", shell).stdout
        assert "resume" in text and "alpha-prior" in text
    manual = coppice("man").stdout
    assert manual.startswith(".TH COPPICE 1") and "split\\-merge\\-moves" in manual


def test_netcdf_is_written(run):
    run("export", "r.coppice", "--what", "draws", "--to", "netcdf", "-o", "r.nc")
    assert (run.folder / "r.nc").read_bytes()[1:4] == b"HDF"


def test_stdin(coppice):
    write_table(coppice.folder / "data.csv", blobs(1)[0])
    coppice("fit", "nrmm", "-", "-o", "s.coppice", *SHORT, stdin=(coppice.folder / "data.csv").read_text())
    assert coppice.json("summary", "s.coppice")["rows"] == 50


def test_nobody_reading_stderr_does_no_harm(coppice):
    points, labels = blobs(2, rows=40)
    write_table(coppice.folder / "blobs.csv", points, labels)
    for arguments, code in (
        (("fit", "bhc", "blobs.csv", "--truth", "truth", "-o", "r.coppice", "--progress", "plain"), 0),
        (("fit", "bhc", "missing.csv", "-o", "s.coppice"), 66),
    ):
        reader, writer = os.pipe()
        os.close(reader)
        result = subprocess.run(
            [BINARY, *arguments], cwd=coppice.folder, stderr=writer, stdout=subprocess.DEVNULL, timeout=60, check=False
        )
        os.close(writer)
        assert result.returncode == code
