"""The errors this package raises on purpose: each names the value, the place and the remedy."""


class LBGError(Exception):
    """Base of the errors that the user can do something about."""


class DataError(LBGError, ValueError):
    """Input that cannot be used: a bad rating, a wrong delimiter, an unknown id."""


class ParameterError(DataError):
    """An argument that is not allowed: no topics, or a point that is neither mode, mean nor median."""


class OffScaleError(DataError):
    """A rating that the rating scale does not have; ``what`` says which, for callers that know another remedy."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(f"{what}: {remedy}")
        self.what = what


class NotFittedError(LBGError, ValueError, AttributeError):
    """A model or an algorithm was asked for something before it was fitted."""


class DatasetError(LBGError, OSError):
    """A public data set that cannot be found, fetched or trusted."""


class ModelFileError(LBGError, ValueError):
    """A model file that is damaged, foreign or too new."""


class MissingExtraError(LBGError, ImportError):
    """An optional package that a feature needs is not installed."""

    def __init__(self, feature: str, package: str, extra: str) -> None:
        super().__init__(f"{feature} needs {package}: pip install 'lbg-recsys[{extra}]'")
