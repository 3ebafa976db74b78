"""How alike users are in their noise: the evidence by quadrature, the draws against the posterior on a grid."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import gamma

from lbg_recsys.core.gibbs.arrays import Gamma
from lbg_recsys.core.gibbs.noise_shapes import USUAL_SHAPE, draw_noise_shape, log_evidence, sums_of_rows

N_ENTRIES = np.array([1, 3, 3, 8])
SQUARES = np.array([0.2, 5.0, 1.5, 9.0])


def by_quadrature(noise):
    def density(w, n, s):
        return gamma.pdf(w, noise.shape, scale=1 / noise.rate) * w ** (n / 2) * np.exp(-w * s / 2)

    pairs = zip(N_ENTRIES, SQUARES, strict=True)
    return sum(np.log(quad(density, 0, np.inf, args=pair)[0]) for pair in pairs)


def test_the_evidence_is_the_integral_over_the_precisions():
    one, other = Gamma(2.0, 3.0), Gamma(7.5, 4.0)
    found = log_evidence(other, N_ENTRIES, SQUARES) - log_evidence(one, N_ENTRIES, SQUARES)
    assert found == pytest.approx(by_quadrature(other) - by_quadrature(one), rel=1e-6)


@pytest.mark.parametrize("of_rate", [None, Gamma(2.0, 0.4)])
def test_shapes_are_drawn_from_their_posterior(of_rate):
    rng = np.random.default_rng(0)
    squares, n_entries = rng.gamma(1.5, 2.0, 40) * 4, np.full(40, 4)
    mean = 0.5  # precision: shape / rate
    grid = np.linspace(np.log(0.2), np.log(500), 400)
    logs = (
        np.array([log_evidence(Gamma(np.exp(x), np.exp(x) / mean), n_entries, squares) for x in grid])
        - 0.5 * (grid - np.log(USUAL_SHAPE)) ** 2
    )
    if of_rate is not None:
        rate = np.exp(grid) / mean
        logs += of_rate.shape * np.log(rate) - of_rate.rate * rate
    share = np.exp(logs - logs.max())
    share /= share.sum()
    expected = share @ grid
    spread = np.sqrt(share @ (grid - expected) ** 2)
    noise, drawn = Gamma(USUAL_SHAPE, USUAL_SHAPE / mean), []
    for _ in range(6_000):
        noise = draw_noise_shape(rng, noise, n_entries, squares, of_rate)
        drawn.append(np.log(noise.shape))
    assert noise.shape / noise.rate == pytest.approx(mean)
    assert np.mean(drawn[500:]) == pytest.approx(expected, abs=0.15 * spread)
    assert np.std(drawn[500:]) == pytest.approx(spread, rel=0.1)


def test_sums_of_rows_with_an_empty_one():
    assert sums_of_rows(np.array([0, 2, 2, 3]), np.array([1.0, 2.0, 4.0])).tolist() == [3.0, 0.0, 4.0]
