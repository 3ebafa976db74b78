"""``lbg-recsys text classify``."""

import warnings
from collections import Counter
from operator import itemgetter
from typing import Any

import click

from lbg_recsys.cli.algorithms import params_option, parse_params
from lbg_recsys.cli.common import counted, json_option, quiet_option, seed_option
from lbg_recsys.cli.documents import documents_argument, documents_options
from lbg_recsys.cli.models import remarks
from lbg_recsys.cli.text.shared import (
    models_and_tables,
    outputs_option,
    print_documents,
    read_matrices,
    save_model,
    say_guesses,
    show_accuracy,
    table_of_classes,
    write_tables,
)
from lbg_recsys.errors import DataError
from lbg_recsys.progress import Progress, bar, parts
from lbg_recsys.readers.documents import failing_as_data_errors
from lbg_recsys.words import shown

_OF_ESTIMATOR = "estimator__"
_BLOCK = 1 << 11  # documents to classify at a time


@click.command()
@documents_argument("documents")
@documents_argument("new", required=False)
@click.option(
    "--folds",
    type=click.IntRange(min=2),
    default=5,
    show_default=True,
    help="Number of folds of the cross-validation.",
)
@click.option(
    "--max-false-positives",
    type=click.FloatRange(0, 1),
    metavar="SHARE",
    help="Largest share of the documents of other classes that may be assigned to a class: to the second of two "
    "classes, or to each of several.",
)
@params_option("LBGClassifier")
@outputs_option("the predictions go")
@documents_options
@seed_option
@quiet_option
@json_option
def classify(
    documents: str,
    new: str | None,
    folds: int,
    max_false_positives: float | None,
    params: tuple[str, ...],
    output: tuple[str, ...],
    seed: int,
    quiet: bool,
    as_json: bool,
    **how: Any,
) -> None:
    """Learn classes from DOCUMENTS; cross-validate, or classify NEW.

    With NEW, its documents are classified; where they have classes too, predictions are compared with them. Without
    NEW, DOCUMENTS is cross-validated. --param sets the classifier's parameters, and as estimator__NAME=VALUE those
    of the mixture that each class is modelled with.

    \b
    Examples:
      lbg-recsys text classify docs
      lbg-recsys text classify texts.csv --folds 3 --param n_topics=2 --json
      lbg-recsys text classify docs more_docs -o classes.csv
      lbg-recsys text classify docs --folds 3 --param estimator__prior_gauss=5
      lbg-recsys text classify docs -o classes.lbg
    """
    model = _classifier(params, max_false_positives, seed)
    sources, matrices, names, vectorizer = read_matrices(
        documents, *([new] if new is not None else []), quiet=quiet, **how
    )
    labels, evaluated = sources[0].labels, sources[-1]
    if labels is None:
        raise DataError(f"{documents} has no classes to learn: use class folders, or a label column")
    if new is None:
        _refuse_lone(labels, folds)
    if max_false_positives is not None:
        _refuse_few(labels, model.cv, folds if new is None else None)
    with remarks(quiet), failing_as_data_errors(), bar("fitting LBGClassifier", quiet) as progress:
        if new is None:
            proba = _cross_validated(model, matrices[0], labels, folds, seed, progress)
        else:
            proba = _classified(model, matrices[0], labels, matrices[1], progress)
    say_guesses(matrices[-1], "class", quiet)
    table = table_of_classes(evaluated, sorted(set(labels)), proba)
    models, tables = models_and_tables(output)
    if models:
        if new is None:  # cross-validation fits copies to parts of the documents
            with remarks(quiet), failing_as_data_errors(), bar("fitting LBGClassifier", quiet) as progress:
                model.fit(matrices[0], labels, progress=progress)
        save_model(model, models, names, vectorizer, quiet)
    write_tables(table, tables, f"the classes of {counted(len(evaluated), 'document')}", quiet)
    if not as_json and not tables and new is not None:
        print_documents(table)
    show_accuracy(table, evaluated.labels, table["prediction"], as_json)


def _classifier(params: tuple[str, ...], max_false_positives: float | None, seed: int) -> Any:
    """The classifier with its own parameters, and its mixture with those that begin with ``estimator__``."""
    from lbg_recsys.text import LBGClassifier, LBGMixture

    own = [param for param in params if not param.startswith(_OF_ESTIMATOR)]
    passed = [param.removeprefix(_OF_ESTIMATOR) for param in params if param.startswith(_OF_ESTIMATOR)]
    elsewhere = {"max_false_positive_rate": "--max-false-positives", "estimator": f"{_OF_ESTIMATOR}NAME=VALUE"}
    model = LBGClassifier(
        **parse_params(own, LBGClassifier, elsewhere=elsewhere),
        max_false_positive_rate=max_false_positives,
        random_state=seed,
    )
    if passed:  # relative to the classifier's default mixture, whose parameters differ from those of `LBGMixture`
        given = parse_params(passed, LBGMixture, elsewhere={"n_components": "n_topics, the topics of a class"})
        model.set_params(estimator=model._template().set_params(**given))
    return model


def _refuse_few(labels: list[str], parts: int, folds: int | None) -> None:
    """The threshold for --max-false-positives is found by a cross-validation within what is trained with."""
    name, count = min(Counter(labels).items(), key=itemgetter(1))
    trained_with = count if folds is None else count - -(-count // folds)
    if trained_with < parts:
        remedy = f"fewer parts (--param cv={trained_with}) or " if trained_with > 1 else ""
        raise DataError(
            f"--max-false-positives finds its threshold by an inner cross-validation of {parts} parts, for which "
            f"{counted(trained_with, 'document')} of the class {name!r} to train with are too few: "
            f"give {remedy}more documents"
        )


def _refuse_lone(labels: list[str], folds: int) -> None:
    """Raise an error if no class has a document in every part, or only one class has several documents."""
    counts = Counter(labels)
    name, count = max(counts.items(), key=itemgetter(1))
    if len(counts) > 1 and count > 1 == sorted(counts.values())[-2]:
        raise DataError(
            f"cross-validation needs two classes of at least 2 documents; only {name!r} has as many: give more "
            "documents, or NEW documents to classify"
        )
    if count < folds:
        remedy = f"--folds {count}, " if count > 1 else ""
        raise DataError(
            f"--folds {folds} needs a class of at least {folds} documents; the largest, {name!r}, has {count}: give "
            f"{remedy}more documents, or NEW documents to classify"
        )


def _warn_of_small(labels: list[str], folds: int) -> None:
    """Warn of classes that not every fold has, and of those that no fold can find."""
    small = {name: count for name, count in Counter(labels).items() if count < folds}
    if small:
        lone = [name for name, count in small.items() if count == 1]
        never = (
            f"; never found: {shown(lone)}, with 1 document, which is either learned from or tested" if lone else ""
        )
        warnings.warn(
            f"classes with fewer documents than the {folds} folds are not tested in every fold: {shown(list(small))}"
            f"{never}; give more documents or lower --folds",
            UserWarning,
            stacklevel=2,
        )


def _cross_validated(model: Any, matrix: Any, labels: list[str], folds: int, seed: int, progress: Progress) -> Any:
    """Probabilities of the classes, sorted by name, of every document by a model of the other parts."""
    import numpy as np
    from sklearn.base import clone
    from sklearn.model_selection import StratifiedKFold

    truth = np.array(labels)
    classes = np.unique(truth)
    proba = np.zeros((len(truth), len(classes)))
    _warn_of_small(labels, folds)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)  # warned above
        splits = list(StratifiedKFold(folds, shuffle=True, random_state=seed).split(matrix, truth))
    for (known, held_out), part in zip(splits, parts(progress, folds), strict=True):
        seen = np.isin(classes, truth[known])  # a class of one document may be held out
        proba[np.ix_(held_out, seen)] = _classified(clone(model), matrix[known], truth[known], matrix[held_out], part)
    return proba


def _classified(model: Any, known: Any, labels: Any, new: Any, progress: Progress) -> Any:
    """Probabilities of the classes of new documents, in blocks: with many classes it takes as long as the fit."""
    import numpy as np

    fitting, classifying = parts(progress, 2)
    model.fit(known, labels, progress=fitting)
    found = []
    for first in range(0, new.shape[0], _BLOCK):
        found.append(model.predict_proba(new[first : first + _BLOCK]))
        classifying(min(first + _BLOCK, new.shape[0]), new.shape[0], "classifying")
    return np.concatenate(found)
