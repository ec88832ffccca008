"""The report of a large run in headless Chromium: 10,000 rows x 100 columns with 1,000 draws. Prints the size of the file, the
seconds until the first useful picture (verdict and tree), and the milliseconds until a click on a node is answered. A run
file as the only argument is used instead of fitting one."""

import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from playwright.sync_api import sync_playwright

ROWS, COLUMNS, CLUSTERS = 10_000, 100, 12
BINARY = os.environ.get("COPPICE_BIN", "build/release/coppice")
CLICKS = 12


def write_table(path):
    generator = random.Random(1)
    centers = [[generator.gauss(0, 1.5) for _ in range(COLUMNS)] for _ in range(CLUSTERS)]
    with open(path, "w", encoding="utf-8") as file:
        file.write(",".join(["id", *(f"measure_{j}" for j in range(COLUMNS))]) + "\n")
        for i in range(ROWS):
            center = centers[i % CLUSTERS]
            file.write(",".join([f"sample {i}", *(f"{generator.gauss(mean, 1):.3f}" for mean in center)]) + "\n")


def fit(folder):
    table, run = folder / "large.csv", folder / "large.coppice"
    write_table(table)
    subprocess.run(
        [
            BINARY,
            "fit",
            "nrmm",
            table,
            "--id",
            "id",
            "--family",
            "gaussian-diagonal",
            "--chains",
            "2",
            "--warmup",
            "50",
            "--draws",
            "500",
            "--progress",
            "plain",
            "-o",
            run,
        ],
        check=True,
    )
    return run


def first_picture(page, address):
    """Seconds from asking for the page until the browser has drawn a frame with the tree in it."""
    page.goto(address, wait_until="commit")
    page.wait_for_selector("html[data-ready]", state="attached", timeout=60_000)
    return page.evaluate("performance.getEntriesByName('first-picture')[0].startTime") / 1000


def click_times(page):
    """Milliseconds from a click on a node until the frame that shows what is in it."""
    times = []
    items = page.locator("[role=treeitem]")
    for k in range(CLICKS):
        times.append(
            items.nth(1 + k % (items.count() - 1)).evaluate("""node => new Promise(done => {
            const start = performance.now();
            node.dispatchEvent(new MouseEvent('click', {bubbles: true}));
            requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
        })""")
        )
    return times


def main():
    if shutil.which("chromium") is None:
        print("the report's bench is left out: chromium is not installed (./dev test installs it)")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].endswith(".coppice") else fit(folder)
        page_file = folder / "large.html"
        start = time.perf_counter()
        subprocess.run([BINARY, "-q", "report", run, "-o", page_file], check=True)
        seconds = time.perf_counter() - start
        megabytes = page_file.stat().st_size / 1e6
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--disable-gpu"])
            page = browser.new_page(viewport={"width": 1360, "height": 900})
            pictures = [first_picture(page, page_file.as_uri()) for _ in range(3)]
            clicks = click_times(page)
            browser.close()
    print(f"coppice report: {seconds:.1f} s, file {megabytes:.1f} MB (limit 25)")
    print(f"first useful picture: {min(pictures):.2f} to {max(pictures):.2f} s (limit 2)")
    print(f"click on a node: median {statistics.median(clicks):.0f} ms, worst {max(clicks):.0f} ms (limit 150)")
    within = megabytes < 25 and max(pictures) < 2 and max(clicks) < 150
    print("within the limits" if within else "NOT within the limits")


if __name__ == "__main__":
    main()
