"""One file a question, each measured beside rivals in one run; results as JSON in benchmarks/results."""

import os

# Before numpy is imported: one core on both sides of every comparison.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")
