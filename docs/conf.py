"""The documentation site: make docs.

Sphinx with the theme of numpy, scipy, pandas and networkx, so that their users find things where they are used to find
them. Pages are Markdown, readable where the repository is; nothing in a page is fetched from another site.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))

from tgraph import __version__  # noqa: E402  the extensions are found first

project, author, release = "TGraph", "the TGraph developers", __version__
copyright = author

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "charts",
    "docstrings",
    "gallery",
    "pictures",
    "reference",
    "repository",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_static", "_extensions"]
needs_sphinx = "8"

myst_enable_extensions = ["colon_fence", "attrs_block"]
myst_heading_anchors = 3
suppress_warnings = ["myst.header"]  # a page that is a part of another begins lower

default_role = "py:obj"
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
python_display_short_literal_types = True
maximum_signature_line_length = 100
viewcode_line_numbers = True
toc_object_entries_show_parents = "hide"

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "TGraph"
html_favicon = "_static/logo.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_copyright = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "TGraph", "image_light": "_static/logo.svg", "image_dark": "_static/logo.svg"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_prev_next": True,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["sphinx-version"],
    "footer_end": ["theme-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_context = {"default_mode": "auto"}
html_sidebars = {"index": []}
