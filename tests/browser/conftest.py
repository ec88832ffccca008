"""Pages of real runs in headless Chromium. Nothing may be asked of a network, and nothing may be written to the console."""

import os
import pathlib
import random
import shutil
import subprocess

import pytest
from playwright.sync_api import sync_playwright

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ.get("COPPICE_BIN", str(ROOT / "build" / "release" / "coppice"))
CHROMIUM = os.environ.get("COPPICE_CHROMIUM") or shutil.which("chromium")

HOSTILE = "</script><script>alert(1)</script>"
STRANGE_ROWS = ["صف واحد", "第一行", "🦉 owl 🌲", "<img src=x onerror=alert(2)>", 'comma, "quote"']


def coppice(*arguments):
    result = subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=900, check=False)
    assert result.returncode == 0, f"{arguments}: exit {result.returncode}\n{result.stderr}"
    return result.stdout


SHORT = ("--chains", 2, "--warmup", 50, "--draws", 60)
ANIMALS = (ROOT / "examples" / "animals.csv", "--id", "name", "--truth", "class")


def fit(run, model, table, *arguments):
    coppice("fit", model, table, *arguments, "--progress", "none", "-q", "-o", run)


def fit_and_report(folder, name, model, table, *arguments):
    run, page = folder / f"{name}.coppice", folder / f"{name}.html"
    fit(run, model, table, *arguments)
    coppice("report", run, "-o", page)
    return page


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("reports")


@pytest.fixture(scope="session")
def animals(folder):
    """A hierarchy of three levels with known labels."""
    return fit_and_report(folder, "animals", "rbhmc", *ANIMALS, *SHORT, "--penalty", 0)


@pytest.fixture(scope="session")
def plane(folder):
    """Two columns, clusters of sub-clusters."""
    table = folder / "bananas.csv"
    coppice("simulate", "bananas", "--n", 200, "-o", table)
    return fit_and_report(folder, "bananas", "nhcm", table, "--id", "row", *SHORT)


@pytest.fixture(scope="session")
def views(folder):
    """Views of the columns."""
    return fit_and_report(folder, "views", "crosscat", *ANIMALS, *SHORT)


@pytest.fixture(scope="session")
def greedy(folder):
    """One greedy tree, no draws."""
    return fit_and_report(folder, "greedy", "bhc", *ANIMALS)


def write_texts(path, names, labels, rows=200):
    """Counts of words of three subjects; labels go with subjects."""
    draw = random.Random(1)
    lines = [",".join(f'"{name}"' for name in ["id", *names, *labels])]
    for k in range(rows):
        subjects = draw.sample(range(3), draw.choice([1, 1, 2]))
        counts = [0] * len(names)
        for _ in range(20):
            subject = draw.choice(subjects) if draw.random() < 0.9 else draw.randrange(3)
            counts[draw.randrange(subject, len(names), 3)] += 1
        known = [
            str(int(c % 3 in subjects and draw.random() < 0.9)) if draw.random() < 0.97 else ""
            for c in range(len(labels))
        ]
        name = STRANGE_ROWS[k].replace('"', '""') if k < len(STRANGE_ROWS) else f"text {k}"
        lines.append(",".join([f'"{name}"', *map(str, counts), *known]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture(scope="session")
def labels(folder):
    """A classifier of five labels, two of which have names that try to break the page."""
    table = folder / "texts.csv"
    names = ["label_sport", f"label_{HOSTILE}", "label_علم", "label_health", "label_news"]
    write_texts(table, [f"word {j}" for j in range(8)] + [HOSTILE], names)
    sizes = ("--truncation", 12, "--topics", 6)
    return fit_and_report(folder, "labels", "bnmc", table, "--id", "id", "--labels", "label_*", *sizes)


@pytest.fixture(scope="session")
def mixed(folder):
    """A flat model on numbers, a category and a flag, with known labels, one of which is missing."""
    draw = random.Random(4)
    lines = ["id,length,depth,visits,island,ringed,species"]
    for k in range(150):
        kind = k % 3
        island = draw.choices(["Biscoe", "Dream", "Torgersen"], [8 if kind == j else 1 for j in range(3)])[0]
        species = "" if k == 7 else ["Adelie", "Chinstrap", "Gentoo"][kind]
        numbers = (draw.gauss([38, 48, 47][kind], 1.5), draw.gauss([18, 18, 15][kind], 0.6))
        visits = sum(draw.random() < [0.1, 0.3, 0.8][kind] for _ in range(12))
        ringed = int(draw.random() < [0.1, 0.9, 0.5][kind])
        lines.append(f"bird {k},{numbers[0]:.2f},{numbers[1]:.2f},{visits},{island},{ringed},{species}")
    table = folder / "mixed.csv"
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return fit_and_report(folder, "mixed", "nrmm", table, "--id", "id", "--truth", "species", *SHORT)


@pytest.fixture(scope="session")
def crowded(folder):
    """Many clusters, many rows, and columns with long names that differ only at the end."""
    draw = random.Random(3)
    clusters, columns = 27, 20
    centers = [[draw.gauss(0, 4) for _ in range(columns)] for _ in range(clusters)]
    names = [f"measured_quantity_of_the_sample_number_{j}" for j in range(columns)]
    lines = [",".join(["id", *names, "group"])]
    for k in range(10_000):
        group = min(int(draw.expovariate(0.15)), clusters - 1)
        lines.append(",".join([f"s{k}", *(f"{draw.gauss(mean, 1):.2f}" for mean in centers[group]), f"g{group}"]))
    table = folder / "crowded.csv"
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")
    short = ("--chains", 1, "--warmup", 20, "--draws", 10)
    return fit_and_report(folder, "crowded", "nrmm", table, "--id", "id", "--truth", "group", *short)


@pytest.fixture(scope="session")
def many_views(folder):
    """Columns in blocks of four with clusters of their own, and columns that follow nothing."""
    draw = random.Random(5)
    views, rows = 10, 100
    parts = [[draw.randrange(3) for _ in range(rows)] for _ in range(views)]
    centers = [[[draw.gauss(0, 4) for _ in range(4)] for _ in range(3)] for _ in range(views)]
    names = [f"block_{v}_column_{c}" for v in range(views) for c in range(4)]
    lines = [",".join(["id", *names, *(f"on_its_own_{j}" for j in range(20))])]
    for k in range(rows):
        cells = [f"{draw.gauss(mean, 1):.2f}" for v in range(views) for mean in centers[v][parts[v][k]]]
        lines.append(",".join([f"row {k}", *cells, *(f"{draw.gauss(0, 1):.2f}" for _ in range(20))]))
    table = folder / "many_views.csv"
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")
    short = ("--chains", 1, "--warmup", 40, "--draws", 20)
    return fit_and_report(folder, "many_views", "crosscat", table, "--id", "id", *short)


@pytest.fixture(scope="session")
def hostile(folder):
    """A flat model on a table whose names try to break the page."""
    rows = [name.replace('"', '""') for name in STRANGE_ROWS]
    lines = [f'id,"{HOSTILE}",color,"{HOSTILE}2"']
    for k in range(30):
        name = rows[k] if k < len(rows) else f"row {k}"
        color = ["red", "<b>blue</b>", ""][k % 3]
        lines.append(f'"{name}",{(k % 2) * 10 + k * 0.01},{color},{k % 2}')
    table = folder / "hostile & <i>odd<i>.csv"
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")
    length = ("--chains", 2, "--warmup", 50, "--draws", 100)
    return fit_and_report(folder, "hostile", "nrmm", table, "--id", "id", "--truth", f"{HOSTILE}2", *length)


@pytest.fixture(scope="session")
def browser():
    assert CHROMIUM, "chromium is missing; ./dev test installs it"
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--disable-gpu"])
        yield started
        started.close()


class Visit:
    """A page, and everything it did that it must not do."""

    def __init__(self, browser, address, **options):
        self.context = browser.new_context(accept_downloads=True, viewport={"width": 1280, "height": 900}, **options)
        self.page = self.context.new_page()
        self.faults = []
        self.page.on("console", lambda message: self.faults.append(f"console {message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        self.page.on("dialog", lambda dialog: (self.faults.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        self.page.on("request", lambda request: self.ask(request.url, address))
        self.page.goto(address)
        self.page.wait_for_selector("html[data-ready]", state="attached")

    def ask(self, url, address):
        if url.split("#")[0] != address and not url.startswith(("blob:", "data:")):
            self.faults.append(f"request: {url}")

    def download(self, button):
        self.page.wait_for_timeout(200)  # the browser drops downloads that come faster than a person can click
        with self.page.expect_download() as started:
            button.click()
        return started.value.suggested_filename, pathlib.Path(started.value.path()).read_text(encoding="utf-8")

    def close(self):
        self.context.close()
        assert self.faults == []


@pytest.fixture
def visit(browser):
    visits = []

    def open_page(path, **options):
        visits.append(Visit(browser, path.as_uri(), **options))
        return visits[-1]

    yield open_page
    for entry in visits:
        entry.close()
