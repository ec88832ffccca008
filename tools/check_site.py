#!/usr/bin/env python3
"""Fails where a page of a static site links to a file or an anchor that is not there, or would load anything from a network:
scripts, styles, pictures, fonts. Links that a reader may follow to other sites are allowed.

usage: check_site.py FOLDER
"""

import html.parser
import pathlib
import re
import sys
import urllib.parse

# Attributes whose addresses a browser loads by itself.
LOADED = {
    ("script", "src"),
    ("img", "src"),
    ("iframe", "src"),
    ("source", "src"),
    ("video", "src"),
    ("object", "data"),
    ("link", "href"),
}
# A link of this kind is metadata or is only followed by a reader.
NOT_LOADED = {"canonical", "next", "prev", "search", "index", "author", "license"}


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.anchors, self.links, self.loads, self.styles = set(), [], [], []
        self.in_style = False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        for key in ("id", "name"):
            if values.get(key) and (key == "id" or tag == "a"):
                self.anchors.add(values[key])
        if values.get("style"):
            self.styles.append(values["style"])
        self.in_style = tag == "style"
        for key, value in attributes:
            if value and (tag, key) in LOADED and not set(values.get("rel", "").split()) & NOT_LOADED:
                self.loads.append(value)
            elif value and key == "srcset":
                self.loads += [part.split()[0] for part in value.split(",")]
            elif value and tag in ("a", "area") and key == "href":
                self.links.append(value)

    def handle_endtag(self, tag):
        self.in_style = False

    def handle_data(self, data):
        if self.in_style:
            self.styles.append(data)


def loads_of_style(text):
    return re.findall(r"url\(\s*['\"]?([^'\")]+)", text) + re.findall(r"@import\s+['\"]([^'\"]+)", text)


def is_outside(address):
    return bool(re.match(r"([a-z][a-z0-9+.-]*:)?//", address, flags=re.I))


def faults(folder):
    folder = pathlib.Path(folder).resolve()
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))}
    if not pages:
        yield f"{folder} has no page"
    for path, page in pages.items():
        name = path.relative_to(folder)
        loads = [*page.loads, *(address for text in page.styles for address in loads_of_style(text))]
        for address in [*loads, *page.links]:
            if is_outside(address):
                if address in loads:
                    yield f"{name}: loads {address} from a network"
                continue
            if re.match(r"(data|mailto|javascript|blob):", address):
                continue
            parts = urllib.parse.urlsplit(address)
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.is_file() or folder not in target.parents:
                yield f"{name}: links to {address}, which is not there"
            elif parts.fragment and target in pages:
                if urllib.parse.unquote(parts.fragment) not in pages[target].anchors:
                    yield f"{name}: links to {address}, but that page has no such anchor"
    for path in sorted(folder.rglob("*.css")):
        for address in loads_of_style(path.read_text(encoding="utf-8", errors="replace")):
            if is_outside(address):
                yield f"{path.relative_to(folder)}: loads {address} from a network"


def main(folder):
    found = list(faults(folder))
    print("\n".join([*found, f"check_site: {len(found)} faults"]))
    return 1 if found else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
