"""What is served is what the library says: every answer compared with the call in Python, for every kind of model."""

import json
import warnings

import pytest
from starlette.testclient import TestClient

import lbg_recsys
from lbg_recsys.errors import DataError
from lbg_recsys.serving.answers import Limits, Service
from lbg_recsys.serving.app import Options, create_app

KINDS = ("bayesian", "lbg", "plsa", "clicks")

NEW = {1: 5, 2: 4, 40: 1}
STRINGS = {str(item): rating for item, rating in NEW.items()}


@pytest.fixture(scope="module", params=KINDS)
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def model(kind, model_files):
    return lbg_recsys.load(model_files[kind])


@pytest.fixture(scope="module")
def client(kind, model_files):
    with TestClient(create_app(str(model_files[kind])), raise_server_exceptions=False) as client:
        yield client


@pytest.fixture(scope="module")
def new_user(kind):
    """The body of a new user, and what `fold_in` takes."""
    return ({"choices": list(STRINGS)}, list(NEW)) if kind == "clicks" else ({"ratings": STRINGS}, NEW)


COLUMNS = ("rank", "item", "score", "expected_rating")


def listed(answer):
    """Ranks, items, scores and ratings of a list."""
    names = [name for name in COLUMNS if answer["items"] and name in answer["items"][0]]
    return [tuple(row[name] for name in names) for row in answer["items"]]


def table(frame):
    names = [name for name in COLUMNS if name in frame]
    return [tuple(row) for row in frame[names].astype(object).to_numpy().tolist()]


def test_a_known_users_list_is_the_librarys_with_titles(client, model):
    answer = client.get("/recommend/3", params={"n": 5}).json()
    assert answer["user"] == 3 and listed(answer) == table(model.recommend(3, 5)) and len(answer["items"]) == 5
    assert [row["title"] for row in answer["items"]] == [model.titles[row["item"]] for row in answer["items"]]


def test_filters_and_candidates_are_those_of_python(client, model, kind):
    wishes = {"n": 4, "items": [3, 8, 17, 25, 30, 31], "exclude": [8], "diversity": 0.3, "exclude_seen": False}
    if kind != "clicks":
        wishes |= {"by": "rating", "min_probability": 0.05, "liked": 3}
    expected = table(model.recommend(3, **wishes))
    assert listed(client.get("/recommend/3", params=wishes).json()) == expected
    assert listed(client.post("/recommend", json={"user": 3, **wishes}).json()) == expected


def test_candidates_may_be_titles_and_unknown_ones_are_noted(client, model):
    wanted = [model.titles[17], 8, "no such film"]
    answer = client.post("/recommend", json={"user": 3, "items": wanted, "exclude_seen": False}).json()
    assert {row["item"] for row in answer["items"]} == {8, 17}
    assert "1 of 3 items is unknown" in answer["notes"][0] and "'no such film'" in answer["notes"][0]


def test_a_new_user_gets_the_list_of_fold_in(client, model, new_user):
    body, given = new_user
    answer = client.post("/recommend", json={**body, "n": 6}).json()
    assert "user" not in answer and listed(answer) == table(model.fold_in(given).recommend(6))


def test_a_new_user_may_name_titles(client, model, new_user, kind):
    _, given = new_user
    titles = [model.titles[item] for item in NEW]
    body = {"choices": titles} if kind == "clicks" else {"ratings": dict(zip(titles, NEW.values(), strict=True))}
    assert listed(client.post("/recommend", json=body).json()) == table(model.fold_in(given).recommend())


def test_somebody_who_has_rated_nothing_gets_a_list(client, model, kind):
    body = {"choices": []} if kind == "clicks" else {"ratings": {}}
    empty = [] if kind == "clicks" else {}
    assert listed(client.post("/recommend", json=body).json()) == table(model.fold_in(empty).recommend())


def test_a_batch_is_its_members_one_by_one(client, model, new_user):
    body, given = new_user
    answer = client.post("/recommend", json={"batch": [{"user": 3}, body, {"user": "7"}, {"user": 3}], "n": 3}).json()
    known = {user: table(model.recommend(user, 3)) for user in (3, 7)}
    expected = [known[3], table(model.fold_in(given).recommend(3)), known[7], known[3]]
    assert [listed(one) for one in answer["lists"]] == expected
    assert [one.get("user") for one in answer["lists"]] == [3, None, 7, 3]


def test_predictions_are_the_librarys(client, model, kind):
    if kind == "clicks":
        refused = client.get("/predict", params={"user": 3, "items": 8})
        assert (
            refused.status_code == 400 and "knows what people take but not how they rate" in refused.json()["error"]
        )
        return
    pairs = [[3, 8], ["3", model.titles[9]], ["nobody", 8], [3, "nothing"]]
    answer = client.post("/predict", json={"pairs": pairs, "mass": 0.5}).json()
    meant = [(3, 8), (3, 9), ("nobody", 8), (3, "nothing")]
    assert [one["prediction"] for one in answer["predictions"]] == model.predict_batch(meant).tolist()
    found = [list(one["distribution"].values()) for one in answer["predictions"]]
    assert found == model.predict_distribution(meant).tolist()
    assert [[one["low"], one["high"]] for one in answer["predictions"]] == model.interval(meant, 0.5).tolist()
    assert [one["user"] for one in answer["predictions"]] == [3, 3, "nobody", 3]
    assert len(answer["notes"]) == 2
    one = client.get("/predict", params={"user": 3, "items": [8, 9]}).json()["predictions"]
    assert [row["prediction"] for row in one] == model.predict_batch([(3, 8), (3, 9)]).tolist()
    new = client.post("/predict", json={"ratings": STRINGS, "items": [8, 9]}).json()["predictions"]
    assert [row["prediction"] for row in new] == model.fold_in(NEW).predict([8, 9]).tolist()


def test_distributions_of_a_list_are_those_of_predict(client, model, kind, new_user):
    if kind == "clicks":
        assert client.get("/recommend/3", params={"distribution": "true"}).status_code == 400
        return
    rows = client.get("/recommend/3", params={"n": 3, "distribution": "true"}).json()["items"]
    expected = model.predict_distribution([(3, row["item"]) for row in rows]).tolist()
    assert [list(row["distribution"].values()) for row in rows] == expected
    rows = client.post("/recommend", json={**new_user[0], "n": 3, "distribution": True}).json()["items"]
    expected = model.fold_in(NEW).distribution([row["item"] for row in rows]).tolist()
    assert [list(row["distribution"].values()) for row in rows] == expected


def test_explanations_are_the_librarys(client, model, kind, new_user):
    body, given = new_user
    for answer, found in (
        (client.get("/explain", params={"user": 3, "item": 8, "n": 2}).json(), model.explain(3, 8)),
        (client.post("/explain", json={**body, "item": 8, "n": 2}).json(), model.fold_in(given).explain(8)),
    ):
        choice, expected = answer["choice"], found if kind == "clicks" else found.choice
        if expected is not None:
            assert choice["choice_score"] == expected.choice_score and choice["n_because"] == len(expected.because)
            assert [one["contribution"] for one in choice["because"]] == [
                one.contribution for one in expected.because[:2]
            ]
        if kind != "clicks":
            assert answer["expected_rating"] == found.expected_rating and answer["n_evidence"] == len(found.evidence)
            assert [one["item"] for one in answer["evidence"]] == [one.item for one in found.evidence[:2]]
            assert answer["evidence"][0]["title"] == model.titles[found.evidence[0].item]


def test_similar_items_and_users_are_the_librarys(client, model, kind):
    answer = client.get("/similar", params={"item": 8, "n": 3}).json()
    assert [(one["item"], one["similarity"]) for one in answer["similar"]] == model.similar_items(8, 3)
    assert answer["title"] == model.titles[8] and answer["similar"][0]["title"]
    users = client.get("/similar", params={"user": 3, "n": 2})
    if kind == "clicks":
        assert users.status_code == 400
    else:
        assert [(one["user"], one["similarity"]) for one in users.json()["similar"]] == model.similar_users(3, 2)


def test_topics_are_the_librarys(client, model, kind):
    answer = client.get("/topics", params={"n": 2})
    if kind == "clicks":
        assert answer.status_code == 400
        return
    found = model.topics(2)
    assert [one["weight"] for one in answer.json()["topics"]] == [topic.weight for topic in found]
    first = answer.json()["topics"][0]["typical"][0]
    assert (first["item"], first["title"]) == (found[0].typical[0].item, model.titles[first["item"]])


def test_items_are_found_by_title_and_the_most_rated_come_first(client, model):
    title = model.titles[8]
    assert client.get("/items", params={"search": title.upper()}).json()["items"][0]["item"] == 8
    assert client.get("/items", params={"search": "8", "n": 1}).json()["items"][0]["item"] == 8
    everything = client.get("/items", params={"n": 5}).json()["items"]
    assert len(everything) == 5
    assert [one["n_ratings"] for one in everything] == sorted((one["n_ratings"] for one in everything), reverse=True)
    assert everything[0]["n_ratings"] == model.matrix.rows.column_counts().max()
    assert client.get("/items", params={"search": "zzzz"}).json()["items"] == []
    assert client.get("/items", params={"search": f"{title} (1977)"}).json()["items"][0]["item"] == 8


def test_a_profile_says_how_the_scale_is_used_and_which_groups_are_near(client, model, kind, new_user):
    known, new = client.get("/profile/3").json(), client.post("/profile", json=new_user[0]).json()
    assert known["n_ratings"] == model.matrix.rows.lengths[model.matrix.users.code(3)] and new["n_ratings"] == 3
    if kind == "clicks":
        assert "topics" not in known and "scale" not in known
        return
    for one in (known, new):
        assert sum(level["share"] for level in one["scale"]["levels"]) == pytest.approx(1)
        assert sum(group["probability"] for group in one["topics"]) == pytest.approx(1)
    values = model.matrix.values[model.matrix.user_codes == model.matrix.users.code(3)]
    assert known["scale"]["mean"] == pytest.approx(values.mean())
    assert new["scale"]["mean"] == pytest.approx(10 / 3)
    best = new["topics"][0]
    assert best["probability"] == model.fold_in(NEW).posterior[best["topic"]]


def test_the_model_says_what_it_is(client, model, kind):
    answer = client.get("/model").json()
    assert answer["class"] == type(model).__name__ and answer["n_items"] == 120 and answer["n_titles"] == 120
    assert answer["predicts_ratings"] == (kind != "clicks") == ("scale" in answer)


def test_the_fields_of_every_answer_are_described(client, kind, new_user):
    body, _ = new_user
    item = client.get("/items").json()["items"][0]["item"]
    described = client.get("/openapi.json").json()["paths"]
    asked = [
        ("get", "/recommend/{user}", {}),
        ("post", "/recommend", {**body, "exclude": ["??", 3]}),
        ("post", "/recommend", {"batch": [body]}),
        ("post", "/explain", {**body, "item": item}),
        ("get", "/explain", {"user": 3, "item": item}),
        ("get", "/similar", {"item": item}),
        ("post", "/profile", body),
        ("get", "/profile/{user}", {}),
        ("get", "/items", {}),
        ("get", "/model", {}),
        ("get", "/health", {}),
    ]
    if kind != "clicks":
        asked += [
            ("post", "/predict", {"pairs": [[3, 8], [0, 0]]}),
            ("get", "/topics", {}),
            ("get", "/similar", {"user": 3}),
        ]
    for method, path, fields in asked:
        given = {"json": fields} if method == "post" else {"params": fields}
        answer = client.request(method.upper(), path.replace("{user}", "3"), **given).json()
        schema = described[path][method]["responses"]["200"]["content"]["application/json"]["schema"]
        assert "error" not in answer and set(answer) <= set(schema["properties"]), path


def test_answers_are_strict_json_in_utf8(client):
    answer = client.get("/recommend/3")
    assert answer.headers["content-type"] == "application/json"
    json.loads(answer.content.decode(), parse_constant=lambda name: pytest.fail(name))


def test_nothing_warns_in_a_request(client, new_user):
    body, _ = new_user
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        unknown = {"choices": ["1", "?"]} if "choices" in body else {"ratings": {"1": 5, "?": 3}}
        assert client.post("/recommend", json={**unknown, "exclude": ["??", 3]}).status_code == 200


def test_limits_hold(model_files):
    options = Options(limits=Limits(n=5, batch=2, pairs=3))
    with TestClient(create_app(str(model_files["lbg"]), options)) as client:
        for path, body, said in (
            ("/recommend", {"user": 3, "n": 6}, "n is 6"),
            ("/recommend", {"batch": [{"user": 3}] * 3}, "batch has 3 entries"),
            ("/recommend", {"user": 3, "exclude": ["a"] * 4}, "the request names 4 items"),
            ("/recommend", {"batch": [{"choices": [1, 2]}] * 2}, "the request names 4 items"),
            ("/predict", {"pairs": [[3, 8]] * 4}, "pairs has 4 entries"),
            ("/predict", {"user": 3, "items": [8] * 4}, "the request names 4 items"),
            ("/explain", {"user": 3, "item": 8, "n": 6}, "n is 6"),
            ("/explain", {"ratings": {str(item): 3 for item in range(4)}, "item": 8}, "the request names 4 items"),
            ("/profile", {"choices": list(range(4))}, "the request names 4 items"),
        ):
            refused = client.post(path, json=body)
            assert refused.status_code == 400
            assert refused.json()["error"].startswith(f"{said}: this server allows at most")
        assert client.get("/topics", params={"n_topics": 51}).status_code == 400


def test_a_model_without_users_serves_new_ones(kind, client, model, new_user, tmp_path):
    path = lbg_recsys.save(model, tmp_path / "public.lbg", ratings=False)
    with TestClient(create_app(str(path)), raise_server_exceptions=False) as public:
        whole, part = (one.post("/recommend", json={**new_user[0], "n": 5}).json() for one in (client, public))
        assert [row["item"] for row in part["items"]] == [row["item"] for row in whole["items"]]
        assert public.get("/items").json() == client.get("/items").json()
        refused = public.get("/recommend/3")
        assert refused.status_code == 404 and "without its users" in refused.json()["error"]
        if kind != "clicks":
            whole, part = (one.post("/profile", json=new_user[0]).json() for one in (client, public))
            assert part["scale"] == whole["scale"]
            refused = public.get("/topics")
            assert refused.status_code == 400 and "saved without them" in refused.json()["error"]


def test_a_title_that_two_items_have_is_not_predicted_as_unknown():
    model = lbg_recsys.LBGModel(n_topics=1).fit(([1, 2, 2], [246, 268, 9], [1, 5, 3]))
    model.titles = {246: "Chasing Amy (1997)", 268: "Chasing Amy (1997)"}
    for asked in ({"pairs": [[1, "Chasing Amy (1997)"]]}, {"user": 1, "items": ["Chasing Amy (1997)"]}):
        with pytest.raises(DataError, match="2 items have this title: give the id, 246 or 268"):
            Service(model).predict(asked)
