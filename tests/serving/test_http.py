"""Requests that cannot be answered, the token, limits of size and time, and the description of the requests."""

import asyncio
import threading
from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from lbg_recsys.serving import app
from lbg_recsys.serving.app import Options, create_app


def open_app(path, **options):
    return TestClient(create_app(str(path), Options(**options)), raise_server_exceptions=False)


@pytest.fixture(scope="module")
def client(model_files):
    with open_app(model_files["lbg"], max_body=2000) as client:
        yield client


BAD = [
    ("GET", "/recommend/nobody", None, 404, "the model knows no user 'nobody' (it knows 200 users)"),
    ("GET", "/recommend/3?n=0", None, 400, "n is 0: give an integer of at least 1"),
    ("GET", "/recommend/3?n=ten", None, 400, "n is 'ten': give a whole number"),
    ("GET", "/recommend/3?m=1", None, 400, "the query has the unknown field 'm'"),
    ("GET", "/recommend/3?divresity=0.1", None, 400, "did you mean 'diversity'?"),
    ("GET", "/recommend/3?n=1&n=2", None, 400, "n is given 2 times"),
    ("GET", "/recommend/3?by=beauty", None, 400, "by is 'beauty': choose one of 'liked'"),
    ("GET", "/recommend/3?diversity=1", None, 400, "diversity is 1.0: give a number of at least 0 and below 1"),
    ("GET", "/recommend/3?liked=9", None, 400, "liked is 9.0: give a number of at least 1 and up to 5"),
    ("GET", "/recommend/3?exclude_seen=maybe", None, 400, "exclude_seen is 'maybe': give true or false"),
    ("GET", "/recommend/3?items=zzz", None, 400, "items: the model does not know the item: 'zzz'"),
    ("POST", "/recommend", {"ratings": {"1": 9}}, 400, "the rating 9 for item 1 is off the scale 1..5"),
    ("POST", "/recommend", {"ratings": {"1": None}}, 400, "the rating of '1' is null: give a number"),
    ("POST", "/recommend", {"ratings": [{"item": 1}]}, 400, 'ratings is [{"item": 1}]: give an object of ratings by'),
    ("POST", "/recommend", {"ratings": {"1": "5"}}, 400, "the rating of '1' is '5': give a number"),
    ("POST", "/recommend", {"ratings": {"2": 4, "1": True}}, 400, "the rating of '1' is true: give a number"),
    ("POST", "/recommend", {"ratings": [1]}, 400, "ratings is [1]: give an object"),
    ("POST", "/recommend", {"ratings": {"zzz": 3}}, 400, "the model does not know the item: 'zzz'"),
    ("POST", "/recommend", {}, 400, "the request is for nobody: give one of user, ratings and choices"),
    ("POST", "/recommend", {"user": 3, "ratings": {}}, 400, "the request is for user and ratings"),
    ("POST", "/recommend", {"user": 3, "batch": []}, 400, "both batch and user"),
    (
        "POST",
        "/recommend",
        {"batch": [{"user": 3}, {"user": 0}]},
        404,
        "entry 1 of batch: the model knows no user '0'",
    ),
    ("POST", "/recommend", {"batch": [{"ratings": {"1": 9}}]}, 400, "entry 0 of batch: the rating 9"),
    ("POST", "/recommend", {"batch": [3]}, 400, "batch is [3]: give a list of objects"),
    ("POST", "/recommend", {"batch": [{"usr": 3}]}, 400, "entry 0 of batch has the unknown field 'usr': did you"),
    ("POST", "/recommend", {"batch": [{}]}, 400, "entry 0 of batch: the request is for nobody"),
    ("POST", "/recommend", {"user": 3, "n": True}, 400, "n is true: give a whole number"),
    ("POST", "/recommend", {"user": 3, "n": 2.5}, 400, "n is 2.5: give a whole number"),
    ("POST", "/recommend", [1, 2], 400, "the body is [1, 2]: give a JSON object"),
    ("POST", "/recommend", b"{", 400, "the body is no JSON"),
    ("POST", "/recommend", b'{"ratings": {"1": 4, "2": 5, "1": 3}}', 400, "the body has '1' 2 times in one object"),
    ("POST", "/recommend", b'{"user": 3, "user": 4}', 400, "the body has 'user' 2 times in one object: give it once"),
    ("POST", "/recommend", b"[" * 1500, 400, "the body is no JSON"),
    ("POST", "/recommend", b'{"user": 3, "liked": NaN}', 400, "liked is NaN: give a number"),
    ("POST", "/recommend", b"\xff", 400, "the body is no JSON"),
    ("POST", "/recommend", b" " * 3000, 413, "the body is larger than 2,000 bytes"),
    ("POST", "/recommend?n=3", {"user": 3}, 400, "fields in the body"),
    ("GET", "/explain?user=3", None, 400, "the request names no item"),
    ("GET", "/explain?user=3&item=crimson", None, 404, "'crimson' is in"),
    ("GET", "/explain?user=3&item=zzz", None, 404, "the model knows 120 items, and not 'zzz'"),
    ("GET", "/similar", None, 400, "give either item or user"),
    ("GET", "/similar?item=8&metric=taste", None, 400, "metric is 'taste': choose one of 'hellinger', 'kl'"),
    ("GET", "/topics?n_topics=3", None, 400, "the model was fitted with 4 topics and cannot show 3"),
    ("GET", "/predict?user=3", None, 400, "the request names no items"),
    ("GET", "/predict?user=3&items=8&mass=2", None, 400, "mass is 2.0"),
    ("GET", "/nothing", None, 404, "there is nothing at /nothing: /docs lists"),
    ("DELETE", "/recommend/3", None, 405, "does not take DELETE"),
]


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "text"), BAD, ids=[f"{b[0]} {b[1]} {b[4]}" for b in BAD]
)
def test_an_error_is_a_sentence(client, method, path, body, status, text):
    given = {"content": body} if isinstance(body, bytes) else {"json": body} if body is not None else {}
    answer = client.request(method, path, **given)
    assert answer.status_code == status, answer.text
    assert text in answer.json()["error"] and list(answer.json()) == ["error"]
    assert "Traceback" not in answer.text and "\n" not in answer.json()["error"]


def test_a_body_without_a_length_is_limited_too(client):
    pieces = (b" " * 500 for _ in range(10))
    assert client.post("/recommend", content=pieces).status_code == 413


def test_a_token_is_needed_where_one_is_set(model_files):
    with open_app(model_files["lbg"], token="sesame") as client:
        for path in ("/recommend/3", "/model", "/nothing"):
            refused = client.get(path)
            assert refused.status_code == 401 and refused.headers["www-authenticate"] == "Bearer"
            assert "Authorization: Bearer" in refused.json()["error"]
        for wrong in (
            "Bearer sesam",
            "Bearer sesame ",
            "sesame",
            "Basic sesame",
            b"Bearer s\xe9same",
        ):
            assert client.get("/recommend/3", headers={"Authorization": wrong}).status_code == 401
        for right in ("Bearer sesame", "bearer sesame"):  # the name of a scheme has no case
            assert client.get("/recommend/3", headers={"Authorization": right}).status_code == 200
        assert client.get("/health").status_code == 200 and client.get("/").status_code == 200


def test_no_other_origin_unless_asked(model_files, client):
    asked = {"Origin": "https://example.org"}
    assert "access-control-allow-origin" not in client.get("/recommend/3", headers=asked).headers
    with open_app(model_files["lbg"], cors=("https://example.org",), token="sesame") as allowed:
        preflight = {
            **asked,
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization",
        }
        answer = allowed.options("/recommend", headers=preflight)
        assert answer.status_code == 200 and answer.headers["access-control-allow-origin"] == "https://example.org"
        other = allowed.get("/health", headers={"Origin": "https://example.com"})
        assert "access-control-allow-origin" not in other.headers


def answered_by(monkeypatch, answer):
    """One endpoint, which another function answers."""
    one = next(endpoint for endpoint in app.ENDPOINTS if endpoint.path == "/similar")
    monkeypatch.setattr(app, "ENDPOINTS", (replace(one, answer=answer),))


def test_a_late_answer_is_given_up_and_the_next_one_comes(model_files, monkeypatch):
    go_on = threading.Event()

    def slow(service, asked):
        go_on.wait(20)
        return {}

    answered_by(monkeypatch, slow)
    with open_app(model_files["lbg"], timeout=0.2) as client:
        late = client.get("/similar")
        assert late.status_code == 503 and "longer than 0.2 seconds" in late.json()["error"]
        assert late.headers["retry-after"] == "1"
        go_on.set()
        assert client.get("/similar").status_code == 200


def test_more_than_may_wait_are_sent_away_at_once(model_files):
    with open_app(model_files["lbg"], max_waiting=0) as client:
        busy = client.get("/recommend/3")
        assert busy.status_code == 503 and busy.headers["retry-after"] == "1" and "waiting" in busy.json()["error"]


def test_a_mistake_of_ours_is_500_without_details(model_files, monkeypatch):
    answered_by(monkeypatch, lambda service, asked: {}["secret"])
    with open_app(model_files["lbg"]) as client:
        answer = client.get("/similar")
    assert answer.status_code == 500 and "secret" not in answer.text and answer.json()["error"]


def test_many_at_once_get_their_own_answers(model_files):
    import httpx2 as httpx

    with TestClient(create_app(str(model_files["bayesian"]))) as client:
        expected = {user: client.get(f"/recommend/{user}").json() for user in range(1, 9)}

    async def ask():
        served = create_app(str(model_files["bayesian"]))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(served), base_url="http://test") as http:
            users = [1 + place % 8 for place in range(64)]
            answers = await asyncio.gather(*(http.get(f"/recommend/{user}") for user in users))
            return [(user, answer.json()) for user, answer in zip(users, answers, strict=True)]

    assert all(answer == expected[user] for user, answer in asyncio.run(ask()))


def test_openapi_describes_every_request(client):
    found = client.get("/openapi.json").json()
    assert found["openapi"].startswith("3.") and set(found["paths"]) >= {"/recommend", "/recommend/{user}", "/health"}
    body = found["paths"]["/recommend"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert {"ratings", "choices", "user", "batch", "items", "exclude", "by", "n"} <= set(body["properties"])
    query = {one["name"]: one for one in found["paths"]["/recommend/{user}"]["get"]["parameters"]}
    assert query["user"]["in"] == "path" and query["n"]["schema"]["default"] == 10
    assert all("description" in one for one in query.values())


@pytest.mark.parametrize("path", ["/", "/docs"])
def test_pages_may_load_nothing_from_elsewhere(client, path):
    answer = client.get(path)
    assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "https://" not in answer.text.replace("https://www.w3.org", "")


@pytest.mark.parametrize("depth", [900, 940, 960, 970, 980, 990])
def test_a_deep_nest_is_refused_at_any_depth(client, depth):
    body = b'{"ratings": ' + b"[" * depth + b"]" * depth + b"}"
    answer = client.request("POST", "/recommend", content=body)
    assert answer.status_code == 400, answer.text
