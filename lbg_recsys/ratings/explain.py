"""Why a prediction is what it is: exact sums, no approximation.

The posterior log-odds of the leading topic s against the runner-up r are a sum over the user's own ratings,

    log mu_s/mu_r = beta [ log lam_s/lam_r + w sum_i log (1 - p_si)/(1 - p_ri)
                           + sum over rated i of ( w (logit p_si - logit p_ri)  +  log N_s(m_i)/N_r(m_i) ) ],

and the expected rating is a sum over topics, share_s * mean_s.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lbg_recsys.core import predictive
from lbg_recsys.core.mixture import level_density
from lbg_recsys.core.steps import posterior
from lbg_recsys.ratings.ids import RawId

if TYPE_CHECKING:
    from lbg_recsys.ratings.lbg import LBGModel


@dataclass(frozen=True)
class RatingEvidence:
    """What one of the user's ratings adds to the log-odds: by having been given, and by its value."""

    item: RawId
    rating: float
    from_rating_it: float
    from_its_value: float

    @property
    def total(self) -> float:
        """The rating's whole contribution."""
        return self.from_rating_it + self.from_its_value


@dataclass(frozen=True)
class TopicShare:
    """One topic's part in the prediction; share * mean, summed over topics, is the expected rating."""

    topic: int
    posterior: float
    share: float
    mean: float


@dataclass(frozen=True)
class Explanation:
    """A prediction taken apart.

    ``log_odds`` of ``topic`` against ``against`` = ``from_prior`` + ``from_silence`` (what the user did not rate)
    + ``from_item`` (that this item is to be rated) + the ``total`` of every `RatingEvidence`, strongest first.
    ``expected`` = sum of share * mean over ``topics``.
    """

    user: RawId
    item: RawId
    predicted: float
    expected: float
    distribution: dict[float, float]
    topic: int
    against: int
    log_odds: float
    from_prior: float
    from_silence: float
    from_item: float
    evidence: tuple[RatingEvidence, ...]
    topics: tuple[TopicShare, ...]


def explain(model: "LBGModel", user: int, item: int) -> Explanation:
    """Take the prediction of one pair of codes apart."""
    parameters, beta, weight = model.parameters_, model.temperature, model.indicator_weight
    logit = parameters.logit_p()
    rated = bool(model.matrix.is_rated(np.array([user]), np.array([item]))[0])
    own = model.matrix.subset(np.array([user]))
    joint = model.log_joint(own)[0] + (0.0 if rated else weight * logit[item])
    mu = posterior(joint[None, :], beta)[0][0]
    topic, against = np.argsort(-joint, kind="stable")[[0, min(1, len(joint) - 1)]]

    items, values = own.items_of, model.rows_of(own).values
    c, var = parameters.c[items], parameters.var[items]
    log_normal = -0.5 * (np.log(var) + (values[:, None] - c) ** 2 / var)
    given = beta * weight * (logit[items, topic] - logit[items, against])
    valued = beta * (log_normal[:, topic] - log_normal[:, against])
    log_lam, silence = np.log(np.maximum(parameters.lam, 1e-300)), parameters.log_silence()

    offset = 0.0
    if model.biases_ is not None:
        offset = float(model.biases_.predict(np.array([user]), np.array([item]))[0])
    density = level_density(parameters.c[[item]] + offset, parameters.var[[item]], model.levels)[0]  # (k, L)
    mass = mu[:, None] * density
    probability = mass.sum(axis=0, keepdims=True) / mass.sum()
    share = mass.sum(axis=1) / mass.sum()
    means = (density @ model.levels) / np.maximum(density.sum(axis=1), 1e-300)

    raw = model.matrix.items
    evidence = [
        RatingEvidence(raw.raw(i), float(r), float(a), float(b))
        for i, r, a, b in zip(items, own.values, given, valued, strict=True)
    ]
    return Explanation(
        user=model.matrix.users.raw(user),
        item=raw.raw(item),
        predicted=float(predictive.point(probability, model.levels, model.point)[0]),
        expected=float(predictive.mean(probability, model.levels)[0]),
        distribution=dict(zip(model.levels.tolist(), probability[0].tolist(), strict=True)),
        topic=int(topic),
        against=int(against),
        log_odds=float(beta * (joint[topic] - joint[against])),
        from_prior=float(beta * (log_lam[topic] - log_lam[against])),
        from_silence=float(beta * weight * (silence[topic] - silence[against])),
        from_item=0.0 if rated else float(beta * weight * (logit[item, topic] - logit[item, against])),
        evidence=tuple(sorted(evidence, key=lambda one: -abs(one.total))),
        topics=tuple(
            TopicShare(s, float(mu[s]), float(share[s]), float(means[s]))
            for s in np.argsort(-share, kind="stable").tolist()
        ),
    )
