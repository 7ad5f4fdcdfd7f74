"""Plots as inline SVG; colours and letters come from the style sheet of the page."""

from __future__ import annotations

from collections.abc import Mapping

from markupsafe import Markup

from swath.eval.report.accuracy import VERDICTS, Accuracy, Share
from swath.eval.report.reliability import Reliability
from swath.eval.report.table import cell_text, percent

BAR_WIDTH, BAR_HEIGHT = 100, 10
WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 360, 240, 46, 44, 12


def bar(share: Share) -> Markup:
    """A share as a bar with its interval, 0 to 1 from left to right."""
    if share.value is None:
        return Markup("")
    low, high = (BAR_WIDTH * end for end in share.interval)
    return Markup(
        '<svg class="bar" viewBox="0 0 {width} {height}" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="rail" width="{width}" height="{height}"/><rect class="fill" width="{value}" height="{height}"/>'
        '<line class="whisker" x1="{low}" x2="{high}" y1="{middle}" y2="{middle}"/></svg>'
    ).format(
        width=BAR_WIDTH,
        height=BAR_HEIGHT,
        middle=BAR_HEIGHT / 2,
        value=_px(BAR_WIDTH * share.value),
        low=_px(low),
        high=_px(high),
    )


def verdict_bar(found: Accuracy) -> Markup:
    """All verdicts side by side, as wide as they are frequent."""
    parts, left = Markup(""), 0.0
    for verdict in VERDICTS:
        width = BAR_WIDTH * found.verdicts[verdict] / max(found.n, 1)
        parts += Markup(
            '<rect class="{verdict}" x="{left}" width="{width}" height="{height}"><title>{words}</title></rect>'
        ).format(
            verdict=verdict,
            left=_px(left),
            width=_px(width),
            height=BAR_HEIGHT,
            words=f"{verdict}: {found.verdicts[verdict]:,}",
        )
        left += width
    words = ", ".join(f"{name} {number:,}" for name, number in found.verdicts.items())
    head = Markup(
        '<svg class="verdicts" viewBox="0 0 {width} {height}" preserveAspectRatio="none" role="img" '
        'aria-label="{words}">'
    ).format(width=BAR_WIDTH, height=BAR_HEIGHT, words=words)
    return head + parts + Markup("</svg>")


def reliability_plot(found: Reliability) -> Markup:
    """How many intervals hold the truth and how many answers are right, by the width of the interval."""
    step = (WIDTH - LEFT - 8) / max(len(found.classes), 1)
    marks = Markup("")
    for i, one in enumerate(found.classes):
        middle = LEFT + step * (i + 0.5)
        marks += _mark("holds", middle - 6, one.holds, f"{one.words}: holds the truth")
        marks += _mark("right", middle + 6, one.right, f"{one.words}: answer right")
        marks += _words(middle, HEIGHT - BOTTOM + 16, "middle", one.words.replace("up to", "≤").replace("over", ">"))
    axes = Markup("")
    for tick in (0, 0.25, 0.5, 0.75, 1):
        axes += Markup('<line class="grid" x1="{left}" x2="{right}" y1="{y}" y2="{y}"/>').format(
            left=LEFT, right=WIDTH - 8, y=_px(_y(tick))
        )
        axes += _words(LEFT - 6, _y(tick) + 4, "end", f"{100 * tick:g} %")
    label = _words((LEFT + WIDTH) / 2, HEIGHT - 8, "middle", "width of the interval, relative to the answer")
    head = Markup(
        '<svg class="plot" viewBox="0 0 {width} {height}" role="img" '
        'aria-label="Share of intervals that hold the truth, and of right answers, by width; figures in the table">'
    ).format(width=WIDTH, height=HEIGHT)
    return head + axes + marks + label + Markup("</svg>")


def _mark(name: str, x: float, share: Share, words: str) -> Markup:
    """A point with its interval."""
    low, high = share.interval
    y = _y(share.value or 0.0)
    line = Markup('<line x1="{x}" x2="{x}" y1="{low}" y2="{high}"/>').format(
        x=_px(x), low=_px(_y(low)), high=_px(_y(high))
    )
    if name == "holds":
        point = Markup('<circle cx="{x}" cy="{y}" r="4"/>').format(x=_px(x), y=_px(y))
    else:
        point = Markup('<rect x="{x}" y="{y}" width="7" height="7"/>').format(x=_px(x - 3.5), y=_px(y - 3.5))
    title = Markup("<title>{words}</title>").format(words=f"{words} {cell_text(share)} of {share.n:,}")
    return Markup('<g class="mark {name}">{title}{line}{point}</g>').format(
        name=name, title=title, line=line, point=point
    )


def _words(x: float, y: float, anchor: str, words: str) -> Markup:
    return Markup('<text x="{x}" y="{y}" text-anchor="{anchor}">{words}</text>').format(
        x=_px(x), y=_px(y), anchor=anchor, words=words
    )


def _y(share: float) -> float:
    return TOP + (1 - share) * (HEIGHT - TOP - BOTTOM)


def _px(length: float) -> str:
    return f"{length:.2f}".rstrip("0").rstrip(".")


def verdict_words(verdicts: Mapping[str, int]) -> list[tuple[str, str]]:
    """Verdicts with their shares, for the legend of their bar."""
    n = max(sum(verdicts.values()), 1)
    return [(name, f"{name} {number:,} ({percent(number / n)})") for name, number in verdicts.items()]
