"""Results on paper: JSON that says how it was made, Markdown that people read."""

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from lbg_recsys.files import atomic_write
from lbg_recsys.provenance import library_versions


def record(
    what: str,
    command: str,
    results: Any,
    *,
    data: Mapping[str, str],
    seeds: Sequence[int],
    rivals: Sequence[str] = (),
) -> dict[str, Any]:
    """Results with what somebody needs to make them again: the command, versions, seeds and data checksums.

    ``data`` maps names of data files to their SHA-256; ``rivals`` are further distributions whose versions matter.
    """
    return {
        "what": what,
        "command": command,
        "versions": library_versions(*rivals),
        "seeds": list(seeds),
        "data": dict(data),
        "results": results,
    }


def write_json(path: str | os.PathLike[str], value: Any) -> None:
    """Strict JSON, all or nothing."""
    with atomic_write(path, "w") as stream:
        json.dump(value, stream, indent=1, allow_nan=False)
        stream.write("\n")


def markdown_table(headers: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A Markdown table; floats with four decimals, None as a dash.

    >>> print(markdown_table(["model", "MAE"], [["LBG", 0.79712], ["SVD", None]]))
    | model | MAE |
    |---|---|
    | LBG | 0.7971 |
    | SVD | - |
    """
    lines = [headers, ["---"] * len(headers), *rows]
    cells = ([_cell(value) for value in line] for line in lines)
    return (
        "\n".join("| " + " | ".join(line) + " |" for line in cells)
        .replace("| --- |", "|---|")
        .replace(" --- |", "---|")
    )


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.4f}" if isinstance(value, float) else str(value)
