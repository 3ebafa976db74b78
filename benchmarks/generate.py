"""Ratings of any size from the model itself, streamed to Parquet.

    python -m benchmarks.generate FOLDER --ratings 1e8

Users belong to planted groups. How active users are and how popular items are is long-tailed; a group has its own
popularity of each item, and its own mean rating of it. Ratings come in random order, as in a log: a user's ratings
are spread over all files. A pair that is drawn twice is a duplicate, of which the last counts.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

N_GROUPS = 4
RATINGS_PER_USER = 100
# Ratings drawn at a time, and per file.
_BATCH, _FILE = 1 << 20, 1 << 24
# The spread of the logarithms of activity, popularity, and of a group's own popularity around it.
_ACTIVITY, _POPULARITY, _TILT = 0.8, 0.8, 1.2
# The spread of the means of items, of groups around them, and of ratings around those.
_ITEM, _GROUP, _NOISE = 0.5, 0.7, 0.9


@dataclass(frozen=True)
class Truth:
    """What the ratings are drawn from: ``group`` of each user, ``mean`` (groups, items), cumulative shares."""

    group: np.ndarray
    mean: np.ndarray
    activity: np.ndarray
    popularity: np.ndarray

    @classmethod
    def of_size(cls, n_ratings: int, seed: int) -> "Truth":
        """About 100 ratings per user, and 8 sqrt(n) items."""
        rng = np.random.default_rng(seed)
        n_users, n_items = max(n_ratings // RATINGS_PER_USER, N_GROUPS), int(8 * np.sqrt(n_ratings))
        activity = rng.lognormal(0.0, _ACTIVITY, n_users)
        common = rng.normal(0.0, _POPULARITY, n_items)
        popularity = np.exp(common + rng.normal(0.0, _TILT, (N_GROUPS, n_items)))
        mean = 3.5 + rng.normal(0.0, _ITEM, n_items) + rng.normal(0.0, _GROUP, (N_GROUPS, n_items))
        return cls(rng.integers(N_GROUPS, size=n_users), mean, _shares(activity), _shares(popularity))

    def draw(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Users, items and ratings 1..5."""
        users = np.searchsorted(self.activity, rng.random(n)).astype(np.int32)
        group = self.group[users]
        items, chance = np.empty(n, np.int32), rng.random(n)
        for number, shares in enumerate(self.popularity):
            of_group = group == number
            items[of_group] = np.searchsorted(shares, chance[of_group])
        ratings = self.mean[group, items] + rng.normal(0.0, _NOISE, n)
        return users, items, np.clip(np.rint(ratings), 1, 5).astype(np.float32)


def _shares(weights: np.ndarray) -> np.ndarray:
    total = np.cumsum(weights, axis=-1)
    return total / total[..., -1:]


def generate(folder: Path, n_ratings: int, seed: int = 0) -> Truth:
    """Write ``n_ratings`` ratings to Parquet files in a folder; memory holds a batch of them."""
    truth = Truth.of_size(n_ratings, seed)
    rng = np.random.default_rng([seed, 1])
    folder.mkdir(parents=True, exist_ok=True)
    schema = pa.schema([("user", pa.int32()), ("item", pa.int32()), ("rating", pa.float32())])
    for number, first in enumerate(range(0, n_ratings, _FILE)):
        with pq.ParquetWriter(folder / f"part-{number:04d}.parquet", schema, compression="zstd") as file:
            for begin in range(first, min(first + _FILE, n_ratings), _BATCH):
                drawn = truth.draw(min(_BATCH, n_ratings - begin, first + _FILE - begin), rng)
                file.write_table(pa.table(dict(zip(schema.names, drawn, strict=True)), schema=schema))
    return truth


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--ratings", type=lambda text: int(float(text)), default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    generate(options.folder, options.ratings, options.seed)


if __name__ == "__main__":
    main()
