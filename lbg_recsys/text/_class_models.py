"""The models of all classes of a classifier: fitted side by side, and continued with a further batch."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.model_selection import train_test_split
from sklearn.utils.validation import has_fit_parameter

from lbg_recsys.core.sparse import SparseRows
from lbg_recsys.core.types import Floats, Ints
from lbg_recsys.errors import ParameterError
from lbg_recsys.progress import Progress, at_once, parts, rescaled
from lbg_recsys.text._class_rule import WeightedRule, continued_rule, fit_rule, likelihoods, weighted_scores
from lbg_recsys.text._documents import n_filled, ranked_documents
from lbg_recsys.text._restarts import run_jobs
from lbg_recsys.text._topics import TextTopicModel
from lbg_recsys.text._training import Background, background_from, background_of
from lbg_recsys.text.mixture import LBGMixture

_HELD_OUT = 0.2
_DOCUMENTS_PER_TOPIC = 20
_MOST_TOPICS = 32  # that a class has unless more are asked for
_STEPS = 1000  # that each class reports, whatever it fits


@dataclass(frozen=True)
class Corpus:
    """Checked documents, with all that a fit uses."""

    documents: sp.csr_array
    rows: SparseRows | None  # ranked, where the class models are LBG mixtures
    codes: Ints
    weight: Floats | None

    @classmethod
    def of(cls, documents: sp.csr_array, codes: Ints, weight: Floats | None, rank: bool) -> "Corpus":
        """The documents with the numbers of their classes; ``rank`` orders their words for LBG mixtures."""
        return cls(documents, ranked_documents(documents) if rank else None, codes, weight)

    def take(self, chosen: Ints) -> "Corpus":
        """Some of the documents."""
        return Corpus(
            self.documents[chosen],
            None if self.rows is None else self.rows.take(chosen),
            self.codes[chosen],
            None if self.weight is None else self.weight[chosen],
        )

    def score(self, model: Any) -> float:
        """The mean log-likelihood of the documents under the model of a class, as its public ``score`` has it."""
        if self.rows is not None:
            found = model._log_likelihood_of(self.rows)
        elif isinstance(model, TextTopicModel):
            found = model._log_likelihood(self.documents)
        else:
            return float(model.score(self.documents))
        return float(found.astype(self.documents.dtype, copy=False).mean(dtype=np.float64))

    def of_class(self, code: int) -> "Corpus":
        """The documents of one class."""
        return self.take(np.flatnonzero(self.codes == code))


@dataclass(frozen=True)
class FittedClasses:
    """The model of each class, and the rule that weighs their evidence; None is the paper's."""

    models: list[Any]
    rule: WeightedRule | None

    def scores(self, documents: sp.csr_array, rows: SparseRows | None = None) -> Floats:
        """Scores (m, h) of checked documents, without the class priors; ``rows`` are they ranked, if at hand."""
        if self.rule is None:
            return likelihoods(self.models, documents, rows)
        return weighted_scores(self.models, self.rule, documents, rows)


@dataclass(frozen=True)
class ClassPlan:
    """How the classes of a classifier are fitted; ``template`` makes an unfitted model."""

    template: Callable[[], Any]
    n_classes: int
    n_topics: str | int | Sequence[int] | None
    weighs: bool
    ridge: float | None
    n_jobs: int | None

    def fit(self, corpus: Corpus, seed: int, progress: Progress) -> FittedClasses:
        """Fit the model of each class, then the rule."""
        background = self._background(corpus)
        n_words = int(np.count_nonzero(np.bincount(corpus.documents.indices)))  # columns that occur
        split = parts if self.n_jobs in (None, 1) else at_once
        reports = [rescaled(one, _STEPS) for one in split(progress, self.n_classes + self.weighs)]
        jobs = [
            partial(self._fit_class, corpus.of_class(code), background, n_words, seed, reports[code])
            for code in range(self.n_classes)
        ]
        models, posteriors = zip(*run_jobs(jobs, self.n_jobs), strict=True)
        rule = None
        if self.weighs and background is not None and corpus.rows is not None:
            rule = fit_rule(
                models,
                posteriors,
                background,
                corpus.rows,
                corpus.codes,
                corpus.weight,
                self.ridge,
                reports[-1],
            )
            reports[-1](1, 1, "rule")
        return FittedClasses(list(models), rule)

    def continued(self, fitted: FittedClasses, corpus: Corpus, offset: Floats) -> FittedClasses:
        """The models and the rule after a further batch; ``offset`` (h,) are the logs of the class shares so far."""
        rule = fitted.rule
        if rule is None:
            absorb(fitted.models, corpus)
        elif rule.correction.untaught and corpus.rows is not None:  # all batches before had one class each
            posteriors, background = absorb(fitted.models, corpus)
            rule = fit_rule(
                fitted.models, posteriors, background, corpus.rows, corpus.codes, corpus.weight, self.ridge
            )
        else:
            rule = continued_rule(
                fitted.models, rule, corpus.documents, corpus.codes, corpus.weight, offset, corpus.rows
            )
            absorb(fitted.models, corpus)
        return FittedClasses(fitted.models, rule)

    def _background(self, corpus: Corpus) -> Background | None:
        """The statistics of words over all classes; only the LBG model uses them."""
        model = self.template()
        if corpus.rows is None:
            return None
        model._validate_params()
        return background_of(corpus.rows, model._recipe(), corpus.weight)

    def _fit_class(
        self, corpus: Corpus, background: Background | None, n_words: int, seed: int, progress: Progress
    ) -> tuple[Any, Floats]:
        """The model of one class, and the posteriors of its documents; ``n_words`` occur in all classes."""
        wanted = self.n_topics
        if wanted is None:
            wanted = self.template().n_components
        elif isinstance(wanted, str):
            # a topic has a rate, a mean and a variance per word: learning them takes about one document per word
            wanted = min(n_filled(corpus.documents) // max(n_words, 1), _MOST_TOPICS) if self.weighs else 1
        elif not isinstance(wanted, int | Integral):
            numbers = [int(n) for n in wanted]
            *tries, progress = parts(progress, len(numbers) + 1)
            wanted = self._by_held_out_likelihood(corpus, background, numbers, seed, tries)
        return self._fit_model(corpus, background, int(wanted), seed, progress)

    def _fit_model(
        self, corpus: Corpus, background: Background | None, n_topics: int, seed: int, progress: Progress
    ) -> tuple[Any, Floats]:
        model, documents = self.template(), corpus.documents
        filled = n_filled(documents)
        room = filled // _DOCUMENTS_PER_TOPIC if self.weighs else filled
        model.set_params(n_components=max(1, min(n_topics, room)))
        if model.random_state is None:
            model.set_params(random_state=seed)
        if not isinstance(model, TextTopicModel):
            passed: dict[str, Any] = {"progress": progress} if has_fit_parameter(model, "progress") else {}
            if corpus.weight is not None:
                passed["sample_weight"] = corpus.weight
            return model.fit(documents, **passed), np.empty((0, 0))
        model._begin_fit(documents)
        if background is None or not isinstance(model, LBGMixture):
            return model, model._fit_checked(documents, corpus.weight, progress)
        if not filled:
            model._keep_nothing(background, documents.dtype)
            return model, np.ones((documents.shape[0], 1))
        return model, model._fit_checked(documents, corpus.weight, progress, background, corpus.rows)

    def _by_held_out_likelihood(
        self,
        corpus: Corpus,
        background: Background | None,
        numbers: list[int],
        seed: int,
        tries: list[Progress],
    ) -> int:
        if not numbers or min(numbers) < 1:
            raise ParameterError(f"n_topics is {self.n_topics!r}; give whole numbers from 1 up")
        if len(corpus.codes) < 2 or len(numbers) == 1:
            return numbers[0]
        known, held_out = train_test_split(np.arange(len(corpus.codes)), test_size=_HELD_OUT, random_state=seed)
        training, test = corpus.take(known), corpus.take(held_out)
        scores = [
            test.score(self._fit_model(training, background, n, seed, report)[0])
            for n, report in zip(numbers, tries, strict=True)
        ]
        return numbers[int(np.argmax(scores))]


def absorb(models: Sequence[LBGMixture], corpus: Corpus) -> tuple[list[Floats], Background]:
    """Add a batch to the statistics of its classes; all class models follow the corpus of all batches.

    Returns the posteriors with which the documents of each class were counted, and the background of all batches.
    """
    found, posteriors = [], []
    for code, model in enumerate(models):
        batch = corpus.of_class(code)
        rows = ranked_documents(batch.documents) if batch.rows is None else batch.rows
        posteriors.append(model._posteriors_of(rows))
        found.append(model._absorbed(rows, batch.weight))
    sums = [statistics.over_topics() for statistics, _ in found]
    recipe = models[0]._recipe()
    totals = sum((totals for _, totals in found[1:]), start=found[0][1])
    background = background_from(sum(sums[1:], start=sums[0]), totals, recipe)
    for model, (statistics, totals) in zip(models, found, strict=True):
        model._keep_statistics(statistics, totals, replace(recipe, background=background), model.weights_.dtype)
    return posteriors, background
