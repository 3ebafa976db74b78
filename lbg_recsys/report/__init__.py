"""A model on one page: its data, its training, and how good it is on ratings that it has not seen.

`report_html` is what ``lbg-recsys report`` writes. The page is one file without scripts, and needs no network.
"""

from lbg_recsys.report.page import report_html

__all__ = ["report_html"]
