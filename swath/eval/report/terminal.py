"""A report as text for terminals: no colours, since it is piped as often as it is looked at."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from io import StringIO
from typing import Literal

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table as RichTable
from rich.text import Text

from swath.eval.report.table import Section, Table, cell_text
from swath.trace.wording import harmless

NARROWEST = 72
LONGEST_NAME, LONGEST_WORD = 26, 16
"""Signs of the first column, and of other columns of text, that are never given up for the others."""
EDGES = 2
"""Width of a table's edges, which its measure leaves out."""


def terminal(title: str, sections: Sequence[Section]) -> str:
    """The report without its lists of cases."""
    out = StringIO()
    width = max(shutil.get_terminal_size((120, 24)).columns, NARROWEST)
    console = Console(file=out, width=width, color_system=None, highlight=False, emoji=False, markup=False)
    _say(console, title)
    for section in sections:
        console.print()
        _say(console, section.title.upper())
        for line in section.lines:
            _say(console, line)
        for number, command in enumerate(section.commands, start=1):
            console.print(Text(harmless(f"[{number}] {command}")), soft_wrap=True)  # so that it can be copied whole
        for table in section.tables:
            _table(console, table)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def _say(console: Console, text: str) -> None:
    console.print(Text(harmless(text)))


def _table(console: Console, table: Table) -> None:
    console.print()
    _say(console, table.title)
    if table.rows:
        drawn = _drawn(table)
        usual, boundless = console.width, console.options.update(max_width=10_000)
        # Columns that do not fit would be dropped without a word; a line that is too long is merely ugly.
        console.width = max(usual, Measurement.get(console, boundless, drawn).minimum + EDGES)
        console.print(drawn)
        console.width = usual
    if table.note:
        _say(console, table.note)


def _drawn(table: Table) -> RichTable:
    drawn = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for column, name in enumerate(table.head):
        cells = [cell_text(row[column]) for row in table.rows]
        justify: Literal["left", "right"] = "left" if table.is_text(column) else "right"
        drawn.add_column(Text(harmless(name)), justify=justify, min_width=_narrowest(table, column, cells))
    for row in table.rows:
        drawn.add_row(*(Text(harmless(cell_text(cell))) for cell in row))
    return drawn


def _narrowest(table: Table, column: int, cells: Sequence[str]) -> int:
    """Figures are never cut; texts may be folded."""
    longest = max(map(len, cells))
    if table.is_text(column):
        return min(longest, LONGEST_NAME if column == 0 else LONGEST_WORD)
    return max(longest, *map(len, table.head[column].split()))
