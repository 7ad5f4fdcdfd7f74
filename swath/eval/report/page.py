"""A report as one page that needs nothing but itself: no other file, no network, no script but its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

import jinja2
from markupsafe import Markup

from swath.eval.report.accuracy import VERDICTS, Share
from swath.eval.report.charts import bar, reliability_plot, verdict_bar, verdict_words
from swath.eval.report.figures import RunFigures
from swath.eval.report.gallery import Gallery
from swath.eval.report.table import Section, answer_text, cell_text, shortened, value_text
from swath.trace.html import environment, policy
from swath.trace.wording import seconds_words

LISTED = 5000
"""Cases of all runs together in the list of cases; a page of as many stays below 10 MB."""
LONGEST_TEXT = 160
LONGEST_PROGRAM = 4000


@dataclass(frozen=True)
class CaseRow:
    """One line of the list of cases; texts are harmless.

    Attributes:
        run: name of the run.
        case: id.
        type: of question.
        tier: level of difficulty, empty where there is none.
        verdict: the headline verdict.
        question: as asked, shortened.
        truth: in words.
        answer: in words.
        seconds: in words.
        sort_seconds: to sort by.
    """

    run: str
    case: str
    type: str
    tier: str
    verdict: str
    question: str
    truth: str
    answer: str
    seconds: str
    sort_seconds: float


def page(title: str, sections: Sequence[Section], runs: Sequence[RunFigures]) -> str:
    """The whole report as HTML.

    Args:
        title: of the page.
        sections: what all renderings of the report share.
        runs: for plots, the gallery of mistakes and the list of cases.
    """
    style, script = _asset("report.css"), _asset("report.js")
    rows = list(_case_rows(runs))
    return _environment().get_template("report.html.jinja").render(
        title=title,
        policy=policy(style, script),
        style=Markup(style),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - our own file
        sections=sections,
        runs=runs,
        gallery=Gallery(runs),
        rows=rows[:LISTED],
        n_rows=len(rows),
        verdicts=VERDICTS,
        types=sorted({row.type for row in rows[:LISTED]}),
    )  # fmt: skip


def _case_rows(runs: Sequence[RunFigures]) -> Iterator[CaseRow]:
    for run in runs:
        for result in run.plain:
            yield CaseRow(
                run=run.name,
                case=result.case,
                type=result.type,
                tier=result.tier or "",
                verdict=result.verdict,
                question=shortened(result.question, LONGEST_TEXT),
                truth=value_text(result.truth, result.unit, LONGEST_TEXT),
                answer=answer_text(result, LONGEST_TEXT),
                seconds=seconds_words(result.seconds),
                sort_seconds=-1.0 if result.seconds is None else result.seconds,
            )


def _asset(name: str) -> str:
    return resources.files("swath.eval.report").joinpath("templates", name).read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    made = environment(
        "swath.eval.report",
        cell=cell_text,
        program=lambda text: shortened(text, LONGEST_PROGRAM),
        answer=answer_text,
        value=value_text,
        bar=lambda cell: bar(cell) if isinstance(cell, Share) else "",
    )
    made.globals.update(verdict_bar=verdict_bar, verdict_words=verdict_words, reliability_plot=reliability_plot)
    return made
