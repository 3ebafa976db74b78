"""One file per question, each measured beside rivals; results as JSON in benchmarks/results.

`bench_*` files make up `make bench`; `tune_*` and `ablate_*` files chose the recommended settings and run alone. Each
of them defines ``BENCHMARK`` (`benchmarks.benchmark`), whose ``--quick`` runs the same code on small data.
"""

import os

# Before numpy is imported: one core on both sides of every comparison.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")
