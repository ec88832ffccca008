"""Arrow: tables through the PyCapsule interface, and Parquet and Arrow files at the command line."""

import datetime
import decimal
import pathlib
import shutil
import subprocess

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from conftest import BINARY, blobs, fitted
from pyarrow import feather, parquet

import coppice
from coppice import _native

MODULE = pathlib.Path(BINARY).parent / "libcoppice_arrow.so"
needs_module = pytest.mark.skipif(not MODULE.exists(), reason="this build was made without COPPICE_ARROW")


class Capsules:
    """What DuckDB and others hand over: nothing but the interface."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def all_types():
    days = [datetime.date(1969, 12, 30), None, datetime.date(2024, 2, 29)]
    moments = [datetime.datetime(1969, 12, 31, 23, 59, 59, 250000), None, datetime.datetime(2024, 2, 29, 1, 2, 3)]
    clocks = [datetime.time(1, 2, 3), None, datetime.time(23, 59, 59, 500000)]
    texts = ["short", None, "a text of more than twelve bytes"]
    columns = {
        "int8": (pa.array([-3, None, 7], pa.int8()), [-3, np.nan, 7]),
        "uint64": (pa.array([0, None, 2**40], pa.uint64()), [0, np.nan, 2.0**40]),
        "half": (pa.array(np.array([0.5, -2.0, 65504.0], np.float16)), [0.5, -2, 65504]),
        "float": (pa.array([0.5, None, -2.0], pa.float32()), [0.5, np.nan, -2]),
        "double": (pa.array([0.1, None, float("nan")], pa.float64()), [0.1, np.nan, np.nan]),
        "bool": (pa.array([True, None, False]), [1, np.nan, 0]),
        "null": (pa.array([None, None, None]), [np.nan] * 3),
        "decimal": (
            pa.array([decimal.Decimal("-12345678901234567.89"), None, decimal.Decimal("0.10")], pa.decimal128(25, 2)),
            [-12345678901234567.89, np.nan, 0.1],
        ),
        "wide": (
            pa.array([decimal.Decimal("-1.5"), None, decimal.Decimal("3")], pa.decimal256(50, 3)),
            [-1.5, np.nan, 3],
        ),
        "duration": (pa.array([1500, None, -500], pa.duration("ms")), [1.5, np.nan, -0.5]),
        "string": (pa.array(texts), texts),
        "large": (pa.array(texts, pa.large_string()), texts),
        "view": (pa.array(texts, pa.string_view()), texts),
        "dictionary": (pa.array(["b", None, "a"]).dictionary_encode(), ["b", None, "a"]),
        "numbers": (pa.array([4.5, None, 4.5]).dictionary_encode(), [4.5, np.nan, 4.5]),
        "date32": (pa.array(days, pa.date32()), ["1969-12-30", None, "2024-02-29"]),
        "date64": (pa.array(days, pa.date64()), ["1969-12-30", None, "2024-02-29"]),
        "timestamp": (pa.array(moments, pa.timestamp("us")), ["1969-12-31T23:59:59.25", None, "2024-02-29T01:02:03"]),
        "zone": (pa.array(moments, pa.timestamp("ns", "UTC")), ["1969-12-31T23:59:59.25", None, "2024-02-29T01:02:03"]),
        "time": (pa.array(clocks, pa.time64("us")), ["01:02:03", None, "23:59:59.5"]),
    }
    return pa.table({name: array for name, (array, _) in columns.items()}), {
        name: expected for name, (_, expected) in columns.items()
    }


def cells(column):
    _, values, levels = column
    if levels is None:
        return values
    return [None if np.isnan(code) else levels[int(code)] for code in values]


def test_types_are_understood():
    table, expected = all_types()
    # Batches, an offset within them, and a dictionary of their own for each.
    pieces = pa.concat_tables([table.slice(0, 1), table.slice(1, 2), table.slice(0, 3)])
    for column in _native.arrow_columns(Capsules(pieces)):
        again = [*expected[column[0]], *expected[column[0]]]
        np.testing.assert_array_equal(cells(column), again, err_msg=column[0])
        if column[2] is not None:
            assert len(set(column[2])) == len(column[2]) == 2


def test_types_without_a_place_are_refused():
    for array in (pa.array([[1, 2], [3]]), pa.array([b"a", b"b"]), pa.array([{"a": 1}, {"a": 2}])):
        with pytest.raises(ValueError, match="column 'odd' has the Arrow type"):
            _native.arrow_columns(pa.table({"odd": array}))


def example(rows=80):
    X, _ = blobs(rows)
    rng = np.random.default_rng(2)
    day = datetime.datetime(2024, 1, 1)
    return pa.table(
        {
            "a": X[:, 0],
            "b": pa.array([None if i % 9 == 0 else value for i, value in enumerate(X[:, 1])]),
            "color": pa.array(rng.choice(["red", "green", "blue"], rows)).dictionary_encode(),
            "flag": pa.array(rng.random(rows) < 0.4),
            "price": pa.array(
                [decimal.Decimal(int(value * 100)) / 100 for value in 5 + rng.random(rows)], pa.decimal128(9, 2)
            ),
            "when": pa.array([day + datetime.timedelta(hours=int(h)) for h in rng.integers(5000, size=rows)]),
        }
    )


def test_frames_through_the_interface_are_the_same():
    table = example()
    models = [fitted(coppice.NRMMixture, X) for X in (table, Capsules(table), pl.from_arrow(table))]
    kinds = {column["name"]: column["kind"] for column in models[0].run_.columns}
    assert kinds == {"a": "real", "b": "real", "color": "category", "flag": "binary", "price": "real", "when": "real"}
    for other in models[1:]:
        np.testing.assert_array_equal(other.run_.labels(), models[0].run_.labels())
        np.testing.assert_array_equal(other.run_.data(), models[0].run_.data())
    assert list(models[1].feature_names_in_) == table.column_names


@needs_module
@pytest.mark.parametrize("ending", ["parquet", "feather", "arrow"])
def test_files_at_the_command_line_are_the_same(tmp_path, ending):
    table = example()
    path = tmp_path / f"table.{ending}"
    if ending == "parquet":
        parquet.write_table(table, path, row_group_size=30)
    elif ending == "feather":
        feather.write_feather(table, path)
    else:
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
            writer.write_table(table, max_chunksize=30)
    model = fitted(coppice.NRMMixture, table)
    length = ["--chains", "2", "--warmup", "60", "--draws", "60", "--seed", "1"]
    subprocess.run(
        [BINARY, "fit", "nrmm", path, "-o", tmp_path / "run.coppice", *length], check=True, capture_output=True
    )
    read = coppice.open(tmp_path / "run.coppice")
    assert read.run_.columns == model.run_.columns
    np.testing.assert_array_equal(read.run_.labels(), model.run_.labels())
    predicted = subprocess.run(
        [BINARY, "predict", tmp_path / "run.coppice", path], check=True, capture_output=True, text=True
    )
    assert len(predicted.stdout.splitlines()) == 81


@needs_module
def test_damaged_files_are_an_error_that_names_them(tmp_path):
    path = tmp_path / "table.parquet"
    parquet.write_table(example(), path)
    path.write_bytes(path.read_bytes()[:-200])
    result = subprocess.run([BINARY, "fit", "nrmm", path], cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 65 and f"{path}: " in result.stderr


def test_a_program_without_the_module_says_how_to_get_it(tmp_path):
    program = tmp_path / "coppice"
    shutil.copy2(BINARY, program)
    parquet.write_table(example(), tmp_path / "table.parquet")
    result = subprocess.run([program, "fit", "nrmm", "table.parquet"], cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 78 and "-DCOPPICE_ARROW" in result.stderr
