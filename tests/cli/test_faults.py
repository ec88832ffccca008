"""What goes wrong around a command: killed merges, files of others, signals, values that are empty, hostile names."""

import os
import pty
import re
import resource
import select
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import time
import urllib.request

import pytest
from conftest import BINARY, ROOT, blobs, write_table

sys.path.insert(0, str(ROOT / "tests" / "torture"))

import torture

LONG = ("--chains", 2, "--warmup", 50, "--draws", 2000000)
SHORT = ("--chains", 2, "--warmup", 5, "--draws", 30, "-q")


@pytest.fixture
def data(coppice):
    write_table(coppice.folder / "data.csv", blobs(5, rows=60)[0])
    return coppice


def wait_for(condition, seconds=300):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never happens"
        time.sleep(0.01)


def ended(process):
    _, errors = process.communicate(timeout=900)
    return process.returncode, errors


def beside(coppice, name):
    return sorted(path.name for path in coppice.folder.glob(f"{name}*") if path.name != name)


def journal_mode(coppice, name):
    return (coppice.folder / name).read_bytes()[18:20]  # 1: rollback journal, 2: write-ahead log


def test_files_of_others_beside_a_run_are_not_touched(data):
    for suffix in ("-wal", "-journal", "-shm", "-lock"):
        data.write(f"trip{suffix}", "notes of a journey")
        error = data("fit", "nrmm", "data.csv", *SHORT, "-o", "trip", code=74).stderr
        assert f"trip{suffix}" in error and "choose another name" in error
        assert (data.folder / f"trip{suffix}").read_text() == "notes of a journey"
        (data.folder / f"trip{suffix}").unlink()
    data("fit", "nrmm", "data.csv", *SHORT, "-o", "trip")
    data.write("trip-journal", "notes of a journey")
    for command in (("summary", "trip"), ("resume", "trip")):
        assert "trip-journal" in data(*command, code=74).stderr
    assert (data.folder / "trip-journal").read_text() == "notes of a journey"


def test_left_overs_of_a_killed_creation_are_removed(data):
    data("fit", "nrmm", "data.csv", *SHORT, "-o", "a.coppice")
    (data.folder / "b.coppice.new-4194000").write_bytes((data.folder / "a.coppice").read_bytes())
    (data.folder / "b.coppice.new-4194000-journal").write_bytes(b"")
    data.write("b.coppice.new-ideas", "mine")
    data.write("b.coppice.new-77", "my seventy-seventh idea")
    data("fit", "nrmm", "data.csv", *SHORT, "-o", "b.coppice")
    assert beside(data, "b.coppice") == ["b.coppice.new-77", "b.coppice.new-ideas"]


def test_a_run_that_disappears_or_is_replaced_is_noticed(data):
    for replace in (False, True):
        process = data.start("fit", "nrmm", "data.csv", *LONG, "-o", "gone.coppice")
        wait_for((data.folder / "gone.coppice-wal").exists)
        (data.folder / "gone.coppice").unlink()
        if replace:
            data.write("gone.coppice", "another file")
        code, errors = ended(process)
        assert code == 74 and "deleted, moved or replaced" in errors
        if replace:
            assert (data.folder / "gone.coppice").read_text() == "another file"
        for path in data.folder.glob("gone.coppice*"):
            path.unlink()


def test_a_second_program_that_draws_is_refused(data):
    process = data.start("fit", "nrmm", "data.csv", *LONG, "-o", "one.coppice")
    wait_for((data.folder / "one.coppice-wal").exists)
    assert "another program is drawing" in data("resume", "one.coppice", code=74).stderr
    more = ("fit", "nrmm", "data.csv", *SHORT, "--overwrite", "-o", "one.coppice")
    assert "another program is drawing" in data(*more, code=74).stderr
    process.send_signal(signal.SIGINT)
    assert ended(process)[0] == 75
    assert beside(data, "one.coppice") == []
    # A killed one leaves its lock behind, which is not held any more.
    process = data.start("resume", "one.coppice")
    wait_for((data.folder / "one.coppice-wal").exists)
    process.kill()
    process.communicate()
    data("resume", "one.coppice", "--time-limit", "0.1s", code=75)
    assert beside(data, "one.coppice") == []


def test_damaged_draws_are_refused_before_more_are_made(data):
    data("fit", "nrmm", "data.csv", "--chains", 1, "--warmup", 5, "--draws", 250, "-o", "r.coppice", "-q")
    database = sqlite3.connect(data.folder / "r.coppice")
    database.execute("UPDATE draws SET labels = traces WHERE block = 0")
    database.commit()
    database.close()
    before = (data.folder / "r.coppice").read_bytes()
    error = data("resume", "r.coppice", "--draws", "+50", code=65).stderr
    assert "r.coppice: " in error
    assert (data.folder / "r.coppice").read_bytes() == before


def test_refused_commands_leave_the_file_as_it_is(data):
    for seed in (1, 2):
        data("fit", "nrmm", "data.csv", *SHORT, "--seed", seed, "-o", f"{seed}.coppice")
    data("merge", "1.coppice", "2.coppice", "-o", "m.coppice")
    for name, arguments, code in (("m.coppice", (), 78), ("1.coppice", ("--draws", 3), 2)):
        before = (data.folder / name).read_bytes()
        data("resume", name, *arguments, code=code)
        assert (data.folder / name).read_bytes() == before
        assert journal_mode(data, name) == b"\1\1" and beside(data, name) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("resume", "r.coppice", "--draws", ""),
        ("fit", "nrmm", "data.csv", "-o", ""),
        ("fit", "nrmm", "data.csv", "-o", "x.coppice", "--alpha", ""),
        ("fit", "nrmm", "data.csv", "-o", "x.coppice", "--truth", ""),
        ("fit", "nrmm", "data.csv", "-o", "x.coppice", "--time-limit", ""),
        ("summary", ""),
        ("export", "r.coppice", "--what", "labels", "-o", ""),
    ],
)
def test_values_that_are_empty_are_errors(data, arguments):
    data("fit", "nrmm", "data.csv", *SHORT, "-o", "r.coppice")
    assert "the value is empty" in data(*arguments, code=2).stderr
    assert not (data.folder / "x.coppice").exists()


def test_a_hang_up_stops_cleanly(data):
    process = data.start("fit", "nrmm", "data.csv", *LONG, "-o", "h.coppice")
    wait_for((data.folder / "h.coppice-wal").exists)
    process.send_signal(signal.SIGHUP)
    code, errors = ended(process)
    assert code == 75 and "coppice resume h.coppice" in errors


def test_signals_that_are_ignored_stay_ignored(data):
    command = f"trap '' INT; exec {BINARY} fit nrmm data.csv -o i.coppice --chains 2 --warmup 50 --draws 2000000"
    process = subprocess.Popen(["bash", "-c", command], cwd=data.folder, stderr=subprocess.PIPE, text=True)
    wait_for((data.folder / "i.coppice-wal").exists)
    process.send_signal(signal.SIGINT)
    time.sleep(1.0)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    assert ended(process)[0] == 75


def test_a_limit_on_the_size_of_files_is_an_error_of_writing(data):
    def bound():
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))

    for arguments in (
        ("fit", "nrmm", "data.csv", "--chains", "2", "--draws", "200000", "-o", "full.coppice"),
        ("simulate", "nrmm", "--n", "100000", "-o", "full.csv"),
    ):
        result = subprocess.run(
            [BINARY, *arguments], cwd=data.folder, capture_output=True, text=True, preexec_fn=bound, check=False
        )
        assert result.returncode == 74, (result.returncode, result.stderr)


def test_netcdf_on_a_full_disk_says_so(data):
    data("fit", "nrmm", "data.csv", *SHORT, "-o", "r.coppice")

    def bound():
        resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, 5_000))

    result = subprocess.run(
        [BINARY, "export", "r.coppice", "--what", "draws", "--to", "netcdf", "-o", "r.nc"],
        cwd=data.folder,
        capture_output=True,
        text=True,
        preexec_fn=bound,
        check=False,
    )
    assert result.returncode == 74, result.stderr
    assert "r.nc" in result.stderr and "File too large" in result.stderr, result.stderr
    assert not (data.folder / "r.nc").exists()


def test_no_draws_yet_is_not_bad_data(data):
    data("fit", "nrmm", "data.csv", "--warmup", 100000000, "-o", "w.coppice", "--time-limit", "0.2s", code=75)
    for command in (("summary", "w.coppice"), ("export", "w.coppice", "--what", "labels")):
        assert "coppice resume w.coppice" in data(*command, code=75).stderr


def test_nan_is_no_radius(data):
    for value in ("nan", "-nan", "NaN", "inf"):
        data("simulate", "bananas", "--radius", value, code=2)
    data("simulate", "bananas", "--noise", "nan", code=2)


NAMES = ("\x1b]0;title\x07red\x1b[31m", "abc\u202edef", "c\u009b1m", "\u2066x")


def terminal_output(folder, *arguments):
    """What a terminal would get."""
    leader, follower = pty.openpty()
    process = subprocess.Popen([BINARY, *map(str, arguments)], cwd=folder, stdout=follower, stderr=follower)
    os.close(follower)
    shown = b""
    while True:
        try:
            piece = os.read(leader, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        shown += piece
    process.wait()
    os.close(leader)
    return shown.decode(errors="replace")


def test_names_cannot_command_the_terminal(coppice):
    points = blobs(5, rows=60)[0]
    lines = [",".join(["id", *NAMES[:2]])]
    lines += [f"{NAMES[i % 4]}{i},{x},{y}" for i, (x, y) in enumerate(points)]
    coppice.write("evil.csv", "\n".join(lines) + "\n")
    coppice("fit", "nrmm", "evil.csv", "--id", "id", *SHORT, "-o", "e.coppice")
    bad = re.compile("\x1b(?!\\[[012]m)|\x07|[\x80-\x9f]|[\u202a-\u202e\u2066-\u2069]")
    for command in (
        ("summary", "e.coppice"),
        ("profile", "e.coppice"),
        ("tree", "e.coppice"),
        ("codebook", "evil.csv"),
        ("fit", "nrmm", "evil.csv", "--truth", "\x1b[31m", "-o", "x.coppice"),
        ("export", "e.coppice", "--what", "consensus"),
        ("predict", "e.coppice", "evil.csv"),
    ):
        shown = terminal_output(coppice.folder, *command, "--progress", "none")
        assert shown and not bad.search(shown), (command, bad.search(shown))
    # Data in files and pipes keep every byte.
    assert NAMES[0] in coppice("export", "e.coppice", "--what", "consensus", "-q").stdout


def test_csv_for_spreadsheets(coppice):
    points = blobs(5, rows=30)[0]
    names = ("=1+1", "+cmd", "-x", "@sum", "plain", "-5")
    lines = ["id,x,y"] + [f"{names[i % 6]}{i},{x},{y}" for i, (x, y) in enumerate(points)]
    coppice.write("d.csv", "\n".join(lines) + "\n")
    coppice("fit", "nrmm", "d.csv", "--id", "id", *SHORT, "-o", "d.coppice")
    for command in (("export", "d.coppice", "--what", "consensus"), ("predict", "d.coppice", "d.csv")):
        plain = coppice(*command, "-q").stdout.splitlines()
        safe = coppice(*command, "-q", "--csv-safe").stdout.splitlines()
        for before, after in zip(plain, safe, strict=True):
            is_formula = before[0] in "=+@" or before.startswith("-x")
            assert after == ("'" if is_formula else "") + before


def address_of(process):
    ready, _, _ = select.select([process.stdout], [], [], 300)
    assert ready
    return process.stdout.readline().strip()


def test_a_slow_reader_keeps_no_other_one_waiting(data):
    data("fit", "nrmm", "data.csv", *SHORT, "-o", "v.coppice")
    process = subprocess.Popen(
        [BINARY, "view", "v.coppice", "-q"], cwd=data.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        address = address_of(process)
        host, port = re.match("http://([0-9.]+):([0-9]+)/", address).groups()
        slow = [socket.create_connection((host, int(port))) for _ in range(5)]
        for connection in slow:
            connection.send(b"GET / HT")
        begin = time.monotonic()
        with urllib.request.urlopen(address + "status", timeout=60) as answer:
            assert b"done" in answer.read()
        # Five slow readers one after the other would take ten seconds.
        assert time.monotonic() - begin < 5
        for connection in slow:
            connection.close()
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


def test_blocks_that_claim_gigabytes_take_no_memory(data):
    data("fit", "nrmm", "data.csv", *SHORT, "-o", "b.coppice")
    good = (data.folder / "b.coppice").read_bytes()
    folder = torture.Folder(data.folder)
    address = struct.pack("<5Q", 0, 0, 0, 30, 1)
    for column in ("traces", "labels", "details"):
        for blob in (
            torture.frame(address, claimed=8 << 30),
            torture.frame(b"", claimed=4 << 30, repeat=0),
        ):
            (data.folder / "b.coppice").write_bytes(good)
            database = sqlite3.connect(data.folder / "b.coppice")
            database.execute(f"UPDATE draws SET {column} = ? WHERE chain = 0", (blob,))
            database.commit()
            database.close()
            result = folder.run("export", "b.coppice", "--what", "labels", memory=1 << 30)
            assert result.returncode == 65, result.stderr
            assert b"b.coppice: a block of draws is damaged" in result.stderr


def test_simulated_views_are_written(coppice):
    out = ("-o", "sim.csv", "--truth-out", "truth.csv", "--views-out", "views.csv")
    coppice("simulate", "crosscat", "--n", 40, "--columns", 6, "--seed", 3, *out)
    views = [line.split(",") for line in (coppice.folder / "views.csv").read_text().splitlines()]
    assert views[0] == ["column", "view"] and [line[0] for line in views[1:]] == [f"x{j}" for j in range(1, 7)]
    count = max(int(line[1]) for line in views[1:])
    header = (coppice.folder / "truth.csv").read_text().splitlines()[0]
    assert header == ",".join(["row", "cluster", *[f"view{v}" for v in range(1, count + 1)]])
    assert "does not draw views" in coppice("simulate", "nrmm", "--views-out", "v.csv", code=2).stderr
