"""Model files: everything a fitted model needs, in one file without pickle.

`saving` has the two functions; `container` has the bytes, `schema` what may be in them, and `kind` says which class
of models is kept by which file of this folder.
"""

from lbg_recsys.persistence.checkpoint import FitCheckpoint
from lbg_recsys.persistence.container import FORMAT
from lbg_recsys.persistence.kind import CLASSES
from lbg_recsys.persistence.saving import load, save

__all__ = ["CLASSES", "FORMAT", "SUFFIX", "FitCheckpoint", "load", "save"]

SUFFIX = ".lbg"
