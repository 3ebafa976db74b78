"""Freeze a file of the present format, with what it predicts, once and for all.

Run ``python -m tests.persistence.freeze`` when the format's version rises or a class of models is added; a file
that is there is never written again.
"""

import json
from pathlib import Path

from sklearn.feature_extraction.text import TfidfVectorizer

import lbg_recsys
from lbg_recsys import datasets
from lbg_recsys.persistence import FORMAT
from tests.persistence.conftest import MAKERS, TEXT_MAKERS, TEXTS, dense

FOLDER = Path(__file__).parent / "frozen"


def main() -> None:
    sample = datasets.load_sample()
    ratings = sample.ratings[sample.ratings["user"] <= 30]
    titles = {item: title for item, title in sample.items["title"].items() if item % 2}
    pairs = [(user, item) for user in (1, 2, 17, "new") for item in (1, 8, 60, 119, "new")]
    for name, make in MAKERS.items():
        path = FOLDER / f"v{FORMAT}-{name}.lbg"
        if path.exists():
            continue
        model = make().fit(ratings)
        lbg_recsys.save(model, path, titles=titles)
        # a sampler draws new users afresh, and may come to draw them better
        new_user = None if name == "bayesian" else model.fold_in({1: 5.0, 40: 2.0}).distribution([3, 4]).tolist()
        expected = {
            "pairs": pairs,
            "distribution": model.predict_distribution(pairs).tolist(),
            "recommended": model.recommend([1, 2], 5, by="rating")["item"].tolist(),
            "new_user": new_user,
            "title_of_1": titles[1],
        }
        path.with_suffix(".json").write_text(json.dumps(expected, indent=1) + "\n")
    freeze_texts()
    freeze_choices(ratings, titles)


def freeze_choices(ratings, titles) -> None:
    path = FOLDER / f"clicks-v{FORMAT}-choice.lbg"
    if not path.exists():
        model = lbg_recsys.ChoiceModel(penalty=20).fit(ratings[["user", "item"]])
        lbg_recsys.save(model, path, titles=titles)
        table = model.recommend([1, 2], 5)
        expected = {"recommended": table["item"].tolist(), "scores": table["score"].tolist()}
        path.with_suffix(".json").write_text(json.dumps(expected, indent=1) + "\n")


def freeze_texts() -> None:
    vectorizer = TfidfVectorizer(sublinear_tf=True, stop_words="english")
    documents = vectorizer.fit_transform(TEXTS)
    for name, make in TEXT_MAKERS.items():
        path = FOLDER / f"text-v{FORMAT}-{name}.lbg"
        if path.exists():
            continue
        model = make().fit(documents)
        lbg_recsys.save(model, path, vectorizer=vectorizer)
        expected = {"texts": TEXTS, "transformed": dense(model.transform(documents)).tolist()}
        path.with_suffix(".json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
