"""Which size, sweeps, chains and noise? Inner splits of seven data sets: what chose the defaults of Bayesian LBG.

A tenth of the training part of the first outer fold (`benchmarks.list_data`) is held out; of MovieLens-1M and Book-
Crossing only a fifth of the users take part. No data set with ratings from 1 to 100 is at hand: a copy of
MovieLens-100K has each star drawn from its fifth of that scale. The part "size" varies the factors and classes of
four chains with the default sweeps; the part "sweeps" averages different sweeps of the same four chains, each of
which keeps every fifth. The part "chains" runs `POOL` chains of each kind on two splits of the same training part,
and makes each setting of them as often as they suffice: one, two or all chains of each kind, of the first sweeps or
all. The part "noise" varies the shapes of the noise of the Gaussian chains beside the same ordinal ones, on the same
splits.
"""

import time

import numpy as np

from benchmarks import list_data
from benchmarks.benchmark import Benchmark, Part
from benchmarks.records import means
from lbg_recsys.core import levels as over_levels
from lbg_recsys.core.gibbs.chain import Chain, ChainSettings
from lbg_recsys.core.gibbs.draws import Draws
from lbg_recsys.core.gibbs.keep import keep
from lbg_recsys.core.gibbs.kinds import Likelihood, Side
from lbg_recsys.core.gibbs.predict_pairs import predict
from lbg_recsys.core.gibbs.tilt import tilt
from lbg_recsys.evaluation import metrics
from lbg_recsys.ratings import BayesianLBGModel, RatingMatrix
from lbg_recsys.ratings.bayesian.size import factors_for, noise_of
from lbg_recsys.ratings.bayesian.standardise import INDICATOR_WEIGHT, Standard
from lbg_recsys.ratings.bayesian.training import entries_of

NAMES = ("filmtrust", "insteval", "ml-100k", "ciao", "book-crossing", "ml-1m")
CHAINS_OF = ("insteval", "filmtrust", "ciao", "ml-100k")
OF_A_FIFTH = ("ml-1m", "book-crossing")
HUNDRED = "ml-100k of 1..100"
SWEEPS, BURN_IN, EVERY = 300, 100, 5
SPLITS, POOL = 2, 4
# Chains of each kind (orientation and likelihood), sweeps of each, and how much more rarely than every fifth a sweep
# is kept, so that the chains of a kind keep no more sweeps than one chain would; None keeps every fifth.
CHAINS = {
    "1 x 300": (1, 300, None),
    **{
        f"{n} x {sweeps}": (n, sweeps, None)
        for n, sweeps in ((2, 150), (2, 200), (2, 300), (4, 100), (4, 200), (4, 300))
    },
    **{f"{n} x {sweeps}, no more kept": (n, sweeps, n) for n, sweeps in ((2, 200), (2, 300), (4, 200), (4, 300))},
}
# Shapes of the noise of Gaussian chains, and seeds of each.
SHAPES, SHAPE_SEEDS = (10.0, 30.0, 100.0, 1000.0), 2
WINDOWS = ((20, 60), (30, 120), (60, 250), (100, 250), (100, 300), (150, 300), (100, 400), (100, 500))


class Split:
    """A training part, and the held-out ratings of users and items that it knows."""

    def __init__(self, work, name, number=0):
        train, _ = list_data.fold(work, "ml-100k" if name == HUNDRED else name, 0)
        if name == HUNDRED:
            within = np.random.default_rng(0).integers(1, 21, len(train))
            train = train.assign(rating=20 * (train.rating.astype(int) - 1) + within)
        if name in OF_A_FIFTH and not work.quick:
            train = train[train.user % 5 == 0]
        train = train.sample(frac=1.0, random_state=number, ignore_index=True)
        test, train = train.iloc[: len(train) // 10], train.iloc[len(train) // 10 :]
        self.matrix = RatingMatrix.from_arrays(train.user, train.item, train.rating)
        users, items = self.matrix.users.codes(test.user), self.matrix.items.codes(test.item)
        known = (users >= 0) & (items >= 0)
        self.users, self.items = users[known], items[known]
        self.test = test[known]
        self.truth = self.test.rating.to_numpy(float)
        self.standard, self.levels = Standard.of(self.matrix), self.matrix.scale.levels
        self.ratings_per_user = len(self.matrix.values) / self.matrix.n_users
        self.ratings_per_id = len(self.matrix.values) / (self.matrix.n_users + self.matrix.n_items)

    def run(self, n_sweeps, n_factors, n_components=4, n_classes=3, first_seed=0, kinds=tuple(Likelihood), **noise):
        """Predictions of every fifth sweep of four chains: (sweep, likelihood, level distributions, means).

        ``kinds`` are the likelihoods of chains that are run, ``noise`` has settings in place of the usual ones.
        """
        found, started, evaluating = [], time.process_time(), 0.0
        for number, (side, likelihood) in enumerate(
            ((side, kind) for side in Side for kind in Likelihood), first_seed
        ):
            if likelihood not in kinds:
                continue
            ratings, level = entries_of(self.matrix, self.standard, side)
            settings = ChainSettings(
                n_components,
                n_classes,
                n_factors,
                likelihood=likelihood,
                side=side,
                indicator_weight=INDICATOR_WEIGHT[side],
                **(noise_of(likelihood, Likelihood, self.ratings_per_user) | noise),
            )
            chain = Chain(ratings, level, self.standard.middles, settings, np.random.SeedSequence(number))
            cuts = chain.cuts.copy()
            for sweep in range(1, n_sweeps + 1):
                chain.sweep()
                if sweep % EVERY == 0:
                    then = time.process_time()
                    if not settings.ordinal:
                        chain.match_cuts(cuts, 1, len(cuts) - 1)
                    draws = Draws.joined([keep(chain, chain.cuts if settings.ordinal else cuts)])
                    said = predict(draws, self.users, self.items, side, self.standard.levels)
                    found.append((sweep, likelihood, *(one.astype(np.float32) for one in said)))
                    evaluating += time.process_time() - then
        return found, time.process_time() - started - evaluating

    def evaluate(self, found, first, last, every=EVERY):
        """The measures of the average over every ``every``-th sweep after ``first`` and up to ``last``."""
        kept = [one for one in found if first < one[0] <= last and one[0] % every == 0]
        shapes = [shape for _, kind, shape, _ in kept if kind is Likelihood.ORDINAL]
        probability = np.mean(shapes, axis=0, dtype=np.float64)
        mean = np.mean([mean for *_, mean in kept], axis=0, dtype=np.float64)
        tilt(probability, self.levels, self.standard.raw(mean))
        return self.measures(probability)

    def measures(self, probability):
        """How good the probabilities of the levels are."""
        level = self.matrix.scale.nearest(self.truth)
        return {
            "rmse": metrics.rmse(self.truth, over_levels.mean(probability, self.levels)),
            "mae_median": metrics.mae(self.truth, over_levels.median(probability, self.levels)),
            "log_score": metrics.log_score(level, probability),
        }


def size(record, work):
    """Factors and classes."""
    n_sweeps, burn_in = work.size((SWEEPS, BURN_IN), (15, 5))
    names = []
    for name in (*NAMES, HUNDRED):
        split = Split(work, name)
        trials = {f"4 x 3, {factors}": (factors, 4, 3) for factors in (8, 16, 24, 40)} | {"16 x 3, 0": (0, 16, 3)}

        def measure(size, split=split, name=name):
            if name == HUNDRED:  # too many levels for ordinal chains
                sizes = dict(zip(("n_factors", "n_components", "n_classes"), size, strict=True))
                model = BayesianLBGModel(n_sweeps=n_sweeps, burn_in=burn_in, random_state=0, **sizes).fit(
                    split.matrix
                )
                return split.measures(model.predict_distribution(split.test))
            found, spent = split.run(n_sweeps, *size)
            return split.evaluate(found, burn_in, n_sweeps) | {"fit_s": spent}

        for trial, given in trials.items():
            record.row("size", trial, name, lambda given=given, measure=measure: measure(given))
            names.append(trial)
    record.finish("size", dict.fromkeys(names))


def sweeps(record, work):
    """Which sweeps."""
    windows = work.size(WINDOWS, ((5, 10), (5, 15)))
    for name in NAMES:
        split, found = Split(work, name), []
        for first, last in windows:

            def measure(first=first, last=last, split=split, found=found):
                if not found:  # the same chains for all windows
                    found += split.run(windows[-1][1], factors_for(split.ratings_per_id))[0]
                return split.evaluate(found, first, last)

            record.row("sweeps", f"{first} to {last}", name, measure)
    record.finish("sweeps", [f"{first} to {last}" for first, last in windows])


def chains(record, work):
    """How many chains, and how long."""
    settings = work.size(
        CHAINS, {"1 x 15": (1, 15, None), "2 x 10": (2, 10, None), "2 x 10, no more kept": (2, 10, 1)}
    )
    pool, longest = work.size(POOL, 2), max(sweeps for _, sweeps, _ in settings.values())
    for name in CHAINS_OF:
        for number in range(SPLITS):
            split, runs = Split(work, name, number), []

            def measure(n, sweeps, thinning, split=split, runs=runs):
                if not runs:  # the same chains for all settings
                    factors = factors_for(split.ratings_per_id)
                    runs += [split.run(longest, factors, first_seed=4 * k) for k in range(pool)]
                groups = [runs[first : first + n] for first in range(0, pool, n)]
                burn_in, every = sweeps // 3, EVERY * (thinning or 1)
                each = [
                    split.evaluate([one for found, _ in group for one in found], burn_in, sweeps, every)
                    for group in groups
                ]
                # a sweep costs the same whenever it is made
                return means(each) | {"fit_s": n * sweeps / longest * np.mean([spent for _, spent in runs])}

            for setting, given in settings.items():
                record.row(
                    "chains", setting, f"{name} {number}", lambda given=given, measure=measure: measure(*given)
                )
    record.finish("chains", settings)


def noise(record, work):
    """How alike users, and items, are in the noise of Gaussian chains."""
    shapes, seeds = work.size((SHAPES, SHAPE_SEEDS), (SHAPES[:2], 1))
    n_sweeps, burn_in = work.size((SWEEPS, BURN_IN), (15, 5))
    for name in CHAINS_OF:
        for number in range(SPLITS):
            split, ordinal = Split(work, name, number), []

            def measure(shape, split=split, ordinal=ordinal):
                factors = factors_for(split.ratings_per_id)

                def run(kind, **given):
                    chains = [
                        split.run(n_sweeps, factors, first_seed=4 * k, kinds=[kind], **given) for k in range(seeds)
                    ]
                    return [found for found, _ in chains]

                if not ordinal:  # the same for all shapes
                    ordinal.extend(run(Likelihood.ORDINAL))
                gaussian = run(Likelihood.GAUSSIAN, user_noise_shape=shape, item_noise_shape=shape)
                pairs = zip(ordinal, gaussian, strict=True)
                return means(split.evaluate(one + other, burn_in, n_sweeps) for one, other in pairs)

            for shape in shapes:
                record.row(
                    "noise", f"{shape:g}", f"{name} {number}", lambda shape=shape, measure=measure: measure(shape)
                )
    record.finish("noise", [f"{shape:g}" for shape in shapes])


BENCHMARK = Benchmark(
    name="tune_size",
    what="Size, sweeps, chains and noise of Bayesian LBG on inner splits",
    module="benchmarks.tune_size",
    data=("ml-100k",),
    seeds=(0, 1),
    parts={"size": Part(size), "sweeps": Part(sweeps), "chains": Part(chains), "noise": Part(noise)},
)

if __name__ == "__main__":
    BENCHMARK.main()
