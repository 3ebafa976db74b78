"""What the benchmarks share: where results go, which data they were made on."""

from pathlib import Path

from lbg_recsys.datasets import dataset_info

RESULTS = Path(__file__).parent / "results"


def movielens_checksum() -> dict[str, str]:
    """The SHA-256 of the ratings file, as every result states it."""
    main = dataset_info("ml-100k").main
    return {main.name: main.sha256}
