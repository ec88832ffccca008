"""Tables in parts on Dask workers: the same draws as on threads and MPI, and what happens when workers or files go."""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import threading
import time
import warnings

import numpy as np
import pandas as pd
import pytest
from conftest import BINARY
from sklearn.exceptions import ConvergenceWarning

import coppice
from coppice import _dask

distributed = pytest.importorskip("distributed")
dask_frame = pytest.importorskip("dask.dataframe")
dask_array = pytest.importorskip("dask.array")

ROWS, BLOCK, WARMUP, DRAWS, SEED = 9050, 500, 12, 6, 11
KILLS = int(os.environ.get("COPPICE_TEST_KILLS", "4"))
LENGTH = {"block_size": BLOCK, "chains": 1, "warmup": WARMUP, "draws": DRAWS, "random_state": SEED, "verbose": 0}


def table(rows=ROWS, seed=3):
    """Three real columns: cells are missing, and one is rounded, so that equal values are spread."""
    rng = np.random.default_rng(seed)
    centers = np.array([[0.0, 0, 0], [4, 4, 0], [-4, 3, 5], [3, -4, -5]])
    points = centers[rng.integers(len(centers), size=rows)] + rng.normal(size=(rows, 3))
    points[:, 2] = np.round(points[:, 2], 1)
    points[rng.random(points.shape) < 0.02] = np.nan
    return points


@pytest.fixture(scope="module")
def points():
    return table()


@pytest.fixture(scope="module")
def cluster():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def files(points, tmp_path):
    """Parts of unequal lengths: blocks begin in the middle of files."""
    paths = []
    for i, part in enumerate(np.split(points, [1234, 1300, 6001])):
        paths.append(tmp_path / f"part-{i}.npy")
        np.save(paths[-1], part)
    return paths


def fit(X, client=None, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # short runs are not to be trusted, and say so
        arguments = {} if client is None else {"client": client}
        return coppice.NRMMixture(**{"sampler": "data-parallel", **LENGTH, **settings}).fit(X, **arguments)


def labels(model, folder, **again):
    return np.concatenate([np.load(path) for path in model.write_labels(folder, **again)])


@pytest.fixture(scope="module")
def alone(points, tmp_path_factory):
    """Labels and traces of one thread of one process."""
    model = fit(points, n_jobs=1)
    return labels(model, tmp_path_factory.mktemp("alone")), model.run_.traces()


def assert_same(model, alone, tmp_path, **again):
    np.testing.assert_array_equal(labels(model, tmp_path / "labels", **again), alone[0])
    for name, values in alone[1].items():
        np.testing.assert_array_equal(model.run_.traces()[name], values, err_msg=name)


@contextlib.contextmanager
def workers_of_their_own(count):
    with (
        distributed.LocalCluster(
            n_workers=count, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_label_files_of_threads_workers_and_processes_are_the_same(points, files, alone, tmp_path):
    """One seed on 1 and 2 threads, 1, 2 and 4 Dask workers, and 1, 2 and 4 MPI processes, from one file and several."""
    # Names as those of the array: they say where values of a rounded column go.
    names = [f"x{j}" for j in range(3)]
    pd.DataFrame(points, columns=names).to_csv(tmp_path / "points.csv", index=False)
    parts = [f"part-{i}.csv" for i in range(len(files))]
    for part, path in zip(parts, files):
        pd.DataFrame(np.load(path), columns=names).to_csv(tmp_path / part, index=False)

    def export(run, data, *launcher, threads=None):
        fit = [*launcher, BINARY, "fit", "nrmm", *data, "-o", f"{run}.coppice", "--sampler", "data-parallel"]
        length = ["--block-size", BLOCK, "--chains", 1, "--warmup", WARMUP, "--draws", DRAWS, "--seed", SEED]
        more = [] if threads is None else ["--threads", str(threads)]
        environment = {**os.environ, "OMPI_MCA_mpi_yield_when_idle": "1"}  # processes that wait give way
        subprocess.run([*fit, *map(str, length), *more], cwd=tmp_path, check=True, capture_output=True, env=environment)
        labels = [BINARY, "export", f"{run}.coppice", "--what", "labels", "--draw", str(DRAWS - 1), "--to", "npy"]
        subprocess.run([*labels, "-o", f"{run}/"], cwd=tmp_path, check=True, capture_output=True)
        return contents(tmp_path / run)

    def contents(folder):
        return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}

    expected = export("threads-1", ["points.csv"], threads=1)
    assert list(expected) == ["labels-00000.npy"]
    np.testing.assert_array_equal(np.load(tmp_path / "threads-1" / "labels-00000.npy"), alone[0])
    assert export("threads-2", ["points.csv"], threads=2) == expected
    assert export("files-2", parts, threads=2) == expected
    for workers in (1, 2, 4):
        with workers_of_their_own(workers) as client:
            model = fit(files, client=client)
            assert_same(model, alone, tmp_path / f"workers-{workers}", client=client)
            assert contents(tmp_path / f"workers-{workers}" / "labels") == expected
    if not (pathlib.Path(BINARY).parent / "libcoppice_mpi.so").exists() or shutil.which("mpirun") is None:
        pytest.skip("this build has no MPI, or there is no mpirun: only threads and Dask were compared")
    for ranks in (1, 2, 4):
        launcher = ("mpirun", "--oversubscribe", "--allow-run-as-root", "--bind-to", "none", "-n", str(ranks))
        assert export(f"ranks-{ranks}", ["points.csv"], *launcher) == expected
        assert export(f"files-of-ranks-{ranks}", parts, *launcher) == expected


def test_two_threads_are_the_same(points, alone, tmp_path):
    assert_same(fit(points, n_jobs=2), alone, tmp_path)


def test_files_frames_and_arrays_are_the_same(cluster, points, files, alone, tmp_path):
    model = fit(files)
    assert_same(model, alone, tmp_path / "files")
    frame = dask_frame.from_pandas(pd.DataFrame(points, columns=[f"x{j}" for j in range(3)]), npartitions=3)
    assert_same(fit(frame, client=cluster), alone, tmp_path / "frame", X=frame)
    array = dask_array.from_array(points, chunks=(3000, 2))
    assert_same(fit(array), alone, tmp_path / "array", X=array)
    with pytest.raises(ValueError, match="give it as X"):
        labels(fit(array), tmp_path / "again")


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv"])
def test_formats_are_the_same(cluster, points, alone, tmp_path, ending):
    import pyarrow as pa
    from pyarrow import csv, feather, parquet

    write = {"parquet": parquet.write_table, "arrow": feather.write_feather, "csv": csv.write_csv}[ending]
    paths = []
    for i, part in enumerate(np.split(points, [4000])):
        paths.append(str(tmp_path / f"part-{i}.{ending}"))
        columns = {f"x{j}": pa.array(part[:, j], from_pandas=True) for j in range(3)}
        write(pa.table(columns), paths[-1])
    assert_same(fit(paths), alone, tmp_path)


def test_texts_have_the_levels_of_all_parts(cluster, points, tmp_path):
    rng = np.random.default_rng(8)
    frame = pd.DataFrame(points, columns=list("abc"))
    frame["color"] = np.where(frame["a"] > 2, "red", np.where(rng.random(ROWS) < 0.5, "green", "blue"))
    frame.loc[frame.index < 5000, "late"] = "early"
    frame.loc[frame.index >= 5000, "late"] = rng.choice(["early", "late", "later"], ROWS - 5000)
    frame.loc[17, "color"] = None
    model = fit(frame, n_jobs=1)
    parts = dask_frame.from_pandas(frame, npartitions=4)
    same = fit(parts)
    assert {c["name"]: c["kind"] for c in same.run_.columns} == {c["name"]: c["kind"] for c in model.run_.columns}
    assert_same(same, (labels(model, tmp_path / "memory"), model.run_.traces()), tmp_path, X=parts)


def test_the_driver_has_a_sample_and_says_so(cluster, files, alone, tmp_path):
    model = fit(files, answer_rows=300, output=tmp_path / "run.coppice")
    assert_same(model, alone, tmp_path)
    assert len(model.labels_) == 300 == len(model.run_.row_ids)
    # They are labels of these rows in the draws, and the names are the rows' numbers.
    numbers = np.array(model.run_.row_ids, dtype=int)
    drawn = model.run_.labels()[0][-1]
    together = drawn[:, None] == drawn[None, :]
    np.testing.assert_array_equal(together, alone[0][numbers][:, None] == alone[0][numbers][None, :])
    said = subprocess.run([BINARY, "summary", tmp_path / "run.coppice"], check=True, capture_output=True, text=True)
    assert f"a random sample of 300 of the {ROWS} rows" in said.stdout
    refused = subprocess.run(
        [BINARY, "resume", tmp_path / "run.coppice", "--draws", "+1"], capture_output=True, text=True
    )
    assert refused.returncode != 0 and "not in its file" in refused.stderr
    export = [BINARY, "export", tmp_path / "run.coppice", "--what", "labels", "--draw", "0", "-o", tmp_path / "all"]
    refused = subprocess.run([*export, "--to", "npy"], capture_output=True, text=True)
    assert refused.returncode != 0 and "write_labels()" in refused.stderr


def test_a_run_is_continued_with_the_same_draws(cluster, files, alone, tmp_path):
    model = fit(files, draws=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.resume(draws=DRAWS)
    assert_same(model, alone, tmp_path)


def test_tasks_have_our_names(cluster, files):
    fit(files, draws=1, warmup=1)
    seen = set(cluster.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.task_prefixes)))
    assert {"coppice-survey", "coppice-rows", "coppice-ask"} <= seen


def test_another_build_is_refused(cluster, files, monkeypatch):
    monkeypatch.setattr(_dask, "build_id", lambda: "9.9.9 of another compiler")
    with pytest.raises(
        RuntimeError, match="another build of coppice .* than the client \\(9.9.9 of another compiler\\)"
    ):
        fit(files)


def in_the_background(function):
    """Runs it on a thread; the list receives its result or what it raised."""
    results = []

    def run():
        try:
            results.append(function())
        except BaseException as problem:
            results.append(problem)

    thread = threading.Thread(target=run, daemon=True)  # a test that fails must not wait for it
    thread.start()
    return thread, results


@pytest.mark.parametrize("what", ["changes", "disappears"])
def test_a_file_that_changes_is_an_error_that_names_it(cluster, files, what):
    thread, results = in_the_background(lambda: fit(files, draws=100_000, client=cluster))
    time.sleep(3.0)
    if what == "changes":
        np.save(files[2], np.zeros((4701, 3)))
    else:
        files[2].unlink()
    thread.join(timeout=300)
    assert not thread.is_alive()
    assert isinstance(results[0], (ValueError, OSError)), results
    assert "part-2.npy" in str(results[0])
    assert ("has changed" if what == "changes" else "not there any more") in str(results[0])


def test_killed_workers_do_not_matter(points, files, tmp_path):
    draws = max(150, 25 * KILLS)
    length = {"draws": draws, "answer_rows": 300}  # a consensus of all rows would take longer than the draws
    whole = fit(points, **length)
    expected = labels(whole, tmp_path / "whole"), whole.run_.traces()
    with workers_of_their_own(2) as client:
        cluster = client.cluster
        thread, results = in_the_background(lambda: fit(files, client=client, **length))
        killed = []
        asked = lambda dask_scheduler: "coppice-ask" in dask_scheduler.task_prefixes
        while thread.is_alive() and not client.run_on_scheduler(asked):
            time.sleep(0.1)
        at_work = lambda dask_scheduler: len(dask_scheduler.workers)
        while len(killed) < KILLS and thread.is_alive():
            time.sleep(1.5)
            # Dask gives up a worker that dies before the scheduler knows it.
            if client.run_on_scheduler(at_work) < 2:
                continue
            workers = [nanny.pid for nanny in cluster.workers.values() if nanny.pid and nanny.pid not in killed]
            if workers and thread.is_alive():
                worker = workers[len(killed) % len(workers)]
                with contextlib.suppress(ProcessLookupError):  # it has just ended
                    os.kill(worker, signal.SIGKILL)
                    killed.append(worker)
        thread.join(timeout=900)
        assert not thread.is_alive()
        assert len(killed) == KILLS, f"the fit was over after {len(killed)} kills"
        assert isinstance(results[0], coppice.NRMMixture), results
        assert_same(results[0], expected, tmp_path, client=client)
