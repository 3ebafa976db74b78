"""The versions with which a figure or a file was made, so that it can be made again."""

import platform
from importlib.metadata import PackageNotFoundError, version

OURS = ("lbg-recsys", "numpy", "scipy", "numba", "scikit-surprise", "scikit-learn")


def library_versions(*further: str) -> dict[str, str]:
    """Versions of Python, of what we build on, and of further distributions; those not installed are left out."""
    found = {"python": platform.python_version()}
    for name in (*OURS, *further):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
