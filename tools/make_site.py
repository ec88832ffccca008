#!/usr/bin/env python3
"""Writes the source of the documentation site: the Markdown of the project with links turned to the pages of the site, and
the references of Python (from docstrings), C++ (from Doxygen's XML) and R (from the Rd files).

usage: make_site.py FOLDER DOXYGEN_XML     (Sphinx then builds FOLDER; see ./dev docs)
"""

import html
import os
import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as tree

ROOT = pathlib.Path(__file__).resolve().parents[1]
# Where Doxygen's own pages are in the site.
DOXYGEN_PAGES = "cpp"


def pages():
    """Files of the project that are pages of the site, and their places there."""
    found = {
        "README.md": "index.md",
        "CONTRIBUTING.md": "contributing.md",
        "RELEASING.md": "releasing.md",
        "SECURITY.md": "security.md",
        "CHANGELOG.md": "changelog.md",
        "packaging/README.md": "packaging.md",
        "r/coppice/vignettes/coppice.Rmd": "r.md",
        "r/coppice/README.md": "notes/r.md",
        "tests/reference/README.md": "notes/reference.md",
    }
    for path in sorted((ROOT / "docs").rglob("*.md")):
        name = path.relative_to(ROOT / "docs")
        if name.parts[0] != "site":
            found[f"docs/{name}"] = str(name)
    for path in sorted((ROOT / "src" / "coppice" / "model").glob("*/NOTES.md")):
        found[str(path.relative_to(ROOT))] = f"notes/{path.parent.name}.md"
    return found


LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")


def outside_code(text, change):
    """The text with every part that is not in a code block or between backticks changed."""
    parts = re.split(r"(^```.*?^```[^\n]*$|``[^\n]+?``|`[^`\n]+`)", text, flags=re.M | re.S)
    # A link may have code in its words: such parts are joined again before the change.
    joined, codes = "", []
    for k, part in enumerate(parts):
        if k % 2:
            codes.append(part)
            joined += f"\0{len(codes) - 1}\0"
        else:
            joined += part
    return re.sub("\0(\\d+)\0", lambda found: codes[int(found[1])], change(joined))


def with_links_of_the_site(text, source, places, folder):
    """Links between files of the project become links between pages; other files are copied beside the pages."""
    here = pathlib.PurePosixPath(places[source]).parent

    def turned(found):
        mark, words, target = found[1], found[2], found[3]
        if re.match(r"[a-z]+:|#", target):
            return found[0]
        path, _, anchor = target.partition("#")
        file = os.path.normpath(os.path.join(os.path.dirname(source), path))
        if file in places:
            place = places[file]
        else:
            if not (ROOT / file).is_file():
                raise SystemExit(f"make_site: {source} links to {target}, which is not a file")
            place = file.removeprefix("docs/") if file.startswith("docs/") else f"files/{file}"
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / file, folder / place)
        address = os.path.relpath(place, here) + (f"#{anchor}" if anchor else "")
        return f"{mark}[{words}]({address})"

    return outside_code(text, lambda part: LINK.sub(turned, part))


def from_vignette(text):
    """An R Markdown file as a page: its title as heading, chunks as R code, without those that are not shown."""
    title = re.search(r'^title: "(.*)"$', text, flags=re.M)[1]
    text = re.sub(r"\A---\n.*?^---\n", "", text, flags=re.M | re.S)
    text = re.sub(r"^```\{r[^}\n]*include *= *FALSE[^}\n]*\}\n.*?^```\n", "", text, flags=re.M | re.S)
    return f"# R: {title[0].lower()}{title[1:]}\n" + re.sub(r"^```\{r[^}\n]*\}", "```r", text, flags=re.M)


def write(folder, name, text):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def toctree(entries):
    return "\n```{toctree}\n:maxdepth: 1\n\n" + "\n".join(entries) + "\n```\n"


# ---- Python ----


def python_reference(folder):
    """One page for each estimator, one for everything else, from the docstrings of the installed package."""
    import coppice
    from coppice import _estimators

    estimators = sorted({cls.__name__ for cls in _estimators.BY_MODEL.values()})
    aliases = [name for name in _estimators.__all__ if name not in estimators]
    others = [name for name in coppice.__all__ if name not in _estimators.__all__ and not name.startswith("_")]
    classes = [name for name in others if isinstance(getattr(coppice, name), type)]
    functions = [name for name in others if callable(getattr(coppice, name)) and name not in classes]
    modules = [name for name in others if name not in classes and name not in functions]
    options = ["   :members:", "   :inherited-members: BaseEstimator"]
    for name in estimators:
        lines = [f".. autoclass:: coppice.{name}", *options, "   :class-doc-from: class"]
        write(folder, f"reference/python/{name}.md", f"# {name}\n\n```{{eval-rst}}\n" + "\n".join(lines) + "\n```\n")
    lines = []
    for name in classes:
        lines += [f".. autoclass:: coppice.{name}", "   :members:", ""]
    write(folder, "reference/python/classes.md", "# Runs and trees\n\n```{eval-rst}\n" + "\n".join(lines) + "\n```\n")
    lines = [f".. autofunction:: coppice.{name}\n" for name in functions]
    for name in modules:
        lines += [f".. autofunction:: coppice.{name}.{entry}\n" for entry in getattr(coppice, name).__all__]
    write(folder, "reference/python/functions.md", "# Functions\n\n```{eval-rst}\n" + "\n".join(lines) + "\n```\n")
    also = "".join(f" `{alias}` is `{getattr(coppice, alias).__name__}`." for alias in aliases)
    write(
        folder,
        "reference/python.md",
        "# Python: reference\n\nEvery estimator has the settings of its model on the command line, written with "
        f"underscores. [The Python package](../python.md) says how they are used.{also}\n"
        + toctree([*(f"python/{name}" for name in estimators), "python/classes", "python/functions"]),
    )


# ---- C++ ----


def words_of(element):
    """The text of a description of Doxygen, as HTML."""
    return html.escape(" ".join("".join(element.itertext()).split())) if element is not None else ""


def cpp_address(identifier):
    page, anchor = re.fullmatch(r"(.+?)(?:_1([a-z0-9]{30,}))?", identifier).groups()
    return f"../{DOXYGEN_PAGES}/{page}.html" + (f"#{anchor}" if anchor else "")


def cpp_reference(folder, doxygen):
    """A page that lists what each public header declares, with links to Doxygen's pages: so the search of the site finds
    the names of the library too."""
    index = tree.parse(doxygen / "index.xml").getroot()
    headers = {}  # what each declares: name, identifier, description
    for entry in index.iter("compound"):
        if entry.get("kind") not in ("class", "struct", "namespace"):
            continue
        compound = tree.parse(doxygen / f"{entry.get('refid')}.xml").find("compounddef")
        if entry.get("kind") != "namespace":
            declared = [(entry.findtext("name"), entry.get("refid"), compound)]
        else:
            members = (member for member in compound.iter("memberdef"))
            declared = [
                (member.findtext("name") + ("()" if member.get("kind") == "function" else ""), member.get("id"), member)
                for member in members
            ]
        for name, identifier, element in declared:
            header = element.find("location").get("file").removeprefix("src/")
            entries = headers.setdefault(header, {})
            entries[identifier] = (name.removeprefix("coppice::"), words_of(element.find("briefdescription")))
    rows = []
    for header, entries in sorted(headers.items()):
        rows.append(f"\n## {header}\n\n```{{raw}} html\n<ul>")
        for identifier, (name, about) in sorted(
            entries.items(), key=lambda entry: (entry[1][0].endswith(")"), entry[1][0])
        ):
            rows.append(f'<li><a href="{cpp_address(identifier)}"><code>{html.escape(name)}</code></a> {about}</li>')
        rows.append("</ul>\n```")
    if not rows:
        raise SystemExit("make_site: Doxygen found nothing")
    write(
        folder,
        "reference/cpp.md",
        "# C++: reference\n\nWhat `coppice/coppice.hpp` includes, header by header. [Embedding](../embedding.md) says how to "
        "link the library. The links lead to the full reference, which has its own search:\n\n"
        f'```{{raw}} html\n<p><a href="../{DOXYGEN_PAGES}/index.html">All classes, functions and files</a></p>\n```\n'
        + "\n".join(rows)
        + "\n",
    )


# ---- R ----

RD_TO_HTML = """
arguments <- commandArgs(TRUE)
topics <- list()
files <- list.files(arguments[1], "[.]Rd$", full.names = TRUE)
for (file in files)
  for (line in grep("^\\\\\\\\alias[{]", readLines(file), value = TRUE))
    topics[[sub("^\\\\\\\\alias[{](.*)[}]$", "\\\\1", line)]] <- sub("Rd$", "html", basename(file))
for (file in files)
  tools::Rd2HTML(file, file.path(arguments[2], sub("Rd$", "html", basename(file))), package = "",
                 stylesheet = "", dynamic = FALSE, Links = unlist(topics), Links2 = character())
"""


def r_reference(folder, scratch):
    manual = ROOT / "r" / "coppice" / "man"
    title = "# R: reference\n\n"
    if shutil.which("Rscript") is None:
        write(
            folder,
            "reference/r.md",
            title
            + "R was not there when this site was built, so the help pages are missing. Where R and the package are "
            'installed, `help(package = "coppice")` shows them.\n',
        )
        return
    scratch.mkdir(parents=True, exist_ok=True)
    (scratch / "rd.R").write_text(RD_TO_HTML, encoding="utf-8")
    subprocess.run(["Rscript", "--vanilla", scratch / "rd.R", manual, scratch], check=True)
    names = sorted((path.stem for path in scratch.glob("*.html")), key=lambda name: (name != "coppice-package", name))
    for name in names:
        body = re.search(r"<body>(.*)</body>", (scratch / f"{name}.html").read_text(encoding="utf-8"), flags=re.S)[1]
        heading = re.search(r"<h2[^>]*>(.*?)</h2>", body, flags=re.S)
        body = body[heading.end() :].replace("<h3>", "<h2>").replace("</h3>", "</h2>")
        body = re.sub(r"<hr ?/?><div[^>]*>\[.*?</div>", "", body, flags=re.S)
        # Help pages of other packages are not here.
        keep = lambda found: found[0] if found[1] in {f"{entry}.html" for entry in names} else found[2]
        body = re.sub(r'<a href="([^"#]*)[^"]*">(.*?)</a>', keep, body, flags=re.S)
        words = html.unescape(re.sub(r"<[^>]+>", "", heading[1]))
        write(folder, f"reference/r/{name}.md", f"# {name}\n\n{words}\n\n```{{raw}} html\n{body.strip()}\n```\n")
    write(
        folder,
        "reference/r.md",
        title
        + "The help pages of the R package; [an introduction](../r.md) shows how it is used.\n"
        + toctree([f"r/{name}" for name in names]),
    )


def main(folder, doxygen):
    folder = pathlib.Path(folder)
    shutil.rmtree(folder, ignore_errors=True)
    places = pages()
    for source, place in places.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        if source.endswith(".Rmd"):
            text = from_vignette(text)
        text = with_links_of_the_site(text, source, places, folder)
        if source == "README.md":
            text += "\n" + (ROOT / "docs" / "site" / "navigation.md").read_text(encoding="utf-8")
        write(folder, place, text)
    notes = sorted(pathlib.PurePosixPath(place).stem for place in places.values() if place.startswith("notes/"))
    write(
        folder,
        "notes.md",
        "# Notes for developers\n\nFor each model, the symbols of its paper and their names in the code, and every deviation with "
        "its reason; the reference cases of the tests; the R package.\n" + toctree([f"notes/{name}" for name in notes]),
    )
    python_reference(folder)
    cpp_reference(folder, pathlib.Path(doxygen))
    r_reference(folder, folder.parent / "rd")
    print(f"site: {len(list(folder.rglob('*.md')))} pages")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
