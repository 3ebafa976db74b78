"""The results of the reproduction as Markdown, JSON, pictures, and one page of HTML that needs nothing else."""

import base64
import html
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lbg_recsys.datasets import dataset_info
from lbg_recsys.evaluation.report import markdown_table, record, write_json
from lbg_recsys.files import atomic_write
from lbg_recsys.paper.experiment import Experiment
from lbg_recsys.paper.summary import PAPER, Line, in_words

Results = Mapping[str, Sequence[Line]]

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1d2433 }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums }
th, td { padding: .3rem .7rem; border-bottom: 1px solid #d5dae3; text-align: right }
th:nth-child(-n+2), td:nth-child(-n+2) { text-align: left }
tr.paper td { color: #68718a } .remark { color: #444c5e; font-size: .92em } img { max-width: 100% }
"""


def write_all(
    folder: Path,
    experiments: Sequence[Experiment],
    results: Results,
    pictures: Mapping[str, Path],
    *,
    n_seeds: int,
    quick: bool,
    command: str,
) -> list[Path]:
    """Write reproduction.md, reproduction.json and reproduction.html; return their paths."""
    checksums = {}
    for name in sorted({name for experiment in experiments for name in experiment.data}):
        main = dataset_info(name).main
        checksums[main.name] = main.sha256
    paths = [folder / f"reproduction.{suffix}" for suffix in ("md", "json", "html")]
    scale = f"{n_seeds} seeds, mean ± standard deviation" if n_seeds > 1 else "one seed"
    if quick:
        scale += ", quick: a part of the data (the remarks are about the full run)"
    with atomic_write(paths[0], "w") as stream:
        stream.write(_markdown(experiments, results, pictures, scale, command))
    facts = {
        experiment.name: {
            "title": experiment.title,
            "note": experiment.note,
            "lines": [
                {"row": line.row, "setting": line.setting, "mean": dict(line.mean), "sd": dict(line.deviation)}
                for line in results[experiment.name]
            ],
            "remarks": {row.name: row.remark for row in experiment.rows},
        }
        for experiment in experiments
    }
    what = "The paper's experiments" + (" (quick)" if quick else "")
    write_json(paths[1], record(what, command, facts, data=checksums, seeds=range(n_seeds), rivals=("matplotlib",)))
    with atomic_write(paths[2], "w") as stream:
        stream.write(_html(experiments, results, pictures, scale, command, checksums))
    return paths


def table_of(experiment: Experiment, lines: Sequence[Line]) -> tuple[list[str], list[list[Any]]]:
    """Headers and cells, as text: model, setting, then one column per metric."""
    headers = ["model", "setting", *experiment.metrics.values()]
    return headers, [[line.row, line.setting, *(in_words(line, key) for key in experiment.metrics)] for line in lines]


def _markdown(
    experiments: Sequence[Experiment], results: Results, pictures: Mapping[str, Path], scale: str, command: str
) -> str:
    parts = ["# The paper's experiments", f"Made by `{command}`: {scale}."]
    for experiment in experiments:
        parts.append(f"## {experiment.name}: {experiment.title}")
        if experiment.note:
            parts.append(experiment.note)
        parts.append(markdown_table(*table_of(experiment, results[experiment.name])))
        remarks = [f"- {row.name}: {row.remark}" for row in experiment.rows if row.remark]
        if remarks:
            parts.append("\n".join(remarks))
        if experiment.name in pictures:
            parts.append(f"![{experiment.title}]({pictures[experiment.name].name})")
    return "\n\n".join(parts) + "\n"


def _html(
    experiments: Sequence[Experiment],
    results: Results,
    pictures: Mapping[str, Path],
    scale: str,
    command: str,
    checksums: Mapping[str, str],
) -> str:
    say = html.escape
    body = ["<h1>The paper's experiments</h1>", f"<p>Made by <code>{say(command)}</code>: {say(scale)}.</p>"]
    for experiment in experiments:
        body.append(f"<h2>{say(experiment.name)}: {say(experiment.title)}</h2><p>{say(experiment.note)}</p>")
        headers, rows = table_of(experiment, results[experiment.name])
        body.append("<table><tr>" + "".join(f"<th>{say(header)}</th>" for header in headers) + "</tr>")
        for line, row in zip(results[experiment.name], rows, strict=True):
            kind = ' class="paper"' if line.setting == PAPER else ""
            body.append(f"<tr{kind}>" + "".join(f"<td>{say(cell)}</td>" for cell in row) + "</tr>")
        body.append("</table>")
        body += [f'<p class="remark">{say(row.name)}: {say(row.remark)}</p>' for row in experiment.rows if row.remark]
        if experiment.name in pictures:
            encoded = base64.b64encode(pictures[experiment.name].read_bytes()).decode()
            body.append(f'<img alt="{say(experiment.title)}" src="data:image/png;base64,{encoded}">')
    sums = "".join(f"<li><code>{say(name)}</code> {say(value)}</li>" for name, value in checksums.items())
    body.append(f"<h2>Data</h2><ul>{sums}</ul>")
    head = f'<meta charset="utf-8"><title>The paper reproduced</title><style>{_STYLE}</style>'
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(body)}</body></html>\n'
