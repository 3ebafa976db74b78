"""What is in a model: its data, its training, its topics, and examples of lists with reasons."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from lbg_recsys.catalogue import title_of
from lbg_recsys.core.types import Floats, Ints
from lbg_recsys.ratings.bayesian.model import MONTE_CARLO_SHARE
from lbg_recsys.ratings.model import RatingModel
from lbg_recsys.ratings.questions.predictions import level_names
from lbg_recsys.report import svg
from lbg_recsys.report.markup import figure, note, paragraph, section, side_by_side, table, text
from lbg_recsys.words import shown

# Levels that each get a column; more are put together.
_MOST_COLUMNS = 21
# Points of a curve: more than a screen shows would only make the page large.
_MOST_POINTS = 200
_MOST_TOPICS = 8
_RHAT_LIMIT = 1.1
# Items of a list whose reasons are given: each takes a moment.
_EXPLAINED, _REASONS = 3, 3


# -- data ------------------------------------------------------------------------------------------------------------


def data(model: Any) -> str:
    """Sizes, the use of the scale, and how unequally ratings are spread over users and items."""
    matrix = model.matrix
    per_user, per_item = matrix.rows.lengths, matrix.rows.column_counts()
    what = "ratings" if len(matrix.scale.levels) > 1 else "choices"
    sizes = [
        ["users", matrix.n_users],
        ["items", matrix.n_items],
        [what, matrix.n_ratings],
        ["pairs that are rated" if what == "ratings" else "pairs that are chosen", f"{_density(matrix):.2%}"],
    ]
    for role in ("item", "user"):
        known = getattr(model, f"{role}_features_", None)
        if known is not None and known.features:
            sizes.append([f"features of {len(known.ids):,} {role}s", shown([one.name for one in known.features])])
    figures = [
        figure(
            _tail(f"{what.capitalize()} per item and per user", what, {"ours": per_item, "other": per_user}),
            f"The long tails: {what} of each item (solid) and of each user (dashed), those with the most first. "
            f"{_tail_in_words(per_item, what, 'item')} {_tail_in_words(per_user, what, 'user')}",
        )
    ]
    if what == "ratings":
        figures.insert(0, figure(*_scale(matrix)))
    return section(
        "data",
        "The data",
        table("What the model was fitted to", ["", ""], sizes),
        side_by_side(*figures),
    )


def _density(matrix: Any) -> float:
    return float(matrix.n_ratings / max(matrix.n_users * matrix.n_items, 1))


def _scale(matrix: Any) -> tuple[str, str]:
    scale, values = matrix.scale, matrix.values
    if len(scale.levels) <= _MOST_COLUMNS:
        count = np.bincount(scale.nearest(values), minlength=len(scale.levels))
        names = level_names(scale.levels)
    else:
        count, edges = np.histogram(values, _MOST_COLUMNS - 1, (scale.low, scale.high))
        names = [f"{one:.3g}" for one in edges[:-1]]
    share = (count / max(count.sum(), 1)).tolist()
    shares = list(zip(names, share, strict=True))
    about = "Share of each rating. " + ", ".join(f"{name}: {value:.0%}" for name, value in shares)
    picture = svg.columns(about, "rating", svg.linear("share of the ratings", 0.0, max(share)), shares)
    caption = (
        f"How the scale from {scale.low:g} to {scale.high:g} is used. The mean rating is {values.mean():.2f}, the "
        f"standard deviation {values.std():.2f}; {(values >= scale.liked).mean():.0%} are at least {scale.liked:g}, "
        "which counts as liked."
    )
    return picture, caption


def _tail(about: str, what: str, counts: dict[str, Ints]) -> str:
    x = svg.logarithmic("rank (logarithmic)", max(map(len, counts.values())))
    y = svg.logarithmic(f"{what} (logarithmic)", max(int(one.max(initial=1)) for one in counts.values()))
    lines = []
    for kind, count in counts.items():
        order = np.sort(count[count > 0])[::-1]
        places = np.unique(np.geomspace(1, max(len(order), 1), _MOST_POINTS).astype(int)) - 1
        lines.append((kind, [(float(place + 1), float(order[place])) for place in places.tolist() if len(order)]))
    return svg.curves(about, x, y, lines)


def _tail_in_words(count: Ints, what: str, of: str) -> str:
    order = np.sort(count)[::-1]
    first = max(1, round(0.1 * len(order)))
    return (
        f"The tenth of {of}s with the most has {order[:first].sum() / max(order.sum(), 1):.0%} of the {what}; "
        f"the median {of} has {np.median(count):,.0f}, and {(count <= 1).sum():,} have one or none."
    )


# -- training --------------------------------------------------------------------------------------------------------


def training(model: Any) -> str:
    """The curve of the training, and its convergence."""
    if not isinstance(model, RatingModel):
        return section(
            "training", "Training", note("Left out: a ChoiceModel is solved in one step, nothing is iterated.")
        )
    settings = [[name, str(value)] for name, value in model.get_params().items()]
    parts = [table("How training ended", ["", ""], _ending(model))] if _ending(model) else []
    errors, bounds = getattr(model, "training_error_", ()), getattr(model, "history_", ())
    figures = []
    if len(errors) > 1:
        figures.append(
            _curve(
                "Training error by sweep",
                "sweep",
                "training error",
                errors,
                "The error on the ratings it was fitted to",
            )
        )
    if len(bounds) > 1:
        figures.append(_curve("Objective by iteration", "iteration", "objective", bounds, "What is maximised"))
    if (rhat := getattr(model, "rhat_", None)) is not None and np.isfinite(rhat).any():
        figures.append(_rhat(rhat[np.isfinite(rhat)]))
    details = f"<details><summary>All settings</summary>{table('Settings', ['setting', 'value'], settings)}</details>"
    return section("training", "Training", *parts, side_by_side(*figures), details)


def _ending(model: Any) -> list[list[Any]]:
    names = {
        "converged_": f"converged: Monte Carlo error at most {MONTE_CARLO_SHARE:.0%} of the training error"
        if hasattr(model, "monte_carlo_error_")
        else "converged",
        "n_sweeps_": "sweeps",
        "n_iter_": "iterations",
        "monte_carlo_error_": "Monte Carlo error of expected ratings",
        "rhat_median_": "median split R-hat of single predictions, a stricter measure (1 is ideal)",
        "rhat_share_": f"share of predictions with R-hat above {_RHAT_LIMIT}",
        "lower_bound_": "penalised log-likelihood per user",
    }
    found = [[words, getattr(model, name)] for name, words in names.items() if hasattr(model, name)]
    return [[words, {True: "yes", False: "no"}[one] if isinstance(one, bool) else one] for words, one in found]


def _curve(about: str, x_label: str, y_label: str, values: Sequence[float], caption: str) -> str:
    steps = np.unique(np.linspace(0, len(values) - 1, _MOST_POINTS).astype(int)).tolist()
    points = [(float(step + 1), float(values[step])) for step in steps]
    inside = [value for _, value in points]
    x, y = svg.linear(x_label, 1.0, float(len(values))), svg.linear(y_label, min(inside), max(inside))
    x = svg.Axis(x_label, 1.0, float(len(values)), tuple(one for one in x.marks if 1 <= one <= len(values)))
    said = f"{about}: from {inside[0]:.4g} to {inside[-1]:.4g} after {len(values)}."
    return figure(svg.curves(said, x, y, [("ours", points)]), f"{caption}, after each {x_label}.")


def _rhat(rhat: Floats) -> str:
    edges = np.linspace(1.0, max(1.3, min(float(rhat.max()), 2.0)), 13)
    count = np.histogram(np.clip(rhat, edges[0], edges[-1]), edges)[0] / len(rhat)
    shares = [(f"{edge:.2f}", float(one)) for edge, one in zip(edges[:-1], count, strict=True)]
    about = f"Split R-hat of {len(rhat)} predictions: {(rhat <= _RHAT_LIMIT).mean():.0%} are at most {_RHAT_LIMIT}."
    picture = svg.columns(about, "split R-hat", svg.linear("share of predictions", 0.0, float(count.max())), shares)
    return figure(
        picture,
        f"Split R-hat of {len(rhat)} traced predictions: how well the chains agree. Up to {_RHAT_LIMIT} is good.",
    )


# -- topics ----------------------------------------------------------------------------------------------------------


def topics(model: Any) -> str:
    """The topics, groups of users, with the items that each rates, loves and hates."""
    if not isinstance(model, RatingModel):
        return section("topics", "Topics", note("Left out: a ChoiceModel has no topics."))
    found = model.topics(5)
    cards = [_card(model, topic) for topic in found[:_MOST_TOPICS]]
    rest = found[_MOST_TOPICS:]
    more = [note(f"{len(rest)} smaller ones, with a weight of {sum(one.weight for one in rest):.2f}, are left out.")]
    return section(
        "topics",
        "Topics",
        paragraph(
            "A topic is a group of users who rate alike; its weight is the share of the users who are in it. Typical "
            "items are rated by more of its users than of others "
            "(in brackets: the shares of its users and of all users who rate the item). Loved and hated items are "
            "those they rate furthest above and below the mean of all users (in brackets: the difference)."
        ),
        f'<div class="cards">{"".join(cards)}</div>',
        *(more if rest else []),
    )


def _card(model: Any, topic: Any) -> str:
    typical = [f"{_name(model, one)} ({one.probability:.0%}, {one.probability_of_all:.0%})" for one in topic.typical]
    kinds = {"typical": typical}
    for kind in ("loves", "hates"):
        kinds[kind] = [f"{_name(model, one)} ({one.difference:+.2f})" for one in getattr(topic, kind)]
    lists = "".join(f"<h4>{kind}</h4><ul>{_entries(items)}</ul>" for kind, items in kinds.items() if items)
    head = f"<h3>Topic {topic.topic}: weight {topic.weight:.2f}</h3>"
    meter = f'<div class="meter"><i style="width:{topic.weight:.1%}"></i></div>'
    return f'<article class="card">{head}{meter}{lists}</article>'


def _name(model: Any, one: Any) -> str:
    return title_of(model, one.item)


def _entries(items: Iterable[str]) -> str:
    return "".join(f"<li>{text(one)}</li>" for one in items)


# -- examples --------------------------------------------------------------------------------------------------------


def examples(model: Any, n: int) -> str:
    """Some users, from few ratings to many, with their lists and the reasons for the first items."""
    if not n:
        return section("examples", "Examples", note("Left out: no examples were asked for."))
    counts = model.matrix.rows.lengths
    having = np.flatnonzero(counts)
    order = having[np.argsort(counts[having], kind="stable")]
    n = min(n, len(order))
    places = {min(len(order) * (2 * one + 1) // (2 * n), len(order) - 1) for one in range(n)}
    users = [int(order[place]) for place in sorted(places)]
    return section(
        "examples",
        "Examples",
        paragraph(
            "Users with few, a medium number of, and many ratings: what they rated highest, their list, and why."
        ),
        *(_example(model, user) for user in users),
    )


def _example(model: Any, user: int) -> str:
    matrix = model.matrix
    own, raw = matrix.subset(np.array([user])), matrix.users.raw(user)
    rated = len(matrix.scale.levels) > 1
    best = np.argsort(-own.values, kind="stable")[:5].tolist()
    items = own.items.raws(own.item_codes)
    liked = "; ".join(title_of(model, items[one]) + (f" {own.values[one]:g}" if rated else "") for one in best)
    head = f"<h3>User {text(raw)}, {own.n_ratings:,} {'ratings' if rated else 'choices'}</h3>"
    lines = [_line(model, raw, row, place) for place, row in enumerate(_rows(model, raw))]
    said = "Highest ratings" if rated else "Some choices"
    return f'{head}<p class="soft">{said}: {text(liked)}</p><ol class="list">{"".join(lines)}</ol>'


def _rows(model: Any, user: Any) -> list[dict[str, Any]]:
    """The list of a user, with distributions if the model predicts ratings."""
    rows: list[dict[str, Any]] = model.recommend(user).to_dict(orient="records")
    if isinstance(model, RatingModel) and rows:
        found = model.predict_distribution([(user, row["item"]) for row in rows])
        for row, probability in zip(rows, found, strict=True):
            row["distribution"] = probability.tolist()
    return rows


def _line(model: Any, user: Any, row: dict[str, Any], place: int) -> str:
    parts = [f'<span class="title">{text(title_of(model, row["item"]))}</span>']
    if "distribution" in row:
        shares = zip(level_names(model.levels), row["distribution"], strict=True)
        about = "Probability of each rating. " + ", ".join(f"{level}: {share:.0%}" for level, share in shares)
        parts += [svg.small_columns(about, row["distribution"]), f"<b>{row['expected_rating']:.1f}</b>"]
    why = _reasons(model, user, row["item"]) if place < _EXPLAINED else ""
    return f'<li><div class="head">{"".join(parts)}</div>{why}</li>'


def _reasons(model: Any, user: Any, item: Any) -> str:
    """The user's own items that contribute most to an item."""
    found = model.explain(user, item)
    choice = found if hasattr(found, "because") else found.choice
    if choice is not None:
        reasons = [one for one in choice.because if one.contribution > 0]
    else:
        reasons = [one for one in found.evidence if one.both > 0]
    if not reasons:
        return '<p class="soft">No single rating explains it: many users like it.</p>'
    named = (_name(model, one) + ("" if one.rating is None else f" {one.rating:g}") for one in reasons[:_REASONS])
    return f'<p class="soft">because of {text("; ".join(named))}</p>'
