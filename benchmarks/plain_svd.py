"""What people put around a model of Surprise: a web application with one path, here with Starlette.

    python -m benchmarks.plain_svd FILE PORT {items,array}

``items`` asks ``algo.predict`` for every item, as Surprise's documentation does; ``array`` multiplies the factors.
"""

import sys

import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse
from starlette.routing import Route
from surprise import dump


def best_by_item(algo, user, n):
    """The best items that the user has not rated, one prediction per item."""
    trainset = algo.trainset
    seen = {item for item, _ in trainset.ur[trainset.to_inner_uid(user)]}
    found = [
        (algo.predict(user, trainset.to_raw_iid(item)).est, trainset.to_raw_iid(item))
        for item in trainset.all_items()
        if item not in seen
    ]
    return [{"item": item, "rating": rating} for rating, item in sorted(found, reverse=True)[:n]]


def best_by_array(algo, user, n):
    """The same with one product of arrays."""
    trainset = algo.trainset
    inner = trainset.to_inner_uid(user)
    score = trainset.global_mean + algo.bu[inner] + algo.bi + algo.qi @ algo.pu[inner]
    score[[item for item, _ in trainset.ur[inner]]] = -np.inf
    best = np.argsort(-score)[:n]
    return [{"item": trainset.to_raw_iid(item), "rating": float(min(max(score[item], 1), 5))} for item in best]


def main(path, port, how):
    """Serve the algorithm in a file."""
    algo = dump.load(path)[1]
    best = {"items": best_by_item, "array": best_by_array}[how]

    async def recommend(request):
        found = await run_in_threadpool(best, algo, int(request.path_params["user"]), 10)
        return JSONResponse({"items": found})

    async def health(request):
        return JSONResponse({"status": "ok"})

    app = Starlette(routes=[Route("/recommend/{user}", recommend), Route("/health", health)])
    uvicorn.run(app, host="127.0.0.1", port=int(port), log_level="warning", access_log=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
