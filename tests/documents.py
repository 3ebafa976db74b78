"""Runs the examples of README.md and docs/: Python blocks, commands of ours, and the output shown below them.

In a document

- a ``python`` block is executed; all blocks of a document share one namespace and one working folder;
- in an ``sh`` block the lines that begin with ``lbg-recsys`` are run, the others are not;
- a ``text`` block that follows directly is the standard output of the block above it;
- ``<!-- not run: reason -->`` on the line above a block leaves it out.

``python -m tests.documents README.md docs/faq.md`` writes the outputs anew, after a change that alters them.
"""

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

FENCE = re.compile(
    r"(?P<skip><!-- not run: [^>]+ -->\n)?^```(?P<language>python|sh)\n(?P<code>.*?)^```$"
    r"(?P<gap>\n+```text\n)?(?(gap)(?P<output>.*?)^```$)",
    re.MULTILINE | re.DOTALL,
)
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")
BARS = re.compile(r"[█▉▊▋▌▍▎▏]+")


@dataclass
class Block:
    """A block that can be run, and the output that the document shows for it (None if it shows none)."""

    language: str
    code: str
    output: str | None
    skipped: bool
    line: int


def blocks(text):
    """All blocks of a document, in order."""
    return [
        Block(m["language"], m["code"], m["output"], bool(m["skip"]), text.count("\n", 0, m.start("code")) + 1)
        for m in FENCE.finditer(text)
    ]


def run(block, namespace, name):
    """The standard output of a block."""
    said = io.StringIO()
    if block.language == "python":
        code = compile("\n" * (block.line - 1) + block.code, name, "exec")
        with contextlib.redirect_stdout(said):
            exec(code, namespace)
        return said.getvalue()
    from lbg_recsys.cli import main

    for command in block.code.replace("\\\n", " ").splitlines():
        words = shlex.split(command, comments=True)
        if words[:1] == ["lbg-recsys"]:
            result = CliRunner().invoke(main, words[1:], prog_name="lbg-recsys")
            if result.exit_code:
                raise AssertionError(f"{name}: {command.strip()!r} failed: {result.stderr}") from result.exception
            said.write(result.stdout)
    return said.getvalue()


def run_all(path):
    """Run the blocks of a document in a new folder. Yields each block with its standard output."""
    namespace = {"__name__": "__main__"}
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for block in blocks(path.read_text(encoding="utf-8")):
                if not block.skipped:
                    yield block, run(block, namespace, path.name)
        finally:
            os.chdir(before)


def same(shown, said):
    """Whether two outputs agree: the same words, and numbers within 5% or 0.05.

    Processors differ in the last bit of a sum, so that a sampler takes another way: what is shown differs by its
    Monte Carlo error.
    """

    def words(text):
        return " ".join(NUMBER.sub("#", BARS.sub("", text)).split())

    pairs = zip(NUMBER.findall(shown), NUMBER.findall(said), strict=False)
    return words(shown) == words(said) and all(
        abs(float(a) - float(b)) <= 0.05 * max(1.0, abs(float(b))) for a, b in pairs
    )


def write(path):
    """Write the outputs of a document anew."""
    outputs = [(block, said) for block, said in run_all(path) if block.output is not None]
    text = path.read_text(encoding="utf-8")
    for block, said in outputs:
        old = f"```{block.language}\n{block.code}```"
        start = text.index(old) + len(old)
        begin = text.index("```text\n", start) + len("```text\n")
        lines = "".join(f"{line.rstrip()}\n" for line in said.rstrip().splitlines())
        text = text[:begin] + lines + text[text.index("```", begin) :]
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        write(Path(argument).resolve())
