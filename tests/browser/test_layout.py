"""What is drawn can be read: on phones, tablets, desks and walls, in both themes, with few clusters and many."""

import pytest

WIDTHS = (390, 768, 1400, 2200)

# Names that stand side by side: the distance of neighbors, across the direction of writing, in heights of a line.
LEAST_DISTANCE = """selector => {
    const distances = [];
    for (const drawing of document.querySelectorAll(selector)) {
        const texts = [...drawing.querySelectorAll('text')].filter((text) => text.textContent !== '');
        const places = texts.map((text) => {
            const matrix = text.getScreenCTM();
            const at = new DOMPoint(+text.getAttribute('x') || 0, +text.getAttribute('y') || 0).matrixTransform(matrix);
            const scale = Math.hypot(matrix.a, matrix.b);
            const { left, right } = text.getBoundingClientRect();
            const size = parseFloat(getComputedStyle(text).fontSize);
            return { at, left, right, size, across: [-matrix.b / scale, matrix.a / scale] };
        });
        for (let i = 1; i < places.length; i++) {
            const [a, b] = [places[i - 1], places[i]];
            const apart = Math.abs((b.at.x - a.at.x) * b.across[0] + (b.at.y - a.at.y) * b.across[1]);
            // On one line they must not touch.
            distances.push(apart < 1 && b.left >= a.right ? 9 : apart / b.size);
        }
    }
    return distances.length === 0 ? 9 : Math.min(...distances);
}"""

# How far texts of a drawing reach beyond it, in pixels.
OUTSIDE = """selector => {
    let most = 0;
    for (const drawing of document.querySelectorAll(selector)) {
        const box = drawing.getBoundingClientRect();
        for (const text of drawing.querySelectorAll('text')) {
            const { left, right } = text.getBoundingClientRect();
            if (right > left) most = Math.max(most, box.left - left, right - box.right);
        }
    }
    return most;
}"""


@pytest.fixture
def pages(mixed, animals, views, plane, labels):
    return {"nrmm": mixed, "rbhmc": animals, "crosscat": views, "nhcm": plane, "bnmc": labels}


def check(page, width, where):
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), where
    assert page.evaluate(LEAST_DISTANCE, "svg.heads") >= 0.95, where
    assert page.evaluate(LEAST_DISTANCE, ".view svg.side") >= 0.95, where
    for side in (".matrix-frame svg.side",):
        assert page.evaluate(OUTSIDE, side) <= 6, where
    assert page.evaluate(OUTSIDE, "svg.tree") <= 1, where
    assert page.evaluate(OUTSIDE, "svg.heads") <= 1, where
    heat = page.locator("#figure-tree .heat")
    if heat.count() == 0:
        return
    box = heat.bounding_box()
    tree = page.locator("svg.tree").bounding_box()
    beside = box["x"] >= tree["x"] + tree["width"] - 1
    below = box["y"] >= tree["y"] + tree["height"] - 1
    assert beside or below, where
    assert box["x"] + box["width"] <= width, where


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("model", ["nrmm", "rbhmc", "crosscat", "nhcm", "bnmc"])
def test_nothing_is_cut_off_or_overprinted(visit, pages, model, scheme):
    entry = visit(pages[model], color_scheme=scheme)
    for width in WIDTHS:
        entry.page.set_viewport_size({"width": width, "height": 900})
        entry.page.wait_for_timeout(150)
        check(entry.page, width, (model, scheme, width))


def test_crowded_pages_can_be_read(visit, crowded, many_views):
    for path in (crowded, many_views):
        entry = visit(path)
        for width in WIDTHS:
            entry.page.set_viewport_size({"width": width, "height": 900})
            entry.page.wait_for_timeout(150)
            check(entry.page, width, (path.name, width))
    page = visit(crowded).page
    assert page.locator("[role=treeitem]").count() > 27
    # Names of columns that differ only at the end are still told apart.
    heads = page.locator("svg.heads text").evaluate_all("texts => texts.map((text) => text.lastChild.textContent)")
    assert len(set(heads)) == len(heads) >= 20
    numbers = page.locator("svg.tree .number").evaluate_all("texts => texts.map((text) => text.textContent)")
    assert len(set(numbers)) == len(numbers) >= 20


def test_wide_screens_are_used(visit, mixed, animals):
    for path in (mixed, animals):
        page = visit(path).page
        page.set_viewport_size({"width": 2200, "height": 1200})
        page.wait_for_timeout(150)
        right = page.locator("main > section").evaluate_all(
            "sections => sections.map((section) => section.getBoundingClientRect()).filter((box) => box.left > 1000).length"
        )
        assert right >= 2, path


def test_figures_have_their_names_on_paper(visit, views, mixed):
    page = visit(views).page
    page.emulate_media(media="print")
    names = page.locator("#figure-column-dependence .side-name").evaluate_all(
        "texts => texts.map((text) => text.textContent)"
    )
    assert len(names) >= 40
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    listed = page.locator("#figure-column-dependence .name-list li")
    assert listed.count() == 79 and listed.first.is_visible()
    page = visit(mixed).page
    page.emulate_media(media="print")
    rows = page.locator("#figure-coclustering .side-name")
    assert rows.count() >= 3 and rows.first.is_visible()
    assert "Biscoe" in page.locator("#figure-tree .legend").inner_text()
