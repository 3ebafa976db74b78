"""The results of `bench_serve` as Markdown."""

from benchmarks.names import shown
from benchmarks.records import rows_of
from lbg_recsys.evaluation.report import markdown_table


def speed(found):
    """Requests per second, latencies and CPU time by server, kind of user and number of clients."""
    lines = [
        [shown(name), trial, f"{row['per_second']:.0f}", *(f"{row[at]:.0f}" for at in ("p50", "p95", "p99")),
         f"{row['cpu_ms']:.1f}", row["wrong"] + row["failed"]]
        for name, trials in rows_of(found, "speed").items()
        for trial, row in trials.items()
    ]  # fmt: skip
    if not lines:
        return ""
    head = ["server", "requests", "per second", "p50 ms", "p95 ms", "p99 ms", "CPU ms", "wrong or failed"]
    return (
        "The requests are for lists of ten items of MovieLens-100K over loopback, by the default Bayesian model with "
        "choice. Clients, server and other work shared two cores, so the CPU time of the server per request is the "
        "steadier figure. Every answer of ours was compared with that of the library, to the last bit.\n\n"
        + markdown_table(head, lines)
    )


def endurance(found):
    """What a long load does to memory, and a killed worker to requests."""
    sentences = []
    for row in (trials[""] for trials in rows_of(found, "memory").values()):
        sentences.append(
            f"Memory of one worker: {row['megabytes_after_a_tenth']:.0f} MB after a tenth of "
            f"{row['requests']:,} requests, {row['megabytes_at_the_end']:.0f} MB after all of them "
            f"({row['failed']} failed)."
        )
    for row in (trials[""] for trials in rows_of(found, "killed").values()):
        sentences.append(
            f"After kill -9 of one of two workers with {row['clients']} clients asking, {row['failed']} of "
            f"{row['requests'] + row['failed']:,} requests failed, {row['wrong']} answers were wrong, and the worker "
            f"was replaced within {row['seconds_until_replaced']:.1f} s."
        )
    return " ".join(sentences)
