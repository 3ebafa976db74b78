# %% [markdown]
# # Calibrated recommendations with Surprise
#
# Surprise's own algorithms predict a number. Ours predict a distribution over the stars, so a prediction shows how
# sure the model is, and a list can be ranked by what the user will take and like.

# %%
from surprise import SVD, Dataset, Reader, accuracy
from surprise.model_selection import train_test_split

from lbg_recsys import LBGAlgo
from lbg_recsys.datasets import load_sample
from lbg_recsys.evaluation.metrics import coverage, log_score

sample = load_sample()  # a small generated data set; load_movielens_100k() loads real ratings
data = Dataset.load_from_df(sample.ratings[["user", "item", "rating"]], Reader(rating_scale=(1, 5)))
trainset, testset = train_test_split(data, test_size=0.2, random_state=0)

# %% [markdown]
# An `LBGAlgo` is a Surprise algorithm like any other. `point` chooses the number that it predicts: the mean is best
# for RMSE.

# %%
ours = LBGAlgo(n_topics=4, point="mean", random_state=0).fit(trainset)
svd = SVD(random_state=0).fit(trainset)
errors = {
    name: float(accuracy.rmse(algo.test(testset), verbose=False)) for name, algo in (("LBG", ours), ("SVD", svd))
}
print("RMSE", {name: round(error, 3) for name, error in errors.items()})

# %% [markdown]
# Every prediction has a distribution. All of them together can be compared with the ratings that people gave.

# %%
probability = ours.predict_distribution(testset)
truth = [rating for _, _, rating in testset]
levels = ours.model_.matrix.scale.nearest(truth)
share, width = coverage(truth, probability, ours.model_.levels, mass=0.8)
print(f"log score {log_score(levels, probability):.3f}; 80% intervals hold {share:.0%}, {width:.1f} stars wide")

# %% [markdown]
# The list of a user, ranked by what the user will take and like, and the reasons for one of its films.

# %%
titles = sample.items["title"].to_dict()
user = testset[0][0]
best = ours.recommend(user, n=5)
print(best.assign(title=best["item"].map(titles)).to_string(index=False))
why = ours.explain(user, best["item"][0])
print(f"topic {why.topic} against topic {why.against}: log-odds {why.log_odds:.1f}, most of it from")
for evidence in why.evidence[:3]:
    print(f"  {titles[evidence.item]} rated {evidence.rating:g}: {evidence.log_odds:+.1f}")
