"""An ``estimator`` of None stands for a default one whose parameters can be set."""

from abc import ABC, abstractmethod
from typing import Any

from sklearn.base import clone


class DefaultEstimator(ABC):
    """For estimators with a parameter ``estimator`` of which None is a default.

    ``estimator__NAME`` is a parameter then too (of the default, which takes the place of None once one is set), so
    that ``GridSearchCV`` can search it.
    """

    estimator: Any

    @abstractmethod
    def _default_estimator(self) -> Any:
        """A new unfitted estimator that None stands for."""

    def _template(self) -> Any:
        """A new unfitted copy of the given estimator or of the default."""
        return self._default_estimator() if self.estimator is None else clone(self.estimator)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Get the parameters.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include the parameters of the estimator, as ``estimator__NAME``.

        Returns
        -------
        dict
            The parameters by name.

        Examples
        --------
        >>> from lbg_recsys.text import LBGSelector
        >>> LBGSelector().get_params()["estimator__n_components"]
        8
        """
        params: dict[str, Any] = super().get_params(deep=deep)  # type: ignore[misc]
        if deep and self.estimator is None:
            default = self._default_estimator().get_params(deep=True)
            params |= {f"estimator__{name}": value for name, value in default.items()}
        return params

    def set_params(self, **params: Any) -> Any:
        """Set parameters; ``estimator__NAME`` of None turns None into the default first.

        Parameters
        ----------
        **params : values by name
            Parameters of the constructor, or of the estimator as ``estimator__NAME``.

        Returns
        -------
        estimator
            The estimator itself.

        Raises
        ------
        ValueError
            If there is no parameter of that name.

        Examples
        --------
        >>> from lbg_recsys.text import LBGSelector
        >>> LBGSelector().set_params(estimator__n_components=3).estimator
        LBGMixture(n_components=3)
        """
        nested = any(name.startswith("estimator__") for name in params)
        if nested and self.estimator is None and params.get("estimator") is None:
            self.estimator = self._default_estimator()
            params.pop("estimator", None)
        return super().set_params(**params)  # type: ignore[misc]
