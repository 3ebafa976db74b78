"""The page: the summary at the top, the sections in their order, and the frame around them."""

from importlib import resources
from typing import Any

from lbg_recsys import __version__
from lbg_recsys.checks import check_flag, check_integer
from lbg_recsys.errors import DataError
from lbg_recsys.evaluation.lists import ListReport
from lbg_recsys.progress import Progress, noted, parts, silent
from lbg_recsys.ratings import RatingMatrix
from lbg_recsys.ratings.choice import ChoiceModel
from lbg_recsys.ratings.model import RatingModel
from lbg_recsys.report import about, quality
from lbg_recsys.report.held_out import HeldOut, refitted, unseen
from lbg_recsys.report.markup import note, paragraph, section, text
from lbg_recsys.words import class_of

# The section of each link at the top.
_CONTENTS = {
    "data": "data",
    "training": "training",
    "topics": "topics",
    "errors": "errors",
    "calibration": "calibration",
    "groups-of-ratings": "by group",
    "lists": "lists",
    "examples": "examples",
}


def report_html(
    model: RatingModel | ChoiceModel,
    ratings: RatingMatrix | None = None,
    *,
    name: str = "the given ratings",
    title: str = "Model report",
    refit: bool = True,
    examples: int = 3,
    list_users: int = 1000,
    seed: int = 0,
    progress: Progress = silent,
) -> str:
    """Write a page about a model: data, training, topics, errors, calibration, lists and examples.

    Errors, calibration and lists are always measured on ratings that the evaluated model has not seen: those of
    ``ratings`` that the model was not fitted to or, if there are none, a fifth of its own ratings, which are held out
    while a model with the same settings is fitted to the others. Sections that do not apply to a kind of model are
    left out, and the page says so.

    Parameters
    ----------
    model : RatingModel or ChoiceModel
        A fitted model.
    ratings : RatingMatrix, default=None
        Ratings, or choices, to evaluate it on.
    name : str, default="the given ratings"
        What these are called in the page.
    title : str, default="Model report"
        The heading.
    refit : bool, default=True
        Whether a model may be fitted to part of the ratings. If not, and no ratings are held out, the sections that
        need them are left out.
    examples : int, default=3
        Users whose lists are shown. The page names them.
    list_users : int, default=1000
        The largest number of users whose lists are evaluated, chosen at random.
    seed : int, default=0
        Seed of the split, of the choice of users and of the randomised histogram.
    progress : callable, default=silent
        Called as ``progress(done, total, note)``.

    Returns
    -------
    str
        HTML: one file without scripts, which needs no network.

    Raises
    ------
    DataError
        If the model cannot be evaluated on the ratings, or a setting is not allowed.

    Examples
    --------
    >>> from lbg_recsys import LBGModel
    >>> from lbg_recsys.datasets import load_sample
    >>> model = LBGModel(n_topics=2, random_state=0).fit(load_sample().ratings)
    >>> report_html(model, refit=False, examples=0).count("<html")
    1
    """
    if not isinstance(model, RatingModel | ChoiceModel):
        raise DataError(f"{class_of(model)} has no ratings to report on: give a rating model")
    if not model.matrix.n_ratings:
        raise DataError("the model holds no ratings to report on: fit and save it with its ratings")
    if ratings is not None and not isinstance(ratings, RatingMatrix):
        raise DataError(f"ratings are {class_of(ratings)}: give a RatingMatrix, which as_matrix makes of other forms")
    check_flag("refit", refit)
    check_integer("examples", examples, 0)
    check_integer("list_users", list_users, 0)
    check_integer("seed", seed, 0)
    looking, fitting, listing = parts(progress, 3)
    found = _held_out(model, ratings, name, refit, seed, noted(fitting, "fitting to four fifths"))
    fitting(1, 1, "evaluated model")
    evaluated, summary = _evaluated(model, found, list_users, seed, listing)
    sections = [
        about.data(model),
        about.training(model),
        about.topics(model),
        *evaluated,
        about.examples(model, examples),
    ]
    looking(1, 1, "examples")
    body = "".join([_head(model, title, summary, sections), *sections])
    frame = resources.files("lbg_recsys.report").joinpath("frame.html").read_text(encoding="utf-8")
    return frame.replace("{{title}}", text(title)).replace("{{body}}", body)


def _held_out(
    model: Any, ratings: RatingMatrix | None, name: str, refit: bool, seed: int, progress: Progress
) -> HeldOut | None:
    before = []
    if ratings is not None:
        found = unseen(model, ratings, name)
        if found is not None:
            return found
        before.append(f"The model was fitted to all ratings in {name}.")
    return refitted(model, seed, progress, before) if refit else None


def _evaluated(
    model: Any, found: HeldOut | None, list_users: int, seed: int, progress: Progress
) -> tuple[list[str], list[str]]:
    """The sections that need held-out ratings, and what they say in short."""
    if found is None:
        reason = "Left out: there are no ratings that the model has not seen, and no model was to be fitted."
        return [section("errors", "Errors, calibration and lists", note(reason))], []
    sections, summary = [], []
    rates = isinstance(model, RatingModel) and len(model.levels) > 1
    if rates:
        predicted = quality.Predicted.of(found)
        own = predicted.figures()
        summary.append(
            f"On {len(found.values):,} ratings that it has not seen, the error of the predicted rating is "
            f"{own['RMSE']:.3f} (RMSE), and {own['90% coverage']:.0%} of the ratings are in their 90% intervals."
        )
        sections += [quality.errors(predicted), quality.calibration(predicted, seed), quality.by_group(predicted)]
    else:
        reason = "Left out: the model predicts no ratings, so there are no errors, intervals and calibration."
        sections.append(section("errors", "Predicted ratings", note(reason)))
    reports, left_out = quality.list_reports(found, list_users, seed, progress)
    if reports:
        summary.append(_lists_in_short(reports))
    sections.append(quality.lists(found, reports, left_out, with_how=not rates))
    return sections, summary


def _lists_in_short(reports: dict[str, ListReport]) -> str:
    ndcg = [f"{one.ndcg:.3f} for {name}" for name, one in reports.items()]
    length = next(iter(reports.values())).length
    return f"Lists of {length} have an NDCG of {', '.join(ndcg)}."


def _head(model: Any, title: str, summary: list[str], sections: list[str]) -> str:
    present = "".join(sections)
    links = "".join(
        f'<a href="#{key}">{text(words)}</a>' for key, words in _CONTENTS.items() if f'<section id="{key}"' in present
    )
    made = f"{type(model).__name__} of {model.matrix.size_in_words}; lbg-recsys {__version__}"
    return (
        f"<header><h1>{text(title)}</h1><p class='soft'>{text(made)}</p>{paragraph(*summary) if summary else ''}"
        f'<nav aria-label="Contents">{links}</nav></header>'
    )
