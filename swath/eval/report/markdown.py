"""A report as Markdown; text of cases stays text in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from swath.eval.report.table import Section, Table, cell_text
from swath.trace.wording import harmless

_SIGNS = re.compile(r"[\\`*_{}\[\]|~<>&$@]|^[-+=#]|(?<=:)/(?=/)|(?<=www)\.|(?<=^\d)[.)]", re.IGNORECASE)
"""What Markdown would not leave as it is: signs, beginnings of lists and headings, addresses that become links."""
_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
_TICKS = re.compile(r"`+")


def markdown(title: str, sections: Sequence[Section]) -> str:
    """The whole report."""
    lines = [f"# {escaped(title)}", ""]
    for section in sections:
        lines += [f"## {escaped(section.title)}", ""]
        for line in section.lines:
            lines += [escaped(line), ""]
        for number, command in enumerate(section.commands, start=1):
            lines += [f"[{number}]", "", *_fenced(command), ""]
        for table in section.tables:
            lines += [*_table(table), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def escaped(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    return _SIGNS.sub(lambda sign: _ENTITIES.get(sign[0], f"\\{sign[0]}"), harmless(text))


def _fenced(command: str) -> list[str]:
    text = harmless(command)
    fence = "`" * max(3, 1 + max((len(run) for run in _TICKS.findall(text)), default=0))
    return [f"{fence}sh", text, fence]


def _table(table: Table) -> Iterator[str]:
    yield f"### {escaped(table.title)}"
    if table.rows:
        yield ""
        yield _row([escaped(name) for name in table.head])
        yield _row(["---" if table.is_text(column) else "---:" for column in range(len(table.head))])
        for row in table.rows:
            yield _row([escaped(cell_text(cell)) for cell in row])
    if table.note:
        yield ""
        yield escaped(table.note)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
