"""Names, distributions, the plane and the cross-table of clusters."""

import csv
import io
import json
import re

import pytest
from conftest import coppice


def text_of(locator):
    return locator.inner_text().strip()


def data_of(page):
    return json.loads(page.locator("#data").text_content())


def choose(page, number):
    page.locator(f"[role=treeitem][aria-label^='{number} ']").first.click()


def see(page, figure):
    """What is not on the screen is drawn when it comes there."""
    page.locator(figure).scroll_into_view_if_needed()
    page.wait_for_timeout(600)


def rows_of(entry, figure):
    _, numbers = entry.download(entry.page.locator(figure).get_by_role("button", name="CSV"))
    return list(csv.DictReader(io.StringIO(numbers)))


def test_tree_panel_and_export_use_the_same_numbers(visit, mixed):
    page = visit(mixed).page
    page.get_by_role("button", name="Open all").click()
    exported = list(
        csv.DictReader(io.StringIO(coppice("export", mixed.with_suffix(".coppice"), "--what", "partition")))
    )
    for number in {row["cluster"] for row in exported}:
        choose(page, number)
        members = {row["row"] for row in exported if row["cluster"] == number}
        name = next(row["name"] for row in exported if row["cluster"] == number)
        assert text_of(page.locator("#cluster h3").first) == f"{number} {name}"
        assert f"{len(members)} row" in text_of(page.locator("#cluster .facts"))
    # Siblings are compared only in the panel, where it says which ones they are.
    assert page.locator("#cluster h4", has_text="Against all other rows").count() == 1


def test_clusters_are_renamed_on_the_page_and_the_names_saved(visit, mixed, tmp_path):
    entry = visit(mixed)
    page = entry.page
    page.get_by_role("button", name="Open all").click()
    choose(page, 1)
    described = text_of(page.locator("#cluster h3").first)
    field = page.get_by_label("Name", exact=True)
    field.fill('Large, "round" <b>')
    field.press("Enter")
    assert text_of(page.locator("#cluster h3").first) == '1 Large, "round" <b>'
    assert page.locator("[role=treeitem][aria-label^='1 Large']").count() == 1
    assert described.removeprefix("1 ") in text_of(page.locator("#cluster .described"))
    assert '1 Large, "round" <b>' in text_of(page.locator("#known"))
    file, names = entry.download(page.get_by_role("button", name="Save names"))
    assert file == "names.csv"
    assert list(csv.DictReader(io.StringIO(names))) == [{"level": "1", "cluster": "1", "name": 'Large, "round" <b>'}]
    # What was saved is what the command line reads, and the next page has it.
    (tmp_path / "names.csv").write_text(names, encoding="utf-8")
    copy = tmp_path / "run.coppice"
    copy.write_bytes(mixed.with_suffix(".coppice").read_bytes())
    coppice("rename", copy, "--from", tmp_path / "names.csv")
    coppice("report", copy, "-o", tmp_path / "run.html")
    again = visit(tmp_path / "run.html")
    again.page.get_by_role("button", name="Open all").click()
    choose(again.page, 1)
    assert text_of(again.page.locator("#cluster h3").first) == '1 Large, "round" <b>'
    # Taking the name away is saved too.
    field = again.page.get_by_label("Name", exact=True)
    field.fill("")
    field.press("Enter")
    assert text_of(again.page.locator("#cluster h3").first) == described
    _, names = again.download(again.page.get_by_role("button", name="Save names"))
    assert list(csv.DictReader(io.StringIO(names))) == [{"level": "1", "cluster": "1", "name": ""}]


def test_every_column_is_shown_as_a_distribution(visit, mixed):
    entry = visit(mixed)
    page = entry.page
    page.get_by_role("button", name="Open all").click()
    choose(page, 0)
    charts = page.locator("#figure-distributions svg")
    columns = {column["name"] for column in data_of(page)["columns"]}
    titles = charts.locator(".small-title").evaluate_all("texts => texts.map((text) => text.lastChild.textContent)")
    assert sorted(titles) == sorted(columns)
    rows = rows_of(entry, "#figure-distributions")
    for column in columns:
        shares = [(float(r["share_in_cluster"]), float(r["share_of_others"])) for r in rows if r["column"] == column]
        assert sum(a for a, _ in shares) == pytest.approx(1) and sum(b for _, b in shares) == pytest.approx(1), column
    # A category against the table itself.
    cells = rows_of(entry, "#figure-tree")
    inside = [row for row in cells if row["cluster"].split(" > ")[-1].startswith("0 ")]
    share = sum(row["island"] == "Biscoe" for row in inside) / len(inside)
    shown = [r for r in rows if r["column"] == "island" and r["from_or_level"] == "Biscoe"]
    assert float(shown[0]["share_in_cluster"]) == pytest.approx(share)
    before = charts.first.evaluate("chart => chart.outerHTML")
    choose(page, 1)
    see(page, "#figure-distributions")
    assert page.locator("#figure-distributions svg").first.evaluate("chart => chart.outerHTML") != before


def test_rows_of_any_table_are_points_of_a_plane(visit, mixed, animals, plane):
    for path in (mixed, animals, plane):
        entry = visit(path)
        page = entry.page
        colors = """canvas => {
            const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
            const seen = new Set();
            for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 180) seen.add(data.slice(i, i + 3).join());
            return seen.size;
        }"""
        canvas = page.locator("#figure-plane canvas")
        assert canvas.evaluate(colors) >= 2, path
        rows = rows_of(entry, "#figure-plane")
        assert len(rows) == len(data_of(page)["rows"]["ids"])
        assert all(0 <= float(row["probability"]) <= 1 for row in rows)
        assert "hollow" in text_of(page.locator("#figure-plane figcaption"))


def test_principal_axes_are_those_of_linear_algebra(visit, plane):
    numpy = pytest.importorskip("numpy")
    entry = visit(plane)
    page = entry.page
    page.get_by_label("Across").select_option("-1")
    page.get_by_label("Up").select_option("-2")
    rows = list(
        csv.reader(io.StringIO(entry.download(page.locator("#figure-plane").get_by_role("button", name="CSV"))[1]))
    )
    scores = numpy.array([[float(cell) for cell in row[1:3]] for row in rows[1:]])
    cells = {row["row"]: row for row in rows_of(entry, "#figure-tree")}
    names = [column["name"] for column in data_of(page)["columns"]]
    table = numpy.array([[float(cells[row[0]][name]) for name in names] for row in rows[1:]])
    table = (table - table.mean(0)) / table.std(0)
    values, vectors = numpy.linalg.eigh(table.T @ table)
    for k, vector in enumerate(vectors.T[::-1]):
        expected = table @ vector
        assert min(abs(scores[:, k] - expected).max(), abs(scores[:, k] + expected).max()) < 0.02 * abs(expected).max()
    share = values[-1] / values.sum()
    assert f"{round(100 * share)} % of the variance" in rows[0][1]


def test_clusters_are_crossed_with_known_labels(visit, mixed, animals):
    page = visit(mixed).page
    crossed = page.locator("#known table.cross")
    scored = json.loads(coppice("score", mixed.with_suffix(".coppice"), "--json"))["scores"][0]["levels"][0]["table"]
    head = [text_of(cell) for cell in crossed.locator("thead th").all()]
    for line in crossed.locator("tbody tr").all():
        number = int(text_of(line.locator("th")).split()[0])
        shown = [text_of(cell) for cell in line.locator("td").all()]
        for name, count in zip(head[1:], shown):
            counts = scored["counts"][number]
            expected = scored["unknown"][number] if name == "unknown" else counts[scored["classes"].index(name)]
            assert count == (str(expected) if expected else "·")
    page = visit(animals).page
    before = page.locator("#known table.cross tbody tr").count()
    page.get_by_label("Level of the cross-table").select_option("3")
    assert page.locator("#known table.cross tbody tr").count() >= before


def hexes(colors):
    found = set()
    for color in colors:
        numbers = [int(float(part)) for part in re.findall(r"[\d.]+", color)[:3]]
        found.add("#" + "".join(f"{number:02x}" for number in numbers) if color.startswith("rgb") else color)
    return found


def test_colors_mean_one_thing_each(visit, mixed):
    page = visit(mixed).page
    page.get_by_role("button", name="Open all").click()
    fills = "elements => elements.map(element => element.getAttribute('fill'))"
    strokes = "elements => elements.map(element => getComputedStyle(element).stroke)"
    swatches = "keys => keys.map(key => getComputedStyle(key).backgroundColor)"
    clusters = hexes(page.locator("[role=treeitem][aria-label*='certain'] circle").evaluate_all(fills))
    certainty = hexes(page.locator("svg.tree .links path").evaluate_all(strokes))
    levels = hexes(page.locator("#figure-tree .keys", has_text="island:").locator(".key i").evaluate_all(swatches))
    known = hexes(page.locator("#figure-tree .keys", has_text="species:").locator(".key i").evaluate_all(swatches))
    chains = hexes(page.locator("#convergence svg path[stroke]").evaluate_all(strokes))
    groups = [clusters, certainty, levels, known, chains]
    assert all(groups), groups
    for i, some in enumerate(groups):
        for others in groups[i + 1 :]:
            assert not some & others, (some, others)
    # Certainty is told by gray and thickness alone.
    for color in certainty:
        parts = [int(color[k : k + 2], 16) for k in (1, 3, 5)]
        assert max(parts) - min(parts) < 45, color
    assert len(levels) == 3 and len(known) == 3


def test_unusual_rows_and_dependent_columns(visit, mixed):
    page = visit(mixed).page
    see(page, "#questions")
    unusual, dependent = page.locator("#questions table").nth(0), page.locator("#questions table").nth(1)
    run = mixed.with_suffix(".coppice")
    theirs = json.loads(coppice("ask", "anomalies", run, "--top", 1, "--draws", 40, "--json"))
    first = unusual.locator("tbody tr").first
    assert text_of(first.locator("td, th").first) == theirs[0]["row"]
    if theirs[0]["cells"]:
        assert f"{theirs[0]['cells'][0]['column']} = " in text_of(first)
    values = [float(cell) for cell in dependent.locator("tbody tr td:nth-child(3)").all_inner_texts()]
    assert values and values == sorted(values, reverse=True)
