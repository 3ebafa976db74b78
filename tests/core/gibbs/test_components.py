"""Draws of classes."""

import numpy as np
import pytest

from lbg_recsys.core.gibbs.components import pick


@pytest.mark.parametrize("level", [0.0, 900.0, -900.0])
def test_a_class_is_picked_by_its_share_whatever_the_level_of_the_scores(level):
    log_shares = level + np.log([0.2, 0.5, 0.3])
    picked = [pick(log_shares.copy(), u) for u in (0.0, 0.19, 0.21, 0.69, 0.71, 0.999)]
    assert picked == [0, 0, 1, 1, 2, 2]
