"""What answers contain: the fields of each kind of answer, for their description in OpenAPI and on ``/docs``."""

from lbg_recsys.serving.fields import Field

_USER = Field("user", "id", "The known user.")
_ITEM = Field("item", "id", "The item.")
_TITLE = Field("title", "text", "Its title, if the model has titles.")
_NOTES = Field("notes", "texts", "Sentences on items that are unknown or were left out; often none.")
_RATINGS = Field("ratings", "objects", "The user's ratings, the highest first: item, title, rating.")

LISTS = (
    _USER,
    Field(
        "items",
        "objects",
        "The list, best first: rank, item, title, score (what it is ranked by), expected_rating, and if "
        "asked for low, high and distribution, the probability of each rating.",
    ),
    Field("lists", "objects", "For a batch, in its order: user, items and notes of each."),
    _NOTES,
)
PREDICTIONS = (
    _USER,
    Field("mass", "number", "The mass of the intervals."),
    Field(
        "predictions",
        "objects",
        "In the order of the request: item, title, user (for pairs), prediction, std, low, high, unknown (what the "
        "model does not know: user, item or both) and distribution.",
    ),
    _NOTES,
)
EXPLANATION = (
    Field("user", "id", 'The known user, or "new user".'),
    _ITEM,
    _TITLE,
    Field("seen", "boolean", "Whether the user has rated or taken the item already."),
    Field("prediction", "number", "The predicted rating, as /predict gives it."),
    Field("expected_rating", "number", "The mean of the distribution, as /recommend gives it."),
    Field("distribution", "object", "The probability of each rating."),
    Field(
        "score",
        "number",
        "The score of the item in lists by liked, as /recommend gives it; null if nobody has rated it.",
    ),
    Field(
        "choice",
        "object",
        "Why it is in the list: choice_score = from_popularity + the contributions in because (item, title, rating, "
        "contribution), of which there are n_because.",
    ),
    Field(
        "from_average",
        "number",
        "The average rating of the items rated most often. This and the next three add up to the expected rating.",
    ),
    Field("from_item", "number", "How others rate this item, compared with the average."),
    Field("from_user", "number", "How the user rates these items, compared with others."),
    Field("from_taste", "number", "The rest: the user's taste for this item."),
    Field(
        "evidence",
        "objects",
        "What each of the user's ratings adds, the strongest first: item, title, rating, from_rating_it (that it was "
        "rated), from_its_value and their sum: effect on the expected rating; LBG: log_odds.",
    ),
    Field("n_evidence", "integer", "How many ratings the user has."),
    Field("features", "objects", "What features of the item or user add: of, feature, effect."),
    Field("n_features", "integer", "How many features have an effect."),
    Field(
        "topics",
        "objects",
        "LBG and pLSA: the part of each topic, the largest first: topic, probability, share, mean.",
    ),
    Field("n_topics", "integer", "How many topics there are."),
    Field("topic", "integer", "LBG: the topic that the evidence supports."),
    Field("against", "integer", "LBG: the topic that it is compared with."),
    Field("log_odds", "number", "LBG: from_prior + from_silence + from_being_rated + the evidence."),
    Field("from_prior", "number", "LBG: the weights of the two topics."),
    Field("from_silence", "number", "LBG: what the user did not rate."),
    Field("from_being_rated", "number", "LBG: that this item is to be rated."),
    _NOTES,
)
SIMILAR = (
    _ITEM,
    _TITLE,
    _USER,
    Field("similar", "objects", "The most similar first: item and title, or user; similarity, 1 for the same."),
)
TOPICS = (
    Field(
        "topics",
        "objects",
        "The largest first: topic (its number), weight (its share of the users), and typical, loves and hates: items "
        "with title, probability (that a user of the topic rates it), probability_of_all, rating, rating_of_all, and "
        "difference of these ratings.",
    ),
)
PROFILE = (
    _USER,
    Field("n_ratings", "integer", "How many ratings, or choices, the user has."),
    _RATINGS,
    Field(
        "scale",
        "object",
        "Use of the scale: levels (level, share among the user's ratings, share_of_all), mean, mean_of_others for "
        "the same items, and their difference.",
    ),
    Field("topics", "objects", "The topics the user is in, the likeliest first: topic (as in /topics), probability."),
    _NOTES,
)
ITEMS = (Field("items", "objects", "item, title, n_ratings, and mean_rating."),)
MODEL = (
    Field("class", "text", "The class in Python."),
    Field("n_users", "integer", "How many users it was fitted to."),
    Field("n_items", "integer", "How many items."),
    Field("n_ratings", "integer", "How many ratings, or choices."),
    Field("n_titles", "integer", "How many items have a title."),
    Field("predicts_ratings", "boolean", "Whether it predicts ratings."),
    Field("takes_ratings", "boolean", "Whether new users are described by ratings, and not only by choices."),
    Field("by", "texts", "What lists can be ranked by, the default first."),
    Field("limits", "object", "What one request may ask for: n, batch and pairs."),
    Field("scale", "object", "The rating scale: low, high, n_levels, discrete, liked, levels, names."),
)
