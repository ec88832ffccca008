"""Sphinx settings of the documentation site. ./dev docs assembles the pages with tools/make_site.py and builds them."""

import pathlib

project = "Coppice"
author = "The Coppice authors"
copyright = "The Coppice authors"
release = version = pathlib.Path("VERSION").read_text(encoding="utf-8").strip()

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
default_role = "code"

html_theme = "furo"
html_title = f"Coppice {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
pygments_style = "tango"
