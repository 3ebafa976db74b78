# %% [markdown]
# # A new user, without refitting
#
# Somebody arrives who was not there when the model was fitted. A few ratings are enough, and nothing is fitted again.

# %%
import tempfile
from pathlib import Path

import lbg_recsys
from lbg_recsys.datasets import load_sample

sample = load_sample()
model = lbg_recsys.LBGModel(n_topics=4, random_state=0).fit(sample.ratings)
titles = sample.items["title"].to_dict()

# %% [markdown]
# Three ratings make a user. The model's topics are as they were; only the user's posterior over them is new.

# %%
liked = sample.ratings[sample.ratings["rating"] == 5]["item"].unique()[:3].tolist()
newcomer = model.fold_in(dict.fromkeys(liked, 5))
print("posterior over topics", newcomer.posterior.round(3).tolist())
for row in newcomer.recommend(n=3).itertuples():
    low, high = newcomer.interval(row.item, mass=0.8)
    print(f"{titles[row.item]}: expect {row.expected_rating:.1f} stars, 80% between {low:g} and {high:g}")

# %% [markdown]
# The model file needs no training data and no pickle; whoever loads it can fold in the same newcomer.

# %%
with tempfile.TemporaryDirectory() as folder:
    path = lbg_recsys.save(model, Path(folder) / "sample.lbg", titles=titles)
    loaded = lbg_recsys.load(path)
again = loaded.fold_in(dict.fromkeys(liked, 5))
print("the same predictions:", (again.predict(liked) == newcomer.predict(liked)).all())

# %% [markdown]
# When the newcomer stays, `partial_fit` adds them to the model: their statistics are added, one M-step follows.

# %%
model.partial_fit((["newcomer"] * len(liked), liked, [5] * len(liked)))
print(model.recommend("newcomer", n=2).to_string(index=False))
