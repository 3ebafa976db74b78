"""Sphinx configuration. `make docs` builds the site into docs/_build/html with warnings as errors."""

import sys
from pathlib import Path

from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml

sys.path.insert(0, str(Path(__file__).parents[1]))

from lbg_recsys import __version__

project = "lbg-recsys"
copyright = "the lbg-recsys contributors"
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_copybutton",
]
exclude_patterns = ["_build", "_templates"]
templates_path = ["_templates"]

# Markdown. Headings get anchors as on GitHub, so that links work in both places; a link that leads nowhere is a
# warning, and warnings are errors.
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 3

# The reference. Methods that Surprise and scikit-learn define are documented there.
autosummary_generate = True
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
autodoc_default_options = {
    "members": True,
    "inherited-members": "AlgoBase,BaseEstimator,TransformerMixin,ClusterMixin,ClassifierMixin,SelectorMixin,object",
}
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
default_role = "literal"  # docstrings name code in single backticks

copybutton_exclude = ".linenos, .gp, .go"

html_theme = "furo"
html_title = f"lbg-recsys {__version__}"
html_math_renderer = "mathml"  # browsers show MathML by themselves: the pages need no script from elsewhere


def as_mathml(display):
    """A visitor that writes a formula as MathML."""

    def visit(self, node):
        formula = tex2mathml(node.astext(), as_block=display)
        self.body.append(f'<div class="math">{formula}</div>' if display else formula)
        raise SkipNode

    return visit


def skip_foreign(app, what, name, found, skip, options):
    """Leave out what scikit-learn and Surprise put into our classes: their documentation describes it."""
    home = getattr(found, "__module__", None) or ""
    return True if home.split(".")[0] in ("sklearn", "surprise") else None


def setup(app):
    """Called by Sphinx."""
    app.connect("autodoc-skip-member", skip_foreign)
    app.add_html_math_renderer("mathml", (as_mathml(display=False), None), (as_mathml(display=True), None))
