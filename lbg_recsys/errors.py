"""The errors this package raises on purpose: each names the value, the place and the remedy."""


class LBGError(Exception):
    """Base class of the errors that this package raises on purpose.

    Examples
    --------
    >>> from lbg_recsys import LBGModel
    >>> try:
    ...     LBGModel().recommend("ann")
    ... except LBGError as error:
    ...     print(type(error).__name__)
    NotFittedError
    """


class DataError(LBGError, ValueError):
    """Input that cannot be used: a bad rating, a wrong delimiter, an unknown id.

    Examples
    --------
    >>> from lbg_recsys.ratings import as_matrix
    >>> as_matrix((["ann"], [7], ["five"]))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    lbg_recsys.errors.DataError: ratings must be numbers: ...
    """


class ParameterError(DataError):
    """An argument that is not allowed: no topics, or a point that is neither mode, mean nor median.

    Examples
    --------
    >>> from lbg_recsys import LBGModel
    >>> LBGModel(n_topics=0).fit((["ann"], [7], [5]))
    Traceback (most recent call last):
        ...
    lbg_recsys.errors.ParameterError: n_topics is 0: give an integer of at least 1
    """


class OffScaleError(DataError):
    """A rating that is not on the rating scale. Callers may raise it again with a better remedy.

    Attributes
    ----------
    what : str
        Which rating is off which scale.
    remedy : str
        What to do about it.

    Examples
    --------
    >>> from lbg_recsys.ratings import as_matrix
    >>> as_matrix((["ann"], [7], [6]), scale=(1, 5))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    lbg_recsys.errors.OffScaleError: the rating 6 ... is off the scale 1..5 ...
    """

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(f"{what}: {remedy}")
        self.what, self.remedy = what, remedy


class NotFittedError(LBGError, ValueError, AttributeError):
    """A model or an algorithm was used before it was fitted.

    Examples
    --------
    >>> from lbg_recsys import LBGModel
    >>> LBGModel().recommend("ann")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    lbg_recsys.errors.NotFittedError: this LBGModel is not fitted ...
    """


class DatasetError(LBGError, OSError):
    """A public data set that cannot be found, downloaded or trusted.

    Examples
    --------
    >>> from lbg_recsys.datasets import dataset_info
    >>> dataset_info("ml-100")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    lbg_recsys.errors.DatasetError: no data set is called 'ml-100'; ...
    """


class ModelFileError(LBGError, ValueError):
    """A model file that is damaged, of another program or too new.

    Examples
    --------
    >>> import lbg_recsys
    >>> lbg_recsys.load(__file__)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    lbg_recsys.errors.ModelFileError: ... is not a model file of lbg-recsys...
    """


class MissingExtraError(LBGError, ImportError):
    """An optional package that a feature needs is not installed.

    Parameters
    ----------
    feature : str
        What needs the package.
    package : str
        The name of the package.
    extra : str
        The extra of lbg-recsys that installs it.

    Examples
    --------
    >>> print(MissingExtraError("a store", "pyarrow", "parquet"))
    a store needs pyarrow: install the extra 'parquet' of lbg-recsys (in a checkout, pip install '.[parquet]')
    """

    def __init__(self, feature: str, package: str, extra: str) -> None:
        super().__init__(
            f"{feature} needs {package}: install the extra {extra!r} of lbg-recsys (in a checkout, pip install "
            f"'.[{extra}]')"
        )
