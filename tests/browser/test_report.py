"""What a reader does with a report."""

import csv
import io
import json
import pathlib
import xml.etree.ElementTree as tree

import pytest
from conftest import HOSTILE, ROOT, STRANGE_ROWS, coppice


def text_of(locator):
    return locator.inner_text().strip()


def test_verdict_and_card_come_first(visit, animals):
    page = visit(animals).page
    first = page.locator("main > *").first
    assert "4 chains" not in text_of(first) and "2 chains" in text_of(first)
    assert "33 rows" in text_of(first) and "79 columns" in text_of(first)
    # The sentence is the program's own.
    assert text_of(page.locator(".verdict").first)[2:] in animals.read_text(encoding="utf-8")


def test_tree_opens_closes_and_zooms(visit, animals):
    page = visit(animals).page
    items = page.locator("[role=treeitem]")
    page.get_by_role("button", name="Close all").click()
    closed = items.count()
    page.get_by_role("button", name="Open all").click()
    opened = items.count()
    assert opened > closed > 1
    # By mouse and by keyboard: the sign of the root closes all but the root.
    items.first.locator(".sign").click()
    assert items.count() == 1
    items.first.focus()
    page.keyboard.press("ArrowRight")
    assert items.count() > 1
    assert items.first.get_attribute("aria-expanded") == "true"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    chosen = page.locator("[role=treeitem][aria-selected=true]")
    assert chosen.count() == 1 and chosen.get_attribute("aria-level") == "2"
    parent = page.locator("[role=treeitem][aria-level='2'][aria-expanded]").first
    name = parent.get_attribute("aria-label").split(",")[0]
    parent.click()
    page.get_by_role("button", name="Only the chosen branch").click()
    assert items.first.get_attribute("aria-label").startswith(name)
    page.get_by_role("button", name="Everything").click()
    assert items.first.get_attribute("aria-label").startswith("all rows")


def test_choosing_a_node_filters_everything(visit, animals):
    page = visit(animals).page
    ambiguous_before = page.locator("#rows table tbody tr").count()
    caption_before = text_of(page.locator("#figure-coclustering figcaption"))
    node = page.locator("[role=treeitem][aria-level='2']").first
    label = node.get_attribute("aria-label")
    node.click()
    panel = page.locator("#cluster")
    name = text_of(panel.locator("h3").first)
    assert label.startswith(name)
    assert "%" in text_of(panel.locator(".traits li").first)
    members = {text_of(chip) for chip in panel.locator(".chips").last.locator(".chip").all()}
    size = int(label.split(" row")[0].split()[-1])
    assert len(members) == size
    typical = {text_of(chip) for chip in panel.locator("h4:text-is('Typical rows') + ul .chip").all()}
    odd = {text_of(chip) for chip in panel.locator("h4:text-is('Least typical rows') + ul .chip").all()}
    assert typical and typical <= members and odd <= members and not typical & odd
    assert text_of(page.locator("#figure-coclustering figcaption")) != caption_before
    named = page.locator("#rows table:has(caption:has-text('co-membership')) tbody th")
    assert {text_of(cell) for cell in named.all()} <= members
    assert named.count() <= ambiguous_before
    panel.locator(".path button", has_text="all rows").click()
    assert text_of(panel.locator("h3").first) == "all rows"


def test_what_the_verdict_rests_on(visit, animals, views, greedy):
    """Runs this short do not converge: the page says on what the chains disagree, what is safe and what to do."""
    section = visit(animals).page.locator("#trust")
    assert "Safe to use: " in text_of(section) and "What to do" in text_of(section)
    assert section.locator("ol > li").count() >= 2
    assert section.locator("#figure-fit svg").count() == 24  # the columns that fit worst
    tables = section.locator("table")
    assert "distance to reference 1 (level 1)" in text_of(tables.last)
    assert " !" in text_of(tables.last)  # R-hat above the limit
    assert "view of " in text_of(visit(views).page.locator("#trust table").last)
    assert visit(greedy).page.locator("#trust").count() == 0


def test_slider_walks_through_the_levels(visit, animals):
    page = visit(animals).page
    canvas = page.locator("canvas.matrix")
    pictures = []
    for level in (1, 2, 3):
        page.locator("#level-slider").fill(str(level))
        assert text_of(page.locator("output")) == f"level {level} of 3"
        pictures.append(canvas.evaluate("canvas => canvas.toDataURL()"))
    assert len(set(pictures)) == 3
    page.locator("#level-slider").press("Home")
    assert text_of(page.locator("output")) == "level 1 of 3"


def test_search_finds_rows_and_shows_their_place(visit, animals):
    page = visit(animals).page
    field = page.get_by_role("searchbox", name="Find a row")
    field.fill("robin")
    card = page.locator("#row-card")
    assert text_of(card.locator("h3")) == "robin"
    assert card.locator(".path button").count() > 1
    bars = card.locator("svg.bars").get_attribute("aria-label")
    assert all(f"level {level}" in bars for level in (1, 2, 3)) and "%" in bars
    card.locator(".path button").last.click()
    assert "robin" in text_of(page.locator("#cluster .chips").last)
    field.fill("no such animal")
    assert "No row" in text_of(page.locator("#rows [role=status]").first)


def test_every_figure_has_a_sentence_and_both_downloads(visit, animals):
    entry = visit(animals)
    page = entry.page
    page.locator("[role=treeitem][aria-level='2']").first.click()
    page.get_by_role("searchbox").fill("robin")
    names = check_figures(entry)
    assert {"figure-tree", "figure-profile", "figure-row", "figure-coclustering", "figure-clusters-level-1"} <= names
    assert any(name.startswith("figure-trace-") for name in names)
    assert any(name.startswith("figure-ranks-") for name in names)


def check_figures(entry):
    """Every figure of a page; their names."""
    page = entry.page
    names = [figure.get_attribute("id") for figure in page.locator("figure").all()]
    for name in names:
        figure = page.locator(f"[id='{name}']")
        assert len(text_of(figure.locator("figcaption"))) > 40, name
        file, drawing = entry.download(figure.get_by_role("button", name="SVG"))
        assert file.endswith(".svg")
        picture = tree.fromstring(drawing)
        assert picture.tag == "{http://www.w3.org/2000/svg}svg" and len(list(picture.iter())) > 3, name
        file, numbers = entry.download(figure.get_by_role("button", name="CSV"))
        rows = list(csv.reader(io.StringIO(numbers)))
        assert file.endswith(".csv") and len(rows) > 1 and len({len(row) for row in rows}) == 1, name
    return set(names)


def test_csv_of_the_tree_has_the_data(visit, animals):
    entry = visit(animals)
    _, numbers = entry.download(entry.page.locator("#figure-tree").get_by_role("button", name="CSV"))
    got = {row["row"]: row for row in csv.DictReader(io.StringIO(numbers))}
    with open(ROOT / "examples" / "animals.csv", encoding="utf-8") as file:
        expected = {row["name"]: row for row in csv.DictReader(file)}
    assert got.keys() == expected.keys()
    for name, row in expected.items():
        for column, value in row.items():
            if column != "name":
                assert got[name][column] == value, (name, column)


def test_hostile_names_are_text(visit, hostile):
    page = visit(hostile).page
    assert page.evaluate("document.scripts.length") == 2
    assert page.locator("img, b, iframe").count() == 0
    assert HOSTILE in text_of(page.locator("#cluster")) or HOSTILE in page.locator("svg.heads").text_content()
    for name in STRANGE_ROWS:
        page.get_by_role("searchbox").fill(name)
        assert text_of(page.locator("#row-card h3")) == name
    assert "hostile & <i>odd<i>.csv" in page.title()
    assert text_of(page.locator("h1")) == "hostile & <i>odd<i>.csv"


def test_flat_model_needs_no_slider(visit, hostile):
    page = visit(hostile).page
    assert page.locator("#level-slider").count() == 0
    assert page.locator("#figure-clusters-level-1 svg").count() == 1
    assert "prior" in text_of(page.locator("#figure-clusters-level-1 figcaption"))


def axe_faults(page):
    source = (ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
    page.evaluate(source)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        (fault["id"], fault["impact"], [node["html"][:160] for node in fault["nodes"][:3]])
        for fault in found["violations"]
        if fault["impact"] in ("serious", "critical")
    ]


def test_two_columns_are_a_plane_with_ellipses_of_both_levels(visit, plane):
    page = visit(plane).page
    drawing = page.locator("#figure-plane svg")
    widths = {group.get_attribute("stroke-width") for group in drawing.locator("g[stroke-width]").all()}
    assert {"2.5", "1.2"} <= widths, widths
    assert "two standard deviations" in text_of(page.locator("#figure-plane figcaption"))
    strong = """canvas => {
        const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
        copy.drawImage(canvas, 0, 0);
        const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
        let count = 0;
        for (let i = 3; i < data.length; i += 4) if (data[i] > 150) count++;
        return count;
    }"""
    canvas = page.locator("#figure-plane canvas")
    all_rows = canvas.evaluate(strong)
    page.locator("[role=treeitem][aria-level='2']").first.click()
    page.locator("#figure-plane").scroll_into_view_if_needed()
    page.wait_for_timeout(600)
    assert 0 < canvas.evaluate(strong) < all_rows


def test_views_stand_side_by_side(visit, views, animals):
    page = visit(views).page
    panels = page.locator("#figure-views .view")
    assert panels.count() >= 1
    columns = sum(int(text_of(panel.locator(".view-columns")).split(" column")[0]) for panel in panels.all())
    names = (ROOT / "examples" / "animals.csv").read_text().splitlines()[0].split(",")
    assert columns == len(names) - 2  # all but name and class
    canvas = panels.first.locator("canvas")
    assert (
        canvas.evaluate(
            "canvas => new Set(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data).size"
        )
        > 8
    )
    canvas.hover()
    assert text_of(page.locator("#figure-views .tip")).startswith("view 1, cluster ")
    matrix = page.locator("#figure-column-dependence canvas")
    assert matrix.evaluate("canvas => canvas.width") == columns
    with page.expect_download() as download:
        page.locator("#figure-column-dependence button", has_text="CSV").click()
    lines = pathlib.Path(download.value.path()).read_text().splitlines()
    assert len(lines) == columns + 1 and float(lines[1].split(",")[1]) == 1
    assert visit(animals).page.locator("#views").count() == 0


def test_greedy_trees_speak_of_partitions_not_of_draws(visit, greedy):
    page = visit(greedy).page
    assert page.locator("#convergence").count() == 0
    assert page.locator("[role=treeitem][aria-level='2']").count() == 2  # the tree joins two by two
    for caption in page.locator("figcaption").all():
        assert "draws" not in text_of(caption), text_of(caption)
    command = text_of(page.locator("#reproduce pre").first)
    assert command.startswith("coppice fit bhc") and "--draws" not in command and "--chains" not in command
    assert "partitions" in text_of(page.locator("#figure-coclustering figcaption"))


def test_labels_have_scores_calibration_and_clusters(visit, labels):
    entry = visit(labels)
    page = entry.page
    assert [text_of(link) for link in page.locator("nav.top a").all()] == [
        "Verdict",
        "Performance",
        "Clusters",
        "Rows",
        "Co-occurrence",
        "Reproduce",
    ]
    assert "5 labels" in text_of(page.locator("#verdict"))
    measures = {
        text_of(row.locator("th")): float(text_of(row.locator("td").first))
        for row in page.locator("#scores table").first.locator("tbody tr").all()
    }
    assert measures == {
        name: pytest.approx(value, abs=6e-4)
        for name, value in zip(
            measures,
            [
                scores_of(labels)[key]
                for key in (
                    "micro_f1",
                    "macro_f1",
                    "example_f1",
                    "subset_accuracy",
                    "hamming_loss",
                    "ranking_loss",
                    "lrap",
                    "coverage",
                    "precision_at_1",
                    "log_loss",
                )
            ],
        )
    }
    before = text_of(page.locator("#figure-calibration figcaption"))
    assert "all labels" in before and "points apart" in before
    page.get_by_label("Label whose calibration is shown").select_option(label=f"label_{HOSTILE}")
    assert HOSTILE in text_of(page.locator("#figure-calibration figcaption"))
    _, numbers = entry.download(page.locator("#figure-labels").get_by_role("button", name="CSV"))
    rows = list(csv.DictReader(io.StringIO(numbers)))
    assert [row["label"] for row in rows][1] == f"label_{HOSTILE}" and all(0 <= float(row["f1"]) <= 1 for row in rows)
    # A cluster is chosen by its name or in the picture; its rows are at hand.
    chooser = page.locator("#pattern")
    count = chooser.locator("option").count()
    assert count >= 3
    titles = []
    for k in range(count):
        chooser.select_option(index=k)
        titles.append(text_of(page.locator("#pattern-card h3")))
    assert len(set(titles)) == count
    page.locator("#figure-patterns svg rect").first.click()
    assert text_of(page.locator("#pattern-card h3")) == titles[0]
    page.locator("#pattern-card .chip").first.click()
    assert page.locator("#figure-row").count() == 1


def scores_of(path):
    return json.loads(coppice("score", path.with_suffix(".coppice"), "--json"))


def test_rows_show_their_labels(visit, labels):
    page = visit(labels).page
    assert page.evaluate("document.scripts.length") == 2
    for name in STRANGE_ROWS:
        page.get_by_role("searchbox").fill(name)
        assert text_of(page.locator("#row-card h3")) == name
    described = page.locator("#row-card svg.bars").get_attribute("aria-label")
    assert all(label in described for label in ("label_sport", f"label_{HOSTILE}", "label_علم")) and "%" in described
    assert "lower density" in text_of(page.locator("#figure-row figcaption"))
    assert STRANGE_ROWS[-1] in text_of(page.locator("#figure-novelty figcaption"))
    page.locator("#row-card .parts button").first.click()
    assert text_of(page.locator("#pattern-card h3")).startswith("cluster ")
    with open(labels.with_name("texts.csv"), encoding="utf-8") as file:
        known = {row["id"]: row for row in csv.DictReader(file)}
    entry = visit(labels)
    entry.page.get_by_role("searchbox").fill("text 17")
    entry.page.locator(".chip", has_text="text 17").first.click()
    _, numbers = entry.download(entry.page.locator("#figure-row").get_by_role("button", name="CSV"))
    for row in csv.DictReader(io.StringIO(numbers)):
        assert row["known"] == known["text 17"][row["label"]]


def test_every_figure_of_labels_has_a_sentence_and_both_downloads(visit, labels):
    entry = visit(labels)
    entry.page.get_by_role("searchbox").fill("text 17")
    entry.page.locator(".chip", has_text="text 17").first.click()
    names = check_figures(entry)
    assert names == {
        "figure-calibration",
        "figure-labels",
        "figure-patterns",
        "figure-row",
        "figure-novelty",
        "figure-cooccurrence",
    }


def test_no_serious_accessibility_fault(visit, animals, hostile, views, greedy):
    for path, options in ((animals, {}), (animals, {"color_scheme": "dark"}), (hostile, {}), (views, {}), (greedy, {})):
        page = visit(path, **options).page
        page.locator("[role=treeitem][aria-level='2']").first.click()
        page.get_by_role("searchbox").fill(STRANGE_ROWS[0] if path == hostile else "robin")
        assert axe_faults(page) == [], (path, options)


def test_pages_of_labels_have_no_serious_accessibility_fault(visit, labels):
    for options in ({}, {"color_scheme": "dark"}):
        page = visit(labels, **options).page
        page.get_by_role("searchbox").fill(STRANGE_ROWS[0])
        page.locator("#scores summary").click()
        assert axe_faults(page) == [], options


def test_phone_needs_no_sideways_scrolling(visit, animals, hostile, views, labels):
    for path in (animals, hostile, views, labels):
        entry = visit(path)
        entry.page.set_viewport_size({"width": 380, "height": 800})
        entry.page.wait_for_timeout(200)
        assert entry.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path


def test_print_leaves_out_what_paper_cannot_do(visit, animals):
    page = visit(animals).page
    page.emulate_media(media="print")
    assert not page.get_by_role("button", name="Open all").is_visible()
    assert page.locator("canvas.cells").is_visible()
    assert page.locator(".verdict").first.is_visible()


def test_page_is_small_beside_its_data(animals):
    script = (ROOT / "web" / "dist" / "report.js").stat().st_size + (
        ROOT / "web" / "dist" / "report.css"
    ).stat().st_size
    assert script < 800_000
    assert pathlib.Path(animals).stat().st_size < script + 600_000
