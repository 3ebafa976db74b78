# %% [markdown]
# # Item descriptions as features
#
# An item that nobody has rated yet has a description. The topics of the descriptions are features of the items, and
# the model learns from the rated items what each user thinks of each topic.

# %%
import warnings

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer

import lbg_recsys
from lbg_recsys.datasets import load_sample
from lbg_recsys.text import LBGMixture

warnings.simplefilter("ignore")  # such a short fit warns that it has not converged
sample = load_sample()
titles = sample.items["title"]

# %% [markdown]
# The films of the sample have titles but no descriptions, so the words of the title, twice, serve as the description.

# %%
words = TfidfVectorizer().fit_transform(titles + " " + titles)
topics = LBGMixture(n_components=4, random_state=0).fit(words).predict_proba(words)
features = pd.DataFrame(topics, index=titles.index).add_prefix("topic ")

# %% [markdown]
# A fifth of the films has no ratings in the training part. Their rows in the table of features are kept.

# %%
unrated = np.random.default_rng(0).permutation(titles.index)[: len(titles) // 5]
new = sample.ratings["item"].isin(unrated)
train, test = sample.ratings[~new], sample.ratings[new]
for name, table in {"without features": None, "with topics": features}.items():
    model = lbg_recsys.BayesianLBGModel(n_sweeps=80, burn_in=40, random_state=0)
    model.fit(train, item_features=table)
    error = model.predict_batch(test) - test["rating"]
    print(f"{name}: RMSE of films without ratings {np.sqrt(np.mean(error**2)):.3f}")

# %% [markdown]
# The effects of features are a part of every explanation.

# %%
explanation = model.explain(train["user"].iloc[0], train["item"].iloc[0])
for one in explanation.features[:3]:
    print(f"because of its {one.feature}: {one.effect:+.2f}")
