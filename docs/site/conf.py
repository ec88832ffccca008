"""Sphinx settings of the documentation site. ./dev docs assembles the pages with tools/make_site.py and builds them."""

import pathlib
import re

project = "Coppice"
author = "The Coppice authors"
copyright = "The Coppice authors"
release = version = (pathlib.Path(__file__).resolve().parents[2] / "VERSION").read_text(encoding="utf-8").strip()

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
root_doc = "index"

# Headings get the anchors that they have on GitHub, so the links of the pages work in both places.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
suppress_warnings = [
    "misc.highlighting_failure",  # blocks with more than one language
    "myst.header",  # the changelog begins at its second level
]

autodoc_typehints = "none"  # docstrings name the types
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True  # attributes that are properties too are described once
default_role = "code"

html_theme = "furo"
html_title = f"Coppice {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_search_summary = False  # it would read other pages, which a browser refuses for files
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
pygments_style = "tango"


def escape_types(app, what, name, obj, options, lines):
    """Shapes such as (n_samples, n_clusters_ + 1): a trailing underscore would be a link in reStructuredText."""
    for k, line in enumerate(lines):
        found = re.fullmatch(r"(\s*[\w*, ]+ : )(.*)", line)
        if found:
            lines[k] = found[1] + re.sub(r"(\w)_(?=\W|$)", r"\1\\_", found[2])


def skip_scikit_learn(app, what, name, obj, skip, options):
    """Methods that scikit-learn gives to every estimator are described there."""
    return True if (getattr(obj, "__module__", None) or "").startswith("sklearn.") else None


def setup(app):
    app.connect("autodoc-skip-member", skip_scikit_learn)
    app.connect("autodoc-process-docstring", escape_types, priority=400)  # before napoleon
