"""Lists for all users of a model, made and written by the workers of a cluster."""

import os
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from lbg_recsys.distributed.cluster import check_workers, cluster_of, gathered
from lbg_recsys.errors import DataError
from lbg_recsys.files import atomic_write
from lbg_recsys.progress import Progress, silent
from lbg_recsys.ratings.crowd import need_users
from lbg_recsys.ratings.ids import IdIndex
from lbg_recsys.ratings.sorting import arrow
from lbg_recsys.ratings.store import new_folder
from lbg_recsys.words import class_of

# Users per file.
_USERS = 4096


class _File(NamedTuple):
    """A model file as it was at a time."""

    path: str
    changed: int


class Written(NamedTuple):
    """How many lists were written, how many recommendations, and how many users there are."""

    users: int
    rows: int
    of: int


def lists_on_dask(
    model: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    client: Any = None,
    n: int = 10,
    *,
    progress: Progress = silent,
    **wishes: Any,
) -> Written:
    """Write the lists of all users as Parquet files, one per 4096 users.

    The lists are those of `recommend`, whatever the number of workers.

    Parameters
    ----------
    model : path
        A model file that all workers see under the same name. Each worker loads it once.
    folder : path
        A new or empty folder, for ``part-00000.parquet`` and so on, that all workers see too.
    client : distributed.Client or str, default=None
        The cluster or its address; None starts one on the cores of this machine.
    n : int, default=10
        Items per list.
    progress : callable, default=silent
        Called as ``progress(done, total, note)`` after every file.
    **wishes
        Further arguments of the model's ``recommend``.

    Returns
    -------
    Written
        How much was written.

    Raises
    ------
    DataError
        If a worker cannot do it, or the folder is not empty. After a failure the folder is as before.

    Examples
    --------
    >>> from dask.distributed import Client
    >>> here = {"n_workers": 1, "processes": False, "dashboard_address": None}  # a cluster inside this process
    >>> from tempfile import TemporaryDirectory
    >>> from lbg_recsys import ChoiceModel, save
    >>> from lbg_recsys.datasets import load_sample
    >>> with TemporaryDirectory() as folder, Client(**here) as client:
    ...     path = save(ChoiceModel().fit(load_sample().ratings), f"{folder}/model.lbg")
    ...     lists_on_dask(path, f"{folder}/lists", client, n=5)
    Written(users=200, rows=1000, of=200)
    """
    arrow()
    target, cluster = Path(os.path.abspath(folder)), cluster_of(client)
    file = _File(os.path.abspath(model), os.stat(model).st_mtime_ns)
    loaded = _loaded(file)
    need_users(loaded.matrix, "lists of all users")
    loaded.recommend_blocks([], n, **wishes)  # refuses here what every worker would refuse
    n_users = len(loaded.matrix.users)
    cuts = [*range(0, n_users, _USERS), n_users]
    with new_folder(target):
        for seen in (Path(file.path), target):
            check_workers(cluster, seen)
        files = [
            cluster.submit(_write, file, target / f"part-{number:05d}.parquet", cut, n, wishes, pure=False)
            for number, cut in enumerate(pairwise(cuts))
        ]
        users = rows = 0
        for (_, last), file in zip(pairwise(cuts), files, strict=True):
            (found,) = gathered(cluster, [file])
            users, rows = users + found[0], rows + found[1]
            progress(last, n_users, "users")
    return Written(users, rows, n_users)


@lru_cache(maxsize=1)
def _loaded(file: _File) -> Any:
    """The model; a worker holds the latest."""
    from lbg_recsys import load

    model = load(file.path)
    if not hasattr(model, "recommend_blocks"):
        raise DataError(f"{file.path} holds {class_of(model)}, which makes no lists: give a rating model")
    return model


def _write(
    file: tuple[str, int], part: Path, cut: tuple[int, int], n: int, wishes: dict[str, Any]
) -> tuple[int, int]:
    """Write the lists of some users; how many lists and how many rows."""
    import pandas as pd

    pa, pq = arrow()
    model = _loaded(file)
    blocks = model.recommend_blocks(model.matrix.users.raws(range(*cut)), n, **wishes)
    lists = pd.concat(list(blocks), ignore_index=True)
    if "title" in lists:  # the same type in all files, also where no item has a title
        lists["title"] = lists["title"].astype("string")
    for name, index in (("user", model.matrix.users), ("item", model.matrix.items)):
        lists[name] = _of_one_type(lists[name], index)
    with atomic_write(part) as stream:
        pq.write_table(pa.Table.from_pandas(lists, preserve_index=False), stream)
    return lists["user"].nunique(), len(lists)


def _of_one_type(ids: Any, index: IdIndex) -> Any:
    """A column of integers if all ids of the model are some, or of text: the same type in all files."""
    return ids.astype("int64") if _are_integers(index) else ids.astype(str).astype(object)


def _are_integers(index: IdIndex) -> bool:
    return all(isinstance(one, int) for one in index)
