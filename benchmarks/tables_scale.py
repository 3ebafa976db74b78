"""The results of `bench_scale` as Markdown."""

import numpy as np

from benchmarks.records import complete_rows, rows_of
from benchmarks.scale_rivals import RIVALS
from lbg_recsys.evaluation.report import markdown_table

WAYS = {
    "memory": "LBG in memory",
    "disk": "LBG from disk",
    "dask-1": "1 worker",
    "dask-2": "2 workers",
    "chains-1": "1 worker",
    "chains-2": "2 workers",
    "implicit": "implicit ALS",
    "myfm": "myFM regression",
    "scikit-surprise": "Surprise SVD",
    "bayesian": "Bayesian LBG",
}
# Cores that other processes may have used, where times of several processes are shown.
IDLE = 0.15
HEAD = ["ratings", "items", "read and sort, s", "fit, s", "ns per rating", "peak MB"]


def _cost(row):
    """The columns of `HEAD`."""
    return [
        f"{row['ratings']:,}", f"{row['items']:,}", f"{row['reading_seconds']:.0f}", f"{row['fit_seconds']:.1f}",
        f"{row['nanoseconds_per_rating']:.0f}", f"{row['peak_megabytes']:,.0f}",
    ]  # fmt: skip


def _rows(found, *parts):
    """(way, trial, row) of some parts."""
    return [
        (way, trial, row)
        for part in parts
        for way, trials in rows_of(found, part).items()
        for trial, row in trials.items()
    ]


def growth(found):
    """Cost and memory by way and number of ratings."""
    rows = _rows(found, "memory", "disk", "largest")
    lines = [[WAYS[way], *_cost(row), f"{row['purity']:.1%}"] for way, _, row in rows]
    text = (
        "The table has LBG with 10 topics, 20 iterations and one thread, on ratings generated from the model with 4 "
        "groups; repeated pairs count once. Times are CPU seconds on a machine with other work, and ns per rating "
        "and iteration; memory is that of the whole process.\n\n"
        + markdown_table(["model", *HEAD, "users in a topic of their group"], lines)
    )
    costs = [row["nanoseconds_per_rating"] for way, _, row in rows if way == "disk" and row["ratings"] > 5e5]
    if len(costs) > 1:
        ratio = max(costs) / min(costs)
        text += f"\n\nFrom 10^6 ratings on, the cost per rating from disk varies by a factor of {ratio:.2f}."
    return text


def groups(found):
    """Whether the planted groups are found."""
    rows = _rows(found, "groups")
    if not rows:
        return "Not measured yet."
    lines = [
        [
            f"{row['ratings']:,}",
            f"{row['adjusted_rand']:.4f}",
            f"{row['purity']:.2%}",
            f"{row['fit_seconds']:.0f}",
        ]
        for _, _, row in rows
    ]
    head = ["ratings", "adjusted Rand index", "users in a topic of their group", "fit, s"]
    return markdown_table(head, lines)


def rivals(found):
    """Other libraries with as many factors and iterations, beside LBG in memory."""
    lines = []
    if not any(way in RIVALS for way, _, _ in _rows(found, "rivals", "real")):
        return ""
    for way, trial, row in _rows(found, "rivals", "real"):
        if way == "disk":
            continue
        data = "MovieLens-1M" if trial == "ml-1m" else f"generated, {int(trial):,}"
        if "stopped_after_seconds" in row:
            lines.append([data, WAYS[way], "", "", "", f"stopped after {row['stopped_after_seconds']}", "", ""])
        else:
            lines.append([data, WAYS[way], *_cost(row)])
    lines += [[f"generated, {int(trial):,}", WAYS[way], *_cost(row)] for way, trial, row in _rows(found, "memory")]
    lines.sort(key=lambda line: (line[0] == "MovieLens-1M", len(line[0]), line[0]))
    return (
        "All models have 10 topics or factors, 20 iterations and one thread; this package reads the ratings for all "
        "of them.\n\n" + markdown_table(["data", "model", *HEAD], lines)
    )


def workers(found):
    """One and two workers of Dask with the blocks of LBG."""
    return _pairs(found, "workers")


def chains(found):
    """One and two workers of Dask with two chains of Bayesian LBG."""
    return _pairs(found, "chains")


def _pairs(found, part):
    """Medians of pairs of runs with one worker and with two; times only of a machine that was idle otherwise."""
    pairs = {way: list(trials.values()) for way, trials in complete_rows(found, part).items()}
    if not pairs:
        return "Not measured yet."
    idle = all(row.get("cores_of_others", IDLE) < IDLE for rows in pairs.values() for row in rows)
    lines = []
    for way, rows in pairs.items():
        middle = {
            name: np.median([row[name] for row in rows], axis=0) for name, one in rows[0].items() if one is not None
        }
        lines.append(
            [WAYS[way], f"{middle['ratings']:,.0f}", *([f"{middle['fit_wall_seconds']:.1f}"] if idle else []),
             _joined(middle["worker_seconds"]), f"{middle['network_megabytes']:.0f}",
             f"{middle['peak_megabytes']:,.0f}", _joined(middle["worker_megabytes"])]
        )  # fmt: skip
    per = "iteration" if part == "workers" else "sweep"
    head = ["Dask", "ratings", *(["fit, s"] if idle else []), "CPU s of each worker", f"MB sent per {per}"]
    text = markdown_table([*head, "peak MB of the client", "peak MB of each worker"], lines)
    if not idle:
        return text + "\n\nThe machine was busy: how much faster two workers are was not measured."
    if len(pairs) == 2:
        ratios = [one["fit_wall_seconds"] / two["fit_wall_seconds"] for one, two in zip(*pairs.values(), strict=True)]
        text += f"\n\nTwo workers are {np.median(ratios):.2f} times as fast as one"
        text += (
            f" (median of {len(ratios)} pairs of runs, {min(ratios):.2f} to {max(ratios):.2f})."
            if len(ratios) > 1
            else "."
        )
    return text


def _joined(numbers):
    return " and ".join(f"{number:,.0f}" for number in numbers)


def bayesian(found):
    """A chain of Bayesian LBG."""
    rows = _rows(found, "bayesian")
    if not rows:
        return "One chain of Bayesian LBG with 10^7 ratings was not measured yet."
    lines = [[WAYS[way], *_cost(row), f"{row['factors']}"] for way, _, row in rows]
    return (
        "One chain of 100 sweeps with users as rows and a Gaussian likelihood, 16 of them kept; ns per rating and "
        "sweep.\n\n" + markdown_table(["model", *HEAD, "factors"], lines)
    )
