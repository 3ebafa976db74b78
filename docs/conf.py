"""Sphinx configuration. `make docs` builds the site into docs/_build/html with warnings as errors."""

import sys
from pathlib import Path

from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml

sys.path.insert(0, str(Path(__file__).parents[1]))

from lbg_recsys import __version__
from lbg_recsys.ratings.scoring import ScoringModel

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


# What the parts of the package call of each other: methods over codes of users and items, and over blocks of rows.
INTERNAL = {name for name in vars(ScoringModel) if name not in ("without_users", "levels", "posterior")} | {
    *("codes", "codes_of", "user_code", "item_code", "influence", "topic_shares", "effects_of_features"),
    *("tilt_by_features", "log_joint", "silence_weight", "item_gaussians", "assemble", "rows_of", "check_settings"),
    *("of_crowd", "from_codes", "name_of_entry", "seen", "is_rated", "padded", "extremes", "facts", "reasons"),
    *(
        "size_in_words",
        "is_constant",
        "refuse_outsiders",
        "tolerance",
        "rounding_variance",
        "origin",
        "block_reader",
        "blocks",
        "whole",
    ),
    *("placed", "mapped", "counted", "map", "total", "advance", "accumulate", "fetch"),
}
RATED = ("lbg_recsys.ratings", "lbg_recsys.distributed")


def skip_internal(app, what, name, found, skip, options):
    """Leave out what is not for users, and what scikit-learn and Surprise put into our classes and describe."""
    home = getattr(getattr(found, "fget", found), "__module__", None) or ""
    if home.split(".")[0] in ("sklearn", "surprise"):
        return True
    return True if name in INTERNAL and home.startswith((*RATED, "lbg_recsys.settings")) else None


def setup(app):
    """Called by Sphinx."""
    app.connect("autodoc-skip-member", skip_internal)
    app.add_html_math_renderer("mathml", (as_mathml(display=False), None), (as_mathml(display=True), None))
