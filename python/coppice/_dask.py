"""Tables in parts on the workers of a Dask cluster: which rows are where, and the rounds of a fit as tasks.

Rows are read on the workers and stay there. What is drawn depends on the seed and the block size alone: a task may be
run anywhere, twice, or again after a worker has died.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import pathlib
import uuid
from typing import Any

import numpy as np

from coppice import _native
from coppice._tables import columns_of

Columns = list[tuple[str, np.ndarray, "list[str] | None"]]

_LARGE_MESSAGE = 1_000_000  # bytes; larger ones are sent once to every worker
_MOST_BLOCKS = 16  # of a part; a part is lost and read again as a whole
_MOST_FAILURES = 20  # of one round, before it is given up
_MOST_LEVELS = 10_000  # texts of a column that a piece reports; columns with more are names of rows
_PARQUET = (".parquet", ".pq")
_ARROW = (".arrow", ".feather", ".ipc")
_TEXT = (".csv", ".tsv", ".csv.gz", ".tsv.gz")


def is_in_parts(X: Any) -> bool:
    """Whether X is a Dask collection or a list of files."""
    if type(X).__module__.split(".")[0] in ("dask", "dask_expr") and hasattr(X, "__dask_graph__"):
        return True
    return isinstance(X, (list, tuple)) and len(X) > 0 and all(isinstance(path, (str, os.PathLike)) for path in X)


@functools.cache
def build_id() -> str:
    """Names the library to the last bit: another one rounds differently."""
    return f"{_native.build} {hashlib.sha256(pathlib.Path(_native.__file__).read_bytes()).hexdigest()[:16]}"


def _check_build(build: str) -> None:
    if build != build_id():
        raise RuntimeError(
            f"this worker has another build of coppice ({build_id()}) than the client ({build}), whose answers would "
            "differ in the last bits: install the same wheel on all of them"
        )


# ---- pieces: partitions of a collection, or files; these functions run on workers ----


def _digest(path: str) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def _state(path: str) -> tuple[int, int]:
    try:
        now = os.stat(path)
    except OSError as problem:
        raise FileNotFoundError(f"{path}: the file of the fit is not there any more ({problem.strerror})") from problem
    return now.st_size, now.st_mtime_ns


def _changed(path: str) -> ValueError:
    return ValueError(f"{path}: the file has changed since the fit began")


def _read_file(path: str) -> Columns:
    name = path.lower()
    if name.endswith(".npy"):
        array = np.load(path, mmap_mode="r", allow_pickle=False)
        if array.ndim != 2:
            raise ValueError(f"{path}: an array of {array.ndim} dimensions; rows and columns are needed")
        return columns_of(array)
    if name.endswith(_PARQUET):
        from pyarrow import parquet

        return columns_of(parquet.read_table(path))
    if name.endswith(_ARROW):
        import pyarrow as pa

        with pa.memory_map(path) as source:
            try:
                return columns_of(pa.ipc.open_file(source).read_all())
            except pa.ArrowInvalid:
                source.seek(0)
                return columns_of(pa.ipc.open_stream(source).read_all())
    if name.endswith(_TEXT):
        from pyarrow import csv

        return columns_of(
            csv.read_csv(
                path,
                parse_options=csv.ParseOptions(delimiter="\t" if ".tsv" in name else ","),
                convert_options=csv.ConvertOptions(strings_can_be_null=True),
            )
        )
    raise ValueError(f"{path}: parts are read from {', '.join((*_PARQUET, *_ARROW, '.npy', *_TEXT))}")


def _piece(source: Any, known: dict[str, Any] | None = None) -> Columns:
    """The columns of a partition, or of a file, which must be as it was."""
    if not isinstance(source, str):
        return columns_of(source)
    if known is None and not os.path.exists(source):
        raise FileNotFoundError(f"{source}: there is no such file on the worker")
    if known is not None:
        _state(source)  # says that it is not there any more
        if _digest(source) != known["digest"]:
            raise _changed(source)
    return _read_file(source)


def _survey(source: Any, build: str) -> dict[str, Any]:
    """What is known of a piece before its rows are looked at."""
    _check_build(build)
    columns = _piece(source)
    lengths = {len(values) for _, values, _ in columns}
    if len(lengths) != 1:
        raise ValueError(f"{source if isinstance(source, str) else 'a partition'}: it has no columns")
    levels = {name: levels[:_MOST_LEVELS] for name, _, levels in columns if levels is not None}
    known = {"rows": lengths.pop(), "names": [name for name, _, _ in columns], "levels": levels}
    return {**known, "digest": _digest(source)} if isinstance(source, str) else known


def _take(source: Any, known: dict[str, Any], rows: np.ndarray) -> Columns:
    """Some rows of a piece."""
    return [(name, np.asarray(values)[rows], levels) for name, values, levels in _piece(source, known)]


def _joined(pieces: list[Columns], first_levels: dict[str, list[str]] | None = None) -> Columns:
    """Columns of several pieces, one below the other; texts in the order of `first_levels`, then of the pieces."""
    joined: Columns = []
    for j, (name, _, _) in enumerate(pieces[0]):
        parts = [piece[j] for piece in pieces]
        if all(levels is None for _, _, levels in parts):
            joined.append(
                (name, np.concatenate([np.asarray(values, dtype=np.float64) for _, values, _ in parts]), None)
            )
            continue
        place = {text: code for code, text in enumerate((first_levels or {}).get(name, []))}
        codes = []
        for _, values, levels in parts:
            if levels is None and not np.isnan(values).all():
                raise ValueError(f"column {name!r} has texts in some parts and numbers in others")
            new = np.array([place.setdefault(text, len(place)) for text in levels or []] or [np.nan], dtype=np.float64)
            missing = np.isnan(values)
            codes.append(np.where(missing, np.nan, new[np.where(missing, 0, values).astype(np.int64)]))
        joined.append((name, np.concatenate(codes), list(place)))
    return joined


def _fill(frame: _native.Frame, columns: Columns) -> _native.Frame:
    for name, values, levels in columns:
        if levels is None:
            frame.add_numbers(name, np.asarray(values, dtype=np.float64))
        else:
            frame.add_texts(name, values, levels)
    return frame


class Part:
    """Blocks of rows on a worker."""

    def __init__(self, native: _native.Part, description: str, first: int, files: dict[str, tuple[int, int]]) -> None:
        self.native, self.description, self.first, self.files = native, description, first, files

    def __reduce__(self) -> Any:
        # Dask may move a part to a worker that has less to do.
        return _moved, (self.native.cells(), self.description, self.first, self.files, build_id())

    def __sizeof__(self) -> int:
        return self.native.nbytes()

    def check_files(self) -> None:
        for path, state in self.files.items():
            if _state(path) != state:
                raise _changed(path)


def _moved(cells: np.ndarray, description: str, first: int, files: dict[str, tuple[int, int]], build: str) -> Part:
    _check_build(build)
    return Part(_native.Part(description, cells, first), description, first, files)


def _load(
    sources: list[Any], known: list[dict[str, Any]], ranges: list[tuple[int, int]], first: int, setup: dict[str, str]
) -> Part:
    """The rows of a part, from the pieces that have them."""
    _check_build(setup["build"])
    files = {source: _state(source) for source in sources if isinstance(source, str)}
    pieces = [
        [(name, np.asarray(values)[begin:end], levels) for name, values, levels in _piece(source, facts)]
        for source, facts, (begin, end) in zip(sources, known, ranges)
    ]
    name = ", ".join(map(os.path.basename, files)) or "X"
    frame = _native.Frame.numbered(name, first, sum(end - begin for begin, end in ranges))
    native = _native.Part(setup["description"], _fill(frame, _joined(pieces)), first)
    return Part(native, setup["description"], first, files)


def _ask(part: Part, message: bytes, slot: int, build: str) -> bytes:
    _check_build(build)
    part.check_files()
    return part.native.ask(message, slot, 1)


def _labels(part: Part, message: bytes, build: str) -> np.ndarray:
    _check_build(build)
    part.check_files()
    return part.native.labels(message, _SLOT_OF_LABELS, 1)


_SLOT_OF_LABELS = 2**32  # of no chain


# ---- the driver ----


class PartedTable:
    """A table in parts: what the extension module asks of it while a fit runs.

    Parameters
    ----------
    X : Dask DataFrame, Dask array or list of paths
        The rows. Files must be where the workers can read them.
    client : distributed.Client or None
        The cluster; None: the current client.
    """

    def __init__(self, X: Any, client: Any = None) -> None:
        try:
            import distributed
        except ImportError as problem:
            raise ImportError("tables in parts need Dask: pip install coppice[dask]") from problem
        if client is None:
            try:
                client = distributed.get_client()
            except ValueError:
                raise ValueError(
                    "there is no Dask client: make one, for example client = distributed.Client(), or give client="
                ) from None
        self.client = client
        self.sources = self._sources_of(X)
        self._token = uuid.uuid4().hex[:8]
        self._round = 0
        self._known = self._run("survey", [(_survey, source, build_id()) for source in self.sources])
        self.names: list[str] = self._known[0]["names"]
        for source, known in zip(self.sources, self._known):
            if known["names"] != self.names:
                what = source if isinstance(source, str) else "a partition"
                raise ValueError(f"{what}: its columns are {known['names']}, but those before it have {self.names}")
        self._ends = np.cumsum([known["rows"] for known in self._known])
        self.all_rows = int(self._ends[-1])
        self._parts: list[Any] = []
        self._begins: list[int] = []

    def _sources_of(self, X: Any) -> list[Any]:
        if isinstance(X, (list, tuple)):
            return [os.path.abspath(path) for path in X]
        if hasattr(X, "npartitions") and hasattr(X, "to_delayed") and not hasattr(X, "chunks"):
            return X.to_delayed()
        if hasattr(X, "chunks") and X.ndim == 2:
            return list(X.rechunk({1: -1}).to_delayed().ravel())
        raise ValueError("a Dask array needs rows and columns")

    def _key(self, what: str, number: int) -> str:
        return f"coppice-{what}-{self._token}-{self._round}-{number}"

    def _submit(self, what: str, number: int, function: Any, arguments: tuple[Any, ...]) -> Any:
        """A task that may run anywhere."""
        if any(hasattr(argument, "__dask_graph__") for argument in arguments) or any(
            isinstance(argument, list) and any(hasattr(one, "__dask_graph__") for one in argument)
            for argument in arguments
        ):
            from dask import delayed

            task = delayed(function, pure=False)(*arguments, dask_key_name=self._key(what, number))
            return self.client.compute(task, optimize_graph=False)
        return self.client.submit(function, *arguments, key=self._key(what, number), pure=False)

    def _run(self, what: str, tasks: list[tuple[Any, ...]]) -> list[Any]:
        """The results of tasks in their order, however often workers die."""
        from distributed import KilledWorker

        for failures in range(_MOST_FAILURES + 1):
            self._round += 1
            futures = [self._submit(what, i, task[0], task[1:]) for i, task in enumerate(tasks)]
            try:
                return self.client.gather(futures)
            except KilledWorker:
                if failures == _MOST_FAILURES:
                    raise
        raise AssertionError

    def rows(self, numbers: np.ndarray) -> Columns:
        """Some rows, in ascending order; texts have all levels of the table."""
        begins = self._ends - [known["rows"] for known in self._known]
        tasks = []
        for source, known, begin, end in zip(self.sources, self._known, begins, self._ends):
            inside = numbers[np.searchsorted(numbers, begin) : np.searchsorted(numbers, end)]
            if len(inside):
                facts = {"digest": known.get("digest")}
                tasks.append((_take, source, facts, (inside - begin).astype(np.int64)))
        levels: dict[str, dict[str, None]] = {}
        for known in self._known:
            for name, texts in known["levels"].items():
                levels.setdefault(name, {}).update(dict.fromkeys(texts))
        return _joined(self._run("sample", tasks), {name: list(texts) for name, texts in levels.items()})

    def frame(self, numbers: np.ndarray) -> _native.Frame:
        return _fill(_native.Frame([str(number) for number in numbers.tolist()]), self.rows(numbers))

    def keep(self, most: int) -> None:
        """Takes the rows that the run is to keep for answers: all of them if `most` is 0."""
        self.numbers = _native.answer_rows(self.all_rows, most or self.all_rows).tolist()
        self.kept = self.frame(np.array(self.numbers, dtype=np.int64))

    @property
    def source(self) -> str:
        """What the rows are read from, as the run keeps it."""
        return json.dumps(
            [
                {
                    "file": source if isinstance(source, str) else None,
                    "rows": known["rows"],
                    "sha256": known.get("digest"),
                }
                for source, known in zip(self.sources, self._known)
            ]
        )

    def describe(self, description: str, source: str | None = None) -> None:
        """Begins to load the parts of the problem; a run that is continued says what its rows were read from."""
        if source is not None:
            for then, now in zip(json.loads(source), json.loads(self.source), strict=True):
                if then["rows"] != now["rows"] or then["sha256"] != now["sha256"]:
                    raise _changed(now["file"] or "X")
        self._description = description
        block = int(json.loads(json.loads(description)["effective"])["parameters"]["block-size"])
        threads = max(1, sum(self.client.nthreads().values()))
        blocks = -(-self.all_rows // block)
        # A power of two: neighbors are then merged on the worker as they would be here.
        of_part = 1
        while of_part < _MOST_BLOCKS and blocks // (2 * of_part) >= 2 * threads:
            of_part *= 2
        self._begins = list(range(0, self.all_rows, of_part * block))
        self._parts = [None] * len(self._begins)
        self._load(range(len(self._begins)))

    def _load(self, wanted: Any) -> None:
        self._round += 1
        setup = {"description": self._description, "build": build_id()}
        for number in wanted:
            begin = self._begins[number]
            end = self._begins[number + 1] if number + 1 < len(self._begins) else self.all_rows
            sources, known, ranges = [], [], []
            for source, facts, stop in zip(self.sources, self._known, self._ends):
                start = stop - facts["rows"]
                if start < end and stop > begin:
                    sources.append(source)
                    known.append({"digest": facts.get("digest")})
                    ranges.append((int(max(begin, start) - start), int(min(end, stop) - start)))
            self._parts[number] = self._submit("rows", number, _load, (sources, known, ranges, begin, setup))

    def _sent(self, message: bytes) -> Any:
        return message if len(message) < _LARGE_MESSAGE else self.client.scatter(message, broadcast=True, hash=False)

    def ask(self, slot: int, message: bytes) -> list[bytes]:
        """One round: all parts answer a message."""
        from distributed import KilledWorker

        for failures in range(_MOST_FAILURES + 1):
            sent = self._sent(message)
            self._round += 1
            futures = [
                self.client.submit(_ask, part, sent, slot, build_id(), key=self._key("ask", i), pure=False)
                for i, part in enumerate(self._parts)
            ]
            try:
                return self.client.gather(futures)
            except KilledWorker:
                # A task that was on several dying workers is blamed for it: under other names it may try again.
                if failures == _MOST_FAILURES:
                    raise
                self._load([i for i, part in enumerate(self._parts) if part.status in ("error", "cancelled", "lost")])
        raise AssertionError

    def labels(self, message: bytes) -> Any:
        """The labels of all rows, part after part, numbered by first appearance."""
        canonical: dict[int, int] = {}
        self._round += 1
        window = 2 * max(1, sum(self.client.nthreads().values()))
        futures: list[Any] = []
        for number in range(len(self._parts)):
            while len(futures) < window and number + len(futures) < len(self._parts):
                at = number + len(futures)
                key = self._key("labels", at)
                futures.append(self.client.submit(_labels, self._parts[at], message, build_id(), key=key, pure=False))
            labels = futures.pop(0).result()
            slots, first = np.unique(labels, return_index=True)
            for slot in slots[np.argsort(first)].tolist():
                canonical.setdefault(slot, len(canonical))
            table = np.zeros(max(canonical) + 1, dtype=np.int32)
            for slot, label in canonical.items():
                table[slot] = label
            yield table[labels]
