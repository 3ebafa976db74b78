"""The words of a text model in a file: its vocabulary and, where one is given, a vectorizer of scikit-learn's.

A vectorizer is kept as its plain settings, its vocabulary and its idf weights; functions are refused.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lbg_recsys.errors import DataError, NotFittedError
from lbg_recsys.persistence.schema import AnyArray, Array, check_values
from lbg_recsys.words import an

SECTION = {"vocabulary": list[str] | None, "vectorizer": dict | None}
ARRAYS = {"idf": Array("f4 f8", ("words",), optional=True)}

_VECTORIZER = {"class": str, "settings": dict, "fixed": bool}
_COUNTS = {
    "analyzer": str,
    "binary": bool,
    "decode_error": str,
    "dtype": str,
    "encoding": str,
    "input": str,
    "lowercase": bool,
    "max_df": int | float,
    "max_features": int | None,
    "min_df": int | float,
    "ngram_range": list[int],
    "stop_words": str | list[str] | None,
    "strip_accents": str | None,
    "token_pattern": str | None,
}
_WEIGHTS = {"norm": str | None, "smooth_idf": bool, "sublinear_tf": bool, "use_idf": bool}
SETTINGS: dict[str, dict[str, Any]] = {"CountVectorizer": _COUNTS, "TfidfVectorizer": _COUNTS | _WEIGHTS}
_DTYPES = ("float64", "float32", "int64", "int32")


def take_apart(
    vectorizer: Any, vocabulary: Sequence[str] | None, n_words: int
) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """The section of the header, and the idf weights, of a fitted vectorizer or of a vocabulary by itself."""
    if vectorizer is None:
        words = None if vocabulary is None else list(vocabulary)
        kept: dict[str, Any] | None = None
        arrays: dict[str, AnyArray] = {}
    elif vocabulary is not None:
        raise DataError("give either a vectorizer, which has a vocabulary, or a vocabulary")
    else:
        kept, arrays = _vectorizer_taken_apart(vectorizer)
        words = vectorizer.get_feature_names_out().tolist()
    if words is not None and len(words) != n_words:
        raise DataError(f"the vocabulary has {len(words):,} words, and the model was fitted with {n_words:,}")
    strange = next((word for word in words or () if not isinstance(word, str)), None)
    if strange is not None:
        raise DataError(f"the vocabulary has {strange!r} ({type(strange).__name__}): words must be strings")
    return {"vocabulary": words, "vectorizer": kept}, arrays


def _vectorizer_taken_apart(vectorizer: Any) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    name = type(vectorizer).__name__
    if name not in SETTINGS or not type(vectorizer).__module__.startswith("sklearn.feature_extraction"):
        raise DataError(
            f"{an(name)} cannot be kept in a model file: give a CountVectorizer or TfidfVectorizer of scikit-learn, "
            "or only the vocabulary"
        )
    if not hasattr(vectorizer, "vocabulary_"):
        raise NotFittedError(f"this {name} is not fitted: call fit or fit_transform before save")
    settings = vectorizer.get_params(deep=False)
    for setting in ("preprocessor", "tokenizer", "analyzer"):
        if callable(settings[setting]):
            raise DataError(
                f"{setting} of the {name} is a function, and a model file keeps only plain settings: save the model "
                "with vocabulary=vectorizer.get_feature_names_out(), and make the vectorizer again after load"
            )
    settings = {setting: settings[setting] for setting in SETTINGS[name]}
    settings["dtype"] = np.dtype(settings["dtype"]).name
    settings["ngram_range"] = list(settings["ngram_range"])
    if settings["stop_words"] is not None and not isinstance(settings["stop_words"], str):
        settings["stop_words"] = sorted(settings["stop_words"])
    arrays = {"idf": vectorizer.idf_} if settings.get("use_idf") else {}
    return {"class": name, "settings": settings, "fixed": bool(vectorizer.fixed_vocabulary_)}, arrays


def check(section: Any) -> None:
    """Raise `DataError` unless the section of a header is one that `take_apart` could have made."""
    check_values(section, SECTION, "the words")
    vocabulary, kept = section["vocabulary"], section["vectorizer"]
    if vocabulary is not None and len(set(vocabulary)) != len(vocabulary):
        raise DataError("a word occurs twice in the vocabulary")
    if kept is None:
        return
    check_values(kept, _VECTORIZER, "the vectorizer")
    if kept["class"] not in SETTINGS or vocabulary is None:
        raise DataError(f"the vectorizer is a {kept['class'][:40]!r}; known are {', '.join(SETTINGS)}, with words")
    check_values(kept["settings"], SETTINGS[kept["class"]], "the vectorizer's settings")
    shortest, longest = (*kept["settings"]["ngram_range"], 0, 0)[:2]
    if len(kept["settings"]["ngram_range"]) != 2 or not 1 <= shortest <= longest:
        raise DataError("the vectorizer's ngram_range is not a shortest and a longest length of at least 1")
    if kept["settings"]["dtype"] not in _DTYPES:
        raise DataError(f"the vectorizer's dtype is {kept['settings']['dtype'][:40]!r}, none of {', '.join(_DTYPES)}")


def put_together(section: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> Any:
    """The fitted vectorizer of a checked section, or None."""
    kept, words = section["vectorizer"], section["vocabulary"]
    if (kept is not None and kept["settings"].get("use_idf", False)) != ("idf" in arrays):
        raise DataError("the idf weights do not agree with the vectorizer")
    if kept is None:
        return None
    import scipy.sparse as sp
    from sklearn.feature_extraction import text

    settings = {**kept["settings"], "ngram_range": tuple(kept["settings"]["ngram_range"])}
    settings["dtype"] = np.dtype(settings["dtype"]).type
    vectorizer = getattr(text, kept["class"])(**settings, vocabulary=words if kept["fixed"] else None)
    try:
        vectorizer._validate_params()
        vectorizer.build_analyzer()
    except Exception as error:  # scikit-learn's refusals, and those of its regular expressions and codecs
        raise DataError(f"the vectorizer's settings cannot be used: {str(error)[:200]!r}") from error
    vectorizer.vocabulary_ = {word: column for column, word in enumerate(words)}
    vectorizer.fixed_vocabulary_ = kept["fixed"]
    if kept["class"] == "TfidfVectorizer":
        weights = text.TfidfTransformer(**{name: settings[name] for name in _WEIGHTS})
        weights.fit(sp.csr_array((1, len(words)), dtype=np.float64))
        if settings["use_idf"]:
            weights.idf_ = arrays["idf"]
        vectorizer._tfidf = weights
    return vectorizer
