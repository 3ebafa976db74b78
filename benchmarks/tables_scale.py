"""The results of `bench_scale` as Markdown."""

from benchmarks.records import rows_of
from lbg_recsys.evaluation.report import markdown_table

WAYS = {"memory": "in memory", "disk": "from disk", "dask-1": "Dask, 1 worker", "dask-2": "Dask, 2 workers"}


def growth(found):
    """Cost and memory by way and number of ratings."""
    lines = [
        [WAYS[way], f"{row['ratings']:,}", f"{row['items']:,}", f"{row['reading_seconds']:.0f}",
         f"{row['fit_seconds']:.1f}", f"{row['nanoseconds_per_rating']:.0f}", f"{row['peak_megabytes']:,.0f}",
         f"{row['purity']:.1%}"]
        for part in ("memory", "disk", "largest")
        for way, trials in rows_of(found, part).items()
        for row in trials.values()
    ]  # fmt: skip
    head = [
        "way",
        "ratings",
        "items",
        "read and sort, s",
        "fit, s",
        "ns per rating",
        "peak MB",
        "users in a topic of their group",
    ]
    return (
        "LBG with 10 topics, 20 iterations, one thread, on ratings generated from the model with 4 groups; repeated "
        "pairs count once. Processor seconds on a machine that others used too; ns per rating and iteration.\n\n"
        + markdown_table(head, lines)
    )


def workers(found):
    """One and two workers of Dask."""
    lines = [
        [WAYS[way], f"{row['ratings']:,}", f"{row['fit_wall_seconds']:.0f}", f"{row['worker_seconds']:.0f}",
         f"{row['peak_megabytes']:,.0f}", f"{row['worker_megabytes']:,.0f}"]
        for way, trials in rows_of(found, "workers").items()
        for row in trials.values()
    ]  # fmt: skip
    if not lines:
        return ""
    head = ["way", "ratings", "fit, wall s", "CPU s of workers", "peak MB of the client", "peak MB of a worker"]
    return markdown_table(head, lines)
