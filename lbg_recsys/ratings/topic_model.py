"""Rating models that have topics of their own: LBG's, and the communities of Gaussian pLSA."""

from abc import abstractmethod

from lbg_recsys.core.em.parameters import Parameters
from lbg_recsys.core.types import Floats
from lbg_recsys.errors import ParameterError
from lbg_recsys.ratings.model import RatingModel
from lbg_recsys.ratings.questions.similar import item_profiles, overlap
from lbg_recsys.ratings.questions.topics import TopicTables


class TopicRatingModel(RatingModel):
    """Users are compared as distributions over topics, items as joint distributions of topic and level."""

    METRICS = ("hellinger", "kl")

    parameters_: Parameters

    @abstractmethod
    def item_gaussians(self) -> tuple[Floats, Floats]:
        """The means and variances of each topic's ratings of each item, given by an average user, (items, k) each."""

    def similarity(self, of_users: bool, own: int, metric: str) -> Floats:
        """Of one user's posterior over topics with all users', or of one item's profile with all items', (n,)."""
        profiles = self.posterior() if of_users else item_profiles(self)
        return overlap(profiles, profiles[own], metric)

    def topic_tables(self, n_topics: int | None = None) -> TopicTables:
        """The model's own topics, whose number is a parameter of the fit."""
        if n_topics is not None:
            raise ParameterError(
                f"the model was fitted with {self.parameters_.n_topics} topics and cannot show {n_topics!r}: "
                "leave n_topics (topics -k) out, or fit again with another n_topics (fit --param n_topics=N)"
            )
        return self._own_tables()

    @abstractmethod
    def _own_tables(self) -> TopicTables: ...
