"""The command line: one file per command, loaded when it is called.

To add a command, write ``lbg_recsys/cli/<name>.py`` with a click command and name it in `COMMANDS`.
Keep heavy imports inside the command's function: ``--help`` loads every module listed here.
"""

import os
import sys
from importlib import import_module

import click

from lbg_recsys import __version__
from lbg_recsys.cli.terminal import echo
from lbg_recsys.core.interrupts import is_busy
from lbg_recsys.errors import LBGError, OffScaleError, ParameterError
from lbg_recsys.files import why_not_opened
from lbg_recsys.words import did_you_mean, visible

# name -> module:attribute, in the order that --help shows
COMMANDS = {
    "fit": "lbg_recsys.cli.fit:fit",
    "update": "lbg_recsys.cli.update:update",
    "predict": "lbg_recsys.cli.predict:predict",
    "recommend": "lbg_recsys.cli.recommend:recommend",
    "explain": "lbg_recsys.cli.explain:explain",
    "topics": "lbg_recsys.cli.topics:topics",
    "similar": "lbg_recsys.cli.similar:similar",
    "items": "lbg_recsys.cli.items:items",
    "serve": "lbg_recsys.cli.serve:serve",
    "report": "lbg_recsys.cli.report:report",
    "params": "lbg_recsys.cli.params:params",
    "info": "lbg_recsys.cli.info:info",
    "evaluate": "lbg_recsys.cli.evaluate:evaluate",
    "forced-prediction": "lbg_recsys.cli.forced:forced_prediction",
    "text": "lbg_recsys.cli.text:text",
    "reproduce": "lbg_recsys.cli.reproduce:reproduce",
    "demo": "lbg_recsys.cli.demo:demo",
    "doctor": "lbg_recsys.cli.doctor:doctor",
    "datasets": "lbg_recsys.cli.datasets:datasets",
}


class LazyGroup(click.Group):
    """A group that imports a command when somebody asks for it, and turns errors into sentences."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of `COMMANDS`."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the one command."""
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Suggest the nearest command for a misspelt one; refuse repeated options."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(f"no command is called {args[0]!r}{_nearest(args[0])}")
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None and not ctx.resilient_parsing:  # as completion does
            _refuse_repeated(ctx, name, command, rest)
        return name, command, rest

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; an expected error ends in one sentence without control characters.

        The exit code is 1, or 2 where the command was used wrongly, or 130 after Ctrl-C.
        """
        try:
            return self._run(ctx)
        except click.ClickException as error:
            vars(error)["message"] = visible(error.message)  # final to type checkers
            raise

    def _run(self, ctx: click.Context) -> object:
        """Run the command; our own errors and those of the system become errors of click."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise  # `| head` has seen enough: click ends quietly
        except ParameterError as error:
            raise click.UsageError(str(error)) from error
        except OffScaleError as error:
            raise click.ClickException(
                f"{error.what}: fix the rating, or fit with the right scale (--scale LOW HIGH)"
            ) from error
        except LBGError as error:
            raise click.ClickException(str(error)) from error
        except OSError as error:
            raise click.ClickException(_lost_cluster(error) or _of_system(error)) from error
        except MemoryError as error:
            raise click.ClickException("there is not enough memory for this") from error
        except KeyboardInterrupt:
            echo("\nInterrupted.", err=True)
            if is_busy():  # everything is closed by now, and an ordinary exit would wait for the call
                sys.stdout.flush()
                os._exit(130)
            ctx.exit(130)
        except Exception as error:
            if (lost := _lost_cluster(error)) is None:
                raise
            raise click.ClickException(lost) from error


def _refuse_repeated(parent: click.Context, name: str | None, command: click.Command, args: list[str]) -> None:
    """Refuse an option that takes one value and is given several times: click would drop all but the last."""
    # the command itself reports other errors
    ctx = click.Context(command, parent=parent, info_name=name, resilient_parsing=True)
    _, rest, order = command.make_parser(ctx).parse_args(args=list(args))
    for one in order:
        is_once = isinstance(one, click.Option) and not one.multiple and (not one.is_flag or one.secondary_opts)
        if is_once and order.count(one) > 1:
            named = max(one.opts, key=len)
            raise click.UsageError(f"{named} is given {order.count(one)} times: give it once", ctx)
    if isinstance(command, click.Group) and rest and (inner := command.get_command(ctx, rest[0])):
        _refuse_repeated(ctx, rest[0], inner, rest[1:])


def _of_system(error: OSError) -> str:
    """What the system refused, in words."""
    if isinstance(error, FileNotFoundError) and error.filename:
        return why_not_opened(error.filename, error)
    file = f"{error.filename}: " if error.filename else ""
    return f"{file}{error.strerror or error}"


def _lost_cluster(error: Exception) -> str | None:
    """What happened to the cluster, if there is one and an exception is about it."""
    if "dask.distributed" not in sys.modules:
        return None
    from lbg_recsys.distributed.cluster import failure_in_words

    return failure_in_words(error)


def _nearest(name: str) -> str:
    meant = did_you_mean(name, COMMANDS)
    return meant and f"; {meant}"


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80})
@click.version_option(__version__, prog_name="lbg-recsys")
def main() -> None:
    """Recommendations with the Latent Bernoulli-Gauss model.

    Every command has --help with an example. Results go to standard output, everything else to standard
    error.

    \b
    Examples:
      lbg-recsys fit sample -o model.lbg
      lbg-recsys recommend model.lbg --user 3
      lbg-recsys explain model.lbg --user 3 --item "Crimson Comet"
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a letter shows a question mark
