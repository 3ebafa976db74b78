"""What in Bayesian LBG helps? One thing changed at a time, on inner splits of training data.

Three splits: the training part of a random fold, split 90/10 once more; no test fold is seen. Every variant averages
eight chains (two seeds of each orientation and likelihood) unless its name says otherwise, and is compared with the
reference on the same split. Chains are run once and kept in a folder beside the results, so that ensembles of several
kinds of chains cost nothing more, and an interrupted run continues. Delete the folder after a change of the sampler.
"""

from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from benchmarks.bayesian_extensions import DaysAndMonths, TimeEffects
from benchmarks.bayesian_variants import (
    Cold,
    Company,
    FixedNoise,
    LearnedShape,
    LearnedWeight,
    NoAmount,
    NoProfile,
    Restarted,
    Sharpened,
    SparseShares,
    Tempered,
)
from benchmarks.benchmark import Benchmark, Part
from benchmarks.inner_splits import Family, Split
from lbg_recsys.core import levels
from lbg_recsys.core.gibbs.arrays import Gamma
from lbg_recsys.core.gibbs.kinds import Likelihood, Side
from lbg_recsys.core.gibbs.tilt import tilt
from lbg_recsys.evaluation import metrics
from lbg_recsys.files import atomic_write

SPLITS, FRESH_SPLITS = (0, 1, 2), (3, 4, 5)
KINDS = tuple(product(Side, Likelihood))
GAUSSIAN, ORDINAL = (tuple(kind for kind in KINDS if kind[1] is likelihood) for likelihood in Likelihood)

FAMILIES = {
    "reference": Family(),
    "w = 0": Family(weight=0.0),
    "w doubled": Family(weight=2.0),
    "w learned": Family(chain=LearnedWeight),
    "no profile": Family(chain=NoProfile),
    "no amount": Family(chain=NoAmount),
    "company": Family(chain=Company),
    "fixed noise": Family(chain=FixedNoise),
    "noise shape 5": Family(settings={"user_noise_shape": 5.0}),
    "noise shape 20": Family(settings={"user_noise_shape": 20.0}),
    "noise shape learned": Family(chain=LearnedShape),
    "items alike": Family(settings={"item_noise_shape": 1e6}),
    "wide": Family(settings={"spread": Gamma(0.5, 0.5)}),
    "8 components": Family(settings={"n_components": 8}),
    "24 components": Family(settings={"n_components": 24}),
    "2 classes": Family(settings={"n_components": 24, "n_classes": 2}),
    "5 classes": Family(settings={"n_classes": 5}),
    "6 classes, sparse": Family(chain=SparseShares, settings={"n_classes": 6}),
    "user cuts": Family(settings={"own_cuts": True}),
    "tempered": Family(chain=Tempered),
    "sharpened": Family(chain=Sharpened),
    "cold": Family(chain=Cold),
    "restarted": Family(chain=Restarted),
    "days": Family(chain=TimeEffects),
    "days and months": Family(chain=DaysAndMonths),
    "long": Family(sweeps=320, burn_in=60),
    "short": Family(sweeps=80, burn_in=30),
    "short, 5 classes": Family(settings={"n_classes": 5}, sweeps=80, burn_in=30),
    "full": Family(sweeps=250, burn_in=60),
    "full, 5 classes": Family(settings={"n_classes": 5}, sweeps=250, burn_in=60),
    "full, user cuts": Family(settings={"own_cuts": True}, sweeps=250, burn_in=60),
    "full, user cuts, 5 classes": Family(settings={"own_cuts": True, "n_classes": 5}, sweeps=250, burn_in=60),
}


def chains(family, seeds=(0, 1), kinds=KINDS):
    """Members of an ensemble."""
    return [(family, *kind, seed) for kind in kinds for seed in seeds]


@dataclass(frozen=True)
class Ensemble:
    """Chains whose predictions are averaged, and how."""

    members: list
    tilted: bool = True  # to the expected rating
    shaped_by_all: bool = False  # whether Gaussian chains, too, give the distribution its shape where ordinal ones do


OWN_CUTS = chains("reference", kinds=GAUSSIAN) + chains("user cuts", kinds=ORDINAL)
ALL_SEEDS = (0, 1, 10, 11)
VARIANTS = {
    "reference": Ensemble(chains("reference")),
    "reference, other seeds": Ensemble(chains("reference", (10, 11))),
    "no indicator profile phi": Ensemble(chains("no profile")),
    "no amount of ratings among the features": Ensemble(chains("no amount")),
    "how many ratings its rows have instead of its own amount": Ensemble(chains("company")),
    "no indicator evidence in classes (w = 0)": Ensemble(chains("w = 0")),
    "indicator evidence doubled": Ensemble(chains("w doubled")),
    "chains with w = 0 and with w doubled": Ensemble(chains("w = 0", (0,)) + chains("w doubled", (1,))),
    "w learned": Ensemble(chains("w learned")),
    "noise scale = mean squared residual": Ensemble(chains("fixed noise")),
    "noise of users less alike (shape 5)": Ensemble(chains("noise shape 5")),
    "noise of users more alike (shape 20)": Ensemble(chains("noise shape 20")),
    "shape of the noise learned": Ensemble(chains("noise shape learned")),
    "noise of items all alike": Ensemble(chains("items alike")),
    "prior Gamma(1/2, 1/2) on precisions": Ensemble(chains("wide")),
    "8 components": Ensemble(chains("8 components")),
    "24 components": Ensemble(chains("24 components")),
    "24 components of 2 classes": Ensemble(chains("2 classes")),
    "5 classes": Ensemble(chains("5 classes")),
    "6 classes, Dirichlet(1/6)": Ensemble(chains("6 classes, sparse")),
    "tempered burn-in": Ensemble(chains("tempered")),
    "ratings count more during the burn-in": Ensemble(chains("sharpened")),
    "ratings always count more for the classes": Ensemble(chains("cold")),
    "weakest component restarted in the burn-in": Ensemble(chains("restarted")),
    "users' own cut points": Ensemble(OWN_CUTS),
    "rating time: effect of a user's day": Ensemble(chains("days")),
    "rating time: also of an item's month": Ensemble(chains("days and months")),
    "no tilting to the expected rating": Ensemble(chains("reference"), tilted=False),
    "shape of the distribution by all chains": Ensemble(chains("reference"), shaped_by_all=True),
    "gaussian chains only (4 seeds)": Ensemble(chains("reference", ALL_SEEDS, GAUSSIAN)),
    "ordinal chains only (4 seeds)": Ensemble(chains("reference", ALL_SEEDS, ORDINAL)),
    "4 chains of 320 sweeps": Ensemble(chains("long", (0,))),
    "16 chains of 80 sweeps": Ensemble(chains("short", (0, 1, 2, 3))),
    "16 chains of 80 sweeps, 5 classes": Ensemble(chains("short, 5 classes", (0, 1, 2, 3))),
    "varied: 3 and 5 classes": Ensemble(chains("reference", (0,)) + chains("5 classes", (1,))),
    "varied: 16 x 3, 24 x 2": Ensemble(chains("reference", (0,)) + chains("2 classes", (1,))),
}

# What looked good, again: on splits and seeds that nothing was chosen by, with many and long chains.
FRESH = (20, 21, 22, 23)
CUTS_3 = chains("full, user cuts", FRESH, ORDINAL)
CUTS_5 = chains("full, user cuts, 5 classes", FRESH, ORDINAL)
GAUSSIAN_3, GAUSSIAN_5 = (chains(family, FRESH, GAUSSIAN) for family in ("full", "full, 5 classes"))
CONFIRMATION = {
    "16 chains of 250 sweeps": Ensemble(chains("full", FRESH)),
    "shape of the distribution by all chains": Ensemble(chains("full", FRESH), shaped_by_all=True),
    "users' own cut points": Ensemble(GAUSSIAN_3 + CUTS_3),
    "half of the chains with 5 classes": Ensemble(chains("full", FRESH[:2]) + chains("full, 5 classes", FRESH[2:])),
    "5 classes": Ensemble(chains("full, 5 classes", FRESH)),
    "5 classes and users' own cut points": Ensemble(GAUSSIAN_5 + CUTS_5),
    "5 classes (Gaussian), 3 classes and users' own cut points (ordinal)": Ensemble(GAUSSIAN_5 + CUTS_3),
}


class Chains:
    """Chains of one split, each run when it is asked for the first time and kept in a folder."""

    def __init__(self, folder, work, number):
        self.folder, self.work, self.number = folder, work, number
        self.split = Split(work, number)

    def __call__(self, member):
        family, side, likelihood, seed = member
        path = self.folder / f"{self.number} {family} {side.value} {likelihood.value} {seed}.npz".replace(" ", "_")
        if not path.exists():
            chosen = replace(FAMILIES[family], **self.work.size({}, {"sweeps": 6, "burn_in": 2}))
            with atomic_write(path) as stream:
                np.savez(stream, **chosen.run(self.split, side, likelihood, seed))
        with np.load(path) as found:
            return dict(found)


def measures(of_split, ensemble):
    """How good the average of some chains is, on one split."""
    split, members = of_split.split, [of_split(member) for member in ensemble.members]
    ordinal = [
        one
        for one, (_, _, likelihood, _) in zip(members, ensemble.members, strict=True)
        if likelihood is Likelihood.ORDINAL
    ]
    shaping = members if ensemble.shaped_by_all or not ordinal else ordinal
    mean = np.mean([one["mean"] for one in members], axis=0, dtype=float)
    probability = np.mean([one["probability"] for one in shaping], axis=0, dtype=float)
    if ensemble.tilted:
        tilt(probability, split.levels, mean)
    point = levels.mean(probability, split.levels)
    return {
        "rmse": metrics.rmse(split.truth, point),
        "mae": metrics.mae(split.truth, point),
        "mae_median": metrics.mae(split.truth, levels.median(probability, split.levels)),
        "log_score": metrics.log_score(np.searchsorted(split.levels, split.truth), probability),
        "one_chain_rmse": float(np.mean([metrics.rmse(split.truth, one["mean"].clip(1, 5)) for one in members])),
        "cpu_s": float(sum(one["cpu_s"] for one in members)),
    }


def ablation(part, splits, variants):
    """A part: measures of every variant on each split."""

    def measure(record, work):
        folder = record.path.parent / "chains"
        folder.mkdir(exist_ok=True)
        for number in splits[: work.size(3, 1)]:
            of_split = Chains(folder, work, number)
            for name, ensemble in variants.items():
                if work.quick:  # one chain of each kind
                    ensemble = replace(
                        ensemble, members=list({member[:3]: member for member in ensemble.members}.values())
                    )
                record.row(part, name, str(number), lambda o=of_split, e=ensemble: measures(o, e))
        record.finish(part, variants)

    return measure


BENCHMARK = Benchmark(
    name="ablation_bayesian",
    what="Bayesian LBG, one thing changed at a time: measures on each inner split",
    module="benchmarks.ablate_bayesian",
    data=("ml-100k",),
    seeds=(0, 1, 2, 3, 10, 11, *FRESH),
    parts={
        "variants": Part(ablation("variants", SPLITS, VARIANTS)),
        "confirmation": Part(ablation("confirmation", FRESH_SPLITS, CONFIRMATION)),
    },
)

if __name__ == "__main__":
    BENCHMARK.main()
