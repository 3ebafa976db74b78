# %% [markdown]
# # A new user, without refitting
#
# A new user was not in the training data. A few ratings are enough for predictions; nothing is fitted again.

# %%
import tempfile
from pathlib import Path

import lbg_recsys
from lbg_recsys.datasets import load_sample

sample = load_sample()
model = lbg_recsys.LBGModel(n_topics=4, random_state=0).fit(sample.ratings)
titles = sample.items["title"].to_dict()

# %% [markdown]
# Three ratings describe the user. The topics of the model do not change; only the user's posterior over them is new.

# %%
liked = sample.ratings[sample.ratings["rating"] == 5]["item"].unique()[:3].tolist()
newcomer = model.fold_in(dict.fromkeys(liked, 5))
print("posterior over topics", newcomer.posterior.round(3).tolist())
for row in newcomer.recommend(n=3).itertuples():
    low, high = newcomer.interval(row.item, mass=0.8)
    print(f"{titles[row.item]}: expect {row.expected_rating:.1f} stars, 80% between {low:g} and {high:g}")

# %% [markdown]
# The model file needs no training data and contains no pickle. Whoever loads it can fold in the same user.

# %%
with tempfile.TemporaryDirectory() as folder:
    path = lbg_recsys.save(model, Path(folder) / "sample.lbg", titles=titles)
    loaded = lbg_recsys.load(path)
again = loaded.fold_in(dict.fromkeys(liked, 5))
print("the same predictions:", (again.predict(liked) == newcomer.predict(liked)).all())

# %% [markdown]
# If the user stays, `partial_fit` adds the user's statistics to the model and computes one M-step.

# %%
model.partial_fit((["newcomer"] * len(liked), liked, [5] * len(liked)))
print(model.recommend("newcomer", n=2).to_string(index=False))
