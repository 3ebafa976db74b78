"""The Latent Bernoulli-Gauss model for text: clustering, feature selection, classification.

Estimators of scikit-learn's kind; the input is documents by words, sparse or dense, without negative values.
`MixtureOfUnigrams` and `PLSI` are the models the paper compares with (its third, LDA, is scikit-learn's).
"""

from lbg_recsys.text.classifier import LBGClassifier
from lbg_recsys.text.mixture import LBGMixture
from lbg_recsys.text.plotting import plot_keywords, plot_topics
from lbg_recsys.text.plsi import PLSI
from lbg_recsys.text.selector import LBGSelector
from lbg_recsys.text.topic_table import Topic, TopicTable
from lbg_recsys.text.unigrams import MixtureOfUnigrams

__all__ = [
    "PLSI",
    "LBGClassifier",
    "LBGMixture",
    "LBGSelector",
    "MixtureOfUnigrams",
    "Topic",
    "TopicTable",
    "plot_keywords",
    "plot_topics",
]
