"""What in Bayesian LBG helps? One thing changed at a time, on an inner split of training data.

The training part of the first random fold is split 90/10 once more; no test fold is seen. Every variant runs eight
chains (two seeds of each orientation and likelihood); one variant repeats the reference with other seeds, to show how
much of a difference is chance.

    python -m benchmarks.ablate_bayesian
"""

import json
import time
from dataclasses import replace
from itertools import product
from unittest import mock

import numpy as np

from benchmarks.common import RESULTS, movielens_checksum, random_folds
from lbg_recsys.core import gibbs, predictive
from lbg_recsys.core.draws import Draws, predict, tilt
from lbg_recsys.core.ensemble import Run
from lbg_recsys.core.gibbs import Chain, ChainSettings
from lbg_recsys.evaluation import metrics
from lbg_recsys.evaluation.report import markdown_table, record, write_json
from lbg_recsys.ratings import RatingMatrix
from lbg_recsys.ratings.bayesian import INDICATOR_WEIGHT, entries_of
from lbg_recsys.ratings.bayesian_users import Standard

OUTPUT = RESULTS / "ablation_bayesian.json"
SWEEPS, BURN_IN, KEPT = 160, 50, 64
MEASURES = ("rmse", "mae_mean", "mae_median", "log_score", "one_chain_rmse", "cpu_s")


def inner_split(seed=0):
    """(train matrix, test table) out of the training part of random fold 0."""
    table = random_folds()[0][0].sample(frac=1.0, random_state=seed, ignore_index=True)
    test, train = table.iloc[: len(table) // 10], table.iloc[len(table) // 10 :]
    return RatingMatrix.from_arrays(train.user, train.item, train.rating, scale=(1, 5)), test


class FixedNoise(Chain):
    """The noise's scale is the current mean squared residual instead of a parameter with a prior."""

    def sweep_effects(self):
        super().sweep_effects()
        self.noise_rate = self.settings.user_noise_shape * self.training_error() ** 2


class NoProfile(Chain):
    """Class means and biases know nothing of who rated what."""

    def __init__(self, *args):
        super().__init__(*args)
        blocks = self.settings.n_components * self.settings.n_classes
        self.phi[:, :blocks] = 0.0
        self.gram[:blocks] = self.gram[:, :blocks] = 0.0
        self.settings = replace(self.settings, follow_profiles=False)


def only_constant(n_col, among):
    """No amount of ratings among the features: two constants."""
    return np.ones((len(n_col), 2)) * np.array([1.0, 0.0])


VARIANTS = {
    "reference": {},
    "reference, other seeds": {"seeds": (10, 11)},
    "no tilting to the expected rating": {"tilted": False},
    "Gaussian levels cut half-way (not matched to counts)": {"matched": False},
    "no indicator evidence in classes (w = 0)": {"weight": 0.0},
    "indicator evidence times three": {"weight": 3.0},
    "no indicator profile phi": {"chain": NoProfile},
    "no amount of ratings among the features": {"features": only_constant},
    "noise scale = mean squared residual": {"chain": FixedNoise},
    "noise of items all alike": {"settings": {"item_noise_shape": 1e6}},
    "prior Gamma(1/2, 1/2) on precisions": {"settings": {"spread": (0.5, 0.5)}},
    "8 components": {"settings": {"n_components": 8}},
    "5 classes": {"settings": {"n_classes": 5}},
    "gaussian chains only (4 seeds)": {"likelihoods": (False,), "seeds": (0, 1, 2, 3)},
    "ordinal chains only (4 seeds)": {"likelihoods": (True,), "seeds": (0, 1, 2, 3)},
}


def run_variant(
    matrix,
    test,
    *,
    seeds=(0, 1),
    likelihoods=(False, True),
    chain=Chain,
    features=gibbs.column_features,
    settings=None,
    weight=1.0,
    matched=True,
    tilted=True,
):
    """The measures of one variant."""
    standard, levels = Standard.of(matrix), matrix.scale.levels
    users, items = matrix.users.codes(test.user), matrix.items.codes(test.item)
    truth = test.rating.to_numpy(float)
    started, singles = time.process_time(), []
    probability, mean, count = 0.0, 0.0, 0
    for user_rows, ordinal, seed in product((True, False), likelihoods, seeds):
        with mock.patch.object(gibbs, "column_features", features):
            one = chain(
                entries_of(matrix, standard, user_rows),
                standard.middles,
                ChainSettings(
                    ordinal=ordinal,
                    user_rows=user_rows,
                    indicator_weight=weight * INDICATOR_WEIGHT[user_rows],
                    **settings or {},
                ),
                np.random.SeedSequence([seed, user_rows, ordinal]),
            )
        nothing = np.zeros(1, np.int64)
        run = Run(one, nothing, nothing, KEPT, -(-(SWEEPS - BURN_IN) // KEPT), matched)
        for sweep in range(SWEEPS):
            run.step(sweep >= BURN_IN)
        draws = Draws.joined(run.kept)
        some, expected = predict(draws, *((users, items) if user_rows else (items, users)), standard.levels)
        singles.append(metrics.rmse(truth, standard.raw(expected / len(draws)).clip(1, 5)))
        probability, mean, count = probability + some, mean + expected, count + len(draws)
    probability = probability / count
    if tilted:
        tilt(probability, levels, standard.raw(mean / count))
    return {
        "rmse": metrics.rmse(truth, predictive.mean(probability, levels)),
        "mae_mean": metrics.mae(truth, predictive.mean(probability, levels)),
        "mae_median": metrics.mae(truth, predictive.median(probability, levels)),
        "log_score": metrics.log_score(np.searchsorted(levels, truth), probability),
        "one_chain_rmse": float(np.mean(singles)),
        "cpu_s": time.process_time() - started,
    }


def main():
    """Run what is missing."""
    results = json.loads(OUTPUT.read_text())["results"]["variants"] if OUTPUT.exists() else {}
    matrix, test = inner_split()
    for name, change in VARIANTS.items():
        if name in results:
            continue
        results[name] = run_variant(matrix, test, **change)
        print(name, results[name], flush=True)
        table = markdown_table(["variant", *MEASURES], [[name, *row.values()] for name, row in results.items()])
        write_json(
            OUTPUT,
            record(
                f"one thing changed at a time, {SWEEPS} sweeps of which {BURN_IN} burn-in, inner split",
                "python -m benchmarks.ablate_bayesian",
                {"variants": results, "table": table.splitlines()},
                data=movielens_checksum(),
                seeds=[0, 1, 2, 3, 10, 11],
            ),
        )
    print(table)


if __name__ == "__main__":
    main()
