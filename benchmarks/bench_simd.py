"""What are loops that are written with LLVM's vectors worth? Sweeps with them, and with their twins in plain numba.

MovieLens-100K in full, CPU seconds of one sweep, the least of several taken in turn. The part "sweeps" has the sums
of `lbg_recsys.core.gibbs.simd`, in a chain of 16 components of 3 classes without factors; both chains have the same
seed and, as the sums have the same bits, the same draws. The part "factors" has the loops of
`lbg_recsys.core.gibbs.vectors`, in the draws of the factors alone.
"""

from unittest import mock

import numpy as np

from benchmarks.bayesian_variants import recompiled
from benchmarks.benchmark import Benchmark, Part
from benchmarks.common import best_seconds
from lbg_recsys.core.gibbs import chain as gibbs
from lbg_recsys.core.gibbs import factors as gibbs_factors
from lbg_recsys.core.gibbs.chain import Chain, ChainSettings
from lbg_recsys.core.gibbs.components import draw_class, sweep_components
from lbg_recsys.core.gibbs.factors import factorise, factorise_rows, fill_squares, solve, solve_rows
from lbg_recsys.core.gibbs.kinds import Likelihood, Side
from lbg_recsys.core.gibbs.simd import sum_blocks_plain
from lbg_recsys.core.gibbs.vectors import add_line_plain, add_squares_plain, subtract_products_plain
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


plain_rows = recompiled(
    factorise_rows,
    fill_squares=recompiled(fill_squares, add_squares=add_squares_plain),
    add_line=add_line_plain,
    factorise=recompiled(factorise, subtract_products=subtract_products_plain),
)
plain_factors = recompiled(
    solve_rows, factorise_rows=plain_rows, solve=recompiled(solve, subtract_products=subtract_products_plain)
)


def plain_sweep_factors(chain):
    """One sweep of the factors in plain numba."""
    with mock.patch.object(gibbs_factors, "solve_rows", plain_factors):
        chain.sweep_factors()


def factors(record, work):
    """One sweep of the factors, by their number."""
    ratings = work.ratings
    matrix = RatingMatrix.from_arrays(ratings.user, ratings.item, ratings.rating, scale=(1, 5))
    standard = Standard.of(matrix)

    def measure(n_factors):
        entries, level = entries_of(matrix, standard, Side.USERS)
        settings = ChainSettings(n_factors=n_factors)
        ours, twin = (Chain(entries, level, standard.middles, settings, np.random.SeedSequence(0)) for _ in range(2))
        ours.sweep_factors()
        plain_sweep_factors(twin)
        apart = np.abs(ours.row_factors.value - twin.row_factors.value).max()
        if apart > 1e-3:
            raise AssertionError(f"both chains have the same seed, and their factors differ by {apart}")
        vectors, plain = best_seconds(ours.sweep_factors, lambda: plain_sweep_factors(twin), repeats=work.size(20, 2))
        return {"vector_seconds": vectors, "plain_seconds": plain, "plain_over_vector": plain / max(vectors, 1e-9)}

    names = {f"{n_factors} factors": n_factors for n_factors in (8, 24, 40)}
    for name, n_factors in names.items():
        record.row("factors", name, "", lambda n_factors=n_factors: measure(n_factors))
    record.finish("factors", names)


BENCHMARK = Benchmark(
    name="simd",
    what="Vector sums by hand and in plain numba",
    module="benchmarks.bench_simd",
    data=("ml-100k",),
    seeds=(0,),
    parts={"sweeps": Part(sweeps, timed=True), "factors": Part(factors, timed=True)},
)

if __name__ == "__main__":
    BENCHMARK.main()
