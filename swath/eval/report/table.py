"""Tables as all renderings of a report share them, and how values are worded in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from swath.agent.units import SHOWN
from swath.eval.report.accuracy import Share
from swath.eval.report.reliability import Reliability
from swath.eval.report.result import Result
from swath.trace.strict_json import json_text

NOTHING = "—"
Cell = str | Share


@dataclass(frozen=True)
class Table:
    """A table with its title.

    Attributes:
        title: what it shows.
        head: names of the columns.
        rows: as many cells each.
        note: what a reader has to know.
        texts: columns that are read as text; the others hold figures. The first one always is.
        plot: what is plotted under it on the page, None for nothing.
    """

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    texts: frozenset[int] = frozenset()
    plot: Reliability | None = None

    def is_text(self, column: int) -> bool:
        """Whether a column is read as text."""
        return column == 0 or column in self.texts

    @property
    def is_list(self) -> bool:
        """Whether it lists cases, in nothing but texts."""
        return len(self.head) > 1 and all(map(self.is_text, range(len(self.head))))


@dataclass(frozen=True)
class Section:
    """A heading with what stands under it.

    Attributes:
        title: the heading.
        lines: paragraphs.
        tables: tables with at least one row, or with a note.
        commands: command lines, shown as such.
    """

    title: str
    lines: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    commands: tuple[str, ...] = ()


def percent(share: float | None) -> str:
    """A share of 0 to 1 in percent; one that is not whole is never rounded to 0 or 100."""
    if share is None:
        return NOTHING
    text = f"{100 * share:.1f}"
    if text == "100.0" and share < 1:
        text = ">99.9"
    if text == "0.0" and share > 0:
        text = "<0.1"
    return f"{text} %"


def cell_text(cell: Cell) -> str:
    """A cell in words."""
    if isinstance(cell, str):
        return cell
    if cell.value is None:
        return NOTHING
    low, high = cell.interval
    return f"{percent(cell.value)} ({100 * low:.1f}–{100 * high:.1f})"


def points(difference: float) -> str:
    """A difference of two shares in percentage points, with its sign."""
    return f"{100 * difference:+.1f}".replace("-", "−")


def whole(number: int | None) -> str:
    """A count."""
    return NOTHING if number is None else f"{number:,}"


def value_text(value: Any, unit: str | None = None, longest: int = 160) -> str:
    """A truth or an answer in words."""
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        text = "yes" if value else "no"
    elif isinstance(value, int | float):
        text = f"{value:.6g}" if abs(value) < 1e15 else str(value)
    elif isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        text = " / ".join(value)
    else:
        text = value if isinstance(value, str) else json_text(value)
    shown = SHOWN.get(unit, unit) if unit else ""
    return shortened(f"{text} {shown}" if shown else text, longest)


def answer_text(result: Result, longest: int = 160) -> str:
    """What was answered, or why nothing was."""
    said = result.prediction
    if said.status == "answered":
        return value_text(said.answer, said.unit, longest)
    return shortened(f"{said.status}: {said.reason or NOTHING}", longest)


def shortened(text: str, longest: int) -> str:
    """A text cut where it is long."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
