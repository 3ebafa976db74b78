"""The models that make top-N lists, ours and rivals, for known users and for new ones.

Ours run with their defaults. EASE's penalty is chosen on an inner split of the training ratings, for each variant
and fold. implicit ALS has 64 factors and regularisation 10, cornac BPR 100 factors, rate and regularisation 0.01 and
100 epochs: an earlier survey on folds of MovieLens-100K chose these. The settings of irspack's iALS are
chosen on the same inner splits as EASE's penalty.
"""

import io
import time
from contextlib import redirect_stdout
from functools import partial

import numpy as np
import scipy.sparse as sp

from benchmarks.common import Model
from benchmarks.list_data import SEED
from benchmarks.records import OURS
from lbg_recsys.evaluation import rivals
from lbg_recsys.evaluation.lists import lister_of_model, lister_of_scores
from lbg_recsys.ratings import ChoiceModel, LBGModel

IALS = [
    {"n_components": 64, "alpha0": alpha0, "reg": reg} for alpha0 in (0.1, 0.3, 1.0) for reg in (0.003, 0.01, 0.03)
]
# The largest matrix that EASE inverts here.
LARGEST = 12_000
BPR = {"k": 100, "learning_rate": 0.01, "lambda_reg": 0.01, "max_iter": 100}


def timed(make):
    """What ``make()`` returns, and its CPU seconds."""
    started = time.process_time()
    return make(), time.process_time() - started


# -- known users: a trial -> (lists, CPU seconds of the fit) -----------------------------------------------------


def bayesian(by):
    """Bayesian LBG by one of its criteria; the fit is shared, and its seconds include the scores of choices."""

    def fit(trial):
        model, seconds = trial.bayesian
        _, more = timed(lambda: model.choices)
        return lister_of_model(model, trial.train, by=by), seconds + more

    return Model(OURS, {"by": by}, fit)


def own(make, **settings):
    """Another model of ours."""

    def fit(trial):
        model, seconds = timed(lambda: make(**settings).fit(trial.train))
        return lister_of_model(model, trial.train), seconds

    return Model(OURS, {"model": make.__name__, **settings}, fit)


def scored(fit_scores, by, **settings):
    """A rival that scores all items."""

    def fit(trial):
        scores, seconds = timed(lambda: fit_scores(trial.train, SEED))
        return lister_of_scores(scores, trial.train), seconds

    return Model(by, settings, fit)


def bpr(matrix, seed):
    """Bayesian personalised ranking of cornac, trained on who rated what."""
    import cornac

    users, items = matrix.user_codes.tolist(), matrix.item_codes.tolist()
    data = cornac.data.Dataset.from_uir(list(zip(users, items, [1.0] * len(users), strict=True)))
    model = cornac.models.BPR(seed=seed, verbose=False, **BPR).fit(data)
    known = np.array(list(data.iid_map))  # our codes in cornac's order: all of them, a matrix has no empty item

    def scores(wanted):
        table = np.empty((len(wanted), matrix.n_items))
        for row, user in enumerate(wanted.tolist()):
            table[row, known] = model.score(data.uid_map[user])
        return table

    return scores


def irspack_ials(matrix, seed):
    """iALS of irspack on graded input; its settings are chosen by NDCG@10 on an inner split, as EASE's penalty is."""
    import irspack

    inner, quality = rivals.inner_split(matrix, seed)

    def scores_of(train, settings):
        x = sp.csr_matrix(rivals.cells(train, "graded"))
        with redirect_stdout(io.StringIO()):  # it draws a bar
            model = irspack.IALSRecommender(x, n_threads=1, random_seed=seed, **settings).learn()
        return model.get_score

    return scores_of(matrix, max(IALS, key=lambda settings: quality(scores_of(inner, settings))))


def for_known_users(train):
    """Every model by its name. EASE takes some minutes on Ciao, whose smaller side has 6,000 users."""
    found = rivals.rivals_for(train, largest=LARGEST).found
    return {
        "Bayesian LBG": bayesian("liked"),
        "Bayesian LBG, by rated": bayesian("rated"),
        "ChoiceModel (LBG's choice part)": own(ChoiceModel),
        "LBG, 20 topics": own(LBGModel, n_topics=20, random_state=SEED),
        **{
            name: scored(rival, "implicit" if name == "implicit ALS" else "numpy", model=name)
            for name, rival in (found | {"implicit ALS": rivals.implicit_als}).items()
        },
        "irspack iALS": scored(irspack_ials, "irspack", grid=IALS),
        "cornac BPR": scored(bpr, "cornac", **BPR),
    }


# -- new users: a trial -> a function of histories that returns lists ----------------------------------------------


def folded_in(model, histories, **options):
    """Lists by ``model.fold_in``, one user at a time."""

    def lists(users, length):
        out = np.full((len(users), length), -1, dtype=np.int64)
        for row, user in enumerate(users.tolist()):
            ratings = histories.rows.part(user, user + 1)
            history = dict(zip(histories.items.raws(ratings.columns), ratings.values.tolist(), strict=True))
            best = histories.items.codes(model.fold_in(history).recommend(length, **options)["item"])
            out[row, : len(best)] = best
        return out

    return lists


def of_trial(fit_model, settings, **options):
    """A model of ours that takes new users by `fold_in`."""
    return Model(OURS, settings, lambda trial: partial(folded_in, fit_model(trial), **options))


def ease_of_new(variant):
    """EASE: a new user's items times the same weights."""

    def fit(trial):
        penalty = rivals.choose_penalty(trial.train, SEED, variant=variant)
        return lambda histories: lister_of_scores(
            rivals.ease(trial.train, variant=variant, penalty=penalty, of=histories), histories
        )

    return Model("numpy", {"model": "EASE", "variant": variant}, fit)


def popularity_of_new():
    """The same list for everybody, less what the user has."""
    return Model(
        "numpy",
        {"model": "popularity"},
        lambda trial: lambda histories: lister_of_scores(rivals.popularity(trial.train), histories),
    )


def for_new_users():
    """Every model by its name."""
    return {
        "Bayesian LBG": of_trial(lambda trial: trial.bayesian[0], {"by": "liked"}),
        "Bayesian LBG, by rated": of_trial(lambda trial: trial.bayesian[0], {"by": "rated"}, by="rated"),
        "ChoiceModel (LBG's choice part)": of_trial(lambda trial: ChoiceModel().fit(trial.train), {}),
        "LBG, 20 topics": of_trial(
            lambda trial: LBGModel(n_topics=20, random_state=SEED).fit(trial.train), {"n_topics": 20}
        ),
        **{f"EASE, {variant}": ease_of_new(variant) for variant in rivals.VARIANTS},
        "popularity": popularity_of_new(),
    }
