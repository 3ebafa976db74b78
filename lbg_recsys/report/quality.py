"""How good a model is on ratings that it has not seen: errors, calibration, lists."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from lbg_recsys.core import levels
from lbg_recsys.core.types import Bools, Floats, Ints
from lbg_recsys.evaluation import metrics
from lbg_recsys.evaluation.calibration import reliability
from lbg_recsys.evaluation.lists import (
    ListReport,
    Relevant,
    activity_groups,
    evaluate_lists,
    lister_of_model,
    lister_of_scores,
)
from lbg_recsys.evaluation.rivals import rivals_for
from lbg_recsys.progress import Progress, parts
from lbg_recsys.report import svg
from lbg_recsys.report.held_out import HeldOut
from lbg_recsys.report.markup import figure, note, paragraph, section, side_by_side, table

_MASSES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
_MASS = 0.9
_LENGTH = 10
# The rivals that the model is compared with; the variant of EASE that was best on all our data sets.
_RIVALS = ("popularity", "EASE, graded", "EASE")
# Held-out ratings of a group below which its figures say little.
_FEW = 30


@dataclass(frozen=True)
class Predicted:
    """Held-out ratings with their predictions: distributions (n, levels), points (n,) and the true levels (n,)."""

    held_out: HeldOut
    probability: Floats
    point: Floats
    level: Ints

    @classmethod
    def of(cls, held_out: HeldOut) -> "Predicted":
        """Predict the held-out ratings: the points are expected ratings, whatever the model's own point is."""
        probability = held_out.probability()
        return cls(
            held_out,
            probability,
            levels.mean(probability, held_out.model.levels),
            held_out.model.matrix.scale.nearest(held_out.values).astype(np.int64),
        )

    def figures(self, some: Bools | slice = slice(None)) -> dict[str, float]:
        """Figures of some of the ratings."""
        truth, point, probability = self.held_out.values[some], self.point[some], self.probability[some]
        level, scale = self.level[some], self.held_out.model.levels
        return {
            "RMSE": metrics.rmse(truth, point),
            "MAE": metrics.mae(truth, point),
            "too high by": float((point - truth).mean()),
            "log score": metrics.log_score(level, probability),
            "calibration error": metrics.expected_calibration_error(level, probability),
            f"{_MASS:.0%} coverage": metrics.coverage(truth, probability, scale, _MASS)[0],
        }


# -- errors and calibration ------------------------------------------------------------------------------------------


def errors(found: Predicted) -> str:
    """Figures of all held-out ratings beside the mean of each item."""
    own, plain = found.figures(), _item_means(found.held_out)
    names = [name for name in own if name != "too high by"]
    rows = [
        ["this model", *(own[name] for name in names)],
        ["mean of each item", metrics.rmse(found.held_out.values, plain), metrics.mae(found.held_out.values, plain)],
    ]
    rows[1] += [None] * (len(names) - 2)
    return section(
        "errors",
        "Predicted ratings",
        paragraph(*found.held_out.how),
        table(f"Errors on {len(found.point):,} held-out ratings", ["", *names], rows),
        paragraph(
            "RMSE and MAE are those of the expected rating, in units of the scale: lower is better. The log score is "
            "the mean log probability of the true rating: 0 would be certainty. The calibration error is the mean "
            "distance of stated probabilities from observed shares."
        ),
    )


def _item_means(held_out: HeldOut) -> Floats:
    """The mean training rating of each item, that of all where the item has none."""
    matrix = held_out.model.matrix
    count = matrix.rows.column_counts()
    total = np.bincount(matrix.item_codes, matrix.values, minlength=matrix.n_items)
    overall = float(matrix.values.mean())
    means = np.append(np.where(count > 0, total / np.maximum(count, 1), overall), overall)
    return means[np.maximum(held_out.items, -1)]


def calibration(found: Predicted, seed: int) -> str:
    """The reliability diagram, the coverage of intervals, and the probability integral transform."""
    return section(
        "calibration",
        "Are the probabilities right?",
        paragraph(
            "Where a model says 70%, it should be right in 70 of 100 cases. The dashed lines are where all points "
            "would lie if it were so."
        ),
        side_by_side(_reliability(found), _coverage(found), _pit(found, seed)),
    )


def _reliability(found: Predicted) -> str:
    bins = reliability(found.level, found.probability)
    points = [(stated, seen) for stated, seen, count in bins if count >= _FEW]
    about = "Stated probability and observed share: " + ", ".join(f"{one:.2f} and {two:.2f}" for one, two in points)
    x, y = (svg.linear(label, 0.0, 1.0) for label in ("stated probability of a rating", "observed share"))
    lines = [("ideal", [(0.0, 0.0), (1.0, 1.0)]), *([("ours", points)] if points else [])]
    error = metrics.expected_calibration_error(found.level, found.probability)
    return figure(
        svg.curves(about, x, y, lines, dots=True),
        f"Reliability: how often a rating occurs that was given a probability. The mean distance from the line "
        f"is {error:.3f}. Tenths with fewer than {_FEW} statements are left out.",
    )


def _coverage(found: Predicted) -> str:
    scale = found.held_out.model.levels
    points = [(mass, metrics.coverage(found.held_out.values, found.probability, scale, mass)[0]) for mass in _MASSES]
    about = "Mass of intervals and share inside: " + ", ".join(f"{one:.0%} and {two:.1%}" for one, two in points)
    x, y = svg.linear("stated mass of the interval", 0.5, 1.0), svg.linear("share of ratings inside", 0.5, 1.0)
    width = metrics.coverage(found.held_out.values, found.probability, scale, _MASS)[1]
    return figure(
        svg.curves(about, x, y, [("ideal", [(0.5, 0.5), (1.0, 1.0)]), ("ours", points)], dots=True),
        f"Intervals: {dict(points)[_MASS]:.1%} of the ratings are in their {_MASS:.0%} intervals, which are "
        f"{width:.2f} wide on average. An interval holds whole levels of the scale, so that the points lie above "
        "the line where there are few levels.",
    )


def _pit(found: Predicted, seed: int) -> str:
    shares = metrics.pit_histogram(found.level, found.probability, np.random.default_rng(seed))
    named = [(f"{place / len(shares):.1f}", float(share)) for place, share in enumerate(shares)]
    about = "Shares of the probability integral transform, from 0 to 1: " + ", ".join(
        f"{one:.3f}" for _, one in named
    )
    y = svg.linear("share of the ratings", 0.0, max(0.12, float(shares.max())))
    return figure(
        svg.columns(about, "probability of a lower rating (randomised)", y, named, ideal=1.0 / len(shares)),
        "Probability integral transform: flat where the model is right. A hill means that its distributions are too "
        "wide, a valley that they are too narrow, a slope that they are too low or too high.",
    )


def by_group(found: Predicted) -> str:
    """Errors and calibration by the popularity of the item and the activity of the user."""
    matrix = found.held_out.model.matrix
    tables, errors = [], {}
    for title, counts, codes in (
        ("popularity of the item", matrix.rows.column_counts(), found.held_out.items),
        ("activity of the user", matrix.rows.lengths, found.held_out.users),
    ):
        number = np.where(codes >= 0, counts[np.maximum(codes, 0)], 0)
        rows = [(name, int(some.sum()), found.figures(some)) for name, some in _groups(number)]
        names = list(rows[0][2])
        tables.append(
            table(
                f"By {title} (training ratings)",
                ["training ratings", "held out", *names],
                [[name, n, *own.values()] for name, n, own in rows],
            )
        )
        errors[title] = [(name, own["RMSE"], None) for name, n, own in rows if n >= _FEW]
    errors = {title: values for title, values in errors.items() if values}
    pictures = []
    for title, values in errors.items():
        about = f"RMSE by {title}: " + ", ".join(f"{name}: {value:.3f}" for name, value, _ in values)
        axis = svg.around("RMSE, lower is better", *errors.values())
        picture = svg.rows(about, axis, values, [name for name, *_ in values])
        pictures.append(figure(picture, f"By {title}: the number of its training ratings."))
    return section(
        "groups-of-ratings",
        "Where is it wrong?",
        paragraph(
            "Held-out ratings in thirds, by how often their item and their user were rated in training. Too high by: "
            "the mean of predicted less true ratings."
        ),
        side_by_side(*pictures),
        *tables,
    )


def _groups(number: Ints) -> list[tuple[str, Bools]]:
    """Ratings whose number of training ratings is 0, and thirds of the others, with what their numbers are."""
    known = number > 0
    groups = [("none", ~known)] if (~known).any() else []
    if known.any():
        third = activity_groups(number[known])
        for place in np.unique(third).tolist():
            some = known.copy()
            some[known] = third == place
            low, high = int(number[some].min()), int(number[some].max())
            groups.append((f"{low:,} to {high:,}" if low < high else f"{low:,}", some))
    return groups


# -- lists -----------------------------------------------------------------------------------------------------------


def list_reports(
    held_out: HeldOut, most_users: int, seed: int, progress: Progress
) -> tuple[dict[str, ListReport], list[str]]:
    """The lists of the model, of popularity and of EASE in figures, and sentences on what is left out."""
    model, train = held_out.model, held_out.model.matrix
    relevant = Relevant.find(train, held_out.users, held_out.items, held_out.values, train.scale.liked)
    users = relevant.users(most_users, seed)
    if not len(users):
        return {}, ["no known user likes a held-out item"]
    rivals = rivals_for(train)
    chosen = {name: rivals.found[name] for name in _RIVALS if name in rivals.found}
    listers: dict[str, Any] = {"this model": lambda: lister_of_model(model, train)}
    listers |= {
        name: lambda rival=rival: lister_of_scores(rival(train, seed), train) for name, rival in chosen.items()
    }
    found = {}
    for (name, lister), turn in zip(listers.items(), parts(progress, len(listers)), strict=True):
        found[name] = evaluate_lists(lister()(users, _LENGTH), users, train, relevant)
        turn(1, 1, f"lists of {name}")
    return found, [one for one in rivals.left_out if one.startswith("EASE")]


def lists(held_out: HeldOut, reports: dict[str, ListReport], left_out: list[str], with_how: bool) -> str:
    """Lists beside those of popularity and EASE."""
    how = [paragraph(*held_out.how)] if with_how else []
    notes = [note(f"{one[0].upper()}{one[1:]}.") for one in left_out]
    if not reports:
        return section("lists", "Lists", *how, *notes)
    first = next(iter(reports.values()))
    ndcg = f"NDCG@{first.length}"
    values = [
        (name, one.ndcg, one.ndcg_error if one.ndcg_error == one.ndcg_error else None)
        for name, one in reports.items()
    ]
    about = f"{ndcg}: " + ", ".join(f"{name} {value:.3f}" for name, value, _ in values)
    names = {ndcg: "ndcg", "recall": "recall", "MAP": "map", "catalogue": "catalogue", "novelty": "novelty"}
    names |= {"similarity": "similarity", "popular": "popular"}
    rows = [[name, *(getattr(one, own) for own in names.values())] for name, one in reports.items()]
    groups = [(one.name, f"{one.name} ({one.mean_ratings:.0f})") for one in first.by_activity]
    by_name = {name: {one.name: one.ndcg for one in report.by_activity} for name, report in reports.items()}
    return section(
        "lists",
        "Lists",
        *how,
        paragraph(
            f"Lists of {first.length} for {first.n_users:,} users who liked a held-out item; what counts is which of "
            "these items are listed, and how high. Popularity gives everybody the same items; EASE is a linear model "
            "of which items go together, with its penalty chosen on an inner split."
        ),
        side_by_side(
            figure(
                svg.rows(about, svg.around(f"{ndcg}, higher is better", values), values, ["this model"]),
                "NDCG rewards liked items high in the list; lines are standard errors over users.",
            )
        ),
        table("Lists in figures", ["lists of", *names], rows),
        paragraph(
            "Catalogue: share of items that are in at least one list. Novelty: mean bits of information per item. "
            "Similarity: of the items in a list, by who rated them. Popular: share of listed items from the most "
            "popular tenth."
        ),
        table(
            f"{ndcg} by activity of users (mean number of training ratings)",
            ["lists of", *(title for _, title in groups)],
            [[name, *(own.get(group) for group, _ in groups)] for name, own in by_name.items()],
        ),
        *notes,
    )
