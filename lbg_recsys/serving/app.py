"""The HTTP layer: reads requests, asks the model in a thread of its own, writes JSON. It has no state.

Starlette and not FastAPI: the fields of requests are described once (`fields`), so validation gives the sentences of
the package, the OpenAPI page works without a network, and pydantic is not needed.
"""

import asyncio
import contextlib
import hmac
import json
import logging
import signal
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib import resources
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from lbg_recsys.errors import LBGError
from lbg_recsys.serving.answers import Limits, Service
from lbg_recsys.serving.current import Current
from lbg_recsys.serving.endpoints import ENDPOINTS, Endpoint
from lbg_recsys.serving.fields import read_object, read_query
from lbg_recsys.serving.openapi import document
from lbg_recsys.serving.people import UnknownIdError, sentence

logger = logging.getLogger("lbg_recsys.serving")

# Paths that need no token: a probe has none, and the page asks for it.
_OPEN = ("/", "/docs", "/openapi.json", "/health")
# How often the model file is looked at, in seconds, with --watch.
_WATCH_SECONDS = 1.0
_NO_SCRIPT_OF_OTHERS = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@dataclass(frozen=True)
class Options:
    """How a server behaves.

    Parameters
    ----------
    limits : Limits
        What one request may ask for.
    max_body : int, default=1_000_000
        Bytes of a request body.
    timeout : float, default=30.0
        Seconds until a request is answered with 503, waiting for its turn included.
    max_waiting : int, default=256
        Requests that may wait for their turn in one worker; further ones get 503 at once.
    token : str, default=None
        The bearer token that requests must have, except those for the pages, ``/openapi.json`` and ``/health``.
    cors : tuple of str, default=()
        Origins whose pages may call the server.
    watch : bool, default=False
        Load the model file again whenever it changes.
    """

    limits: Limits = Limits()  # noqa: RUF009
    max_body: int = 1_000_000
    timeout: float = 30.0
    max_waiting: int = 256
    token: str | None = None
    cors: tuple[str, ...] = ()
    watch: bool = False


USUAL_OPTIONS = Options()


def create_app(path: str, options: Options = USUAL_OPTIONS, good: str | None = None) -> Starlette:
    """The application that serves a model file; see `Current` for ``good``."""
    current = Current(path, partial(Service, limits=options.limits), good)
    server = _Server(current, options)
    middleware = [Middleware(_TokenCheck, token=options.token)] if options.token else []
    if options.cors:
        allowed: dict[str, Any] = {
            "allow_methods": ["GET", "POST"],
            "allow_headers": ["Authorization", "Content-Type"],
        }
        middleware.insert(0, Middleware(CORSMiddleware, allow_origins=list(options.cors), **allowed))
    return Starlette(
        routes=[
            Route("/", _page("page.html")),
            Route("/docs", _page("docs.html")),
            Route("/openapi.json", partial(_openapi, with_token=options.token is not None)),
            Route("/health", server.health),
            *(Route(_route(one), partial(server.answer, one), methods=[one.method]) for one in ENDPOINTS),
        ],
        middleware=middleware,
        exception_handlers={HTTPException: _http_error, Exception: _unexpected},
        lifespan=server.lifespan,
    )


class _Server:
    """One thread computes, so that answers cannot disturb each other and none waits for the interpreter's lock."""

    def __init__(self, current: Current, options: Options) -> None:
        self._current, self._options = current, options
        self._computing = ThreadPoolExecutor(1, "answers")
        self._loading = ThreadPoolExecutor(1, "loading")
        self._waiting = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def answer(self, endpoint: Endpoint, request: Request) -> Response:
        """The answer to a request, or an error as JSON."""
        try:
            return await asyncio.wait_for(self._answer(endpoint, request), self._options.timeout)
        except asyncio.TimeoutError:
            return _error(
                503, f"the answer took longer than {self._options.timeout:g} seconds: ask for less", retry=1
            )
        except UnknownIdError as error:
            return _error(404, sentence(error))
        except LBGError as error:
            return _error(400, sentence(error))
        except ClientDisconnect:
            return Response(status_code=499)

    async def _answer(self, endpoint: Endpoint, request: Request) -> Response:
        asked = await self._read(endpoint, request)
        if self._waiting >= self._options.max_waiting:
            return _error(503, f"{self._waiting} requests are waiting already: try again", retry=1)
        service = self._current.service  # a new model that is loaded meanwhile is for the requests after this one
        self._waiting += 1
        try:
            work = partial(_encoded, endpoint.answer, service, asked)
            found = await asyncio.get_running_loop().run_in_executor(self._computing, work)
        finally:
            self._waiting -= 1
        return Response(found, media_type="application/json")

    async def _read(self, endpoint: Endpoint, request: Request) -> dict[str, Any]:
        if endpoint.method == "POST":
            if request.query_params:
                raise HTTPException(400, "a POST request has its fields in the body, not in the query")
            return read_object(endpoint.fields, _decoded(await self._body(request)))
        names = {name: request.query_params.getlist(name) for name in request.query_params}
        in_path = endpoint.in_path
        others = [one for one in endpoint.fields if one is not in_path]
        return read_query(others, names) | ({} if in_path is None else {in_path.name: request.path_params["name"]})

    async def _body(self, request: Request) -> bytes:
        most = self._options.max_body
        said = request.headers.get("content-length", "0")
        blocks, size = [], int(said) if said.isdecimal() else 0
        if size <= most:
            size = 0
            async for block in request.stream():
                blocks.append(block)
                size += len(block)
                if size > most:
                    break
        if size > most:
            raise HTTPException(413, f"the body is larger than {most:,} bytes: send less at once")
        return b"".join(blocks)

    async def health(self, request: Request) -> Response:
        """Whether the server answers, which model it has, and whether a later file was refused (the log says why)."""
        facts = {"status": "ok", "model": self._current.facts, "refused": self._current.refused is not None}
        return JSONResponse(facts, headers={"Cache-Control": "no-store"})

    @contextlib.asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        """Load the model again on SIGHUP and, if asked for, whenever the file changes."""
        loop = asyncio.get_running_loop()
        # Windows has no SIGHUP, and only the main thread of a process may handle signals
        if hasattr(signal, "SIGHUP") and threading.current_thread() is threading.main_thread():
            loop.add_signal_handler(signal.SIGHUP, self._start, self._reload)
        if self._options.watch:
            self._start(self._watch)
        yield
        for task in self._tasks:
            task.cancel()
        self._computing.shutdown(wait=False, cancel_futures=True)
        self._loading.shutdown(wait=False, cancel_futures=True)

    def _start(self, action: Callable[[], Any]) -> None:
        task = asyncio.get_running_loop().create_task(action())
        self._tasks.add(task)  # a task without a reference may be garbage-collected
        task.add_done_callback(self._tasks.discard)

    async def _reload(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._loading, self._current.reload)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(_WATCH_SECONDS)
            if self._current.changed:
                before = self._current.signature()
                await asyncio.sleep(_WATCH_SECONDS)
                if before == self._current.signature():  # nobody is writing any more
                    await self._reload()


class _TokenCheck:
    """Refuses requests without the bearer token; the comparison takes the same time for any wrong one."""

    def __init__(self, app: Any, token: str) -> None:
        self._app, self._token = app, token.encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["path"] not in _OPEN and not self._has_token(scope["headers"]):
            refusal = _error(401, "this server needs a token: send the header Authorization: Bearer TOKEN")
            refusal.headers["WWW-Authenticate"] = "Bearer"
            await refusal(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _has_token(self, headers: Sequence[tuple[bytes, bytes]]) -> bool:
        given = next((value for name, value in headers if name == b"authorization"), b"")
        scheme, _, token = given.partition(b" ")
        return hmac.compare_digest(token, self._token) and scheme.lower() == b"bearer"


def _route(endpoint: Endpoint) -> str:
    """The path in Starlette's form; an id may contain slashes."""
    in_path = endpoint.in_path
    return endpoint.path if in_path is None else endpoint.path.replace(f"{{{in_path.name}}}", "{name:path}")


def _encoded(answer: Callable[[Service, dict[str, Any]], Any], service: Service, asked: dict[str, Any]) -> bytes:
    return json.dumps(answer(service, asked), ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _decoded(body: bytes) -> Any:
    try:
        return json.loads(body, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, f"the body is no JSON: {error}") from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of the body; Python would drop all but the last value of a name."""
    found = dict(pairs)
    if len(found) < len(pairs):
        name, number = Counter(name for name, _ in pairs).most_common(1)[0]
        raise HTTPException(400, f"the body has {name[:60]!r} {number} times in one object: give it once")
    return found


def _error(status: int, text: str, *, retry: int | None = None) -> Response:
    return JSONResponse({"error": text}, status, {} if retry is None else {"Retry-After": str(retry)})


async def _http_error(request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 400)
    told = {404: f"there is nothing at {request.url.path}: /docs lists what can be asked"}
    told[405] = f"{request.url.path} does not take {request.method}: /docs lists what can be asked"
    response = _error(status, told.get(status, getattr(error, "detail", str(error))))
    response.headers.update(getattr(error, "headers", None) or {})
    return response


async def _unexpected(request: Request, error: Exception) -> Response:
    return _error(500, "internal error; the log of the server describes it")


async def _openapi(request: Request, with_token: bool) -> Response:
    return JSONResponse(document(with_token=with_token))


def _page(name: str) -> Callable[[Request], Any]:
    text = resources.files("lbg_recsys.serving").joinpath(name).read_text(encoding="utf-8")

    async def show(request: Request) -> Response:
        safe = {"Content-Security-Policy": _NO_SCRIPT_OF_OTHERS, "X-Content-Type-Options": "nosniff"}
        return HTMLResponse(text, headers=safe | {"Referrer-Policy": "no-referrer"})

    return show
