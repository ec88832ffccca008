"""Right answers through the front door: exact posteriors by enumeration, and defaults that need no thought."""

import io
import math

import numpy as np
import pytest
from conftest import ROOT, blobs, write_table

SHARED = ROOT.parent / "shared" / "data"


def partitions(n):
    def grow(prefix, highest):
        if len(prefix) == n:
            yield tuple(prefix)
            return
        for label in range(highest + 2):
            yield from grow(prefix + [label], max(highest, label))

    yield from grow([0], 0)


def log_beta(a, b):
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def exact_bernoulli(rows, alpha, a, b):
    weights = {}
    for labels in partitions(len(rows)):
        total = 0.0
        for cluster in range(max(labels) + 1):
            members = [row for row, label in zip(rows, labels) if label == cluster]
            total += math.log(alpha) + math.lgamma(len(members))
            for column in zip(*members):
                present = [cell for cell in column if cell is not None]
                total += log_beta(a + sum(present), b + len(present) - sum(present)) - log_beta(a, b)
        weights[labels] = total
    top = max(weights.values())
    mass = sum(math.exp(w - top) for w in weights.values())
    return {labels: math.exp(w - top) / mass for labels, w in weights.items()}


@pytest.mark.parametrize("sampler", ["gibbs", "split-merge"])
def test_partition_frequencies_with_missing_cells(coppice, sampler):
    rows = [(1, 0, 1), (1, 0, None), (1, 1, 1), (0, 1, 0), (None, 1, 0)]
    coppice.write(
        "data.csv", "a,b,c\n" + "".join(",".join("" if x is None else str(x) for x in r) + "\n" for r in rows)
    )
    draws = 40000
    coppice(
        "fit",
        "nrmm",
        "data.csv",
        "--sampler",
        sampler,
        "--alpha",
        1.5,
        "--set",
        "a=0.6",
        "--set",
        "b=0.9",
        "-o",
        "r.coppice",
        "--chains",
        2,
        "--warmup",
        100,
        "--draws",
        draws,
    )
    exact = exact_bernoulli(rows, 1.5, 0.6, 0.9)
    text = coppice("export", "r.coppice", "--what", "labels").stdout
    table = np.loadtxt(io.StringIO(text), delimiter=",", skiprows=1, dtype=int)[:, 3:]
    batches = table.reshape(100, -1, 5)
    codes = batches @ np.array([10000, 1000, 100, 10, 1])
    for labels, probability in exact.items():
        if probability < 1e-3:
            continue
        code = sum(label * 10 ** (4 - i) for i, label in enumerate(labels))
        shares = (codes == code).mean(1)
        error = shares.std(ddof=1) / math.sqrt(len(shares)) + 1e-5
        assert abs(shares.mean() - probability) < 4.5 * error, (labels, probability, shares.mean(), error)


@pytest.mark.parametrize("seed", range(5))
def test_default_settings_find_blobs_in_any_unit(coppice, seed):
    points, labels = blobs(seed)
    write_table(coppice.folder / "data.csv", points, labels)
    write_table(coppice.folder / "scaled.csv", points * 1000 + 1e6, labels)
    found = []
    for name in ("data", "scaled"):
        coppice("fit", "nrmm", f"{name}.csv", "--truth", "truth", "-o", f"{name}.coppice", "--draws", 300)
        level = coppice.json("score", f"{name}.coppice")["scores"][0]["levels"][0]
        assert level["ari"] > 0.9
        found.append(
            coppice("export", f"{name}.coppice", "--what", "consensus", "--to", "json")
            .stdout.split('"labels"')[1]
            .split("]")[0]
        )
    assert found[0] == found[1]


@pytest.mark.parametrize("model", ["nrmm", "rbhmc", "nhcm", "bhc", "bhcc", "crosscat"])
def test_numbers_far_from_one_have_the_same_clusters(coppice, model):
    """Squares of these numbers are zero or infinite: they are scaled, or refused in words."""
    points, labels = blobs(3, rows=40)
    length = () if model.startswith("bhc") else ("--chains", 1, "--warmup", 50, "--draws", 60)
    for scale in (1e-200, 1e-135, 1e135, 1e200):
        lines = [",".join(f"{x * scale:.17g}" for x in row) + f",{label}" for row, label in zip(points, labels)]
        coppice.write("far.csv", "\n".join(["x,y,truth", *lines]) + "\n")
        fit = ("fit", model, "far.csv", "--truth", "truth", *length, "-o", "far.coppice", "--overwrite")
        if scale in (1e-200, 1e200):
            assert "squared; choose another unit" in coppice(*fit, code=65).stderr
            continue
        coppice(*fit, *(("--penalty", 0) if model == "rbhmc" else ()))
        levels = coppice.json("score", "far.coppice")["scores"][0]["levels"]
        assert max(level["ari"] for level in levels) > 0.8, (scale, levels)


def test_offset_of_a_hundred_million_changes_nothing(coppice):
    # Whole multiples of 2^-20 keep all their digits at an offset of 1e8.
    points = np.round(blobs(9)[0] * 2**20) / 2**20
    for name, offset in (("near", 0.0), ("far", 1e8)):
        write_table(coppice.folder / f"{name}.csv", points + offset)
        coppice(
            "fit",
            "nrmm",
            f"{name}.csv",
            "-o",
            f"{name}.coppice",
            "--chains",
            1,
            "--draws",
            200,
            "--set",
            "scale=0.5",
            "--set",
            f"prior_mean=[{offset}, {offset}]",
            "--family",
            "gaussian",
        )
    near, far = (coppice("export", f"{name}.coppice", "--what", "trace").stdout for name in ("near", "far"))
    near, far = (np.loadtxt(io.StringIO(text), delimiter=",", skiprows=1) for text in (near, far))
    assert np.allclose(near, far, rtol=1e-9)


@pytest.mark.skipif(not SHARED.is_dir(), reason="the folder of real data sets is not beside the project")
@pytest.mark.parametrize(
    "name, arguments, truth, least",
    [
        ("iris", [], "label", 0.5),
        ("zoo", ["--id", "name"], "label", 0.6),
        ("housevotes84", [], "label", 0.3),
    ],
)
def test_real_tables_make_sense_out_of_the_box(coppice, name, arguments, truth, least):
    coppice("fit", "nrmm", SHARED / f"{name}.csv", "--truth", truth, *arguments, "-o", "r.coppice", "--draws", 300)
    assert coppice.json("score", "r.coppice")["scores"][0]["levels"][0]["ari"] > least
