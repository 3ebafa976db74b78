"""Write the sample data set, drawn from the ratings model itself; the same bytes on every machine.

    python datasets/generate_sample.py          # writes the files, says whether their checksums are the known ones

The recipe is the generative reading of the model: draw a topic per user (lambda), toss a coin per film
to see whether the user rated it (p), draw the rating from the topic's Gaussian for that film (c, sigma^2),
round it to a whole star. Every title is invented.
"""

import hashlib
import sys
from pathlib import Path
from random import Random
from statistics import NormalDist

ROOT = Path(__file__).resolve().parent
TARGET = ROOT.parent / "lbg_recsys" / "datasets" / "sample"
SEED = 20090101
N_USERS = 200

# topic: six openings and five endings make thirty titles
TOPICS = {
    "space": (
        ("Crimson", "Silent", "Eleventh", "Borrowed", "Outer", "Glass"),
        ("Orbit", "Moon Station", "Comet", "Airlock", "Starship"),
    ),
    "romance": (
        ("Letters from", "A Summer in", "The Baker of", "Two Umbrellas in", "Waltz of", "Midnight in"),
        ("Lindenau", "Port Amarel", "Willow Lane", "Old Castrella", "Saint Berrin"),
    ),
    "crime": (
        ("The Forger's", "A Judge's", "The Locksmith's", "Nobody's", "The Widow's", "An Informer's"),
        ("Alibi", "Ledger", "Silence", "Last Train", "Witness"),
    ),
    "animation": (
        ("Pip the", "Captain", "The Clumsy", "Hello,", "The Smallest", "Grandma's"),
        ("Hedgehog", "Dragon", "Teapot", "Penguin", "Snowplough"),
    ),
}
WEIGHTS = (0.32, 0.28, 0.24, 0.16)  # lambda
# mean rating of a film (column: its topic) by users of a topic (row): each loves its own and dislikes one other
MEANS = ((4.4, 2.1, 3.4, 2.9), (2.7, 4.3, 2.2, 3.5), (3.3, 2.6, 4.4, 1.9), (3.6, 3.2, 1.8, 4.5))
STD = 0.7
RATED_OWN, RATED_OTHER = 0.45, 0.18


def draw() -> dict[str, str]:
    """The three files as text."""
    random = Random(SEED)  # noqa: S311 - invents films, guards no secrets
    normal = NormalDist()

    def gauss(mean: float, std: float) -> float:
        # By inversion of one uniform number: `Random.random` is the part of Random promised never to change.
        return mean + std * normal.inv_cdf(min(max(random.random(), 1e-12), 1 - 1e-12))

    films = [
        (f"{opening} {ending}", topic)
        for topic, (openings, endings) in enumerate(TOPICS.values())
        for opening in openings
        for ending in endings
    ]
    names = list(TOPICS)
    taste = [gauss(0.0, 0.25) for _ in films]  # some films are simply better
    fame = [0.6 + 0.8 * random.random() for _ in films]  # and some better known

    users, ratings = ["user,topic"], ["user,item,rating"]
    for user in range(1, N_USERS + 1):
        point = random.random()
        topic = next((t for t in range(len(WEIGHTS)) if point < sum(WEIGHTS[: t + 1])), len(WEIGHTS) - 1)
        users.append(f"{user},{names[topic]}")
        for item, (_, of) in enumerate(films):
            probability = (RATED_OWN if of == topic else RATED_OTHER) * fame[item]
            if random.random() < probability:
                stars = min(max(round(gauss(MEANS[topic][of] + taste[item], STD)), 1), 5)
                ratings.append(f"{user},{item + 1},{stars}")
    titles = ["item,title,topic", *(f'{i + 1},"{title}",{names[t]}' for i, (title, t) in enumerate(films))]
    return {
        name: "\n".join(lines) + "\n"
        for name, lines in (("ratings.csv", ratings), ("titles.csv", titles), ("users.csv", users))
    }


def main() -> int:
    """Write the files and SHA256SUMS; fail where the package expects other bytes."""
    sys.path.insert(0, str(ROOT.parent))
    from lbg_recsys.datasets.registry import dataset_info

    known = {file.name: file for file in dataset_info("sample").files}
    TARGET.mkdir(parents=True, exist_ok=True)
    sums, strangers = [], 0
    for name, text in draw().items():
        data = text.encode("utf-8")
        digest = hashlib.sha256(data).hexdigest()
        (TARGET / name).write_bytes(data)
        sums.append(f"{digest}  ../lbg_recsys/datasets/sample/{name}\n")
        same = (known[name].size, known[name].sha256) == (len(data), digest)
        strangers += not same
        print(f"{name}: {len(data):,} bytes, {digest} {'as known' if same else 'NOT in registry.py'}")
    (ROOT / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")
    return 1 if strangers else 0


if __name__ == "__main__":
    sys.exit(main())
