"""The documentation site as ./dev docs has built it, in headless Chromium and from files: no server, no network."""

import pathlib
import re
import shutil

import pytest
from playwright.sync_api import sync_playwright

ROOT = pathlib.Path(__file__).resolve().parents[2]
SITE = ROOT / "build" / "site"
CAPTIONS = [
    "First steps",
    "Gallery",
    "Tutorials",
    "Concepts",
    "Models",
    "Command line",
    "Python",
    "R",
    "C++",
    "Results",
    "Design",
]


@pytest.fixture(scope="module")
def page():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.faults = []
        page.on("pageerror", lambda error: page.faults.append(f"error: {error}"))
        page.on("console", lambda message: message.type == "error" and page.faults.append(message.text))
        page.on(
            "request", lambda request: request.url.startswith(("file:", "data:")) or page.faults.append(request.url)
        )
        page.on("requestfailed", lambda request: page.faults.append(f"missing: {request.url}"))
        yield page
        browser.close()
        assert page.faults == []


def test_navigation_has_all_parts(page):
    page.goto((SITE / "index.html").as_uri())
    assert page.locator(".sidebar-tree .caption").all_text_contents() == CAPTIONS


def test_every_page_opens_without_errors(page):
    pages = [path for path in sorted(SITE.rglob("*.html")) if "cpp" not in path.relative_to(SITE).parts]
    assert len(pages) > 60
    for path in pages:
        page.goto(path.as_uri())
        assert page.locator("h1").count() >= 1 or path.name == "search.html", path
    assert page.faults == []


@pytest.mark.parametrize(
    "words, found",
    [
        ("tail probability", "trust.html"),  # prose
        ("expect-clusters", "command-line.html"),  # a flag
        ("score_samples", "reference/python/NRMMixture.html"),  # Python
        ("coppice_resume", "reference/r/coppice_resume.html"),  # R
        ("read_dataset", "reference/cpp.html"),  # C++
    ],
)
def test_search_finds_what_it_should_from_files(page, words, found):
    if found.startswith("reference/r/") and not (SITE / found).exists():
        pytest.skip("the site was built without R")
    page.goto((SITE / "search.html").as_uri() + "?q=" + words.replace(" ", "+"))
    page.wait_for_function(
        "/found|match/.test(document.querySelector('#search-results p')?.innerText ?? '')", timeout=60000
    )
    targets = page.locator("#search-results a").evaluate_all("links => links.map(link => link.href)")
    assert any(re.sub(r"[?#].*", "", target).endswith(f"/{found}") for target in targets), targets


def test_reference_of_cpp_is_reached_from_the_list(page):
    page.goto((SITE / "reference" / "cpp.html").as_uri())
    link = page.locator("article li a", has_text=re.compile("^Analysis$")).first
    link.click()
    assert "/cpp/" in page.url and "Analysis" in page.title()
