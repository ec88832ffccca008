"""coppice view: the same page from a server on this machine, kept up to date."""

import subprocess
import urllib.error
import urllib.request

import pytest
from conftest import ANIMALS, BINARY, coppice, fit, write_texts


@pytest.fixture
def served(tmp_path):
    run = tmp_path / "animals.coppice"
    fit(run, "nrmm", *ANIMALS, "--chains", 2, "--warmup", 10, "--draws", 40)
    with subprocess.Popen(
        [BINARY, "view", str(run)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        yield run, server.stdout.readline().strip(), server
        server.terminate()
        assert server.wait(timeout=10) == 0


def status(address, **headers):
    try:
        request = urllib.request.Request(address, headers=headers)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def test_only_whoever_knows_the_address_can_read(served):
    _, address, _ = served
    origin = address.rsplit("/", 2)[0]
    assert origin.startswith("http://127.0.0.1:")
    assert len(address.rsplit("/", 2)[1]) == 32
    assert status(address) == 200
    assert status(origin + "/") == 404
    assert status(origin + "/" + "0" * 32 + "/") == 404
    assert status(address + "../etc/passwd") == 404
    assert status(address, Host="evil.example") == 404
    request = urllib.request.Request(address, data=b"x", method="POST")
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=10)
    assert refused.value.code == 405


def test_page_follows_the_run(served, browser):
    run, address, _ = served
    context = browser.new_context()
    page = context.new_page()
    faults, asked = [], []
    page.on("console", lambda message: faults.append(message.text))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address)
    page.wait_for_selector("html[data-ready]", state="attached")
    assert "40 draws" in page.locator(".card").inner_text()
    coppice("resume", run, "--draws", "+40", "--progress", "none", "-q")
    page.locator(".card", has_text="80 draws").wait_for(timeout=120_000)
    assert faults == []
    assert {url.replace(address, "") for url in asked} <= {"", "status"}
    context.close()


def test_page_follows_a_fit_without_draws(tmp_path, browser):
    table, run = tmp_path / "texts.csv", tmp_path / "texts.coppice"
    write_texts(table, [f"word {j}" for j in range(9)], ["label_a", "label_b", "label_c"], rows=400)
    arguments = [
        "fit",
        "bnmc",
        str(table),
        "--id",
        "id",
        "--labels",
        "label_*",
        "--truncation",
        "8",
        "--progress",
        "none",
        "-q",
        "-o",
        str(run),
    ]
    stopped = subprocess.run([BINARY, *arguments, "--time-limit", "0.001"], check=False)
    assert stopped.returncode == 75
    with subprocess.Popen(
        [BINARY, "view", str(run)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        try:
            page = browser.new_page()
            page.goto(server.stdout.readline().strip())
            page.locator(".verdict", has_text="Not finished").wait_for(timeout=120_000)
            coppice("resume", run, "--progress", "none", "-q")
            page.locator(".verdict", has_text="One fit, finished").wait_for(timeout=120_000)
            page.close()
        finally:
            server.terminate()
        assert server.wait(timeout=60) == 0
