"""``lbg-recsys serve``: recommendations over HTTP, and a page to try them."""

import click

from lbg_recsys.cli.models import model_argument
from lbg_recsys.errors import MissingExtraError


@click.command()
@model_argument
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; 0.0.0.0 is all of them.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="Port to listen on.")
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Processes that answer, each with the model in memory; one per core is best.",
)
@click.option(
    "--watch", is_flag=True, help="Load the model again when its file changes (SIGHUP does so at any time)."
)
@click.option(
    "--token",
    envvar="LBG_SERVE_TOKEN",
    metavar="TEXT",
    help="Bearer token that requests must send. LBG_SERVE_TOKEN is safer: others on the machine can see options.",
)
@click.option("--cors", multiple=True, metavar="ORIGIN", help="Allow requests from pages of this origin; repeatable.")
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    default=30.0,
    show_default=True,
    help="Seconds until a request is answered with an error.",
)
@click.option("--max-n", type=click.IntRange(min=1), default=1000, show_default=True, help="Items per list at most.")
@click.option(
    "--max-batch", type=click.IntRange(min=1), default=100, show_default=True, help="Users per request at most."
)
@click.option(
    "--max-body",
    type=click.IntRange(min=1),
    default=1_000_000,
    show_default=True,
    help="Bytes per request body at most.",
)
@click.option("-q", "--quiet", is_flag=True, help="Log only warnings and errors.")
@click.option("--json", "as_json", is_flag=True, help="Log one JSON object per line, for machines.")
def serve(
    model: str,
    host: str,
    port: int,
    workers: int,
    watch: bool,
    token: str | None,
    cors: tuple[str, ...],
    timeout: float,
    max_n: int,
    max_batch: int,
    max_body: int,
    quiet: bool,
    as_json: bool,
) -> None:
    """Serve a model over HTTP, with a page to try it.

    The page is at /, the description of all requests at /docs and /openapi.json. New users send their ratings with
    each request; nothing of a request is kept. After SIGHUP, or with --watch when the file changes, the new model is
    loaded while the old one answers; a file that cannot be loaded is refused and the old model stays.

    \b
    Examples:
      lbg-recsys serve model.lbg
      lbg-recsys serve model.lbg --port 9000 --workers 2 --watch
      LBG_SERVE_TOKEN=secret lbg-recsys serve model.lbg --host 0.0.0.0
    """
    try:
        from lbg_recsys.serving.app import Options
        from lbg_recsys.serving.server import Log, run
    except ImportError as error:
        if (error.name or "").split(".")[0] not in ("starlette", "uvicorn"):
            raise
        raise MissingExtraError("serve", "Starlette and uvicorn", "serve") from error
    from lbg_recsys.cli.models import load_model
    from lbg_recsys.serving.answers import Limits

    if workers > 1:  # a bad file ends in a sentence here, and not in a log of workers that cannot start
        load_model(model, quiet)
    options = Options(
        limits=Limits(n=max_n, batch=max_batch),
        max_body=max_body,
        timeout=timeout,
        token=token or None,
        cors=cors,
        watch=watch,
    )
    run(model, host, port, workers, options, Log("WARNING" if quiet else "INFO", as_json))
