"""What are the hand-written vector sums of `lbg_recsys.core.gibbs.simd` worth? A sweep with them and with their twin.

MovieLens-100K in full, 16 components of 3 classes, CPU seconds of one sweep, the least of several taken in turn. Both
chains have the same seed and, as the sums have the same bits, the same draws.
"""

from unittest import mock

import numpy as np

from benchmarks.bayesian_variants import recompiled
from benchmarks.benchmark import Benchmark, Part
from benchmarks.common import best_seconds
from lbg_recsys.core.gibbs import chain as gibbs
from lbg_recsys.core.gibbs.chain import Chain, ChainSettings
from lbg_recsys.core.gibbs.components import draw_class, sweep_components
from lbg_recsys.core.gibbs.kinds import Likelihood, Side
from lbg_recsys.core.gibbs.simd import sum_blocks_plain
from lbg_recsys.ratings import RatingMatrix
from lbg_recsys.ratings.bayesian.standardise import INDICATOR_WEIGHT, Standard
from lbg_recsys.ratings.bayesian.training import entries_of

WARM_UP = 12  # sweeps before the clock starts: from the tenth on, cut points move

plain_components = recompiled(sweep_components, draw_class=recompiled(draw_class, sum_blocks=sum_blocks_plain))


def plain_sweep(chain):
    """One sweep with sums in plain numba."""
    with mock.patch.object(gibbs, "sweep_components", plain_components):
        chain.sweep()


def sweeps(record, work):
    """One sweep of every kind of chain."""
    ratings = work.ratings
    matrix = RatingMatrix.from_arrays(ratings.user, ratings.item, ratings.rating, scale=(1, 5))
    standard = Standard.of(matrix)

    def measure(side, likelihood):
        entries, level = entries_of(matrix, standard, side)
        settings = ChainSettings(likelihood=likelihood, side=side, indicator_weight=INDICATOR_WEIGHT[side])
        ours, twin = (Chain(entries, level, standard.middles, settings, np.random.SeedSequence(0)) for _ in range(2))
        for _ in range(WARM_UP):
            ours.sweep()
            plain_sweep(twin)
        vectors, plain = best_seconds(ours.sweep, lambda: plain_sweep(twin), repeats=work.size(40, 2))
        if not (ours.z == twin.z).all():
            raise AssertionError("both chains have the same seed, and their classes differ")
        return {"vector_seconds": vectors, "plain_seconds": plain, "plain_over_vector": plain / max(vectors, 1e-9)}

    names = {f"{side.value} as rows, {kind.value}": (side, kind) for side in Side for kind in Likelihood}
    for name, (side, kind) in names.items():
        record.row("sweeps", name, "", lambda side=side, kind=kind: measure(side, kind))
    record.finish("sweeps", names)


BENCHMARK = Benchmark(
    name="simd",
    what="Vector sums by hand and in plain numba",
    module="benchmarks.bench_simd",
    data=("ml-100k",),
    seeds=(0,),
    parts={"sweeps": Part(sweeps, timed=True)},
)

if __name__ == "__main__":
    BENCHMARK.main()
