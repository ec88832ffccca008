"""Attacks on run files and inputs, seeded: what is killed, damaged or crafted is noticed, and nothing crashes.

./dev torture runs all of it in about ten minutes and prints one line for each kind of attack; tests/cli runs a short
form. Every process that is killed was started here, and is killed through the handle it was started with.
"""

import argparse
import dataclasses
import hashlib
import os
import pathlib
import random
import resource
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ.get("COPPICE_BIN", str(ROOT / "build" / "release" / "coppice"))
MEMORY = 4 << 30
# What a command may end with: done, no, usage, bad data, cannot read, cannot write, stopped, contradiction.
EXPECTED = {0, 1, 2, 65, 66, 74, 75, 78}
FITS = {
    "nrmm": ("--chains", "2", "--warmup", "50", "--draws", "8000"),
    "crosscat": ("--chains", "2", "--warmup", "20", "--draws", "1500"),
    "rbhmc": ("--chains", "2", "--warmup", "20", "--draws", "1500", "--drop", "k"),
    "nhcm": ("--chains", "2", "--warmup", "20", "--draws", "3000", "--drop", "k"),
    "bhc": (),
    "bhcc": (),
}


@dataclasses.dataclass
class Count:
    """One line of the table: how often it was tried, and what went wrong."""

    name: str
    tried: int = 0
    noticed: int = 0
    harmless: int = 0
    faults: list = dataclasses.field(default_factory=list)

    def fault(self, words):
        self.faults.append(words)


class Folder:
    """Runs the program in a folder of its own, with bounded memory and time."""

    def __init__(self, path):
        self.path = pathlib.Path(path)

    def run(self, *arguments, timeout=300, memory=MEMORY):
        def bound():
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        try:
            return subprocess.run(
                [BINARY, *map(str, arguments)],
                cwd=self.path,
                capture_output=True,
                timeout=timeout,
                check=False,
                preexec_fn=bound,
            )
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(arguments, "no end", b"", b"")

    def start(self, *arguments):
        return subprocess.Popen(
            [BINARY, *map(str, arguments)], cwd=self.path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def must(self, *arguments):
        result = self.run(*arguments)
        if result.returncode != 0:
            raise RuntimeError(f"{arguments}: exit {result.returncode}: {result.stderr.decode(errors='replace')}")
        return result.stdout

    def draws(self, run):
        """All that was drawn, as one digest."""
        digest = hashlib.sha256()
        for what in ("labels", "trace"):
            digest.update(self.must("export", run, "--what", what, "-q"))
        return digest.hexdigest()


def write_data(folder, rows=60):
    chooser = random.Random(5)
    lines = ["x,y,k"]
    for i in range(rows):
        lines.append(
            f"{chooser.gauss(3 * (i % 3), 1):.4f},{chooser.gauss(-2 * (i % 2), 1):.4f},{chooser.choice('abc')}"
        )
    (folder / "data.csv").write_text("\n".join(lines) + "\n")


def is_well_ended(count, result, about):
    """No crash, no bug, no endless loop; one line of words if it was refused."""
    if result.returncode not in EXPECTED:
        count.fault(f"{about}: exit {result.returncode} {result.stderr.decode(errors='replace')[-200:]}")
        return False
    return True


# --- killing -----------------------------------------------------------------------------------------------------


def kill_fits(folder, chooser, times, models):
    """Kills of fit and resume: the file is absent or opens, and resuming gives what an uninterrupted run gives."""
    count = Count("kills of fit and resume, then resumed")
    for model in models:
        settings = ("fit", model, "data.csv", "--seed", "3", "-q", *FITS[model])
        begin = time.monotonic()
        folder.must(*settings, "-o", f"whole-{model}.coppice")
        lasts = time.monotonic() - begin
        whole = folder.draws(f"whole-{model}.coppice")
        for attempt in range(times):
            name = f"k-{model}-{attempt}.coppice"
            process = folder.start(*settings, "-o", name)
            time.sleep(chooser.uniform(0.0, 0.9 * lasts))
            process.kill()
            process.wait()
            count.tried += 1
            for _ in range(chooser.randrange(3)):  # also while resuming
                if not (folder.path / name).exists():
                    break
                process = folder.start("resume", name, "-q")
                time.sleep(chooser.uniform(0.0, 0.5 * lasts))
                process.kill()
                process.wait()
                count.tried += 1
            if not (folder.path / name).exists():
                folder.must(*settings, "-o", name)
            else:
                folder.must("resume", name, "-q")
            if folder.draws(name) == whole:
                count.noticed += 1
            else:
                count.fault(f"{name}: other draws than without the kill")
            left = [path.name for path in folder.path.glob(f"{name}*") if path.name != name]
            if left:
                count.fault(f"{name}: left over: {left}")
            (folder.path / name).unlink()
    return count


def kill_merges(folder, chooser, times):
    """Kills of merge: no file, or the whole one; the next command that writes removes what the kill left beside it."""
    count = Count("kills of merge")
    for seed in (1, 2):
        folder.must(
            "fit", "nrmm", "data.csv", "--seed", seed, "-q", "-o", f"m{seed}.coppice", *FITS["nrmm"], "--overwrite"
        )
    begin = time.monotonic()
    folder.must("merge", "m1.coppice", "m2.coppice", "-o", "merged.coppice", "-q")
    lasts = time.monotonic() - begin
    whole = folder.draws("merged.coppice")
    for attempt in range(times):
        name = f"merge-{attempt}.coppice"
        process = folder.start("merge", "m1.coppice", "m2.coppice", "-o", name, "-q")
        time.sleep(chooser.uniform(0.0, 1.2 * lasts))
        process.kill()
        process.wait()
        count.tried += 1
        if (folder.path / name).exists():
            if folder.draws(name) != whole:
                count.fault(f"{name}: a stub at the final name")
            folder.must("rename", name, 1, "First")
        else:
            folder.must("merge", "m1.coppice", "m2.coppice", "-o", name, "-q")
            if folder.draws(name) != whole:
                count.fault(f"{name}: other draws after a kill")
        left = [path.name for path in folder.path.glob(f"{name}*") if path.name != name]
        if left:
            count.fault(f"{name}: left over: {left}")
        count.noticed += 1
    return count


# --- damage ------------------------------------------------------------------------------------------------------


def small_run(folder):
    folder.must("fit", "nrmm", "data.csv", "--chains", "2", "--warmup", "20", "--draws", "300", "-o", "s.coppice", "-q")
    return (folder.path / "s.coppice").read_bytes()


def flip_bit(data, chooser):
    data[chooser.randrange(len(data))] ^= 1 << chooser.randrange(8)


def truncate(data, chooser):
    del data[chooser.randrange(len(data)) :]


def burst(data, chooser):
    first = chooser.randrange(len(data))
    for i in range(first, min(len(data), first + chooser.choice((16, 256, 4096)))):
        data[i] = chooser.randrange(256)


def swap_pages(data, chooser):
    page = 4096
    if len(data) < 3 * page:
        return
    a, b = chooser.sample(range(1, len(data) // page), 2)
    data[a * page : (a + 1) * page], data[b * page : (b + 1) * page] = (
        data[b * page : (b + 1) * page],
        data[a * page : (a + 1) * page],
    )


def damage(folder, chooser, times, name, harm):
    """A damaged file is refused, or answers as the intact one does."""
    count = Count(name)
    good = small_run(folder) if not (folder.path / "s.coppice").exists() else (folder.path / "s.coppice").read_bytes()
    whole = folder.draws("s.coppice")
    summary = folder.must("summary", "s.coppice", "-q")
    for _ in range(times):
        data = bytearray(good)
        harm(data, chooser)
        (folder.path / "d.coppice").write_bytes(data)
        count.tried += 1
        answers = [
            folder.run("summary", "d.coppice", "-q"),
            folder.run("export", "d.coppice", "--what", "labels", "-q"),
            folder.run("export", "d.coppice", "--what", "trace", "-q"),
        ]
        if sum(is_well_ended(count, answer, name) for answer in answers) < len(answers):
            continue
        if any(answer.returncode == 65 for answer in answers):
            count.noticed += 1
            continue
        digest = hashlib.sha256(answers[1].stdout + answers[2].stdout).hexdigest()
        same = digest == whole and answers[0].stdout.replace(b"d.coppice", b"s.coppice") == summary
        if same:
            count.harmless += 1
        else:
            count.fault(f"{name}: unnoticed, exits {[a.returncode for a in answers]}")
    return count


# --- crafted -----------------------------------------------------------------------------------------------------


def frame(content, claimed=None, repeat=None):
    """A zstd frame of stored blocks that may claim another size, or repeat one byte."""
    size = len(content) if claimed is None else claimed
    out = b"\x28\xb5\x2f\xfd" + bytes([0xE0]) + struct.pack("<Q", size)  # one segment, eight bytes of size
    if repeat is not None:
        left = size
        while left > 0:
            length = min(left, 1 << 17)
            left -= length
            out += struct.pack("<I", (length << 3) | (1 << 1) | (left == 0))[:3] + bytes([repeat])
        return out
    pieces = [content[i : i + (1 << 17)] for i in range(0, len(content), 1 << 17)] or [b""]
    for i, piece in enumerate(pieces):
        out += struct.pack("<I", (len(piece) << 3) | (i + 1 == len(pieces)))[:3] + piece
    return out


def craft_blob(chooser):
    kind = chooser.randrange(8)
    numbers = [chooser.choice((0, 1, 2, 100, 300, 1 << 31, 1 << 40, (1 << 63) + 5)) for _ in range(5)]
    address = struct.pack("<5Q", *numbers)
    if kind == 0:
        return frame(b"", claimed=8 << 30)
    if kind == 1:
        return frame(b"", claimed=1 << 30, repeat=chooser.randrange(256))
    if kind == 2:
        return frame(address)
    if kind == 3:
        return frame(address + chooser.randbytes(chooser.randrange(4000)))
    if kind == 4:
        return chooser.randbytes(chooser.randrange(200))
    if kind == 5:
        return frame(struct.pack("<5Q", 0, 0, 0, 100, chooser.choice((1, 2, 4, 8))) + chooser.randbytes(9000))
    if kind == 6:
        return frame(struct.pack("<2Q", 0, 100) + chooser.randbytes(chooser.randrange(3000)))
    return b""


def crafted_blobs(folder, chooser, times):
    """Blobs that no checksum refuses, in every column that holds one."""
    count = Count("commands on crafted blobs")
    if not (folder.path / "s.coppice").exists():
        small_run(folder)
    for _ in range(times):
        shutil.copy(folder.path / "s.coppice", folder.path / "b.coppice")
        database = sqlite3.connect(folder.path / "b.coppice")
        table, column = chooser.choice(
            (
                ("draws", "traces"),
                ("draws", "labels"),
                ("draws", "details"),
                ("checkpoints", "state"),
                ("meta", "value"),
            )
        )
        blob = craft_blob(chooser)
        if table == "meta":
            key = chooser.choice(("config", "codebook", "table", "truth", "transform", "effective"))
            if key == "table" and chooser.random() < 0.8:
                blob = b"CPTB\x01" + blob
            digest = hashlib.sha256(blob).hexdigest()
            database.execute("UPDATE meta SET value = ?, sha256 = ? WHERE key = ?", (blob, digest, key))
        else:
            database.execute(f"UPDATE {table} SET {column} = ? WHERE chain = 0", (blob,))
        if table == "draws" and chooser.random() < 0.5:
            number = chooser.choice((0, 1, 101, -1, 1 << 40, (1 << 63) - 1))
            column = chooser.choice(("first", "count", "block"))
            database.execute(f"UPDATE draws SET {column} = ? WHERE chain = 0 AND block = 1", (number,))
        database.commit()
        database.close()
        command = chooser.choice(
            (
                ("summary", "b.coppice"),
                ("export", "b.coppice", "--what", "labels"),
                ("resume", "b.coppice", "--draws", "+10"),
                ("predict", "b.coppice", "data.csv"),
                ("diagnose", "b.coppice"),
                ("report", "b.coppice", "-o", "b.html"),
            )
        )
        count.tried += 1
        result = folder.run(*command, "-q", timeout=120, memory=2 << 30)
        if is_well_ended(count, result, f"{command[0]} on a blob in {table}.{column}"):
            if result.returncode == 0:
                count.harmless += 1
            else:
                count.noticed += 1
    return count


ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"
SCHEMAS = (
    f"ALTER TABLE meta RENAME TO real; CREATE VIEW meta AS {ENDLESS} SELECT x AS key, x AS value, x AS sha256 FROM c",
    f"ALTER TABLE draws RENAME TO real; CREATE VIEW draws AS {ENDLESS} SELECT x AS chain, x AS block, x AS first, "
    "x AS count, x AS traces, x AS labels, x AS details FROM c",
    "ALTER TABLE status RENAME TO real; CREATE VIEW status AS SELECT * FROM real",
    "CREATE TRIGGER t AFTER INSERT ON status BEGIN DELETE FROM draws; END",
    "CREATE TRIGGER t AFTER INSERT ON checkpoints BEGIN DELETE FROM meta; END",
    "CREATE TRIGGER t BEFORE UPDATE ON meta BEGIN DELETE FROM draws; END",
    "CREATE INDEX i ON draws (count)",
    "CREATE UNIQUE INDEX i ON status (seconds)",
    "CREATE TABLE other (a)",
    "CREATE VIEW other AS SELECT * FROM meta",
    "ALTER TABLE meta ADD COLUMN more TEXT",
    "ALTER TABLE draws ADD COLUMN more INTEGER AS (count * 2)",
    "ALTER TABLE checkpoints RENAME COLUMN state TO states",
    "DROP TABLE status",
    "ANALYZE",
    "DROP TABLE status; CREATE TABLE status (chain INTEGER PRIMARY KEY, sweeps INTEGER NOT NULL, seconds REAL NOT NULL "
    "CHECK (abs(seconds) < 1e300), moves TEXT NOT NULL, sha256 TEXT NOT NULL)",
    "CREATE VIRTUAL TABLE v USING fts5(a)",
    "PRAGMA user_version = 77",
    "PRAGMA application_id = 5",
)


def hostile_schemas(folder, chooser, times):
    """Views, triggers, indexes and tables of others are refused before anything of them is run."""
    count = Count("commands on hostile schemas")
    if not (folder.path / "s.coppice").exists():
        small_run(folder)
    commands = (
        ("summary", "h.coppice"),
        ("resume", "h.coppice", "--draws", "+10"),
        ("export", "h.coppice", "--what", "labels"),
        ("merge", "h.coppice", "s.coppice", "-o", "hm.coppice"),
    )
    for attempt in range(times):
        shutil.copy(folder.path / "s.coppice", folder.path / "h.coppice")
        database = sqlite3.connect(folder.path / "h.coppice")
        try:
            database.executescript(SCHEMAS[attempt % len(SCHEMAS)])
        except sqlite3.OperationalError:  # this SQLite lacks the extension
            database.close()
            continue
        database.commit()
        database.close()
        before = (folder.path / "h.coppice").read_bytes()
        command = (
            commands[attempt // len(SCHEMAS) % len(commands)] if times > len(SCHEMAS) else chooser.choice(commands)
        )
        count.tried += 1
        result = folder.run(*command, "-q", timeout=60)
        if result.returncode == 65:
            count.noticed += 1
        else:
            count.fault(f"{command} after {SCHEMAS[attempt % len(SCHEMAS)][:60]}: exit {result.returncode}")
        if (folder.path / "h.coppice").read_bytes() != before:
            count.fault(f"{command} after {SCHEMAS[attempt % len(SCHEMAS)][:60]}: the file was changed")
    return count


# --- inputs ------------------------------------------------------------------------------------------------------


def bad_table(chooser):
    """Text that is nearly a table."""
    kind = chooser.randrange(14)
    rows = [f"{chooser.gauss(0, 1):.3f},{chooser.randrange(9)},{chooser.choice('abc')}" for _ in range(30)]
    text = "\n".join(["x,n,c", *rows]) + "\n"
    at = chooser.randrange(len(text))
    if kind == 0:
        return text[:at].encode()
    if kind == 1:
        return text.encode()[:at] + bytes([chooser.randrange(256)]) * chooser.randrange(1, 9) + text.encode()[at:]
    if kind == 2:
        return text.replace(
            ",", chooser.choice((",,", ";", "\t", '"', ",\n", "\0", " ")), chooser.randrange(1, 40)
        ).encode()
    if kind == 3:
        return chooser.randbytes(chooser.randrange(400))
    if kind == 4:
        return b""
    if kind == 5:
        return ("x," * chooser.randrange(1, 3000) + "y\n" + "1," * chooser.randrange(1, 3000) + "2\n").encode()
    if kind == 6:
        value = chooser.choice(
            ("1e400", "-1e400", "inf", "nan", "1e-320", "0x1p3", "9" * 400, "1e308", "-0", "1_0", "12%")
        )
        rows[chooser.randrange(30)] = f"{value},{value},a"
        return "\n".join(["x,n,c", *rows]).encode()
    if kind == 7:
        return b"\xef\xbb\xbf" * chooser.randrange(3) + text.encode("utf-16" if chooser.random() < 0.5 else "latin-1")
    if kind == 8:
        return b"\x1f\x8b" + chooser.randbytes(100)
    if kind == 9:
        return frame(text.encode(), claimed=chooser.choice((None, 1, 8 << 30)))
    if kind == 10:
        return b"\x93NUMPY" + chooser.randbytes(chooser.randrange(200))
    if kind == 11:
        return ('x,c\n"' + "a" * chooser.randrange(5000) + "\n").encode()
    if kind == 12:
        return ("x,x\n" + "1,2\n" * 20).encode()
    return "\n".join(["x,n,c", *["1,1,a"] * 20]).encode()


def bad_inputs(folder, chooser, times):
    count = Count("commands on bad inputs")
    short = ("--chains", "1", "--warmup", "2", "--draws", "3", "-o", "in.coppice", "--overwrite")
    commands = (
        ("codebook", "in.csv"),
        ("check", "in.csv"),
        ("fit", "nrmm", "in.csv", *short),
        ("fit", "crosscat", "in.csv", *short),
        ("fit", "bhc", "in.csv", "-o", "in.coppice", "--overwrite"),
        ("predict", "s.coppice", "in.csv"),
        ("fit", "nrmm", "data.csv", "--codebook", "in.csv", "-o", "in.coppice", "--overwrite"),
        ("fit", "--config", "in.csv"),
    )
    if not (folder.path / "s.coppice").exists():
        small_run(folder)
    for _ in range(times):
        (folder.path / "in.csv").write_bytes(bad_table(chooser))
        (folder.path / "in.coppice").unlink(missing_ok=True)
        command = chooser.choice(commands)
        count.tried += 1
        result = folder.run(*command, "-q", timeout=120)
        if not is_well_ended(count, result, " ".join(command)):
            (folder.path / f"found-{count.tried}.csv").write_bytes((folder.path / "in.csv").read_bytes())
        elif result.returncode == 0:
            count.harmless += 1
        else:
            count.noticed += 1
            if len(result.stderr.splitlines()) != 1:
                count.fault(f"{command}: {len(result.stderr.splitlines())} lines of words")
    return count


def wide_tables(folder, _chooser, columns):
    """Wide tables: a fit that is stopped by its time limit soon after it, answers in little memory."""
    count = Count(f"commands on {columns} columns")
    chooser = random.Random(1)
    lines = [",".join(f"c{j}" for j in range(columns))]
    lines += [",".join(str(chooser.randrange(2)) for _ in range(columns)) for _ in range(30)]
    (folder.path / "wide.csv").write_text("\n".join(lines) + "\n")
    limit = 20
    fit = ("fit", "crosscat", "wide.csv", "--chains", "1", "--warmup", "2", "--draws", "4", "-q", "-o", "wide.coppice")
    begin = time.monotonic()
    result = folder.run(*fit, "--time-limit", f"{limit}s")
    lasted = time.monotonic() - begin
    count.tried += 1
    if result.returncode not in (0, 75):
        count.fault(f"fit: exit {result.returncode} {result.stderr.decode(errors='replace')[-200:]}")
        return count
    if lasted > 5 * limit:
        count.fault(f"fit: {lasted:.0f} s with a time limit of {limit} s")
    for command in (("summary", "wide.coppice"), ("views", "wide.coppice"), ("predict", "wide.coppice", "wide.csv")):
        count.tried += 1
        result = folder.run(*command, "-q", memory=1 << 30)
        if is_well_ended(count, result, command[0]):
            count.noticed += 1
    return count


# --- all of it ---------------------------------------------------------------------------------------------------


def attacks(short):
    """Name, and what to call with a folder and a chooser."""
    few = 1 if short else 8
    models = ("nrmm", "bhc") if short else tuple(FITS)
    return (
        lambda f, c: kill_fits(f, c, 1 if short else 6, models),
        lambda f, c: kill_merges(f, c, 3 if short else 30),
        lambda f, c: damage(f, c, 40 * few, "bit flips", flip_bit),
        lambda f, c: damage(f, c, 5 * few, "truncations", truncate),
        lambda f, c: damage(f, c, 6 * few, "bursts", burst),
        lambda f, c: damage(f, c, 5 * few, "page swaps", swap_pages),
        lambda f, c: crafted_blobs(f, c, 50 if short else 1600),
        lambda f, c: hostile_schemas(f, c, len(SCHEMAS) if short else 4 * len(SCHEMAS)),
        lambda f, c: bad_inputs(f, c, 40 if short else 800),
        lambda f, c: wide_tables(f, c, 500 if short else 20000),
    )


def run_all(seed, short, show):
    counts = []
    with tempfile.TemporaryDirectory() as scratch:
        for number, attack in enumerate(attacks(short)):
            path = pathlib.Path(scratch) / str(number)
            path.mkdir()
            write_data(path)
            begin = time.monotonic()
            count = attack(Folder(path), random.Random(f"{seed} {number}"))
            counts.append(count)
            show(count, time.monotonic() - begin)
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--short", action="store_true", help="the form that CI runs")
    arguments = parser.parse_args()
    print(f"{'attack':<40}{'tried':>8}{'noticed':>9}{'harmless':>10}{'faults':>8}{'seconds':>9}")

    def show(count, seconds):
        print(
            f"{count.name:<40}{count.tried:>8}{count.noticed:>9}{count.harmless:>10}{len(count.faults):>8}{seconds:>9.0f}",
            flush=True,
        )
        for words in count.faults[:10]:
            print(f"  {words}")

    counts = run_all(arguments.seed, arguments.short, show)
    return 1 if any(count.faults for count in counts) else 0


if __name__ == "__main__":
    sys.exit(main())
